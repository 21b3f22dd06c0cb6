"""Whatever a user passes as a store becomes one that the engine reads and writes.

A `Store` is a mapping of keys to bytes with the methods of zarr 2.18's stores, and has an engine
store behind it, made on first use: files and memory are the engine's own; everything else, a dict,
an fsspec mapping or a user's subclass of `Store`, is called back through `_engine.MappingStore`.
Arrays hand the engine store to the engine and never come here for a chunk. Pickles hold how to open
a store, not the open one; only a `MemoryStore` carries its content.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from functools import cached_property
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Self

import numpy as np

from zarrix import _engine
from zarrix._config import check_durability, config
from zarrix._errors import FSPathExistNotDir, InvalidKeyError, ReadOnlyError
from zarrix.util import normalize_dimension_separator, normalize_storage_path

__all__ = [
    "DictStore",
    "DirectoryStore",
    "KVStore",
    "LocalStore",
    "MemoryStore",
    "NestedDirectoryStore",
    "Store",
    "TempStore",
    "as_store",
]

_ARRAY_META_KEY = ".zarray"


class Store(MutableMapping[str, Any]):
    """Keys to bytes: the mapping that arrays and groups are kept in.

    A subclass needs only the five methods of a ``MutableMapping``; listing, renaming, locking and
    the engine's access are derived from them. Any number of threads may use one store.

    Examples
    --------
    >>> with MemoryStore() as store:
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

    def _open(self) -> _engine.Store:
        return _engine.MappingStore(self)

    @cached_property
    def _engine(self) -> _engine.Store:
        return self._open()

    def engine_path(self, path: str) -> str:
        """``path`` as the engine store spells it."""
        return path

    def is_readable(self) -> bool:
        """Whether values can be read."""
        return self._readable

    def is_writeable(self) -> bool:
        """Whether values can be written."""
        return self._writeable

    def is_listable(self) -> bool:
        """Whether keys can be listed."""
        return self._listable

    def is_erasable(self) -> bool:
        """Whether values can be deleted."""
        return self._erasable

    @property
    def syncs(self) -> bool:
        """Whether a finished write survives the loss of power, too."""
        return config.syncs if self._durability is None else self._durability == "fsync"

    def with_durability(self, durability: str | None) -> Self:
        """This store with a ``durability=`` of its own; itself where that is None."""
        if durability is None:
            return self
        # The same place through the same open store: not what `copy` makes of one in memory.
        opened, twin = self._engine, object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _engine=opened)
        twin._durability = check_durability(durability)
        return twin

    @property
    def read_only(self) -> bool:
        """Whether changes are refused, in the store and in all that is opened from it."""
        return not self._writeable

    def _forbid_changes(self) -> None:
        if not self._writeable:
            raise ReadOnlyError(f"the store {self!r} is read-only; open it without read_only=True")

    def close(self) -> None:
        """Release what the store holds; nothing, unless a subclass does."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, Any]:
        """The values of those ``keys`` that are stored."""
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
        """Replace the value of ``key`` by ``change(old)`` with no other writer in between.

        ``old`` is None where nothing is stored; returning None deletes. Other threads and
        processes of this machine wait. Returns what is stored afterwards.
        """
        self._forbid_changes()
        return self._engine.update(self.engine_path(key), change, fsync=self.syncs)

    def listdir(self, path: str | None = None) -> list[str]:
        """The names directly below ``path``, sorted; empty where nothing is."""
        files, directories = self._engine.list_dir(self.engine_path(normalize_storage_path(path)))
        return sorted({*files, *directories})

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that have keys below them, sorted."""
        return sorted(self._engine.list_dir(self.engine_path(path))[1])

    def rmdir(self, path: str | None = None) -> None:
        """Delete every key below ``path``; all keys, for the root."""
        self._forbid_changes()
        self._engine.delete_prefix(self.engine_path(normalize_storage_path(path)))

    def rename(self, src_path: str, dst_path: str) -> None:
        """Move everything at and below ``src_path`` to ``dst_path``, which must not exist."""
        self._forbid_changes()
        source, target = normalize_storage_path(src_path), normalize_storage_path(dst_path)
        self._engine.rename_prefix(self.engine_path(source), self.engine_path(target))

    def getsize(self, path: str | None = None) -> int:
        """Bytes of the value at ``path``, or of the values directly below it; 0 if none are."""
        prefix = self.engine_path(normalize_storage_path(path))
        size = self._engine.size(prefix) if prefix else None
        if size is not None:
            return size
        files, directories = self._engine.list_dir(prefix)
        if not directories:
            return self._engine.size_prefix(prefix)
        names = [f"{prefix}/{name}" if prefix else name for name in files]
        return sum(self._engine.size(name) or 0 for name in names)

    def __getstate__(self) -> Any:
        return {key: value for key, value in self.__dict__.items() if key != "_engine"}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)


