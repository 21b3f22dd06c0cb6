"""The machine words inside an element, whose bytes have an order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["has_order", "word_runs"]


def has_order(dtype: np.dtype[Any]) -> bool:
    """Whether the bytes of an element can be stored in two orders."""
    return any(size > 1 for size, _ in word_runs(dtype))


def word_runs(dtype: np.dtype[Any]) -> list[tuple[int, int]]:
    """The words of one element whose bytes are reversed to change the byte order.

    Returns
    -------
    list of (int, int)
        Runs of words of one size: the size in bytes, and their number. An element may have
        gigabytes, but has only as many runs as its dtype has fields.

    Examples
    --------
    >>> word_runs(np.dtype("c8")), word_runs(np.dtype([("a", "i2"), ("b", "S2"), ("c", "f8")]))
    ([(4, 2)], [(2, 1), (1, 2), (8, 1)])
    """
    runs: list[tuple[int, int]] = []
    _add_runs(dtype, runs)
    return runs


def _add_runs(dtype: np.dtype[Any], runs: list[tuple[int, int]]) -> None:
    if dtype.names is not None:
        for name in dtype.names:
            _add_runs(dtype[name], runs)
        return
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inner, times = word_runs(base), math.prod(shape)
        if len(inner) != 1:
            for _ in range(times):
                runs.extend(inner)
            return
        size, count = inner[0][0], inner[0][1] * times
    elif dtype.kind in "SV" and dtype.isbuiltin != 2:
        size, count = 1, dtype.itemsize
    elif dtype.kind == "U":
        size, count = 4, dtype.itemsize // 4
    else:
        size, count = (dtype.itemsize // 2, 2) if dtype.kind == "c" else (dtype.itemsize, 1)
    if runs and runs[-1][0] == size:
        runs[-1] = (size, runs[-1][1] + count)
    elif count:
        runs.append((size, count))
