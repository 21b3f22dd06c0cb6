"""Crops: the same place in every field, at whole ratios of resolution."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of, scenes
from zarrix import ml


@pytest.mark.parametrize("shuffle", [True, False, "full", "block"])
@pytest.mark.parametrize("format", [2, 3])
def test_crops_of_three_resolutions_show_the_same_place(shuffle: Any, format: int) -> None:
    arrays, values = scenes(zarr_format=format)
    crops = ml.Crops(arrays, dims="tcyx", size={"y": 24, "x": 36}, per_item=3)
    seen = []
    for batch in ml.Loader(crops, batch_size=5, shuffle=shuffle, seed=3):
        for row, (t, c, y, x) in enumerate(batch["start"].tolist()):
            assert (c, y % 6, x % 6) == (0, 0, 0)
            for name, ratio in (("rgb", 1), ("flow", 2), ("depth", 3)):
                ys = slice(y // ratio, (y + 24) // ratio)
                xs = slice(x // ratio, (x + 36) // ratio)
                assert np.array_equal(batch[name][row], values[name][t, :, ys, xs])
            assert batch["item"][row] // 3 == t
            seen.append((t, y, x))
    assert len(seen) == 36
    assert len(set(seen)) > 30


def test_an_epoch_visits_every_crop_once_and_the_next_one_elsewhere() -> None:
    arrays, _ = scenes()
    loader = ml.Loader(ml.Crops(arrays, dims="tcyx", size=(24, 24), per_item=2), batch_size=7)
    epochs = []
    for _ in range(3):
        batches = list(loader)
        items = [item for batch in batches for item in batch["item"].tolist()]
        assert sorted(items) == list(range(24))
        epochs.append((items, np.concatenate([batch["start"] for batch in batches]).tolist()))
    assert len({str(one) for one in epochs}) == 3


def test_a_corner_depends_on_seed_epoch_and_item_alone() -> None:
    arrays, _ = scenes()
    crops = ml.Crops(arrays, dims="tcyx", size=(24, 24), per_item=2)

    def corners(**options: Any) -> dict[int, list[int]]:
        loader = ml.Loader(crops, seed=5, **options)
        loader.set_epoch(2)
        return {
            i: s
            for b in loader
            for i, s in zip(b["item"].tolist(), b["start"].tolist(), strict=True)
        }

    first = corners(batch_size=3)
    assert corners(batch_size=8, shuffle="full", prefetch=0) == first
    assert corners(batch_size=1, shuffle=False, prefetch=5, memory="1 KiB") == first


def test_a_state_continues_an_epoch_exactly() -> None:
    arrays, _ = scenes()
    crops = ml.Crops(arrays, dims="tcyx", size=(24, 24), per_item=2)
    whole = items_of(ml.Loader(crops, batch_size=4, seed=1))
    loader = ml.Loader(crops, batch_size=4, seed=1)
    batches = iter(loader)
    seen = [item for _ in range(3) for item in next(batches)["item"].tolist()]
    resumed = ml.Loader(crops, batch_size=5, seed=9, prefetch=0)
    resumed.load_state_dict(loader.state_dict())
    assert seen + items_of(resumed) == whole


def test_groups_may_differ_in_number_and_size_of_frames() -> None:
    groups, values = [], []
    for frames, height in ((3, 20), (5, 16)):
        value = np.random.default_rng(frames).integers(0, 9, (frames, height, 30)).astype("u1")
        values.append(value)
        groups.append({"x": zarr.array(value, chunks=(2, 8, 8))})
    crops = ml.Crops(groups, dims="tyx", size=(16, 12), per_item=2)
    assert len(crops) == 16
    for batch in ml.Loader(crops, batch_size=6):
        for row, (group, (t, y, x)) in enumerate(zip(batch["group"], batch["start"], strict=True)):
            assert np.array_equal(batch["x"][row], values[group][t, y : y + 16, x : x + 12])


def test_converted_values_are_scaled_and_laid_out() -> None:
    arrays, values = scenes()
    rgb = ml.Field(arrays["rgb"], dtype="float32", mean=[1.0, 2, 3], std=[2.0, 2, 4], layout="yxc")
    crops = ml.Crops({"rgb": rgb}, dims="tcyx", size=(24, 24))
    sample = crops[4]
    t, _, y, x = sample["start"]
    raw = values["rgb"][t, :, y : y + 24, x : x + 24].astype("f8")
    wanted = (raw - np.array([1, 2, 3])[:, None, None]) / np.array([2, 2, 4])[:, None, None]
    assert sample["rgb"].flags.c_contiguous
    assert np.allclose(sample["rgb"], wanted.transpose(1, 2, 0).astype("f4"), rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": {"y": 25}}, "not a multiple of 2"),
        ({"size": {"y": 96}}, "larger than group 0"),
        ({"size": {"z": 3}}, "no dimension 'z'"),
        ({"size": 24}, "pass a length"),
        ({"size": (24, 24), "dims": None}, "pass dims="),
        ({"size": (24, 24), "border": "wrap"}, "border"),
        ({"size": (24, 24), "over": "y"}, "'y' is cropped"),
        ({"size": (24, 24), "per_item": 0}, "per_item=0"),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_so(options: dict[str, Any], message: str) -> None:
    arrays, _ = scenes(frames=2)
    with pytest.raises((ValueError, TypeError), match=message):
        ml.Crops(arrays, **{"dims": "tcyx", **options})


def test_larger_frames_have_more_crops_by_density() -> None:
    small, large = (zarr.zeros((3, n, 2 * n), chunks=(1, n, n), dtype="u1") for n in (16, 40))
    crops = ml.Crops([{"x": small}, {"x": large}], dims="tyx", size={"y": 8, "x": 8}, density=1.5)
    assert len(crops) == 3 * 12 + 3 * 75
    batches = list(ml.Loader(crops, 16))
    groups = np.concatenate([batch["group"] for batch in batches])
    frames = np.concatenate([batch["start"][:, 0] for batch in batches])
    for group, count in ((0, 12), (1, 75)):
        assert np.bincount(frames[groups == group]).tolist() == [count] * 3
    with pytest.raises(ValueError, match="in place of per_item"):
        ml.Crops({"x": small}, dims="tyx", size={"y": 8, "x": 8}, density=1.5, per_item=2)
