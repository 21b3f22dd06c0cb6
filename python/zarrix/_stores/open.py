"""Whatever a user passes as a store becomes one that the engine reads and writes.

Files, zip archives and memory are the engine's own; everything else, a dict, an fsspec mapping or a
user's subclass of `Store`, is called back. Pickles hold how to open a store; only that of a
`MemoryStore` carries its content.
"""

from __future__ import annotations

import atexit
import importlib
import os
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from zarrix import _engine
from zarrix._errors import FSPathExistNotDir, suggestion
from zarrix._stores.base import EngineStore, Store
from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path
from zarrix._stores.redaction import hiding, public_url

if TYPE_CHECKING:
    from pathlib import Path

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


class DirectoryStore(EngineStore):
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
        if not os.path.isdir(absolute) and os.path.exists(absolute):
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
        from pathlib import Path

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
        import tempfile

        path = tempfile.mkdtemp(suffix=suffix, prefix=prefix, dir=dir)
        atexit.register(_remove_own_tree, path, os.getpid())
        super().__init__(path, normalize_keys, dimension_separator)


class MemoryStore(EngineStore):
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


class KVStore(EngineStore):
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
    store : Store, MutableMapping, zarr.abc.store.Store, str, Path or None
        A path is a `DirectoryStore`, or a `ZipStore` where it ends in ``.zip`` or ``.ozx``, or the
        `ReferenceStore` of a file that ends in ``.json`` or a folder of references in ``.parq``; a
        mapping is a `KVStore`, None a new `MemoryStore`. A URL of S3, Google Cloud Storage, Azure
        or a web server is a `RemoteStore`, and so is an fsspec mapping of one of them where the
        engine understands its configuration; ``file://`` is a directory, ``memory://name`` the
        `MemoryStore` of that name in this process, and fsspec opens all others. Stores of
        zarr-python 3, sessions of Icechunk and object stores of obstore are taken as they are.
    storage_options : mapping, optional
        With a URL only, by the names that fsspec gives them.
    durability : {"process", "fsync"}, optional
        What writes through the store that is returned survive; as ``config`` says when omitted.

    Raises
    ------
    ValueError
        It is none of these, or of a kind that this version does not have.
    ImportError
        A URL needs fsspec, or one of its file systems, which is not installed.
    """
    if isinstance(store, Store) and durability is None and not storage_options:
        return store
    if durability is not None:
        return as_store(store, storage_options).with_durability(durability)
    if isinstance(store, str) or hasattr(store, "__fspath__"):
        return _path_store(os.fsdecode(store), storage_options)
    if storage_options:
        raise ValueError("storage_options go with a URL only, such as 's3://bucket/data.zarr'")
    if store is None:
        return MemoryStore()
    if type(store).__name__ == "FSMap":
        from zarrix._stores.remote import store as _remote

        native = _remote.of_filesystem(store.fs, store.root)
        if native is not None:
            return native
        from zarrix._stores.fsspec import FSStore

        return FSStore(store.root, fs=store.fs, missing_exceptions=store.missing_exceptions)
    if hasattr(type(store), "list_prefix") or type(store).__module__.startswith("icechunk"):
        from zarrix._stores.zarr_python import of_zarr_python

        called = of_zarr_python(store)
        if called is not None:
            return called
    if type(store).__module__.startswith("obstore"):
        from zarrix._stores.obstore import ObjectStore

        return ObjectStore(store)
    methods = ("keys", "__getitem__", "__setitem__", "__delitem__", "__contains__")
    if isinstance(store, MutableMapping) or all(hasattr(store, name) for name in methods):
        return KVStore(store)
    if hasattr(store, "_strip_protocol"):
        raise ValueError(f"{store!r} is a file system; pass FsspecStore(it, path=...) or a mapping")
    raise ValueError(
        f"{store!r} ({type(store).__name__}) is no store; pass a path, a URL, a store of zarrix "
        "or of zarr-python 3, or a mutable mapping of str to bytes"
    )


def _path_store(path: str, storage_options: Mapping[str, Any] | None) -> Store:
    scheme, found, rest = path.partition("://")
    if scheme == "memory" and found and not storage_options:
        return _in_memory.setdefault(rest, MemoryStore())
    if scheme in ("file", "local") and found and not storage_options:
        return DirectoryStore(rest)
    remote = _remote_store(path, storage_options) if found else None
    if remote is not None:
        return remote
    if found or "::" in path:
        try:
            fsspec = importlib.import_module("fsspec")
        except ImportError:
            raise ImportError(
                f"{public_url(path)!r} is a URL, which is opened with fsspec: pip install fsspec, "
                "and s3fs, gcsfs or adlfs for the cloud"
            ) from None
        try:
            fsspec.get_filesystem_class(path.partition("::")[0].partition("://")[0])
        except ValueError:
            close = suggestion(scheme, fsspec.available_protocols())
            raise ValueError(
                f"{public_url(path)!r}: fsspec knows no file system {scheme!r}{close}"
            ) from None
        with hiding(lambda: storage_options or {}):
            files = fsspec.get_mapper(path, **(storage_options or {}))
        return as_store(files)
    if storage_options:
        raise ValueError(
            f"storage_options go with a URL only, such as 's3://bucket/data.zarr'; got {path!r}"
        )
    if path.endswith((".zip", ".ozx")) and not os.path.isdir(path):
        # Imported late: it is built on the same base as this module, and few programs need it.
        from zarrix._stores.zip import ZipStore

        return ZipStore(path)
    if path.endswith((".json", ".parq", ".parquet")):
        from zarrix._stores.reference.store import ReferenceStore, holds_references

        if holds_references(path):
            return ReferenceStore(path)
    if path.endswith(".n5") and not os.path.isdir(path):
        raise ValueError(f"{path!r}: N5 is not supported yet in this version")
    return DirectoryStore(path)


def _remote_store(url: str, storage_options: Mapping[str, Any] | None) -> Store | None:
    """The engine's store for ``url``; None where only fsspec has one."""
    # Imported late: it is built on this module, and few programs need it.
    from zarrix._stores.remote import store as _remote

    if not _remote.handles(url):
        return None
    try:
        return _remote.open_url(url, storage_options)
    except _remote.NeedsFsspec:
        return None


_in_memory: dict[str, MemoryStore] = {}


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


def _remove_own_tree(path: str, owner: int) -> None:
    # A forked child runs this too, if it ends normally; the directory is still its parent's.
    if os.getpid() == owner:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


for _name in __all__:
    # Printed as in 2.18 ("Store type : zarrix.storage.DirectoryStore"), and pickled so.
    if _name != "as_store":
        globals()[_name].__module__ = "zarrix.storage"
del _name
