"""The order of a dataset's epochs: which one is taken, and the function of one epoch."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from zarrix._errors import suggestion
from zarrix.ml._datasets.filters import weights as class_weights
from zarrix.ml._datasets.mix import Mix
from zarrix.ml._order.buckets import BucketedBlocks, BucketedFull
from zarrix.ml._order.order import Blocks, Full, Mixed, Order, Sequential, Source, Weighted
from zarrix.ml._order.random import mix64
from zarrix.ml._order.state import OrderChoice

__all__ = ["choose", "cumulative_weights", "order_of", "randomness"]

_ENOUGH = 0.9
_RUN = 3


def randomness(blocks: int, group: int, batch_size: int) -> tuple[float, float]:
    """Different blocks in a batch, by blocks that are open at once and by a full shuffle."""

    def distinct(among: int) -> float:
        return among * (1 - (1 - 1 / among) ** batch_size) if among > 1 else 1.0

    return distinct(min(group, blocks)), distinct(blocks)


def choose(
    dataset: Any, shuffle: Any, batch_size: int, memory: int, partitions: int, world: int = 1
) -> OrderChoice:
    """The kind of order: for ``True`` the cheaper one that is about as random as a full shuffle."""
    layout = dataset._layout
    if layout is None or not layout.edges or isinstance(dataset, Mix) or shuffle is False:
        return _chosen(dataset, shuffle, batch_size, memory, partitions)
    # Batches of one bucket are those of all ranks: there are no streams of blocks for each.
    choice = _chosen(dataset, shuffle, batch_size, memory, 1)
    return replace(choice, bunch=batch_size * world)


def _chosen(
    dataset: Any, shuffle: Any, batch_size: int, memory: int, partitions: int
) -> OrderChoice:
    if isinstance(dataset, Mix):
        chosen = [choose(part, shuffle, batch_size, memory, 1) for part in dataset._parts]
        kind = "interleaved" if shuffle is False else "mixed"
        return OrderChoice(kind, max(choice.group for choice in chosen))
    if shuffle is False:
        return OrderChoice("sequential")
    if shuffle not in (True, "full", "block"):
        raise ValueError(
            f"shuffle={shuffle!r}; allowed are True, False, 'full' and 'block'"
            f"{suggestion(str(shuffle), ['full', 'block'])}"
        )
    if shuffle == "full" or (shuffle is True and dataset._is_thin()):
        return OrderChoice("full")
    begins = dataset._blocks
    blocks = len(begins) - 1
    streams = max(1, min(partitions, blocks))
    each = -(-dataset._mean_bytes() * len(dataset) // blocks)
    group = max(1, min(-(-blocks // streams), memory // 2 // max(1, each)))
    run = _run_of(dataset._overlap(), group)
    # Windows have whole runs.
    group -= group % run
    if shuffle is True:
        near, far = randomness(blocks, group * streams, batch_size)
        if blocks == len(dataset) or near < _ENOUGH * far:
            return OrderChoice("full")
    return OrderChoice("block", group, streams, run)


def _run_of(overlap: float, group: int) -> int:
    """How many neighbouring blocks stay together, of which the last one touches others.

    So many that a chunk is read 1.33 times, if the memory holds them.
    """
    return max(1, min(group, math.ceil(_RUN * overlap)))


def cumulative_weights(dataset: Any, weights: Any, samples: int | None) -> tuple[Any, int]:
    """The cumulative weights, or None, and the length of an epoch where it is not the dataset's."""
    if weights is None:
        if samples is not None and not isinstance(dataset, Mix):
            raise ValueError("samples= is for a Mix, or with weights=")
        return None, int(samples or 0)
    if isinstance(dataset, Mix):
        raise ValueError("weights= of a loader is for items; a Mix has weights= of its own")
    if isinstance(weights, str):
        table = dataset.table()
        if weights not in table:
            raise ValueError(
                f"weights={weights!r} is not one of the columns {list(table)}"
                f"{suggestion(weights, list(table))}"
            )
        weights = class_weights(table[weights])
    weights = np.asarray(weights, np.float64)
    if weights.shape != (len(dataset),):
        raise ValueError(f"weights= has the shape {weights.shape}, for {len(dataset)} items")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError("weights= are finite numbers that are not negative, and not all 0")
    with np.errstate(over="ignore"):
        total = np.cumsum(weights)
    if not np.isfinite(total[-1]):
        total = np.cumsum(weights / weights.max())
    return total, int(samples or len(dataset))


def order_of(
    dataset: Any, choice: OrderChoice, seed: int, epoch: int, weights: Any = None, samples: int = 0
) -> Order:
    """The order of one epoch."""
    if isinstance(dataset, Mix):
        return _mixed(dataset, choice, seed, epoch, samples)
    if weights is not None:
        return Weighted(weights, samples, seed, epoch)
    if choice.kind == "sequential":
        return Sequential(len(dataset))
    if choice.bunch:
        if choice.kind == "block":
            return BucketedBlocks(dataset._blocks, choice, seed, epoch, dataset._bucket_of)
        return BucketedFull(len(dataset), seed, epoch, dataset._bucket_of, choice)
    if choice.kind == "block":
        return Blocks(dataset._blocks, choice, seed, epoch)
    return Full(len(dataset), seed, epoch)


def _mixed(mix: Mix, choice: OrderChoice, seed: int, epoch: int, samples: int) -> Order:
    def source(number: int, part: Any, rounds: int) -> Order:
        # Another seed for each source; rounds count above all epochs that fit 32 bits.
        own = int(mix64([(seed ^ (number + 1) << 32) & 0xFFFFFFFFFFFFFFFF])[0])
        kind = "block" if choice.group else "full"
        if choice.kind == "interleaved":
            kind = "sequential"
        if isinstance(part, Mix):
            kind = choice.kind
        return order_of(part, replace(choice, kind=kind, partitions=1), own, epoch + (rounds << 32))

    cache: dict[tuple[int, int], Order] = {}

    def cached(number: int, part: Any, rounds: int) -> Order:
        if (number, rounds) not in cache:
            cache[number, rounds] = source(number, part, rounds)
        return cache[number, rounds]

    sources = [
        Source(partial(cached, number, part), len(part), part._epoch_length)
        for number, part in enumerate(mix._parts)
    ]
    return Mixed(sources, mix._stages, samples or mix._epoch, seed, epoch)
