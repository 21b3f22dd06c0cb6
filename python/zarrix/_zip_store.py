"""Values in a zip archive, under the constructors of zarr 2.18 and of zarr-python 3.

The engine has the archive; here is what a user passes, and what a user is told.
"""

from __future__ import annotations

import os
import warnings

from zarrix._engine import ZipStore as Archive
from zarrix._store import EngineStore
from zarrix.util import normalize_dimension_separator

__all__ = ["ZipStore"]


class ZipStore(EngineStore):
    """Keys as members of a zip archive.

    Any number of threads and processes may read it at once, forked ones too, in one call each: the
    directory is read once, by the engine. Parts of members that are not compressed are read in
    place. Every value that is read whole is checked against its CRC-32.

    Parameters
    ----------
    path : str or Path
        The archive.
    compression, allowZip64
        As in ``zipfile``, for writing.
    mode : {"a", "r"}
        Both read what is there.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    read_only : bool, optional
        Refuse changes; as ``mode`` says when omitted.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    CorruptStoreError
        The file is no zip archive, or its directory is damaged.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.storage.ZipStore("missing.zip", mode="r")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: '...missing.zip'
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
    ) -> None:
        self.path = os.path.abspath(os.fsdecode(path))
        self.compression = compression
        self.allowZip64 = allowZip64
        self.mode = mode
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        self._writeable = False
        self._tell()

    def _open(self) -> Archive:
        return Archive(self.path)

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZipStore):
            return NotImplemented
        return self.path == other.path

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<zarrix.storage.ZipStore {self.path!r}>"


ZipStore.__module__ = "zarrix.storage"
