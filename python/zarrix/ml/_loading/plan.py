"""What an epoch will cost, computed from chunk grids before anything is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from zarrix._display.table import info_table
from zarrix.ml._datasets.crops import Crops
from zarrix.ml._loading.advice import chunk_advice
from zarrix.ml._loading.epochs import choose, order_of, randomness
from zarrix.ml._loading.fill_size import batches_of_a_fill
from zarrix.ml._order.order import Blocks
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._order.state import OrderChoice
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.decoding import chunks_of, used_bytes
from zarrix.ml._reading.fetch import Entry

__all__ = ["Plan", "plan_of"]

# Enough samples to estimate by, few enough to count in a fraction of a second.
_MOST_SAMPLES = 2048
# The same for one window. It may have more items, and then shares more chunks than these do.
_MOST_OF_A_WINDOW = 2**15
# Crops of a frame that are proposed, if so much more is decoded than used, and if it is worth it.
_CROPS = 8
_MUCH = 2.0
_WORTH = 1.25


@dataclass(frozen=True)
class Plan:
    """What a loader will do in an epoch; `print` shows it as sentences.

    Attributes
    ----------
    samples, batches : int
        Of an epoch; batches on each rank.
    order : str
        As in the state.
    batch_bytes, memory_bytes : int
        Of one batch, and of all that are read ahead.
    batches_at_once : int
        Of one native call, after the first ones; see the guide for a consumer with long steps.
    amplification : float
        Bytes of the chunks that are decoded over bytes that samples have, at that number.
    other : str
        The order that was not taken, or empty.
    other_amplification : float
        What it would be with this order.
    blocks, blocks_open : int
        Of the dataset, and of those that are shuffled together.
    different, different_of_full : float
        Different blocks in a batch, as expected for this order and for a full shuffle.
    chunks : float
        Decoded for a batch.
    advice : tuple of str

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.zeros((64, 10), chunks=(8, 10))})
    >>> plan = ml.Loader(rows, batch_size=8, shuffle="block").plan()
    >>> plan.amplification, plan.blocks
    (1.0, 8)
    """

    __module__ = "zarrix.ml"

    samples: int
    batches: int
    order: str
    batch_bytes: int
    memory_bytes: int
    batches_at_once: int
    amplification: float
    other: str
    other_amplification: float
    blocks: int
    blocks_open: int
    different: float
    different_of_full: float
    chunks: float
    advice: tuple[str, ...]

    @property
    def randomness(self) -> float:
        """Different blocks in a batch over those of a full shuffle, from 0 to 1."""
        return self.different / self.different_of_full

    def _rows(self) -> list[tuple[str, str]]:
        rows = [
            ("Epoch", f"{self.samples} samples, {self.batches} batches"),
            ("Order", self.order),
            ("Read amplification", f"{self.amplification:.2f}x, {self.chunks:.1f} chunks a batch"),
        ]
        if self.other:
            rows.append((f"With {self.other!r}", f"{self.other_amplification:.2f}x"))
        if self.order.startswith("block"):
            rows.append(("Blocks open", f"{self.blocks_open} of {self.blocks}"))
            rows.append(
                (
                    "Randomness",
                    f"{self.different:.1f} of {self.different_of_full:.1f} different blocks in a "
                    f"batch ({self.randomness:.2f})",
                )
            )
        memory = f"{self.memory_bytes / 2**20:.1f} MiB, {self.batches_at_once} batches at once"
        rows.append(("Memory", memory))
        return [*rows, *(("Advice", advice) for advice in self.advice)]

    def __str__(self) -> str:
        return "\n".join(f"{name + ':':20} {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        return info_table(self._rows())


def plan_of(loader: Any, choice: OrderChoice, schedule: Schedule) -> Plan:
    """The plan of a loader's epoch."""
    dataset, size = loader.dataset, loader.batch_size
    begins = dataset._blocks
    blocks = len(begins) - 1
    is_block = choice.kind == "block"
    blocks_open = min(blocks, choice.group * choice.partitions) if is_block else blocks
    near, far = randomness(blocks, blocks_open, size)
    at_once = batches_of_a_fill(loader._options(), size)
    used, chunks, calls = _cost(loader, dataset, choice, at_once)
    other = {"block": "full", "full": "block"}.get(choice.kind, "")
    other_used = 0.0
    if other:
        change = OrderChoice(other)
        if other == "block":
            world = loader.world
            change = choose(dataset, other, size, loader._memory, world, world)
        options = replace(loader._options(), kind=other)
        other_used = _cost(loader, dataset, change, batches_of_a_fill(options, size))[0]
    batch_bytes = dataset._mean_bytes() * size
    ahead = max(2 * at_once, loader._prefetch + 1) + 1
    advice = _advice(dataset, choice, used, other_used, near / far)
    advice += chunk_advice(calls)
    if more := _with_more_crops(loader, used):
        advice.append(more)
    return Plan(
        samples=schedule.order.size,
        batches=len(schedule),
        order=str(choice),
        batch_bytes=batch_bytes,
        memory_bytes=min(ahead, len(schedule) + 1) * batch_bytes,
        batches_at_once=at_once,
        amplification=used,
        other=other,
        other_amplification=other_used,
        blocks=blocks,
        blocks_open=blocks_open,
        different=near,
        different_of_full=far,
        chunks=chunks,
        advice=tuple(advice),
    )


