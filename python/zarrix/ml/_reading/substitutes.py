"""Other items in the place of samples that are corrupt or have too much NaN."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._errors import CorruptChunkError
from zarrix.ml._order.random import Ints, draw
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Cancel, fetch
from zarrix.ml._reading.nan import NanRule, settle_nan

__all__ = ["ATTEMPTS", "others_than", "put", "settle"]

ATTEMPTS = 16


def settle(
    dataset: Any,
    rules: dict[str, NanRule],
    batch: Batch,
    draws: Any,
    seed: int,
    epoch: Any,
    *,
    cancel: Cancel | None = None,
    passes: bool = False,
) -> int:
    """Apply the rules for NaN to a batch that was read; how many samples were replaced.

    ``passes`` says whether a corrupt item is passed over, or is an error.
    """
    rejected = np.flatnonzero(settle_nan(rules, batch))
    for row in rejected.tolist():
        rounds = None if draws.rounds is None else draws.rounds[row : row + 1]
        then = epoch if np.ndim(epoch) == 0 else epoch[row : row + 1]
        items = draws.items[row : row + 1]
        for _, one in others_than(dataset, items, seed, then, rounds, cancel, passes=passes):
            if not settle_nan(rules, one)[0]:
                put(one, batch, row)
                break
        else:
            raise ValueError(
                f"{ATTEMPTS} items that could replace item {int(items[0])} have too much NaN as "
                "well"
            )
    return len(rejected)


def others_than(
    dataset: Any,
    items: Ints,
    seed: int,
    epoch: Any,
    rounds: Ints | None,
    cancel: Cancel | None,
    *,
    passes: bool,
) -> Iterator[tuple[int, Batch]]:
    """Items that may stand for another one, in an order that seed, epoch and item determine."""
    for attempt in range(ATTEMPTS):
        word = draw(seed, "replace", epoch, items, rounds=rounds, attempt=attempt)[0]
        item = (word % np.uint64(len(dataset))).astype(np.int64)
        one, entries = dataset._batch(dataset._draws(item, seed, epoch, rounds))
        try:
            fetch(entries, cancel)
        except CorruptChunkError:
            if not passes:
                raise
            continue
        yield int(item[0]), one


def put(one: Batch, batch: Batch, row: int) -> None:
    """Make a batch of one sample a row of another batch."""
    for name, value in one.items():
        batch[name][row] = value[0]
