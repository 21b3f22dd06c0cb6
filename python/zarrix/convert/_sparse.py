"""Reading arrays of which little is stored: libraries look up every chunk of a region."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix.convert._source import Region, SourceArray

__all__ = ["stored_reader"]


def stored_reader(source_array: SourceArray) -> Callable[[Region], Any]:
    """Reads regions of which only the stored chunks are asked for; the rest is the fill value."""
    if source_array.stored is None or not (
        isinstance(source_array.dtype, np.dtype) or source_array.dtype in (str, bytes)
    ):
        return source_array.read
    stored, extent = {*source_array.stored()}, source_array.extent
    dtype = source_array.dtype if isinstance(source_array.dtype, np.dtype) else np.dtype(object)
    fill = source_array.dtype() if source_array.fill_value is None else source_array.fill_value

    def read(region: Region) -> Any:
        out = np.empty([part.stop - part.start for part in region], dtype)
        out[...] = np.asarray(fill, dtype)
        axes = [
            range(part.start // n, -(-part.stop // n))
            for part, n in zip(region, extent, strict=True)
        ]
        few = math.prod(map(len, axes)) <= len(stored)
        for coords in itertools.product(*axes) if few else stored:
            if few and coords not in stored:
                continue
            inside = tuple(
                slice(max(part.start, i * n), min(part.stop, (i + 1) * n))
                for i, n, part in zip(coords, extent, region, strict=True)
            )
            if all(part.start < part.stop for part in inside):
                here = tuple(
                    slice(a.start - b.start, a.stop - b.start)
                    for a, b in zip(inside, region, strict=True)
                )
                out[here] = source_array.read(inside)
        return out

    return read
