"""Close byte ranges of one value are coalesced to one request."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

__all__ = ["GAP_BYTES", "coalesce_ranges", "slice_ranges"]

# The maximum gap between two ranges that is read, too, to save a request.
GAP_BYTES = 1 << 18


def coalesce_ranges(ranges: Sequence[tuple[int, int]], gap: int) -> list[tuple[int, int]]:
    """Ascending ranges that cover ``ranges``; two ranges at most ``gap`` bytes apart are merged.

    Examples
    --------
    >>> coalesce_ranges([(20, 30), (0, 5), (6, 8)], gap=1)
    [(0, 8), (20, 30)]
    """
    runs: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if runs and start - runs[-1][1] <= gap:
            runs[-1] = (runs[-1][0], max(runs[-1][1], end))
        else:
            runs.append((start, end))
    return runs


def slice_ranges(
    ranges: Sequence[tuple[int, int]], runs: Sequence[tuple[int, int]], parts: Sequence[Any]
) -> list[Any]:
    """Each of ``ranges``, sliced from the bytes of the coalesced range that covers it.

    ``parts`` has the bytes of ``runs``. A slice is short if its part is.

    Examples
    --------
    >>> slice_ranges([(20, 22), (6, 8)], [(0, 8), (20, 30)], [b"01234567", b"abcdefghij"])
    [b'ab', b'67']
    """
    found = []
    for start, end in ranges:
        # The last run that begins there or before; a run begins with its first range.
        run = bisect_right(runs, start, key=itemgetter(0)) - 1
        begin = runs[run][0]
        found.append(parts[run][start - begin : end - begin])
    return found
