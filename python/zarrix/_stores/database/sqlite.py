"""Values in a SQLite database, in the table of zarr 2.18: each library reads the values of the
other.
"""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from zarrix._errors import CorruptStoreError
from zarrix._stores.database.base import DatabaseStore
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site

__all__ = ["SQLiteStore"]


class SQLiteStore(DatabaseStore):
    """Keys as rows of a SQLite database.

    Values are replaced atomically, even if the power fails. Any number of threads and processes may
    read and write, and writers of parts of one chunk lose no update.

    Parameters
    ----------
    path : str or Path
        The database file; ``":memory:"`` for one in the memory of this store.
    dimension_separator : {".", "/"}, optional
        Separator in the chunk keys of arrays created here, where they name none.
    **kwargs
        For ``sqlite3.connect``; ``timeout`` is for how many seconds a call waits for another
        process, 60 when omitted.

    Raises
    ------
    CorruptStoreError
        The file is not a SQLite database.
    sqlite3.OperationalError
        The file cannot be opened, or another process kept it locked for longer than ``timeout``.

    Examples
    --------
    >>> import zarrix as zarr
    >>> with zarr.SQLiteStore("values.sqlite") as store:
    ...     store["a/b"] = b"value"
    ...     store.listdir("a"), store.getsize("a")
    (['b'], 5)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dimension_separator: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.kwargs = {"timeout": 60.0, **kwargs}
        super().__init__(path, dimension_separator)
        if os.fspath(path) == ":memory:":
            self.path = ":memory:"
        self._with_handle(lambda connection: None)

    def _locks(self) -> str | None:
        return None if self.path == ":memory:" else super()._locks()

    def _sites(self, path: str) -> list[Site]:
        return PythonStore._sites(self, path) if self.path == ":memory:" else super()._sites(path)

    def _connect(self) -> sqlite3.Connection:
        if self.path == ":memory:" and self._inherited:
            raise RuntimeError("a database in memory stays with the process that made it")
        # Every statement is one transaction; our lock is for the threads.
        options = {"isolation_level": None, "check_same_thread": False, **self.kwargs}
        try:
            connection: sqlite3.Connection = sqlite3.connect(self.path, **options)
        except sqlite3.OperationalError as error:
            # SQLite's error does not say which file, and whether its folder exists.
            os.stat(os.path.dirname(self.path))
            raise OSError(f"{self.path!r}: {error}") from error
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS zarr(k TEXT PRIMARY KEY, v BLOB)")
        except BaseException as error:
            connection.close()
            if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
                raise CorruptStoreError(f"{self.path!r}: {error}") from error
            raise
        return connection

    def _disconnect(self, handle: sqlite3.Connection) -> None:
        handle.close()

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        found: list[Any] = self._with_handle(
            lambda connection: connection.execute(statement, values).fetchall()
        )
        return found

    def _count(self, statement: str, *values: Any) -> int:
        changed: int = self._with_handle(
            lambda connection: connection.execute(statement, values).rowcount
        )
        return changed

    def _read(self, key: str) -> bytes | None:
        rows = self._rows("SELECT v FROM zarr WHERE k = ?", key)
        return bytes(rows[0][0]) if rows else None

    def _size(self, key: str) -> int | None:
        rows = self._rows("SELECT length(v) FROM zarr WHERE k = ?", key)
        return rows[0][0] if rows else None

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._count("REPLACE INTO zarr VALUES (?, ?)", key, value)

    def _drop(self, key: str, fsync: bool) -> bool:
        return self._count("DELETE FROM zarr WHERE k = ?", key) > 0

    def _list(self, prefix: str) -> list[str]:
        if not prefix:
            return [row[0] for row in self._rows("SELECT k FROM zarr")]
        return [row[0] for row in self._rows(f"SELECT k FROM zarr WHERE {_BELOW}", *_below(prefix))]

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        if not prefix:
            return self._count("DELETE FROM zarr")
        return self._count(f"DELETE FROM zarr WHERE {_BELOW}", *_below(prefix))

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        # Atomic, because SQLite undoes an unfinished statement.
        self._count(
            f"UPDATE OR REPLACE zarr SET k = ? || substr(k, ?) WHERE k = ? OR ({_BELOW})",
            target,
            len(source) + 1,
            source,
            *_below(source),
        )


# A range of the key index: "0" is the character after "/".
_BELOW = "k >= ? AND k < ?"


def _below(prefix: str) -> tuple[str, str]:
    return f"{prefix}/", f"{prefix}0"


SQLiteStore.__module__ = "zarrix.storage"
