"""Labels in tables, and choices of items by them: beside a plain model in Python."""

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import numbered
from zarrix import ml

LABELS = np.random.default_rng(1).integers(0, 3, 40)
NAMES = np.array([f"n{label}" for label in LABELS])


def rows(count: int = 40, chunk: int = 4) -> ml.Rows:
    return ml.Rows({"x": numbered(count, chunk)})


def batches(dataset: Any, **options: Any) -> dict[str, Any]:
    """All samples of an epoch, in the order of their items."""
    every = list(ml.Loader(dataset, 7, **options))
    names = every[0].keys()
    found = {name: np.concatenate([batch[name] for batch in every]) for name in names}
    order = np.argsort(found["item"], kind="stable")
    return {name: values[order] for name, values in found.items()}


def of_pandas() -> Any:
    return pytest.importorskip("pandas").DataFrame({"label": LABELS, "name": NAMES})


def of_arrow() -> Any:
    return pytest.importorskip("pyarrow").table({"label": LABELS, "name": NAMES.tolist()})


TABLES = {
    "pandas": of_pandas,
    "arrow": of_arrow,
    "mapping": lambda: {"label": LABELS.tolist(), "name": NAMES},
    "arrays": lambda: {"label": zarr.array(LABELS), "name": zarr.array(NAMES, dtype=str)},
    "records": lambda: [
        {"label": int(label), "name": str(name)} for label, name in zip(LABELS, NAMES, strict=True)
    ],
}


@pytest.mark.parametrize("name", TABLES)
def test_labels_of_frames_come_with_their_frames(name: str) -> None:
    table = ml.Table(TABLES[name]())
    crops = ml.Crops(
        {"x": np.arange(40)[:, None, None].repeat(6, 1).repeat(6, 2)},
        dims="tyx",
        size={"y": 2, "x": 2},
        per_item=2,
    )
    for shuffle, prefetch in (("full", 2), ("block", 0), (False, 2)):
        found = batches(crops.join(table), shuffle=shuffle, prefetch=prefetch)
        frames = found["x"][:, 0, 0]
        assert np.array_equal(found["label"], LABELS[frames])
        assert np.array_equal(found["name"], NAMES[frames])
    sample = crops.join(table).__getitems__([5, 70])
    assert [one["label"] for one in sample] == LABELS[[2, 35]].tolist()


def test_a_clip_has_a_label_for_each_of_its_frames() -> None:
    x = np.arange(40)
    clock = np.cumsum(np.random.default_rng(2).uniform(0.6, 1.4, 40))
    for options in (
        {},
        {"every": 2},
        {"every": 3, "border": "edge", "episodes": [11, 40]},
        {"every": 2, "border": "reflect", "episodes": [3, 40]},
        {"every": 1.5, "times": clock},
    ):
        clips = ml.Clips({"x": x}, dims="t", frames=3, **options)
        found = batches(clips.join(ml.Table({"label": LABELS})))
        assert np.array_equal(found["label"], LABELS[found["x"]]), options
        assert np.array_equal(clips.table()["frame"], found["x"][:, 0])
    padded = ml.Clips({"x": x}, dims="t", frames=3, border="pad", episodes=[4, 40], pad_value=-1)
    found = batches(padded.join(ml.Table({"label": LABELS})))
    last = np.where(found["item"] < 4, 3, 39)[:, None]
    assert np.array_equal(found["label"], LABELS[np.where(found["x"] < 0, last, found["x"])])


