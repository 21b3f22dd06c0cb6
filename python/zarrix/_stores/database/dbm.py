"""Values in a database of the standard library's ``dbm`` family.

None of these formats is made for several writers, and some not for a reader beside one: so each
call opens the database, under a lock that all processes share, and closes it again.
"""

from __future__ import annotations

import dbm
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from zarrix._stores.database.base import DatabaseStore

__all__ = ["DBMStore"]


class DBMStore(DatabaseStore):
    """Keys in a database of ``dbm``: GNU dbm, ndbm, or the simple one that is always there.

    Any number of threads and processes may read and write through such stores; one at a time does.
    What a killed writer leaves is up to the kind of database. Each call opens the database, so this
    is for few keys, or for what has such a database already.

    Parameters
    ----------
    path : str or Path
        The database, as the function that opens it takes it.
    flag : {"c", "r", "w", "n"}
        ``"r"`` reads, ``"w"`` needs a database to be there, ``"c"`` makes one, ``"n"`` a new one.
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
        There is no such database, or it is of a kind that this Python cannot open.

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
        return os.open(f"{self.path}.locks/database", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def _disconnect(self, handle: int) -> None:
        os.close(handle)

    @contextmanager
    def _database(self) -> Iterator[Any]:
        """The open database, for this thread of this process alone."""
        with self._opened() as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            try:
                database = self.open(self.path, self.flag, self.mode, **self.open_kwargs)
                try:
                    yield database
                finally:
                    database.close()
            finally:
                fcntl.flock(turn, fcntl.LOCK_UN)

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
