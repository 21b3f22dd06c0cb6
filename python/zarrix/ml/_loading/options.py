"""What the reading of batches is given by a loader."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.slots import Slots
from zarrix.ml._reading.stats import Counters
from zarrix.ml._transforms.samples import SampleFunction
from zarrix.ml._transforms.workers import Workers

__all__ = ["CorruptRule", "Options"]


class CorruptRule(NamedTuple):
    """What a corrupt chunk does: "raise", "replace" or "fill".

    More records than ``max_errors`` are an error in each case. ``error_log`` is the path of a file
    to which each is appended, if there is one.
    """

    kind: str
    max_errors: int
    error_log: str | None


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a filler needs of its loader, which it must not keep alive."""

    dataset: Any
    seed: int
    epoch: int
    #: The kind of the order.
    kind: str
    sample_bytes: int
    #: Which part of all chunks one item touches.
    share: float
    prefetch: int
    #: The most bytes of all batches that are read ahead.
    memory: int
    slots: Slots
    threads: int
    corrupt: CorruptRule
    #: The records of corrupt chunks, which the loader has.
    errors: list[dict[str, Any]]
    #: Whether each batch has ``valid``.
    marks: bool
    transform: Callable[[Batch, np.random.Generator], Any] | None
    transform_sample: SampleFunction | None
    #: The processes that run it, if it is not the thread that reads.
    workers: Workers | None
    deliver: Callable[[Any, dict[str, str]], Any] | None
    counters: Counters
