"""kerchunk's references in parquet: a folder with the documents and, of each array, its partitions.

``.zmetadata`` has all documents and how many references a partition has; ``<array>/refs.<n>.parq``
has a row for each chunk in C order. A partition is read when one of its chunks is wanted, and a few
of them are kept.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from zarrix._config import config
from zarrix._errors import CorruptStoreError
from zarrix._store import Store

__all__ = ["ParquetReferences"]

_KEPT_PARTITIONS = 16
_COLUMNS = ("path", "offset", "size", "raw")


def _parquet() -> ModuleType:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError(
            "references in parquet need the package pyarrow: pip install 'zarrix[kerchunk]'"
        ) from None


class ParquetReferences:
    """The references in a folder.

    Parameters
    ----------
    folder : Store
    shown : str
        What errors call it.
    """

    def __init__(self, folder: Store, shown: str) -> None:
        _parquet()
        self._folder, self._shown = folder, shown
        document = folder.get(".zmetadata")
        if document is None:
            raise CorruptStoreError(f"{shown} has no references: no .zmetadata is there")
        try:
            consolidated = json.loads(document)
            self._rows = int(consolidated["record_size"])
            documents = dict(consolidated["metadata"])
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptStoreError(f"{shown}: .zmetadata lists no references: {error!r}") from None
        if self._rows < 1:
            raise CorruptStoreError(f"{shown}: record_size is {self._rows}")
        self._documents = {key: json.dumps(one).encode() for key, one in documents.items()}
        # By array: how many chunks each axis has.
        self._grids = {
            key.rpartition("/")[0]: self._grid(key, documents[key])
            for key in documents
            if key.rpartition("/")[2] == ".zarray"
        }
        self._start_empty()

    def _start_empty(self) -> None:
        self._mutex = threading.Lock()
        self._partitions: OrderedDict[tuple[str, int], Any] = OrderedDict()

    def _grid(self, key: str, document: Any) -> tuple[int, ...]:
        try:
            lengths = zip(document["shape"], document["chunks"], strict=True)
            return tuple(-(-int(length) // int(chunk)) for length, chunk in lengths) or (1,)
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise CorruptStoreError(f"{self._shown}: {key!r} is no array: {error!r}") from None

    def find(self, key: str) -> bytes | tuple[str, int, int | None] | None:
        """A value, or the URL that has it, the first byte there and how many; None if absent."""
        if key in self._documents:
            return self._documents[key]
        array, _, name = key.rpartition("/")
        grid = self._grids.get(array)
        numbers = name.split(".")
        if grid is None or len(numbers) != len(grid) or not all(map(str.isdecimal, numbers)):
            return None
        index = 0
        for number, count in zip(map(int, numbers), grid, strict=True):
            if number >= count:
                return None
            index = index * count + number
        partition, row = divmod(index, self._rows)
        table = self._partition(array, partition)
        return None if table is None or row >= table.num_rows else _reference(table, row)

    def names(self, prefix: str) -> Iterator[str]:
        """Every key below ``prefix``, for which all partitions there are read."""
        start = f"{prefix}/" if prefix else ""
        yield from (key for key in self._documents if key.startswith(start))
        for array, grid in self._grids.items():
            if not f"{array}/".startswith(start) and array != prefix:
                continue
            count = math.prod(grid)
            for partition in range(-(-count // self._rows)):
                table = self._partition(array, partition)
                first = partition * self._rows
                rows = 0 if table is None else min(table.num_rows, count - first)
                for row in range(rows):
                    if _reference(table, row) is not None:
                        name = ".".join(map(str, _unravel(first + row, grid)))
                        yield f"{array}/{name}" if array else name

    def names_directly(self, prefix: str) -> tuple[list[str], list[str]] | None:
        """The names directly below a group; None where ``prefix`` is an array's, with chunks."""
        if prefix in self._grids:
            return None
        start = len(prefix) + 1 if prefix else 0
        inside = [key[start:].partition("/") for key in self._documents if self._is_in(key, prefix)]
        return [name for name, deeper, _ in inside if not deeper], sorted(
            {name for name, deeper, _ in inside if deeper}
        )

    def _is_in(self, key: str, prefix: str) -> bool:
        return not prefix or key.startswith(f"{prefix}/")

    def _partition(self, array: str, number: int) -> Any:
        """The table of a partition; None if there is none, which stands for missing chunks."""
        place = (array, number)
        with self._mutex:
            if place in self._partitions:
                self._partitions.move_to_end(place)
                return self._partitions[place]
        # A slow folder is read by all who need it at once.
        key = f"{array}/refs.{number}.parq" if array else f"refs.{number}.parq"
        stored = self._folder.get(key)
        table = None if stored is None else self._table(key, stored)
        with self._mutex:
            self._partitions[place] = table
            while len(self._partitions) > _KEPT_PARTITIONS:
                self._partitions.popitem(last=False)
        return table

    def _table(self, key: str, stored: bytes) -> Any:
        parquet = _parquet()
        try:
            file = parquet.ParquetFile(io.BytesIO(stored))
            about = file.metadata
            groups: Sequence[Any] = [about.row_group(n) for n in range(about.num_row_groups)]
            decoded = sum(group.total_byte_size for group in groups)
            if about.num_rows > self._rows or decoded > config.max_document_bytes:
                raise CorruptStoreError(
                    f"{self._shown}: {key!r} has {about.num_rows} references of {decoded} bytes; "
                    f"it can have {self._rows}, and config.max_document_bytes"
                )
            names = [name for name in _COLUMNS if name in file.schema_arrow.names]
            return file.read(columns=names).combine_chunks()
        except CorruptStoreError:
            raise
        except Exception as error:
            raise CorruptStoreError(
                f"{self._shown}: {key!r} cannot be read as parquet: {error}"
            ) from error

    def __getstate__(self) -> Any:
        left_out = ("_mutex", "_partitions")
        return {name: one for name, one in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: Any) -> None:
        self.__dict__.update(state)
        self._start_empty()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParquetReferences):
            return NotImplemented
        return self._folder == other._folder and self._documents == other._documents


def _reference(table: Any, row: int) -> bytes | tuple[str, int, int | None] | None:
    found = {name: table[name][row].as_py() for name in table.column_names}
    raw, url = found.get("raw"), found.get("path")
    if raw is not None:
        return raw.encode() if isinstance(raw, str) else bytes(raw)
    if url is None:
        return None
    start, length = int(found.get("offset") or 0), int(found.get("size") or 0)
    return str(url), start, (length if start or length else None)


def _unravel(index: int, grid: Sequence[int]) -> list[int]:
    numbers = []
    for count in reversed(grid):
        index, number = divmod(index, count)
        numbers.append(number)
    return numbers[::-1]
