"""A stream into an array: frames are collected to complete chunks, and stored in the background.

Frames fill a block of complete chunks (or shards) along one axis. A full block is passed to other
threads (`zarrix._array.writer_thread`), and the next one is begun. If frames arrive faster than
they are stored, `append` waits. Memory is at most four blocks: two being stored, one that waits,
and one being filled.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any, NoReturn, Self
from weakref import WeakSet

import numpy as np

from zarrix._array.handle import ArrayHandle
from zarrix._array.writer_thread import Block, Storing
from zarrix._dtypes.variable import as_elements
from zarrix._errors import WriterError
from zarrix._runtime.config import config
from zarrix._runtime.wake import First, Wake, begin
from zarrix._selection.values import fill_element, require_unmasked

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from zarrix._metadata.array import ArrayMetadata

__all__ = ["Writer"]

_BLOCK_BYTES = 8 * 2**20
"""Default size of a block: small enough that frames are stored from the CPU cache."""

_open: WeakSet[Writer] = WeakSet()
# Writers that were dropped, until their frames are stored.
_closing: set[Writer] = set()

_DROPPED_S = 5.0
"""How long dropping an open writer waits until its frames are stored."""


class Writer:
    """Appends frames to an array; made by ``z.writer()``.

    After `flush` or `close`, every frame is stored. After a crash, the array has the frames up to
    some block, in order, and nothing else. If storing fails (a full disk, a value that cannot be
    encoded), the next `append`, `flush` or `close` raises the error; the array keeps the frames
    before it, and the writer accepts no more.

    A writer that is dropped, or still open when Python ends, is closed with a ``ResourceWarning``.
    Dropping it waits 5 seconds at most; frames that are not stored by then are stored in the
    background, or when Python ends.

    Parameters
    ----------
    array : Array
    axis : int
        The axis that grows.
    buffer_bytes : int, optional
        Size of a block; about 8 MiB when omitted, and at least one row of chunks.

    Raises
    ------
    ValueError
        ``axis`` is out of range, or ``buffer_bytes`` is not positive.
    ReadOnlyError
        The array is read-only.
    WriterError
        Another writer has the array open.

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

    def __init__(self, array: ArrayHandle, axis: int = 0, buffer_bytes: int | None = None) -> None:
        # Set first, for the finalizer of a writer whose constructor failed.
        self._closed = True
        array._forbid_on_view()
        metadata = array._load().metadata
        axes = len(metadata.shape)
        if not isinstance(axis, int | np.integer) or not -axes <= axis < axes:
            raise ValueError(f"axis {axis!r} is out of range for an array of {axes} axes")
        if buffer_bytes is not None and (
            not hasattr(buffer_bytes, "__index__") or buffer_bytes < 1
        ):
            raise ValueError(f"buffer_bytes={buffer_bytes!r}; a number of bytes, 1 or more")
        self._array = array
        self._axis = int(axis) % axes
        self._dtype = metadata.dtype
        self._frame = tuple(n for i, n in enumerate(metadata.shape) if i != self._axis)
        chunk = max(1, metadata.chunk_shape[self._axis])
        self._aligned = metadata.grid[self._axis].end or 0
        self._chunk = chunk
        self._block = chunk * _rows_of_chunks(metadata, self._axis, buffer_bytes)
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._storing = Storing(array, self._axis)
        try:
            self._storing.open()
            self._begin = self._storing.stored
            self._filled = 0
            self._buffer: Any = self._new_buffer(self._begin)
            # Whether a call of `_flush` has not ended.
            self._is_flushing = False
            self._closed = False
            _open.add(self)
        except BaseException:
            self._storing.end()
            self._closed = True
            raise

    @property
    def count(self) -> int:
        """Length of the axis with all appended frames, stored or not."""
        return self._begin + self._filled

    @property
    def stored(self) -> int:
        """Stored length of the axis, which readers see."""
        return self._storing.stored

    def append(self, frames: Any) -> None:
        """Append one frame, or several; waits while three full blocks are not stored yet.

        Parameters
        ----------
        frames : array-like
            One frame has the array's shape without the writer's axis; several frames have that
            axis, too. They are copied, so that the caller may reuse the memory. For an array of
            objects, a list is several frames, and its elements are referenced, not copied.

        Raises
        ------
        ValueError
            The shape is wrong, or the writer is closed; nothing was appended.
        WriterError
            Another process changed the length of the axis, or this is a forked child.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.zeros((0, 3), chunks=(2, 3), dtype="i2")
        >>> with z.writer() as writer:
        ...     writer.append([1, 2, 3])  # one frame
        ...     writer.append(np.zeros((4, 3)))  # four frames
        ...     writer.count
        5
        >>> z.shape
        (5, 3)
        """
        self._forbid_in_child()
        with self._lock:
            self._check()
            values = self._as_frames(frames)
            if self._is_flushing:
                # It was interrupted: the memory that these frames would change is being stored.
                self._flush()
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
        """Wait until all appended frames are stored and visible to readers.

        If the frames end within a chunk, this chunk is stored again when it is full.

        Raises
        ------
        WriterError
            Another writer changed the length of the axis, or this is a forked child.
        ValueError
            The writer is closed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(0, chunks=100, dtype="f4")
        >>> with z.writer() as writer:
        ...     writer.append([0.5, 1.5])
        ...     before = writer.stored
        ...     writer.flush()
        ...     before, writer.stored
        (0, 2)
        """
        self._forbid_in_child()
        with self._lock:
            self._check()
            self._flush()
            self._check()

    def close(self) -> None:
        """`flush`, and accept no more frames. Closing again does nothing.

        Raises
        ------
        WriterError
            Another writer changed the length of the axis.
        OSError
            The last frames could not be stored.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(0, chunks=4, dtype="i4")
        >>> writer = z.writer()
        >>> writer.append([1, 2, 3])
        >>> writer.close()
        >>> z[:]
        array([1, 2, 3], dtype=int32)
        """
        if self._closed or self._process != os.getpid():
            return
        with self._lock:
            if self._closed:
                return
            if self._storing.failure is None and not self._storing.is_ending:
                self._flush()
            self._storing.end()
            self._closed = True
            _open.discard(self)
            self._raise_failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Frames before the error are stored; a second error must not hide the first.
        with contextlib.suppress(Exception) if error is not None else contextlib.nullcontext():
            self.close()

    def __del__(self) -> None:
        # `_close_all` has closed it where Python ends, and has cleared the names of this module.
        # An interrupted constructor may have set no attribute.
        if not getattr(self, "_closed", True):
            _warn_and(_close_dropped, self)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a writer cannot be pickled: it holds frames that are not stored yet and the "
            "exclusive lock on the length of its array; pickle the array, and call its "
            "writer() in the other process"
        )

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self._filled} buffered"
        return f"<writer of {self._array!r} along axis {self._axis}, {self.stored} stored, {state}>"

    # Collecting, on the caller's thread

    def _forbid_in_child(self) -> None:
        # Before the lock, which another thread of the parent may have held at the fork.
        if self._process != os.getpid():
            raise WriterError("a writer does not survive a fork: only the parent can use it")

    def _check(self) -> None:
        if self._closed or self._storing.is_ending:
            raise ValueError("the writer is closed")
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self._storing.failure is not None:
            raise self._storing.failure

    def _as_frames(self, frames: Any) -> Any:
        axes = len(self._frame) + 1
        require_unmasked(frames)
        if self._dtype.kind == "O":
            values = as_elements(frames, (1,) * axes)
        else:
            values = np.asarray(frames, self._dtype)
        if values.ndim == len(self._frame):
            values = np.expand_dims(values, self._axis)
        others = tuple(n for i, n in enumerate(values.shape) if i != self._axis)
        if values.ndim != axes or others != self._frame:
            raise ValueError(
                f"frames of shape {values.shape}; one frame of {self._array._title()} has shape "
                f"{self._frame}"
            )
        return values

    def _along(self, start: int, stop: int) -> tuple[slice, ...]:
        return (*(slice(None),) * self._axis, slice(start, stop))

    def _new_buffer(self, begin: int) -> Any:
        # The first block is the shorter one: it ends where a chunk ends.
        count = self._block - (begin - self._aligned) % self._chunk
        if count == self._block and self._storing.spare:
            return self._storing.spare.pop()
        shape = list(self._frame)
        shape.insert(self._axis, count)
        return np.empty(shape, self._dtype)

    def _hand_over(self) -> None:
        """Pass on the full block, and begin another.

        After an exception of a signal handler the next call does all of it.
        """
        whole = self._filled == self._block
        self._storing.put(Block(self._begin, self._filled, self._buffer, whole))
        begin = self._begin + self._filled
        self._become(begin, 0, self._new_buffer(begin))

    def _become(self, begin: int, filled: int, buffer: Any) -> None:
        # No call here: an exception of a signal handler comes before these lines, or after.
        self._begin = begin
        self._filled = filled
        self._buffer = buffer

    def _flush(self) -> None:
        """Store the filled part, and keep only the part of a chunk that must be stored again."""
        self._is_flushing = True
        if self._filled:
            end = self._begin + self._filled
            # The complete last chunk is written, so that nothing is read, and no old element
            # remains.
            padded = min(end + (self._aligned - end) % self._chunk - self._begin, self._length())
            metadata = self._array._snapshot.metadata
            fill = fill_element(metadata.dtype, metadata.fill_value)
            self._buffer[self._along(self._filled, padded)] = fill
            values = self._buffer[self._along(0, padded)]
            self._storing.put(Block(self._begin, self._filled, values, False))
        self._storing.wait()
        end = self._begin + self._filled
        whole = end - (end - self._aligned) % self._chunk - self._begin
        if whole > 0:
            rest = self._buffer[self._along(whole, self._filled)]
            begin, filled = self._begin + whole, self._filled - whole
            buffer = self._new_buffer(begin)
            buffer[self._along(0, filled)] = rest
            self._become(begin, filled, buffer)
        self._is_flushing = False

    def _length(self) -> int:
        length: int = self._buffer.shape[self._axis]
        return length