def _advice(
    dataset: Any, choice: OrderChoice, used: float, other_amplification: float, random: float
) -> list[str]:
    advice = []
    if choice.kind == "full" and other_amplification and used > 2 * other_amplification:
        advice.append(f"shuffle='block' reads {used / other_amplification:.1f} times less")
    if choice.kind == "block" and random < 0.5:
        advice.append("more memory= makes batches more random")
    wide = [
        column.name
        for column in dataset._shown()
        if column.target is not None and column.dtype.itemsize > column.source.itemsize
    ]
    if wide:
        advice.append(f"{', '.join(wide)}: converting on the device would send fewer bytes there")
    return advice


def _with_more_crops(loader: Any, used: float) -> str:
    """What several crops of a frame would gain in a block shuffle; empty if it is not much."""
    dataset, size = loader.dataset, loader.batch_size
    is_one = isinstance(dataset, Crops) and dataset._given["per_item"] == 1
    # A mask would have to be read.
    if not is_one or dataset._given["density"] or dataset._given["where"] or used < _MUCH:
        return ""
    several = Crops(dataset._groups, **{**dataset._given, "per_item": _CROPS})
    choice = choose(several, "block", size, loader._memory, loader.world, loader.world)
    share = several._share()
    options = replace(loader._options(), dataset=several, kind="block", share=share)
    found = _cost(loader, several, choice, batches_of_a_fill(options, size))[0]
    if found * _WORTH > used:
        return ""
    return (
        f"per_item={_CROPS} with shuffle='block' would decode {found:.1f} times what samples use, "
        f"and this order decodes {used:.1f} times"
    )


def _cost(
    loader: Any, dataset: Any, choice: OrderChoice, at_once: int
) -> tuple[float, float, list[list[Entry]]]:
    """Decoded bytes over used bytes, and decoded chunks of a batch, in the first calls; these."""
    weights = loader._cumulative if dataset is loader.dataset else None
    order = order_of(dataset, choice, loader.seed, 0, weights, loader._samples)
    decoded = used = chunks = count = 0
    calls = []
    for items, rounds in _calls(order, loader.batch_size, at_once):
        draws = dataset._draws(Visits(items, loader.seed, 0, rounds))
        _, entries = dataset._batch(draws)
        decoded_here, touched = chunks_of(entries)
        decoded += decoded_here
        chunks += touched
        used += sum(map(used_bytes, entries))
        count += len(items)
        calls.append(entries)
    return decoded / max(1, used), chunks * loader.batch_size / count, calls


def _calls(order: Any, size: int, at_once: int) -> Iterator[tuple[Any, Any]]:
    """Items and rounds that are read together: those of a window, or of so many batches."""
    if isinstance(order, Blocks):
        for items in order.windows(_MOST_SAMPLES, _MOST_OF_A_WINDOW):
            yield items, None
        return
    count, step = min(order.size, max(size, _MOST_SAMPLES)), at_once * size
    items, rounds = order.at(np.arange(count) * order.streams % order.size)
    for begin in range(0, count, step):
        part = slice(begin, min(count, begin + step))
        yield items[part], None if rounds is None else rounds[part]