def test_labels_of_groups_and_of_frames_in_several_groups(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path / "scenes.zarr"), mode="w")
    groups = []
    for number, length in enumerate((3, 5, 2)):
        group = root.create_group(str(number))
        group.create_dataset("x", data=np.arange(length) + 100 * number)
        group.attrs["place"] = "abc"[number]
        groups.append(group)
    dataset = ml.Rows([{"x": group["x"]} for group in groups])
    of_groups = ml.Table([group.attrs for group in groups], on="group")
    both = dataset.join(of_groups).join(ml.Table({"label": LABELS[:10]}))
    found = batches(both)
    assert found["place"].tolist() == [*"aaa", *"bbbbb", *"cc"]
    assert np.array_equal(found["label"], LABELS[:10])
    table = both.table()
    assert table["frame"].tolist() == [0, 1, 2, 0, 1, 2, 3, 4, 0, 1]
    assert np.array_equal(table["label"], found["label"])
    assert np.array_equal(table["group"], found["group"])


def test_a_table_of_items_agrees_with_what_batches_say() -> None:
    x = np.arange(24 * 2 * 8 * 8).reshape(24, 2, 8, 8)
    mask = np.arange(24)[:, None, None] % 3 * np.ones((24, 8, 8)) > 0
    for dataset in (
        ml.Crops({"x": x}, dims="tcyx", size={"y": 3}, over=("t", "c"), per_item=2),
        ml.Crops({"x": x}, dims="tcyx", size={"y": 3, "x": 3}, where=ml.fraction(mask, ">", 0.5)),
        ml.Grid({"x": x}, {"y": 5, "x": 4}, dims="tcyx", over=("t", "c")),
        ml.Grid([{"x": x}, {"x": x[:5]}], {"y": 5, "x": 4}, dims="tcyx"),
        ml.Clips({"x": x}, dims="tcyx", frames=2, stride=3, episodes=[5, 17, 24]),
    ):
        found = batches(dataset)
        table = dataset.table()
        assert np.array_equal(table["frame"], found["start"][:, 0]), dataset
        assert np.array_equal(table["group"], found.get("group", np.zeros(len(dataset))))
        count = 29 if len(dataset._groups) == 2 else 24
        joined = batches(dataset.join(ml.Table({"number": np.arange(count)})))
        numbers = table["frame"] + 24 * table["group"]
        assert np.array_equal(joined["number"].reshape(len(dataset), -1)[:, 0], numbers)
    images = ml.Crops([{"x": x[0, 0]}, {"x": x[1, 0]}], dims="yx", size={"y": 3, "x": 3})
    assert images.table()["frame"].tolist() == [0, 0]