class _EngineStore(Store):
    """The mapping methods of a store that the engine has itself."""

    def __getitem__(self, key: str) -> bytes:
        value = self._engine.get(self.engine_path(_key(key)))
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self._forbid_changes()
        self._engine.put(self.engine_path(_key(key)), _as_buffer(value), fsync=self.syncs)

    def __delitem__(self, key: str) -> None:
        self._forbid_changes()
        name = self.engine_path(_key(key))
        # As in 2.18, deleting what others continue deletes those.
        if not self._engine.delete(name) and not self._engine.delete_prefix(name):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            return self._engine.size(self.engine_path(key)) is not None
        except InvalidKeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._engine.list_prefix(""))

    def __len__(self) -> int:
        return len(self._engine.list_prefix(""))

    def clear(self) -> None:
        """Delete every key."""
        self._forbid_changes()
        self._engine.delete_prefix("")


class DirectoryStore(_EngineStore):
    """Keys as files below a directory of a local file system.

    A value appears whole or not at all, whatever is killed when; any number of threads and
    processes may read and write.

    Parameters
    ----------
    path : str or Path
        The directory; it is made when something is first written.
    normalize_keys : bool
        Spell all keys in lower case, for file systems that do not tell cases apart.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.

    Raises
    ------
    FSPathExistNotDir
        ``path`` exists and is a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
    ) -> None:
        absolute = os.path.abspath(os.fsdecode(path))
        if os.path.exists(absolute) and not os.path.isdir(absolute):
            raise FSPathExistNotDir(f"{absolute!r} is a file; a store needs a directory")
        self.path = absolute
        self.normalize_keys = normalize_keys
        self._dimension_separator = normalize_dimension_separator(dimension_separator)

    def _open(self) -> _engine.Store:
        return _engine.LocalStore(self.path)

    def engine_path(self, path: str) -> str:
        """``path`` as the engine store spells it: in lower case with ``normalize_keys``."""
        return path.lower() if self.normalize_keys else path

    def dir_path(self, path: str | None = None) -> str:
        """The directory of the file system that holds ``path``."""
        inside = self.engine_path(normalize_storage_path(path))
        return os.path.join(self.path, inside) if inside else self.path

    def listdir(self, path: str | None = None) -> list[str]:
        """The names directly below ``path``, sorted; chunk keys of an array are whole."""
        names = super().listdir(path)
        if self._dimension_separator != "/" or _ARRAY_META_KEY not in names:
            return names
        prefix = self.engine_path(normalize_storage_path(path))
        start = len(prefix) + 1 if prefix else 0
        keys = [key[start:] for key in self._engine.list_prefix(prefix)]
        chunks = {key for key in keys if key.split("/", 1)[0].isdecimal()}
        return sorted(chunks | {name for name in names if not name.isdecimal()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DirectoryStore):
            return NotImplemented
        return self.path == other.path and self.normalize_keys == other.normalize_keys

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__} {self.path!r}>"


class LocalStore(DirectoryStore):
    """A `DirectoryStore` as zarr-python 3 makes it.

    Parameters
    ----------
    root : str or Path
        The directory; it is made when something is first written.
    read_only : bool
        Refuse changes, in the store and in all that is opened from it.
    """

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        super().__init__(root)
        self._writeable = not read_only

    @property
    def root(self) -> Path:
        """The directory."""
        return Path(self.path)


class NestedDirectoryStore(DirectoryStore):
    """A `DirectoryStore` whose arrays keep their chunks in nested directories, ``0/0`` for ``0.0``.

    Parameters
    ----------
    path, normalize_keys
        As for `DirectoryStore`.
    dimension_separator : "/"
        Nothing else is allowed.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        normalize_keys: bool = False,
        dimension_separator: str | None = "/",
    ) -> None:
        if dimension_separator not in ("/", None):
            raise ValueError(
                f"NestedDirectoryStore takes dimension_separator '/', not {dimension_separator!r}"
            )
        super().__init__(path, normalize_keys, "/")


