"""Names of ``zarr.core.sync``: awaiting from code that is not asynchronous."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterable, Coroutine
from typing import Any

from zarrix._runtime import event_loop

__all__ = ["SyncError", "SyncMixin", "collect_aiterator", "sync"]


class SyncError(Exception):
    """A coroutine was to be awaited on the event loop that its caller runs in."""


def sync(coro: Any, loop: Any = None, timeout: float | None = None) -> Any:
    """The result of a coroutine, awaited on the event loop of this package.

    A value that is not awaitable is returned as it is, because many methods of zarrix return at
    once what zarr-python's promise.

    Parameters
    ----------
    coro : coroutine
    loop : asyncio.AbstractEventLoop, optional
        Another event loop, which runs in another thread.
    timeout : float, optional
        In seconds.

    Raises
    ------
    TypeError
        ``loop`` is not an event loop.
    RuntimeError
        ``loop`` is closed.
    SyncError
        The caller runs in ``loop``, which would wait for itself.
    TimeoutError
        The coroutine takes longer than ``timeout``, and is cancelled.
    """
    if loop is not None:
        _check(loop)
    if not inspect.isawaitable(coro):
        return coro
    if loop is None:
        return event_loop.run(_awaited(coro, timeout))
    return asyncio.run_coroutine_threadsafe(_awaited(coro, timeout), loop).result()


def _check(loop: Any) -> None:
    if not isinstance(loop, asyncio.AbstractEventLoop):
        raise TypeError(f"loop is an event loop, not {type(loop).__name__}")
    if loop.is_closed():
        raise RuntimeError("the event loop is closed")
    if asyncio._get_running_loop() is loop:
        raise SyncError("a coroutine cannot be awaited by sync() on the loop that runs the caller")


async def _awaited(coro: Any, timeout: float | None = None) -> Any:
    return await (coro if timeout is None else asyncio.wait_for(coro, timeout))


def _get_loop() -> asyncio.AbstractEventLoop:
    """The event loop of this package, which runs in its own thread."""
    return event_loop.running()


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
