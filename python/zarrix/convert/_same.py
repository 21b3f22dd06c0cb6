"""What differs between two nodes, one of which may be a file of another format."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.dimension_names import names_of
from zarrix._array.sparse import grid_of
from zarrix.convert._cf import shown
from zarrix.convert._export_job import arrays_of
from zarrix.convert._regions import regions, step_of

__all__ = ["same_values"]

_REGION_BYTES = 16 * 2**20


def same_values(first: Any, second: Any) -> list[dict[str, str]]:
    """Name what differs in arrays, shapes, data types, attributes and values.

    Values are compared bit by bit, so that a NaN equals itself and -0.0 is not 0.0.

    Parameters
    ----------
    first, second : Array or Group

    Returns
    -------
    list of dict
        Each with the path and what differs there; empty if both are the same.

    Raises
    ------
    ConversionError
        A file is damaged.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.convert import same_values
    >>> same_values(zarr.array([1, 2]), zarr.array([1, 3]))
    [{'path': '', 'what': '1 of 2 values differ, first at (1,): 2 and 3'}]
    """
    found: list[dict[str, str]] = []
    mine, theirs = arrays_of(first), arrays_of(second)
    for path in sorted({*mine, *theirs}):
        if path not in mine or path not in theirs:
            told = "only in the first" if path in mine else "only in the second"
        else:
            told = _difference(mine[path], theirs[path])
        if told:
            found.append({"path": path, "what": told})
    return found


def _difference(first: Any, second: Any) -> str:
    if first.shape != second.shape:
        return f"shape {first.shape} and {second.shape}"
    if first.dtype != second.dtype and not (_has_text(first) and _has_text(second)):
        return f"dtype {first.dtype} and {second.dtype}"
    if [*names_of(first)] != [*names_of(second)]:
        return f"dimension names {names_of(first)} and {names_of(second)}"
    mine, theirs = shown(first), shown(second)
    different = [
        name for name in sorted({*mine, *theirs}) if repr(mine.get(name)) != repr(theirs.get(name))
    ]
    if different:
        return f"attributes {', '.join(different)}"
    return _different_values(first, second)


def _has_text(array: Any) -> bool:
    """Whether elements are text of any length, whose dtype in v2 is that of objects."""
    return array.dtype.kind == "T" or any(
        codec["name"].endswith("vlen-utf8") for codec in metadata_of(array).codecs
    )


def _different_values(first: Any, second: Any) -> str:
    unit = tuple(max(1, axis.even or 1) for axis in grid_of(first))
    step = step_of(first.shape, unit, None, max(1, first.dtype.itemsize), _REGION_BYTES)
    count, where = 0, ""
    for region in regions(first.shape, step):
        mine, theirs = np.asarray(first[region]), np.asarray(second[region])
        if _has_text(first):
            mine, theirs = mine.astype(object), theirs.astype(object)
        differ: Any = np.asarray(_bits(mine) != _bits(theirs))
        if differ.ndim > mine.ndim:
            differ = differ.any(axis=-1)
        here = int(np.count_nonzero(differ))
        if here and not where:
            at = tuple(int(one[0]) for one in np.nonzero(differ))
            told = tuple(i + one.start for i, one in zip(at, region, strict=True))
            where = f"{told}: {mine[at]} and {theirs[at]}"
        count += here
    return f"{count:,} of {first.size:,} values differ, first at {where}" if count else ""


def _bits(value: Any) -> Any:
    """Elements as bytes along a further axis; objects as they are."""
    if value.dtype.hasobject or value.dtype.kind == "T" or value.dtype.itemsize == 0:
        return value
    return np.ascontiguousarray(value).reshape(*value.shape, 1).view(np.uint8)
