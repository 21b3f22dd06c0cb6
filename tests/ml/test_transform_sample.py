"""`Loader(transform_sample=)`: a function of one sample, whose numbers do not depend on batches."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

Pair = namedtuple("Pair", ["left", "right"])


def rows(count: int = 24) -> ml.Rows:
    values = np.arange(count * 6, dtype="f4").reshape(count, 2, 3)
    return ml.Rows({"x": zarr.array(values, chunks=(4, 2, 3)), "y": zarr.array(np.arange(count))})


def noisy(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return {"x": sample["x"] + rng.normal(size=(2, 3)), "item": sample["item"]}


def by_item(batches: Any, name: str = "x") -> dict[int, list[float]]:
    return {
        int(item): value.ravel().tolist()
        for batch in batches
        for item, value in zip(batch["item"], batch[name], strict=True)
    }


def test_numbers_of_a_sample_do_not_depend_on_batches_ranks_or_reading_ahead() -> None:
    def load(batch_size: int, **options: Any) -> dict[int, list[float]]:
        ranks = range(options.get("world", 1))
        loaders = [
            ml.Loader(
                rows(), batch_size, shuffle="full", transform_sample=noisy, rank=rank,
                **{"world": 1, **options},
            )
            for rank in ranks
        ]  # fmt: skip
        return {item: row for loader in loaders for item, row in by_item(loader).items()}

    expected = load(1)
    assert len(expected) == 24
    assert load(7) == expected
    assert load(6, prefetch=0) == expected
    assert load(3, world=4) == expected
    assert load(5, seed=1) != expected


def test_numbers_differ_by_epoch_and_go_on_after_a_resume() -> None:
    loader = ml.Loader(rows(), 4, transform_sample=noisy)
    first, second = by_item(loader), by_item(loader)
    assert first.keys() == second.keys()
    assert all(first[item] != second[item] for item in first)

    again = ml.Loader(rows(), 4, transform_sample=noisy)
    batches = iter(again)
    begun = by_item([next(batches), next(batches)])
    resumed = ml.Loader(rows(), 5, transform_sample=noisy)
    resumed.load_state_dict(again.state_dict())
    assert {**begun, **by_item(resumed)} == first


def test_a_sample_is_changed_in_place() -> None:
    def double(sample: dict[str, Any], rng: np.random.Generator) -> None:
        sample["x"] *= 2
        sample["extra"] = len(sample)
        del sample["start"]

    with ml.Loader(rows(), 4, shuffle=False, transform_sample=double) as loader:
        batch = next(iter(loader))
    np.testing.assert_array_equal(batch["x"], 2 * np.arange(24, dtype="f4").reshape(4, 2, 3))
    assert batch["extra"].tolist() == [4] * 4
    assert set(batch) == {"x", "y", "item", "extra"}
    assert isinstance(batch, ml.Batch)
    assert batch.seeds is not None


def test_entries_that_are_replaced_in_the_sample_are_those_of_the_batch() -> None:
    def flip_some(sample: dict[str, Any], rng: np.random.Generator) -> None:
        if sample["item"] % 2:
            sample["x"] = sample["x"][..., ::-1]

    def replace_all(sample: dict[str, Any], rng: np.random.Generator) -> None:
        sample["x"], sample["y"] = sample["x"].sum(), sample["y"] + 0.5

    stored = np.arange(18, dtype="f4").reshape(3, 2, 3)
    batch = next(iter(ml.Loader(rows(), 3, shuffle=False, transform_sample=flip_some)))
    assert batch["x"].tolist() == [
        (one[..., ::-1] if item % 2 else one).tolist() for item, one in enumerate(stored)
    ]
    batch = next(iter(ml.Loader(rows(), 3, shuffle=False, transform_sample=replace_all)))
    assert batch["x"].tolist() == stored.sum(axis=(1, 2)).tolist()
    assert batch["y"].tolist() == [0.5, 1.5, 2.5]


def test_trees_of_arrays_get_a_first_axis() -> None:
    def tree(sample: dict[str, Any], rng: np.random.Generator) -> Any:
        x, y = sample["x"], int(sample["y"])
        return {"a": [x, (y, x[0])], "b": {"c": Pair(y, str(y)), "d": x.T}}

    batch = next(iter(ml.Loader(rows(), 3, shuffle=False, transform_sample=tree)))
    x, (y, first) = batch["a"]
    assert (x.shape, y.tolist(), first.shape) == ((3, 2, 3), [0, 1, 2], (3, 3))
    assert type(batch["b"]["c"]) is Pair
    assert batch["b"]["c"].right.tolist() == ["0", "1", "2"]
    assert batch["b"]["d"].shape == (3, 3, 2)


def test_it_runs_before_the_transform_of_a_batch_and_before_the_conversion() -> None:
    def sums(batch: Any, rng: np.random.Generator) -> Any:
        return {**batch, "sum": batch["x"].sum(axis=(1, 2))}

    def one(sample: dict[str, Any], rng: np.random.Generator) -> Any:
        return {"x": np.ones_like(sample["x"])}

    loader = ml.Loader(
        rows(), 3, transform=sums, transform_sample=one, to=lambda batch: batch["sum"].tolist()
    )
    assert next(iter(loader)) == [6.0] * 3
    assert loader.stats().transform_s > 0


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda s, rng: {"x": s["x"][:, : 1 + s["y"] % 2]}, r"\(2, 1\) and \(2, 2\) of \['x'\]"),
        (lambda s, rng: {f"x{s['y']}": s["x"]}, "different entries"),
        (lambda s, rng: {"a": {s["y"] % 2: 1}}, r"different entries of \['a'\]"),
        (lambda s, rng: [s["x"]] * (1 + s["y"] % 2), "different lists"),
        (lambda s, rng: s["x"] if s["y"] % 2 else [s["x"]], "different lists"),
        (lambda s, rng: [s["x"].astype("f4" if s["y"] else "f8")], r"float32, float64 of \[0"),
    ],
)  # fmt: skip
def test_samples_that_make_no_batch_are_an_error(function: Any, told: str) -> None:
    loader = ml.Loader(rows(), 4, shuffle=False, transform_sample=function)
    with pytest.raises(ValueError, match=told):
        next(iter(loader))
    # The loader is where it was.
    assert loader.state_dict()["seen"] == 0


def test_an_error_of_the_function_reaches_the_caller() -> None:
    def fails(sample: dict[str, Any], rng: np.random.Generator) -> None:
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing"):
        list(ml.Loader(rows(), 4, transform_sample=fails))
