"""Stores of keys as files below a directory of this machine."""

from __future__ import annotations

import atexit
import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarrix import _engine
from zarrix._errors import FSPathExistNotDir
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.keys import ZARRAY
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.path import normalize_dimension_separator, normalize_storage_path, utf8_path
from zarrix._stores.sites import Site, of_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["DirectoryStore", "LocalStore", "NestedDirectoryStore", "TempStore", "of_url"]


class LocalStore(EngineStore):
    """Keys as files below a directory of a local file system.

    Values are replaced atomically, even if a writer is killed at any point. Any number of threads
    and processes may read and write.

    Parameters
    ----------
    root : str or Path
        The directory; it is created by the first write.
    read_only : bool
        Make the store, and everything opened from it, read-only.

    Raises
    ------
    FSPathExistNotDir
        ``root`` exists and is a file; not under `zarrix.as_zarr`, where nothing is found in it.

    Examples
    --------
    >>> from zarrix.storage import LocalStore
    >>> store = LocalStore("data.zarr", read_only=True)
    >>> store.root.name, store.read_only
    ('data.zarr', True)
    """

    path: str
    normalize_keys = False
    _opened_with = frozenset({"path"})

    def __init__(self, root: str | os.PathLike[str], *, read_only: bool = False) -> None:
        # In zarr-python 3, a store at a file has no nodes, and its first write is an error.
        self._set_path(root, may_be_file=DIALECT.is_zarr3)
        self._writeable = not read_only

    def _set_path(self, path: str | os.PathLike[str], *, may_be_file: bool = False) -> None:
        absolute = os.path.abspath(os.fsdecode(path))
        try:
            # Asked once: another process may create the directory between two questions.
            is_other = not stat.S_ISDIR(os.stat(absolute).st_mode)
        except (OSError, ValueError):
            # Nothing is there, or not for this user: the first read or write says so.
            is_other = False
        if is_other and not may_be_file:
            raise FSPathExistNotDir(f"{absolute!r} is a file; a store needs a directory")
        # Refused here, because the engine is opened where a missing key is not an error.
        if not absolute.isascii():
            utf8_path(absolute)
        # Not by `__setattr__`, which guards the path of a store that is in use.
        vars(self)["path"] = absolute

    @property
    def root(self) -> Path:
        """The directory."""
        # Import time.
        from pathlib import Path

        return Path(self.path)

    @cached_property
    def _engine(self) -> _engine.Store:
        path = self.path
        return _engine.LocalStore(path if path.isascii() else utf8_path(path))

    def engine_path(self, path: str) -> str:
        return path.lower() if self.normalize_keys else path

    def _sites(self, path: str) -> list[Site]:
        return of_file(os.path.join(self.path, self.engine_path(path)))

    def _folder(self) -> str:
        return os.path.realpath(self.path)

    def _folder_at(self, path: str) -> str:
        return self.dir_path(path)

    def dir_path(self, path: str | None = None) -> str:
        """The directory of the file system that holds ``path``.

        Parameters
        ----------
        path : str, optional
            A key or a prefix of keys; the root of the store when omitted.

        Returns
        -------
        str
            An absolute path, which need not exist.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import os, zarrix as zarr
        >>> store = zarr.DirectoryStore("data.zarr")
        >>> os.path.relpath(store.dir_path("group/array"))
        'data.zarr/group/array'
        """
        inside = self.engine_path(normalize_storage_path(path))
        return os.path.join(self.path, inside) if inside else self.path

    async def move(self, dest_root: str | os.PathLike[str]) -> None:
        """Move the directory, and go on with it at its new path, as in zarr-python 3.

        Arrays and groups that were opened with this store follow it.

        Parameters
        ----------
        dest_root : str or Path
            The new path; missing directories above are created.

        Raises
        ------
        FileExistsError
            Something is there.
        OverlapError
            It lies in the directory.
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import LocalStore
        >>> store = LocalStore("before.zarr")
        >>> z = zarr.array([1, 2], store=store)
        >>> asyncio.run(store.move("after.zarr"))
        >>> store.root.name, z[:]
        ('after.zarr', array([1, 2]))
        """
        self._forbid_changes()
        dest = os.path.abspath(os.fsdecode(dest_root))
        if os.path.lexists(dest):
            raise FileExistsError(
                f"Destination root {dest} already exists, so {self.path!r} cannot be moved there"
            )
        refuse_overlap("move", dest, [(self, "")])
        # Import time: few stores are moved.
        import asyncio

        await asyncio.to_thread(_move, self.path, dest)
        self.__dict__["path"] = dest
        self.__dict__.pop("_engine", None)
        self._has_moved = True

    def listdir(self, path: str | None = None) -> list[str]:
        """The names directly below ``path``, sorted; nested chunks are listed by their whole keys.

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
        >>> store = zarr.NestedDirectoryStore("nested.zarr")
        >>> z = zarr.array([[1, 2], [3, 4]], chunks=(1, 2), store=store)
        >>> store.listdir()
        ['.zarray', '0/0', '1/0']
        """
        names = super().listdir(path)
        if self._dimension_separator != "/" or ZARRAY not in names:
            return names
        prefix = self.engine_path(normalize_storage_path(path))
        start = len(prefix) + 1 if prefix else 0
        keys = [key[start:] for key in self._engine.list_prefix(prefix)]
        chunks = {key for key in keys if key.split("/", 1)[0].isdecimal()}
        return sorted(chunks | {name for name in names if not name.isdecimal()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalStore):
            return NotImplemented
        return self.path == other.path and self.normalize_keys == other.normalize_keys

    def _url(self) -> str:
        return f"file://{self.root.as_posix()}"

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__} {self.path!r}>"


