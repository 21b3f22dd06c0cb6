"""Wrappers of another store: without a change, or with a log line for each call.

They share the locks of the wrapped store, and partial writes are made by the wrapped store.
Therefore a handle with a wrapper and one without lose no update of each other. A wrapper adds
behaviour by overriding methods of `WrapperStore`.
"""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.open import as_store
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site

__all__ = ["LoggingStore", "WrapperStore"]


class WrapperStore(PythonStore):
    """A wrapper of another store without a change; the base of wrappers that add something.

    Arrays and groups in it lock the keys of the wrapped store: writers with and without a wrapper
    lose no update of each other.

    Parameters
    ----------
    store : Store, mapping, str or Path
        The store to wrap, or anything that zarrix accepts as a store.

    Raises
    ------
    ValueError
        ``store`` is not a store.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.storage import WrapperStore
    >>> inside = zarr.MemoryStore()
    >>> z = zarr.array([1, 2], store=WrapperStore(inside))
    >>> sorted(inside)
    ['.zarray', '0']
    """

    def __init__(self, store: Any) -> None:
        self._store = as_store(store)
        self._dimension_separator = self._store._dimension_separator
        self._readable = self._store.is_readable()
        self._writeable = self._store.is_writeable()
        self._erasable = self._store.is_erasable()
        self._listable = self._store.is_listable()
        self._durability = self._store._durability

    @classmethod
    async def open(cls, store_cls: Any, *args: Any, **kwargs: Any) -> Self:
        """Create and open a store, and wrap it.

        Parameters
        ----------
        store_cls : type or Store
            The class of the store to wrap; a store instead of a class is wrapped itself.
        *args, **kwargs
            Those of the class; those of the wrapper where a store is given.

        Returns
        -------
        WrapperStore

        Raises
        ------
        OSError
            The store cannot be opened.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import WrapperStore
        >>> asyncio.run(WrapperStore.open(zarr.MemoryStore, {"a": b"1"}))["a"]
        b'1'
        """
        if not isinstance(store_cls, type):
            return await super().open(store_cls, *args, **kwargs)
        kind: Any = store_cls
        return cls(store=await kind.open(*args, **kwargs))

    def with_read_only(self, read_only: bool = False) -> Self:
        """The same wrapper of the store as a read-only one or not.

        Parameters
        ----------
        read_only : bool

        Returns
        -------
        WrapperStore

        Raises
        ------
        ReadOnlyError
            ``read_only`` is false, and a store of this kind cannot be written.

        Examples
        --------
        >>> from zarrix.storage import WrapperStore
        >>> WrapperStore({"a": b"1"}).with_read_only(True).read_only
        True
        """
        return self._with_store(self._store.with_read_only(read_only))

    def _with_store(self, store: Store) -> Self:
        """The same wrapper of another store; subclasses for zarr-python 3 override it."""
        other = object.__new__(type(self))
        state = {name: value for name, value in vars(self).items() if name != "_engine"}
        other.__dict__.update(state, _store=store, _writeable=store.is_writeable())
        return other

    async def _open(self) -> None:
        await self._store._open()

    @property
    def _is_open(self) -> bool:
        return self._store._is_open

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        raise NotImplementedError("WrapperStore must be opened via the `_open` method")

    def engine_path(self, path: str) -> str:
        return self._store.engine_path(path)

    def _sites(self, path: str) -> list[Site]:
        return self._store._sites(path)

    def _folder_at(self, path: str) -> str | None:
        return self._store._folder_at(path)

    def close(self) -> None:
        """Release open files and connections of the wrapped store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.storage import WrapperStore
        >>> store = WrapperStore(zarr.ZipStore("a.zip", mode="w"))
        >>> store["a"] = b"1"
        >>> store.close()
        >>> zarr.ZipStore("a.zip", mode="r")["a"]
        b'1'
        """
        self._store.close()

    def _locks(self) -> _engine.Store:
        return self._store._engine

    def _read(self, key: str) -> bytes | None:
        return self._store._engine.get(key)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        return [*self._store._engine.get_many(keys)]

    def _updated(self, key: str) -> None:
        """Called after the wrapped store has changed the value of ``key``."""

    def _size(self, key: str) -> int | None:
        return self._store._engine.size(key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._store._engine.put(key, value, fsync=fsync, locks=False)

    def _drop(self, key: str, fsync: bool) -> bool:
        return self._store._engine.delete(key, fsync=fsync, locks=False)

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        return self._store._engine.delete_prefix(prefix, fsync=fsync)

    def _list(self, prefix: str) -> list[str]:
        return self._store._engine.list_prefix(prefix)

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        return self._store._engine.list_dir(prefix)

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        self._store._engine.move_node(source, target, [], fsync=fsync)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WrapperStore):
            return NotImplemented
        return type(self) is type(other) and bool(self._store == other._store)

    def _label(self) -> Any:
        return f"of {self._store!r}"

    def _url(self) -> str:
        return f"{self._wraps}-{self._store}"

    _wraps = "wrapping"


