"""Values in a database of the standard library's ``dbm`` family.

None of these formats supports several writers, and some do not support a reader next to a writer.
Therefore each call opens the database, under a lock that all processes share, and closes it again.
"""

from __future__ import annotations

import dbm
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from zarrix._runtime.system import NOT_INHERITED, lock_file, unlock_file
from zarrix._stores.database.base import DatabaseStore

__all__ = ["DBMStore"]


class DBMStore(DatabaseStore):
    """Keys in a database of ``dbm``: GNU dbm, ndbm, or the simple one that is always available.

    Any number of threads and processes may read and write through such stores, one at a time. The
    state after a killed writer depends on the kind of database. Each call opens the database, so
    that this store is for few keys, or for existing databases.

    Parameters
    ----------
    path : str or Path
        The database, as an argument of ``open``.
    flag : {"c", "r", "w", "n"}
        ``"r"`` reads, ``"w"`` opens an existing database, ``"c"`` creates a missing one, ``"n"``
        always creates a new one.
    mode : int
        Permissions of a new file.
    open : function, optional
        Opens the database, called with path, flag and mode; ``dbm.open`` when omitted.
    write_lock : bool
        Has no effect: writes are always one at a time.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    **open_kwargs
        For the function that opens the database.

    Raises
    ------
    ValueError
        ``flag`` is something else.
    dbm.error
        The database does not exist, or this Python cannot open its kind.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.DBMStore("values.dbm", flag="n") as store:
    ...     z = zarr.array(range(10), chunks=5, store=store)
    ...     sorted(store)
    ['.zarray', '0', '1']
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        flag: str = "c",
        mode: int = 0o666,
        open: Callable[..., Any] | None = None,
        write_lock: bool = True,
        dimension_separator: str | None = None,
        **open_kwargs: Any,
    ) -> None:
        if flag[:1] not in ("r", "w", "c", "n"):
            raise ValueError(f"flag is 'c', 'r', 'w' or 'n', not {flag!r}")
        self.flag = flag
        self.mode = mode
        self.open: Callable[..., Any] = open or dbm.open
        self.write_lock = write_lock
        self.open_kwargs = open_kwargs
        self._writeable = not flag.startswith("r")
        super().__init__(path, dimension_separator)
        with self._database():
            pass
        if flag.startswith("n"):
            self.flag = f"c{flag[1:]}"

    def _connect(self) -> int:
        os.makedirs(f"{self.path}.locks", exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | NOT_INHERITED
        return os.open(f"{self.path}.locks/database", flags, 0o666)

    def _disconnect(self, handle: int) -> None:
        os.close(handle)

    @contextmanager
    def _database(self) -> Iterator[Any]:
        """The open database, for this thread only."""
        with self._opened() as turn:
            lock_file(turn)
            try:
                database = self.open(self.path, self.flag, self.mode, **self.open_kwargs)
                try:
                    yield database
                finally:
                    database.close()
            finally:
                unlock_file(turn)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        with self._database() as database:
            return [_value(database, key) for key in keys]

    def _read(self, key: str) -> bytes | None:
        with self._database() as database:
            return _value(database, key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        with self._database() as database:
            database[key.encode()] = value

    def _drop(self, key: str, fsync: bool) -> bool:
        with self._database() as database:
            try:
                del database[key.encode()]
            except KeyError:
                return False
            return True

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/" if prefix else ""
        with self._database() as database:
            keys = [os.fsdecode(key) for key in database.keys()]  # noqa: SIM118  no iterator
        return [key for key in keys if key.startswith(start)]


def _value(database: Any, key: str) -> bytes | None:
    try:
        return bytes(database[key.encode()])
    except KeyError:
        return None


DBMStore.__module__ = "zarrix.storage"
