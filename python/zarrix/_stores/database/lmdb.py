"""Values in an LMDB environment, as zarr 2.18 stores them.

An environment must be opened only once in a process: stores of one path share it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from zarrix._stores.database.base import DatabaseStore

__all__ = ["LMDBStore"]

T = TypeVar("T")

# By path, in this process: the environment, and the number of stores that use it.
_open: dict[tuple[int, str], list[Any]] = {}
# Reentrant, because garbage collection in any of the calls below may close another store.
_open_lock = threading.RLock()


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
        self._with_handle(lambda environment: None)

    def _files(self) -> tuple[str, ...]:
        is_directory = self.kwargs.get("subdir", True)
        return (os.path.join(self.path, "data.mdb") if is_directory else self.path,)

    def _connect(self) -> Any:
        # An optional package.
        import lmdb

        opened_by = (os.getpid(), os.path.realpath(self.path))
        with _open_lock:
            for inherited in [one for one in tuple(_open) if one[0] != opened_by[0]]:
                # lmdb detects the new process, and does not touch the parent's environment.
                _open.pop(inherited)[0].close()
            # No call between the look and the count, so that the last store of the environment does
            # not close it in between.
            if opened_by in _open:
                shared = _open[opened_by]
                shared[1] += 1
                return shared[0]
            environment = lmdb.open(self.path, **self.kwargs)
            _open[opened_by] = [environment, 1]
            return environment

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
        self._with_handle(lambda environment: environment.sync(True))

    def _transact(self, function: Callable[[Any], T], *, write: bool) -> T:
        """What a function of a transaction returns, which is committed unless there is an error."""

        def call(environment: Any) -> T:
            with environment.begin(write=write) as transaction:
                return function(transaction)

        return self._with_handle(call)

    def _read(self, key: str) -> bytes | None:
        value: bytes | None = self._transact(
            lambda transaction: transaction.get(key.encode()), write=False
        )
        return value

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._transact(lambda transaction: transaction.put(key.encode(), value), write=True)

    def _drop(self, key: str, fsync: bool) -> bool:
        return bool(
            self._transact(lambda transaction: transaction.delete(key.encode()), write=True)
        )

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/".encode() if prefix else b""

        def keys(transaction: Any) -> list[str]:
            found = []
            cursor = transaction.cursor()
            more = cursor.set_range(start)
            while more and cursor.key().startswith(start):
                found.append(cursor.key().decode())
                more = cursor.next()
            return found

        return self._transact(keys, write=False)

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        keys = [key.encode() for key in self._list(prefix)]
        deleted = self._transact(
            lambda transaction: [transaction.delete(key) for key in keys], write=True
        )
        return sum(deleted)

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        keys = [source, *self._list(source)]

        def rename(transaction: Any) -> None:
            for key in keys:
                value = transaction.pop(key.encode())
                if value is not None:
                    transaction.put((target + key[len(source) :]).encode(), value)

        # One transaction, so that the move is atomic.
        self._transact(rename, write=True)


LMDBStore.__module__ = "zarrix.storage"
