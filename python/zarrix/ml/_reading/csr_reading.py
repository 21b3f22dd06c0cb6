"""Rows of sparse matrices, read by ranges in one call of the engine and put into dense samples."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._array.access import current_snapshot
from zarrix.ml._order.random import Ints
from zarrix.ml._reading.csr import CSR

__all__ = ["RowRequest", "read_rows"]

# What is decoded but not yet put into samples, unless one row alone has more.
_MOST_BYTES = 2**25


class RowRequest(NamedTuple):
    """Rows of a matrix, and the zeroed dense array that they go to, of shape (rows, 1, columns)."""

    matrix: CSR
    rows: Ints
    out: Any


def read_rows(
    requests: Sequence[RowRequest],
    cancel: _engine.CancelToken | None,
    threads: int,
    tolerate: Callable[[int, int, str | None, Exception], None] | None,
) -> None:
    """Fill the outs with rows of sparse matrices.

    A chunk that several rows need is decoded once, unless the rows together have more than 32 MiB
    of elements. Then it is decoded once more where these are divided. ``tolerate`` is called with
    the number and the row of an out whose chunk is corrupt, which then is 0.
    """
    for parts in _calls(requests, merge=tolerate is None):
        native = [entry for part in parts for entry in part.native()]
        failures = _engine.read_many(
            native, tolerate=tolerate is not None, cancel=cancel, threads=threads
        )
        ends = list(itertools.accumulate(2 * part.ranges for part in parts))
        for number, _, key, error in failures:
            part = parts[bisect.bisect_right(ends, number)]
            place = number - (ends[parts.index(part)] - 2 * part.ranges)
            for sample in part.fail(place // 2):
                if tolerate is not None:
                    tolerate(int(part.numbers[sample]), int(part.out_rows[sample]), key, error)
        for part in parts:
            part.scatter(requests)


class _Part:
    """Samples of one matrix in the order of their rows, and the memory for their elements."""

    def __init__(self, matrix: CSR, rows: Ints, numbers: Ints, out_rows: Ints, merge: bool) -> None:
        self._matrix, self.numbers, self.out_rows = matrix, numbers, out_rows
        unique, self._which = np.unique(rows, return_inverse=True)
        begins, ends = matrix._bounds[unique], matrix._bounds[unique + 1]
        self._lengths = ends - begins
        self._offsets = np.cumsum(self._lengths) - self._lengths
        total = int(self._lengths.sum())
        data, indices = matrix._members
        self._values = np.zeros(total, data.dtype)
        self._columns = np.zeros(total, indices.dtype)
        # Rows that follow each other are one range, unless the caller wants to know which of them
        # are corrupt. Empty rows are in no range.
        full = np.flatnonzero(self._lengths)
        heads = np.ones(len(full), np.bool_)
        if merge:
            heads[1:] = begins[full[1:]] != ends[full[:-1]]
        self._firsts = full[heads]
        self._lasts = full[np.append(np.flatnonzero(heads)[1:] - 1, -1)] if len(full) else full
        self._begins, self._ends = begins[self._firsts], ends[self._lasts]

    @property
    def ranges(self) -> int:
        """How many ranges are read of each member."""
        return len(self._begins)

    def native(self) -> Iterator[tuple[Any, Any, Any, str, None, None, None]]:
        """What the engine is given: for each range that of values, then that of columns."""
        data, indices = self._matrix._members
        values, columns = (current_snapshot(member).io for member in (data, indices))
        starts = np.ascontiguousarray(self._begins.reshape(-1, 1, 1))
        firsts = self._offsets[self._firsts].tolist()
        sizes = (self._ends - self._begins).tolist()
        for start, first, size in zip(starts, firsts, sizes, strict=True):
            part = slice(first, first + size)
            yield values, start, self._values[None, part], "inside", None, None, None
            yield columns, start, self._columns[None, part], "inside", None, None, None

    def fail(self, number: int) -> Ints:
        """Make the elements of a range 0; the samples that it has."""
        first, last = self._firsts[number], self._lasts[number]
        begin = int(self._offsets[first])
        part = slice(begin, begin + int(self._ends[number] - self._begins[number]))
        self._values[part] = 0
        self._columns[part] = 0
        found: Ints = np.flatnonzero((self._which >= first) & (self._which <= last))
        return found

    def scatter(self, requests: Sequence[RowRequest]) -> None:
        """Put the elements into the outs."""
        columns = self._columns.astype(np.int64)
        is_sorted = self._is_sorted(columns)
        places, known = self._matrix._places(columns)
        order = np.argsort(self.numbers, kind="stable")
        for mine in np.split(order, np.flatnonzero(np.diff(self.numbers[order])) + 1):
            number, which, at = self.numbers[mine[0]], self._which[mine], self.out_rows[mine]
            lengths = self._lengths[which]
            ends = np.cumsum(lengths)
            source = np.repeat(self._offsets[which] - ends + lengths, lengths)
            source += np.arange(len(source))
            row = np.repeat(at, lengths)
            if known is not None:
                kept = known[source]
                source, row = source[kept], row[kept]
            out = requests[number].out[:, 0]
            index = row, places[source]
            if is_sorted:
                out[index] = self._values[source]
            else:
                # Elements may be stored twice, which means their sum.
                np.add.at(out, index, self._values[source])

    def _is_sorted(self, columns: Ints) -> bool:
        """Whether columns increase in each row, so that none is there twice."""
        steps = columns[1:] > columns[:-1]
        heads = self._offsets[(self._offsets > 0) & (self._offsets < len(columns))]
        steps[heads - 1] = True
        return bool(steps.all())


def _calls(requests: Sequence[RowRequest], *, merge: bool) -> Iterator[list[_Part]]:
    """The parts that are read by one call each, of at most so many bytes."""
    parts: list[_Part] = []
    size = 0
    numbers_of: dict[int, list[int]] = {}
    for number, request in enumerate(requests):
        numbers_of.setdefault(id(request.matrix), []).append(number)
    for numbers in numbers_of.values():
        matrix = requests[numbers[0]].matrix
        rows = np.concatenate([requests[n].rows for n in numbers])
        counts = [len(requests[n].rows) for n in numbers]
        at = np.concatenate([np.arange(count) for count in counts])
        order = np.argsort(rows, kind="stable")
        rows, at, owner = rows[order], at[order], np.repeat(numbers, counts)[order]
        lengths = matrix._bounds[rows + 1] - matrix._bounds[rows]
        lengths[1:][rows[1:] == rows[:-1]] = 0
        ends = np.cumsum(lengths) * matrix._element_bytes
        begin = 0
        while begin < len(rows):
            before = int(ends[begin - 1]) if begin else 0
            end = int(np.searchsorted(ends, before + _MOST_BYTES - size, "right"))
            if end <= begin and size:
                yield parts
                parts, size = [], 0
                continue
            end = max(end, begin + 1)
            parts.append(_Part(matrix, rows[begin:end], owner[begin:end], at[begin:end], merge))
            size += int(ends[end - 1]) - before
            begin = end
    if parts:
        yield parts
