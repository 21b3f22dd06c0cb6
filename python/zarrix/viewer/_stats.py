"""The routes ``stats`` and ``series``: numbers about many elements, for drawing curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._errors import CodecError, CorruptChunkError
from zarrix.jobs._operations.bit_counts import is_counted_exactly
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._cost import check_touched, decoded_bytes, is_affordable
from zarrix.viewer._counted import Counted
from zarrix.viewer._damaged import read_around
from zarrix.viewer._decoded import convention_of, decoded
from zarrix.viewer._limits import MOST_DECODED_BYTES
from zarrix.viewer._parameters import Parameters, Selected
from zarrix.viewer._parts import check_going, key_of_axes, parts_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._sample import sampled
from zarrix.viewer._tile_types import tile_type

__all__ = ["series", "stats"]

# Decoded bytes of a selection: of numbers that are counted, and of those that have to be held.
_MOST_COUNTED = 4 * MOST_DECODED_BYTES
_MOST_HELD = MOST_DECODED_BYTES // 2
# Decoded bytes of a curve, which is read part by part.
_MOST_STREAMED = 8 * MOST_DECODED_BYTES
_MOST_BINS = 4096


def _numbers(array: Any, field: str | None) -> np.dtype[Any]:
    dtype = array.dtype if field is None else array.dtype[field].base
    if tile_type(dtype) is None or dtype.kind in "cmM":
        raise Refused(400, f"values of {dtype} are not real numbers", "not-numbers")
    return np.dtype("f4") if dtype.kind == "V" else np.dtype(dtype)


def _read(array: Any, axes: Any, field: str | None, is_decoded: bool) -> Any:
    key = key_of_axes(axes)
    found = array.get_basic_selection(key, fields=field) if field else array[key]
    found = np.asarray(found)
    return _flat(decoded(array, found) if is_decoded else found)


def _is_decoded(array: Any, parameters: Parameters) -> bool:
    return parameters.choice("as", "raw", "cf") == "cf" and convention_of(array) is not None


def _flat(values: Any) -> Any:
    # Types of ml_dtypes have no ufuncs for all of this.
    values = values.reshape(-1)
    return values.astype("f4") if values.dtype.kind == "V" else values


def stats(roots: Roots, parameters: Parameters) -> Answer:
    """Count, extremes, mean, percentiles and histogram of a selection, or of a sample of it."""
    array = roots.array(parameters.text("path"))
    selected, field = parameters.selection(array), parameters.field(array)
    dtype = _numbers(array, field)
    is_decoded = _is_decoded(array, parameters)
    dtype = np.dtype("f8") if is_decoded else dtype
    bins = parameters.whole("bins", 256, 1, _MOST_BINS)
    most = _MOST_COUNTED if is_counted_exactly(dtype) else _MOST_HELD
    ends = parameters.ends("range")
    exact = is_affordable(array, selected.axes, most)
    damaged = 0
    found = Counted(dtype, None if field or is_decoded else array.fill_value)
    cancel = parameters.cancel
    for part in parts_of(array, selected.axes) if exact else sampled(array, selected.axes, cancel):
        check_going(cancel)
        try:
            found.add(_read(array, part, field, is_decoded))
        except (CorruptChunkError, CodecError):
            values, damage = read_around(array, part, cancel, field)
            if damage is not None:
                is_lost = damage.mask(values.shape)
                damaged += int(np.count_nonzero(is_lost))
                values = values[~is_lost]
            found.add(_flat(decoded(array, values) if is_decoded else values))
    histogram, edges = found.histogram(ends, bins)
    told = {"histogram": histogram, "edges": edges, "exact": exact, "damaged": damaged}
    return json_answer({**found.document(), **told})


def series(roots: Roots, parameters: Parameters) -> Answer:
    """The values along one axis; of a long axis, least and greatest of each bin, exactly."""
    array = roots.array(parameters.text("path"))
    axis = parameters.whole("axis", 0, 0, max(0, array.ndim - 1))
    width = parameters.whole("width", 1000, 1, 4096)
    at = parameters.wholes("index", 64)
    if not array.ndim or len(at) != array.ndim:
        raise Refused(400, f"index has {len(at)} numbers, and the array {array.ndim} axes")
    first = parameters.whole("begin", 0, 0, array.shape[axis])
    end = parameters.whole("end", array.shape[axis], first, array.shape[axis])
    items = [f"{first}:{end}" if i == axis else str(one) for i, one in enumerate(at)]
    selected = Selected(",".join(items), array)
    field = parameters.field(array)
    _numbers(array, field)
    needed = decoded_bytes(array, selected.axes)
    if needed > _MOST_STREAMED:
        raise Refused(413, f"this curve decodes {needed / 2**30:.1f} GiB of chunks", "too-large")
    check_touched(array, selected.axes)
    is_decoded = _is_decoded(array, parameters)
    length = end - first
    step = max(1, -(-length // width))
    count = -(-length // step)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    for part in parts_of(array, selected.axes):
        check_going(parameters.cancel)
        values = _read(array, part, field, is_decoded).astype("f8")
        begin = part[axis][0] - first
        bins = np.arange(begin, begin + values.size) // step
        np.fmin.at(low, bins, values)
        np.fmax.at(high, bins, values)
    return json_answer(
        {
            "axis": axis,
            "begin": first,
            "length": length,
            "step": step,
            "min": _nullable(low),
            "max": None if step == 1 else _nullable(high),
        }
    )


def _nullable(values: Any) -> list[float | None]:
    return [None if value != value else value for value in values.tolist()]
