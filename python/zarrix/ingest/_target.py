"""The destination of an append: its stored variables, and the arrays of a new one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.like import take_storage
from zarrix._dtypes.variable import dtype_in_3
from zarrix._hierarchy.group import Group
from zarrix._metadata.guess import chunks_of_bytes
from zarrix.convert._cf import FILL, in_v3
from zarrix.ingest._sources import Source
from zarrix.ingest._variables import Variable

__all__ = ["create_variables", "template"]

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_CHUNK, _MOST_CHUNK = 1 << 20, 16 << 20
# Bytes of a chunk of a coordinate.
_COORDINATE = 64 << 10


def template(sources: Sequence[Source]) -> Source:
    """The source that a new destination is like: the one with the first label."""
    return min(sources, key=_first_label)


def _first_label(source: Source) -> tuple[bool, int | float]:
    values, tick = source.labels.values, source.labels.decoding.tick or 1
    return (False, values.min().item() * tick) if len(values) else (True, 0)


def create_variables(
    group: Group, source: Source, along: str, chunks: Mapping[str, int]
) -> dict[str, Array]:
    """The arrays of a source, without rows along the dimension; others have their elements.

    Parameters
    ----------
    group : Group
        Without arrays.
    source : Source
    along : str
    chunks : mapping of str to int
        The length of chunks by dimension; those of the source where it does not say it.
    """
    made = {}
    for name, one in source.variables.items():
        axis = one.axis(along)
        shape = tuple(0 if at == axis else n for at, n in enumerate(one.shape))
        made[name] = group.create_array(
            name, shape=shape, **_options(group, source, one, along, chunks)
        )
        if axis is None:
            made[name][...] = one.read(tuple(slice(0, n) for n in one.shape))
    return made


def _options(
    group: Group, source: Source, variable: Variable, along: str, chunks: Mapping[str, int]
) -> dict[str, Any]:
    """The arguments of `create_array`: those of the source, if it is Zarr."""
    options: dict[str, Any] = {}
    array = variable.array
    attributes = dict(variable.attributes)
    if array is None or source.is_file or variable.chunks is None:
        options["dtype"] = variable.dtype if array is None else dtype_in_3(array)
        options["fill_value"] = None if array is None else array.fill_value
    else:
        options = {"shape": variable.shape, "zarr_format": group.zarr_format}
        take_storage(array, options)
        del options["zarr_format"]
        if group.zarr_format == metadata_of(array).zarr_format == 2 and FILL not in array.attrs:
            # The fill value in the metadata says it.
            attributes.pop(FILL, None)
    known = _chunks(variable, along, options.get("chunks"))
    asked = [chunks.get(name, n) for name, n in zip(variable.dimensions, known, strict=True)]
    if asked != [*options.get("chunks", ())]:
        options["chunks"] = tuple(asked)
        options.pop("shards", None)
    if group.zarr_format == 3:
        options["dimension_names"] = variable.dimensions
        attributes = in_v3(attributes, np.dtype(variable.dtype))
    else:
        attributes[_DIMENSIONS] = list(variable.dimensions)
    return {**options, "attributes": attributes}


def _chunks(variable: Variable, along: str, known: Any) -> tuple[int, ...]:
    """The chunks of a new array, where nothing else is asked for.

    A coordinate, and what else has no other dimension, has long ones: it is read as a whole, and
    grows by few elements at a time.
    """
    itemsize = 64 if variable.dtype.kind in "OT" else max(1, variable.dtype.itemsize)
    if variable.dimensions == (along,):
        return (max(1, _COORDINATE // itemsize),)
    if variable.chunks is not None:
        known = known if isinstance(known, tuple) else variable.chunks
        nbytes = math.prod(known) * itemsize
        if nbytes <= _MOST_CHUNK:
            return tuple(max(1, int(n)) for n in known)
    return chunks_of_bytes(tuple(max(1, n) for n in variable.shape), itemsize, _CHUNK)
