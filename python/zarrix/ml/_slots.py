"""The memory of batches: allocated once, and used again when no array of it is left."""

from __future__ import annotations

import math
import sys
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Slots", "allocate"]

_ALIGNED = 64


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """New memory, aligned for vector instructions and for JAX."""
    if dtype.hasobject:
        return np.empty(shape, dtype)
    count = math.prod(shape) * dtype.itemsize
    base = np.empty(count + _ALIGNED, np.uint8)
    return _view(base, shape, dtype, count)


def _view(
    base: npt.NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], count: int
) -> npt.NDArray[Any]:
    begin = -base.ctypes.data % _ALIGNED
    return base[begin : begin + count].view(dtype).reshape(shape)


class Slots:
    """Memory that is used again once the arrays in it are gone.

    A slot is free when its pool holds the only reference to it: all arrays made of it, and tensors
    made of those, hold one more. So a batch that is kept is never overwritten, and a caller who
    keeps batches gets new memory.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._slots: dict[int, list[npt.NDArray[Any]]] = {}
        self.held_bytes = 0

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        if dtype.hasobject:
            return np.empty(shape, dtype)
        count = math.prod(shape) * dtype.itemsize
        with self._lock:
            slots = self._slots.setdefault(count, [])
            for slot in slots:
                if sys.getrefcount(slot) <= _ALONE:
                    return _view(slot, shape, dtype, count)
            base = np.empty(count + _ALIGNED, np.uint8)
            if self.held_bytes + base.nbytes <= self.most_bytes:
                slots.append(base)
                self.held_bytes += base.nbytes
            return _view(base, shape, dtype, count)


def _alone() -> int:
    """How many references an array has that only a list and a loop hold; releases differ."""
    for slot in [np.empty(0, np.uint8)]:
        return sys.getrefcount(slot)
    return 0


_ALONE = _alone()
