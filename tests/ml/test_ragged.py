"""Samples of variable length against slices of the values in memory."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.data import items_of
from zarrix import ml
from zarrix.errors import StateError

LAYOUTS = ("pad", "packed", "nested")


def parts_of(batch: Any, name: str, as_: str) -> list[Any]:
    """The samples of a field, each with the length that the batch says."""
    if as_ == "nested":
        return list(batch[name])
    if as_ == "packed":
        bounds = batch["offsets"]
        assert bounds[0] == 0
        assert bounds[-1] == len(batch[name])
        assert np.diff(bounds).tolist() == batch["length"].tolist()
        return [batch[name][a:b] for a, b in itertools.pairwise(bounds)]
    return [one[:count] for one, count in zip(batch[name], batch["length"], strict=True)]


def documents(lengths: Any, chunk: int = 5, **options: Any) -> tuple[ml.Ragged, list[Any]]:
    """A dataset of these lengths, and the values of each item."""
    bounds = np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))])
    values = np.arange(int(bounds[-1]) + 2) * 3 + 1
    z = zarr.array(values, chunks=chunk)
    parts = [values[a:b] for a, b in itertools.pairwise(bounds)]
    return ml.Ragged({"x": z}, offsets=bounds, **options), parts


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_every_batch_has_what_slices_of_the_values_have(data: Any) -> None:
    draw = data.draw
    groups, wanted, chunks = [], [], st.integers(1, 9)
    rest = draw(st.sampled_from([(), (2,), (2, 0), (3, 2)]))
    random, bounds, rows = np.random.default_rng(draw(st.integers(0, 9))), [], []
    for _ in range(draw(st.integers(1, 3))):
        lengths = draw(st.lists(st.integers(0, 12), min_size=1, max_size=9))
        skipped = draw(st.integers(0, 3))
        ends = skipped + np.cumsum([0, *lengths])
        values = random.integers(0, 99, (int(ends[-1]) + draw(st.integers(0, 3)), *rest))
        values = values.astype("u1")
        label = random.integers(0, 9, len(lengths))
        stored = draw(st.booleans())
        groups.append(
            {"x": zarr.array(values, chunks=(draw(chunks), *(max(1, n) for n in rest)))}
            if stored
            else {"x": values}
        )
        rows.append({"label": zarr.array(label, chunks=draw(chunks))})
        bounds.append(ends)
        wanted += [
            (values[a:b], label[number], len(bounds) - 1)
            for number, (a, b) in enumerate(itertools.pairwise(ends))
        ]
    as_ = draw(st.sampled_from(LAYOUTS))
    buckets = draw(st.sampled_from([None, 1, 3, [5, 12]]))
    dataset = ml.Ragged(
        groups,
        offsets=bounds if len(groups) > 1 else bounds[0],
        rows=rows,
        as_=as_,
        buckets=buckets,
        pad_value=7,
    )
    size = draw(st.integers(1, len(wanted) + 2))
    shuffle = draw(st.sampled_from([False, "full", "block", True]))
    loader = ml.Loader(
        dataset,
        size,
        shuffle=shuffle,
        seed=draw(st.integers(-5, 5)),
        memory=draw(st.sampled_from([1, 200, 2**20])),
    )
    seen = []
    for batch in loader:
        for item, part, label in zip(
            batch["item"].tolist(), parts_of(batch, "x", as_), batch["label"], strict=True
        ):
            values, own, group = wanted[item]
            np.testing.assert_array_equal(part, values)
            assert part.dtype == np.uint8
            assert label == own
            assert len(groups) == 1 or batch["group"][batch["item"].tolist().index(item)] == group
        if as_ == "pad":
            longest = max(batch["length"])
            edges = [5, 12] if buckets == [5, 12] else None
            if edges:
                longest = min(edge for edge in edges if edge >= longest)
            if buckets is None or edges:
                assert batch["x"].shape == (len(batch["item"]), longest, *rest)
            for row, count in enumerate(batch["length"]):
                assert (batch["x"][row, count:] == 7).all()
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(len(wanted)))
    for item in range(len(wanted)):
        np.testing.assert_array_equal(dataset[item]["x"], wanted[item][0])


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=4, max_size=60),
    cut=st.integers(0, 6),
    first=st.tuples(st.integers(1, 3), st.integers(1, 5)),
    second=st.tuples(st.integers(1, 3), st.integers(1, 5)),
    shuffle=st.sampled_from(["full", "block", True]),
)
def test_ranks_and_a_resume_on_others_visit_each_item_once(
    lengths: list[int],
    cut: int,
    first: tuple[int, int],
    second: tuple[int, int],
    shuffle: Any,
) -> None:
    dataset, _ = documents(lengths, buckets=3)
    options: dict[str, Any] = {"shuffle": shuffle, "seed": 4, "drop_last": False, "memory": 4000}
    world, size = first
    loaders = [ml.Loader(dataset, size, rank=rank, world=world, **options) for rank in range(world)]
    passes = [iter(loader) for loader in loaders]
    seen: list[int] = []
    for _ in range(min(cut, len(loaders[0]))):
        for one in passes:
            batch = next(one)
            seen += batch["item"][batch["valid"]].tolist()
    states = [loader.state_dict() for loader in loaders]
    assert all(state == states[0] for state in states)
    world, size = second
    if states[0]["seen"] < len(lengths):
        for rank in range(world):
            loader = ml.Loader(dataset, size, rank=rank, world=world, **options)
            loader.load_state_dict(states[0])
            for batch in loader:
                seen += batch["item"][batch["valid"]].tolist()
    assert sorted(seen) == list(range(len(lengths)))


def test_batches_of_a_shuffle_are_of_one_bucket_on_all_ranks() -> None:
    lengths = np.random.default_rng(0).integers(0, 64, 4000)
    dataset, _ = documents(lengths, chunk=512, buckets=[16, 32, 64])
    for shuffle, memory in (("full", 2**20), ("block", 2**20)):
        per_rank = [
            [
                batch["x"].shape[1]
                for batch in ml.Loader(
                    dataset, 8, rank=rank, world=3, shuffle=shuffle, memory=memory, seed=1
                )
            ]
            for rank in range(3)
        ]
        count = len(per_rank[0])
        mixed = sum(len(set(widths)) > 1 for widths in zip(*per_rank, strict=True))
        loader = ml.Loader(dataset, 8, shuffle=shuffle, memory=memory, seed=1)
        widths = [len(set(dataset._layout.padded(batch["length"]))) for batch in loader]
        windows = len(loader._order(0)._windows) - 1 if shuffle == "block" else 1
        assert (windows > 1) == (shuffle == "block")
        assert mixed <= 4 * windows
        assert sum(width > 1 for width in widths) <= 4 * windows
        assert count > 5 * mixed
        # Lengths of neighbouring batches are not sorted.
        assert len(set(per_rank[0][:20])) == 3


def test_without_buckets_a_shuffle_is_the_one_of_rows() -> None:
    dataset, _ = documents([3] * 100)
    rows = ml.Rows({"x": zarr.zeros((100, 3), chunks=(1, 3))})
    assert items_of(ml.Loader(dataset, 4, shuffle="full", seed=5)) == items_of(
        ml.Loader(rows, 4, shuffle="full", seed=5)
    )


def test_long_items_are_cut_cropped_dropped_or_an_error() -> None:
    lengths = [3, 10, 0, 7]
    with pytest.raises(ValueError, match=r"item 1 of group 0 has 10 .* and 2 items have more than"):
        documents(lengths, max_length=5)
    cut, parts = documents(lengths, max_length=5, longer="cut")
    assert [cut[n]["x"].tolist() for n in range(4)] == [part[:5].tolist() for part in parts]
    few, _ = documents(lengths, max_length=5, longer="drop")
    few = few.join(ml.Table({"label": ["a", "b", "c", "d"]}))
    assert [(few[n]["x"].tolist(), str(few[n]["label"])) for n in range(2)] == [
        (parts[0].tolist(), "a"),
        ([], "c"),
    ]
    assert few.table()["frame"].tolist() == [0, 2]
    crop, _ = documents(lengths, max_length=5, longer="crop")
    seen = set()
    for epoch in range(40):
        crop.set_epoch(epoch)
        values = crop[1]["x"].tolist()
        begin = parts[1].tolist().index(values[0])
        assert values == parts[1][begin : begin + 5].tolist()
        seen.add(begin)
    assert seen == set(range(6))
    crop.set_epoch(0)
    for batch in ml.Loader(crop, 3, seed=0):
        # As a loader of another library has them with the same seed and epoch.
        for item, row in zip(batch["item"], batch["x"], strict=True):
            assert row[: len(crop[item]["x"])].tolist() == crop[item]["x"].tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"offsets": [0, 4, 2]}, "falls from 4 to 2"),
        ({"offsets": [0, 2**62]}, "the fields have 8 elements"),
        ({"offsets": np.array([0, 2**64 - 1], "u8")}, "the fields have 8 elements"),
        ({"offsets": [-1, 4]}, "goes from -1 to 4"),
        ({"offsets": [0]}, "has no items"),
        ({"offsets": [0.0, 4.0]}, "list of integers, not float64"),
        ({"offsets": [[0, 4]]}, "of shape"),
        ({"episodes": [4, 9]}, "the fields have 8 elements"),
        ({"offsets": [0, 8], "buckets": [2, 4]}, "longest item has 8 .* add a longer one"),
        ({"offsets": [0, 8], "buckets": [4, 4]}, "ascend"),
        ({"offsets": [0, 8], "buckets": 0}, "1 to 4096"),
        ({"offsets": [0, 8], "buckets": []}, "a number of buckets, or their lengths"),
        ({"offsets": [0, 8], "longer": "cut"}, "needs max_length="),
        ({"offsets": [0, 8], "max_length": 0}, "at least 1"),
        ({"offsets": [0, 8], "max_length": 4, "longer": "crp"}, "did you mean 'crop'"),
        ({"offsets": [0, 8], "as_": "packd"}, "did you mean 'packed'"),
        ({"offsets": [0, 8], "rows": {"y": np.zeros(2)}}, r"has \[2\] rows .* of \[1\] items"),
        ({"offsets": [0, 8], "rows": {"x": np.zeros(1)}}, "a batch has one of this name"),
        ({"offsets": [0, 8], "pad_value": {"z": 1}}, "'z', which is not one of the fields"),
    ],
)
def test_what_does_not_fit_is_an_error_when_the_dataset_is_made(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        ml.Ragged({"x": zarr.zeros(8, chunks=3)}, **options)


def test_neither_or_both_of_offsets_and_episodes_are_an_error() -> None:
    for options in ({}, {"offsets": [0, 8], "episodes": [8]}):
        with pytest.raises(TypeError, match="offsets= or episodes="):
            ml.Ragged({"x": zarr.zeros(8)}, **options)


def test_offsets_in_an_array_that_lies_take_no_memory() -> None:
    huge = zarr.zeros(10**15, chunks=10**6, dtype="u1")
    dataset = ml.Ragged({"x": huge}, offsets=[0, 10**14, 10**15], max_length=100, longer="cut")
    assert next(iter(ml.Loader(dataset, 2)))["x"].shape == (2, 100)


def test_states_tell_lengths_buckets_and_layouts_apart() -> None:
    base, _ = documents([4, 4, 4, 4])
    state = ml.Loader(base, 2).state_dict()
    for lengths, options in (
        ([4, 4, 5, 3], {}),
        ([4, 4, 4, 4], {"buckets": [4, 8]}),
        ([4, 4, 4, 4], {"as_": "packed"}),
    ):
        other, _ = documents(lengths, **options)
        with pytest.raises(StateError):
            ml.Loader(other, 2).load_state_dict(state)
    bucketed, _ = documents([4, 4, 4, 4], buckets=1)
    state = ml.Loader(bucketed, 2).state_dict()
    assert state["order"].endswith(":2")
    forged = {**state, "order": "full/3:0:1:0"}
    with pytest.raises(StateError, match="order"):
        ml.Loader(bucketed, 2).load_state_dict(forged)
    rows = ml.Rows({"x": zarr.zeros((4, 1))})
    own = ml.Loader(rows, 2).state_dict()
    with pytest.raises(StateError, match="of buckets"):
        ml.Loader(rows, 2).load_state_dict({**own, "order": "full/3:0:1:2"})


def test_parts_folds_mixes_and_selections_are_of_whole_items() -> None:
    lengths = [3, 0, 5, 2, 8, 1, 4, 4]
    dataset, parts = documents(lengths, as_="packed")
    train, val = dataset.split({"train": 0.5, "val": 0.5}, by="position", seed=1)
    assert sorted(items_of(ml.Loader(train, 3)) + items_of(ml.Loader(val, 3))) == list(range(8))
    chosen = dataset.select([4, 0])
    batch = next(iter(ml.Loader(chosen, 2, shuffle=False)))
    assert batch["x"].tolist() == [*parts[4].tolist(), *parts[0].tolist()]
    mix = ml.Mix({"a": train, "b": val}, until="all")
    for batch in ml.Loader(mix, 3, seed=2):
        whole = [train, val]
        for row, part in enumerate(parts_of(batch, "x", "packed")):
            source = int(batch["source"][row])
            own = whole[source]
            item = int(own._base_items(np.array([batch["item"][row] - mix._ends[source]]))[0])
            assert part.tolist() == parts[item].tolist()
    with pytest.raises(ValueError, match="samples of 'b'"):
        ml.Mix({"a": dataset, "b": documents(lengths)[0]})


def test_conversion_and_bfloat16_of_points() -> None:
    values = np.arange(30, dtype="i2").reshape(10, 3)
    z = zarr.array(values, chunks=(4, 3))
    field = ml.Field(z, dtype="float32", scale=[1, 2, 3], offset=1)
    for where in (z, values):
        field = ml.Field(where, dtype="float32", scale=[1, 2, 3], offset=1)
        points = ml.Ragged({"p": field}, offsets=[0, 4, 10], pad_value=-1)
        batch = next(iter(ml.Loader(points, 2, shuffle=False)))
        wanted = (values * np.array([1, 2, 3]) + 1).astype("f4")
        np.testing.assert_array_equal(batch["p"][0, :4], wanted[:4])
        np.testing.assert_array_equal(batch["p"][1], wanted[4:])
        assert (batch["p"][0, 4:] == -1).all()
    half = ml.Ragged({"p": ml.Field(z, dtype="bfloat16")}, offsets=[0, 4, 10], pad_value=-1.5)
    bits = next(iter(ml.Loader(half, 2, shuffle=False)))["p"].astype("u4") << 16
    floats = bits.view("f4")
    np.testing.assert_array_equal(floats[0, :4], values[:4].astype("f4"))
    assert (floats[0, 4:] == -1.5).all()


def test_a_corrupt_chunk_marks_its_samples_and_nothing_is_replaced(tmp_path: Path) -> None:
    z = zarr.create_array(tmp_path / "x.zarr", shape=12, chunks=3, dtype="i4", zarr_format=3)
    z[:] = np.arange(12)
    chunk = next(path for path in tmp_path.rglob("*") if path.is_file() and path.name == "2")
    chunk.write_bytes(b"x" + chunk.read_bytes()[1:])
    dataset = ml.Ragged({"x": z}, offsets=[0, 4, 4, 7, 12], as_="packed")
    loader = ml.Loader(dataset, 2, shuffle=False, on_error="fill")
    valid = np.concatenate([batch["valid"] for batch in loader])
    assert valid.tolist() == [True, True, False, False]
    assert {record["item"] for record in loader.errors} == {2, 3}
    for options in ({"on_error": "replace"}, {"transform_sample": lambda sample, rng: None}):
        with pytest.raises(ValueError, match="samples that differ in length"):
            ml.Loader(dataset, 2, **options)


def test_memory_is_reused_although_batches_differ_in_size() -> None:
    lengths = np.random.default_rng(0).integers(500, 1000, 3000)
    dataset, _ = documents(lengths, chunk=50000, as_="packed")
    loader = ml.Loader(dataset, 4, memory="1 MiB", shuffle="full")
    for _ in loader:
        pass
    assert loader._slots is not None
    assert 0 < loader._slots.held_bytes <= 2**20
    assert len(loader._slots._slots) < 20


def test_a_dataset_goes_to_other_processes_and_into_a_plan() -> None:
    dataset, parts = documents([3, 0, 5, 2] * 20, buckets=2)
    again = pickle.loads(pickle.dumps(dataset))
    assert items_of(ml.Loader(again, 4, seed=1)) == items_of(ml.Loader(dataset, 4, seed=1))
    plan = ml.Loader(dataset, 4).plan()
    assert plan.samples == 80
    assert plan.amplification >= 1
    assert "<table" in dataset._repr_html_()
    assert parts[0].tolist() == again[0]["x"].tolist()
