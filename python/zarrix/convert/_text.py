"""Text of numbers: columns by blanks (txt) or by a delimiter (csv), with 1 or 2 axes.

The file is read twice, in blocks of lines: first for the number of rows and the narrowest data type
that has all values (int64, uint64, float64, else text), then for the values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._dtypes.variable import element_of
from zarrix._errors import ConversionError, OptionError
from zarrix.convert._raw import dtype_of
from zarrix.convert._source import OpenFile, Region, Source, SourceArray

__all__ = ["open_source", "save"]

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile("\r\n|\n|\r")
_BLOCK_ROWS = 20_000
_BLOCK_BYTES = 2 * 2**20
_LONGEST_LINE = 16 * 2**20
# What a delimiter cannot be, because cells have it.
_OF_NUMBERS = "+-._#\"'\r\n"
_KINDS = (np.dtype("i8"), np.dtype("u8"), np.dtype("f8"))


def open_source(
    path: Path,
    *,
    delimiter: str | None = None,
    skip: int = 0,
    names: bool | None = None,
    dtype: Any = None,
) -> Source:
    """The array of a text file; one column is an array of one axis.

    The delimiter of csv is a comma, that of other names any blanks; cells between delimiters may be
    quoted. ``skip`` lines are ignored, and with ``names=True`` the next one has the names of the
    columns. If it is omitted, a line of words has them that numbers follow.
    """
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise ConversionError(f"delimiter={delimiter!r} is not one character")
    if not isinstance(skip, int) or isinstance(skip, bool) or skip < 0:
        raise ConversionError(f"skip={skip!r} is not a number of lines")
    if names not in (None, True, False):
        raise ConversionError(f"names={names!r} is not True or False")
    if delimiter is None and path.suffix.lower() == ".csv":
        delimiter = ","
    file = OpenFile(path)
    try:
        table = _Table(file, delimiter, skip, names, None if dtype is None else dtype_of(dtype))
    except BaseException:
        file.close()
        raise
    source = Source(str(path), {"": table.array()}, identity=[file.identity], close=file.close)
    source.notes += table.notes
    return source


def _ends_in_quotes(line: bytes, is_open: bool, delimiter: bytes) -> bool:
    """Whether a quoted cell goes on behind a line; a quote begins a cell, or is a character."""
    at = 0
    while True:
        if is_open:
            at = line.find(b'"', at)
            if at < 0:
                return True
            if line[at + 1 : at + 2] == b'"':
                at += 2
                continue
            is_open, at = False, at + 1
        elif at == 0 and line.startswith(b'"'):
            is_open, at = True, 1
        else:
            at = line.find(delimiter + b'"', at)
            if at < 0:
                return False
            is_open, at = True, at + len(delimiter) + 1


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class _Table:
    """The rows of a file, and where each block of them begins."""

    def __init__(
        self,
        file: OpenFile,
        delimiter: str | None,
        skip: int,
        names: bool | None,
        dtype: np.dtype[Any] | None,
    ) -> None:
        self.notes: list[str] = []
        self._file, self._delimiter, self._given = file, delimiter, dtype
        self._names: list[str] | None = None
        self._blocks: list[tuple[int, int]] = []
        self._rows = self._columns = 0
        self._kind: Any = dtype or _KINDS[0]
        start = len(_BOM) if file.read(0, min(len(_BOM), file.size)) == _BOM else 0
        lines = self._lines(start)
        for _ in range(skip):
            start += len(next(lines, b""))
        if names is None:
            names = self._has_names(start)
            if names:
                self.notes.append(
                    "the first line has the names of the columns (names=False imports it as values)"
                )
        if names:
            head = next(lines, b"")
            start += len(head)
            self._names = self._cells(self._decoded([head]).strip("# \r\n"))
        self._scan(lines, start)

    def _has_names(self, start: int) -> bool:
        """Whether the first line has words only, and the second one only numbers."""
        lines = (line for line in self._lines(start) if line.strip() and not line.startswith(b"#"))
        first, second = next(lines, b""), next(lines, b"")
        if not second:
            return False
        head, row = (self._cells(self._decoded([one]).strip("\r\n")) for one in (first, second))
        plain = len(head) == len(row) and not any(map(_is_number, head))
        return plain and all(map(_is_number, row))

    def _cells(self, line: str) -> list[str]:
        """The cells of a line."""
        if self._delimiter is None or '"' not in line:
            return [cell.strip() for cell in line.split(self._delimiter)]
        return next(self._quoted([line]))

    def _quoted(self, lines: Iterable[str]) -> Iterator[list[str]]:
        try:
            yield from csv.reader(lines, delimiter=self._delimiter or ",", strict=True)
        except csv.Error as error:
            raise ConversionError(f"{self._file.path}: its quotes are damaged: {error}") from None

    def _lines(self, offset: int) -> Iterator[bytes]:
        """Lines from an offset, read in blocks; a line that does not end is an error."""
        left = b""
        while True:
            size = min(1 << 20, self._file.size - offset)
            if size <= 0:
                break
            left += self._file.read(offset, size)
            offset += size
            parts = left.split(b"\n")
            left = parts.pop()
            # A line goes on behind a quote that is open at its end.
            quoted: list[bytes] = []
            is_open = False
            for part in parts:
                quoted.append(part + b"\n")
                if self._delimiter is not None:
                    is_open = _ends_in_quotes(part, is_open, self._delimiter.encode())
                if not is_open:
                    yield b"".join(quoted)
                    quoted = []
            left = b"".join([*quoted, left])
            if len(left) > _LONGEST_LINE:
                raise ConversionError(
                    f"{self._file.path} has a line of more than {_LONGEST_LINE} bytes"
                )
        if left:
            yield left

    def _scan(self, lines: Iterator[bytes], start: int) -> None:
        """Count rows and columns, and find the data type."""
        kinds = [one for one in _KINDS if self._given is None]
        block: list[bytes] = []
        begin = at = start

        def end() -> None:
            nonlocal kinds, block, begin
            text = self._decoded(block)
            while True:
                kind = self._given or (kinds[0] if kinds else None)
                try:
                    found = self._parsed(text, kind)
                    break
                except (ValueError, OverflowError) as error:
                    if self._given is not None or kind is None:
                        raise ConversionError(f"{self._file.path}: {error}") from None
                    kinds = kinds[1:]
            if found.shape[0]:
                if self._columns not in (0, found.shape[1]):
                    raise ConversionError(
                        f"{self._file.path} has rows of {self._columns} and of {found.shape[1]} "
                        "columns"
                    )
                self._columns = found.shape[1]
                self._blocks.append((self._rows, begin))
                self._rows += found.shape[0]
            block, begin = [], at

        for line in lines:
            block.append(line)
            at += len(line)
            if len(block) >= _BLOCK_ROWS or at - begin >= _BLOCK_BYTES:
                end()
        end()
        self._end = at
        self._kind = self._given or (kinds[0] if kinds else None)

    def _decoded(self, block: list[bytes]) -> str:
        try:
            return b"".join(block).decode()
        except UnicodeDecodeError as error:
            raise ConversionError(f"{self._file.path} is not text in UTF-8: {error}") from None

    def _parsed(self, text: str, kind: Any) -> Any:
        if not text.strip():
            return np.empty((0, self._columns), kind or object)
        if kind is None or kind.kind in "US":
            if self._delimiter is None or '"' not in text:
                lines = (line for line in _LINE_END.split(text) if line.strip())
                rows = [[cell.strip() for cell in line.split(self._delimiter)] for line in lines]
            else:
                rows = [row for row in self._quoted(io.StringIO(text, newline="")) if row]
            if len({len(row) for row in rows}) > 1:
                raise ValueError("rows have different numbers of columns")
            return np.array(rows, dtype=object)
        quote = None if self._delimiter is None else '"'
        return np.loadtxt(
            io.StringIO(text), kind, delimiter=self._delimiter, ndmin=2, comments="#",
            quotechar=quote,
        )  # fmt: skip

    def array(self) -> SourceArray:
        """The array; regions are complete rows."""
        is_text = self._kind is None or self._kind.kind in "US"
        shape: tuple[int, ...] = (self._rows, self._columns)
        if self._columns <= 1:
            shape = shape[:1]

        def read(region: Region) -> Any:
            found = self._rows_from(region[0].start, region[0].stop)
            return found[:, 0] if len(shape) == 1 else found[:, region[1]]

        return SourceArray(
            shape,
            str if is_text else self._kind,
            read,
            fill_value="" if is_text else 0,
            attributes={"columns": self._names} if self._names else {},
            sequential=True,
            why_decoded="it is text",
        )

    def _rows_from(self, start: int, stop: int) -> Any:
        index = int(np.searchsorted([first for first, _ in self._blocks], start, "right")) - 1
        parts = []
        while index < len(self._blocks) and self._blocks[index][0] < stop:
            first, offset = self._blocks[index]
            end = self._blocks[index + 1][1] if index + 1 < len(self._blocks) else self._end
            text = self._decoded([self._file.read(offset, end - offset)])
            found = self._parsed(text, self._kind)
            parts.append(found[max(0, start - first) : stop - first])
            index += 1
        if not parts:
            return np.empty((0, self._columns), self._kind or object)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]


def save(node: Any, path: Path, job: Any, *, delimiter: str | None = None) -> None:
    """Write an array of 1 or 2 axes as text; every number reads back bit for bit.

    NaN is written without its payload.
    """
    array = job.array()
    is_text = array.dtype.kind == "U" or (array.dtype.kind in "OT" and element_of(array) is str)
    if not 1 <= array.ndim <= 2 or not (is_text or array.dtype.kind in "biuf"):
        raise ConversionError(
            f"text has numbers or words in 1 or 2 axes, and the array has {array.shape} of "
            f"{array.dtype}"
        )
    between = " " if delimiter is None else delimiter
    if len(between) != 1 or between.isalnum() or between in _OF_NUMBERS:
        raise OptionError(
            f"delimiter={between!r} is not one character that numbers, quotes and comments do not "
            "have, such as ',', ';' or a tab"
        )
    columns = array.attrs.get("columns")
    if not (isinstance(columns, list) and all(isinstance(one, str) for one in columns)):
        columns = None
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        if columns:
            file.write("# " + between.join(_word(one, between) for one in columns) + "\n")
        for _, value in job.blocks(array, rows=True):
            for row in value.reshape(-1, 1) if array.ndim == 1 else value:
                cells = [_word(one, between) if is_text else _number(one) for one in row]
                if is_text and cells and cells[0].startswith("#"):
                    raise ConversionError(f"{cells[0]!r} begins a row, which would be a comment")
                file.write(between.join(cells) + "\n")


def _word(value: Any, between: str) -> str:
    """A cell of text, which every reader of such files takes as it is."""
    if not isinstance(value, str):
        raise ConversionError(f"{value!r} is an element of a text array, and no text")
    # Readers end lines at all of Unicode's line separators, and csv has quotes.
    if between in value or value.splitlines() != [value] or value.strip() != value or '"' in value:
        raise ConversionError(
            f"{value!r} cannot be a cell: it is empty, or has a delimiter, a quote, an end of a "
            "line, or blanks around it"
        )
    if between == " " and len(value.split()) > 1:
        raise ConversionError(f"{value!r} cannot be a cell between blanks; export it as csv")
    return value


def _number(value: Any) -> str:
    return str(int(value)) if value.dtype.kind == "b" else str(value)
