"""The list of pieces of a virtual array, by columns: 100,000 pieces are a few lists and arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zarrix._array.box_index import BoxIndex

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.int64]

__all__ = ["NOTHING_MORE", "Row", "Source", "SourceRows", "Table"]

NOTHING_MORE: Mapping[str, Any] = {}
"""What a piece without anything special has in its last column; one value for all."""


class Source(NamedTuple):
    """Something that has pieces.

    Attributes
    ----------
    location : str or None
        A path or a URL; None for one in the memory of this process.
    format : str
        ``zarr2``, ``zarr3``, ``store`` (an archive, or references) or the name of a file format.
    check : str or None
        What tells its version.
    """

    location: str | None
    format: str
    check: str | None = None


class SourceRows(Sequence[Source]):
    """The sources of a document, each made when it is asked for.

    Parameters
    ----------
    rows : list of [location, format, check]
        Checked already.
    """

    def __init__(self, rows: list[list[Any]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: Any) -> Any:
        return Source(*self._rows[number])


class Row(NamedTuple):
    """One piece: which array it is, where it lies, and what is special about it.

    Attributes
    ----------
    source : int
        The number of the source.
    path : str
        Of the array, in the source.
    start, shape : tuple of int
        The box in the whole.
    check : str or None
        What tells the version of the array.
    more : mapping
        ``from`` and ``step`` for each axis of the piece, ``axes`` (the axis of the whole for each
        axis of the piece, or None), ``dtype`` if it is not that of the whole, ``scale``,
        ``offset`` and ``nan``, and ``fill`` if the piece may be missing.
    """

    source: int
    path: str
    start: tuple[int, ...]
    shape: tuple[int, ...]
    check: str | None = None
    more: Mapping[str, Any] = NOTHING_MORE


class Table:
    """Pieces in the order of the list, and the index of their boxes.

    Parameters
    ----------
    shape : tuple of int
        Of the whole.
    columns : tuple
        Numbers of sources, paths, starts and shapes as arrays of (N, ndim), checks, and what is
        special.
    """

    def __init__(self, shape: tuple[int, ...], columns: tuple[Any, ...]) -> None:
        self.shape = shape
        self.sources: list[int]
        self.paths: list[str]
        self.starts: Numbers
        self.shapes: Numbers
        self.checks: list[str | None]
        self.more: list[Mapping[str, Any]]
        self.sources, self.paths, self.starts, self.shapes, self.checks, self.more = columns
        self.index = BoxIndex(shape, self.starts, self.starts + self.shapes)

    @classmethod
    def of(cls, shape: tuple[int, ...], rows: Sequence[Row]) -> Table:
        """The table of some rows."""
        ndim = len(shape)
        return cls(
            shape,
            (
                [row.source for row in rows],
                [row.path for row in rows],
                _corners((row.start for row in rows), ndim),
                _corners((row.shape for row in rows), ndim),
                [row.check for row in rows],
                [row.more for row in rows],
            ),
        )

    def __len__(self) -> int:
        return len(self.sources)

    def row(self, number: int) -> Row:
        """One piece."""
        return Row(
            self.sources[number],
            self.paths[number],
            tuple(self.starts[number].tolist()),
            tuple(self.shapes[number].tolist()),
            self.checks[number],
            self.more[number],
        )

    def rows(self) -> list[Row]:
        """All pieces."""
        return [
            Row(source, path, tuple(start), tuple(shape), check, more)
            for source, path, start, shape, check, more in zip(
                self.sources,
                self.paths,
                self.starts.tolist(),
                self.shapes.tolist(),
                self.checks,
                self.more,
                strict=True,
            )
        ]

    def cut(self, start: Sequence[int], shape: Sequence[int]) -> Table:
        """The pieces of a box of the whole, relative to it."""
        low = np.array(start, np.int64).reshape(-1)
        high = low + np.array(shape, np.int64).reshape(-1)
        begin = np.maximum(self.starts, low)
        end = np.minimum(self.starts + self.shapes, high)
        kept = np.nonzero((begin < end).all(axis=1))[0]
        moved = (begin - self.starts)[kept]
        more = [self.more[number] for number in kept.tolist()]
        for place in np.nonzero(moved.any(axis=1))[0].tolist():
            more[place] = _later(more[place], moved[place].tolist())
        return Table(
            tuple(shape),
            (
                [self.sources[number] for number in kept.tolist()],
                [self.paths[number] for number in kept.tolist()],
                (begin - low)[kept],
                (end - begin)[kept],
                [self.checks[number] for number in kept.tolist()],
                more,
            ),
        )

    def __reduce__(self) -> Any:
        columns = (self.sources, self.paths, self.starts, self.shapes, self.checks, self.more)
        return Table, (self.shape, columns)


def _corners(rows: Iterable[tuple[int, ...]], ndim: int) -> Numbers:
    found = np.array([*rows], np.int64)
    return found.reshape(len(found), ndim)


def _later(more: Mapping[str, Any], moved: list[int]) -> Mapping[str, Any]:
    """What is special about a piece that begins so many elements later along each axis."""
    axes = more.get("axes", range(len(moved)))
    first = more.get("from", [0] * len(axes))
    step = more.get("step", [1] * len(axes))
    origin = [
        one if axis is None else one + stride * moved[axis]
        for axis, one, stride in zip(axes, first, step, strict=True)
    ]
    return {**more, "from": origin}
