"""Where each row of some sources belongs among the rows that are stored: labels alone, no elements.

The result is that of one sorted write: the label of rank ``n`` is at position ``n``. So neither the
order of sources nor that of calls changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["STORED", "Merged", "merge"]

STORED = -1
"""The source of a row that is stored already."""

Indices = npt.NDArray[np.int64]


class Merged(NamedTuple):
    """The rows of the result.

    Attributes
    ----------
    source, row : ndarray of int
        For each position the source that has it, or `STORED`, and the row there.
    first : int
        The first position that has another label than before, or none before; the number of
        positions if there is none.
    there : ndarray of int
        Rows of sources whose label is stored already, of one source for each label: the columns are
        source, row and position.
    repeated : ndarray of int
        Rows of sources whose label another source has, too: source and row of the one that counts,
        and of the other.
    """

    source: Indices
    row: Indices
    first: int
    there: Indices
    repeated: Indices

    @property
    def length(self) -> int:
        """The number of positions."""
        return len(self.source)

    @property
    def added(self) -> int:
        """The number of positions that are not stored yet."""
        return int((self.source != STORED).sum())


def merge(
    stored: npt.NDArray[Any],
    sources: Sequence[npt.NDArray[Any]],
    *,
    descends: bool = False,
    last_counts: bool = False,
) -> Merged:
    """Merge the labels of sources with those that are stored.

    Parameters
    ----------
    stored : ndarray
        Ascending, or descending; without duplicates.
    sources : sequence of ndarray
        In any order; no duplicates within one.
    descends : bool
        Whether the labels of the result descend.
    last_counts : bool
        Whether of two sources that have a label the later one counts, and not the earlier one.

    Examples
    --------
    >>> found = merge(np.array([1, 2, 5]), [np.array([9, 5]), np.array([4])])
    >>> found.source.tolist(), found.row.tolist(), found.first
    ([-1, -1, 1, -1, 0], [0, 1, 0, 2, 0], 2)
    >>> found.there.tolist()
    [[0, 1, 3]]
    """
    labels, ranks = np.unique(np.concatenate([stored, *sources]), return_inverse=True)
    ranks = ranks.reshape(-1)
    if descends:
        ranks = len(labels) - 1 - ranks
    before, after = ranks[: len(stored)], ranks[len(stored) :]
    owner = np.repeat(np.arange(len(sources)), [len(one) for one in sources])
    rows = np.concatenate([np.arange(len(one)) for one in sources] or [np.arange(0)])
    order = np.lexsort((-owner if last_counts else owner, after))
    after, owner, rows = after[order], owner[order], rows[order]
    counts = np.ones(len(after), bool)
    counts[1:] = after[1:] != after[:-1]
    of_group = np.flatnonzero(counts)[np.cumsum(counts) - 1]
    others = np.flatnonzero(~counts)
    winners = of_group[others]
    repeated = np.stack([owner[winners], rows[winners], owner[others], rows[others]], axis=1)
    after, owner, rows = after[counts], owner[counts], rows[counts]
    source, row = np.full(len(labels), STORED), np.zeros(len(labels), np.int64)
    row[before] = np.arange(len(stored))
    is_there = np.zeros(len(labels), bool)
    is_there[before] = True
    old = is_there[after]
    source[after[~old]], row[after[~old]] = owner[~old], rows[~old]
    first = int(after[~old].min()) if (~old).any() else len(labels)
    there = np.stack([owner[old], rows[old], after[old]], axis=1)
    return Merged(source, row, first, there, repeated)
