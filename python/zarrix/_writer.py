"""A stream into an array: frames are gathered to whole chunks, and stored in the background.

What is appended fills a block of whole chunks along one axis (whole shards, where there are any).
A full block is handed to a thread, which stores its chunks, in parallel, and then lets the array's
shape grow over them: whatever is killed when, what the shape covers is there. One block may wait
while another is stored; `append` then waits too, so that memory is at most three blocks, however
much faster frames arrive than they are stored.

The option that lost grew the shape first, as `Array.append` must (others may append at the same
time): a crash then leaves fill where frames should be. So a writer asks to be the only one who
changes the length of its axis; it notices, and stops, when it is not. What a killed writer left
beyond the shape is deleted by the next one, before it could show up again.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import threading
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from zarrix import _resize
from zarrix._metadata import ArrayMetadata
from zarrix._values import fill_element

if TYPE_CHECKING:
    from types import TracebackType

    from zarrix._array import Array

__all__ = ["Writer"]


class Writer:
    """Appends frames to an array; made by ``z.writer()``.

    Every frame that `flush` or `close` has returned for is stored. After a crash the array holds
    the frames up to some whole block, in order, and nothing else.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.zeros((0, 2, 3), chunks=(4, 2, 3), dtype="i4")
    >>> with z.writer() as stream:
    ...     for number in range(10):
    ...         stream.append(np.full((2, 3), number))
    >>> z.shape, int(z[9, 0, 0])
    ((10, 2, 3), 9)
    """

    __module__ = "zarrix.core"

    def __init__(self, array: Array, axis: int = 0, buffer_bytes: int = 32 * 2**20) -> None:
        array._forbid_on_view()
        metadata = array._load()
        axes = len(metadata.shape)
        if not isinstance(axis, int | np.integer) or not -axes <= axis < axes:
            raise ValueError(f"axis {axis!r} is out of range for an array of {axes} axes")
        self._array = array
        self._axis = int(axis) % axes
        self._dtype = metadata.dtype
        self._frame = tuple(n for i, n in enumerate(metadata.shape) if i != self._axis)
        chunk = max(1, metadata.chunk_shape[self._axis])
        chunk_bytes = math.prod(self._frame) * chunk * max(1, metadata.dtype.itemsize)
        self._chunk = chunk
        # Several thin chunks at once, so that all threads have work.
        self._block = chunk * max(1, buffer_bytes // max(1, chunk_bytes))
        self._stored = metadata.shape[self._axis]
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._failure: BaseException | None = None
        self._closed = False
        self._full: queue.Queue[tuple[int, int, Any] | None] = queue.Queue(maxsize=1)
        self._begin = self._stored
        self._filled = 0
        self._spare: list[Any] = []
        self._buffer: Any = self._new_buffer()
        _resize.erase_beyond(array, metadata, self._axis)
        self._thread = threading.Thread(target=self._work, name="zarrix-writer", daemon=True)
        self._thread.start()

    @property
    def count(self) -> int:
        """Length of the axis with all that was appended, stored or not."""
        return self._begin + self._filled

    @property
    def stored(self) -> int:
        """Length of the axis that is stored, and that a reader sees."""
        return self._stored

    def append(self, frames: Any) -> None:
        """Take one frame, or several; waits while two full blocks are not stored yet.

        Parameters
        ----------
        frames : array-like
            One frame has the array's shape without the writer's axis; several have that axis too.
            They are copied: the caller may use their memory again.

        Raises
        ------
        ValueError
            They have another shape; nothing of them was taken.
        """
        with self._lock:
            self._check()
            values = self._as_frames(frames)
            taken = 0
            while taken < values.shape[self._axis]:
                room = self._length() - self._filled
                part = values[self._along(taken, taken + room)]
                count = part.shape[self._axis]
                self._buffer[self._along(self._filled, self._filled + count)] = part
                self._filled += count
                taken += count
                if count == room:
                    self._hand_over()

    def flush(self) -> None:
        """Return when all that was appended is stored, and seen by readers.

        Where that ends within a chunk, this chunk is stored again when it is full.
        """
        with self._lock:
            self._check()
            self._flush()
            self._check()

    def close(self) -> None:
        """`flush`, and take no more. Closing again does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._failure is None:
                self._flush()
            self._full.put(None)
            self._thread.join()
            self._raise_failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # What was appended before an error is kept; a second failure must not hide the first.
        with contextlib.suppress(Exception) if error is not None else contextlib.nullcontext():
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self._filled} buffered"
        return (
            f"<writer of {self._array!r} along axis {self._axis}, {self._stored} stored, {state}>"
        )

    # Gathering, on the caller's thread

    def _check(self) -> None:
        if self._closed:
            raise ValueError("the writer is closed")
        if self._process != os.getpid():
            raise RuntimeError("a writer does not survive a fork; the parent has it, open another")
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _as_frames(self, frames: Any) -> Any:
        values = np.asarray(frames, self._dtype)
        if values.ndim == len(self._frame):
            values = np.expand_dims(values, self._axis)
        others = tuple(n for i, n in enumerate(values.shape) if i != self._axis)
        if values.ndim != len(self._frame) + 1 or others != self._frame:
            raise ValueError(
                f"frames of shape {values.shape}; one frame of {self._array._title()} has shape "
                f"{self._frame}"
            )
        return values

    def _along(self, start: int, stop: int) -> tuple[slice, ...]:
        return (*(slice(None),) * self._axis, slice(start, stop))

    def _new_buffer(self) -> Any:
        # The first block is the shorter one: it ends where a chunk ends.
        count = self._block - self._begin % self._chunk
        if count == self._block and self._spare:
            return self._spare.pop()
        shape = list(self._frame)
        shape.insert(self._axis, count)
        return np.empty(shape, self._dtype)

    def _hand_over(self) -> None:
        """Pass the full block to the thread, and begin another."""
        self._full.put((self._begin, self._filled, self._buffer))
        self._begin += self._filled
        self._filled = 0
        self._buffer = self._new_buffer()

    def _flush(self) -> None:
        """Store what is filled, and keep only the part of a chunk that must be stored again."""
        if self._filled:
            end = self._begin + self._filled
            # All of the last chunk is written, so that nothing is read, and nothing old is kept.
            padded = min(-(-end // self._chunk) * self._chunk - self._begin, self._length())
            metadata = self._array._metadata
            fill = fill_element(metadata.dtype, metadata.fill_value)
            self._buffer[self._along(self._filled, padded)] = fill
            self._full.put((self._begin, self._filled, self._buffer[self._along(0, padded)]))
        self._full.join()
        whole = (self._begin + self._filled) // self._chunk * self._chunk - self._begin
        if whole > 0:
            rest = self._buffer[self._along(whole, self._filled)].copy()
            self._begin += whole
            self._filled -= whole
            if self._length() != self._block:
                self._buffer = self._new_buffer()
            self._buffer[self._along(0, self._filled)] = rest

    def _length(self) -> int:
        length: int = self._buffer.shape[self._axis]
        return length

    # Storing, on the writer's thread

    def _work(self) -> None:
        while (job := self._full.get()) is not None:
            try:
                if self._failure is None:
                    self._store(*job)
            except BaseException as error:
                self._failure = error
            finally:
                self._full.task_done()
        self._full.task_done()

    def _store(self, begin: int, count: int, block: Any) -> None:
        """Store a block's chunks, then let the shape grow over ``count`` of its frames."""
        array, axis = self._array, self._axis
        end, padded = begin + count, begin + block.shape[axis]
        with array._writing():
            metadata = array._load()
            self._check_length(metadata.shape)
            shape = list(metadata.shape)
            shape[axis] = padded
            io = _resize.io_to_chunk_end(array, metadata.with_shape(tuple(shape)), axis)
            ranges = [(0, 1, size) for size in shape]
            ranges[axis] = (begin, 1, padded - begin)
            io.write(tuple(ranges), block, array._fsync)
            shape[axis] = end

            def grow(metadata: ArrayMetadata) -> ArrayMetadata:
                self._check_length(metadata.shape)
                return metadata.with_shape(tuple(shape))

            array._rewrite(grow)
        self._stored = end
        if count == self._block and not self._spare:
            self._spare.append(block)

    def _check_length(self, shape: tuple[int, ...]) -> None:
        expected = list(self._frame)
        expected.insert(self._axis, self._stored)
        if shape != tuple(expected):
            raise RuntimeError(
                f"{self._array._title()} has the shape {shape} where its writer left "
                f"{tuple(expected)}; only one may change the length of an axis while a writer is "
                "open"
            )