def _rows_of_chunks(metadata: ArrayMetadata, axis: int, buffer_bytes: int | None) -> int:
    """The number of chunks of a block along the axis."""
    frame = [n for i, n in enumerate(metadata.shape) if i != axis]
    sides = [n for i, n in enumerate(metadata.chunk_shape) if i != axis]
    row_bytes = math.prod(frame) * metadata.chunk_shape[axis] * max(1, metadata.dtype.itemsize)
    rows = (buffer_bytes or _BLOCK_BYTES) // max(1, row_bytes)
    if buffer_bytes is None:
        # Two blocks are stored at a time, and together give every thread work.
        across = math.prod(-(-n // max(1, side)) for n, side in zip(frame, sides, strict=True))
        rows = max(rows, -(-config.threads // (2 * max(1, across))))
    return max(1, rows)


def _warn_and(close: Callable[[Writer], None], writer: Writer) -> None:
    if writer._closed or writer._process != os.getpid():
        return
    try:
        warnings.warn(f"{writer!r} was not closed", ResourceWarning, source=writer, stacklevel=3)
    finally:
        # Also where the warning is an error.
        close(writer)


def _close_dropped(writer: Writer) -> None:
    """Close a writer in a thread of its own, and wait for it as long as a finalizer may.

    Garbage collection drops a writer in any thread: in one that holds a lock which storing the
    frames takes, or in one that stores them.
    """
    _closing.add(writer)
    errors: list[BaseException] = []
    is_first, over = First(), Wake()
    is_storing = threading.current_thread() in writer._storing._threads

    def close() -> None:
        if not is_first():
            return
        try:
            writer.close()
        except BaseException as error:
            errors.append(error)
        _closing.discard(writer)
        over.set()

    try:
        begin(threading.Thread(target=close, name="zarrix-writer-dropped", daemon=True))
    except BaseException:
        # There is no thread, or Ctrl-C came before there was one.
        if not is_storing:
            close()
    until = time.monotonic() + _DROPPED_S
    while writer in _closing and not is_storing and time.monotonic() < until:
        over.wait()
    if errors:
        raise errors.pop()


@atexit.register
def _close_all() -> None:
    """At interpreter exit, while threads still run."""
    for writer in list(_closing):
        writer.close()
    for writer in list(_open):
        _warn_and(Writer.close, writer)
