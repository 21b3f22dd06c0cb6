"""`Mix(until=)`: when an epoch of several datasets ends."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarrix import ml
from zarrix.errors import StateError


def rows(count: int) -> ml.Rows:
    return ml.Rows({"x": zarr.array(np.zeros((count, 1), "u1"))})


def mix_of(counts: list[int], weights: list[int], until: str) -> ml.Mix:
    return ml.Mix(
        {str(number): rows(count) for number, count in enumerate(counts)},
        weights={str(number): weight for number, weight in enumerate(weights)},
        until=until,
    )


def visits(mix: ml.Mix, seed: int = 0, **options: Any) -> list[Counter[int]]:
    """How often each item of each dataset is visited in an epoch."""
    found = [Counter[int]() for _ in mix._parts]
    for batch in ml.Loader(mix, 7, seed=seed, **options):
        for item, source in zip(batch["item"].tolist(), batch["source"].tolist(), strict=True):
            found[source][item - int(mix._ends[source])] += 1
    return found


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    weights=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    seed=st.integers(0, 2**32),
)
def test_an_epoch_has_every_item_that_it_promises(
    counts: list[int], weights: list[int], seed: int
) -> None:
    weights = weights[: len(counts)]
    mixes = {until: mix_of(counts, weights, until) for until in ("first", "longest", "all")}
    sizes = {until: mix._epoch for until, mix in mixes.items()}
    assert sizes["first"] <= sizes["longest"] <= sizes["all"]

    longest, every = visits(mixes["longest"], seed), visits(mixes["all"], seed)
    for number, count in enumerate(counts):
        assert set(every[number]) == set(range(count))
        if count == max(counts):
            assert set(longest[number]) == set(range(count))
        # A dataset begins again only after each of its items was visited.
        assert max(every[number].values()) - min(every[number].values()) <= 1
    # Without the last run of positions, an item of some dataset would be missing.
    shares = mixes["all"]._stages[0].shares
    run = sum(shares)
    full_runs = sizes["all"] // run - 1
    assert any(full_runs * share < count for share, count in zip(shares, counts, strict=True))


def test_until_first_visits_no_item_twice() -> None:
    for found in visits(mix_of([12, 30], [1, 2], "first")):
        assert set(found.values()) == {1}


def test_the_parts_of_a_split_end_as_the_whole_does() -> None:
    train, held_out = mix_of([30, 10], [1, 1], "all").split({"train": 0.8, "val": 0.2})
    assert (train._epoch, held_out._epoch) == (48, 12)


def test_a_state_of_another_end_is_refused_and_of_the_usual_one_is_as_before() -> None:
    first, every = (mix_of([12, 30], [1, 2], until) for until in ("first", "all"))
    state = ml.Loader(first, 4, samples=20).state_dict()
    with pytest.raises(StateError):
        ml.Loader(every, 4, samples=20).load_state_dict(state)
    assert "until" not in first._identity()


def test_another_end_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"until='al'; allowed are first, longest, all.*'all'"):
        mix_of([1], [1], "al")
