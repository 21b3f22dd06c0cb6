"""Arrays that are made of boxes of other arrays: `BoxesIO` stands in for the engine's array.

A box is a range along each axis, and part of an open array. `zarrix._array.box_index` finds the
boxes that a selection touches; a function of the caller opens them. Up to 256 boxes are open for
one call, and all of these are read by one call of the engine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from zarrix import _engine
from zarrix._array.box_index import BoxIndex, SortedList, cut_axis
from zarrix._array.stored import chunk_key
from zarrix._errors import DownloadLimitError, ZarrixError
from zarrix._metadata.array import ArrayMetadata
from zarrix._stores.keys import key_of

__all__ = ["MOST_AT_ONCE", "BoxesIO", "OpenBox", "first_of"]

Item = TypeVar("Item")
Result = TypeVar("Result")

# How many boxes one call of the engine reads, and so how many have to be open.
MOST_AT_ONCE = 256


class OpenBox(NamedTuple):
    """The elements of a box: part of an open array.

    Attributes
    ----------
    io : ArrayIO
    dtype : dtype
        Of the elements that ``io`` reads.
    axes : tuple of int or None
        For each axis of ``io``, the axis of the whole that it lies along; None for one of which
        the box has a single index.
    origin, step : tuple of int
        For each axis of ``io``, the index of the first element of the box, and the distance to the
        next one.
    decode : function or None
        From the stored elements to those of the whole, if these differ.
    is_plain : bool
        Whether the axes are those of the whole, from index 0 on, with steps of 1, and the elements
        do not differ.
    store : object
        What ``io`` reads from, and does not keep by itself.
    """

    io: _engine.ArrayIO
    dtype: np.dtype[Any]
    axes: tuple[int | None, ...]
    origin: tuple[int, ...]
    step: tuple[int, ...]
    decode: Callable[[Any], Any] | None
    is_plain: bool
    store: object = None


class _Part(NamedTuple):
    """One box of a selection.

    Attributes
    ----------
    box : OpenBox
    own : tuple
        The selection from ``box.io``.
    coords : tuple of ndarray
        The indices of points, for each None in ``own``.
    kept : list of int
        The axes of the whole that the result of ``own`` has, in its order.
    """

    box: OpenBox
    own: tuple[Any, ...]
    coords: tuple[Any, ...]
    kept: list[int]

    @classmethod
    def of(cls, box: OpenBox, inside: Sequence[Any], points: Sequence[Any] = ()) -> _Part:
        """``inside`` is relative to the box; along an axis that is None there, ``points`` has the
        index of each point.
        """
        own: list[Any] = []
        coords: list[Any] = []
        kept: list[int] = []
        for axis, origin, step in zip(box.axes, box.origin, box.step, strict=True):
            one: Any = 0 if axis is None else inside[axis]
            if one is None:
                assert axis is not None
                coords.append(np.ascontiguousarray(origin + step * points[axis], np.int64))
                own.append(None)
            elif isinstance(one, int):
                own.append(origin + step * one)
            else:
                assert axis is not None
                kept.append(axis)
                if isinstance(one, tuple):
                    own.append((origin + step * one[0], step * one[1], one[2]))
                else:
                    own.append(np.ascontiguousarray(origin + step * one, np.int64))
        return cls(box, tuple(own), tuple(coords), kept)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what ``own`` selects, without axes of points."""
        ranges = (one for one in self.own if one is not None and not isinstance(one, int))
        return tuple(one[2] if isinstance(one, tuple) else len(one) for one in ranges)

    def read_points(self, values: Any) -> None:
        """Fill ``values``, whose first axis counts points."""
        if not self.coords:
            # All of these points lie along axes that the array does not have.
            self.box.io.read(self.own, values[0, ...])
            values[1:] = values[0]
        elif len(self.coords) == len(self.own):
            self.box.io.read_points(self.coords, values)
        else:
            self.box.io.read_boxes(self.own, self.coords, values)

    def decoded(self, values: Any, shown: Sequence[int], before: int = 0) -> Any:
        """Elements that were read, as those of the whole: with the axes ``shown``, in that order,
        behind ``before`` axes of points. Axes that the box lacks have a length of 1.
        """
        if self.box.decode is not None:
            values = self.box.decode(values)
        order = [before + self.kept.index(axis) for axis in shown if axis in self.kept]
        values = values.transpose(*range(before), *order)
        new = [before + n for n, axis in enumerate(shown) if axis not in self.kept]
        return np.expand_dims(values, new) if new else values

    def in_own_order(self, view: Any, shown: Sequence[int]) -> Any:
        """A view of the result with the axes of ``own``, to read into; None if there is none."""
        if self.box.decode is not None:
            return None
        added = [n for n, axis in enumerate(shown) if axis not in self.kept]
        if any(view.shape[n] != 1 for n in added):
            return None
        # Not squeeze: a range may have a length of 1, too.
        view = view[(*(0 if n in added else slice(None) for n in range(view.ndim)), ...)]
        left = [axis for axis in shown if axis in self.kept]
        return view.transpose([left.index(axis) for axis in self.kept])


