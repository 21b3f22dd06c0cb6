"""The base of all stores: a mapping of keys to bytes, with an engine store.

A `Store` has the methods of zarr 2.18's stores: those of the mapping are here, those about rights
and durability in `zarrix._stores.access`, those about all keys below a path in
`zarrix._stores.below`, and those about tags in `zarrix._stores.tagged`. Its engine store is created
on first use. Native stores are `EngineStore`; the engine calls all others through
`_engine.PythonStore`. Arrays pass the engine store to the engine, and never read a chunk through
this class. A pickle describes how to open a store, and does not contain the open store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from types import TracebackType
from typing import Any, Self

from zarrix import _engine
from zarrix._runtime.buffers import is_prototype
from zarrix._runtime.cached_property import cached_property
from zarrix._stores.access import StoreAccess
from zarrix._stores.awaited_methods import AwaitedMethods, defines_awaited
from zarrix._stores.below import KeysBelow
from zarrix._stores.keys import key_of
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.registry import opener
from zarrix._stores.sites import Site, folder_of, of_engine
from zarrix._stores.tagged import TaggedValues, most_bytes

__all__ = ["Store"]


class Store(AwaitedMethods, StoreAccess, KeysBelow, TaggedValues, MutableMapping[str, Any]):
    """A mapping of keys to bytes, which contains arrays and groups.

    A subclass needs only the five methods of a ``MutableMapping``; listing, renaming, locking and
    the engine's access are derived from them. Any number of threads may use one store.

    Parameters
    ----------
    read_only : bool
        Refuse changes; for ``super().__init__(read_only=...)`` of a subclass.

    Raises
    ------
    TypeError
        On use, if a subclass lacks one of those methods.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.MemoryStore() as store:
    ...     store["a/b"] = b"value"
    ...     store.listdir("a"), store.getsize("a")
    (['b'], 5)
    """

    _store_version = 2
    _dimension_separator: str | None = None
    # Whether some values are those of other stores; `_origin_of` says which.
    _has_origins = False
    # Whether the values are in the memory of this process, where no other process sees them.
    _is_in_memory = False
    # Whether attributes of v2 are requested together with the metadata of a node.
    _reads_attributes = False
    # Whether `get` and `clear` are always coroutines, as under the alias.
    _answers_awaited = False
    # Whether the documents are those of a commit that is not over: the engine cannot compare them.
    _is_staged = False
    # Whether its values have moved to another place, where arrays that are open follow them.
    _has_moved = False
    # Whether the store is remote, so that many values should be requested at once.
    is_remote = False
    # Attributes that the engine store was opened with: another value would have no effect on it.
    _opened_with: frozenset[str] = frozenset()

    # What makes the engine's array of a path and its metadata, where it has no chunks of its own.
    _array_io: Callable[[str, Any], Any] | None = None

    def __init__(self, *, read_only: bool = False) -> None:
        if read_only:
            self._writeable = False

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._opened_with and "_engine" in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}.{name} cannot be changed while the store is in use; open "
                "another store, and its arrays there"
            )
        super().__setattr__(name, value)

    @property
    def _user_store(self) -> Store:
        """The store that users see; another one where this is only an adapter of it."""
        return self

    def _open_engine(self) -> _engine.Store:
        return self._of_coroutines._engine if defines_awaited(type(self)) else engine_of(self)

    @cached_property
    def _of_coroutines(self) -> Store:
        """The store that calls the coroutines of a user's subclass, as for zarr-python 3.

        By it, the subclass inherits all other methods.
        """
        calls = opener("list_prefix()")
        made = None if calls is None else calls(self, None)
        assert made is not None
        return made

    @cached_property
    def _engine(self) -> _engine.Store:
        return self._open_engine()

    def engine_path(self, path: str) -> str:
        """The key that the engine uses for ``path``, which is ``path`` itself by default.

        Parameters
        ----------
        path : str
            A key or a prefix of keys, without a slash at either end.

        Returns
        -------
        str

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.DirectoryStore("data.zarr", normalize_keys=True)
        >>> store.engine_path("Group/0.0")
        'group/0.0'
        """
        return path

    def _at_version(self, version: str) -> Store | None:
        """The store of one of its versions; None for a store whose versions are beside it."""
        return None

    def _sites(self, path: str) -> list[Site]:
        """Where the values at and below ``path`` are, for `zarrix._stores.overlap`."""
        return of_engine(self._engine.id, self.engine_path(path))

    def _folder_at(self, path: str) -> str | None:
        """The folder whose files are the values below ``path``, if the store is one of files."""
        return None

    def _consolidated_value(self, key: str) -> bytes | None:
        """The document of ``key`` in the consolidated metadata that is stored now, if the store is
        a view of that.
        """
        return None

    def _before_write(self, path: str, axes: Any, coords: Any = ()) -> bool:
        """Called before elements of the array at ``path`` change, but not by the fast path.

        ``axes`` and ``coords`` are those of an `Indexer`; None for axes stands for all elements.
        Returns whether the array has other metadata now.
        """
        return False

    def _origin_of(self, key: str) -> tuple[Store, str] | None:
        """The store and the key where a value is stored as it is; None if that is here."""
        return None

    def vouching_for(self, key: str) -> str | None:
        """Key of consolidated metadata that describes a node whose own document is not stored.

        Only a store of references to a hierarchy with consolidated metadata has such a key.

        Parameters
        ----------
        key : str
            Key of the node's document.

        Returns
        -------
        str or None
            None: there is no such consolidated metadata.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore().vouching_for("a/.zarray") is None
        True
        """
        return None

    def __getitem__(self, key: str) -> Any:
        return self._defined("__getitem__")[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._defined("__setitem__")[key] = value

    def __delitem__(self, key: str) -> None:
        del self._defined("__delitem__")[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._defined("__iter__"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> Any:
        """Delete every key.

        Returns
        -------
        None
            A coroutine in a subclass with coroutines, as in zarr-python 3.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.KVStore({"a": b"1"})
        >>> store.clear()
        >>> len(store)
        0
        """
        if defines_awaited(type(self)):
            return self._call(self._of_coroutines.rmdir)
        return super().clear()

    def _defined(self, name: str) -> Store:
        # Not abstract methods: a subclass for zarr-python 3 defines coroutines instead.
        if not defines_awaited(type(self)):
            raise TypeError(f"the store class {type(self).__name__} does not define {name}")
        return self._of_coroutines

    def close(self) -> None:
        """Release open files and connections; a store in memory has none.

        A store is its own context manager, and is closed at the end of ``with``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.DirectoryStore("closed.zarr")
        >>> store.close()
        >>> with zarr.MemoryStore() as store:
        ...     store["a"] = b"1"
        """
        self._is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def get(
        self, key: str, default: Any = None, byte_range: Any = None, *, prototype: Any = None
    ) -> Any:
        """The value of ``key``; ``default`` if it is not stored.

        Parameters
        ----------
        key : str
        default : object, optional
            A prototype of buffers instead of a default makes the call that of zarr-python 3.
        byte_range : ByteRequest, optional
            The part of the value, as in zarr-python 3.
        prototype : BufferPrototype, optional
            The class of the buffer, as in zarr-python 3.

        Returns
        -------
        bytes-like or ``default``
            With a prototype or a part, a coroutine: it gives a buffer, or None.

        Raises
        ------
        OSError
            The value is stored but cannot be read: a permission, or an error of the server.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.abc.store import SuffixByteRequest
        >>> store = zarr.MemoryStore({"a": b"123"})
        >>> store.get("a"), store.get("b", b"")
        (b'123', b'')
        >>> asyncio.run(store.get("a", byte_range=SuffixByteRequest(2))).to_bytes()
        b'23'
        """
        if prototype is None and is_prototype(default):
            prototype, default = default, None
        if prototype is not None or byte_range is not None or self._answers_awaited:
            return self._get_awaited(key, prototype, byte_range)
        return self._value(key, default)

    def _folder(self) -> str | None:
        """The real path of the folder of this machine that has the values; None without one."""
        return folder_of(self._sites(""))

    def _first_document(self, path: str, names: Sequence[str]) -> tuple[str, Any] | None:
        """The first of some documents of a node that is stored, with its name."""
        for name in names:
            value = self._value(key_of(path, name))
            if value is not None:
                return name, value
        return None

    def _value(self, key: str, default: Any = None) -> Any:
        """The value of ``key``; ``default`` if it is not stored."""
        try:
            return self[key]
        except KeyError:
            return default

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, Any]:
        """The values of those ``keys`` that are stored.

        Parameters
        ----------
        keys : iterable of str
        contexts : optional
            Accepted for zarr 2.18; it has no effect.

        Returns
        -------
        dict of str to bytes-like
            Keys that are not stored are left out.

        Raises
        ------
        InvalidKeyError
            A key is not one that stores accept, such as ``"../a"``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1", "b": b"2"})
        >>> store.getitems(["a", "b", "c"])
        {'a': b'1', 'b': b'2'}
        """
        found = {}
        for key in keys:
            try:
                found[key] = self[key]
            except KeyError:
                continue
        return found

    def update_value(
        self, key: str, change: Callable[[bytes | None], bytes | None]
    ) -> bytes | None:
        """Replace the value of ``key`` by ``change(old)``, with no other writer in between.

        Other threads and processes of this machine wait.

        Parameters
        ----------
        key : str
        change : callable
            Called with the stored bytes, or None if nothing is stored; returns the new bytes, or
            None to delete.

        Returns
        -------
        bytes or None
            The value that is stored afterwards.

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        InvalidKeyError
            ``key`` is not one that stores accept.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"count": b"1"})
        >>> store.update_value("count", lambda old: str(int(old or b"0") + 1).encode())
        b'2'
        """
        self._forbid_changes()
        most = most_bytes(key)
        return self._engine.update(self.engine_path(key), change, fsync=self.syncs, most=most)

    def _update_at_most(
        self, key: str, change: Callable[[bytes | None], bytes | None], limit: int
    ) -> bytes | None:
        """`update_value`, where another number of bytes of the old value is read at most."""
        if type(self).update_value is not Store.update_value:
            # A user's class, which may do more.
            return self.update_value(key, change)
        self._forbid_changes()
        return self._engine.update(self.engine_path(key), change, fsync=self.syncs, most=limit)

    def _url(self) -> str:
        """What ``str(store)`` is in zarr-python 3; the representation for stores of our own."""
        return repr(self)

    def __str__(self) -> str:
        return self._url() if self._answers_awaited else repr(self)

    def __getstate__(self) -> Any:
        left_out = ("_engine", "_of_coroutines")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


Store.__module__ = "zarrix.storage"
