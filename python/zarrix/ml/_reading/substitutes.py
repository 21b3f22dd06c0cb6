"""Other items in the place of samples that are corrupt or have too much NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._errors import CorruptChunkError
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Cancel, fetch
from zarrix.ml._reading.nan import NanRule, settle_nan

__all__ = ["ATTEMPTS", "others_than", "put", "settle"]

ATTEMPTS = 16


def settle(
    dataset: Any,
    rules: dict[str, NanRule],
    batch: Batch,
    visits: Visits,
    *,
    cancel: Cancel | None = None,
    passes: bool = False,
) -> int:
    """Apply the rules for NaN to a batch that was read; how many samples were replaced.

    ``passes`` says whether a corrupt item is passed over, or is an error.
    """
    rejected = np.flatnonzero(settle_nan(rules, batch))
    for row in rejected.tolist():
        visit = visits.take(slice(row, row + 1))
        for _, sample in others_than(dataset, visit, cancel, passes=passes):
            if not settle_nan(rules, sample)[0]:
                put(sample, batch, row)
                break
        else:
            raise ValueError(
                f"{ATTEMPTS} items that could replace item {int(visit.items[0])} have too much "
                "NaN as well"
            )
    return len(rejected)


def others_than(
    dataset: Any, visit: Visits, cancel: Cancel | None, *, passes: bool
) -> Iterator[tuple[int, Batch]]:
    """Items that may stand for that of one visit, in an order that the visit determines."""
    for attempt in range(ATTEMPTS):
        word = visit.draw("replace", attempt)[0]
        item = (word % np.uint64(len(dataset))).astype(np.int64)
        sample, entries = dataset._batch(dataset._draws(visit._replace(items=item)))
        try:
            fetch(entries, cancel)
        except CorruptChunkError:
            if not passes:
                raise
            continue
        yield int(item[0]), sample


def put(sample: Batch, batch: Batch, row: int) -> None:
    """Make a batch of one sample a row of another batch."""
    for name, value in sample.items():
        batch[name][row] = value[0]
