"""A torch whose CUDA copies finish late: streams go on only when a test says so.

Memory of a tensor that is gone is overwritten, unless it was recorded for the stream that reads it;
so is page-locked memory that a loader gives out again (`poisoned`). What reads too early, or what
is written too early, then shows as another value.
"""

import contextlib
import ctypes
import itertools
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from zarrix.ml._reading import slots

POISON = 0xA5


# How long a thread waits for others to go on. They may have nothing to do.
_TURN_S = 0.002


class Turns:
    """Where threads go on at the points of the device: a schedule instead of chance.

    At each point a thread takes the next entry of the schedule. If it is true, it waits until
    another thread has come to a point.
    """

    def __init__(self, schedule: Iterable[bool]) -> None:
        self._schedule = itertools.cycle(schedule)
        self._came = 0
        self._changed = threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self._came += 1
            self._changed.notify_all()
            came = self._came
            if next(self._schedule):
                self._changed.wait_for(lambda: self._came != came, _TURN_S)


class Stream:
    """Operations in their order; each returns whether it could run."""

    def __init__(self, cuda: "Cuda") -> None:
        self._cuda = cuda
        self.waiting: deque[Callable[[], bool]] = deque()
        # An event that is waited for runs operations in the thread that waits.
        self._running = threading.Lock()

    def add(self, operation: Callable[[], bool]) -> None:
        self._cuda.point()
        self.waiting.append(operation)
        self._cuda.point()

    def step(self) -> bool:
        with self._running:
            if self.waiting and self.waiting[0]():
                self.waiting.popleft()
                return True
            return False

    def wait_event(self, event: "Event") -> None:
        self.add(lambda: event.passed)


class Event:
    def __init__(self) -> None:
        self.passed = False
        self.stream: Any = None

    def record(self, stream: Stream) -> None:
        self.stream = stream
        stream.add(self._pass)

    def _pass(self) -> bool:
        self.passed = True
        return True

    def query(self) -> bool:
        return self.passed

    def synchronize(self) -> None:
        while not self.passed:
            assert self.stream.step() or self.passed, "waits for what waits for others"


class Tensor:
    """One of the processor (an array), or of the device (memory that copies write)."""

    def __init__(
        self, cuda: "Cuda", array: Any, is_on_device: bool = False, dtype: str = ""
    ) -> None:
        self._cuda, self.array, self.is_on_device = cuda, array, is_on_device
        self._dtype = dtype
        self.recorded: list[Stream] = []
        # What a view's memory belongs to, and whether this is page-locked memory.
        self.owner: Tensor | None = None
        self.is_locked = False

    @property
    def is_cuda(self) -> bool:
        return self.is_on_device

    def numel(self) -> int:
        return int(self.array.size)

    def element_size(self) -> int:
        return int(self.array.itemsize)

    def numpy(self) -> Any:
        return self.array

    @property
    def dtype(self) -> str:
        return self._dtype or f"torch.{self.array.dtype.name}"

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.array.shape)

    @property
    def device(self) -> str:
        return "cuda:0"

    def detach(self) -> "Tensor":
        return self

    def view(self, dtype: str) -> "Tensor":
        """The same memory, which belongs to this tensor, as elements of another type."""
        name = dtype.removeprefix("torch.")
        tensor = Tensor(self._cuda, self.array.view("u2" if name == "bfloat16" else name))
        tensor.owner = self
        return tensor

    def reshape(self, shape: Any) -> "Tensor":
        tensor = Tensor(self._cuda, self.array.reshape(shape))
        tensor.owner = self
        return tensor

    def copy_(self, source: "Tensor", non_blocking: bool = False) -> "Tensor":
        """Fill memory of the device later, from locked memory as it is then."""
        assert (self.is_on_device, non_blocking) == (True, True)
        assert self.array.shape == source.array.shape
        target, values = self.array, source.array
        assert values.size == 0 or self._cuda.is_locked(values.ctypes.data)

        def copy() -> bool:
            target[...] = values
            return True

        self._cuda.current.add(copy)
        return self

    def to(self, device: Any, non_blocking: bool = False) -> "Tensor":
        assert non_blocking
        return Tensor(self._cuda, self._cuda.copied(self.array), is_on_device=True)

    def record_stream(self, stream: Stream) -> None:
        self._cuda.point()
        self.recorded.append(stream)

    def __del__(self) -> None:
        if self.is_locked or (self.is_on_device and not self.recorded):
            self.array.view(np.uint8)[...] = POISON


