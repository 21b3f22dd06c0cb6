"""Values in Redis, under the keys of zarr 2.18: each library reads the values of the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from zarrix._stores.database.server import DatabaseServerStore

__all__ = ["RedisStore"]

# The number of keys in one command.
_TOGETHER = 1000


class RedisStore(DatabaseServerStore):
    """Keys of a Redis server below a prefix.

    Values are replaced atomically. Processes of one user on one machine that write parts of one
    chunk lose no update; among several machines the last writer wins. The configuration of the
    server determines what a finished write survives.

    Parameters
    ----------
    prefix : str
        The server's keys are ``prefix:key``.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    **kwargs
        For ``redis.Redis``; passwords among them are never shown or pickled.

    Raises
    ------
    ImportError
        redis is not installed.
    redis.ConnectionError
        On the first access, if the server does not answer.

    Examples
    --------
    The server is contacted when a key is first read or written.

    >>> import zarrix as zarr
    >>> zarr.RedisStore("climate", host="localhost", port=6379)
    <zarrix.storage.RedisStore 'climate'>
    """

    _package, _client, _extra = "redis", "Redis", "redis"

    def __init__(
        self, prefix: str = "zarr", dimension_separator: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(prefix, kwargs, dimension_separator)

    @property
    def client(self) -> Any:
        """The ``redis.Redis`` of this process."""
        return self._with_handle(lambda client: client)

    def _name(self, key: str) -> str:
        return f"{self.path}:{key}"

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        names = [self._name(key) for key in keys]
        return self._with_handle(lambda client: [*client.mget(names)]) if keys else []

    def _read(self, key: str) -> bytes | None:
        value: bytes | None = self._with_handle(lambda client: client.get(self._name(key)))
        return value

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._with_handle(lambda client: client.set(self._name(key), value))

    def _drop(self, key: str, fsync: bool) -> bool:
        return bool(self._with_handle(lambda client: client.delete(self._name(key))))

    def _list(self, prefix: str) -> list[str]:
        start = self._name(f"{prefix}/" if prefix else "")
        pattern = re.sub(r"([*?\[\]\\^])", r"\\\1", start) + "*"
        names = self._with_handle(
            lambda client: {*client.scan_iter(match=pattern, count=_TOGETHER)}
        )
        return [name.decode()[len(self.path) + 1 :] for name in names]

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        names = [self._name(key) for key in self._list(prefix)]
        parts = [names[start : start + _TOGETHER] for start in range(0, len(names), _TOGETHER)]
        return sum(self._with_handle(lambda client: [client.delete(*part) for part in parts]))


RedisStore.__module__ = "zarrix.storage"
