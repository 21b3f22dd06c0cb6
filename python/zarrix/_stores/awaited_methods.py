"""The awaited interface of zarr-python 3's stores, on every store of zarrix.

The methods of 2.18's mapping stay beside it. Two names are in both: ``get`` is awaited where it has
a prototype of buffers or a byte range, and ``getsize`` gives a number that can also be awaited.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

from zarrix._errors import ReadOnlyError
from zarrix._runtime.buffers import as_bytes
from zarrix._stores.byte_ranges import ByteRanges

if TYPE_CHECKING:
    from zarrix import _engine

__all__ = ["AwaitedMethods", "AwaitedSize", "defines_awaited"]

T = TypeVar("T")

_MAPPED = ("get", "set", "delete", "exists", "list", "list_dir", "list_prefix")


@functools.cache
def defines_awaited(kind: type) -> bool:
    """Whether a user's subclass of a store has coroutines, as for zarr-python 3, of its own."""
    for name in _MAPPED:
        for base in kind.__mro__:
            method = vars(base).get(name)
            if method is not None:
                if base.__module__.partition(".")[0] != "zarrix" and (
                    inspect.iscoroutinefunction(method) or inspect.isasyncgenfunction(method)
                ):
                    return True
                break
    return False


class AwaitedSize(int):
    """A size in bytes: a number, as in zarr 2, that can be awaited, as in zarr-python 3.

    There, a missing value is an error, and not 0 bytes.
    """

    missing: str | None = None

    def __await__(self) -> Any:
        yield from ()
        if self.missing is not None:
            raise FileNotFoundError(self.missing)
        return int(self)


