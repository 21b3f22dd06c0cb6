"""The route ``tile``: the values of a selection, as octets."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np

from zarrix.viewer._answers import Answer, Refused
from zarrix.viewer._damaged import read_around
from zarrix.viewer._decoded import decoded
from zarrix.viewer._limits import MOST_ELEMENTS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots
from zarrix.viewer._tile_types import as_labels, as_tile

__all__ = ["octets", "tile"]

# Characters of a header that says why a chunk does not decode.
_MOST_SENTENCE = 300


def tile(roots: Roots, parameters: Parameters) -> Answer:
    """The selected values, in the tile type of the array."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array)
    if selected.size > MOST_ELEMENTS:
        raise Refused(
            413, f"{selected.size:,} elements are more than {MOST_ELEMENTS:,}", "too-large"
        )
    values, damage = read_around(array, selected.axes, parameters.cancel, parameters.field(array))
    form = parameters.choice("as", "raw", "label", "cf")
    if form == "cf":
        values = decoded(array, values)
    if damage is None:
        return octets(values, form)
    told = {"boxes": damage.boxes, "sentence": damage.sentence[:_MOST_SENTENCE]}
    is_read = ~damage.mask(values.shape)
    return octets(values, form, {"x-zarrix-damage": json.dumps(told)}, is_read)


def octets(
    values: Any, form: str = "raw", more: dict[str, str] | None = None, known: Any = None
) -> Answer:
    """Values as an answer; its headers say what they are, and the range of those that are known."""
    try:
        found, origin = (as_labels(values), None) if form == "label" else as_tile(values, known)
    except TypeError as error:
        raise Refused(400, str(error), "not-numbers") from error
    # Not `found.data`, which a browser's empty selection has no bytes of.
    body = memoryview(found.reshape(-1).view("u1")) if found.size else memoryview(b"")
    headers = {
        "content-type": "application/octet-stream",
        "x-zarrix-shape": ",".join(map(str, found.shape)),
        "x-zarrix-type": f"{found.dtype.kind}{found.dtype.itemsize}",
        # Not a promise about security: it only tells one version of a tile from the next.
        "etag": f'"{zlib.crc32(body):08x}-{len(body):x}"',
        **_range(found if known is None else found[known]),
        **(more or {}),
    }
    if origin is not None:
        headers |= {"x-zarrix-origin": origin.text, "x-zarrix-offset": str(origin.number)}
    return Answer(body, 200, headers)


def _range(values: Any) -> dict[str, str]:
    """The headers with the least and the greatest finite value, and how many are not finite."""
    invalid = 0
    if values.dtype.kind == "f":
        # NumPy has no fast loops for float16.
        values = values.astype("f4", copy=False)
        finite = np.isfinite(values)
        invalid = int(values.size - np.count_nonzero(finite))
        values = values[finite] if invalid else values
    headers = {"x-zarrix-invalid": str(invalid)}
    if values.size:
        headers |= {"x-zarrix-min": str(values.min()), "x-zarrix-max": str(values.max())}
    return headers
