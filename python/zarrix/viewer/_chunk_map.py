"""The route ``chunks``: stored bytes, ratio or time of change of each chunk of a plane."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.stored import box_of, chunk_key
from zarrix._engine import CancelToken
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import check_touched, item_bytes
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going
from zarrix.viewer._roots import Roots
from zarrix.viewer._stored import Box, inner_sizes_of, sizes_of

__all__ = ["chunks"]

# Chunks of which one answer tells.
_MOST_TOLD = 2**16
# Files that are asked for their time between two looks at the connection.
_STEP = 256


class _Known(NamedTuple):
    """Stored sizes of the chunks in a box of a grid; -1 where none is stored."""

    grid: Any
    box: Box
    sizes: Any


def chunks(roots: Roots, parameters: Parameters) -> Answer:
    """A number for each chunk of a plane, in rows; null where none is stored.

    Chunks of the other axes of the selection count together: their bytes are added, and the time
    is the latest one.
    """
    array = roots.array(parameters.text("path"))
    axes, shown = parameters.selection(array).axes, parameters.wholes("axes", 2)
    if len(set(shown)) != 2 or max(shown) >= array.ndim:
        raise Refused(400, "axes= names two axes")
    of = parameters.choice("of", "bytes", "ratio", "age")
    check_touched(array, axes)
    metadata = metadata_of(array)
    box, grid = box_of(metadata.grid, axes), metadata.grid
    _check_count(box)
    sizes, unit = sizes_of(array, box, parameters.cancel), "chunk"
    if metadata.shard_codec is not None:
        inner = box_of(metadata.inner_grid, axes)
        lengths = None
        if of != "age":
            _check_count(inner)
            lengths = inner_sizes_of(array, sizes, box, inner, parameters.cancel)
        if lengths is None:
            unit = "shard"
        else:
            sizes, box, grid = lengths, inner, metadata.inner_grid
    values = _values(array, _Known(grid, box, sizes), of, shown, parameters.cancel)
    if shown[0] > shown[1]:
        values = values.T
    rows, columns = box[shown[0]], box[shown[1]]
    found = [None if one != one else one for one in values.reshape(-1).tolist()]
    return json_answer({"rows": rows, "columns": columns, "unit": unit, "values": found})


def _check_count(box: Box) -> None:
    count = math.prod(end - begin for begin, end in box)
    if count > _MOST_TOLD:
        raise Refused(413, f"{count:,} chunks are more than {_MOST_TOLD:,}", "too-large")


def _values(array: Any, known: _Known, of: str, shown: list[int], cancel: CancelToken) -> Any:
    """The numbers of a plane of chunks; NaN where none is stored."""
    grid, box, sizes = known
    others = tuple(axis for axis in range(sizes.ndim) if axis not in shown)
    is_stored = sizes >= 0
    if of == "age":
        times = _times(array, is_stored, box, cancel)
        return np.fmax.reduce(times, axis=others) if others else times
    stored = np.where(is_stored, sizes, 0).sum(axis=others, dtype="f8")
    is_any = is_stored.any(axis=others)
    if of == "bytes":
        return np.where(is_any, stored, np.nan)
    raw = np.full(sizes.shape, float(item_bytes(array)))
    for axis, (begin, end) in enumerate(box):
        extents = [grid[axis].chunk(at) for at in range(begin, end)]
        lengths = np.array([one.end - one.begin for one in extents], "f8")
        raw *= lengths.reshape([-1 if at == axis else 1 for at in range(sizes.ndim)])
    raw = np.where(is_stored, raw, 0).sum(axis=others)
    return np.where(is_any & (stored > 0), raw / np.maximum(stored, 1), np.nan)


def _times(array: Any, is_stored: Any, box: Box, cancel: CancelToken) -> Any:
    """When the file of each chunk was changed, in seconds since 1970; NaN where none is stored."""
    folder = getattr(array.store, "path", None)
    if not isinstance(folder, str) or not os.path.isdir(folder):
        raise Refused(400, "only files of this machine tell when they were changed", "no-times")
    metadata, found = metadata_of(array), np.full(is_stored.shape, np.nan)
    for number, at in enumerate(np.argwhere(is_stored).tolist()):
        if number % _STEP == 0:
            check_going(cancel)
        coords = [begin + one for (begin, _), one in zip(box, at, strict=True)]
        key = key_of(array.path, chunk_key(metadata, coords))
        try:
            found[tuple(at)] = os.stat(os.path.join(folder, *key.split("/"))).st_mtime
        except OSError:
            # It was deleted since its size was asked for.
            continue
    return found
