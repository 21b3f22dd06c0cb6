"""A bounded cache of values around a remote store.

Every change of a key through the cache drops its cached value before and after, so that no reader
puts a stale value back. Partial writes are made by the wrapped store, from the stored value, and a
locked key is read again. Therefore a stale copy never causes a lost update.
"""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Self

from zarrix._runtime.system import on_fork
from zarrix._stores.wrapper import WrapperStore

__all__ = ["LRUStoreCache"]

# By identity, because stores are compared by content.
_caches: weakref.WeakValueDictionary[int, LRUStoreCache] = weakref.WeakValueDictionary()


class LRUStoreCache(WrapperStore):
    """A store that caches values in memory after they were read, up to a number of bytes.

    The least recently used values are evicted first. Changes through the cache are visible at once;
    changes by others are visible after `invalidate`. A partial write of a chunk always starts from
    the stored value. Any number of threads may use the cache.

    Parameters
    ----------
    store : Store, mapping, str or Path
        The store to cache.
    max_size : int or None
        Maximum size of the cached values in bytes; None for no limit.

    Attributes
    ----------
    hits, misses : int
        The number of values that were cached, and that had to be read.

    Raises
    ------
    ValueError
        ``max_size`` is negative.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.LRUStoreCache(zarr.MemoryStore({"a": b"1"}), max_size=2**28)
    >>> store["a"], store["a"], store.hits, store.misses
    (b'1', b'1', 1, 1)
    """

    def __init__(self, store: Any, max_size: int | None) -> None:
        super().__init__(store)
        if max_size is not None and max_size < 0:
            raise ValueError(f"max_size is a number of bytes or None, not {max_size}")
        self._max_size = max_size
        self.hits = self.misses = 0
        self._start_empty()

    def with_read_only(self, read_only: bool = False) -> Self:
        """This cache as a read-only one or not; both have the same values.

        Parameters
        ----------
        read_only : bool

        Returns
        -------
        LRUStoreCache
            Read-only, too, if the wrapped store is.

        Raises
        ------
        OSError
            The wrapped store cannot be opened.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.LRUStoreCache({"a": b"1"}, max_size=1000)
        >>> store.with_read_only(True)["a"], store.misses
        (b'1', 1)
        """
        return self._variant(_writeable=not read_only and self._store.is_writeable())

    def _start_empty(self) -> None:
        _caches[id(self)] = self
        self._mutex = threading.RLock()
        self._values: OrderedDict[str, bytes] = OrderedDict()
        self._current_size = 0
        self._keys: list[str] | None = None
        # Counts changes, so that a value read before a change is not cached after it.
        self._changes = 0

    def invalidate(self) -> None:
        """Drop the cached values and the list of keys.

        Examples
        --------
        >>> import zarrix as zarr
        >>> remote = zarr.MemoryStore({"a": b"old"})
        >>> store = zarr.LRUStoreCache(remote, max_size=None)
        >>> store["a"]
        b'old'
        >>> remote["a"] = b"new"
        >>> store["a"]
        b'old'
        >>> store.invalidate()
        >>> store["a"]
        b'new'
        """
        with self._mutex:
            self.invalidate_values()
            self.invalidate_keys()

    def invalidate_values(self) -> None:
        """Drop all cached values; the list of keys stays.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.LRUStoreCache({"a": b"1"}, max_size=1000)
        >>> store["a"], store["a"]
        (b'1', b'1')
        >>> store.invalidate_values()
        >>> store["a"], store.hits, store.misses
        (b'1', 1, 2)
        """
        with self._mutex:
            self._changes += 1
            self._values.clear()
            self._current_size = 0

    def invalidate_keys(self) -> None:
        """Drop the cached list of keys; the cached values stay.

        Examples
        --------
        >>> import zarrix as zarr
        >>> remote = {"a": b"1"}
        >>> store = zarr.LRUStoreCache(remote, max_size=1000)
        >>> list(store)
        ['a']
        >>> remote["b"] = b"2"
        >>> store.invalidate_keys()
        >>> list(store)
        ['a', 'b']
        """
        with self._mutex:
            self._changes += 1
            self._keys = None

    def _forget(self, anchor: str, key: str) -> None:
        """Read ``key``, which is now locked, again; with an anchor, all keys that it locks."""
        with self._mutex:
            self._changes += 1
            if anchor != key:
                self._forget_value(key)
                return
            directory = anchor.rpartition("/")[0]
            prefix = f"{directory}/" if directory else ""
            for name in [name for name in self._values if name.startswith(prefix)]:
                self._forget_value(name)

    def _forget_value(self, key: str) -> None:
        self._current_size -= len(self._values.pop(key, b""))

    def _changed(self, key: str) -> None:
        with self._mutex:
            self._changes += 1
            self._keys = None
            self._forget_value(key)

    def _recall(self, key: str) -> bytes | None:
        with self._mutex:
            found = self._values.get(key)
            if found is None:
                self.misses += 1
            else:
                self.hits += 1
                self._values.move_to_end(key)
            return found

    def _keep(self, key: str, value: bytes, changes: int) -> None:
        """Cache a value that was read after ``changes`` changes, unless there were more since."""
        with self._mutex:
            too_long = self._max_size is not None and len(value) > self._max_size
            if too_long or changes != self._changes or key in self._values:
                return
            self._values[key] = value
            self._current_size += len(value)
            while self._max_size is not None and self._current_size > self._max_size:
                self._current_size -= len(self._values.popitem(last=False)[1])

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        changes = self._changes
        answers: list[bytes | Exception | None] = [self._recall(key) for key in keys]
        missing = [position for position, answer in enumerate(answers) if answer is None]
        if missing:
            found = super()._fetch([keys[position] for position in missing])
            for position, answer in zip(missing, found, strict=True):
                answers[position] = answer
                if isinstance(answer, bytes):
                    self._keep(keys[position], answer, changes)
        return answers

    def _updated(self, key: str) -> None:
        self._changed(key)

    def _read(self, key: str) -> bytes | None:
        (answer,) = self._fetch([key])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _list(self, prefix: str) -> list[str]:
        with self._mutex:
            keys, changes = self._keys, self._changes
        if keys is None:
            keys = super()._list("")
            with self._mutex:
                if changes == self._changes:
                    self._keys = keys
        start = f"{prefix}/" if prefix else ""
        return [key for key in keys if key.startswith(start)]

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._changed(key)
        try:
            super()._put(key, value, fsync)
        finally:
            self._changed(key)

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
            self.invalidate()

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        try:
            super()._rename(source, target, fsync)
        finally:
            self.invalidate()

    def __getstate__(self) -> Any:
        left_out = ("_mutex", "_values")
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in left_out}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._start_empty()


def _empty_all() -> None:
    """In a forked child, because another thread of the parent may have been making a change."""
    for cache in list(_caches.values()):
        cache._start_empty()


on_fork(after_in_child=_empty_all)

LRUStoreCache.__module__ = "zarrix.storage"
