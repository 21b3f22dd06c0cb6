"""NaN in samples: kept, refused, filled, masked, and samples that have too much of it."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of
from zarrix import ml
from zarrix.ml._reading.nan import nan_rule, settle_nan

COUNT, WIDTH = 40, 20


def values(dtype: str = "f4") -> np.ndarray:
    """Rows whose number of NaN is their number modulo 10."""
    found = np.arange(1, COUNT * WIDTH + 1).reshape(COUNT, WIDTH).astype(dtype)
    for row in range(COUNT):
        found[row, : row % 10] = np.nan
    return found


def rows(nan: Any, dtype: Any = None, source: str = "f4") -> ml.Rows:
    z = zarr.array(values(source), chunks=(4, 8))
    return ml.Rows({"x": ml.Field(z, nan=nan, dtype=dtype), "y": zarr.array(np.arange(COUNT))})


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("shuffle", ["full", "block"])
@pytest.mark.parametrize(("dtype", "source"), [(None, "f4"), ("float16", "f8"), ("bfloat16", "f4")])
def test_a_mask_says_where_nan_was(shuffle: str, prefetch: int, dtype: Any, source: str) -> None:
    stored = values(source)
    for batch in ml.Loader(rows("mask", dtype, source), 7, shuffle=shuffle, prefetch=prefetch):
        wanted = np.isnan(stored[batch["item"]])
        assert np.array_equal(batch["x_nan"], wanted)
        assert not batch["x"][wanted].any()
        assert batch["x"][~wanted].all()
        assert np.allclose(batch["nan"], (batch["item"] % 10) / WIDTH)


def test_every_half_and_bfloat_is_judged_by_its_bits() -> None:
    bits = np.arange(2**16, dtype=np.uint16)
    halves = bits.view(np.float16)
    bfloats = (bits.astype(np.uint32) << 16).view(np.float32)
    for stored, known in ((halves, halves), (bits, bfloats)):
        batch = {"item": np.arange(256), "x": stored.reshape(256, 256).copy()}
        settle_nan({"x": nan_rule("mask")}, batch)
        assert np.array_equal(batch["x_nan"].reshape(-1), np.isnan(known))


@pytest.mark.parametrize("memory", ["512 MiB", "2 KB"])
@pytest.mark.parametrize("shuffle", ["full", "block", False])
def test_samples_with_too_much_nan_are_replaced_by_other_items(shuffle: Any, memory: str) -> None:
    def epoch(size: int, **options: Any) -> dict[int, int]:
        """Which item came at each position."""
        one = ml.Loader(rows("reject:0.2"), size, shuffle=shuffle, memory=memory, **options)
        batches = list(one)
        assert [len(b["item"]) for b in batches[:-1]] == [size] * (len(batches) - 1)
        for batch in batches:
            assert (np.isnan(batch["x"]).sum(axis=1) <= 4).all()
            assert np.array_equal(batch["y"], batch["item"])
        assert one.stats().rejected == 20
        return dict(enumerate(item for b in batches for item in b["item"].tolist()))

    first = epoch(7)
    wanted = items_of(ml.Loader(rows("keep"), 7, shuffle=shuffle, memory=memory))
    assert len(first) == COUNT
    assert all(first[at] == item for at, item in enumerate(wanted) if item % 10 <= 4)
    assert epoch(9, prefetch=0) == first


def test_what_a_data_loader_asks_for_is_replaced_alike() -> None:
    dataset = rows("reject:0.2")
    sampler = ml.torch.BatchSampler(dataset, 7, seed=3)
    asked = [sample for batch in sampler for sample in dataset.__getitems__(batch)]
    batches = list(ml.Loader(dataset, 7, seed=3))
    assert [int(one["item"]) for one in asked] == [i for b in batches for i in b["item"].tolist()]
    assert all(np.isnan(one["x"]).sum() <= 4 for one in asked)


def test_parts_and_mixtures_have_the_rules_of_their_fields() -> None:
    train, _ = rows("reject:0.2").split({"train": 0.5, "val": 0.5})
    mix = ml.Mix({"a": rows("reject:0.2"), "b": rows("reject:0.2")})
    for dataset in (train, mix):
        for batch in ml.Loader(dataset, 5):
            assert (np.isnan(batch["x"]).sum(axis=1) <= 4).all()
            assert (batch["nan"] <= 0.2).all()
    with pytest.raises(ValueError, match="samples of 'b'"):
        ml.Mix({"a": rows("reject:0.2"), "b": rows("keep")})


def test_nan_is_kept_filled_or_an_error() -> None:
    for nan in (None, "keep"):
        batch = next(iter(ml.Loader(rows(nan), COUNT, shuffle=False)))
        assert np.array_equal(batch["x"], values(), equal_nan=True)
        assert "nan" not in batch
    for given in (-7, "fill:-7"):
        batch = next(iter(ml.Loader(rows(given, "float32"), COUNT, shuffle=False)))
        assert np.array_equal(batch["x"], np.where(np.isnan(values()), -7, values()))
    with pytest.raises(ValueError, match=r"field 'x' of item 1 has NaN.*5.0%"):
        list(ml.Loader(rows("raise"), COUNT, shuffle=False))


def test_a_dataset_of_nan_alone_is_an_error() -> None:
    z = zarr.array(np.full((30, 2), np.nan))
    with pytest.raises(ValueError, match="could replace item 0 have too much NaN"):
        list(ml.Loader(ml.Rows({"x": ml.Field(z, nan="reject:0.5")}), 3, shuffle=False))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nan": "rejekt:0.1"}, "did you mean 'reject'"),
        ({"nan": "reject"}, "'reject:SHARE'"),
        ({"nan": "mask:1"}, "'reject:SHARE'"),
        ({"nan": "reject:1"}, "below 1"),
        ({"nan": "fill:x", "dtype": "float32"}, "'x' is not a number"),
        ({"nan": 0}, "need dtype="),
    ],
)
def test_rules_that_do_not_fit_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ml.Field(zarr.array(values()), **options)
    with pytest.raises(ValueError, match="never NaN"):
        ml.Field(zarr.zeros(3, dtype="i4"), nan="mask")
