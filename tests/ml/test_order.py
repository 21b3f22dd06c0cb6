"""The order of an epoch: a pure function of seed, epoch and position, and golden vectors of it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.data import items_of, numbered
from zarrix import ml
from zarrix.ml._order.order import (
    Blocks,
    Full,
    Mixed,
    Sequential,
    Source,
    Stage,
    permuted,
    proportions,
)
from zarrix.ml._order.random import draw, key_of, mix64, philox
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._order.state import OrderChoice

# What version 1 of the order is: a change of any of these is another version.
GOLDEN = {
    "key": 55176218820945496,
    "full": [4, 0, 1, 8, 9, 6, 3, 5, 7, 2],
    "large": [229, 4274, 97, 3244, 4926, 2116, 4178, 3058],
    "block": [10, 30, 5, 25, 19, 20, 4, 24, 14, 27, 12, 23],
    "streams": [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
    # Version 2 of blocks.
    "runs": [3, 35, 34, 7, 5, 33, 8, 38, 37, 36, 6, 4],
    "draw": [
        1746930957136222866,
        12888150313554734345,
        14109246707353013399,
        1926496888619430944,
    ],
}


def test_philox_is_that_of_its_authors() -> None:
    """The known answers of Random123."""
    ones = 0xFFFFFFFF
    assert [int(one) for one in philox(2**64 - 1, (ones,) * 4)] == [
        0x408F276D,
        0x41C83B0E,
        0xA20BC7C6,
        0x6D5451FD,
    ]
    counter = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert [int(one) for one in philox(0x299F31D0A4093822, counter)] == [
        0xD16CFE09,
        0x94FDCCEB,
        0x5001E420,
        0x24126EA1,
    ]


def test_splitmix_is_that_of_its_author() -> None:
    state = np.array([0x9E3779B97F4A7C15, 0x3C6EF372FE94F82A], np.uint64)
    assert [int(one) for one in mix64(state)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_the_order_is_that_of_version_1() -> None:
    blocks = Blocks(np.array([0, 3, 7, 8, 20, 31]), OrderChoice("block", 2, 2), seed=5, epoch=1)
    runs = Blocks(np.arange(0, 40, 3), OrderChoice("block", 4, run=2), seed=5, epoch=1)
    words = draw(9, "corner", 2, np.array([0, 2**33]), attempt=1)
    found = {
        "key": key_of(7, "item", 3),
        "full": Full(10, 1, 0).at(np.arange(10))[0].tolist(),
        "large": Full(5000, 1, 2).at(np.arange(8))[0].tolist(),
        "block": blocks.at(np.arange(12))[0].tolist(),
        "streams": blocks.stream_of(np.arange(12)).tolist(),
        "runs": runs.at(np.arange(12))[0].tolist(),
        "draw": [int(one) for word in words for one in word],
    }
    assert found == GOLDEN


@given(size=st.integers(1, 20000), key=st.integers(0, 2**64 - 1))
@settings(deadline=None, max_examples=40)
def test_a_permutation_has_every_number_once(size: int, key: int) -> None:
    assert np.array_equal(np.sort(permuted(np.arange(size), size, key)), np.arange(size))


def test_a_billion_items_need_no_memory_and_repeat_nothing() -> None:
    order = Full(10**9, 3, 0)
    items, _ = order.at(np.arange(999_990_000, 10**9))
    assert len(np.unique(items)) == 10_000
    assert items.min() >= 0
    assert items.max() < 10**9


@pytest.mark.parametrize("size", [1000, 4097, 65_000])
def test_positions_and_gaps_are_as_random_as_those_of_a_shuffle(size: int) -> None:
    """Fixed seeds: a chi-squared test of gaps between neighbours, and of the first item."""
    keys = [key_of(seed, "item", 0) for seed in range(400 if size < 5000 else 8)]
    gaps = np.zeros(16)
    first = np.zeros(16)
    for key in keys:
        images = permuted(np.arange(min(size, 8000)), size, key)
        gaps += np.bincount(np.diff(images) % size * 16 // size, minlength=16)
        first[images[0] * 16 // size] += 1
    for counts, least in ((gaps, 1), (first, 40)):
        expected = counts.sum() / 16
        chi2 = ((counts - expected) ** 2 / expected).sum()
        assert expected < least or abs(chi2 - 15) / np.sqrt(30) < 4


@st.composite
def blocks(draws: Any) -> Blocks:
    lengths = draws(st.lists(st.integers(1, 9), min_size=1, max_size=30))
    begins = np.concatenate([[0], np.cumsum(lengths)])
    choice = OrderChoice(
        "block", draws(st.integers(1, 8)), draws(st.integers(1, 6)), draws(st.integers(1, 4))
    )
    return Blocks(
        begins,
        choice,
        draws(st.integers(0, 2**64 - 1)),
        draws(st.integers(0, 2**40)),
    )


@given(blocks())
@settings(deadline=None)
def test_blocks_give_every_item_once_and_each_block_in_one_window(order: Blocks) -> None:
    positions = np.arange(order.size)
    items, _ = order.at(positions)
    assert sorted(items.tolist()) == positions.tolist()
    of_block: dict[int, set[int]] = {}
    found = np.searchsorted(order._items, items, "right") - 1
    for block, window in zip(found.tolist(), order.window_of(positions).tolist(), strict=True):
        of_block.setdefault(block, set()).add(window)
    assert all(len(windows) == 1 for windows in of_block.values())
    assert sorted(item for items in order.windows(order.size, order.size) for item in items) == (
        positions.tolist()
    )
    one_by_one = [int(order.at(np.array([place]))[0][0]) for place in positions]
    assert one_by_one == items.tolist()


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    weights=st.lists(st.integers(1, 9), min_size=4, max_size=4),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None)
def test_a_mix_keeps_its_proportions_in_every_prefix(
    sizes: list[int], weights: list[int], seed: int
) -> None:
    shares = proportions(weights[: len(sizes)])
    mixed = [
        Source(lambda rounds, size=size: Full(size, seed, rounds), size, size) for size in sizes
    ]
    order = Mixed(mixed, [Stage(0, shares)], 300, seed, 0)
    items, rounds = order.at(np.arange(300))
    ends = np.cumsum([0, *sizes])
    sources = np.searchsorted(ends, items, "right") - 1
    for source, share in enumerate(shares):
        counts = np.cumsum(sources == source)
        even = np.arange(1, 301) * share / sum(shares)
        assert abs(counts - even).max() <= share
        mine = (sources == source) & (rounds == 0)
        assert len(np.unique(items[mine])) == mine.sum()
    again, _ = order.at(np.arange(150, 170))
    assert again.tolist() == items[150:170].tolist()


@given(
    order=st.one_of(
        blocks(),
        st.builds(Full, st.integers(1, 200), st.integers(0, 99), st.integers(0, 9)),
        st.builds(Sequential, st.integers(1, 200)),
    ),
    batch_size=st.integers(1, 9),
    world=st.integers(1, 5),
    drop_last=st.booleans(),
    first=st.integers(0, 100),
)
@settings(deadline=None, max_examples=200)
def test_ranks_divide_the_positions_of_an_epoch(
    order: Any, batch_size: int, world: int, drop_last: bool, first: int
) -> None:
    first = min(first, order.size)
    lengths, shown = set(), []
    for rank in range(world):
        schedule = Schedule(order, batch_size, rank, world, drop_last, first)
        batches = []
        for share in schedule.shares():
            begin = 0
            for size in share.sizes:
                here = slice(begin, begin + size)
                valid = np.ones(size, bool) if share.valid is None else share.valid[here]
                batches.append((share.positions[here], valid))
                begin += size
        assert len(batches) == len(schedule)
        lengths.add(len(batches))
        shown.append(batches)
    assert len(lengths) == 1
    whole = batch_size * world
    for number in range(lengths.pop()):
        begin = first + number * whole
        together = [p for batches in shown for p in batches[number][0][batches[number][1]].tolist()]
        assert sorted(together) == list(range(begin, min(begin + whole, order.size)))
        for batches in shown:
            positions, _ = batches[number]
            assert world == 1 or len(positions) == batch_size
            assert (positions < order.size).all()


@pytest.mark.parametrize("shuffle", ["full", "block", True, False])
def test_any_number_of_ranks_and_any_batch_size_give_one_list(shuffle: Any) -> None:
    rows = ml.Rows({"x": numbered(60)})
    whole = items_of(ml.Loader(rows, 1, shuffle=shuffle, seed=3, partitions=1))
    for world, size in ((2, 3), (3, 4), (5, 2)):
        ranks = [
            [
                batch["item"].tolist()
                for batch in ml.Loader(
                    rows, size, shuffle=shuffle, seed=3, rank=rank, world=world, partitions=1
                )
            ]
            for rank in range(world)
        ]
        assert [one for step in zip(*ranks, strict=True) for b in step for one in b] == whole


def test_a_rank_reads_the_blocks_of_its_stream_alone() -> None:
    rows = ml.Rows({"x": numbered(96)})
    blocks_of = []
    for rank in range(3):
        loader = ml.Loader(rows, 2, shuffle="block", rank=rank, world=3, memory="64 B")
        blocks_of.append({item // 4 for item in items_of(loader)})
    assert len(set.union(*blocks_of)) == 24
    assert sum(len(one) for one in blocks_of) == 24
