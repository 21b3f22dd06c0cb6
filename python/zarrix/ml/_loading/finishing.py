"""What becomes of a batch between the reading of its samples and its delivery."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._loading.options import Options
from zarrix.ml._loading.planned import Planned
from zarrix.ml._order.random import key_of
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Cancel
from zarrix.ml._reading.substitutes import settle
from zarrix.ml._transforms.samples import of_samples

__all__ = ["Filled", "Finishing"]


class Filled(NamedTuple):
    """What the caller gets of a batch, which may be anything, and how many samples it has."""

    batch: Any
    samples: int


class Finishing:
    """Marks, replaces, transforms and converts the samples of batches."""

    def __init__(self, options: Options, cancel: Cancel) -> None:
        self._options, self._cancel = options, cancel
        self._kinds = options.dataset._kinds()
        self._nan_rules = options.dataset._nan_rules()
        self._marks = options.marks or options.corrupt.kind == "fill"

    def check(self, batch: Batch, planned: Planned) -> None:
        """Give the batch its seeds, say what is valid if that is asked for, and apply NaN rules."""
        batch.seeds = batch.pop("seeds")
        layout = self._options.dataset._layout
        if layout is not None:
            layout.finish(batch)
        if self._marks:
            valid = batch.get("valid")
            valid = np.ones(len(planned.draws), np.bool_) if valid is None else valid
            batch["valid"] = valid if planned.valid is None else valid & planned.valid
        if self._nan_rules:
            options = self._options
            options.counters.rejected += settle(
                options.dataset,
                self._nan_rules,
                batch,
                planned.draws.visits,
                cancel=self._cancel,
                passes=options.corrupt.kind != "raise",
            )

    def deliver(self, batch: Batch, planned: Planned) -> Filled:
        """The batch as the caller gets it: transformed and converted."""
        options = self._options
        if options.workers is not None:
            return self.end(self.begin(batch, planned))
        since = time.perf_counter()
        if options.transform_sample is None:
            return self._finished(batch, planned, since)
        return self._finished(of_samples(batch, options.transform_sample), planned, since)

    def begin(self, batch: Batch, planned: Planned) -> Filled:
        """The batch as `end` takes it: workers transform its samples from now on."""
        workers = self._options.workers
        assert workers is not None
        return Filled((workers.begin(batch, self._options.slots), planned), len(planned.draws))

    def end(self, begun: Filled) -> Filled:
        """The batch as the caller gets it, once workers have transformed its samples."""
        workers = self._options.workers
        assert workers is not None
        result, planned = begun.batch
        since = time.perf_counter()
        return self._finished(workers.result(result, self._cancel), planned, since)

    def drop(self, begun: Filled) -> None:
        """Let a batch go that was begun, and will not be delivered."""
        begun.batch[0].is_cancelled = True

    def _finished(self, result: Any, planned: Planned, since: float) -> Filled:
        """The batch, whose samples are transformed, transformed as a whole and converted."""
        options = self._options
        if options.transform is not None:
            first = int(planned.draws.visits.items[0])
            key = key_of(options.seed, "batch", options.epoch, first)
            given = result
            result = options.transform(given, np.random.Generator(np.random.Philox(key=key)))
            result = given if result is None else result
        if options.transform_sample is not None or options.transform is not None:
            options.counters.transform_s += time.perf_counter() - since
        if options.deliver is not None:
            result = options.deliver(result, self._kinds)
        return Filled(result, len(planned.draws))
