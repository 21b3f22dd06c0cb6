"""Numbers of the configuration of codecs, checked as zarr-python checks them."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["parsed"]

T = TypeVar("T")


def parsed(data: Any, kind: type[T], name: str) -> T:
    """A value of this type.

    Raises
    ------
    TypeError
        It has another; True and False are not numbers.
    """
    if isinstance(data, kind) and (kind is bool or not isinstance(data, bool)):
        return data
    raise TypeError(f"{name} is of {kind.__name__}, and not {data!r}")
