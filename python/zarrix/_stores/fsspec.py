"""File systems of fsspec as stores, under the constructors of zarr 2.18 and of zarr-python 3.

The engine serves the local file system, with locks and atomic replacement, and file systems of
servers that it supports. All others are called through fsspec's mapping, for many values at once. A
value is missing if the file system raises the exception of a missing file; every other exception is
an error.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any, Self

from zarrix import _engine
from zarrix._errors import suggestion
from zarrix._stores.base import Store
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.foreign_sites import of_filesystem as sites_of
from zarrix._stores.fsspec_pickle import HidingMap, has_secrets, identity_of, pickle_of, secrets_of
from zarrix._stores.keys import key_of
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path, utf8_path
from zarrix._stores.redaction import hiding, public_url
from zarrix._stores.remote.store import of_filesystem
from zarrix._stores.sites import Site

__all__ = ["FSStore", "FsspecStore", "of_map", "of_url"]

_BUCKETS = ("s3://", "s3a://", "gs://", "gcs://")
_MISSING = (FileNotFoundError, IsADirectoryError, NotADirectoryError)


class _FileSystemStore(EngineStore):
    """Keys as files below a path of a file system."""

    fs: Any
    path: str
    _missing: tuple[type[Exception], ...]

    def _set_files(self, fs: Any, path: str, missing: Iterable[type[Exception]]) -> None:
        if not hasattr(fs, "_strip_protocol"):
            raise TypeError(
                f"fs is a file system of fsspec, not {fs!r}; for a URL, use FSStore(url) or "
                "FsspecStore.from_url(url)"
            )
        self.fs = _synchronous(fs)
        self.path = str(self.fs._strip_protocol(path)) if path not in ("", "/") else ""
        self._missing = tuple(missing)

    def _open_engine(self) -> _engine.Store:
        if self._is_local:
            return _engine.LocalStore(utf8_path(os.path.abspath(self.path)))
        usual = set(self._missing) <= set(_MISSING)
        native = of_filesystem(self.fs, self.path) if usual else None
        if native is not None:
            return native._engine
        path = public_url(self.path).strip("/")
        files = HidingMap(self.map) if has_secrets(self.fs, self.path) else self.map
        return engine_of(files, identity_of(self.fs), path)

    def _sites(self, path: str) -> list[Site]:
        return sites_of(self.fs, key_of(self.path.rstrip("/"), self.engine_path(path)))

    @property
    def _is_local(self) -> bool:
        kind = type(self.fs)
        return (kind.__module__, kind.__name__) == (
            "fsspec.implementations.local",
            "LocalFileSystem",
        )

    @property
    def map(self) -> Any:
        """The mapping that fsspec makes of the same files."""
        return self.fs.get_mapper(self.path, missing_exceptions=self._missing)

    def listdir(self, path: str | None = None) -> list[str]:
        if not isinstance(self._engine, _engine.PythonStore):
            return super().listdir(path)
        return sorted(name for name, _ in self._entries(path))

    def child_names(self, path: str) -> list[str]:
        if not isinstance(self._engine, _engine.PythonStore):
            return super().child_names(path)
        return sorted(name for name, is_directory in self._entries(path) if is_directory)

    def _entries(self, path: str | None) -> list[tuple[str, bool]]:
        """Names below ``path`` and whether they are directories, in one request."""
        inside = self.engine_path(normalize_storage_path(path))
        folder_path = "/".join(part for part in (self.path, inside) if part)
        with hiding(lambda: secrets_of(self.fs)):
            try:
                listed = self.fs.ls(folder_path, detail=True, refresh=True)
            except self._missing:
                return []
        names = [
            (entry["name"].rstrip("/").rpartition("/")[2], entry["type"] == "directory")
            for entry in listed
            # Some file systems list a file as its own entry.
            if entry["name"].strip("/") != folder_path.strip("/")
        ]
        return [(name, is_directory) for name, is_directory in names if name]

    def rmdir(self, path: str | None = None) -> None:
        super().rmdir(path)
        self._prune(self.engine_path(normalize_storage_path(path)))

    def rename(self, src_path: str, dst_path: str) -> None:
        super().rename(src_path, dst_path)
        self._prune(self.engine_path(normalize_storage_path(src_path)))

    def _prune(self, path: str) -> None:
        """Remove empty directories, which some file systems leave at, below and above ``path``."""
        if not isinstance(self._engine, _engine.PythonStore):
            return
        parts = path.split("/") if path else []
        above = ["/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]
        folder_path = "/".join(part for part in (self.path, path) if part)
        with hiding(lambda: secrets_of(self.fs)):
            below = [folder for folder, _, _ in self.fs.walk(folder_path)]
        for folder in [*reversed(below), *(f"{self.path}/{name}" for name in above)]:
            if folder.strip("/") == self.path.strip("/"):
                continue
            try:
                if not self.fs.isdir(folder) or self.fs.ls(folder, detail=False, refresh=True):
                    continue
                self.fs.rmdir(folder)
            except (OSError, NotImplementedError):
                # The directory is not empty, may not be removed, or the file system has no `rmdir`:
                # nothing is lost.
                continue

    def setitems(self, values: Mapping[str, Any]) -> None:
        """Store many values.

        Parameters
        ----------
        values : mapping of str to bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        InvalidKeyError
            A key is not valid; those before it are stored.

        Examples
        --------
        >>> from zarrix.storage import FSStore
        >>> store = FSStore("memory://many")
        >>> store.setitems({"a": b"1", "b": b"2"})
        >>> sorted(store)
        ['a', 'b']
        """
        for key, value in values.items():
            self[key] = value

    def delitems(self, keys: Iterable[str]) -> None:
        """Delete those of ``keys`` that are stored.

        Parameters
        ----------
        keys : iterable of str

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> from zarrix.storage import FSStore
        >>> store = FSStore("memory://few")
        >>> store.setitems({"a": b"1", "b": b"2"})
        >>> store.delitems(["a", "c"])
        >>> list(store)
        ['b']
        """
        for key in keys:
            self.pop(key, None)

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        fs = pickle_of(self.fs)
        path = public_url(self.path)
        if path != self.path:
            # A password before the host, or the signature of a signed URL.
            fs = replace(fs, secret_names=(*fs.secret_names, "what the address hides"))
        return {**state, "fs": fs, "path": path}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__({**state, "fs": state["fs"].opened()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _FileSystemStore):
            return NotImplemented
        return type(self) is type(other) and bool(self.path == other.path and self.fs == other.fs)

    def __repr__(self) -> str:
        protocol = self.fs.protocol
        scheme = protocol if isinstance(protocol, str) else protocol[0]
        url = self.path if "://" in self.path else f"{scheme}://{self.path}"
        return f"<zarrix.storage.{type(self).__name__} '{public_url(url)}'>"


class FSStore(_FileSystemStore):
    """Keys as files of any file system of fsspec, as in zarr 2.18.

    A file that is missing is a missing value; every other error is raised. On a local file system,
    and on servers whose options a `RemoteStore` supports, values are replaced atomically, and any
    number of threads and processes may write. On others this depends on the file system, and two
    processes that write parts of one chunk can lose updates.

    Parameters
    ----------
    url : str
        Any URL of fsspec, such as ``"memory://x"`` or ``"simplecache::s3://bucket/x"``; the path
        in it with ``fs``.
    normalize_keys : bool
        Convert all keys to lower case.
    key_separator : {".", "/"}, optional
        The older name of ``dimension_separator``.
    mode : {"w", "r"}
        ``"r"`` is read-only.
    exceptions : tuple of exception classes
        More of what a file system raises for a missing value.
    dimension_separator : {".", "/"}, optional
        Default separator in the chunk keys of arrays created here.
    fs : fsspec.AbstractFileSystem, optional
        Used instead of a new one for the URL.
    check, create : bool
        Check at once that the path can be written to, or create it.
    missing_exceptions : tuple of exception classes, optional
        Exceptions of the file system for a missing file, if not the usual ones.
    **storage_options
        For the file system of the URL.

    Raises
    ------
    ImportError
        fsspec, or the package of the URL's file system, is not installed.
    ValueError
        Both ``fs`` and ``storage_options`` are given.

    Examples
    --------
    >>> from zarrix.storage import FSStore
    >>> store = FSStore("memory://example")
    >>> store["a/b"] = b"value"
    >>> store.listdir("a")
    ['b']
    """

    _opened_with = frozenset({"path", "fs", "mode"})

    def __init__(
        self,
        url: str | os.PathLike[str],
        normalize_keys: bool = False,
        key_separator: str | None = None,
        mode: str = "w",
        exceptions: tuple[type[Exception], ...] = (),
        dimension_separator: str | None = None,
        fs: Any = None,
        check: bool = False,
        create: bool = False,
        missing_exceptions: tuple[type[Exception], ...] | None = None,
        **storage_options: Any,
    ) -> None:
        if mode not in ("r", "w", "a", "r+"):
            raise ValueError(f"mode is 'w' or 'r', not {mode!r}")
        if fs is not None and storage_options:
            raise ValueError("give fs= or storage_options, not both: fs has its options already")
        path = os.fsdecode(url)
        if fs is None:
            fs, path = _opened(path, storage_options)
        missing = _MISSING if missing_exceptions is None else missing_exceptions
        self._set_files(fs, path, (*missing, *exceptions))
        self.normalize_keys = normalize_keys
        self.mode = mode
        self._writeable = mode != "r"
        separator = key_separator if dimension_separator is None else dimension_separator
        self._dimension_separator = self.key_separator = normalize_dimension_separator(separator)
        if check or create:
            with hiding(lambda: secrets_of(self.fs)):
                self.fs.get_mapper(self.path, check=check, create=create)

    def engine_path(self, path: str) -> str:
        return path.lower() if self.normalize_keys else path

    def dir_path(self, path: str | None = None) -> str:
        """The path in the file system that holds ``path``.

        Parameters
        ----------
        path : str, optional
            A key or a prefix of keys; the root of the store when omitted.

        Returns
        -------
        str

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> from zarrix.storage import FSStore
        >>> FSStore("memory://example").dir_path("group")
        '/example/group'
        """
        inside = self.engine_path(normalize_storage_path(path))
        return "/".join(part for part in (self.path, inside) if part)


class FsspecStore(_FileSystemStore):
    """Keys as files of any file system of fsspec, as in zarr-python 3.

    It has the same guarantees as `FSStore`.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        Asynchronous or not.
    read_only : bool
        Make the store, and everything opened from it, read-only.
    path : str
        The directory of the file system.
    allowed_exceptions : tuple of exception classes
        Exceptions of the file system for a missing file.

    Raises
    ------
    TypeError
        ``fs`` is not a file system of fsspec.

    Examples
    --------
    >>> import fsspec
    >>> from zarrix.storage import FsspecStore
    >>> store = FsspecStore(fsspec.filesystem("memory"), path="/readings")
    >>> store["a"] = b"1"
    >>> store.get("a"), store
    (b'1', <zarrix.storage.FsspecStore 'memory:///readings'>)
    """

    def __init__(
        self,
        fs: Any,
        read_only: bool = False,
        path: str = "/",
        allowed_exceptions: tuple[type[Exception], ...] = _MISSING,
    ) -> None:
        self._set_files(fs, path, allowed_exceptions)
        self.allowed_exceptions = tuple(allowed_exceptions)
        self._writeable = not read_only

    @classmethod
    def from_url(
        cls,
        url: str,
        storage_options: Mapping[str, Any] | None = None,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = _MISSING,
    ) -> Self:
        """The store of a URL of fsspec, chained ones too.

        Parameters
        ----------
        url : str
            Such as ``"s3://bucket/x"`` or ``"simplecache::https://host/x"``.
        storage_options : mapping, optional
            For the file system of the URL.
        read_only : bool
            Make the store read-only.
        allowed_exceptions : tuple of exception classes
            Exceptions of the file system for a missing file.

        Returns
        -------
        FsspecStore

        Raises
        ------
        ImportError
            fsspec, or the package of the URL's file system, is not installed.
        ValueError
            fsspec does not know the scheme, or the URL has credentials before the bucket.

        Examples
        --------
        >>> from zarrix.storage import FsspecStore
        >>> store = FsspecStore.from_url("memory://readings")
        >>> store.path
        '/readings'
        """
        fs, path = _opened(url, storage_options or {})
        return cls(fs, read_only, path, allowed_exceptions)

    @classmethod
    def from_mapper(
        cls,
        fs_map: Any,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = _MISSING,
    ) -> Self:
        """The store of the files of an ``fsspec.FSMap``.

        Parameters
        ----------
        fs_map : fsspec.FSMap
        read_only : bool
            Make the store read-only.
        allowed_exceptions : tuple of exception classes
            Exceptions of the file system for a missing file.

        Returns
        -------
        FsspecStore

        Raises
        ------
        AttributeError
            ``fs_map`` is not an ``fsspec.FSMap``.

        Examples
        --------
        >>> import fsspec
        >>> from zarrix.storage import FsspecStore
        >>> files = fsspec.get_mapper("memory://readings")
        >>> FsspecStore.from_mapper(files, read_only=True).read_only
        True
        """
        return cls(fs_map.fs, read_only, fs_map.root, allowed_exceptions)

    @classmethod
    def from_upath(
        cls,
        upath: Any,
        read_only: bool = False,
        allowed_exceptions: tuple[type[Exception], ...] = _MISSING,
    ) -> Self:
        """The store of a path of universal_pathlib.

        Parameters
        ----------
        upath : upath.UPath
            Or anything with its ``fs`` and ``path``.
        read_only : bool
            Make the store read-only.
        allowed_exceptions : tuple of exception classes
            Exceptions of the file system for a missing file.

        Returns
        -------
        FsspecStore

        Raises
        ------
        AttributeError
            ``upath`` has no ``fs`` or no ``path``.

        Examples
        --------
        >>> import fsspec
        >>> from types import SimpleNamespace
        >>> from zarrix.storage import FsspecStore
        >>> path = SimpleNamespace(fs=fsspec.filesystem("memory"), path="/readings")
        >>> FsspecStore.from_upath(path)
        <zarrix.storage.FsspecStore 'memory:///readings'>
        """
        return cls(upath.fs, read_only, upath.path, allowed_exceptions)


def _opened(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """The file system of a URL and the path in it."""
    core = _fsspec().core
    with hiding(lambda: options):
        fs, path = core.url_to_fs(url, **options)
    url = os.fspath(url)
    if url.startswith(_BUCKETS) and public_url(url) != url:
        # As a part of the name, it would be sent to the service, and appear in its errors.
        raise ValueError(
            f"{public_url(url)!r}: pass credentials in storage options, not before the bucket"
        )
    return fs, path


def _fsspec() -> ModuleType:
    try:
        importlib.import_module("fsspec.core")
        return importlib.import_module("fsspec")
    except ImportError:
        raise ImportError(
            "stores on file systems of fsspec need it: pip install fsspec, and s3fs, gcsfs or "
            "adlfs for the cloud"
        ) from None


def _synchronous(fs: Any) -> Any:
    """Return ``fs`` for synchronous calls; zarr-python 3 expects asynchronous ones, and wraps
    others.
    """
    inner = getattr(fs, "sync_fs", None)
    if inner is not None:
        return inner
    if getattr(fs, "asynchronous", False):
        return type(fs)(*fs.storage_args, **{**fs.storage_options, "asynchronous": False})
    return fs


def of_map(files: Any, storage_options: object = None) -> Store:
    """The store of an ``fsspec.FSMap``; a native store if the engine supports its options."""
    native = of_filesystem(files.fs, files.root)
    if native is not None:
        return native
    return FSStore(files.root, fs=files.fs, missing_exceptions=files.missing_exceptions)


def of_upath(upath: Any, storage_options: object = None) -> Store:
    """The store of a path of universal_pathlib, as of the mapping of its file system."""
    return of_map(upath.fs.get_mapper(upath.path))


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> Store:
    """The store of any URL that fsspec opens.

    Raises
    ------
    ImportError
        fsspec is not installed.
    ValueError
        fsspec has no file system of the scheme.
    """
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError:
        raise ImportError(
            f"{public_url(url)!r} is a URL, which is opened with fsspec: pip install fsspec, "
            "and s3fs, gcsfs or adlfs for the cloud"
        ) from None
    scheme = url.partition("://")[0]
    try:
        fsspec.get_filesystem_class(scheme.partition("::")[0])
    except ValueError:
        close = suggestion(scheme, fsspec.available_protocols())
        raise ValueError(
            f"{public_url(url)!r}: fsspec knows no file system {scheme!r}{close}"
        ) from None
    with hiding(lambda: storage_options or {}):
        files = fsspec.get_mapper(url, **(storage_options or {}))
    return of_map(files)


for _class in (FSStore, FsspecStore):
    _class.__module__ = "zarrix.storage"
del _class
