"""Samples whose chunks are corrupt: recorded, and filled or replaced, but never left out."""

from __future__ import annotations

import bisect
import json
from typing import Any

import numpy as np

from zarrix._errors import CorruptChunkError
from zarrix.ml._datasets.dataset import Draws
from zarrix.ml._loading.options import Options
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Cancel, Damage, Entry
from zarrix.ml._reading.substitutes import ATTEMPTS, others_than, put

__all__ = ["Repair"]


class Repair:
    """What happens to the samples of one fill that touch corrupt chunks."""

    def __init__(
        self, options: Options, draws: list[Draws], entries: list[Entry], cuts: list[int]
    ) -> None:
        # Batch i has the entries from cuts[i] on.
        self._options, self._draws, self._entries, self._cuts = options, draws, entries, cuts
        # Batch and row -> the first error of the sample.
        self._damaged: dict[tuple[int, int], Damage] = {}

    def __call__(self, damage: Damage) -> None:
        """Note a window that a corrupt chunk touches."""
        number = bisect.bisect_right(self._cuts, damage.entry) - 1
        entry = self._entries[damage.entry]
        row = entry.first + damage.window // entry.per_sample
        self._damaged.setdefault((number, row), damage)

    def finish(self, batches: list[Batch], cancel: Cancel) -> None:
        """Replace or mark the samples that were noted, and record them."""
        options = self._options
        for batch, draws in zip(batches, self._draws, strict=True):
            if options.corrupt.kind == "fill":
                batch["valid"] = np.ones(len(draws), np.bool_)
        for (number, row), damage in sorted(self._damaged.items()):
            item = int(self._draws[number].visits.items[row])
            record = {
                "epoch": options.epoch,
                "item": item,
                "field": self._entries[damage.entry].column.name,
                "key": damage.key,
                "error": str(damage.error),
            }
            try:
                if options.corrupt.kind == "replace":
                    record["replaced_by"] = self._replace(batches[number], number, row, cancel)
            finally:
                self._note(record)
            allowed = options.corrupt.max_errors
            if len(options.errors) > allowed:
                raise CorruptChunkError(
                    f"more than max_errors={allowed} windows are corrupt; the last "
                    f"is of item {item}, field {record['field']!r}: {damage.error}"
                )
            if options.corrupt.kind == "fill":
                batches[number]["valid"][row] = False

    def _note(self, record: dict[str, Any]) -> None:
        """Add a record to those of the loader, and to its file, if it has one."""
        self._options.errors.append(record)
        path = self._options.corrupt.error_log
        if path is not None:
            # One write at the end of the file: several ranks may share it.
            with open(path, "ab", buffering=0) as log:
                log.write(json.dumps(record).encode() + b"\n")

    def _replace(self, batch: Batch, number: int, row: int, cancel: Cancel) -> int:
        """Put another item, which depends on seed, epoch and item alone, into a row of a batch."""
        visit = self._draws[number].visits.take(slice(row, row + 1))
        for item, sample in others_than(self._options.dataset, visit, cancel, passes=True):
            put(sample, batch, row)
            return item
        raise CorruptChunkError(
            f"{ATTEMPTS} items that could replace item {int(visit.items[0])} are corrupt as well"
        )
