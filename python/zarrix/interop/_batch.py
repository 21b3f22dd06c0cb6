"""The selection that a codec pipeline of zarr-python was called for, from its list of chunks.

zarr-python divides a selection by chunks before it calls the pipeline: for each chunk the elements
in it and their place in the result. The engine takes whole selections, so these are joined again,
axis by axis. None is returned for a list that is not such a division.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import Indexer, Indices

__all__ = ["Keys", "selection_of"]


class Keys(NamedTuple):
    """How the keys of chunks are made: of an array with ``ndim`` axes."""

    ndim: int
    first: str
    separator: str

    @classmethod
    def of(cls, metadata: Any) -> Keys | None:
        """The keys of an array of zarr-python; None if its encoding is not known."""
        ndim = len(metadata.shape)
        if metadata.zarr_format == 2:
            return cls(ndim, "", metadata.dimension_separator)
        encoding = metadata.chunk_key_encoding
        if encoding.name not in ("default", "v2"):
            return None
        return cls(ndim, "c" if encoding.name == "default" else "", encoding.separator)

    def split(self, path: str) -> tuple[str, tuple[int, ...]]:
        """The path of the array, and the position of the chunk."""
        if not self.ndim:
            return path.rpartition("/")[0], ()
        if self.separator == "/":
            parts = path.rsplit("/", self.ndim + (1 if self.first else 0))
            numbers = parts[-self.ndim :]
            folder = parts[0] if len(parts) > self.ndim + (1 if self.first else 0) else ""
        else:
            folder, _, name = path.rpartition("/")
            numbers = name.split(self.separator)[-self.ndim :]
        return folder, tuple(map(int, numbers))


def selection_of(
    chunks: Sequence[tuple[tuple[int, ...], Any, Any]],
    chunk_shape: tuple[int, ...],
    drop_axes: tuple[int, ...],
) -> Indexer | None:
    """The selection that these chunks divide.

    Parameters
    ----------
    chunks : sequence of tuple
        Position of the chunk, the selection in it, and its place in the result.
    chunk_shape : tuple of int
    drop_axes : tuple of int
        Axes of length one in the selections, which the result does not have.

    Examples
    --------
    >>> halves = [((0,), (slice(2, 4),), (slice(0, 2),)), ((1,), (slice(0, 1),), (slice(2, 3),))]
    >>> selection_of(halves, (4,), ()).axes
    ((2, 1, 3),)
    """
    if not isinstance(chunks[0][2], tuple):
        return _points(chunks, chunk_shape)
    found: list[dict[int, tuple[Any, Any]]] = [{} for _ in chunk_shape]
    for position, inside, place in chunks:
        placed = iter(place)
        for axis, (number, selected) in enumerate(zip(position, inside, strict=True)):
            is_dropped = isinstance(selected, int | np.integer) or axis in drop_axes
            at = None if is_dropped else next(placed, None)
            found[axis].setdefault(number, (selected, at))
    if math.prod(map(len, found)) != len(chunks):
        return None
    axes: list[AxisSelection | Indices] = []
    shape: list[int] = []
    for parts, length in zip(found, chunk_shape, strict=True):
        axis = _axis(parts, length)
        if axis is None:
            return None
        axes.append(axis)
        if isinstance(axis, tuple):
            shape.append(axis[2])
        elif isinstance(axis, np.ndarray):
            shape.append(len(axis))
    return Indexer(tuple(axes), tuple(shape))


def _axis(parts: dict[int, tuple[Any, Any]], length: int) -> Any:
    """One axis, from the selection in each chunk along it."""
    first = min(parts)
    selected, at = parts[first]
    if at is None:
        return first * length + int(np.asarray(selected).ravel()[0]) if len(parts) == 1 else None
    if isinstance(selected, slice):
        return _range(parts, first, length)
    pieces = [(number, _indices(one), _indices(to)) for number, (one, to) in parts.items()]
    count = sum(len(one) for _, one, _ in pieces)
    indices = np.full(count, -1, np.int64)
    for number, one, to in pieces:
        if len(one) != len(to) or (len(to) and int(to.max()) >= count):
            return None
        indices[to] = one + number * length
    return None if count and int(indices.min()) < 0 else indices


def _range(parts: dict[int, tuple[Any, Any]], first: int, length: int) -> Any:
    start = first * length + parts[first][0].start
    step = parts[first][0].step or 1
    count = 0
    for number in sorted(parts):
        selected, at = parts[number]
        if not isinstance(selected, slice) or not isinstance(at, slice) or at.start != count:
            return None
        if number * length + selected.start != start + count * step:
            return None
        count = at.stop
    return start, step, count


def _indices(selected: Any) -> Any:
    """A slice, or an array of integers or booleans, as an array of indices."""
    if isinstance(selected, slice):
        return np.arange(selected.start, selected.stop, selected.step or 1)
    array = np.asarray(selected).ravel()
    return np.nonzero(array)[0] if array.dtype == bool else array


def _points(
    chunks: Sequence[tuple[tuple[int, ...], Any, Any]], chunk_shape: tuple[int, ...]
) -> Indexer | None:
    places = [_indices(place) for _, _, place in chunks]
    count = sum(map(len, places))
    coords = tuple(np.full(count, -1, np.int64) for _ in chunk_shape)
    for (position, inside, _), place in zip(chunks, places, strict=True):
        for axis, (number, selected) in enumerate(zip(position, inside, strict=True)):
            if len(place) and int(place.max()) >= count:
                return None
            coords[axis][place] = np.asarray(selected) + int(number) * chunk_shape[axis]
    if count and any(int(axis.min()) < 0 for axis in coords):
        return None
    return Indexer((None,) * len(coords), (count,), (), coords, (0, 1))