class Cuda:
    """The device, with the stream of the steps, and those that a program makes.

    As in torch, each thread has a current stream of its own, which is that of the steps at first.
    One for all threads made a consumer wait in the stream of copies, if it took a batch while the
    thread that reads ahead began a copy: its step then read memory before the copy.
    """

    def __init__(self, turns: Callable[[], None] = lambda: None) -> None:
        #: Called where a thread may be interrupted by others.
        self.point = turns
        self.steps = Stream(self)
        self.streams = [self.steps]
        self.locked: list[bytearray] = []
        self._of_thread = threading.local()

    @property
    def current(self) -> Stream:
        """The current stream of the calling thread."""
        found: Stream = getattr(self._of_thread, "stream", self.steps)
        return found

    def new_stream(self, device: Any) -> Stream:
        self.streams.append(Stream(self))
        return self.streams[-1]

    def empty(self, count: int, dtype: Any, pin_memory: bool) -> Any:
        assert (pin_memory, dtype) == (True, np.uint8)
        self.locked.append(bytearray(count))
        # Views of it refer to this array, as they do to one of a real tensor.
        tensor = Tensor(self, np.frombuffer(self.locked[-1], np.uint8))
        tensor.is_locked = True
        return tensor

    def is_locked(self, address: int) -> bool:
        begins = [ctypes.addressof(ctypes.c_char.from_buffer(memory)) for memory in self.locked]
        return any(
            begin <= address < begin + len(memory)
            for begin, memory in zip(begins, self.locked, strict=True)
        )

    def copied(self, array: Any) -> Any:
        """Memory of the device, which a later operation of the current stream fills."""
        target = np.full(max(1, array.nbytes), POISON, np.uint8)
        address, size, source = array.ctypes.data, array.nbytes, None
        if not (self.is_locked(address) and array.flags.c_contiguous):
            # A driver reads other memory before the call returns.
            source = array.tobytes()

        def copy() -> bool:
            target[:size] = np.frombuffer(source or ctypes.string_at(address, size), np.uint8)
            return True

        self.current.add(copy)
        return target[:size].view(array.dtype).reshape(array.shape)

    @contextlib.contextmanager
    def stream(self, stream: Stream) -> Iterator[None]:
        before, self._of_thread.stream = self.current, stream
        try:
            self.point()
            yield
            self.point()
        finally:
            self._of_thread.stream = before

    def finish(self) -> None:
        while any(stream.step() for stream in self.streams):
            pass
        assert not any(stream.waiting for stream in self.streams)


@contextlib.contextmanager
def late_torch(turns: Callable[[], None] = lambda: None) -> Iterator[Cuda]:
    """torch is one whose copies finish late, and memory that is given out again is overwritten."""
    device = Cuda(turns)
    torch = SimpleNamespace(
        Tensor=Tensor,
        from_numpy=lambda array: Tensor(device, array),
        empty=device.empty,
        uint8=np.uint8,
        cuda=SimpleNamespace(
            Stream=device.new_stream,
            Event=Event,
            stream=device.stream,
            current_stream=lambda _: device.current,
        ),
    )
    view = slots._view

    def poisoned(base: Any, *rest: Any) -> Any:
        turns()
        base[...] = POISON
        return view(base, *rest)

    with (
        mock.patch.dict(sys.modules, {"torch": torch}),
        mock.patch.object(slots, "_view", poisoned),
    ):
        yield device
