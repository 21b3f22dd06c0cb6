"""The ledger of two places: which version of a value of the one is which version in the other.

It only saves work. A row holds as long as both tags are those that the listings have now, so that a
ledger that is lost, old, or of two other places changes no result. It is a database of SQLite in
the user's cache folder, because rows come in another order than that of their keys, and a kill at
any moment must not lose those of before. The specification has a file of sorted rows, which would
need runs, merges of them and tombstones.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from zarrix._stores.sites import Site

if TYPE_CHECKING:
    import sqlite3

__all__ = ["Ledger", "Row", "open_ledger"]

# "zrxl", which SQLite keeps in the header of a file.
_APPLICATION = 0x7A72786C
_FORMAT = 1
_MAGIC = b"SQLite format 3\0"
_ROWS = (
    "CREATE TABLE rows (key TEXT PRIMARY KEY, size INTEGER, source TEXT, dest TEXT) WITHOUT ROWID"
)
_PAIR = "CREATE TABLE pair (name TEXT)"
_PAGE = 1000
_FLUSH_SECONDS = 5.0


class Row(NamedTuple):
    """One value that was the same in both places: its length, and its tags in source and dest."""

    key: str
    size: int
    source: str
    dest: str


class Ledger:
    """The rows of two places; one without a database has none, and keeps none."""

    def __init__(self, database: sqlite3.Connection | None = None, path: str = "") -> None:
        self._database, self._path = database, path
        self._new: list[Row] = []
        self._gone: list[tuple[str]] = []
        self._flushed = time.monotonic()

    def below(self, prefix: str) -> Iterator[Row]:
        """The rows of the keys below a path, sorted by the bytes of the keys."""
        after = f"{prefix}/" if prefix else ""
        while True:
            rows = self._page(prefix, after)
            yield from rows
            if len(rows) < _PAGE:
                return
            after = rows[-1].key

    def _page(self, prefix: str, after: str) -> list[Row]:
        self.flush()
        if self._database is None:
            return []
        # The digit zero follows the slash.
        end = f"{prefix}0" if prefix else None
        query = "SELECT * FROM rows WHERE key > ? AND (? IS NULL OR key < ?) ORDER BY key LIMIT ?"
        try:
            rows = self._database.execute(query, (after, end, end, _PAGE))
            return [Row(*row) for row in rows]
        except Exception:
            self._discard()
            return []

    def add(self, row: Row) -> None:
        """Keep a row; what is kept reaches the file within some seconds."""
        self._new.append(row)
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.flush()

    def remove(self, key: str) -> None:
        """Forget the row of a key that neither place has."""
        self._gone.append((key,))

    def flush(self) -> None:
        """Write the rows that were added since the last call."""
        new, self._new = self._new, []
        gone, self._gone = self._gone, []
        self._flushed = time.monotonic()
        if self._database is None or not (new or gone):
            return
        try:
            self._database.executemany("DELETE FROM rows WHERE key = ?", gone)
            self._database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", new)
            self._database.commit()
        except Exception:
            self._discard()

    def _discard(self) -> None:
        """Remove a file that is damaged, or that has no room: the next sync begins a new one."""
        self.close()
        _remove(self._path)

    def close(self) -> None:
        """Write what is left, and close the file."""
        if self._new or self._gone:
            self.flush()
        database, self._database = self._database, None
        if database is not None:
            with suppress(Exception):
                database.close()


def open_ledger(
    path: str | os.PathLike[str] | None, source: list[Site], dest: list[Site]
) -> Ledger:
    """The ledger of two places.

    Parameters
    ----------
    path : str or Path or None
        None is a file in the user's cache folder.
    source, dest : list of Site

    Raises
    ------
    ValueError
        ``path`` is a file that is not a ledger.
    """
    name = _name_of(source, dest)
    if path is None:
        path = os.path.join(_cache_folder(), f"{name}.ledger")
        try:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        except OSError:
            return Ledger()
    else:
        path = os.fspath(path)
        _refuse_others(path)
    return Ledger(_opened(path, name), path)


def _name_of(source: list[Site], dest: list[Site]) -> str:
    told = json.dumps([[site.system, site.names] for site in (source[0], dest[0])])
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()


def _cache_folder() -> str:
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(home, ".cache")
    return os.path.join(base, "zarrix", "sync")


def _refuse_others(path: str) -> None:
    """Raise an error if a file that the user names has something else."""
    try:
        with open(path, "rb") as file:
            start = file.read(100)
    except FileNotFoundError:
        return
    is_ours = start.startswith(_MAGIC) and start[68:72] == _APPLICATION.to_bytes(4, "big")
    if start and not is_ours:
        raise ValueError(f"{path} is not a ledger, and is not overwritten; name another file")


def _opened(path: str, name: str) -> sqlite3.Connection | None:
    """The database, made anew if it is damaged or of other places; None if there can be none."""
    for _ in range(2):
        database = None
        try:
            # Import time: most programs sync nothing; and a Python may have been built without it.
            import sqlite3

            database = sqlite3.connect(path, timeout=0.0, check_same_thread=False)
            state = _state_of(database, name)
            if state == "ours":
                return database
            database.close()
            if state == "busy or newer":
                return None
        except ImportError:
            return None
        except Exception as error:
            if database is not None:
                database.close()
            if "locked" in str(error) or "unable to open" in str(error):
                return None
        _remove(path)
    return None


def _remove(path: str) -> None:
    for name in (path, f"{path}-journal"):
        with suppress(OSError):
            os.unlink(name)


def _state_of(database: sqlite3.Connection, name: str) -> str:
    """Whether a database is a ledger of these places, locked by this process from now on."""

    def value(query: str) -> Any:
        row = database.execute(query).fetchone()
        return row and row[0]

    # Nothing in a file of others runs: no views, no triggers, no functions in its tables.
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -8192")
    database.execute("BEGIN EXCLUSIVE")
    tables = sorted(row[0] or "" for row in database.execute("SELECT sql FROM sqlite_schema"))
    if not tables and value("PRAGMA user_version") == 0:
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {_FORMAT}")
        database.execute(_ROWS)
        database.execute(_PAIR)
        database.execute("INSERT INTO pair VALUES (?)", (name,))
        database.commit()
        return "ours"
    if value("PRAGMA user_version") > _FORMAT:
        return "busy or newer"
    is_ledger = tables == sorted((_ROWS, _PAIR))
    if not is_ledger or value("SELECT name FROM pair") != name:
        return "other"
    database.commit()
    return "ours"
