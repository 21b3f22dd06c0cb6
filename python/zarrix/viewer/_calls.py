"""Calls in threads, on behalf of connections.

So many run at the same time, and others wait for a while. The connection of a call may end first:
then its token is cancelled, and its thread, which may be in a store that hangs, is left alone. The
end of the server does the same with all calls.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from zarrix._engine import CancelToken
from zarrix.viewer._answers import Refused

__all__ = ["Calls", "Room", "Taken", "while_connected"]

T = TypeVar("T")

PATIENCE_S = 30.0
"""Seconds that a call waits for others before it is refused."""

_POLL_S = 0.05
# Waiting calls have a thread, too.
_MOST_THREADS = 64


class Calls:
    """Calls of which so many run at the same time.

    Parameters
    ----------
    max_calls : int
    """

    def __init__(self, max_calls: int) -> None:
        # Optional package: anyio, which Starlette needs.
        import anyio

        self._slots = threading.BoundedSemaphore(max_calls)
        self._threads = anyio.CapacityLimiter(_MOST_THREADS)
        self._tokens: set[CancelToken] = set()
        self._changed = threading.Condition()
        self._has_ended = False

    async def run(self, function: Callable[..., T], *arguments: Any, cancel: CancelToken) -> T:
        """``function(*arguments)``, in a thread; a cancelled task leaves the thread alone.

        Raises
        ------
        Refused
            Other calls took all slots for too long, or the token is cancelled.
        """
        # Optional package: anyio, which Starlette needs.
        import anyio.to_thread

        def call() -> T:
            return self.call(function, *arguments, cancel=cancel)

        return await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=self._threads)

    def call(self, function: Callable[..., T], *arguments: Any, cancel: CancelToken) -> T:
        """``function(*arguments)`` in this thread, as soon as a slot is free."""
        end = time.monotonic() + PATIENCE_S
        while not self._slots.acquire(timeout=_POLL_S):
            if cancel.is_cancelled:
                raise Refused(503, "the request was cancelled", "call-cancelled")
            if time.monotonic() > end:
                raise Refused(503, "other requests take all the time; try again", "busy")
        with self._changed:
            self._tokens.add(cancel)
            if self._has_ended:
                cancel.cancel()
        try:
            return function(*arguments)
        finally:
            with self._changed:
                self._tokens.discard(cancel)
                self._changed.notify_all()
            self._slots.release()

    def end(self) -> None:
        """Cancel all calls, now and from now on."""
        with self._changed:
            self._has_ended = True
            for token in self._tokens:
                token.cancel()

    def wait(self, seconds: float) -> bool:
        """Whether no call runs any more, within this time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._tokens, seconds)


class Taken:
    """A part of a `Room`."""

    def __init__(self, room: Room, size: int) -> None:
        self._room, self._size = room, size

    def keep(self, size: int) -> None:
        """Give back all but so many bytes."""
        kept = min(size, self._size)
        self._room._give(self._size - kept)
        self._size = kept


class Room:
    """Memory that requests take before they work, and give back when their answer is sent.

    Parameters
    ----------
    max_bytes : int
        A request for more of them than that is made alone.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._held = max_bytes, 0
        self._waiting: deque[_Waiting] = deque()

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[Taken]:
        """Wait for so many bytes, behind those who wait already.

        Raises
        ------
        Refused
            The others did not give back enough in time.
        """
        # Optional package: anyio, which Starlette needs.
        import anyio

        mine, taken = _Waiting(size, anyio.Event()), Taken(self, size)
        self._waiting.append(mine)
        self._give(0)
        try:
            with anyio.move_on_after(PATIENCE_S):
                await mine.turn.wait()
            if mine in self._waiting:
                raise Refused(503, "other requests take all the memory; try again", "busy")
            yield taken
        finally:
            if mine in self._waiting:
                self._waiting.remove(mine)
            else:
                taken.keep(0)

    def _give(self, size: int) -> None:
        self._held -= size
        while self._waiting:
            following = self._waiting[0]
            if self._held and self._held + following.size > self._max_bytes:
                break
            self._waiting.popleft()
            self._held += following.size
            following.turn.set()


class _Waiting:
    def __init__(self, size: int, turn: Any) -> None:
        self.size, self.turn = size, turn


async def while_connected(
    receive: Callable[[], Awaitable[Any]],
    cancel: CancelToken,
    work: Callable[[], Awaitable[None]],
) -> None:
    """Await ``work``; if the connection ends first, cancel the token and stop waiting."""
    # Optional package: anyio, which Starlette needs.
    import anyio

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        cancel.cancel()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            await work()
        finally:
            group.cancel_scope.cancel()
