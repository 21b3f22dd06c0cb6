"""The route ``tile``: the values of a selection, as octets."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from zarrix.viewer._answers import Answer, Refused
from zarrix.viewer._limits import MOST_ELEMENTS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import read
from zarrix.viewer._roots import Roots
from zarrix.viewer._tile_types import as_labels, as_tile

__all__ = ["octets", "tile"]


def tile(roots: Roots, parameters: Parameters) -> Answer:
    """The selected values, in the tile type of the array."""
    array = roots.array(parameters.text("path"))
    selected = parameters.selection(array)
    if selected.size > MOST_ELEMENTS:
        raise Refused(
            413, f"{selected.size:,} elements are more than {MOST_ELEMENTS:,}", "too-large"
        )
    values = read(array, selected.axes, parameters.cancel, parameters.field(array))
    return octets(values, parameters.choice("as", "raw", "label"))


def octets(values: Any, form: str = "raw", more: dict[str, str] | None = None) -> Answer:
    """Values as an answer; its headers say what they are."""
    try:
        found, origin = (as_labels(values), None) if form == "label" else as_tile(values)
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
        **_range(found),
        **(more or {}),
    }
    if origin is not None:
        headers["x-zarrix-origin"] = origin
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