class TempStore(DirectoryStore):
    """A `DirectoryStore` in a new temporary directory, removed when this process ends.

    Parameters
    ----------
    suffix, prefix, dir : str, optional
        Of the directory, as in ``tempfile.mkdtemp``.
    normalize_keys, dimension_separator
        As for `DirectoryStore`.
    """

    def __init__(
        self,
        suffix: str = "",
        prefix: str = "zarr",
        dir: str | None = None,
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
    ) -> None:
        path = tempfile.mkdtemp(suffix=suffix, prefix=prefix, dir=dir)
        atexit.register(_remove_own_tree, path, os.getpid())
        super().__init__(path, normalize_keys, dimension_separator)


class MemoryStore(_EngineStore):
    """Values in the memory of this process.

    Pickles carry the content. Two are equal if their contents are.

    Parameters
    ----------
    root : mapping, optional
        Initial content: keys to bytes, or nested mappings of these; it is copied.
    cls : type
        Of the nested mappings that `root` returns.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    store_dict : mapping, optional
        Initial content, as zarr-python 3 names it; copied too.
    read_only : bool
        Refuse changes, in the store and in all that is opened from it.
    """

    def __init__(
        self,
        root: Mapping[str, Any] | None = None,
        cls: type[Any] = dict,
        dimension_separator: str | None = None,
        *,
        store_dict: Mapping[str, Any] | None = None,
        read_only: bool = False,
    ) -> None:
        self.cls = cls
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        for key, value in _flatten(root or store_dict or {}):
            self[key] = value
        self._writeable = not read_only

    def _open(self) -> _engine.Store:
        return _engine.MemoryStore()

    @property
    def root(self) -> Any:
        """A copy of the content as nested mappings, one level for each ``/`` in the keys."""
        tree = self.cls()
        for key, value in self.items():
            *parents, name = key.split("/")
            node = tree
            for parent in parents:
                node = node.setdefault(parent, self.cls())
            node[name] = value
        return tree

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self is other or dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> Any:
        return {**super().__getstate__(), "content": dict(self.items())}

    def __setstate__(self, state: Any) -> None:
        content = state.pop("content")
        writeable = state.pop("_writeable", True)
        super().__setstate__(state)
        for key, value in content.items():
            self[key] = value
        self._writeable = writeable

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__}: {len(self)} keys at {id(self):#x}>"


class DictStore(MemoryStore):
    """The name of `MemoryStore` before zarr 2.4."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "DictStore is the old name of MemoryStore; use MemoryStore",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


class KVStore(_EngineStore):
    """Any mutable mapping of str to bytes as a store: a dict, an fsspec mapping, another store.

    Keys that no store accepts, such as ``../a``, are refused before the mapping sees them.

    Parameters
    ----------
    mutablemapping : MutableMapping
        Kept, not copied. The engine uses its ``getitems`` where it has one.
    """

    def __init__(self, mutablemapping: MutableMapping[str, Any]) -> None:
        self._mutable_mapping = mutablemapping
        self._dimension_separator = getattr(mutablemapping, "_dimension_separator", None)

    def _open(self) -> _engine.Store:
        inner = self._mutable_mapping
        return inner._engine if isinstance(inner, Store) else _engine.MappingStore(inner)

    def engine_path(self, path: str) -> str:
        """``path`` as the engine store spells it."""
        inner = self._mutable_mapping
        return inner.engine_path(path) if isinstance(inner, Store) else path

    def __iter__(self) -> Iterator[str]:
        return iter(self._mutable_mapping)

    def __len__(self) -> int:
        return len(self._mutable_mapping)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KVStore):
            return NotImplemented
        return bool(self._mutable_mapping == other._mutable_mapping)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"<zarrix.storage.KVStore of {type(self._mutable_mapping).__name__} at {id(self):#x}>"
        )


def as_store(
    store: Any,
    storage_options: Mapping[str, Any] | None = None,
    durability: str | None = None,
) -> Store:
    """The store that ``store`` means, wherever an argument of that name is taken.

    Parameters
    ----------
    store : Store, MutableMapping, str, Path or None
        A path is a `DirectoryStore`, a mapping a `KVStore`, None a new `MemoryStore`; a URL with a
        scheme is opened with fsspec, ``file://`` as a directory, ``memory://name`` as the
        `MemoryStore` of that name in this process.
    storage_options : mapping, optional
        For fsspec, with a URL only.
    durability : {"process", "fsync"}, optional
        What writes through the store that is returned survive; as ``config`` says when omitted.

    Raises
    ------
    ValueError
        It is none of these, or of a kind that this version does not have.
    ImportError
        A URL needs fsspec, or one of its file systems, which is not installed.
    """
    if durability is not None:
        return as_store(store, storage_options).with_durability(durability)
    if isinstance(store, (str, PurePath)) or hasattr(store, "__fspath__"):
        return _path_store(os.fsdecode(store), storage_options)
    if storage_options:
        raise ValueError("storage_options go with a URL only, such as 's3://bucket/data.zarr'")
    if store is None:
        return MemoryStore()
    if isinstance(store, Store):
        return store
    methods = ("keys", "__getitem__", "__setitem__", "__delitem__", "__contains__")
    if isinstance(store, MutableMapping) or all(hasattr(store, name) for name in methods):
        return KVStore(store)
    raise ValueError(
        f"{store!r} ({type(store).__name__}) is no store; pass a path, a URL, a zarrix store or a "
        "mutable mapping of str to bytes"
    )


def _path_store(path: str, storage_options: Mapping[str, Any] | None) -> Store:
    scheme, found, rest = path.partition("://")
    if scheme == "memory" and found and not storage_options:
        return _in_memory.setdefault(rest, MemoryStore())
    if scheme in ("file", "local") and found and not storage_options:
        return DirectoryStore(rest)
    if found or "::" in path:
        try:
            import fsspec  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise ImportError(
                f"{path!r} is a URL, which is opened with fsspec: pip install fsspec, and s3fs, "
                "gcsfs or adlfs for the cloud"
            ) from None
        return KVStore(fsspec.get_mapper(path, **(storage_options or {})))
    if storage_options:
        raise ValueError(
            f"storage_options go with a URL only, such as 's3://bucket/data.zarr'; got {path!r}"
        )
    for suffix, kind in ((".zip", "zip files"), (".n5", "N5")):
        if path.endswith(suffix) and not os.path.isdir(path):
            raise ValueError(f"{path!r}: {kind} are not supported yet in this version")
    return DirectoryStore(path)


_in_memory: dict[str, MemoryStore] = {}


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidKeyError(f"key {key!r} has type {type(key).__name__}; keys of a store are str")
    return key


def _as_buffer(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return value
    if isinstance(value, np.ndarray):
        # NumPy refuses buffers of times; as bytes it hands out everything.
        return np.ascontiguousarray(value).reshape(-1).view("u1")
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"values of a store are bytes-like, not {type(value).__name__}") from None
    return view if view.c_contiguous else view.tobytes()


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _remove_own_tree(path: str, owner: int) -> None:
    # A forked child runs this too, if it ends normally; the directory is still its parent's.
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


for _name in __all__:
    # Printed as in 2.18 ("Store type : zarrix.storage.DirectoryStore"), and pickled so.
    if _name != "as_store":
        globals()[_name].__module__ = "zarrix.storage"
del _name
