"""Memory that a thread uses for one task after the other.

Memory that is asked for anew has no pages: the kernel clears each when it is first touched. That
was 18 % of the processor time of a rechunk.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RegionMemory"]


class RegionMemory(threading.local):
    """One piece of memory for each thread, as large as the largest region so far."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def array(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any] | None:
        """An array with any content, until this thread asks again; None for objects."""
        nbytes = math.prod(shape) * dtype.itemsize
        if dtype.hasobject or not nbytes:
            return None
        if len(self._bytes) < nbytes:
            # The smaller one goes first: both together would be more than was planned.
            self._bytes = np.empty(0, np.uint8)
            self._bytes = np.empty(nbytes, np.uint8)
        return self._bytes[:nbytes].view(dtype).reshape(shape)
