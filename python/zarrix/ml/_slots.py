"""The memory of batches: allocated once, and used again when no array of it is left."""

from __future__ import annotations

import math
import sys
import threading
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Slots", "allocate"]

_ALIGNED = 64
# Slots that each call looks at.
_FIRST = 8


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
    keeps batches gets new memory. The slots that were given out first are looked at first; all of
    them only once in as many calls as there are slots, because windows have thousands.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        # By their size, the one first that was given out first.
        self._slots: dict[int, deque[npt.NDArray[Any]]] = {}
        self._failures: dict[int, int] = {}
        self.held_bytes = 0

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        if dtype.hasobject:
            return np.empty(shape, dtype)
        count = math.prod(shape) * dtype.itemsize
        with self._lock:
            slots = self._slots.setdefault(count, deque())
            looks = _FIRST
            if self._failures.get(count, 0) >= len(slots):
                looks, self._failures[count] = len(slots), 0
            for place in range(min(looks, len(slots))):
                if sys.getrefcount(slots[place]) <= _ALONE:
                    slot = slots[place]
                    del slots[place]
                    slots.append(slot)
                    return _view(slot, shape, dtype, count)
            self._failures[count] = self._failures.get(count, 0) + 1
            base = np.empty(count + _ALIGNED, np.uint8)
            if self.held_bytes + base.nbytes <= self.most_bytes:
                slots.append(base)
                self.held_bytes += base.nbytes
            return _view(base, shape, dtype, count)


def _alone() -> int:
    """How many references an array has that only a pool holds; releases differ."""
    slots = deque([np.empty(0, np.uint8)])
    return sys.getrefcount(slots[0])


_ALONE = _alone()
