"""Buffers of values and of parts of values, awaited or not, as zarr-python 3's stores give them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from zarrix._runtime.buffers import (
    RangeByteRequest,
    as_bytes,
    default_buffer_prototype,
    slice_of,
)
from zarrix._stores.coalesce import coalesce_ranges

__all__ = ["ByteRanges"]

T = TypeVar("T")


class ByteRanges:
    """The methods of `Store` that give buffers of parts of values.

    Each makes one call of the engine: in a thread for a remote store, whose latency would stop the
    event loop, and otherwise at once.
    """

    if TYPE_CHECKING:
        is_remote: bool

        def _value(self, key: str, default: Any = None) -> Any: ...

    async def _call(self, work: Callable[..., T], *args: Any) -> T:
        if not self.is_remote:
            return work(*args)
        # Import time: asyncio, which a program that awaits has imported.
        import asyncio

        return await asyncio.to_thread(work, *args)

    async def _get_awaited(self, key: str, prototype: Any, byte_range: Any) -> Any:
        """The value of ``key``, or a part of it, as a buffer; None if nothing is stored."""
        return await self._call(self._buffer_of, key, prototype, byte_range)

    def _buffer_of(self, key: str, prototype: Any, byte_range: Any) -> Any:
        """The value of ``key``, or a part of it, as a buffer; None if nothing is stored."""
        part = slice_of(byte_range)
        value = self._value(key) if byte_range is None else self._part(key, byte_range, part)
        if value is None:
            return None
        buffer = (prototype or default_buffer_prototype()).buffer
        return buffer.from_bytes(memoryview(as_bytes(value)).cast("B"))

    def _part(self, key: str, byte_range: Any, part: slice) -> Any:
        """A part of the value of ``key``; None if nothing is stored."""
        value = self._value(key)
        return None if value is None else memoryview(as_bytes(value)).cast("B")[part]

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]
    ) -> Sequence[Any]:
        """Parts of values, as buffers.

        Parameters
        ----------
        prototype : BufferPrototype or None
        key_ranges : iterable of tuple of (str, ByteRequest or None)
            A key, and the part of its value; all of it for None.

        Returns
        -------
        list of Buffer or None
            None for a key that is not stored.

        Raises
        ------
        TypeError
            A part is not a request.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.abc.store import SuffixByteRequest
        >>> store = zarr.MemoryStore({"a": b"12345"})
        >>> wanted = [("a", SuffixByteRequest(2)), ("b", None)]
        >>> found = asyncio.run(store.get_partial_values(None, wanted))
        >>> found[0].to_bytes(), found[1]
        (b'45', None)
        """
        # Import time: asyncio, which a program that awaits has imported.
        import asyncio

        wanted = [self._get_awaited(key, prototype, part) for key, part in key_ranges]
        return await asyncio.gather(*wanted)

    async def get_ranges(
        self,
        key: str,
        byte_ranges: Sequence[Any],
        *,
        prototype: Any = None,
        max_concurrency: int = 10,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> AsyncIterator[Sequence[tuple[int, Any]]]:
        """Parts of one value, as buffers, in one batch.

        Parameters
        ----------
        key : str
        byte_ranges : sequence of ByteRequest or None
        prototype : BufferPrototype, optional
        max_concurrency : int
            Accepted for zarr-python 3; there is one request.
        max_gap_bytes : int
            Only the ranges are read where they are at most so far apart, and otherwise the value.
        max_coalesced_bytes : int
            Accepted for zarr-python 3; there is one request.

        Yields
        ------
        sequence of tuple of (int, Buffer)
            The position in ``byte_ranges``, and the bytes.

        Raises
        ------
        BaseExceptionGroup
            Nothing is stored under ``key``.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.abc.store import OffsetByteRequest
        >>> async def last(store):
        ...     async for batch in store.get_ranges("a", [OffsetByteRequest(3)]):
        ...         return [found.to_bytes() for _, found in batch]
        >>> asyncio.run(last(zarr.MemoryStore({"a": b"12345"})))
        [b'45']
        """
        found = await self._call(
            _parts_of, self._buffer_of, key, byte_ranges, prototype, max_gap_bytes
        )
        if found:
            yield found

    def get_ranges_sync(
        self,
        key: str,
        byte_ranges: Sequence[Any],
        *,
        prototype: Any = None,
        max_gap_bytes: int = 1 << 20,
        max_coalesced_bytes: int = 16 << 20,
    ) -> list[tuple[int, Any]]:
        """Parts of one value, as buffers.

        Parameters
        ----------
        key : str
        byte_ranges : sequence of ByteRequest or None
        prototype : BufferPrototype, optional
        max_gap_bytes : int
            Only the ranges are read where they are at most so far apart, and otherwise the value.
        max_coalesced_bytes : int
            Accepted for zarr-python 3; there is one request.

        Returns
        -------
        list of tuple of (int, Buffer)
            The position in ``byte_ranges``, and the bytes.

        Raises
        ------
        BaseExceptionGroup
            Nothing is stored under ``key``.
        TypeError
            The store is a user's, and has coroutines only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.abc.store import OffsetByteRequest
        >>> store = zarr.MemoryStore({"a": b"12345"})
        >>> ((at, part),) = store.get_ranges_sync("a", [OffsetByteRequest(3)])
        >>> at, part.to_bytes()
        (0, b'45')
        """
        return _parts_of(self._buffer_of, key, byte_ranges, prototype, max_gap_bytes)


def _parts_of(
    read: Callable[..., Any], key: str, byte_ranges: Sequence[Any], prototype: Any, gap: int
) -> list[tuple[int, Any]]:
    """Parts of one value, by one request, with their positions in ``byte_ranges``.

    Close ranges are requested together; otherwise the whole value is, so that all parts are of one
    version.
    """
    wanted, start = None, 0
    if byte_ranges and all(hasattr(one, "start") for one in byte_ranges):
        runs = coalesce_ranges([(one.start, one.end) for one in byte_ranges], gap)
        if len(runs) == 1:
            (start, end) = runs[0]
            wanted = RangeByteRequest(start, end)
    found = read(key, prototype, wanted)
    if found is None:
        raise BaseExceptionGroup("no value to read a part of", [FileNotFoundError(key)])
    slices = [slice_of(one) for one in byte_ranges]
    if wanted is not None:
        slices = [slice(one.start - start, one.stop - start) for one in slices]
    return [(at, found[part]) for at, part in enumerate(slices)]
