"""A state goes on with what it was taken from, or is an error: every parameter of everything.

Each row changes one parameter. Either the state is refused, or the samples that follow are those of
the loader that it was taken from. A parameter without a row fails a test.
"""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import zarrix as zarr
from ml.data import numbered
from zarrix import ml
from zarrix.errors import StateError

VALUES = np.random.default_rng(3).standard_normal((40, 3, 12, 12)).astype("f4")
X = zarr.array(VALUES, chunks=(4, 3, 6, 6))
FLAT = zarr.array(VALUES[:, 0, 0, :3], chunks=(8, 3))
MASK = np.random.default_rng(4).random((40, 12, 12)) < 0.6
LABELS = np.random.default_rng(5).integers(0, 3, (40, 12, 12)).astype("u1")
CLOCK = np.arange(40.0)
UNEVEN = CLOCK + np.where(np.arange(40) % 7 == 3, 0.4, 0.0)


class Row(NamedTuple):
    """What all loaders of a row have, and the changed parameter of the other one."""

    base: dict[str, Any]
    change: dict[str, Any]
    is_error: bool = True


SAME = False


def crops(**options: Any) -> ml.Crops:
    given = {"fields": {"x": X}, "dims": "tcyx", "size": {"y": 4, "x": 4}, "per_item": 2}
    if "density" in options:
        del given["per_item"]
    return ml.Crops(**{**given, **options})


def clips(**options: Any) -> ml.Clips:
    return ml.Clips(**{"fields": {"x": X}, "dims": "tcyx", "frames": 3, **options})


def rows(**options: Any) -> ml.Rows:
    return ml.Rows(**{"fields": {"x": X}, **options})


def grid(**options: Any) -> ml.Grid:
    return ml.Grid(**{"fields": {"x": X}, "dims": "tcyx", "size": {"y": 5, "x": 4}, **options})


ENDS = [0, 5, 10, 15, 20, 25, 30, 40]


def ragged(**options: Any) -> ml.Ragged:
    if "episodes" in options:
        options = {"offsets": None, **options}
    return ml.Ragged(**{"fields": {"x": X}, "offsets": ENDS, **options})


def mix(**options: Any) -> ml.Mix:
    return ml.Mix(**{"datasets": {"a": rows(), "b": rows()}, **options})


def field(**options: Any) -> ml.Rows:
    options = {"array": X, "dtype": "float32", **options}
    if options["dtype"] is None:
        del options["dtype"]
    return ml.Rows({"x": ml.Field(**options)})


