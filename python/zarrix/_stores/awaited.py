"""Stores that are called by coroutines: many values at once, on the event loop of this package.

They can also read parts of values. With each part they return a number that identifies its version.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from zarrix._runtime import event_loop
from zarrix._runtime.config import config
from zarrix._stores.python import PythonStore
from zarrix._stores.redaction import hiding, public_error

__all__ = ["Answer", "AwaitedStore", "Part", "gather"]

T = TypeVar("T")

# A request for one key: the whole value, the first or (negative) the last bytes, or ranges.
Part = int | Sequence[tuple[int, int]] | None
# The bytes of each part, a number that identifies the version, and the length of the whole value;
# None if nothing is stored.
Answer = tuple[Sequence[Any], int, int] | None


class AwaitedStore(PythonStore):
    """A `PythonStore` that awaits its values."""

    is_remote = True

    @abstractmethod
    async def _ask(self, key: str, part: Part) -> Answer:
        """The requested parts of ``key``."""

    @abstractmethod
    async def _length(self, key: str) -> int | None:
        """Length of the value of ``key``; None if it is not stored."""

    @abstractmethod
    async def _set(self, key: str, value: bytes) -> None:
        """Replace the value of ``key`` atomically."""

    @abstractmethod
    async def _remove(self, key: str) -> bool:
        """Remove ``key``; return whether it was stored."""

    def _fetch_parts(self, wanted: Sequence[tuple[str, Part]]) -> list[Answer | Exception]:
        """The requested parts of each key, or the error."""
        return event_loop.run(gather([self._caught(*one) for one in wanted]))

    async def _caught(self, key: str, part: Part) -> Answer | Exception:
        try:
            return await self._ask(key, part)
        except Exception as error:
            return public_error(error, self._secret_options())

    def _secret_options(self) -> Mapping[str, Any]:
        """Secrets that errors of the store must not contain, besides those in URLs."""
        return {}

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``; its errors contain no secrets."""
        with hiding(self._secret_options):
            return event_loop.run(work)

    def _read(self, key: str) -> bytes | None:
        found = self._run(self._ask(key, None))
        return None if found is None else bytes(found[0][0])

    def _size(self, key: str) -> int | None:
        return self._run(self._length(key))

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._run(self._set(key, value))

    def _drop(self, key: str, fsync: bool) -> bool:
        return self._run(self._remove(key))

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        keys = self._list(prefix)
        return sum(self._run(gather([self._remove(key) for key in keys])))


async def gather(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all ``works``, with at most ``config.concurrent_requests`` in flight."""
    free = asyncio.Semaphore(config.concurrent_requests)

    async def limited(work: Coroutine[Any, Any, T]) -> T:
        async with free:
            return await work

    return await asyncio.gather(*(limited(work) for work in works))