class BoxesIO:
    """The part of the engine's interface of an array that reads, for an array made of boxes.

    Parameters
    ----------
    metadata : ArrayMetadata
        Of the whole.
    fill : element
        What lies in no box, or in one that is missing.
    index : BoxIndex
    opened : function
        From the numbers of boxes to an `OpenBox` for each; None for one that is missing.
    path : str
        Of the whole in its store.
    """

    def __init__(
        self,
        metadata: ArrayMetadata,
        fill: Any,
        index: BoxIndex,
        opened: Callable[[Sequence[int]], list[OpenBox | None]],
        path: str = "",
    ) -> None:
        self._path = path
        self.shape, self.dtype, self.fill = metadata.shape, metadata.dtype, fill
        self._metadata, self.index, self._opened = metadata, index, opened
        self._has_holes = index.covered != math.prod(self.shape)

    def read(self, axes: Any, out: Any) -> None:
        """Fill ``out`` with the elements of a selection: indices, ranges, or arrays of indices."""
        line = self.index.axis
        if line is not None and type(axes[line]) is tuple and not self._has_holes:
            self._read_line(axes, out, line)
        else:
            self._read_all([(axes, out)])

    def _read_line(self, axes: Any, out: Any, line: int) -> None:
        """A range of boxes that lie behind one another, without holes."""
        step = axes[line][1]
        numbers, first, counts, offsets = self.index.along(*axes[line])
        before, after = axes[:line], axes[line + 1 :]
        lead = (slice(None),) * sum(type(one) is not int for one in before)
        end = 0
        while end < len(numbers):
            begin = end
            boxes: Any = first_of(self._opened, numbers[begin : begin + MOST_AT_ONCE])
            end = begin + len(boxes)
            if all(map(_is_plain, boxes)):
                some = zip(
                    boxes, first[begin:end], counts[begin:end], offsets[begin:end], strict=True
                )
                _engine.read_parts(
                    [
                        (box.io, (*before, (i, step, n), *after), out[(*lead, slice(at, at + n))])
                        for box, i, n, at in some
                    ]
                )
                # The zip has its last box, whose file may have to make room.
                del some
                boxes.clear()
                continue
            low = min(offsets[begin:end])
            high = max(at + n for at, n in zip(offsets[begin:end], counts[begin:end], strict=True))
            part = list(axes)
            part[line] = (axes[line][0] + step * low, step, high - low)
            self._read_all([(part, out[(*lead, slice(low, high))])])
            boxes.clear()

    def _read_all(self, reads: Sequence[tuple[Any, Any]]) -> None:
        """Fill the second of each pair with the selection that comes first."""
        parts: list[tuple[Any, ...]] = []
        for axes, out in reads:
            selection = [
                one if isinstance(one, int | tuple) else SortedList.of(one) for one in axes
            ]
            shown = [n for n, one in enumerate(selection) if not isinstance(one, int)]
            numbers = self.index.touched(selection)
            if self._has_holes:
                out[...] = self.fill
            end = 0
            while end < len(numbers):
                some = numbers[end : end + MOST_AT_ONCE].tolist()
                if len(parts) + len(some) > MOST_AT_ONCE:
                    self._run(parts)
                    parts = []
                try:
                    boxes = first_of(self._opened, some)
                except DownloadLimitError:
                    if not parts:
                        raise
                    # These keep files open.
                    self._run(parts)
                    parts = []
                    continue
                end += len(boxes)
                parts += self._parts(selection, shown, out, some[: len(boxes)], boxes)
                boxes.clear()
        self._run(parts)

    def _groups(self, numbers: Any) -> Iterator[tuple[list[int], list[OpenBox | None]]]:
        """Numbers of boxes, and these boxes: as many as are open at once."""
        end = 0
        while end < len(numbers):
            some = numbers[end : end + MOST_AT_ONCE].tolist()
            boxes = first_of(self._opened, some)
            end += len(boxes)
            yield some[: len(boxes)], boxes
            # What the caller has of them would keep their files open.
            boxes.clear()

    def _parts(
        self,
        selection: list[Any],
        shown: list[int],
        out: Any,
        numbers: list[int],
        boxes: Sequence[OpenBox | None],
    ) -> list[tuple[Any, ...]]:
        """For each box: what to read, the axes of the result, the result, and where in it."""
        found: list[tuple[Any, ...]] = []
        starts, stops = self.index.starts, self.index.stops
        for number, box in zip(numbers, boxes, strict=True):
            cuts = []
            for one, begin, end in zip(
                selection, starts[number].tolist(), stops[number].tolist(), strict=True
            ):
                cut = cut_axis(one, begin, end)
                if cut is None:
                    break
                cuts.append(cut)
            else:
                where = [cuts[axis][1] for axis in shown]
                if box is None and out is not None:
                    _put(out, where, self.fill)
                elif box is not None:
                    found.append((_Part.of(box, [own for own, _ in cuts]), shown, out, where))
        return found

    def _run(self, parts: list[tuple[Any, ...]]) -> None:
        """Read parts by one call of the engine, and put those that change into the results."""
        native: list[Any] = []
        later: list[Any] = []
        for part, shown, out, where in parts:
            direct = None
            if all(isinstance(one, slice) for one in where):
                direct = part.in_own_order(out[(*where, ...)], shown)
            if direct is None:
                direct = np.empty(part.shape, part.box.dtype)
                later.append((part, direct, shown, out, where))
            native.append((part.box.io, part.own, direct))
        _engine.read_parts(native)
        for part, values, shown, out, where in later:
            _put(out, where, part.decoded(values, shown))

    # Points and windows

    def read_points(self, coords: Any, out: Any) -> None:
        """Fill ``out`` with single elements; ``coords`` has an array of indices for each axis."""
        self.read_boxes((None,) * len(coords), coords, out)

    def read_boxes(self, axes: Any, coords: Any, out: Any) -> None:
        """Fill ``out`` with a selection that has, for each point, an index of its own where
        ``axes`` has None; the first axes of ``out`` count points.
        """
        wanted = self._pointed(axes, coords)
        selection, by_axis, shown = wanted
        rest = out.shape[out.ndim - len(shown) :]
        flat = np.empty((len(next(iter(by_axis.values()))), *rest), self.dtype)
        flat[...] = self.fill
        for some, boxes in self._groups(self.index.touched(selection)):
            self._read_points_of(some, boxes, wanted, flat)
        out[...] = flat.reshape(out.shape)

    def _read_points_of(
        self, numbers: Sequence[int], boxes: Sequence[OpenBox | None], pointed: Any, flat: Any
    ) -> None:
        """Fill the points of ``flat`` that lie in some boxes."""
        for number, box in zip(numbers, boxes, strict=True):
            found = self._points_in(number, box, pointed)
            if found is not None:
                part, points, where = found
                values = np.empty((len(points), *part.shape), part.box.dtype)
                part.read_points(values)
                _put(flat, [points, *where], part.decoded(values, pointed[2], 1))

    def _pointed(self, axes: Any, coords: Any) -> tuple[Any, ...]:
        """A selection for the index, the indices of points by axis, and the axes of ranges."""
        pointed = [n for n, one in enumerate(axes) if one is None]
        flat = (np.asarray(one).reshape(-1) for one in coords)
        by_axis = dict(zip(pointed, flat, strict=True))
        selection = [
            one if isinstance(one, int | tuple) else SortedList.of(by_axis.get(n, one))
            for n, one in enumerate(axes)
        ]
        ranges = (n for n, one in enumerate(axes) if one is not None and not isinstance(one, int))
        return selection, by_axis, [*ranges]

    def _points_in(
        self, number: int, box: OpenBox | None, pointed: tuple[Any, ...]
    ) -> tuple[_Part, Any, list[Any]] | None:
        """The points that lie in one box: what to read, their numbers, and where they are."""
        selection, by_axis, shown = pointed
        starts, stops = self.index.starts[number].tolist(), self.index.stops[number].tolist()
        inside: list[Any] = []
        where: list[Any] = []
        points: Any = None
        for axis, one in enumerate(selection):
            if axis in by_axis:
                low, high = np.searchsorted(one.values, (starts[axis], stops[axis])).tolist()
                mine = np.arange(low, high) if one.order is None else one.order[low:high]
                points = mine if points is None else np.intersect1d(points, mine)
                inside.append(None)
                continue
            cut = cut_axis(one, starts[axis], stops[axis])
            if cut is None:
                return None
            inside.append(cut[0])
            if axis in shown:
                where.append(cut[1])
        if box is None or not len(points):
            return None
        points = np.sort(points)
        own = {axis: indices[points] - starts[axis] for axis, indices in by_axis.items()}
        by_number = [own.get(axis) for axis in range(len(selection))]
        return _Part.of(box, inside, by_number), points, where

    def read_windows(self, starts: Any, out: Any, clip: bool = False) -> None:
        """Fill ``out``, of shape ``(N, *window)``, with the windows that begin at ``starts``. With
        ``clip``, parts of ``out`` outside the array are unchanged.
        """
        size = out.shape[1:]
        reads = []
        for number, corner in enumerate(np.asarray(starts).tolist()):
            ends = zip(corner, size, self.shape, strict=True)
            box = [(max(0, at), min(at + n, whole)) for at, n, whole in ends]
            if any(low >= high for low, high in box):
                continue
            axes = tuple((low, 1, high - low) for low, high in box)
            inside = (
                slice(low - at, high - at) for (low, high), at in zip(box, corner, strict=True)
            )
            reads.append((axes, out[(number, *inside)]))
        self._read_all(reads)

    def read_bordered(self, starts: Any, out: Any, border: str) -> None:
        """`read_windows` of windows that may leave the array: ``border`` is that of `read_many`,
        and with ``"pad"`` parts of ``out`` outside the array are unchanged.
        """
        if border in ("inside", "pad"):
            self.read_windows(starts, out, True)
            return
        reads = []
        for number, corner in enumerate(np.asarray(starts).tolist()):
            ends = zip(corner, out.shape[1:], self.shape, strict=True)
            axes = [_folded(np.arange(at, at + n), whole, border) for at, n, whole in ends]
            reads.append((axes, out[number]))
        self._read_all(reads)

    # What a read costs, and what is stored

    def _of_parts(self, call: Callable[[_Part], Result], axes: Any, coords: Any) -> list[Result]:
        """What a function returns for the parts of all boxes that a selection touches."""
        wanted = self._pointed(axes, coords)
        results: list[Result] = []
        for some, boxes in self._groups(self.index.touched(wanted[0])):
            parts = self._point_parts if coords else self._range_parts
            results += [call(part) for part in parts(wanted, some, boxes)]
        return results

    def _range_parts(
        self, pointed: Any, numbers: list[int], boxes: list[OpenBox | None]
    ) -> list[_Part]:
        return [part for part, *_ in self._parts(pointed[0], pointed[2], None, numbers, boxes)]

    def _point_parts(
        self, pointed: Any, numbers: list[int], boxes: list[OpenBox | None]
    ) -> list[_Part]:
        each = zip(numbers, boxes, strict=True)
        found = [self._points_in(number, box, pointed) for number, box in each]
        return [one[0] for one in found if one is not None]

    def cost(self, axes: Any, coords: Any = ()) -> tuple[int, ...]:
        """The cost of a read: the sums of those of the boxes."""
        each = self._of_parts(lambda part: part.box.io.cost(part.own, part.coords), axes, coords)
        return tuple(map(sum, zip(*each, strict=True))) if each else (0,) * 6

    def strategy(self, axes: Any, coords: Any = ()) -> str:
        """How most of the boxes are read."""
        words = self._of_parts(
            lambda part: part.box.io.strategy(part.own, part.coords), axes, coords
        )
        return max(set(words), key=words.count) if words else "nothing"

    def initialized(self) -> int:
        """The number of chunks: each has elements of a piece, or is all fill value."""
        return math.prod(self._counts())

    def stored_chunks(self, among: Sequence[str] | None = None) -> list[tuple[str, list[int]]]:
        """Key and coordinates of every chunk; none is stored by itself."""
        every = itertools.product(*map(range, self._counts()))
        found = [
            (key_of(self._path, chunk_key(self._metadata, coords)), [*coords]) for coords in every
        ]
        names = None if among is None else {*among}
        return found if names is None else [one for one in found if one[0] in names]

    def verify(
        self,
        watcher: Callable[[int], object] | None = None,
        among: Sequence[str] | None = None,
    ) -> tuple[int, int, list[tuple[str, str]], list[tuple[str, int]]]:
        """Read every chunk, as the engine's array does, and drop the result."""
        broken: list[tuple[str, str]] = []
        chunks = self.stored_chunks(among)
        nbytes = 0
        for number, (key, coords) in enumerate(chunks):
            region = self._metadata.chunk_region(tuple(coords))
            axes = tuple((part.start, 1, part.stop - part.start) for part in region)
            values = np.empty([axis[2] for axis in axes], self.dtype)
            try:
                self.read(axes, values)
            except (ZarrixError, OSError) as error:
                broken.append((key, str(error)))
            nbytes += values.nbytes
            if watcher is not None:
                watcher(number + 1)
        return len(chunks), nbytes, broken, []

    def _counts(self) -> list[int]:
        grid = zip(self._metadata.grid, self.shape, strict=True)
        return [axis.count(size) for axis, size in grid]


def _folded(indices: Any, length: int, border: str) -> Any:
    """Indices of an axis, of which those outside are of its edge, or mirrored at it."""
    if border == "edge" or length == 1:
        return np.clip(indices, 0, length - 1)
    period = 2 * (length - 1)
    indices = np.abs(indices) % period
    return np.where(indices < length, indices, period - indices)


def first_of(
    opened: Callable[[Sequence[Item]], list[Result]], items: Sequence[Item]
) -> list[Result]:
    """What is opened for the first of some items: for all of them, if the disk has room for all
    files that have to be downloaded.
    """
    count = len(items)
    while True:
        try:
            return opened(items[:count])
        except DownloadLimitError:
            if count == 1:
                raise
            count //= 2


def _is_plain(box: OpenBox | None) -> bool:
    return box is not None and box.is_plain


def _put(out: Any, parts: Sequence[Any], values: Any) -> None:
    """Assign to part of a result: slices, or arrays of positions, along its first axes."""
    if all(isinstance(one, slice) for one in parts):
        out[(*parts, ...)] = values
        return
    positions = [
        np.arange(*one.indices(size)) if isinstance(one, slice) else one
        for one, size in zip(parts, out.shape, strict=False)
    ]
    out[np.ix_(*positions)] = values