class AwaitedMethods(ByteRanges):
    """Methods of ``zarr.abc.store.Store`` that a mapping does not have.

    Each makes one call of the engine: in a thread for a remote store, whose latency would stop the
    event loop, and otherwise at once.
    """

    if TYPE_CHECKING:
        is_remote: bool
        _writeable: bool
        _erasable: bool
        _listable: bool

        @property
        def _engine(self) -> _engine.Store: ...
        def engine_path(self, path: str) -> str: ...
        def _value(self, key: str, default: Any = None) -> Any: ...
        def __setitem__(self, key: str, value: Any) -> None: ...
        def __delitem__(self, key: str) -> None: ...
        def __contains__(self, key: object) -> bool: ...
        def rmdir(self, path: str | None = None) -> None: ...

    supports_partial_writes = False
    supports_consolidated_metadata = True

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Create the store, as ``cls(*args, **kwargs)`` does, and open it.

        Parameters
        ----------
        *args, **kwargs
            Those of the class.

        Returns
        -------
        Store

        Raises
        ------
        OSError
            The store cannot be opened.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> asyncio.run(zarr.MemoryStore.open()).read_only
        False
        """
        store = cls(*args, **kwargs)
        await store._ensure_open()
        return store

    async def _open(self) -> None:
        """Open the store; one that is used before is opened then.

        Raises
        ------
        ValueError
            It is open already.
        """
        if self._is_open:
            raise ValueError("store is already open")
        self.__dict__["_is_open_flag"] = True

    async def _ensure_open(self) -> None:
        if not self._is_open:
            await self._open()

    @property
    def _is_open(self) -> bool:
        return bool(self.__dict__.get("_is_open_flag", False))

    @_is_open.setter
    def _is_open(self, value: bool) -> None:
        self.__dict__["_is_open_flag"] = bool(value)

    @property
    def _read_only(self) -> bool:
        return not self._writeable

    @_read_only.setter
    def _read_only(self, value: bool) -> None:
        self._writeable = not value

    def _check_writable(self) -> None:
        if not self._writeable:
            raise ReadOnlyError("store was opened in read-only mode and does not support writing")

    @property
    def supports_writes(self) -> bool:
        """Whether the store, opened for writing, can be written."""
        return bool(type(self)._writeable)

    @property
    def supports_deletes(self) -> bool:
        """Whether the store, opened for writing, can delete values."""
        return bool(type(self)._erasable)

    @property
    def supports_listing(self) -> bool:
        """Whether the store can list its keys."""
        return bool(self._listable)

    async def _get_many(self, requests: Iterable[tuple[Any, ...]]) -> AsyncIterator[Any]:
        """Keys and values, of tuples of the arguments of ``get``."""
        for key, *rest in requests:
            yield key, await self._get_awaited(key, *rest)

    async def _set_many(self, values: Iterable[tuple[str, Any]]) -> None:
        """Store several values."""
        # Import time: asyncio, which a program that awaits has imported.
        import asyncio

        await asyncio.gather(*(self.set(key, value) for key, value in values))

    async def exists(self, key: str) -> bool:
        """Whether ``key`` is stored.

        Parameters
        ----------
        key : str

        Returns
        -------
        bool

        Raises
        ------
        OSError
            The store cannot be asked.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> asyncio.run(zarr.MemoryStore({"a": b"1"}).exists("a"))
        True
        """
        return await self._call(self.__contains__, key)

    async def set(self, key: str, value: Any) -> None:
        """Store the bytes of a buffer.

        Parameters
        ----------
        key : str
        value : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        TypeError
            ``value`` is neither.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> asyncio.run(store.set("a", b"1"))
        >>> store["a"]
        b'1'
        """
        self._check_writable()
        await self._call(self.__setitem__, key, as_bytes(value))

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        """Store the bytes of a buffer, unless ``key`` is stored; no other writer can come between.

        Parameters
        ----------
        key : str
        value : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> asyncio.run(store.set_if_not_exists("a", b"2"))
        >>> store["a"]
        b'1'
        """
        new = bytes(as_bytes(value))
        await self._call(self._update_value, key, lambda old: new if old is None else old)

    def _update_value(self, key: str, change: Callable[[bytes | None], bytes | None]) -> Any:
        return self.update_value(key, change)  # type: ignore[attr-defined]  # Of every store.

    async def delete(self, key: str) -> None:
        """Delete ``key``; nothing happens if it is not stored.

        Parameters
        ----------
        key : str

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> asyncio.run(store.delete("a"))
        >>> "a" in store
        False
        """
        self._check_writable()
        await self._call(self._delete_key, key)

    def _delete_key(self, key: str) -> None:
        try:
            del self[key]
        except KeyError:
            return

    async def delete_dir(self, prefix: str) -> None:
        """Delete every key below ``prefix``.

        Parameters
        ----------
        prefix : str

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "c": b"2"})
        >>> asyncio.run(store.delete_dir("a"))
        >>> sorted(store)
        ['c']
        """
        self._check_writable()
        await self._call(self.rmdir, prefix)

    async def is_empty(self, prefix: str) -> bool:
        """Whether no key is stored below ``prefix``.

        Parameters
        ----------
        prefix : str

        Returns
        -------
        bool

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> asyncio.run(zarr.MemoryStore({"a/b": b"1"}).is_empty("a"))
        False
        """
        return not await self._call(self._keys_below, prefix.rstrip("/"))

    def _keys_below(self, prefix: str) -> Sequence[str]:
        return self._engine.list_prefix(self.engine_path(prefix))

    async def list(self) -> AsyncIterator[str]:
        """All keys.

        Yields
        ------
        str

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> async def keys(store):
        ...     return [key async for key in store.list()]
        >>> asyncio.run(keys(zarr.MemoryStore({"a/b": b"1", "c": b"2"})))
        ['a/b', 'c']
        """
        for key in await self._call(self._keys_below, ""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """All keys that begin with ``prefix``.

        Parameters
        ----------
        prefix : str

        Yields
        ------
        str

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> async def keys(store):
        ...     return [key async for key in store.list_prefix("a")]
        >>> asyncio.run(keys(zarr.MemoryStore({"a/b": b"1", "ab": b"2", "c": b"3"})))
        ['a/b', 'ab']
        """
        above = prefix.rpartition("/")[0]
        for key in await self._call(self._keys_below, above):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names of the keys, and of the prefixes of keys, directly below ``prefix``.

        Parameters
        ----------
        prefix : str

        Yields
        ------
        str

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> async def names(store):
        ...     return [name async for name in store.list_dir("a")]
        >>> asyncio.run(names(zarr.MemoryStore({"a/b": b"1", "a/c/d": b"2"})))
        ['b', 'c']
        """
        for name in await self._call(self._names_below, prefix.rstrip("/")):
            yield name

    def _names_below(self, prefix: str) -> Sequence[str]:
        files, directories = self._engine.list_dir(self.engine_path(prefix))
        return sorted({*files, *directories})

    async def getsize_prefix(self, prefix: str) -> int:
        """Bytes of all values below ``prefix``.

        Parameters
        ----------
        prefix : str

        Returns
        -------
        int

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> asyncio.run(zarr.MemoryStore({"a/b": b"12", "a/c/d": b"3"}).getsize_prefix("a"))
        3
        """
        keys = await self._call(self._keys_below, prefix.rstrip("/"))
        return sum([await self._call(self._size_of_key, key) for key in keys])

    def _size_of_key(self, key: str) -> int:
        return self._engine.size(key) or 0
