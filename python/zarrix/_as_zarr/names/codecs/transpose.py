"""Names of ``zarr.codecs.transpose``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zarrix._codecs.classes import TransposeCodec

__all__ = ["TransposeCodec", "parse_transpose_order"]


def parse_transpose_order(data: Any) -> tuple[int, ...]:
    """An order of axes as a tuple.

    Raises
    ------
    TypeError
        It is not made of int.
    """
    axes = tuple(data) if isinstance(data, Iterable) else (None,)
    if not all(isinstance(axis, int) for axis in axes):
        raise TypeError(f"an order of axes is made of int, and not {data!r}")
    return axes
