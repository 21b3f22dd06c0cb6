"""The base of all stores: a mapping of keys to bytes, with an engine store.

A `Store` has the methods of zarr 2.18's stores. Its engine store is created on first use. Native
stores are `EngineStore`; the engine calls all others through `_engine.PythonStore`. Arrays pass
the engine store to the engine, and never read a chunk through this class. A pickle describes how to
open a store, and does not contain the open store.

The file has more than 600 lines because two thirds of it are the documentation of public methods,
each of which has a few lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Self

from zarrix import _engine
from zarrix._errors import ReadOnlyError
from zarrix._runtime.buffers import is_prototype
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.config import check_durability, config
from zarrix._stores.awaited_methods import AwaitedMethods, AwaitedSize
from zarrix._stores.keys import NODE_DOCUMENTS, is_document, key_of
from zarrix._stores.listed_once import listed_once, names_below
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.path import normalize_storage_path

__all__ = ["Store", "most_bytes"]


def most_bytes(key: str) -> int:
    """The maximum length that is read of a value; a longer document is an error before it takes
    memory.
    """
    return config.max_document_bytes if is_document(key) else 2**64 - 1


class Store(AwaitedMethods, MutableMapping[str, Any]):
    """A mapping of keys to bytes, which contains arrays and groups.

    A subclass needs only the five methods of a ``MutableMapping``; listing, renaming, locking and
    the engine's access are derived from them. Any number of threads may use one store.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.MemoryStore() as store:
    ...     store["a/b"] = b"value"
    ...     store.listdir("a"), store.getsize("a")
    (['b'], 5)
    """

    _readable = True
    _writeable = True
    _erasable = True
    _listable = True
    _store_version = 2
    _dimension_separator: str | None = None
    _durability: str | None = None
    # Whether the values are in the memory of this process, where no other process sees them.
    _is_in_memory = False
    # Whether attributes of v2 are requested together with the metadata of a node.
    _reads_attributes = False
    # Whether `get` and `clear` are always coroutines, as under the alias.
    _answers_awaited = False
    # Whether the store is remote, so that many values should be requested at once.
    is_remote = False

    @property
    def _user_store(self) -> Store:
        """The store that users see; another one where this is only an adapter of it."""
        return self

    def _open_engine(self) -> _engine.Store:
        return engine_of(self)

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

    def __getitem__(self, key: str) -> Any:
        raise self._undefined("__getitem__")

    def __setitem__(self, key: str, value: Any) -> None:
        raise self._undefined("__setitem__")

    def __delitem__(self, key: str) -> None:
        raise self._undefined("__delitem__")

    def __iter__(self) -> Iterator[str]:
        raise self._undefined("__iter__")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _undefined(self, name: str) -> TypeError:
        # Not abstract methods: a subclass for zarr-python 3 defines coroutines instead.
        return TypeError(f"the store class {type(self).__name__} does not define {name}")

    def is_readable(self) -> bool:
        """Whether values can be read.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore().is_readable()
        True
        """
        return self._readable

    def is_writeable(self) -> bool:
        """Whether values can be written.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore(read_only=True).is_writeable()
        False
        """
        return self._writeable

    def is_listable(self) -> bool:
        """Whether keys can be listed.

        Returns
        -------
        bool
            False for web servers, which do not list the names below a URL.

        Examples
        --------
        >>> from zarrix.storage import RemoteStore
        >>> RemoteStore("https://example.org/data.zarr").is_listable()
        False
        """
        return self._listable

    def is_erasable(self) -> bool:
        """Whether values can be deleted.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore().is_erasable()
        True
        """
        return self._erasable

    @property
    def syncs(self) -> bool:
        """Whether a finished write survives a loss of power, too."""
        return config.syncs if self._durability is None else self._durability == "fsync"

    def with_durability(self, durability: str | None) -> Self:
        """Return this store with its own durability, through the same open store.

        Parameters
        ----------
        durability : str or None
            What a finished write survives: "process" for the end of the process, "fsync" for the
            loss of power too. None gives this store itself, which follows ``zarrix.config``.

        Returns
        -------
        Store

        Raises
        ------
        ValueError
            ``durability`` is something else.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> safe = store.with_durability("fsync")
        >>> safe["a"] = b"1"
        >>> store["a"], store.syncs, safe.syncs
        (b'1', False, True)
        """
        if durability is None:
            return self
        return self._variant(_durability=check_durability(durability))

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return this store as a read-only one or not, through the same open store.

        Parameters
        ----------
        read_only : bool

        Returns
        -------
        Store

        Raises
        ------
        ReadOnlyError
            ``read_only`` is false, and a store of this kind cannot be written.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"}).with_read_only(True)
        >>> store["a"], store.read_only
        (b'1', True)
        """
        if not read_only and not type(self)._writeable:
            raise ReadOnlyError(f"the store {self!r} cannot be written")
        return self._variant(_writeable=not read_only)

    def _variant(self, **changes: Any) -> Self:
        # The same values through the same open store; `copy` would copy those of a store in memory.
        opened, other = self._engine, object.__new__(type(self))
        other.__dict__.update(self.__dict__, _engine=opened)
        other.__dict__.update(changes)
        return other

    @property
    def read_only(self) -> bool:
        """Whether the store, and everything opened from it, is read-only."""
        return not self._writeable

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

    def _forbid_changes(self) -> None:
        if not self._writeable:
            raise ReadOnlyError(f"the store {self!r} is read-only; open it without read_only=True")

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

    def listdir(self, path: str | None = None) -> list[str]:
        """The names directly below ``path``, sorted.

        Parameters
        ----------
        path : str, optional
            The root of the store when omitted.

        Returns
        -------
        list of str
            Empty where nothing is stored below ``path``.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "a/c/d": b"2", "e": b"3"})
        >>> store.listdir(), store.listdir("a"), store.listdir("x")
        (['a', 'e'], ['b', 'c'], [])
        """
        files, directories = self._engine.list_dir(self.engine_path(normalize_storage_path(path)))
        return sorted({*files, *directories})

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that have keys below them, sorted.

        Parameters
        ----------
        path : str
            Empty for the root.

        Returns
        -------
        list of str
            Names that may be groups and arrays.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "e": b"3"})
        >>> store.child_names("")
        ['a']
        """
        return sorted(names_below(self._engine, self.engine_path(path)))

    def listed_once(self) -> AbstractContextManager[None]:
        """List all keys once, and use that listing for `child_names` while the context is open.

        This saves time in a store that visits all keys for every listing, such as a mapping.
        Changes made meanwhile are not seen.

        Returns
        -------
        context manager

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.KVStore({"a/b": b"1", "c/d": b"2"})
        >>> with store.listed_once():
        ...     store.child_names(""), store.child_names("a")
        (['a', 'c'], [])
        """
        return listed_once(self._engine)

    def child_names_of(self, paths: Iterable[str]) -> list[list[str]]:
        """`child_names` of each of ``paths``; a remote store lists them concurrently.

        Parameters
        ----------
        paths : iterable of str

        Returns
        -------
        list of list of str
            In the order of ``paths``.

        Raises
        ------
        InvalidKeyError
            A path leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b/c": b"1", "d/e": b"2"})
        >>> store.child_names_of(["", "a", "d"])
        [['a', 'd'], ['b'], []]
        """
        if not self.is_remote:
            return [self.child_names(path) for path in paths]
        listings = self._engine.list_dirs([self.engine_path(path) for path in paths])
        return [sorted(directories) for _, directories in listings]

    def rmdir(self, path: str | None = None) -> None:
        """Delete every key below ``path``; all keys, for the root.

        The call waits for writers of chunks of the node. If the process is killed, a node is either
        complete or gone.

        Parameters
        ----------
        path : str, optional
            The root of the store when omitted.

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "a/c": b"2", "e": b"3"})
        >>> store.rmdir("a")
        >>> list(store)
        ['e']
        """
        self._forbid_changes()
        prefix = self.engine_path(normalize_storage_path(path))
        self._engine.delete_node(prefix, NODE_DOCUMENTS, fsync=self.syncs)

    def rename(self, src_path: str, dst_path: str) -> None:
        """Move everything at and below ``src_path`` to ``dst_path``, which must not exist.

        The call waits for writers of chunks of the node.

        Parameters
        ----------
        src_path, dst_path : str

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        FileNotFoundError
            Nothing is stored at ``src_path``.
        FileExistsError
            Something is stored at ``dst_path``.
        OSError
            ``dst_path`` lies inside ``src_path``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"raw/0": b"1", "raw/1": b"2"})
        >>> store.rename("raw", "kept/raw")
        >>> list(store)
        ['kept/raw/0', 'kept/raw/1']
        """
        self._forbid_changes()
        source, target = normalize_storage_path(src_path), normalize_storage_path(dst_path)
        source, target = self.engine_path(source), self.engine_path(target)
        self._engine.move_node(source, target, NODE_DOCUMENTS, fsync=self.syncs)

    def getsize(self, path: str | None = None) -> int:
        """Bytes of the value at ``path``, or of the values directly below it; 0 if there are none.

        Parameters
        ----------
        path : str, optional
            A key or a prefix of keys; the root when omitted.

        Returns
        -------
        int
            Bytes as stored; 0 where nothing is.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"12345", "a/c/d": b"1"})
        >>> store.getsize("a/b"), store.getsize("a"), store.getsize("x")
        (5, 5, 0)
        """
        prefix = self.engine_path(normalize_storage_path(path))
        size = self._engine.size(prefix) if prefix else None
        if size is not None:
            return AwaitedSize(size)
        files, directories = self._engine.list_dir(prefix)
        if not directories:
            return AwaitedSize(self._engine.size_prefix(prefix))
        names = [key_of(prefix, name) for name in files]
        return AwaitedSize(sum(self._engine.size(name) or 0 for name in names))

    def __getstate__(self) -> Any:
        return {key: value for key, value in self.__dict__.items() if key != "_engine"}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


Store.__module__ = "zarrix.storage"
