"""Copies of batches to a CUDA device, while the step before them runs.

A batch is decoded into page-locked memory and copied by a stream of its own, so that neither the
thread that reads nor the step waits for the copy. The memory is used again when the event behind
the copy has passed.
"""

from __future__ import annotations

import importlib
import threading
from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix.ml._reading.to_torch import to_torch

__all__ = ["OnItsWay", "Uploads", "is_cuda", "page_locked"]

# Copies that were not seen to have ended may keep so much memory from being used again.
_MOST_BYTES = 2**28


def is_cuda(device: Any) -> bool:
    """Whether torch means a CUDA device by this; a number is one."""
    return isinstance(device, int) or str(device).startswith("cuda")


def page_locked(count: int) -> npt.NDArray[np.uint8]:
    """New memory that a device copies from without the processor."""
    torch: Any = importlib.import_module("torch")
    found: npt.NDArray[np.uint8] = torch.empty(count, dtype=torch.uint8, pin_memory=True).numpy()
    return found


class OnItsWay(NamedTuple):
    """A batch whose copies to the device may not have ended."""

    batch: Any
    copies: list[Any]
    event: Any
    device: Any

    def take(self) -> Any:
        """The batch, for what the calling thread does next on its stream."""
        torch: Any = importlib.import_module("torch")
        stream = torch.cuda.current_stream(self.device)
        stream.wait_event(self.event)
        for copy in self.copies:
            # Its memory belongs to the stream of copies: it is not used again before this one.
            copy.record_stream(stream)
        return self.batch


class Uploads:
    """Copies batches to one device, in their order."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self._lock = threading.Lock()
        self._stream: Any = None
        # Copies that may not have ended: their event, what they read, and its bytes.
        self._begun: deque[tuple[Any, list[Any], int]] = deque()
        self._bytes = 0

    def __reduce__(self) -> Any:
        return Uploads, (self.device,)

    def __call__(self, batch: Any, kinds: dict[str, str]) -> OnItsWay:
        torch: Any = importlib.import_module("torch")
        with self._lock:
            self._forget()
            if self._stream is None:
                self._stream = torch.cuda.Stream(self.device)
            sources: list[Any] = []
            copies: list[Any] = []

            def place(tensor: Any) -> Any:
                if tensor.is_cuda:
                    # A transform put it there.
                    return tensor
                copy = tensor.to(self.device, non_blocking=True)
                sources.append(tensor)
                copies.append(copy)
                return copy

            event = torch.cuda.Event()
            with torch.cuda.stream(self._stream):
                result = to_torch(batch, kinds, place)
                event.record(self._stream)
            size = sum(source.numel() * source.element_size() for source in sources)
            self._begun.append((event, sources, size))
            self._bytes += size
        return OnItsWay(result, copies, event, self.device)

    def _forget(self) -> None:
        """Let go of what was copied, and wait where too much was not."""
        while self._begun:
            event, _, size = self._begun[0]
            if not event.query():
                if self._bytes <= _MOST_BYTES:
                    return
                event.synchronize()
            self._begun.popleft()
            self._bytes -= size
