"""Chunk grids, from v3 documents and from users.

A regular grid has chunks of one shape. A rectilinear grid lists the lengths of the chunks along
each axis, with equal neighbours as ``[length, count]``, or has one length for as many chunks as
needed. The lists may reach beyond the array's shape, because the array was longer once, or may
grow.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

from zarrix._metadata.checks import MAX_LENGTH, extension, lengths, wrong
from zarrix._metadata.chunk_grid import AxisGrid, axis_of

__all__ = ["check_units", "grid_document", "has_lists", "lists_of", "parse_grid"]

Shape = tuple[int, ...]

_SHAPES = "chunk_grid.configuration.chunk_shapes"


def parse_grid(grid: Any, shape: Shape, label: str) -> tuple[Shape, tuple[AxisGrid, ...] | None]:
    """The chunk shape (the longest lengths), and the axes if the grid is rectilinear."""
    name, configuration = extension(grid, "chunk_grid", label)
    if name == "regular":
        return _chunk_shape(configuration.get("chunk_shape"), shape, label), None
    if name != "rectilinear":
        raise wrong(label, "chunk_grid", name, "'regular' and 'rectilinear'")
    if configuration.get("kind") != "inline":
        kind = configuration.get("kind")
        raise wrong(label, "chunk_grid.configuration.kind", kind, "'inline'")
    given = configuration.get("chunk_shapes")
    if not isinstance(given, list) or len(given) != len(shape):
        expected = f"a list with the chunks of each axis of the shape {list(shape)}"
        raise wrong(label, _SHAPES, given, expected)
    axes = []
    for number, (spec, size) in enumerate(zip(given, shape, strict=True)):
        axis = axis_of(spec)
        if axis is None:
            raise wrong(
                label,
                f"{_SHAPES}[{number}]",
                spec,
                "a length, or a list of lengths and [length, count] pairs, all of them whole "
                "numbers of at least 1 and their sum at most 2**63-1",
            )
        if axis.end is not None and axis.end < size:
            expected = f"chunks that cover the axis of length {size}, not {axis.end} elements"
            raise wrong(label, f"{_SHAPES}[{number}]", spec, expected)
        axes.append(axis)
    return tuple(max(axis.lengths) for axis in axes), tuple(axes)


def check_units(axes: tuple[AxisGrid, ...], shape: Shape, label: str) -> None:
    """Raise an error if inner chunks of ``shape`` do not divide all shards."""
    for number, (axis, unit) in enumerate(zip(axes, shape, strict=True)):
        uneven = [length for length in sorted(axis.lengths) if length % unit]
        if uneven:
            expected = f"multiples of the inner chunks of {unit}, which {uneven[0]} is not"
            raise wrong(label, f"{_SHAPES}[{number}]", axis.document(), expected)


def _chunk_shape(given: Any, shape: Shape, label: str) -> Shape:
    key = "chunk_grid.configuration.chunk_shape"
    if isinstance(given, list | tuple) and len(given) == len(shape):
        # zarr-python wrote the length of an empty axis as that of its chunks, of which it has none.
        given = [
            1 if type(length) is int and length == size == 0 else length
            for length, size in zip(given, shape, strict=True)
        ]
    chunk = lengths(given, key, 1, label)
    if len(chunk) != len(shape):
        raise wrong(label, key, given, f"one length per axis of the shape {list(shape)}")
    return chunk


def grid_document(axes: Iterable[AxisGrid], stored: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a rectilinear grid; ``stored`` if that is the same grid."""
    configuration = stored["configuration"]
    shapes = [
        spec if axis_of(spec) == axis else axis.document()
        for spec, axis in zip(configuration["chunk_shapes"], axes, strict=True)
    ]
    return {**stored, "configuration": {**configuration, "chunk_shapes": shapes}}


# What users pass


def has_lists(chunks: Any) -> bool:
    """Whether ``chunks=`` or ``shards=`` lists the lengths of the chunks along some axis."""
    if getattr(chunks, "ndim", 0) == 2:
        return True
    if isinstance(chunks, (list, tuple)):
        for one in chunks:
            if isinstance(one, (list, tuple, AxisGrid)) or getattr(one, "ndim", 0) == 1:
                return True
    return False


def lists_of(chunks: Any, shape: Shape, inner: Shape | None, argument: str) -> list[Any]:
    """``chunk_shapes`` of a document from lengths, and lists of lengths, that users pass.

    Missing axes at the end, None and -1 are one chunk. Lists may have ``(length, count)`` pairs for
    runs of equal chunks. Their sum is the length of the axis, or for shards the length of all inner
    chunks that cover it.

    Raises
    ------
    ValueError
        There are more axes than in the array, or the sum of chunks differs from the length of an
        axis.

    Examples
    --------
    >>> lists_of([[10, 20, 30], 50], (60, 100), None, "chunks")
    [[10, 20, 30], 50]
    """
    given = [*chunks]
    if len(given) > len(shape):
        raise ValueError(
            f"{argument} has the chunks of {len(given)} axes, the shape {shape} has {len(shape)}"
        )
    given += [None] * (len(shape) - len(given))
    units = (1,) * len(shape) if inner is None else inner
    return [
        _axis_document(one, size, unit, f"{argument}[{number}]")
        for number, (one, size, unit) in enumerate(zip(given, shape, units, strict=True))
    ]


def _axis_document(value: Any, size: int, unit: int, argument: str) -> Any:
    if isinstance(value, AxisGrid):
        # The chunks of an existing array may reach beyond its shape.
        return value.document()
    value = _plain(value)
    if value is None or value == -1:
        return -(-max(size, 1) // unit) * unit
    axis = axis_of(value)
    if axis is None:
        raise ValueError(
            f"{argument}={value!r}; expected a length, or a list of lengths and of "
            f"(length, count) pairs, all of them from 1 to {MAX_LENGTH}"
        )
    if axis.end is not None and size and not size <= axis.end < size + unit:
        raise ValueError(
            f"{argument}={value!r} has chunks for {axis.end} elements; the axis has {size}"
        )
    return axis.document()


def _plain(value: Any) -> Any:
    """Convert lengths to ints in lists; return any other value as it is, which is an error
    later.
    """
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 1:
        return [_plain(one) for one in value]
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return operator.index(value)
