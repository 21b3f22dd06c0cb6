"""`concat`: arrays behind one another along an axis, as one array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Unpack

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import VirtualError
from zarrix._runtime.signatures import takes
from zarrix.virtual._given import Given, Sources
from zarrix.virtual._keywords import PieceKeywords, reading_of
from zarrix.virtual._table import Row
from zarrix.virtual._whole import Making

__all__ = ["concat", "concatenated", "stack"]


@takes()
def concat(
    sources: Any,
    axis: int | str = 0,
    *,
    dtype: Any = None,
    decode: Literal["cf"] | None = None,
    missing: Literal["error", "fill"] = "error",
    storage_options: Mapping[str, Any] | None = None,
) -> Array:
    """Arrays behind one another along an axis, as one read-only array; nothing is copied.

    A read is equal to one of `numpy.concatenate` of the pieces, or an error. All sources are opened
    once, to learn their shapes; a read opens those that it needs.

    Parameters
    ----------
    sources : sequence of Array, lazy view, str or Path, or a pattern
        Zarr arrays, files of other formats, and paths in these (``run.h5/u``). The matches of a
        pattern are in natural order, in which ``t2`` comes before ``t10``. URLs of buckets may be
        patterns, too (``s3://era5/2020-*.nc/t2m``); web servers do not list their names.
    axis : int or str
        Its number, or the name of a dimension.
    dtype : dtype, optional
        What all pieces are cast to, if that keeps every value.
    decode : {"cf"}, optional
        Decode each piece by its own ``scale_factor``, ``add_offset``, ``_FillValue`` and
        ``missing_value``, to floats with NaN. Otherwise these attributes must be equal.
    missing : {"error", "fill"}
        What a read does if a piece is gone: it raises, or the piece reads as the fill value.
    storage_options : mapping, optional
        For sources that are URLs.

    Returns
    -------
    Array

    Raises
    ------
    VirtualError
        Shapes, dtypes or the attributes that say what values mean differ.
    PieceNotFoundError
        A source is not there (also a ``FileNotFoundError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> np.save("t1.npy", np.arange(4))
    >>> zarr.save_array("t2.zarr", np.arange(10, 13))
    >>> series = virtual.concat(["t1.npy", "t2.zarr"])
    >>> series[2:6]
    array([ 2,  3, 10, 11])
    """
    pieces = Sources(storage_options)
    arrays = pieces.arrays(sources)
    return concatenated(pieces, arrays, axis, (dtype, decode, missing))


def concatenated(
    pieces: Sources, arrays: list[Given], axis: int | str, options: tuple[Any, Any, str]
) -> Array:
    """`concat` of arrays that are listed already."""
    number = axis_of(axis, arrays)
    for one in arrays:
        check_shape(arrays[0], one, number)
    making = Making.of(pieces, arrays, *options)
    starts = np.cumsum([0, *(one.shape[number] for one in arrays)]).tolist()
    shape = list(arrays[0].shape)
    shape[number] = starts[-1]
    axes = range(len(shape))
    rows: list[Row] = []
    for one, start in zip(arrays, starts[:-1], strict=True):
        corner = [0] * len(shape)
        corner[number] = start
        rows += making.rows(one, corner, axes)
    return making.array(making.whole(arrays, shape, axes), rows)


@takes(PieceKeywords, like=concat)
def stack(
    sources: Any, axis: int = 0, *, name: str | None = None, **kwargs: Unpack[PieceKeywords]
) -> Array:
    """Arrays of one shape along a new axis, as one read-only array; nothing is copied.

    A read is equal to one of `numpy.stack` of the pieces, or an error.

    Parameters
    ----------
    sources : sequence of Array, lazy view, str or Path, or a pattern
        As for `concat`.
    axis : int
        Where the new axis is in the result.
    name : str, optional
        Its name.
    **kwargs
        As for `concat`: ``dtype``, ``decode``, ``missing`` and ``storage_options``.

    Returns
    -------
    Array

    Raises
    ------
    VirtualError
        Shapes, dtypes or the attributes that say what values mean differ.
    PieceNotFoundError
        A source is not there (also a ``FileNotFoundError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> np.save("run1.npy", np.arange(3))
    >>> np.save("run2.npy", np.arange(5, 8))
    >>> virtual.stack("run*.npy", name="run")[:, 1]
    array([1, 6])
    """
    pieces = Sources(kwargs.get("storage_options"))
    arrays = pieces.arrays(sources)
    first = arrays[0]
    ndim = len(first.shape) + 1
    if not -ndim <= axis < ndim:
        raise VirtualError(f"axis {axis} is not one of a result with {ndim} axes")
    number = axis % ndim
    for one in arrays:
        if one.shape != first.shape:
            raise VirtualError(
                f"{first.told} has shape {first.shape}, and {one.told} has {one.shape}; arrays "
                "that are stacked have one shape"
            )
    making = Making.of(pieces, arrays, *reading_of(kwargs))
    shape = [*first.shape[:number], len(arrays), *first.shape[number:]]
    axes = [n for n in range(ndim) if n != number]
    rows: list[Row] = []
    for place, one in enumerate(arrays):
        corner = [0] * ndim
        corner[number] = place
        rows += making.rows(one, corner, axes)
    whole = making.whole(arrays, shape, axes)
    if name is not None:
        names = list(whole.names) or [None] * ndim
        names[number] = name
        whole.names = names
    return making.array(whole, rows)


def axis_of(axis: int | str, pieces: list[Given]) -> int:
    """The number of an axis, of which the first piece may know the name."""
    first = pieces[0]
    ndim = len(first.shape)
    if isinstance(axis, str):
        if axis not in first.names:
            raise VirtualError(f"{first.told} has no dimension {axis!r}: {first.names}")
        return list(first.names).index(axis)
    if not -ndim <= axis < ndim:
        raise VirtualError(f"axis {axis} is not one of {first.told}, whose shape is {first.shape}")
    return axis % ndim


def check_shape(first: Given, other: Given, axis: int) -> None:
    """Raise an error if two pieces differ in more than their length along ``axis``."""

    def rest(shape: tuple[int, ...]) -> tuple[int, ...]:
        return shape[:axis] + shape[axis + 1 :]

    if len(other.shape) != len(first.shape) or rest(other.shape) != rest(first.shape):
        raise VirtualError(
            f"{first.told} has shape {first.shape}, and {other.told} has {other.shape}; they may "
            f"differ along axis {axis} only"
        )
