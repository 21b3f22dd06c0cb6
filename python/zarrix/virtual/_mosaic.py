"""`mosaic`: arrays at places of one array."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Unpack

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import VirtualError
from zarrix._metadata.arguments import normalize_shape
from zarrix._runtime.signatures import takes
from zarrix.virtual._concat import concat
from zarrix.virtual._given import Given, Sources
from zarrix.virtual._keywords import PieceKeywords, reading_of
from zarrix.virtual._overlap import Box, first_overlap, subtracted, uncovered
from zarrix.virtual._table import Row, Table
from zarrix.virtual._whole import Making

__all__ = ["mosaic"]

# With more boxes, an error says how much lies in none of them, and not where.
_MOST_COMPARED = 256


@takes(PieceKeywords, like=concat)
def mosaic(
    placed: Iterable[tuple[Any, Any]],
    *,
    shape: int | Sequence[int] | None = None,
    fill_value: Any = None,
    overlap: Literal["error", "first", "last"] = "error",
    **kwargs: Unpack[PieceKeywords],
) -> Array:
    """Arrays at places of one read-only array; nothing is copied.

    No element is guessed: what lies in no piece, or in several, is an error unless the call says
    what it is.

    Parameters
    ----------
    placed : sequence of (start, source)
        The index of the lowest corner of a piece, with one number for each axis, and the piece.
    shape : int or sequence of int, optional
        Of the result; that of the smallest array with all pieces when omitted.
    fill_value : scalar, optional
        The value of elements in no piece; they are an error when omitted.
    overlap : {"error", "first", "last"}
        Which piece an element has that lies in several of them.
    **kwargs
        As for `concat`: ``dtype``, ``decode``, ``missing`` and ``storage_options``.

    Returns
    -------
    Array

    Raises
    ------
    VirtualError
        Pieces overlap or leave holes, do not lie in ``shape``, or do not fit together.
    PieceNotFoundError
        A source is not there (also a ``FileNotFoundError``).

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> tile = zarr.array([[1, 2], [3, 4]])
    >>> virtual.mosaic([((0, 0), tile), ((1, 2), tile)], fill_value=0)[...]
    array([[1, 2, 0, 0],
           [3, 4, 1, 2],
           [0, 0, 3, 4]])
    """
    if overlap not in ("error", "first", "last"):
        raise ValueError(f"overlap={overlap!r}; allowed are 'error', 'first' and 'last'")
    corners = [(tuple(map(operator.index, start)), source) for start, source in placed]
    pieces = Sources(kwargs.get("storage_options"))
    arrays = pieces.arrays([source for _, source in corners])
    if len(arrays) != len(corners):
        raise VirtualError("a place has one array; a pattern names several")
    starts = [start for start, _ in corners]
    extent = _extent(starts, arrays, shape)
    making = Making.of(pieces, arrays, *reading_of(kwargs))
    rows: list[Row] = []
    for start, one in zip(starts, arrays, strict=True):
        rows += making.rows(one, start, range(len(extent)))
    table = _without_overlap(
        Table.of(extent, rows), overlap, lambda number: _told(pieces, rows[number])
    )
    if table.index.covered != int(np.prod(extent, dtype=object)) and fill_value is None:
        raise VirtualError(f"{_hole(table)}; fill_value= says what is read there")
    whole = making.whole(arrays, extent, range(len(extent)))
    if fill_value is not None:
        whole.fill_value = fill_value
    return making.array(whole, table.rows())


def _extent(
    starts: Sequence[tuple[int, ...]], arrays: Sequence[Given], shape: int | Sequence[int] | None
) -> tuple[int, ...]:
    ndim = len(arrays[0].shape)
    for start, one in zip(starts, arrays, strict=True):
        if len(start) != len(one.shape) or len(one.shape) != ndim:
            raise VirtualError(
                f"{one.told} has shape {one.shape} and is placed at {start}; all pieces, and all "
                f"places, have {ndim} axes as {arrays[0].told} has"
            )
        if any(at < 0 for at in start):
            raise VirtualError(f"{one.told} is placed at {start}; places are not negative")
    ends = [
        tuple(map(operator.add, start, one.shape))
        for start, one in zip(starts, arrays, strict=True)
    ]
    if shape is None:
        return tuple(map(max, zip(*ends, strict=True)))
    extent = normalize_shape(shape)
    for end, one in zip(ends, arrays, strict=True):
        if len(extent) != ndim or any(at > size for at, size in zip(end, extent, strict=True)):
            raise VirtualError(f"{one.told} ends at {end}, and shape= is {extent}")
    return extent


def _without_overlap(table: Table, overlap: str, name_of: Any) -> Table:
    stops = table.starts + table.shapes
    found = first_overlap(table.starts, stops)
    if found is None:
        return table
    if overlap == "error":
        low = table.starts[[*found]].max(axis=0).tolist()
        high = stops[[*found]].min(axis=0).tolist()
        shown = ", ".join(f"{a}:{b}" for a, b in zip(low, high, strict=True))
        raise VirtualError(
            f"{name_of(found[0])} and {name_of(found[1])} overlap in [{shown}]; overlap='first' or "
            "'last' says which is read there"
        )
    order = range(len(table)) if overlap == "first" else range(len(table) - 1, -1, -1)
    kept: list[tuple[int, Box]] = []
    taken: list[int] = []
    for number in order:
        mine = Box(tuple(table.starts[number].tolist()), tuple(stops[number].tolist()))
        before = np.array(taken, np.int64)
        meets = (table.starts[before] < stops[number]) & (table.starts[number] < stops[before])
        left = [mine]
        for other in before[meets.all(axis=1)].tolist():
            theirs = Box(tuple(table.starts[other].tolist()), tuple(stops[other].tolist()))
            left = [part for box in left for part in subtracted(box, theirs)]
        kept += [(number, box) for box in left]
        taken.append(number)
    kept.sort()
    parts = [_part(table.row(number), box) for number, box in kept]
    return Table.of(table.shape, parts)


def _part(row: Row, box: Box) -> Row:
    one = Table.of(tuple(b for b in box.stop), [row])
    shape = [b - a for a, b in zip(box.start, box.stop, strict=True)]
    (cut,) = one.cut(box.start, shape).rows()
    return cut._replace(start=box.start)


def _told(pieces: Sources, row: Row) -> str:
    return pieces.opener.told(row.source, row.path)


def _hole(table: Table) -> str:
    """The elements that lie in no piece."""
    if len(table) <= _MOST_COMPARED:
        stops = (table.starts + table.shapes).tolist()
        boxes = [Box(tuple(a), tuple(b)) for a, b in zip(table.starts.tolist(), stops, strict=True)]
        found = uncovered(table.shape, boxes)
        if found is not None:
            shown = ", ".join(f"{a}:{b}" for a, b in zip(*found, strict=True))
            return f"no piece has the elements [{shown}]"
    count = int(np.prod(table.shape, dtype=object)) - table.index.covered
    return f"{count} elements lie in no piece"
