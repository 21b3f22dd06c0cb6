"""Values in a database of the standard library's ``dbm`` family.

None of these formats supports several writers, and some do not support a reader next to a writer.
Therefore each call opens the database, under a lock that all processes share, and closes it again.
"""

from __future__ import annotations

import dbm
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from zarrix._runtime.system import NOT_INHERITED, lock_file, unlock_file
from zarrix._runtime.wake import without_signals
from zarrix._stores.database.base import DatabaseStore

__all__ = ["DBMStore"]

T = TypeVar("T")


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
        self._with_handle(lambda database: None)
        if flag.startswith("n"):
            self.flag = f"c{flag[1:]}"

    def _connect(self) -> int:
        os.makedirs(f"{self.path}.locks", exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | NOT_INHERITED
        return os.open(f"{self.path}.locks/database", flags, 0o666)

    def _disconnect(self, handle: int) -> None:
        os.close(handle)

    def _with_handle(self, function: Callable[[Any], T]) -> T:
        """What a function of the open database returns; no other process has it open meanwhile."""

        def call() -> T:
            database = self.open(self.path, self.flag, self.mode, **self.open_kwargs)
            try:
                return function(database)
            finally:
                database.close()

        def take_turn(turn: int) -> T:
            try:
                lock_file(turn)
                # Ctrl-C within `dbm.dumb` would lose the index of all values.
                return without_signals(call)
            finally:
                try:
                    unlock_file(turn)
                except BaseException:
                    # Ctrl-C: other processes would wait until the next call.
                    unlock_file(turn)
                    raise

        return super()._with_handle(take_turn)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        return self._with_handle(lambda database: [_value(database, key) for key in keys])

    def _read(self, key: str) -> bytes | None:
        return self._with_handle(lambda database: _value(database, key))

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._with_handle(lambda database: database.__setitem__(key.encode(), value))

    def _drop(self, key: str, fsync: bool) -> bool:
        try:
            self._with_handle(lambda database: database.__delitem__(key.encode()))
        except KeyError:
            return False
        return True

    def _list(self, prefix: str) -> list[str]:
        start = f"{prefix}/" if prefix else ""
        found = self._with_handle(lambda database: [*database.keys()])
        return [key for key in map(os.fsdecode, found) if key.startswith(start)]


def _value(database: Any, key: str) -> bytes | None:
    try:
        return bytes(database[key.encode()])
    except KeyError:
        return None


DBMStore.__module__ = "zarrix.storage"
