"""Values in a zip archive, under the constructors of zarr 2.18 and of zarr-python 3.

The engine has the archive; here is what a user passes, and what a user is told.
"""

from __future__ import annotations

import atexit
import json
import os
import warnings
import weakref
from typing import Any

from zarrix._engine import ZipStore as Archive
from zarrix._errors import MetadataError, shorten
from zarrix._stores.base import EngineStore
from zarrix._stores.keys import ZARR_JSON
from zarrix._stores.path import normalize_dimension_separator

__all__ = ["ZipStore", "of_path"]

# What is still open when the interpreter ends; what is collected before is written then.
_open_stores: weakref.WeakValueDictionary[int, ZipStore] = weakref.WeakValueDictionary()

_STARTS = {"r": "extend", "a": "extend", "w": "replace", "x": "create"}


class ZipStore(EngineStore):
    """Keys as members of a zip archive.

    Any number of threads and processes may read it at once, forked ones too. One process at a time
    writes, with any number of threads; what it wrote is seen by its own handles at once, and by
    others after `flush` or `close`, or when the last handle is gone. Whatever is killed when, the
    archive is what it was at the last of these. Every value that is read whole is checked against
    its CRC-32; of members that are not compressed, parts are read in place.

    A value that is written again is added, and the space of the old one is lost until `pack`: write
    whole chunks, once.

    Parameters
    ----------
    path : str or Path
        The archive.
    compression : int
        Of what is written: ``zipfile.ZIP_STORED``, ``ZIP_DEFLATED``, ``ZIP_BZIP2``, ``ZIP_LZMA``.
        Chunks are compressed already.
    allowZip64 : bool
        Whether the archive may need the extensions for more than 4 GiB or 65,534 members.
    mode : {"a", "r", "w", "x"}
        ``"r"`` reads, ``"a"`` reads and writes and needs no file to be there, ``"w"`` replaces what
        is there once the new archive is complete, ``"x"`` fails if something is there.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    read_only : bool, optional
        Refuse changes; as ``mode`` says when omitted.
    ozx : bool, optional
        Follow the recommendations for OME-Zarr in one file (RFC-9) on closing: documents first,
        from the root down, a comment with the version, ZIP64. As the suffix ``.ozx`` of ``path``
        says when omitted.

    Raises
    ------
    FileNotFoundError
        Mode ``"r"``, and there is no such file.
    FileExistsError
        Mode ``"x"``, and there is one.
    CorruptStoreError
        The file is no zip archive, or its directory is damaged.
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

    def __init__(
        self,
        path: str | os.PathLike[str],
        compression: int = 0,
        allowZip64: bool = True,  # noqa: N803
        mode: str = "a",
        dimension_separator: str | None = None,
        *,
        read_only: bool | None = None,
        ozx: bool | None = None,
    ) -> None:
        if mode not in _STARTS:
            raise ValueError(f"mode is 'a', 'r', 'w' or 'x', not {mode!r}")
        if read_only and mode in ("w", "x"):
            raise ValueError(f"mode {mode!r} writes, read_only=True forbids it")
        self.path = os.path.abspath(os.fsdecode(path))
        self.compression = compression
        self.allowZip64 = allowZip64
        self.mode = mode
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        self._writeable = mode != "r" and not read_only
        self._ozx = self.path.endswith(".ozx") if ozx is None else bool(ozx)
        self._tell()

    def _open(self) -> Archive:
        if not self._writeable:
            return Archive(self.path)
        _open_stores[id(self)] = self
        start = _STARTS[self.mode]
        return Archive(self.path, start, method=self.compression, allows_zip64=self.allowZip64)

    def _tell(self) -> None:
        """Warn of what is out of the ordinary."""
        if self._engine.recovered:
            warnings.warn(
                f"{self.path!r} ends in a write that was not finished; what was there before it "
                "is used",
                RuntimeWarning,
                stacklevel=3,
            )
        count, names = self._engine.refused
        if count:
            listed = ", ".join(map(repr, names)) + (", ..." if count > len(names) else "")
            warnings.warn(
                f"{self.path!r}: {count} members are left out, whose names are no keys: {listed}",
                RuntimeWarning,
                stacklevel=3,
            )

    def flush(self) -> None:
        """Make what was written readable by others; this store goes on writing.

        With ``durability="fsync"`` it then survives the loss of power.

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

    def _comment(self) -> bytes:
        """What RFC-9 has an archive say of itself."""
        attributes = self._root_members().get("attributes")
        ome = attributes.get("ome", {}) if isinstance(attributes, dict) else {}
        version = ome.get("version", "0.5") if isinstance(ome, dict) else "0.5"
        told = {"version": version, "zipFile": {"centralDirectory": {"jsonFirst": True}}}
        return json.dumps({"ome": told}).encode()

    def _root_members(self) -> dict[str, Any]:
        """The metadata of the root in v3; empty where there is none."""
        try:
            members = json.loads(self.get(ZARR_JSON, b"{}"))
        except RecursionError:
            raise MetadataError(f"{ZARR_JSON}: the JSON is nested too deep") from None
        except ValueError as error:
            raise MetadataError(f"{ZARR_JSON}: not JSON ({error})") from None
        if not isinstance(members, dict):
            raise MetadataError(f"{ZARR_JSON}: is {shorten(members)}; expected a JSON object")
        return members

    def pack(self) -> int:
        """Rewrite the archive without the space of values that were replaced or deleted.

        The new archive replaces the old one when it is complete. It has the metadata first, so that
        a remote reader finds them in one request.

        Returns
        -------
        int
            How many bytes shorter the archive is.

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
        # Whoever opens it there finds what was written here.
        self.flush()
        state = super().__getstate__()
        return {**state, "mode": "r" if self.mode == "r" else "a"}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZipStore):
            return NotImplemented
        return self.path == other.path

    def __repr__(self) -> str:
        return f"<zarrix.storage.ZipStore {self.path!r}>"


def of_path(path: str, storage_options: object = None) -> ZipStore | None:
    """The store of an archive on this machine; None where ``path`` is a directory."""
    return None if os.path.isdir(path) else ZipStore(path)


@atexit.register
def _close_all() -> None:
    for store in list(_open_stores.values()):
        store.close()


ZipStore.__module__ = "zarrix.storage"
