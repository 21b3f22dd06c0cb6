"""Names of ``zarr.core.sync``: awaiting from code that is not asynchronous."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, Coroutine
from typing import Any

from zarrix._runtime import event_loop

__all__ = ["SyncMixin", "collect_aiterator", "sync"]


def sync(coro: Any, loop: Any = None, timeout: float | None = None) -> Any:
    """The result of a coroutine, awaited on the event loop of this package.

    A value that is not awaitable is returned as it is, because many methods of zarrix return at
    once what zarr-python's promise.
    """
    if not inspect.isawaitable(coro):
        return coro
    return event_loop.run(_awaited(coro))


async def _awaited(coro: Any) -> Any:
    return await coro


async def _collect_aiterator(data: AsyncIterable[Any]) -> tuple[Any, ...]:
    return tuple([one async for one in data])


def collect_aiterator(data: AsyncIterable[Any]) -> tuple[Any, ...]:
    """All values of an asynchronous iterator."""
    result: tuple[Any, ...] = sync(_collect_aiterator(data))
    return result


class SyncMixin:
    """Base of classes whose synchronous methods call their asynchronous ones."""

    def _sync(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return sync(coroutine)

    def _sync_iter(self, async_iterator: AsyncIterable[Any]) -> list[Any]:
        return list(collect_aiterator(async_iterator))
