"""Names of ``zarr.core._coalesce``: parts of one value, read by few requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from zarrix._runtime.buffers import RangeByteRequest

__all__ = ["coalesce_ranges", "coalesced_get"]

# A request with its position among those of the caller.
_Placed = tuple[int, Any]


def coalesce_ranges(
    byte_ranges: Sequence[Any], *, max_gap_bytes: int, max_coalesced_bytes: int
) -> tuple[list[list[_Placed]], list[_Placed]]:
    """Groups of ranges, each for one request, and the requests that are not ranges.

    Parameters
    ----------
    byte_ranges : sequence of ByteRequest or None
    max_gap_bytes : int
        Ranges of one group are at most so far apart.
    max_coalesced_bytes : int
        A group of several ranges spans at most so many bytes.

    Returns
    -------
    tuple of list
        Both have requests with their positions in ``byte_ranges``.
    """
    placed = list(enumerate(byte_ranges))
    groups: list[list[_Placed]] = []
    start = end = 0
    ranges = [one for one in placed if hasattr(one[1], "start")]
    for one in sorted(ranges, key=lambda found: int(found[1].start)):
        request = one[1]
        last = max(end, request.end)
        if groups and request.start - end <= max_gap_bytes and last - start <= max_coalesced_bytes:
            groups[-1].append(one)
            end = last
        else:
            groups.append([one])
            start, end = request.start, request.end
    return groups, [one for one in placed if not hasattr(one[1], "start")]


async def coalesced_get(
    fetch: Callable[[Any], Awaitable[Any]],
    byte_ranges: Sequence[Any],
    *,
    max_concurrency: int,
    max_gap_bytes: int,
    max_coalesced_bytes: int,
) -> AsyncGenerator[Sequence[tuple[int, Any]], None]:
    """Parts of one value, each request of ``fetch`` as soon as it is answered.

    Parameters
    ----------
    fetch : callable
        Awaits the part of a request, or None if the value is missing.
    byte_ranges : sequence of ByteRequest or None
    max_concurrency : int
        So many requests are in flight at most.
    max_gap_bytes, max_coalesced_bytes : int
        Those of `coalesce_ranges`.

    Yields
    ------
    sequence of tuple of (int, Buffer)

    Raises
    ------
    BaseExceptionGroup
        A request failed, or the value is missing. The other requests are cancelled.
    """
    groups, singles = coalesce_ranges(
        byte_ranges, max_gap_bytes=max_gap_bytes, max_coalesced_bytes=max_coalesced_bytes
    )
    free = asyncio.Semaphore(max_concurrency)
    try:
        async with asyncio.TaskGroup() as running:
            works = [
                running.create_task(_group_of(fetch, free, group))
                for group in [*groups, *([one] for one in singles)]
            ]
            for done in asyncio.as_completed(works):
                yield await done
    except BaseExceptionGroup as group:
        # The generator was closed before its end, which is not an error.
        failed = group.split(GeneratorExit)[1]
        if failed is not None:
            raise failed from None


async def _group_of(
    fetch: Callable[[Any], Awaitable[Any]], free: asyncio.Semaphore, group: list[_Placed]
) -> Sequence[tuple[int, Any]]:
    at, request = group[0]
    if len(group) > 1:
        request = RangeByteRequest(request.start, max(one.end for _, one in group))
    async with free:
        found = await fetch(request)
    if found is None:
        raise FileNotFoundError("the value is not stored")
    if len(group) == 1:
        return ((at, found),)
    begin = request.start
    return tuple((at, found[one.start - begin : one.end - begin]) for at, one in group)
