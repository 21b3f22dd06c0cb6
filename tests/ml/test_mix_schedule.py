"""`Mix(weights=)` by position: shares that change within an epoch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix import ml
from zarrix.errors import StateError

NAMES = ("a", "b", "c")


def rows(count: int) -> ml.Rows:
    return ml.Rows({"x": zarr.array(np.zeros((count, 1), "u1"))})


def visits(loader: ml.Loader) -> list[tuple[int, int]]:
    """Source and item, in order."""
    return [
        pair
        for batch in loader
        for pair in zip(batch["source"].tolist(), batch["item"].tolist(), strict=True)
    ]


@st.composite
def schedules(draw: Any) -> tuple[dict[int, dict[str, int]], int]:
    count = draw(st.integers(1, 3))
    weights = st.lists(st.integers(0, 4), min_size=count, max_size=count).filter(any)
    begins = sorted(draw(st.sets(st.integers(1, 60), max_size=3)))
    stages = {}
    for begin in [0, *begins]:
        stages[begin] = dict(zip(NAMES, draw(weights), strict=False))
    return stages, count


@settings(max_examples=60, deadline=None)
@given(schedules(), st.lists(st.integers(1, 30), min_size=3, max_size=3), st.integers(-9, 9))
def test_each_stage_has_its_shares_and_no_item_comes_too_early(
    schedule: tuple[dict[int, dict[str, int]], int], counts: list[int], seed: int
) -> None:
    stages, count = schedule
    datasets = {name: rows(n) for name, n in zip(NAMES[:count], counts, strict=False)}
    mix = ml.Mix(datasets, weights=stages)
    size = 90
    found = visits(ml.Loader(mix, 16, seed=seed, samples=size, prefetch=0))
    assert len(found) == size
    ends = [*list(stages)[1:], size]
    for (begin, weights), end in zip(stages.items(), ends, strict=True):
        values = list(weights.values())
        run = sum(values) // np.gcd.reduce(values)
        shares = [value * run // sum(values) for value in values]
        for first in range(begin, end - run + 1, run):
            sources = [source for source, _ in found[first : first + run]]
            assert np.bincount(sources, minlength=count).tolist() == shares
    for source in range(count):
        items = [item for number, item in found if number == source]
        length = counts[source]
        # Round after round, each has every item once, in any stage.
        for first in range(0, len(items) - length + 1, length):
            assert len(set(items[first : first + length])) == length


@settings(max_examples=60, deadline=None)
@given(
    schedules(), st.lists(st.integers(1, 30), min_size=3, max_size=3), st.sampled_from([0, 1, 5])
)
def test_an_epoch_ends_where_until_says(
    schedule: tuple[dict[int, dict[str, int]], int], counts: list[int], seed: int
) -> None:
    stages, count = schedule
    counts = counts[:count]
    datasets = {name: rows(n) for name, n in zip(NAMES, counts, strict=False)}
    first = ml.Mix(datasets, weights=stages)
    found = visits(ml.Loader(first, 16, seed=seed, prefetch=0))
    # A dataset with fewer items than the first run has of it is visited as often as it says.
    if all(count >= share for count, share in zip(counts, first._stages[0].shares, strict=True)):
        assert len(found) == len(set(found))
    last = list(stages.values())[-1]
    for until in ("longest", "all"):
        try:
            mix = ml.Mix(datasets, weights=stages, until=until)
        except ValueError:
            assert 0 in last.values()
            continue
        seen = set(visits(ml.Loader(mix, 16, seed=seed, prefetch=0)))
        offsets = np.concatenate([[0], np.cumsum(counts)])
        for number, length in enumerate(counts):
            if until == "all" or length == max(counts):
                items = range(int(offsets[number]), int(offsets[number]) + length)
                assert {(number, item) for item in items} <= seen


def test_a_run_goes_on_in_the_middle_of_a_stage_on_other_ranks() -> None:
    weights = {0: {"a": 1, "b": 0}, 13: {"a": 1, "b": 2}, 40: {"a": 5, "b": 1}}
    mix = ml.Mix({"a": rows(40), "b": rows(30)}, weights=weights)
    whole = visits(ml.Loader(mix, 1, seed=-3, samples=80))
    for cut in (2, 4, 9):
        loader = ml.Loader(mix, 5, seed=-3, samples=80)
        batches = iter(loader)
        for _ in range(cut):
            next(batches)
        others = []
        for rank in range(2):
            other = ml.Loader(mix, 4, samples=80, rank=rank, world=2, drop_last=False)
            other.load_state_dict(loader.state_dict())
            others += visits(other)
        assert set(whole[5 * cut :]) <= set(others)


def test_other_weights_are_another_order_and_a_constant_schedule_is_none() -> None:
    parts = {"a": rows(40), "b": rows(30)}
    constant = {"a": 1, "b": 2}
    plain, one = ml.Mix(parts, weights=constant), ml.Mix(parts, weights={0: constant})
    state = ml.Loader(plain, 4).state_dict()
    ml.Loader(one, 4).load_state_dict(state)
    assert visits(ml.Loader(plain, 4)) == visits(ml.Loader(one, 4))
    for weights in (
        {0: constant, 10: {"a": 2, "b": 1}},
        {0: constant, 11: {"a": 2, "b": 1}},
        {0: constant, 10: {"a": 3, "b": 1}},
    ):
        other = ml.Loader(ml.Mix(parts, weights=weights), 4, samples=30)
        with pytest.raises(StateError):
            other.load_state_dict(ml.Loader(plain, 4, samples=30).state_dict())
        for more in ({0: constant}, {0: constant, 10: {"a": 2, "b": 5}}):
            with pytest.raises(StateError):
                ml.Loader(ml.Mix(parts, weights=more), 4, samples=30).load_state_dict(
                    other.state_dict()
                )


def test_parts_of_a_split_keep_the_schedule() -> None:
    weights = {0: {"a": 1, "b": 0}, 8: {"a": 1, "b": 1}}
    mix = ml.Mix({"a": rows(40), "b": rows(40)}, weights=weights)
    train, val = mix.split({"train": 0.5, "val": 0.5})
    assert train._stages == val._stages == mix._stages
    assert "2 stages" in repr(mix)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ({1: {"a": 1, "b": 1}}, "begins at 1; stages begin at positions from 0 on"),
        ({0: {"a": 1, "b": 1}, -5: {"a": 1, "b": 1}}, "positions ascend"),
        ({0.0: {"a": 1, "b": 1}}, "begins at 0.0"),
        ({0: {"a": 0, "b": 0}}, "they are positive"),
        ({0: {"a": -1, "b": 1}}, "they are positive"),
        ({0: {"a": float("nan"), "b": 1}}, "they are positive"),
        ({0: {"a": 1}}, r"names \['a'\]"),
        ({"a": 0, "b": 1}, "they are positive"),
        ({}, r"names \[\]"),
    ],
)
def test_a_schedule_that_says_nothing_is_an_error(weights: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ml.Mix({"a": rows(4), "b": rows(4)}, weights=weights)
