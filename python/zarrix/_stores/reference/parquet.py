"""Kerchunk references in parquet: a folder with the metadata documents and the partitions of each
array.

``.zmetadata`` has all metadata and the number of references in a partition;
``<array>/refs.<n>.parq`` has a row for each chunk in C order. A partition is read when one of its
chunks is read, and the last few are cached. Declared sizes are not trusted: keys are listed from
the existing partitions, and repeated paths stay dictionary-encoded.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from zarrix._errors import CorruptStoreError, shorten
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARRAY, ZMETADATA, key_of
from zarrix._stores.reference.document import byte_count, parsed
from zarrix._stores.reference.targets import Part

__all__ = ["ParquetReferences"]

_KEPT_PARTITIONS = 16
_COLUMNS = ("path", "offset", "size", "raw")
# Rows of one partition; kerchunk writes 10,000 or 100,000.
_MOST_ROWS = 1_000_000
# The number of partitions that are requested one by one if a server cannot list them.
_MOST_UNLISTED = 10_000
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_PARTITION = re.compile(r"refs\.(0|[1-9][0-9]*)\.parq")


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
        Its name in errors.
    """

    def __init__(self, folder: Store, shown: str) -> None:
        _parquet()
        self._folder, self._shown = folder, shown
        document = folder.get(ZMETADATA)
        if document is None:
            raise CorruptStoreError(f"{shown} has no references: no {ZMETADATA} is there")
        consolidated = parsed(document, f"{shown}: {ZMETADATA}")
        try:
            self._rows = byte_count(consolidated["record_size"])
            documents = dict(consolidated["metadata"])
        except (ValueError, KeyError, TypeError) as error:
            raise CorruptStoreError(
                f"{shown}: {ZMETADATA} lists no references: {error!r}"
            ) from None
        if self._rows == 0:
            raise CorruptStoreError(f"{shown}: record_size is {self._rows}")
        self._documents = {key: json.dumps(one).encode() for key, one in documents.items()}
        # By array: the number of chunks along each axis.
        self._grids = {
            key.rpartition("/")[0]: self._grid(key, documents[key])
            for key in documents
            if key.rpartition("/")[2] == ZARRAY
        }
        self._start_empty()

    def _start_empty(self) -> None:
        self._mutex = threading.Lock()
        self._partitions: OrderedDict[tuple[str, int], Any] = OrderedDict()

    def _grid(self, key: str, document: Any) -> tuple[int, ...]:
        try:
            axes = [
                (byte_count(length), byte_count(chunk))
                for length, chunk in zip(document["shape"], document["chunks"], strict=True)
            ]
            return tuple(-(-length // chunk) for length, chunk in axes) or (1,)
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise CorruptStoreError(f"{self._shown}: {key!r} is not an array: {error!r}") from None

    def find(self, key: str) -> bytes | Part | None:
        """A value, or its URL with the first byte and the number of bytes; None if absent."""
        if key in self._documents:
            return self._documents[key]
        array, _, name = key.rpartition("/")
        grid = self._grids.get(array)
        numbers = name.split(".")
        if grid is None or len(numbers) != len(grid) or not all(map(_NUMBER.fullmatch, numbers)):
            return None
        index = 0
        for number, count in zip(map(int, numbers), grid, strict=True):
            if number >= count:
                return None
            index = index * count + number
        partition, row = divmod(index, self._rows)
        table = self._partition(array, partition)
        if table is None or row >= table.num_rows:
            return None
        try:
            return _reference(table, row)
        except (TypeError, ValueError) as error:
            raise CorruptStoreError(f"{self._shown}: the reference of {key!r}: {error}") from None

    def names(self, prefix: str) -> Iterator[str]:
        """Every key below ``prefix``; reads all partitions there."""
        start = f"{prefix}/" if prefix else ""
        yield from (key for key in self._documents if key.startswith(start))
        for array, grid in self._grids.items():
            if not f"{array}/".startswith(start) and array != prefix:
                continue
            count = math.prod(grid)
            for partition in self._partitions_of(array, -(-count // self._rows)):
                table = self._partition(array, partition)
                first = partition * self._rows
                rows = 0 if table is None else min(table.num_rows, count - first)
                for row in range(rows):
                    if _is_there(table, row):
                        name = ".".join(map(str, _unravel(first + row, grid)))
                        yield key_of(array, name)

    def _partitions_of(self, array: str, count: int) -> Iterable[int]:
        """The numbers of the partitions of an array; there are at most ``count``."""
        if self._folder.is_listable():
            found = map(_PARTITION.fullmatch, self._folder._engine.list_dir(array)[0])
            numbers = (int(name[1]) for name in found if name is not None)
            return sorted(number for number in numbers if number < count)
        if count > _MOST_UNLISTED:
            raise CorruptStoreError(
                f"{self._shown}: the keys of {array!r} are in up to {count} partitions, which the "
                f"server cannot list; at most {_MOST_UNLISTED} are asked for one by one"
            )
        return range(count)

    def names_directly(self, prefix: str) -> tuple[list[str], list[str]] | None:
        """The names directly below a group; None if ``prefix`` is that of an array with chunks."""
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
        """The table of a partition; None if it does not exist, which means missing chunks."""
        partition = (array, number)
        with self._mutex:
            if partition in self._partitions:
                self._partitions.move_to_end(partition)
                return self._partitions[partition]
        # Threads that need several partitions of a slow folder read them concurrently.
        key = key_of(array, f"refs.{number}.parq")
        most = config.max_document_bytes
        stored = self._folder._engine.get(key, most=most)
        if stored is not None and len(stored) > most:
            raise CorruptStoreError(
                f"{self._shown}: {key!r} has more than {most} bytes, which is "
                "config.max_document_bytes; raise it if this is intended"
            )
        table = None if stored is None else self._table(key, stored)
        with self._mutex:
            self._partitions[partition] = table
            while len(self._partitions) > _KEPT_PARTITIONS:
                self._partitions.popitem(last=False)
        return table

    def _table(self, key: str, stored: bytes) -> Any:
        parquet = _parquet()
        try:
            schema = parquet.read_schema(io.BytesIO(stored))
            names = [name for name in _COLUMNS if name in schema.names]
            # A repeated text stays one object.
            texts = [name for name in ("path", "raw") if name in names]
            file = parquet.ParquetFile(io.BytesIO(stored), read_dictionary=texts)
            about = file.metadata
            groups: Sequence[Any] = [about.row_group(n) for n in range(about.num_row_groups)]
            decoded = sum(group.total_byte_size for group in groups)
            most = min(self._rows, _MOST_ROWS)
            if about.num_rows > most or decoded > config.max_document_bytes:
                raise CorruptStoreError(
                    f"{self._shown}: {key!r} has {about.num_rows} references of {decoded} bytes; "
                    f"it can have {most}, and config.max_document_bytes"
                )
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


def _is_there(table: Any, row: int) -> bool:
    names = [name for name in ("raw", "path") if name in table.column_names]
    return any(table[name][row].is_valid for name in names)


def _reference(table: Any, row: int) -> bytes | Part | None:
    found = {name: table[name][row].as_py() for name in table.column_names}
    raw, url = found.get("raw"), found.get("path")
    if raw is not None:
        return raw.encode() if isinstance(raw, str) else bytes(raw)
    if url is None:
        return None
    if not isinstance(url, str):
        raise TypeError(f"its path is {shorten(url)}")
    start, length = byte_count(found.get("offset") or 0), byte_count(found.get("size") or 0)
    byte_count(start + length)
    return url, start, (length if start or length else None)


def _unravel(index: int, grid: Sequence[int]) -> list[int]:
    numbers = []
    for count in reversed(grid):
        index, number = divmod(index, count)
        numbers.append(number)
    return numbers[::-1]
