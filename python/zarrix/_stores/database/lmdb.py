"""Values in an LMDB environment, as zarr 2.18 stores them.

An environment must be opened only once in a process: stores of one path share it.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from zarrix._stores.database.base import DatabaseStore

__all__ = ["LMDBStore"]

# By path, in this process: the environment, and the number of stores that use it.
_open: dict[tuple[int, str], list[Any]] = {}
_open_lock = threading.Lock()


class LMDBStore(DatabaseStore):
    """Keys in an LMDB environment, a memory-mapped database.

    Values are replaced atomically. Any number of threads and processes may read and write, and
    writers of parts of one chunk lose no update.

    Parameters
    ----------
    path : str or Path
        The directory of the environment; the file, with ``subdir=False``.
    buffers : bool
        Has no effect: the engine gets bytes after the end of the transaction.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    **kwargs
        For ``lmdb.open``; ``map_size`` is its maximum size, 1 TiB when omitted.

    Raises
    ------
    ImportError
        lmdb is not installed.
    lmdb.Error
        The environment cannot be opened, or is full.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.LMDBStore("values.lmdb", map_size=2**24) as store:
    ...     z = zarr.zeros((4, 4), store=store, overwrite=True)
    ...     store.getsize(".zarray") > 100
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        buffers: bool = True,
        dimension_separator: str | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            # An optional package.
            import lmdb  # noqa: F401
        except ImportError:
            raise ImportError(
                "stores in LMDB need the package lmdb: pip install 'zarrix[lmdb]'"
            ) from None
        self.buffers = buffers
        room = 2**40 if sys.maxsize >= 2**32 else 2**28
        self.kwargs = {"map_size": room, "readahead": False, "meminit": False, **kwargs}
        self._writeable = not kwargs.get("readonly", False)
        super().__init__(path, dimension_separator)
        with self._opened():
            pass

    def _connect(self) -> Any:
        # An optional package.
        import lmdb

        opened_by = (os.getpid(), os.path.realpath(self.path))
        with _open_lock:
            for inherited in [one for one in _open if one[0] != opened_by[0]]:
                # lmdb detects the new process, and does not touch the parent's environment.
                _open.pop(inherited)[0].close()
            shared = _open.get(opened_by)
            if shared is None:
                shared = _open[opened_by] = [lmdb.open(self.path, **self.kwargs), 0]
            shared[1] += 1
            return shared[0]

    def _disconnect(self, handle: Any) -> None:
        opened_by = (os.getpid(), os.path.realpath(self.path))
        with _open_lock:
            shared = _open[opened_by]
            shared[1] -= 1
            if not shared[1]:
                del _open[opened_by]
                handle.close()

    def flush(self) -> None:
        """Sync the values to disk, which ``sync=False`` leaves to the system.

        Examples
        --------
        >>> import zarrix as zarr
        >>> with zarr.LMDBStore("values.lmdb") as store:
        ...     store["a"] = b"1"
        ...     store.flush()
        """
        with self._opened() as environment:
            environment.sync(True)

    def _read(self, key: str) -> bytes | None:
        with self._opened() as environment, environment.begin() as transaction:
            value: bytes | None = transaction.get(key.encode())
            return value

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        with self._opened() as environment, environment.begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    def _drop(self, key: str, fsync: bool) -> bool:
        with self._opened() as environment, environment.begin(write=True) as transaction:
            return bool(transaction.delete(key.encode()))

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/".encode() if prefix else b""
        found = []
        with self._opened() as environment, environment.begin() as transaction:
            cursor = transaction.cursor()
            more = cursor.set_range(start)
            while more and cursor.key().startswith(start):
                found.append(cursor.key().decode())
                more = cursor.next()
        return found

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        keys = self._list(prefix)
        with self._opened() as environment, environment.begin(write=True) as transaction:
            return sum(transaction.delete(key.encode()) for key in keys)

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        keys = [source, *self._list(source)]
        # One transaction, so that the move is atomic.
        with self._opened() as environment, environment.begin(write=True) as transaction:
            for key in keys:
                value = transaction.pop(key.encode())
                if value is not None:
                    transaction.put((target + key[len(source) :]).encode(), value)


LMDBStore.__module__ = "zarrix.storage"
