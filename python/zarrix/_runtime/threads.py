"""Calls that code running in an event loop makes in other threads.

Cancelling waits for the call that runs, so that no work goes on after the coroutine has ended. A
read that was cancelled has released its buffer; a write has ended, complete, in each chunk. A call
that has not begun never begins.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, TypeVar

__all__ = ["in_pool", "in_thread"]

T = TypeVar("T")


class _Call:
    """A call for another thread, which does nothing if it is cancelled before it begins."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._context = contextvars.copy_context()
        self.cancelled = False

    def __call__(self) -> Any:
        return None if self.cancelled else self._context.run(self._function)


async def in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """The result of a call that is made in another thread; see the module about cancelling."""
    return await in_pool(None, function, *args, **kwargs)


async def in_pool(
    pool: Executor | None, function: Callable[..., T], *args: Any, **kwargs: Any
) -> T:
    """`in_thread`, where the thread is one of ``pool``."""
    call = _Call(functools.partial(function, *args, **kwargs))
    future: asyncio.Future[T] = asyncio.get_running_loop().run_in_executor(pool, call)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        call.cancelled = True
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError:
                continue
        if not future.cancelled():
            # Taken, or the loop would report it as lost.
            future.exception()
        raise
