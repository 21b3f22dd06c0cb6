"""Calls of one coroutine function, for many items at once: functions of ``zarr.core.common``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

__all__ = ["concurrent_foreach", "concurrent_iter", "concurrent_map"]

V = TypeVar("V")
_Items = Iterable[tuple[Any, ...]]


def concurrent_iter(
    items: _Items, func: Callable[..., Awaitable[V]], limit: int | None = None
) -> list[asyncio.Future[V]]:
    """A running task for each item, of which at most ``limit`` call the function at a time."""
    if limit is None:
        return [asyncio.ensure_future(func(*item)) for item in items]
    free = asyncio.Semaphore(limit)

    async def limited(item: tuple[Any, ...]) -> V:
        async with free:
            return await func(*item)

    return [asyncio.ensure_future(limited(item)) for item in items]


async def concurrent_map(
    items: _Items, func: Callable[..., Awaitable[V]], limit: int | None = None
) -> list[V]:
    """The results of a coroutine function, in the order of the items."""
    return await asyncio.gather(*concurrent_iter(items, func, limit))


async def concurrent_foreach(
    items: _Items, func: Callable[..., Awaitable[object]], limit: int
) -> None:
    """Call a coroutine function for each item; an item is taken when its call begins.

    Parameters
    ----------
    items : iterable of tuple
    func : callable
    limit : int
        So many calls run at a time at most.

    Raises
    ------
    ValueError
        ``limit`` is less than 1.
    BaseException
        The first error of a call. No further item is taken, and the other calls are cancelled.
        Where several failed, the group of their errors is its cause.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, got {limit}")
    source = iter(items)
    failed = asyncio.Event()

    async def work() -> None:
        for item in source:
            try:
                await func(*item)
            except BaseException:
                failed.set()
                raise
            if failed.is_set():
                return

    try:
        async with asyncio.TaskGroup() as running:
            for _ in range(limit):
                running.create_task(_unless(failed, work))
    except BaseExceptionGroup as group:
        cause = group if len(group.exceptions) > 1 else None
        raise group.exceptions[0] from cause


async def _unless(failed: asyncio.Event, work: Callable[[], Awaitable[None]]) -> None:
    if not failed.is_set():
        await work()
