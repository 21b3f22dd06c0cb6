"""Threads that wait for the engine, so that an event loop of the caller is not blocked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from zarrix._runtime.config import config
from zarrix._runtime.system import on_fork

__all__ = ["threads"]

_pool: ThreadPoolExecutor | None = None


def threads() -> ThreadPoolExecutor:
    """As many threads as the maximum number of requests in flight."""
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(config.concurrent_requests, "zarrix-store")
    return _pool


def _forget() -> None:
    global _pool
    _pool = None


# A forked child has none of its parent's threads.
on_fork(after_in_child=_forget)
