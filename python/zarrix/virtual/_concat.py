"""`concat`: arrays behind one another along an axis, as one array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import VirtualError
from zarrix._runtime.signatures import takes
from zarrix.virtual._given import Given, Sources
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import Row, Table
from zarrix.virtual._whole import Whole, common_dtype, document_of, largest_chunks, row_of

__all__ = ["concat"]


@takes()
def concat(
    sources: Any,
    axis: int | str = 0,
    *,
    dtype: Any = None,
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
        pattern are in natural order, in which ``t2`` comes before ``t10``.
    axis : int or str
        Its number, or the name of a dimension.
    dtype : dtype, optional
        What all pieces are cast to, if that keeps every value.
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
    given = pieces.arrays(sources)
    number = axis_of(axis, given)
    wanted = common_dtype(given, dtype)
    starts = np.cumsum([0, *(one.shape[number] for one in given)]).tolist()
    shape = list(given[0].shape)
    shape[number] = starts[-1]
    rows: list[Row] = []
    more = {"fill": True} if missing == "fill" else {}
    for one, start in zip(given, starts, strict=False):
        check_shape(given[0], one, number)
        corner = [0] * len(shape)
        corner[number] = start
        rows.append(row_of(one, corner, one.shape, wanted, range(len(shape)), **more))
    whole = Whole(
        tuple(shape),
        wanted,
        given[0].metadata.fill_value,
        largest_chunks(given, range(len(shape)), len(shape)),
        given[0].attributes,
        given[0].names,
    )
    return array_of(whole, rows, pieces)


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


def array_of(whole: Whole, rows: list[Row], pieces: Sources) -> Array:
    """The virtual array of some pieces."""
    table = Table.of(whole.shape, rows)
    store = VirtualStore({"zarr.json": document_of(whole)}, {"": table}, pieces.opener)
    return Array(store, read_only=True)
