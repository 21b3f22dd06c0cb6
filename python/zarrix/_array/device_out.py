"""``out=`` that is a tensor on a CUDA device: it is read into page-locked memory, and copied.

The copy is on the stream that is current in the calling thread, so that what this thread does next
with the tensor comes after it; the thread does not wait. The memory is held until the event behind
the copy has passed.
"""

from __future__ import annotations

import importlib
import math
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["HostMemory", "host_memory", "is_on_device", "read_to_device"]

# Copies that were not seen to have ended may hold so much memory.
_MOST_BYTES = 1 << 28


class HostMemory(NamedTuple):
    """Page-locked memory for the elements of a tensor on a device."""

    out: Any
    locked: Any
    array: npt.NDArray[Any]

    def upload(self) -> None:
        """Begin the copy, on the current stream of this thread."""
        _uploads.begin(self)


def is_on_device(out: Any) -> bool:
    """Whether ``out`` is a tensor of torch on a CUDA device."""
    return getattr(out, "is_cuda", False) is True


def host_memory(out: Any) -> HostMemory:
    """Memory with the shape and the data type of a tensor; bfloat16 are its 16 bits."""
    torch: Any = importlib.import_module("torch")
    name = str(out.dtype).removeprefix("torch.")
    dtype, shape = np.dtype("uint16" if name == "bfloat16" else name), tuple(out.shape)
    locked = torch.empty(math.prod(shape) * dtype.itemsize, dtype=torch.uint8, pin_memory=True)
    return HostMemory(out, locked, locked.numpy().view(dtype).reshape(shape))


def read_to_device(out: Any, read: Callable[[Any], object]) -> Any:
    """``out``, into which what ``read`` puts into memory of the processor is copied."""
    memory = host_memory(out)
    read(memory.array)
    memory.upload()
    return out


class _Uploads:
    """The copies that may not have ended, of all threads: their event and what they read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._begun: deque[tuple[Any, Any, int]] = deque()
        self._bytes = 0

    def begin(self, memory: HostMemory) -> None:
        torch: Any = importlib.import_module("torch")
        out, locked, size = memory.out.detach(), memory.locked, memory.array.nbytes
        with self._lock:
            self._forget()
            source = locked.view(out.dtype).reshape(memory.array.shape)
            out.copy_(source, non_blocking=True)
            event = torch.cuda.Event()
            event.record(torch.cuda.current_stream(out.device))
            self._begun.append((event, locked, size))
            self._bytes += size

    def _forget(self) -> None:
        """Let go of what was copied, and wait where too much was not; streams differ in order."""
        for _ in range(len(self._begun)):
            event, locked, size = self._begun.popleft()
            if not event.query():
                if self._bytes <= _MOST_BYTES:
                    self._begun.append((event, locked, size))
                    continue
                event.synchronize()
            self._bytes -= size


_uploads = _Uploads()