def test_a_part_a_mix_and_a_replacement_have_labels_too(tmp_path: Path) -> None:
    z = zarr.create((40,), chunks=4, dtype="i8", store=str(tmp_path / "x.zarr"))
    z[...] = np.arange(40)
    joined = ml.Rows({"x": z}).join(ml.Table({"label": LABELS}))
    part = joined.split({"a": 0.5, "b": 0.5})[1]
    found = batches(part)
    assert np.array_equal(found["label"], LABELS[20:])
    again = ml.Rows({"x": z}).split({"a": 0.5, "b": 0.5})[1].join(ml.Table({"label": LABELS}))
    assert np.array_equal(batches(again)["label"], LABELS[20:])
    mix = ml.Mix({"a": joined, "b": part})
    found = batches(mix, samples=60)
    assert np.array_equal(found["label"], LABELS[found["x"]])
    chunk = tmp_path / "x.zarr" / "2"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    found = batches(joined, on_error="replace")
    assert np.array_equal(found["label"], LABELS[found["x"]])
    assert not {8, 9, 10, 11} & set(found["x"].tolist())


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "no columns"),
        ({"a": [1, 2], "b": [1]}, "different lengths"),
        ({"a": [1, None]}, "lacks values, such as row 1"),
        ([{"a": 1}, {"b": 2}], "lacks values, such as row 1"),
        ({"a": [[1], [2]]}, "has one axis"),
        ({"a": [{}, {}]}, "numbers, times or text"),
        (5, "a table is"),
    ],
)
def test_a_table_that_is_not_one_is_an_error(table: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        ml.Table(table)


def test_missing_values_of_other_libraries_are_errors() -> None:
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for frame in (
        pandas.DataFrame({"a": pandas.array([1, None], dtype="Int64")}),
        pandas.DataFrame({"a": ["x", None]}),
        arrow.table({"a": [1, None]}),
        arrow.table({"a": ["x", None]}),
    ):
        with pytest.raises(ValueError, match="column 'a' lacks values"):
            ml.Table(frame)
    assert np.isnan(ml.Table(pandas.DataFrame({"a": [1.5, np.nan]})).columns["a"][1])


def test_a_table_that_does_not_fit_is_an_error() -> None:
    for table, message in (
        (ml.Table({"a": [1]}), "has 1 rows; the dataset has 40 frames"),
        (ml.Table({"a": [1, 2]}, on="group"), "has 2 rows; the dataset has 1 groups"),
        (ml.Table({"x": LABELS}), "batches have 'x' already"),
        (ml.Table({"item": LABELS}), "batches have 'item' already"),
    ):
        with pytest.raises(ValueError, match=message):
            rows().join(table)
    with pytest.raises(ValueError, match="'a' already"):
        rows().join(ml.Table({"a": LABELS})).join(ml.Table({"a": LABELS}))
    with pytest.raises(ValueError, match="on='frames'"):
        ml.Table({"a": [1]}, on="frames")


# Choices


@pytest.mark.parametrize("shuffle", ["full", "block", False])
def test_chosen_items_are_those_of_the_dataset_once_each(shuffle: Any) -> None:
    numbers = np.random.default_rng(3).permutation(200)[:90]
    chosen = rows(200).select(numbers)
    found = [batch["item"] for batch in ml.Loader(chosen, 7, shuffle=shuffle, memory=4000)]
    items = np.concatenate(found)
    assert sorted(items) == sorted(numbers)
    if not shuffle:
        assert np.array_equal(items, numbers)
    again = chosen.select(np.arange(90) % 2 == 1)
    assert np.array_equal(again.table()["item"], numbers[1::2])
    assert np.array_equal(again.table()["item"], [again[n]["x"] for n in range(45)])


def test_blocks_of_chosen_items_are_those_of_chunks() -> None:
    """Items of one chunk that are chosen one by one are one block, however many ranges they are."""
    chosen = rows(40, 8).select(range(0, 40, 2))
    assert chosen._begins().tolist() == [0, 4, 8, 12, 16, 20]
    assert rows(40, 8).select([39, 0, 38, 1, 9])._begins().tolist() == [0, 1, 2, 3, 4, 5]
    random = np.random.default_rng(4)
    for _ in range(50):
        base, count = rows(60, int(random.integers(1, 13))), int(random.integers(1, 60))
        numbers = random.permutation(60)[:count]
        if random.random() < 0.7:
            numbers = np.sort(numbers)
        blocks = np.searchsorted(base._begins(), numbers, "right")
        wanted = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), count]
        assert base.select(numbers)._begins().tolist() == wanted


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ([0, 3, 3], ValueError, "item 3 is chosen twice"),
        ([0, -40], ValueError, "item 0 is chosen twice"),
        ([40], IndexError, "item 40 of 40"),
        ([-41], IndexError, "item -41 of 40"),
        ([], ValueError, "no item is chosen"),
        ([True, False], ValueError, "mask has the shape"),
        ([0.5], ValueError, "list of integers or a mask"),
    ],
)
def test_a_choice_that_cannot_be_made_is_an_error(items: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        rows().select(items)


# Splits and folds


def items_in(part: Any) -> list[int]:
    found: list[int] = part.table()["item"].tolist()
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_stratified_split_has_the_share_of_each_class(seed: int) -> None:
    labels = np.random.default_rng(seed).choice(5, 203, p=[0.5, 0.3, 0.15, 0.04, 0.01])
    dataset = rows(203).join(ml.Table({"label": labels}))
    shares = {"train": 0.7, "val": 0.2, "test": 0.1}
    parts = dataset.split(shares, stratify="label", seed=seed)
    assert sorted(itertools.chain(*map(items_in, parts))) == list(range(203))
    for (name, share), part in zip(shares.items(), parts, strict=True):
        counts = Counter(labels[items_in(part)].tolist())
        for label, total in Counter(labels.tolist()).items():
            assert abs(counts[label] - share * total) < 1, (name, label)
        assert abs(len(part) - share * 203) < 2.5
    same = dataset.split(shares, stratify=labels.tolist(), seed=seed)
    assert list(map(items_in, same)) == list(map(items_in, parts))
    assert items_in(dataset.split(shares, stratify="label", seed=seed + 9)[0]) != items_in(parts[0])


def test_what_has_one_value_in_a_column_stays_together() -> None:
    patients = np.random.default_rng(5).integers(0, 13, 60)
    ill = patients % 2
    dataset = rows(60).join(ml.Table({"patient": patients, "ill": ill}))
    for options in ({}, {"stratify": "ill"}):
        for train, val in dataset.folds(4, by="patient", **options):
            mine, others = set(patients[items_in(val)]), set(patients[items_in(train)])
            assert not mine & others
            assert sorted(items_in(train) + items_in(val)) == list(range(60))
            if options:
                assert abs(sum(p % 2 for p in mine) - 6 / 4) < 1
    with pytest.raises(ValueError, match="have several classes"):
        dataset.split({"a": 0.5, "b": 0.5}, by="ill", stratify="patient")


@pytest.mark.parametrize("by", [None, "position", "t"])
def test_folds_hold_each_item_out_once(by: str | None) -> None:
    dataset = ml.Crops({"x": np.zeros((23, 4, 4))}, dims="tyx", size={"y": 2, "x": 2}, per_item=3)
    folds = dataset.folds(5, by=by)
    assert sorted(itertools.chain(*(items_in(val) for _, val in folds))) == list(range(69))
    for train, val in folds:
        assert sorted(items_in(train) + items_in(val)) == list(range(69))
        frames = [set(part.table()["frame"].tolist()) for part in (train, val)]
        assert not frames[0] & frames[1]


def test_folds_of_clips_have_no_frame_in_common() -> None:
    clips = ml.Clips({"x": np.arange(50)}, dims="t", frames=4)
    held = []
    for train, val in clips.folds(3):
        seen = {name: batches(part)["x"] for name, part in (("train", train), ("val", val))}
        assert not set(seen["train"].ravel()) & set(seen["val"].ravel())
        held += items_in(val)
    assert sorted(held) == list(range(47))
    with pytest.raises(ValueError, match="have frames in common: by='episode'"):
        clips.folds(3, by="position")
    with pytest.raises(ValueError, match="have frames in common"):
        clips.split({"a": 0.5}, stratify=np.zeros(47))
    with pytest.raises(ValueError, match="count=1"):
        clips.folds(1)
    with pytest.raises(ValueError, match="makes ranges"):
        clips.split({"a": 0.5}, by="t", stratify=np.zeros(47))
    with pytest.raises(ValueError, match="split by 'group' or 'episode' or 't' or 'position'"):
        clips.split({"a": 0.5}, by="patient")


def test_weights_by_a_column_draw_classes_equally_often() -> None:
    labels = np.where(np.arange(400) < 20, 1, 0)
    dataset = rows(400).join(ml.Table({"label": labels}))
    loader = ml.Loader(dataset, 50, weights="label", samples=4000, seed=1)
    drawn = np.concatenate([batch["label"] for batch in loader])
    assert abs(drawn.mean() - 0.5) < 0.05
    other = ml.Loader(dataset, 50, weights=ml.weights(labels), samples=4000, seed=1)
    assert np.array_equal(drawn, np.concatenate([batch["label"] for batch in other]))
    with pytest.raises(ValueError, match=r"weights='lable'.*'label'"):
        ml.Loader(dataset, 50, weights="lable")
