"""The memory of batches: allocated once, and used again when no array of it is left."""

from __future__ import annotations

import math
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Slots", "allocate", "pageable"]

_ALIGNED = 64
# Slots that a call looks at while there may be more of them.
_FIRST = 8
# Calls that do not look at all slots again after one that found none free.
_SKIPPED = 16


def allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """New memory, aligned for vector instructions and for JAX."""
    if dtype.hasobject:
        return np.empty(shape, dtype)
    count = math.prod(shape) * dtype.itemsize
    base = pageable(count + _ALIGNED)
    return _view(base, shape, dtype, count)


def _view(
    base: npt.NDArray[Any], shape: tuple[int, ...], dtype: np.dtype[Any], count: int
) -> npt.NDArray[Any]:
    begin = -base.ctypes.data % _ALIGNED
    return base[begin : begin + count].view(dtype).reshape(shape)


def pageable(count: int) -> npt.NDArray[np.uint8]:
    """New memory of so many bytes, as the system gives it."""
    return np.empty(count, np.uint8)


class Slots:
    """Memory that is used again once the arrays in it are gone.

    A slot is free when its pool holds the only reference to it: all arrays made of it, and tensors
    made of those, hold one more. So a batch that is kept is never overwritten, and a caller who
    keeps batches gets new memory. The slots that were given out first are looked at first, and all
    of them only when there may not be more: windows have thousands.
    """

    def __init__(
        self, most_bytes: int, new: Callable[[int], npt.NDArray[np.uint8]] = pageable
    ) -> None:
        self.most_bytes, self._new = most_bytes, new
        self._lock = threading.Lock()
        # Free memory by size in bytes, the oldest first.
        self._slots: dict[int, deque[npt.NDArray[Any]]] = {}
        self._skips: dict[int, int] = {}
        self.held_bytes = 0

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        if dtype.hasobject:
            return np.empty(shape, dtype)
        count = math.prod(shape) * dtype.itemsize
        with self._lock:
            slots = self._slots.setdefault(count, deque())
            slot = self._free(slots, count)
            if slot is not None:
                return _view(slot, shape, dtype, count)
            base = self._new(count + _ALIGNED)
            if self.held_bytes + base.nbytes <= self.most_bytes:
                slots.append(base)
                self.held_bytes += base.nbytes
            return _view(base, shape, dtype, count)

    def _free(self, slots: deque[npt.NDArray[Any]], count: int) -> npt.NDArray[Any] | None:
        """A slot that nothing uses, which becomes the last one; None if none was found."""
        is_full = self.held_bytes + count + _ALIGNED > self.most_bytes
        if is_full and self._skips.get(count, 0):
            self._skips[count] -= 1
            is_full = False
        for place in range(len(slots) if is_full else min(_FIRST, len(slots))):
            # What is kept for long goes to the end, so that it is not looked at again and again.
            at = 0 if is_full else place
            if sys.getrefcount(slots[at]) <= _ALONE:
                slot = slots[at]
                del slots[at]
                slots.append(slot)
                return slot
            if is_full:
                slots.rotate(-1)
        if is_full:
            self._skips[count] = _SKIPPED
        return None


def _alone() -> int:
    """How many references an array has that only a pool holds; releases differ."""
    slots = deque([np.empty(0, np.uint8)])
    return sys.getrefcount(slots[0])


_ALONE = _alone()
