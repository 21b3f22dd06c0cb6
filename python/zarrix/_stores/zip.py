"""Values in a zip archive, under the constructors of zarr 2.18 and of zarr-python 3.

The engine reads and writes the archive. This module has the constructors, the warnings and the
messages.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import warnings
import weakref
from typing import IO, TYPE_CHECKING, Any

from zarrix._engine import ZipStore as Archive
from zarrix._errors import MetadataError, shorten
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.keys import ZARR_JSON
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.path import normalize_dimension_separator
from zarrix._stores.sites import Site, of_file

if TYPE_CHECKING:
    import zipfile

__all__ = ["ZipStore", "of_path"]

# Archives that are open when the interpreter exits; others are written when they are collected.
_open_stores: weakref.WeakValueDictionary[int, ZipStore] = weakref.WeakValueDictionary()

_STARTS = {"r": "extend", "a": "extend", "w": "replace", "x": "create"}


class ZipStore(EngineStore):
    """Keys as members of a zip archive.

    Any number of threads and processes may read it at once, forked ones too. One process at a time
    writes, with any number of threads. Its own handles see the changes at once; others see them
    after `flush` or `close`, or when the last handle is gone. If the process is killed, the archive
    has its state at the last of these points. Every value that is read completely is checked
    against its CRC-32. Parts of members that are not compressed are read in place.

    A value that is written again is appended, and the space of the old value is lost until `pack`.
    Therefore write complete chunks, once.

    Parameters
    ----------
    path : str, Path or file object
        The archive. One in an open file is read and written by Python's ``zipfile``, and its
        members cannot be deleted.
    compression : int
        Method for new members: ``zipfile.ZIP_STORED``, ``ZIP_DEFLATED``, ``ZIP_BZIP2``,
        ``ZIP_LZMA``. Chunks are already compressed by their codecs.
    allowZip64 : bool
        Whether the archive may need the extensions for more than 4 GiB or 65,534 members.
    mode : {"a", "r", "w", "x"}
        ``"r"`` reads, ``"a"`` reads and writes and creates a missing file, ``"w"`` replaces an
        existing archive when the new one is complete, ``"x"`` raises an error if the file exists.
        When omitted, ``"a"`` for a path and ``"r"`` for a file object.
    dimension_separator : {".", "/"}, optional
        Default separator in the chunk keys of arrays created here.
    read_only : bool, optional
        Make the store read-only; depends on ``mode`` when omitted.
    ozx : bool, optional
        Follow the recommendations for OME-Zarr in one file (RFC-9) on closing: metadata documents
        first, from the root down, a comment with the version, ZIP64. When omitted, the suffix
        ``.ozx`` of ``path`` turns it on.

    Raises
    ------
    FileNotFoundError
        The mode is ``"r"``, and the file does not exist.
    FileExistsError
        The mode is ``"x"``, and the file exists.
    CorruptStoreError
        The file is not a zip archive, or its directory is damaged.
    StoreBusyError
        Another process is writing to it: in modes ``"w"`` and ``"x"``, or at the first change.

    Examples
    --------
    >>> import zarrix as zarr
    >>> path = zarr.TempStore().path + "/example.zip"
    >>> with zarr.ZipStore(path, mode="w") as store:
    ...     zarr.save_array(store, [1, 2, 3])
    >>> zarr.open(path, mode="r")[:]
    array([1, 2, 3])
    """

    _engine: Archive

    _opened_with = frozenset({"path", "mode", "compression"})
    _default_mode = "a"
    path: Any

    def __init__(
        self,
        path: str | os.PathLike[str] | IO[bytes],
        compression: int = 0,
        allowZip64: bool = True,  # noqa: N803
        mode: str | None = None,
        dimension_separator: str | None = None,
        *,
        read_only: bool | None = None,
        ozx: bool | None = None,
    ) -> None:
        if _is_file_object(path) and type(self) is ZipStore:
            self.__class__ = ZipFileStore
        mode = self._default_mode if mode is None else mode
        if mode not in _STARTS:
            raise ValueError(f"mode is 'a', 'r', 'w' or 'x', not {mode!r}")
        if read_only and mode in ("w", "x"):
            raise ValueError(f"mode {mode!r} writes, read_only=True forbids it")
        self.compression = compression
        self.allowZip64 = allowZip64
        self.mode = mode
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        self._writeable = mode != "r" and not read_only
        self._set_archive(path, ozx)

    def _set_archive(self, path: Any, ozx: bool | None) -> None:
        self.path = os.path.abspath(os.fsdecode(path))
        self._ozx = self.path.endswith(".ozx") if ozx is None else bool(ozx)
        self._tell()

    def _open_engine(self) -> Archive:
        if not self._writeable:
            return Archive(self.path)
        _open_stores[id(self)] = self
        start = _STARTS[self.mode]
        return Archive(self.path, start, method=self.compression, allows_zip64=self.allowZip64)

    def _sites(self, path: str) -> list[Site]:
        return of_file(self.path, path)

    def _tell(self) -> None:
        """Warn of unusual conditions."""
        if self._engine.recovered:
            warnings.warn(
                f"{self.path!r} ends in an unfinished write; the content before that write is used",
                RuntimeWarning,
                stacklevel=3,
            )
        count, names = self._engine.refused
        if count:
            listed = ", ".join(map(repr, names)) + (", ..." if count > len(names) else "")
            warnings.warn(
                f"{self.path!r}: {count} members are left out, because their names are not "
                f"valid keys: {listed}",
                RuntimeWarning,
                stacklevel=3,
            )

    def flush(self) -> None:
        """Make changes visible to other handles; this store can still write.

        With ``durability="fsync"`` they then survive a loss of power.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.ZipStore("a.zip", mode="w")
        >>> store["a"] = b"1"
        >>> store.flush()
        >>> zarr.ZipStore("a.zip", mode="r")["a"]
        b'1'
        >>> store.close()
        """
        if self._ozx:
            self._engine.finish(self._comment(), fsync=self.syncs)
        self._engine.flush(fsync=self.syncs)

    def close(self) -> None:
        """Write the directory of the archive, as `flush` does, and let other processes write.

        Writing afterwards is an error; reading is not. Closing again does nothing.

        Examples
        --------
        >>> import zipfile, zarrix as zarr
        >>> store = zarr.ZipStore("a.zip", mode="w")
        >>> store["a/b"] = b"1"
        >>> store.close()
        >>> zipfile.ZipFile("a.zip").namelist()
        ['a/b']
        """
        self.flush()
        self._engine.close(fsync=self.syncs)
        _open_stores.pop(id(self), None)
        super().close()

    async def move(self, path: str | os.PathLike[str]) -> None:
        """Write the archive, move the file, and go on with it at its new path.

        Arrays and groups that are open can be read; open them again to write to them.

        Parameters
        ----------
        path : str or Path
            The new path; missing directories above are created.

        Raises
        ------
        FileExistsError
            Something is there.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> store = zarr.ZipStore("before.zip", mode="w")
        >>> store["a"] = b"1"
        >>> asyncio.run(store.move("after.zip"))
        >>> store["b"] = b"2"
        >>> store.close()
        >>> sorted(zarr.ZipStore("after.zip", mode="r"))
        ['a', 'b']
        """
        target = os.path.abspath(os.fsdecode(path))
        if os.path.lexists(target):
            raise FileExistsError(f"{target!r} exists, so {self.path!r} cannot be moved there")
        self.close()
        # Import time: asyncio, which a program that awaits has imported.
        import asyncio

        await asyncio.to_thread(_move, self.path, target)
        self.__dict__.pop("_engine", None)
        self.__dict__.update(path=target, mode="r" if self.mode == "r" else "a")
        self._has_moved = True

    def _get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """`get_sync`, by the name in zarr-python's subclasses."""
        return self.get_sync(key, prototype=prototype, byte_range=byte_range)

    def _set(self, key: str, value: Any) -> None:
        """`set_sync`, by the name in zarr-python's subclasses."""
        self.set_sync(key, value)

    @property
    def zf(self) -> zipfile.ZipFile:
        """The archive as it is now, opened for reading with Python's `zipfile`.

        Each access opens it again. The caller closes it.

        Raises
        ------
        ValueError
            The store is closed.
        """
        # Import time: few programs look into an archive themselves.
        import zipfile

        if self._writeable:
            if id(self) not in _open_stores:
                raise ValueError(f"{self!r} is closed")
            self.flush()
        return zipfile.ZipFile(self.path)

    def _comment(self) -> bytes:
        """The comment of an archive according to RFC-9."""
        attributes = self._root_members().get("attributes")
        ome = attributes.get("ome", {}) if isinstance(attributes, dict) else {}
        version = ome.get("version", "0.5") if isinstance(ome, dict) else "0.5"
        told = {"version": version, "zipFile": {"centralDirectory": {"jsonFirst": True}}}
        return json.dumps({"ome": told}).encode()

    def _root_members(self) -> dict[str, Any]:
        """The v3 metadata of the root; empty if there is none."""
        try:
            members = json.loads(self._value(ZARR_JSON, b"{}"))
        except RecursionError:
            raise MetadataError(f"{ZARR_JSON}: the JSON is nested too deep") from None
        except ValueError as error:
            raise MetadataError(f"{ZARR_JSON}: not JSON ({error})") from None
        if not isinstance(members, dict):
            raise MetadataError(f"{ZARR_JSON}: is {shorten(members)}; expected a JSON object")
        return members

    def pack(self) -> int:
        """Rewrite the archive without the space of replaced and deleted values.

        The new archive replaces the old one when it is complete. The metadata comes first, so that
        a remote reader gets it by one request.

        Returns
        -------
        int
            The number of bytes saved.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.ZipStore("a.zip", mode="w")
        >>> for version in range(3):
        ...     store["a"] = bytes(1000)
        >>> store.pack() > 2000
        True
        >>> store.close()
        """
        self._forbid_changes()
        return self._engine.pack(fsync=self.syncs)

    def __getstate__(self) -> Any:
        # Flushed, so that the process that unpickles it sees the changes.
        self.flush()
        state = super().__getstate__()
        return {**state, "mode": "r" if self.mode == "r" else "a"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZipStore):
            return NotImplemented
        return bool(self.path == other.path)

    def _url(self) -> str:
        return f"zip://{self.path}"

    def __repr__(self) -> str:
        return f"<zarrix.storage.ZipStore {self.path!r}>"


