"""The part of an array that layouts are tried on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zarrix.measure._access import Access

__all__ = ["sample_of"]

_PLACES = 8


def sample_of(node: Any, accesses: Sequence[Access], seed: int, size: int) -> Any:
    """A box of the array of ``size`` bytes, larger than the accesses, from eight places."""
    shape = list(node.shape)
    least = [min(n, max(one.extent[i] for one in accesses)) for i, n in enumerate(shape)]
    itemsize = max(1, node.dtype.itemsize)
    while math.prod(shape) * itemsize > size:
        room = [n / k for n, k in zip(shape, least, strict=True)]
        axis = int(np.argmax(room))
        if room[axis] <= 1:
            # The accesses are larger than a sample: they are cut where they are longest.
            axis = int(np.argmax(shape))
        shape[axis] = max(1, shape[axis] // 2)
    rng = np.random.default_rng(seed)
    starts = [int(rng.integers(0, n - k + 1)) for n, k in zip(node.shape, shape, strict=True)]
    if not shape or shape[0] == node.shape[0] or shape[0] < _PLACES:
        return np.asarray(node[tuple(slice(s, s + k) for s, k in zip(starts, shape, strict=True))])
    inner = tuple(slice(s, s + k) for s, k in zip(starts[1:], shape[1:], strict=True))
    part = shape[0] // _PLACES
    parts = []
    for place in range(_PLACES):
        low = place * node.shape[0] // _PLACES
        start = min(low + int(rng.integers(0, max(1, node.shape[0] // _PLACES - part + 1))),
                    node.shape[0] - part)  # fmt: skip
        parts.append(node[(slice(start, start + part), *inner)])
    return np.concatenate(parts)