class DirectoryStore(LocalStore):
    """A `LocalStore` under the constructor of zarr 2.18.

    Parameters
    ----------
    path : str or Path
        The directory; it is created by the first write.
    normalize_keys : bool
        Convert all keys to lower case, for case-insensitive file systems.
    dimension_separator : {".", "/"}, optional
        Default separator in the chunk keys of arrays created here.

    Raises
    ------
    FSPathExistNotDir
        ``path`` exists and is a file.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.DirectoryStore("data.zarr")
    >>> store["x/.zattrs"] = b"{}"
    >>> list(store), zarr.DirectoryStore("data.zarr") == store
    (['x/.zattrs'], True)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
    ) -> None:
        self._set_path(path)
        if normalize_keys:
            self.normalize_keys = True
        if dimension_separator is not None:
            self._dimension_separator = normalize_dimension_separator(dimension_separator)


class NestedDirectoryStore(DirectoryStore):
    """A `DirectoryStore` whose arrays have their chunks in nested directories, ``0/0`` for ``0.0``.

    Parameters
    ----------
    path : str or Path
        The directory; it is created by the first write.
    normalize_keys : bool
        Convert all keys to lower case.
    dimension_separator : "/"
        Nothing else is allowed.

    Raises
    ------
    FSPathExistNotDir
        ``path`` exists and is a file.
    ValueError
        ``dimension_separator`` is something else.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.NestedDirectoryStore("nested.zarr")
    >>> z = zarr.array([[1, 2], [3, 4]], chunks=(1, 1), store=store)
    >>> sorted(key for key in store if not key.startswith("."))
    ['0/0', '0/1', '1/0', '1/1']
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
    suffix, prefix : str
        Parts of the name of the directory, as in ``tempfile.mkdtemp``.
    dir : str, optional
        Where the directory is made; the system's temporary directory when omitted.
    normalize_keys : bool
        Convert all keys to lower case.
    dimension_separator : {".", "/"}, optional
        Default separator in the chunk keys of arrays created here.

    Raises
    ------
    OSError
        The directory cannot be made.

    Examples
    --------
    >>> import os, zarrix as zarr
    >>> store = zarr.TempStore(suffix=".zarr")
    >>> os.path.isdir(store.path), store.path.endswith(".zarr")
    (True, True)
    """

    def __init__(
        self,
        suffix: str = "",
        prefix: str = "zarr",
        dir: str | None = None,
        normalize_keys: bool = False,
        dimension_separator: str | None = None,
    ) -> None:
        # Import time.
        import tempfile

        path = tempfile.mkdtemp(suffix=suffix, prefix=prefix, dir=dir)
        atexit.register(_remove_own_tree, path, os.getpid())
        super().__init__(path, normalize_keys, dimension_separator)


def _move(source: str, dest: str) -> None:
    # Import time.
    import shutil

    os.makedirs(os.path.dirname(dest), exist_ok=True)
    shutil.move(source, dest)


def _remove_own_tree(path: str, owner: int) -> None:
    # A forked child runs this, too, if it exits normally; the directory still belongs to its
    # parent.
    if os.getpid() == owner:
        # Import time.
        import shutil

        shutil.rmtree(path, ignore_errors=True)


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> DirectoryStore | None:
    """The store of a ``file://`` URL; None with storage options, which fsspec supports."""
    return None if storage_options else DirectoryStore(url.partition("://")[2])


for _class in (DirectoryStore, LocalStore, NestedDirectoryStore, TempStore):
    # Printed as in 2.18 ("Store type : zarrix.storage.DirectoryStore"), and pickled so.
    _class.__module__ = "zarrix.storage"
del _class
