"""Datasets of other datasets: a mix and a part give what those they wrap give, by every way."""

import inspect
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix.ml._datasets.dataset import Dataset
from zarrix.ml._datasets.windows import Windowed
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading import slots as _slots

VALUES = np.random.default_rng(7).integers(0, 99, (24, 3, 8, 10)).astype("i2")
TURNED = np.ascontiguousarray(VALUES.transpose(1, 0, 2, 3))
CLOCK = np.cumsum(np.random.default_rng(8).uniform(0.6, 1.4, 24))


@pytest.fixture(autouse=True)
def _poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of batches has a pattern, so that what was not written shows."""
    view = _slots._view

    def poisoned(base: Any, *rest: Any) -> Any:
        base[...] = 0xA5
        return view(base, *rest)

    monkeypatch.setattr(_slots, "_view", poisoned)


def stored(values: Any, *chunks: int) -> zarr.Array:
    return zarr.array(values, chunks=chunks)


def datasets() -> dict[str, Any]:
    x, turned = stored(VALUES, 4, 3, 5, 5), stored(TURNED, 3, 4, 5, 5)
    field = ml.Field(x, dtype="float32", scale=2, layout="yxc")
    made: dict[str, Any] = {
        "rows": ml.Rows({"x": x}),
        "rows in memory": ml.Rows({"x": VALUES, "y": x}),
        "groups": ml.Rows([{"x": x[:10]}, {"x": x[10:]}]),
        "crops": ml.Crops({"x": x}, dims="tcyx", size={"y": 4, "x": 4}, per_item=2),
        "layout": ml.Crops({"x": field}, dims="tcyx", size={"y": 4, "x": 4}),
        "grid": ml.Grid({"x": x}, {"y": 5, "x": 4}, dims="tcyx", pad_value=3),
        "text": ml.Rows({"name": zarr.array(np.array([f"n{n}" for n in range(9)]), dtype=str)}),
    }
    for border in ("pad", "edge", "reflect"):
        made[f"crops {border}"] = ml.Crops(
            {"x": x}, dims="tcyx", size={"y": 5, "x": 5}, border=border, pad_value=2
        )
    for axis, fields, dims in (("first", {"x": x}, "tcyx"), ("second", {"x": turned}, "ctyx")):
        for name, options in {
            "runs": {"frames": 3},
            "every": {"frames": 3, "every": 2},
            "edge": {"frames": 4, "border": "edge", "episodes": [7, 24]},
            "pad": {"frames": 4, "border": "pad", "pad_value": -1},
            "times": {"frames": 3, "every": 1.5, "times": CLOCK},
            "crop": {"frames": 3, "every": 2, "size": {"y": 4}},
        }.items():
            made[f"clips, time {axis}, {name}"] = ml.Clips(fields, dims=dims, time="t", **options)
    return made


def same(one: Any, other: Any, *but: str) -> None:
    assert one.keys() - set(but) == other.keys() - set(but)
    for name in one.keys() - set(but):
        assert np.array_equal(one[name], other[name]), name


def mixed_seed(seed: int, source: int = 0) -> int:
    return seed ^ (source + 1) << 32


def sample_of(dataset: Any, item: int, seed: int) -> dict[str, Any]:
    """A sample by the protocol of other libraries: an index that carries seed and epoch."""
    (index,) = dataset._encoded(Visits(np.array([item]), seed), None)
    found: dict[str, Any] = dataset.__getitems__([index])[0]
    found.pop("valid", None)
    return found


@pytest.mark.parametrize("name", datasets())
def test_a_mix_gives_the_samples_of_its_datasets(name: str) -> None:
    parts = [datasets()[name], datasets()[name]]
    for mix in (
        ml.Mix({"p": parts[0]}),
        ml.Mix(dict(zip("pq", parts, strict=True)), weights={"p": 1, "q": 2}),
    ):
        for shuffle, prefetch in itertools.product(["full", "block", False], [0, 2]):
            loader = ml.Loader(mix, 5, shuffle=shuffle, prefetch=prefetch, memory=50_000, seed=3)
            for batch in loader:
                for row, source in enumerate(batch["source"].tolist()):
                    part = parts[source]
                    item = int(batch["item"][row]) - source * len(part)
                    wanted = sample_of(part, item, 3 ^ (source + 1) << 32)
                    sample = {key: value[row] for key, value in batch.items()}
                    same(sample, wanted, "item", "source")


@pytest.mark.parametrize("name", datasets())
def test_a_part_gives_the_samples_of_its_dataset(name: str) -> None:
    dataset = datasets()[name]
    for part in dataset.split({"a": 0.5, "b": 0.5}):
        for frozen in (False, True):
            for batch in ml.Loader(part, 5, seed=3, frozen=frozen):
                for row, item in enumerate(batch["item"].tolist()):
                    wanted = sample_of(dataset, item, 3)
                    same({key: value[row] for key, value in batch.items()}, wanted)
        assert [pickle.loads(pickle.dumps(part))[n]["item"] for n in range(len(part))] == [
            part[n]["item"] for n in range(len(part))
        ]


def test_layouts_in_memory_that_differ_are_mixed_too() -> None:
    """Time is the second axis of one dataset and the third of the other, of equal shapes."""
    square = np.random.default_rng(9).integers(0, 99, (12, 12, 12)).astype("i4")
    a = ml.Clips({"x": stored(square, 5, 5, 5)}, dims="cty", time="t", frames=12, border="edge")
    b = ml.Clips({"x": stored(square, 5, 5, 5)}, dims="cyt", time="t", frames=12, border="edge")
    c = ml.Rows({"x": stored(square[None], 1, 5, 5, 5)})
    mix = ml.Mix({"a": a, "b": b, "c": c})
    seen = set()
    for batch in ml.Loader(mix, 7, shuffle="full", samples=60):
        for x, source, item in zip(batch["x"], batch["source"], batch["item"], strict=True):
            begin = int(item) - (0, 12, 24)[source]
            frames = np.minimum(begin + np.arange(12), 11)
            wanted = (square[:, frames], square[:, :, frames], square)[source]
            assert np.array_equal(x, wanted)
            seen.add(int(source))
    assert seen == {0, 1, 2}


def wrappers() -> list[type]:
    def below(one: type) -> Iterator[type]:
        for other in one.__subclasses__():
            yield other
            yield from below(other)

    return [one for one in below(Dataset) if not issubclass(one, Windowed)]


def test_a_wrapper_inherits_nothing_that_looks_at_arrays() -> None:
    """What a dataset of windows defines is abstract for others, or made of what is abstract."""
    assert {one.__name__ for one in wrappers()} == {"Mix", "Subset"}
    of_windows = {*Windowed.__annotations__, "_reads", "_lengths", *vars(Windowed)}
    of_windows -= {*vars(Dataset), "__module__", "__doc__", "__annotations__"}
    assert {"_groups", "_columns", "_border", "_corners", "_inside"} <= of_windows
    for wrapper in wrappers():
        assert not inspect.isabstract(wrapper)
        for name, function in inspect.getmembers(wrapper, inspect.isfunction):
            if name not in vars(wrapper):
                assert not of_windows & set(function.__code__.co_names), (wrapper, name)
    every = {name for name, one in vars(Dataset).items() if getattr(one, "__isabstractmethod__", 0)}
    assert {"_allocated", "_entries", "_draws", "_begins", "_identity", "_frozen"} <= every


def test_a_part_is_not_divided_again() -> None:
    part, _ = datasets()["rows"].split({"a": 0.5, "b": 0.5})
    with pytest.raises(ValueError, match="not divided again"):
        part.split({"c": 0.5})


def test_a_mix_in_a_mix_repeats_no_crop_and_ends_before_its_first_dataset_does() -> None:
    values = np.arange(4 * 64 * 64).reshape(4, 64, 64)

    def crops(frames: int) -> ml.Crops:
        return ml.Crops({"x": values[:frames]}, dims="tyx", size={"y": 4, "x": 4})

    inner = ml.Mix({"a": crops(2), "b": crops(4)})
    outer = ml.Mix({"i": inner, "c": crops(4)})
    assert (inner._epoch, outer._epoch) == (4, 8)
    places: dict[int, list[Any]] = {}
    for batch in ml.Loader(outer, 4, samples=120):
        for item, start in zip(batch["item"].tolist(), batch["start"].tolist(), strict=True):
            places.setdefault(item, []).append(tuple(start))
    repeated = sum(len(starts) - len(set(starts)) for starts in places.values())
    # By chance, of 61 x 61 places.
    assert repeated <= 3
    sampler = ml.torch.BatchSampler(outer, 4, samples=120)
    for batch, indices in zip(ml.Loader(outer, 4, samples=120), sampler, strict=True):
        same(outer.__getitems__(indices).batch, batch, "valid")
    seen = [item for batch in ml.Loader(outer, 4) for item in batch["item"].tolist()]
    assert len(seen) == len(set(seen)) == 8


def test_weights_of_a_mix_are_any_numbers() -> None:
    rows = datasets()["rows"]
    for one, shares in ((np.float32(0.5), [1, 2]), (np.int64(3), [3, 1]), (True, [1, 1])):
        mix = ml.Mix({"a": rows, "b": rows}, weights={"a": one, "b": 1})
        assert mix._stages[0].shares == shares
    for one in (float("nan"), float("inf"), 0, -1):
        with pytest.raises(ValueError, match="positive"):
            ml.Mix({"a": rows, "b": rows}, weights={"a": one, "b": 1})
