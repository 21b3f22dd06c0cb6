"""One event loop in its own thread, for coroutines of other libraries.

The caller waits in its own thread, so that a call from inside a running loop does not deadlock. A
forked child has none of its parent's threads, and starts its own loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from zarrix._runtime.system import on_fork

__all__ = ["run", "running"]

T = TypeVar("T")


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    thread: threading.Thread


_lock = threading.Lock()
_running: _Running | None = None
# Loops of a parent process: closing one here would remove the parent's files from its selector.
_inherited: list[_Running] = []


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of ``work``; an interrupt of the waiting thread cancels it."""
    there = _started()
    if threading.current_thread() is there.thread:
        # A coroutine that calls back into a store must not wait for its own thread.
        with ThreadPoolExecutor(1) as other:
            return other.submit(asyncio.run, work).result()
    future = asyncio.run_coroutine_threadsafe(work, there.loop)
    try:
        return future.result()
    finally:
        future.cancel()


def running() -> asyncio.AbstractEventLoop:
    """The event loop, which is started by the first call."""
    return _started().loop


def _started() -> _Running:
    global _running
    with _lock:
        if _running is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_serve, args=(loop,), name="zarrix-loop", daemon=True)
            thread.start()
            _running = _Running(loop, thread)
        return _running


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop, also after a coroutine has stopped it or raised SystemExit in it.

    Otherwise all who wait for it, now or later, would wait for ever.
    """
    while not loop.is_closed():
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()


def _forget() -> None:
    global _lock, _running
    _lock = threading.Lock()
    if _running is not None:
        _inherited.append(_running)
        _running = None


on_fork(after_in_child=_forget)