class ZipFileStore(ZipStore):
    """A `ZipStore` of an open file object, which `ZipStore` makes of one.

    Parameters
    ----------
    path : file object
    *args, **kwargs
        Those of `ZipStore`.

    Raises
    ------
    TypeError
        The mode writes, and the file object does not.
    zipfile.BadZipFile
        On use, if it is not a zip archive.

    Examples
    --------
    >>> import io, zarrix as zarr
    >>> file = io.BytesIO()
    >>> with zarr.ZipStore(file, mode="w") as store:
    ...     store["a"] = b"1"
    >>> list(zarr.ZipStore(file))
    ['a']
    """

    _default_mode = "r"
    _erasable = False

    def _set_archive(self, path: Any, ozx: bool | None) -> None:
        if ozx:
            raise ValueError("ozx=True needs the path of the archive, not a file object")
        # Import time: zipfile, which few programs need.
        from zarrix._stores.zip_file import ZipMembers

        self.path, self._file = None, path
        self._members = ZipMembers(path, self.mode, self.compression, self.allowZip64)

    def _open_engine(self) -> Any:
        return engine_of(self._members, f"file object {id(self._file):#x}")

    def _sites(self, path: str) -> list[Site]:
        return of_object(self._file, path)

    def flush(self) -> None:
        self._members.close()

    def close(self) -> None:
        self.flush()
        self._is_open = False

    def pack(self) -> int:
        raise io.UnsupportedOperation("pack() needs the path of the archive, not a file object")

    async def move(self, path: str | os.PathLike[str]) -> None:
        raise NotImplementedError("move() needs the path of the archive, not a file-like object")

    @property
    def zf(self) -> zipfile.ZipFile:
        return self._members.archive()

    def __getstate__(self) -> Any:
        raise TypeError("cannot pickle a ZipStore backed by a file-like object: give the path")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ZipFileStore) and bool(self._file is other._file)

    def _url(self) -> str:
        return f"zip://{self._file!r}"

    def __repr__(self) -> str:
        return f"<zarrix.storage.ZipStore of {self._file!r}>"


def _is_file_object(value: Any) -> bool:
    names = ("read", "seek", "tell")
    return not isinstance(value, str) and all(callable(getattr(value, one, None)) for one in names)


def _move(source: str, target: str) -> None:
    # Import time.
    import shutil

    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.move(source, target)


def of_path(path: str, storage_options: object = None) -> ZipStore | None:
    """The store of a local archive; None if ``path`` is a directory."""
    return None if os.path.isdir(path) else ZipStore(path)


@atexit.register
def _close_all() -> None:
    for store in list(_open_stores.values()):
        store.close()


ZipStore.__module__ = "zarrix.storage"
