"""What the elements of a block are like, from one pass of the engine over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix import _engine
from zarrix.jobs._operations.bit_counts import image_of, is_counted_exactly
from zarrix.jobs._operations.moments import Moments

__all__ = ["BlockSummary", "summary_of"]

Counts = npt.NDArray[np.int64]


class BlockSummary(NamedTuple):
    """Counts of the fill value and of NaN, and what the elements are like that are not skipped."""

    fills: int
    nans: int
    moments: Moments
    leading: Counts
    bins: Counts


def summary_of(
    values: npt.NDArray[Any],
    *,
    fill: Any = None,
    skip: str = "none",
    leading: bool = True,
    exact: bool = False,
    edges: Sequence[float] = (),
) -> BlockSummary:
    """What the elements of a block of one axis are like.

    ``leading`` counts the leading bits, and computes moments of elements of more than 16 bits;
    ``exact`` counts the bits of such elements themselves, instead of those of their float32. It
    does not find NaN and the fill value in elements of half precision.
    """
    wanted = None
    if leading:
        wanted = "own" if exact or is_counted_exactly(values.dtype) else "f4"
    moments = leading and not is_counted_exactly(values.dtype)
    if values.dtype == np.float16:
        values, fill = image_of(values), None
    values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    if fill is not None:
        fill = np.asarray(fill, values.dtype).tobytes()
    # NumPy's types have the buffer protocol from Python 3.12 on.
    buffer: Any = values
    fills, nans, found, counts, bins = _engine.summarize(
        buffer,
        values.dtype.str,
        fill=fill,
        skip=skip,
        moments=moments,
        leading=wanted,
        edges=edges,
    )
    return BlockSummary(
        fills, nans, Moments(*found), np.frombuffer(counts, np.int64), np.frombuffer(bins, np.int64)
    )