def rated(**options: Any) -> ml.Clips:
    """A field with a rate of its own, and one whose axes have names."""
    times_two = zarr.array(VALUES[np.arange(80) // 2, 0, 0, 0], chunks=8)
    dims = options.pop("dims", "t")
    fields = {"x": X, "y": ml.Field(times_two, dims=dims, **options)}
    return ml.Clips(fields, dims={"x": "tcyx"}, frames=3, every=2)


def sparse(width: int = 6) -> zarr.Group:
    group = zarr.group()
    group.array("data", np.arange(40.0), chunks=8)
    group.array("indices", np.arange(40) % 5, chunks=8)
    group.array("indptr", np.arange(41), chunks=8)
    group.attrs["shape"] = [40, width]
    return group


SPARSE, WIDER = sparse(), sparse(7)


def csr(**options: Any) -> ml.Rows:
    return ml.Rows({"x": ml.CSR(**{"group": SPARSE, **options})})


def numbered_file(path: str) -> Any:
    return np.int64(path.rpartition("/")[2])


def files(**options: Any) -> ml.Rows:
    given = {"paths": [f"/a/{number}" for number in range(40)], "decode": numbered_file, **options}
    return ml.Rows({"x": ml.Files(**given)})


def fraction(**options: Any) -> ml.Crops:
    return crops(where=ml.fraction(**{"mask": MASK, "threshold": 0.5, **options}))


def foreground(**options: Any) -> ml.Crops:
    return crops(where=ml.foreground(**{"labels": LABELS, "share": 0.5, **options}))


def part(**options: Any) -> Any:
    options = {"parts": {"a": 0.5, "b": 0.5}, **options}
    return clips(episodes=[10, 20, 30, 40]).split(**options)[0]


def fold(**options: Any) -> Any:
    return clips(episodes=[10, 20, 30, 40]).folds(**{"count": 2, **options})[0][0]


def choice(**options: Any) -> Any:
    return rows().select(**{"items": range(30), **options})


def joined(**options: Any) -> Any:
    return rows().join(**{"table": ml.Table({"label": np.arange(40)}), **options})


def tabled(**options: Any) -> Any:
    """One frame in one group, so that a table may be on either."""
    crops = ml.Crops({"x": VALUES[0]}, dims="cyx", size={"y": 4, "x": 4}, over=(), per_item=30)
    return crops.join(ml.Table(**{"frame": {"label": ["a"]}, **options}))


TABLES: dict[str, tuple[Callable[..., Any], Any, dict[str, list[Row]]]] = {
    "Crops": (
        crops,
        ml.Crops,
        {
            "fields": [
                Row({}, {"fields": {"x": X, "y": X}}),
                Row({}, {"fields": {"y": X}}),
                Row({}, {"fields": {"x": zarr.array(VALUES.astype("f8"))}}),
                Row({}, {"fields": [{"x": X[:20]}, {"x": X[20:]}]}),
            ],
            "dims": [Row({}, {"dims": "scyx"}, SAME), Row({}, {"dims": "tcxy"}, SAME)],
            "size": [Row({}, {"size": {"y": 4, "x": 6}}), Row({}, {"size": {"y": 4}})],
            "over": [Row({}, {"over": ("t", "c")}), Row({"over": "t"}, {"over": ("c", "t")})],
            "per_item": [Row({}, {"per_item": 3})],
            "density": [Row({}, {"density": 1.0}), Row({"density": 1.0}, {"density": 2.0})],
            "where": [Row({}, {"where": ml.fraction(MASK, ">", 0.5)})],
            "border": [Row({}, {"border": "pad"}), Row({"border": "edge"}, {"border": "reflect"})],
            "pad_value": [
                Row({"border": "pad"}, {"pad_value": 7}),
                Row({}, {"pad_value": 7}, SAME),
            ],
            "seed": [Row({}, {"seed": 5}, SAME)],
        },
    ),
    "Clips": (
        clips,
        ml.Clips,
        {
            "fields": [Row({}, {"fields": {"x": X, "y": X}})],
            "frames": [Row({"border": "edge"}, {"frames": 4})],
            "dims": [Row({}, {"dims": "scyx"}, SAME)],
            "every": [Row({"border": "edge"}, {"every": 2})],
            "stride": [Row({}, {"stride": 2})],
            "time": [
                Row({"fields": {"x": zarr.array(VALUES[:, 0])}, "dims": "tyx"}, {"time": "y"})
            ],
            "times": [
                Row({"every": 2}, {"times": CLOCK}),
                Row({"every": 2, "border": "edge", "times": CLOCK}, {"times": UNEVEN}),
                Row({"every": 2, "border": "edge"}, {"times": UNEVEN}),
            ],
            "episodes": [
                Row({}, {"episodes": [20, 40]}),
                # The sum and the number of ends are equal.
                Row({"episodes": [10, 30, 40]}, {"episodes": [15, 25, 40]}),
                Row({"episodes": [40]}, {"episodes": None}, SAME),
            ],
            "border": [Row({"border": "edge"}, {"border": "pad"}), Row({}, {"border": "edge"})],
            "pad_value": [Row({"border": "pad"}, {"pad_value": 3})],
            "size": [Row({}, {"size": {"y": 4}}), Row({"size": {"y": 4}}, {"size": {"y": 5}})],
            "seed": [Row({}, {"seed": 5}, SAME)],
        },
    ),
    "Rows": (
        rows,
        ml.Rows,
        {
            "fields": [Row({}, {"fields": {"x": X, "y": X}}), Row({}, {"fields": {"x": X[:39]}})],
            "seed": [Row({}, {"seed": 5}, SAME)],
        },
    ),
    "Ragged": (
        ragged,
        ml.Ragged,
        {
            "fields": [Row({}, {"fields": {"x": X, "y": X}})],
            "offsets": [
                Row({}, {"offsets": [0, 5, 10, 15, 21, 25, 30, 40]}),
                Row({}, {"offsets": np.array(ENDS, "u4")}, SAME),
            ],
            "episodes": [
                Row({}, {"episodes": ENDS[1:]}, SAME),
                Row({}, {"episodes": [0, 10, 15, 20, 25, 30, 40]}),
            ],
            "rows": [Row({}, {"rows": {"y": np.zeros(7)}})],
            "as_": [Row({}, {"as_": "packed"}), Row({"as_": "packed"}, {"as_": "nested"})],
            "buckets": [Row({}, {"buckets": 1}), Row({"buckets": 1}, {"buckets": [10]}, SAME)],
            "max_length": [
                Row({}, {"max_length": 10}, SAME),
                Row({"longer": "cut", "max_length": 9}, {"max_length": 8}),
            ],
            "longer": [Row({"max_length": 9, "longer": "cut"}, {"longer": "crop"})],
            "pad_value": [Row({}, {"pad_value": 1})],
            "seed": [Row({}, {"seed": 5}, SAME)],
        },
    ),
    "Grid": (
        grid,
        ml.Grid,
        {
            "fields": [Row({}, {"fields": {"x": X, "y": X}})],
            "size": [
                Row({}, {"size": {"y": 4, "x": 5}}),
                Row({"stride": {"y": 4, "x": 4}}, {"size": {"y": 6, "x": 4}}),
            ],
            "dims": [Row({}, {"dims": "scyx"}, SAME)],
            "stride": [
                Row({}, {"stride": {"y": 4, "x": 4}}),
                Row({"stride": {"y": 4, "x": 4}}, {"stride": {"y": 5, "x": 4}}),
            ],
            "over": [Row({}, {"over": ("t", "c")}), Row({"over": "tc"}, {"over": "ct"})],
            "border": [Row({}, {"border": "edge"})],
            "pad_value": [Row({}, {"pad_value": 3})],
        },
    ),
    "Mix": (
        mix,
        ml.Mix,
        {
            "datasets": [
                Row({}, {"datasets": {"a": rows(), "b": field(scale=2)}}),
                Row({"datasets": {"a": rows()}}, {"datasets": {"a": part()}}),
            ],
            "weights": [Row({}, {"weights": {"a": 2, "b": 1}})],
            "until": [Row({}, {"until": "all"})],
        },
    ),
    "Field": (
        field,
        ml.Field,
        {
            "array": [Row({"dtype": None}, {"array": zarr.array(VALUES.astype("f2"))})],
            "dims": [Row({}, {"dims": "tcyx"}, SAME)],
            "dtype": [Row({}, {"dtype": "float16"}), Row({"dtype": None}, {"dtype": "float16"})],
            "scale": [Row({}, {"scale": 2}), Row({"scale": [1, 2, 3]}, {"scale": [1, 2, 4]})],
            "offset": [Row({}, {"offset": 2})],
            "mean": [Row({}, {"mean": 2}), Row({"mean": 1}, {"mean": [1, 1, 2]})],
            "std": [Row({}, {"std": 2})],
            "clip": [Row({}, {"clip": (0, 1)}), Row({"clip": (0, 1)}, {"clip": (0, 2)})],
            "nan": [Row({}, {"nan": "mask"}), Row({"nan": "reject:0.1"}, {"nan": "reject:0.2"})],
            "layout": [Row({"dims": "tcyx"}, {"layout": "yxc"})],
            "rate": [],
        },
    ),
    "Field of clips": (
        rated,
        None,
        {
            "rate": [Row({}, {"rate": 1}), Row({}, {"rate": 2}, SAME)],
            "dims": [Row({}, {"dims": ["s"]})],
        },
    ),
    "Files": (
        files,
        ml.Files,
        {
            "paths": [
                Row({}, {"paths": [f"/a/{n}" for n in range(1, 41)]}),
                Row({}, {"paths": [f"/b/{n}" for n in range(40)]}, SAME),
            ],
            "decode": [Row({}, {"decode": numbered_file}, SAME)],
            "shape": [Row({}, {"shape": ()}, SAME)],
            "dtype": [Row({}, {"dtype": "i8"}, SAME)],
        },
    ),
    "CSR": (
        csr,
        ml.CSR,
        {
            "group": [Row({}, {"group": WIDER})],
            "columns": [
                Row({}, {"columns": [1, 2]}),
                Row({"columns": [1, 2]}, {"columns": [2, 1]}),
            ],
            "shape": [Row({}, {"shape": (40, 8)}), Row({}, {"shape": (40, 6)}, SAME)],
        },
    ),
    "fraction": (
        fraction,
        ml.fraction,
        {
            "mask": [Row({}, {"mask": ~MASK})],
            "op": [Row({}, {"op": "<"})],
            "threshold": [Row({}, {"threshold": 0.6}), Row({"lazy": True}, {"threshold": 0.6})],
            "dims": [
                Row({}, {"dims": "tyx"}, SAME),
                Row({}, {"dims": "txy"}),
                Row({"lazy": True}, {"dims": "txy"}),
            ],
            "lazy": [Row({}, {"lazy": True})],
            "tries": [Row({"lazy": True}, {"tries": 3}), Row({}, {"tries": 3}, SAME)],
        },
    ),
    "foreground": (
        foreground,
        ml.foreground,
        {
            "labels": [Row({}, {"labels": 2 - LABELS})],
            "share": [Row({}, {"share": 0.4})],
            "classes": [Row({}, {"classes": [2]}), Row({"classes": [1]}, {"classes": [2]})],
            "dims": [Row({}, {"dims": "tyx"}, SAME), Row({}, {"dims": "txy"})],
        },
    ),
    "split": (
        part,
        ml.Clips.split,
        {
            "parts": [
                Row({}, {"parts": {"a": 0.25, "b": 0.5}}),
                Row({}, {"parts": {"train": 0.5, "val": 0.5}}, SAME),
            ],
            "by": [Row({}, {"by": "t"}), Row({}, {"by": "episode"}, SAME)],
            "gap": [Row({"by": "t", "parts": {"b": 0.5}}, {"gap": 9}, SAME)],
            "stratify": [Row({}, {"stratify": np.isin(np.arange(32) // 8, (0, 3))})],
            "seed": [Row({}, {"seed": 2})],
        },
    ),
    "folds": (
        fold,
        ml.Clips.folds,
        {
            "count": [Row({}, {"count": 4})],
            "by": [Row({}, {"by": "t"}), Row({}, {"by": "episode"}, SAME)],
            "gap": [Row({"by": "t"}, {"gap": 9})],
            "stratify": [Row({}, {"stratify": np.isin(np.arange(32) // 8, (0, 3))})],
            "seed": [Row({}, {"seed": 2})],
        },
    ),
    "select": (
        choice,
        ml.Rows.select,
        {"items": [Row({}, {"items": np.arange(1, 31)}), Row({}, {"items": np.arange(30)}, SAME)]},
    ),
    "join": (
        joined,
        ml.Rows.join,
        {
            "table": [
                Row({}, {"table": ml.Table({"label": np.arange(1, 41)})}),
                Row({}, {"table": ml.Table({"other": np.arange(40)})}),
                Row({}, {"table": ml.Table({"label": list(range(40))})}, SAME),
            ]
        },
    ),
    "Table": (
        tabled,
        ml.Table,
        {
            "frame": [Row({}, {"frame": {"label": ["b"]}})],
            "on": [Row({}, {"on": "group"})],
        },
    ),
}


def parameters(of: Any) -> set[str]:
    return set(inspect.signature(of).parameters) - {"self"}


def test_every_parameter_of_every_dataset_has_a_row() -> None:
    every = {name for name in ml.__all__ if isinstance(getattr(ml, name), type)}
    datasets = {name for name in every if issubclass(getattr(ml, name), ml.Rows.__mro__[-3])}
    assert {"Crops", "Clips", "Rows", "Grid", "Mix"} <= datasets <= TABLES.keys()
    for name, (_, of, rows_of) in TABLES.items():
        if of is not None:
            assert parameters(of) == rows_of.keys(), name
    assert TABLES["Field of clips"][2]["rate"]
    assert parameters(ml.Loader) == LOADERS.keys() | {"dataset"}


CASES = [
    pytest.param(name, row, id=f"{name}-{parameter}-{number}")
    for name, (_, _, rows_of) in TABLES.items()
    for parameter, rows in rows_of.items()
    for number, row in enumerate(rows)
]


def rest_of(loader: Any) -> list[tuple[int, dict[str, Any]]]:
    """Each sample that follows, with its item."""
    found = []
    for batch in loader:
        for place, item in enumerate(batch["item"].tolist()):
            found.append((item, {name: np.asarray(value[place]) for name, value in batch.items()}))
    return found


def same(one: list[tuple[int, Any]], other: list[tuple[int, Any]]) -> bool:
    return len(one) == len(other) and all(
        a == b and x.keys() == y.keys() and all(np.array_equal(x[n], y[n]) for n in x)
        for (a, x), (b, y) in zip(one, other, strict=True)
    )


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize(("name", "row"), CASES)
def test_a_changed_parameter_is_an_error_or_changes_nothing(
    name: str, row: Row, shuffle: Any
) -> None:
    make = TABLES[name][0]
    first = ml.Loader(make(**row.base), 4, shuffle=shuffle, memory=20_000)
    batches = iter(first)
    next(batches)
    state = json.loads(json.dumps(first.state_dict()))
    other = ml.Loader(make(**{**row.base, **row.change}), 4, shuffle=shuffle, memory=20_000)
    if row.is_error:
        with pytest.raises(StateError, match="another dataset or order"):
            other.load_state_dict(state)
        return
    other.load_state_dict(state)
    assert same(rest_of(other), rest_of(batches))


def identity(batch: Any) -> Any:
    return batch


LOADERS: dict[str, list[Row]] = {
    "batch_size": [Row({}, {"batch_size": 7}, SAME)],
    "shuffle": [
        Row({"shuffle": "full"}, {"shuffle": "block"}),
        Row({"shuffle": "full"}, {"shuffle": True}, SAME),
        Row({"shuffle": "block"}, {"shuffle": True}, SAME),
        Row({"shuffle": False}, {"shuffle": True}),
        Row({"shuffle": True}, {"shuffle": False}),
    ],
    "seed": [Row({}, {"seed": 9}, SAME), Row({"seed": -3}, {"seed": 9}, SAME)],
    # Each rank has its share: see the test below.
    "rank": [],
    "world": [],
    "drop_last": [Row({}, {"drop_last": True}, SAME)],
    "weights": [
        Row({}, {"weights": np.ones(40)}),
        Row({"weights": np.ones(40)}, {"weights": np.arange(40.0)}),
    ],
    "samples": [Row({"weights": np.ones(40), "samples": 40}, {"samples": 44})],
    "prefetch": [Row({}, {"prefetch": 0}, SAME)],
    "memory": [Row({"shuffle": "block", "memory": 9000}, {"memory": "1 GiB"}, SAME)],
    "to": [Row({}, {"to": identity}, SAME)],
    # Needs torch: tests/ml/test_torch.py.
    "device": [],
    # Needs pictures: tests/ml/test_reduce.py.
    "reduce": [],
    "transform": [Row({}, {"transform": lambda batch, rng: None}, SAME)],
    "transform_sample": [Row({}, {"transform_sample": lambda sample, rng: None}, SAME)],
    # Needs a function that another process can load: tests/ml/test_transform_workers.py.
    "transform_workers": [],
    "on_error": [
        Row({}, {"on_error": "replace"}, SAME),
        Row({"on_error": "replace"}, {"on_error": "raise"}, SAME),
    ],
    "max_errors": [Row({}, {"max_errors": 3}, SAME)],
    "error_log": [Row({}, {"error_log": "nothing-is-corrupt.jsonl"}, SAME)],
    "partitions": [
        Row({"shuffle": "block", "memory": 9000, "partitions": 3}, {"partitions": 1}, SAME)
    ],
    "frozen": [Row({}, {"frozen": True}, SAME)],
    # Needs a folder: the test below.
    "stage": [],
    "threads": [Row({}, {"threads": 1}, SAME)],
}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{name}-{number}")
        for name, rows_of in LOADERS.items()
        for number, row in enumerate(rows_of)
    ],
)
def test_a_changed_loader_goes_on_the_same_or_is_an_error(row: Row) -> None:
    first = ml.Loader(rows(), **{"batch_size": 4, **row.base})
    batches = iter(first)
    next(batches), next(batches)
    other = ml.Loader(rows(), **{"batch_size": 4, **row.base, **row.change})
    if row.is_error:
        with pytest.raises(StateError):
            other.load_state_dict(first.state_dict())
        return
    other.load_state_dict(first.state_dict())
    assert same(rest_of(other), rest_of(batches))


def test_a_stage_changes_nothing(tmp_path: Path) -> None:
    first = ml.Loader(rows(), 4)
    batches = iter(first)
    next(batches), next(batches)
    other = ml.Loader(rows(), 4, stage=tmp_path)
    other.load_state_dict(first.state_dict())
    assert same(rest_of(other), rest_of(batches))


@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_other_ranks_go_on_with_the_same_samples(shuffle: str) -> None:
    first = ml.Loader(rows(), 4, shuffle=shuffle, memory=9000)
    batches = iter(first)
    next(batches), next(batches)
    found = []
    for rank in range(4):
        other = ml.Loader(rows(), 2, shuffle=shuffle, rank=rank, world=4, drop_last=False)
        other.load_state_dict(first.state_dict())
        found += rest_of(other)
    wanted = dict(rest_of(batches))
    assert sorted(item for item, _ in found) == sorted(wanted)
    assert all(np.array_equal(x["x"], wanted[item]["x"]) for item, x in found)


@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize("kind", ["rows", "mix", "part"])
def test_chunks_of_another_length_are_an_error_where_the_order_depends_on_them(
    shuffle: Any, kind: str
) -> None:
    def made(chunk: int) -> Any:
        own = ml.Rows({"x": numbered(400, chunk)})
        if kind == "mix":
            return ml.Mix({"a": own, "b": own})
        return own.split({"a": 0.9, "b": 0.1})[0] if kind == "part" else own

    first = ml.Loader(made(5), 10, shuffle=shuffle, memory="64 KiB")
    batches = iter(first)
    seen = [item for _ in range(6) for item in next(batches)["item"].tolist()]
    other = ml.Loader(made(20), 10, shuffle=shuffle, memory="64 KiB")
    if shuffle == "block":
        with pytest.raises(StateError, match="'blocks'"):
            other.load_state_dict(first.state_dict())
        return
    other.load_state_dict(first.state_dict())
    wanted = [item for item, _ in rest_of(batches)]
    assert [item for item, _ in rest_of(other)] == wanted
    assert kind == "mix" or len({*seen, *wanted}) == len(seen) + len(wanted)


def test_the_blocks_of_a_dataset_stay_while_it_lives(tmp_path: Path) -> None:
    """Another process may store the array in other chunks between two epochs."""
    z = zarr.create((64,), chunks=8, dtype="i4", store=str(tmp_path / "x.zarr"))
    z[...] = np.arange(64)
    loader = ml.Loader(ml.Rows({"x": z}), 8, shuffle="block", memory="100 B")
    state = loader.state_dict()
    z.resize(128)
    assert loader.state_dict() == state
    assert sorted(item for item, _ in rest_of(loader)) == list(range(64))


def test_what_differs_is_named() -> None:
    state = ml.Loader(clips(episodes=[10, 30, 40]), 4, shuffle="full").state_dict()
    other = ml.Loader(clips(episodes=[15, 25, 40]), 4, shuffle="full")
    with pytest.raises(StateError, match="what differs by its fingerprint is 'episodes'; strict"):
        other.load_state_dict(state)
    assert len(json.dumps(state)) < 1024
