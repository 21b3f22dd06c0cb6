"""A cache of values in another store: zarr-python 3's ``CacheStore``.

The cached values outlive the process if their store does. As in `zarrix._stores.lru_cache`, a
change drops a cached value before and after it, partial writes are made by the wrapped store, and a
locked key is read again: a stale value never causes a lost update.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from zarrix._runtime.system import on_fork
from zarrix._stores.keys import is_document
from zarrix._stores.open import as_store
from zarrix._stores.wrapper import WrapperStore

__all__ = ["CacheStore"]


# By identity, because two may be equal.
_states: weakref.WeakValueDictionary[int, _State] = weakref.WeakValueDictionary()


@dataclass
class _State:
    """What is known of the cached values; the order is that of their last use."""

    cache_order: OrderedDict[str, None] = field(default_factory=OrderedDict)
    key_sizes: dict[str, int] = field(default_factory=dict)
    key_insert_times: dict[str, float] = field(default_factory=dict)
    current_size: int = 0
    hits: int = 0
    misses: int = 0
    evictions: int = 0
    # Counts changes, so that a value read before a change is not cached after it.
    changes: int = 0
    mutex: Any = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        _states[id(self)] = self

    def forget(self, key: str) -> None:
        """Drop what is known of a value."""
        self.current_size -= self.key_sizes.pop(key, 0)
        self.key_insert_times.pop(key, None)
        self.cache_order.pop(key, None)


class CacheStore(WrapperStore):
    """A store whose values are cached in another store after they were read or written.

    The least recently used values are evicted first. Changes by others are visible when a value has
    reached its age. A partial write of a chunk always starts from the stored value. Any number of
    threads may use the cache.

    Parameters
    ----------
    store : Store, mapping, str or Path
        The store to cache.
    cache_store : Store, mapping, str or Path
        The store of the cached values. What it has already counts as cached if values do not age.
    max_age_seconds : float or "infinity"
        A cached value is read again after this time.
    max_size : int, optional
        Maximum size of the cached values in bytes; no limit when omitted. Longer values are not
        cached.
    cache_set_data : bool
        Cache values when they are written, too.

    Raises
    ------
    ValueError
        ``cache_store`` cannot delete values, or an argument is out of range.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.storage import CacheStore
    >>> cached = zarr.MemoryStore()
    >>> store = CacheStore(zarr.MemoryStore({"a": b"1"}), cache_store=cached)
    >>> store["a"], store["a"], store.cache_stats()["hits"], list(cached)
    (b'1', b'1', 1, ['a'])
    """

    def __init__(
        self,
        store: Any,
        *,
        cache_store: Any,
        max_age_seconds: float | Literal["infinity"] = "infinity",
        max_size: int | None = None,
        cache_set_data: bool = True,
    ) -> None:
        super().__init__(store)
        if not getattr(cache_store, "supports_deletes", True):
            raise ValueError(f"the cache_store {cache_store!r} does not support deletes")
        if isinstance(max_age_seconds, str) and max_age_seconds != "infinity":
            raise ValueError(f"max_age_seconds is a number or 'infinity', not {max_age_seconds!r}")
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size is a number of bytes or None, not {max_size}")
        self._cache = as_store(cache_store)
        self.max_age_seconds = max_age_seconds
        self.max_size = max_size
        self.cache_set_data = cache_set_data
        self._state = _State()

    def cache_info(self) -> dict[str, Any]:
        """The settings, and what is cached.

        Returns
        -------
        dict of str

        Examples
        --------
        >>> from zarrix.storage import CacheStore
        >>> store = CacheStore({"a": b"123"}, cache_store={})
        >>> store["a"], store.cache_info()["current_size"]
        (b'123', 3)
        """
        state = self._state
        return {
            "cache_store_type": type(self._cache).__name__,
            "max_age_seconds": self.max_age_seconds,
            "max_size": self.max_size,
            "current_size": state.current_size,
            "cache_set_data": self.cache_set_data,
            "tracked_keys": len(state.key_insert_times),
            "cached_keys": len(state.cache_order),
        }

    def cache_stats(self) -> dict[str, Any]:
        """How often a value was cached, had to be read, and was evicted.

        Returns
        -------
        dict of str

        Examples
        --------
        >>> from zarrix.storage import CacheStore
        >>> store = CacheStore({"a": b"123"}, cache_store={})
        >>> store["a"], store["a"], store.cache_stats()["hit_rate"]
        (b'123', b'123', 0.5)
        """
        state = self._state
        total = state.hits + state.misses
        return {
            "hits": state.hits,
            "misses": state.misses,
            "evictions": state.evictions,
            "total_requests": total,
            "hit_rate": state.hits / total if total else 0.0,
        }

    async def clear_cache(self) -> None:
        """Delete all cached values.

        Raises
        ------
        ReadOnlyError
            The store of the cached values is read-only.

        Examples
        --------
        >>> import asyncio
        >>> from zarrix.storage import CacheStore
        >>> cached = {"a": b"old"}
        >>> asyncio.run(CacheStore({}, cache_store=cached).clear_cache())
        >>> cached
        {}
        """
        await self._call(self._clear_below, "")

    def _clear_below(self, prefix: str) -> None:
        state = self._state
        with state.mutex:
            state.changes += 1
            self._cache.rmdir(prefix)
            start = f"{prefix}/" if prefix else ""
            for key in [key for key in state.key_insert_times if key.startswith(start)]:
                state.forget(key)

    def _is_key_fresh(self, key: str) -> bool:
        if self.max_age_seconds == "infinity":
            return True
        since = self._state.key_insert_times.get(key)
        return since is not None and time.monotonic() - since < float(self.max_age_seconds)

    def _recall(self, key: str) -> bytes | None:
        state = self._state
        with state.mutex:
            found = self._cache._engine.get(key) if self._is_key_fresh(key) else None
            if found is None:
                state.misses += 1
            else:
                state.hits += 1
                if key in state.cache_order:
                    state.cache_order.move_to_end(key)
            return found

    def _keep(self, key: str, value: bytes, changes: int) -> None:
        """Cache a value that was read after ``changes`` changes, unless there were more since."""
        state = self._state
        with state.mutex:
            if changes != state.changes:
                return
            state.forget(key)
            if self.max_size is not None and len(value) > self.max_size:
                self._cache._delete_key(key)
                return
            while self.max_size is not None and state.current_size + len(value) > self.max_size:
                self._evict(next(iter(state.cache_order)))
            self._cache[key] = value
            state.cache_order[key] = None
            state.key_sizes[key] = len(value)
            state.key_insert_times[key] = time.monotonic()
            state.current_size += len(value)

    def _evict(self, key: str) -> None:
        self._cache._delete_key(key)
        self._state.forget(key)
        self._state.evictions += 1

    def _changed(self, key: str) -> int:
        """Drop the value of a key that changes; return the number of changes until now."""
        state = self._state
        with state.mutex:
            state.changes += 1
            state.forget(key)
            self._cache._delete_key(key)
            return state.changes

    def _forget(self, anchor: str, key: str) -> None:
        """Read ``key``, which is now locked, again; with an anchor, all keys that it locks."""
        self._changed(key)
        if anchor == key and is_document(key):
            for name in self._cache._keys_below(anchor.rpartition("/")[0]):
                self._changed(name)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        changes = self._state.changes
        answers: list[bytes | Exception | None] = [self._recall(key) for key in keys]
        missing = [position for position, answer in enumerate(answers) if answer is None]
        if missing:
            found = super()._fetch([keys[position] for position in missing])
            for position, answer in zip(missing, found, strict=True):
                answers[position] = answer
                if isinstance(answer, bytes):
                    self._keep(keys[position], answer, changes)
        return answers

    def _read(self, key: str) -> bytes | None:
        (answer,) = self._fetch([key])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _updated(self, key: str) -> None:
        self._changed(key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._changed(key)
        try:
            super()._put(key, value, fsync)
        finally:
            changes = self._changed(key)
        if self.cache_set_data:
            self._keep(key, bytes(value), changes)

    def _drop(self, key: str, fsync: bool) -> bool:
        self._changed(key)
        try:
            return super()._drop(key, fsync)
        finally:
            self._changed(key)

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        try:
            return super()._drop_below(prefix, fsync)
        finally:
            self._clear_below(prefix)

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        try:
            super()._rename(source, target, fsync)
        finally:
            for path in (source, target):
                self._clear_below(path)
                self._changed(path)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_state"}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__({**state, "_state": _State()})

    def __repr__(self) -> str:
        return (
            f"CacheStore(store={self._store!r}, cache_store={self._cache!r}, "
            f"max_age_seconds={self.max_age_seconds}, max_size={self.max_size}, "
            f"current_size={self._state.current_size}, "
            f"cached_keys={len(self._state.cache_order)})"
        )


def _free_all() -> None:
    """In a forked child, because another thread of the parent may have held a lock."""
    for state in list(_states.values()):
        state.mutex = threading.RLock()


on_fork(after_in_child=_free_all)

CacheStore.__module__ = "zarrix.storage"
