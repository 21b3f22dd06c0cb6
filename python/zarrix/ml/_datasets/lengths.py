"""Where items of variable length begin in their arrays, and what becomes of those that are long."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import suggestion
from zarrix.ml._datasets.clips import read
from zarrix.ml._order.random import Ints

__all__ = ["Limits", "Spans", "bounds_of", "edges_of", "spans_of"]

LONGER = ("raise", "cut", "crop", "drop")


class Limits(NamedTuple):
    """The most elements of an item, if there is a limit, and what longer ones become."""

    max_length: int | None
    longer: str

    @classmethod
    def of(cls, max_length: Any, longer: str) -> Limits:
        """The limits, after they were checked."""
        if longer not in LONGER:
            raise ValueError(
                f"longer={longer!r}; allowed are {', '.join(LONGER)}"
                f"{suggestion(str(longer), LONGER)}"
            )
        if max_length is None:
            if longer != "raise":
                raise ValueError(f"longer={longer!r} needs max_length=")
            return cls(None, longer)
        if not isinstance(max_length, int | np.integer) or max_length < 1:
            raise ValueError(f"max_length={max_length!r}; it is an integer of at least 1")
        return cls(int(max_length), longer)


class Spans(NamedTuple):
    """The items of a group: the number and the first element of each, and how many it has.

    ``spare`` is by how many elements it was made shorter, of which a crop leaves out any.
    """

    numbers: Ints
    begins: Ints
    lengths: Ints
    spare: Ints


def bounds_of(values: Any, length: int, label: str) -> Ints:
    """Where each item begins, and where the last one ends, of a group with so many elements."""
    bounds = np.asarray(read(values))
    if bounds.ndim != 1 or bounds.dtype.kind not in "iu":
        raise ValueError(
            f"{label} is a list of integers, not {bounds.dtype} values of shape {bounds.shape}"
        )
    if label.startswith("episodes="):
        bounds = np.concatenate([np.zeros(1, bounds.dtype), bounds])
    if len(bounds) < 2:
        raise ValueError(f"{label} has no items")
    falls = np.flatnonzero(bounds[1:] < bounds[:-1])
    if len(falls):
        number = int(falls[0])
        raise ValueError(f"{label} falls from {bounds[number]} to {bounds[number + 1]}")
    if bounds[0] < 0 or bounds[-1] > length:
        raise ValueError(
            f"{label} goes from {bounds[0]} to {bounds[-1]}; the fields have {length} elements"
        )
    return bounds.astype(np.int64)


def spans_of(bounds: Ints, limits: Limits, label: str) -> Spans:
    """The items of a group between these bounds, none of them longer than the limit."""
    begins, lengths = bounds[:-1], np.diff(bounds)
    numbers, spare = np.arange(len(lengths)), np.zeros_like(lengths)
    if limits.max_length is None:
        return Spans(numbers, begins, lengths, spare)
    long = np.flatnonzero(lengths > limits.max_length)
    if limits.longer == "raise" and len(long):
        raise ValueError(
            f"item {long[0]} of {label} has {lengths[long[0]]} elements, and "
            f"{len(long)} items have more than max_length={limits.max_length}: longer= says what "
            f"becomes of them, {', '.join(LONGER[1:])}"
        )
    if limits.longer == "drop":
        kept = np.delete(numbers, long)
        return Spans(kept, begins[kept], lengths[kept], spare[kept])
    shorter = np.minimum(lengths, limits.max_length)
    if limits.longer == "crop":
        spare = lengths - shorter
    return Spans(numbers, begins, shorter, spare)


def edges_of(buckets: Any, lengths: Ints) -> tuple[int, ...]:
    """The lengths that buckets end at, ascending; a number asks for so many of equally many items.

    Examples
    --------
    >>> edges_of(2, np.array([1, 2, 3, 9])), edges_of([4, 16], np.array([3, 9]))
    ((2, 9), (4, 16))
    """
    if buckets is None:
        return ()
    longest = int(lengths.max(initial=0))
    if isinstance(buckets, int | np.integer):
        if not 1 <= buckets <= 4096:
            raise ValueError(f"buckets={buckets!r}; there are 1 to 4096, or pass their lengths")
        count = int(buckets)
        places = -(-np.arange(1, count + 1) * len(lengths) // count) - 1
        ends = np.partition(lengths, np.unique(places))[places]
        return tuple(np.unique(np.maximum(ends, 1)).tolist())
    edges = np.asarray(buckets)
    if edges.ndim != 1 or edges.dtype.kind not in "iu" or not 0 < len(edges) <= 4096:
        raise ValueError(f"buckets={buckets!r}; they are a number of buckets, or their lengths")
    if edges[0] < 1 or (edges[1:] <= edges[:-1]).any():
        raise ValueError(f"buckets={buckets!r}; lengths of buckets are positive and ascend")
    if longest > edges[-1]:
        raise ValueError(
            f"the longest item has {longest} elements, and the last of buckets= {edges[-1]}: add a "
            f"longer one, or pass max_length={edges[-1]} and longer="
        )
    return tuple(edges.tolist())
