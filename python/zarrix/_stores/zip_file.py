"""The members of a zip archive in an open file object, as a mapping.

The engine reads archives of this machine and of servers itself. This is for the others: a file of
fsspec, a reader of obstore, bytes in memory.
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator, MutableMapping
from typing import Any

__all__ = ["ZipMembers"]


class ZipMembers(MutableMapping[str, bytes]):
    """Values by the names of members. Any number of threads may use it.

    Parameters
    ----------
    file : file object
        Binary, with ``read``, ``seek`` and ``tell``; with ``write``, too, for every mode but "r".
    mode : {"r", "a", "w", "x"}
    compression : int
        Method for new members.
    allows_zip64 : bool
    """

    def __init__(self, file: Any, mode: str, compression: int, allows_zip64: bool) -> None:
        if not isinstance(file, io.IOBase):
            if mode != "r":
                raise TypeError(
                    f"a {type(file).__name__} can only be opened for reading, so mode={mode!r} "
                    "needs a file object of io"
                )
            file = io.BufferedReader(_Reader(file))
        self._mutex = threading.RLock()
        self._file, self._mode = file, mode
        self._options: dict[str, Any] = {"compression": compression, "allowZip64": allows_zip64}
        self._zip: zipfile.ZipFile | None = None
        # In mode "w" or "x", the archive is new once only.
        self._was_written = False

    def archive(self) -> zipfile.ZipFile:
        """The open archive."""
        with self._mutex:
            if self._zip is None:
                mode = "a" if self._was_written else self._mode
                if mode == "a" and not (self._file.readable() and self._file.seekable()):
                    raise io.UnsupportedOperation(
                        "a file object whose archive was closed has to be readable and seekable "
                        "to write more to it"
                    )
                kind: Any = zipfile.ZipFile
                self._zip = kind(self._file, mode, **self._options)
                self._was_written = mode != "r"
            return self._zip

    def close(self) -> None:
        """Write the directory of the archive; the next call opens it again."""
        with self._mutex:
            archive, self._zip = self._zip, None
            if archive is not None:
                archive.close()
            elif self._mode in ("w", "x") and not self._was_written:
                self.archive().close()
                self._zip = None

    def __getitem__(self, key: str) -> bytes:
        with self._mutex:
            return self.archive().read(key)

    def __setitem__(self, key: str, value: Any) -> None:
        with self._mutex:
            archive, data = self.archive(), bytes(value)
            info = zipfile.ZipInfo(key, (1980, 1, 1, 0, 0, 0))
            info.compress_type = archive.compression
            info.external_attr = 0o644 << 16
            # Its entry in the directory is replaced; zipfile would warn of a second one.
            old = archive.NameToInfo.pop(key, None)
            if old is not None:
                archive.filelist.remove(old)
            archive.writestr(info, data)

    def __delitem__(self, key: str) -> None:
        with self._mutex:
            archive = self.archive()
            if key not in archive.NameToInfo:
                raise KeyError(key)
            raise io.UnsupportedOperation(
                f"{key!r} cannot be deleted from an archive in a file object: give the path"
            )

    def __contains__(self, key: object) -> bool:
        with self._mutex:
            return key in self.archive().NameToInfo

    def __iter__(self) -> Iterator[str]:
        with self._mutex:
            names = [name for name in self.archive().NameToInfo if not name.endswith("/")]
        return iter(names)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Reader(io.RawIOBase):
    """An object that only reads, whose bytes may be another buffer."""

    def __init__(self, file: Any) -> None:
        self._inner = file
        at = file.tell()
        file.seek(0, io.SEEK_END)
        self._length = int(file.tell())
        file.seek(at)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = 0, /) -> int:
        start = {0: 0, 1: self.tell(), 2: self._length}[whence]
        self._inner.seek(start + position)
        return self.tell()

    def tell(self) -> int:
        return int(self._inner.tell())

    def readinto(self, buffer: Any, /) -> int:
        # Some readers raise where fewer bytes are left.
        wanted = min(len(buffer), max(0, self._length - self.tell()))
        data = bytes(self._inner.read(wanted)) if wanted else b""
        buffer[: len(data)] = data
        return len(data)