class LoggingStore(WrapperStore):
    """A store that logs and counts every call of the wrapped store.

    Parameters
    ----------
    store : Store, mapping, str or Path
        The store to wrap, or anything that zarrix accepts as a store.
    log_level : str
        Level of the logger ``"LoggingStore(<store>)"``: ``"DEBUG"``, ``"INFO"``, ...
    log_handler : logging.Handler, optional
        Writes to standard output when omitted.

    Attributes
    ----------
    counter : Counter
        Calls by name: ``get``, ``set``, ``update`` (a part of a value), ``delete``, ``getsize``,
        ``list``, ``list_dir``, ``rename``.

    Raises
    ------
    ValueError
        ``log_level`` is not a level of ``logging``, or ``store`` cannot be taken as a store.

    Examples
    --------
    >>> import logging, zarrix as zarr
    >>> from zarrix.storage import LoggingStore
    >>> store = LoggingStore(zarr.MemoryStore(), log_handler=logging.NullHandler())
    >>> store["a"] = b"1"
    >>> store["a"], store.counter["get"], store.counter["set"]
    (b'1', 1, 1)
    """

    _wraps = "logging"

    def __init__(
        self, store: Any, log_level: str = "DEBUG", log_handler: logging.Handler | None = None
    ) -> None:
        super().__init__(store)
        self.counter: Counter[str] = Counter()
        self.log_level = log_level
        self.log_handler = log_handler
        self._configure()

    @classmethod
    async def open(
        cls,
        store_cls: Any,
        *args: Any,
        log_level: str = "DEBUG",
        log_handler: logging.Handler | None = None,
        **kwargs: Any,
    ) -> Self:
        """Create and open a store, and wrap it.

        Parameters
        ----------
        store_cls : type or Store
            The class of the store to wrap; a store instead of a class is wrapped itself.
        *args
            Those of the class.
        log_level : str
        log_handler : logging.Handler, optional
        **kwargs
            Those of the class.

        Returns
        -------
        LoggingStore

        Raises
        ------
        OSError
            The store cannot be opened.

        Examples
        --------
        >>> import asyncio, logging, zarrix as zarr
        >>> from zarrix.storage import LoggingStore
        >>> quiet = logging.NullHandler()
        >>> store = asyncio.run(LoggingStore.open(zarr.MemoryStore, log_handler=quiet))
        >>> store.log_level
        'DEBUG'
        """
        kind: Any = store_cls
        store = await kind.open(*args, **kwargs) if isinstance(store_cls, type) else store_cls
        return cls(store, log_level, log_handler)

    def _with_store(self, store: Store) -> Self:
        return type(self)(store, self.log_level, self.log_handler)

    def _configure(self) -> None:
        """A separate logger, because two stores may have two handlers, and the program others."""
        self.logger = logging.Logger(f"LoggingStore({self._store!r})", self.log_level)
        handler = self.log_handler or logging.StreamHandler(stream=sys.stdout)
        if self.log_handler is None:
            handler.setFormatter(
                logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s")
            )
        self.logger.addHandler(handler)

    @contextmanager
    def _log(self, name: str, what: object = "") -> Iterator[None]:
        self.counter[name] += 1
        start = time.perf_counter()
        self.logger.debug("Calling %s %s", name, what)
        try:
            yield
        finally:
            self.logger.debug("Finished %s %s [%.6f s]", name, what, time.perf_counter() - start)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        with self._log("get", ", ".join(keys)):
            return super()._fetch(keys)

    def _updated(self, key: str) -> None:
        with self._log("update", key):
            super()._updated(key)

    def _size(self, key: str) -> int | None:
        with self._log("getsize", key):
            return super()._size(key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        with self._log("set", key):
            super()._put(key, value, fsync)

    def _drop(self, key: str, fsync: bool) -> bool:
        with self._log("delete", key):
            return super()._drop(key, fsync)

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        with self._log("delete", f"{prefix}/"):
            return super()._drop_below(prefix, fsync)

    def _list(self, prefix: str) -> list[str]:
        with self._log("list", prefix):
            return super()._list(prefix)

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        with self._log("list_dir", prefix):
            return super()._list_dir(prefix)

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        with self._log("rename", f"{source} -> {target}"):
            super()._rename(source, target, fsync)

    def __getstate__(self) -> Any:
        # Handlers have locks and files, and are not pickled; the unpickled store logs to standard
        # output.
        left_out = ("logger", "log_handler")
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in left_out}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__({**state, "log_handler": None})
        self._configure()


for _class in (WrapperStore, LoggingStore):
    _class.__module__ = "zarrix.storage"
del _class
