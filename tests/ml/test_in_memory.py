"""Fields that are NumPy arrays: the samples of stored arrays, without reading ahead by blocks."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import scenes
from zarrix import ml
from zarrix.ml._loading import batch_reader as _batch_reader


def dataset(kind: str, fields: dict[str, Any], border: str) -> Any:
    if kind == "rows":
        return ml.Rows({"rgb": fields["rgb"]})
    if kind == "labels":
        return ml.Rows({"label": fields["depth"][:, 0, 0, 0]})
    if kind == "clips":
        return ml.Clips(
            fields, dims="tcyx", frames=3, stride=2, size={"y": 24, "x": 36}, border=border
        )
    if kind == "grid":
        frames = {"rgb": fields["rgb"]}
        return ml.Grid(frames, {"y": 40, "x": 40}, dims="tcyx", border=border)
    return ml.Crops(fields, dims="tcyx", size={"y": 24, "x": 36}, per_item=3, border=border)


@pytest.mark.parametrize("shuffle", [False, "full", "block"])
@pytest.mark.parametrize("border", ["inside", "pad", "edge", "reflect"])
@pytest.mark.parametrize("kind", ["rows", "labels", "clips", "grid", "crops"])
def test_samples_are_those_of_stored_arrays(kind: str, border: str, shuffle: Any) -> None:
    if kind == "grid" and border == "inside":
        border = "pad"
    arrays, values = scenes()
    ours, theirs = (dataset(kind, fields, border) for fields in (values, arrays))
    assert len(ours) == len(theirs)
    # Blocks are chunks, which arrays in memory do not have: only samples can be compared.
    seen = []
    for batch in ml.Loader(ours, 5, shuffle=shuffle, drop_last=False):
        wanted = theirs.__getitems__(batch["item"].tolist())
        for row, sample in enumerate(wanted):
            for name in sample:
                np.testing.assert_array_equal(batch[name][row], sample[name])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(len(ours)))


def test_values_are_converted() -> None:
    values = np.arange(60).reshape(20, 3).astype("u2")
    scale = [1.0, 0.5, 0.25]
    field = ml.Field(values, dtype="float32", scale=scale)
    for batch in ml.Loader(ml.Rows({"x": field}), 4):
        np.testing.assert_array_equal(batch["x"], (values[batch["item"]] * scale).astype("f4"))


def test_an_array_that_is_not_contiguous_is_read() -> None:
    values = np.arange(240).reshape(20, 3, 4)[::2, :, ::-1]
    for batch in ml.Loader(ml.Rows({"x": values}), 3, drop_last=False):
        np.testing.assert_array_equal(batch["x"], values[batch["item"]])


@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_the_first_batch_does_not_wait_for_the_epoch(
    monkeypatch: pytest.MonkeyPatch, shuffle: str
) -> None:
    read: list[int] = []
    original = _batch_reader.fetch

    def counted(entries: Any, *more: Any, **keywords: Any) -> None:
        read.append(sum(len(entry.starts) for entry in entries))
        original(entries, *more, **keywords)

    monkeypatch.setattr(_batch_reader, "fetch", counted)
    rows = ml.Rows({"x": np.zeros((20_000, 8))})
    batches = iter(ml.Loader(rows, 10, shuffle=shuffle, prefetch=0))
    next(batches)
    assert sum(read) <= 160
    assert sum(len(batch["item"]) for batch in batches) == 19_990
    assert sum(read) == 20_000


def test_mixed_with_stored_arrays_chunks_are_still_decoded_once() -> None:
    stored = zarr.array(np.arange(4000), chunks=100)
    rows = ml.Rows({"x": stored, "y": np.arange(4000)})
    loader = ml.Loader(rows, 20, shuffle="block")
    assert loader.plan().amplification == pytest.approx(1, abs=0.01)
    for batch in loader:
        np.testing.assert_array_equal(batch["x"], batch["item"])
        np.testing.assert_array_equal(batch["y"], batch["item"])


def test_what_only_looks_like_an_array_is_refused_when_a_field_is_made() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")

    class Looks:
        shape, dtype = (3,), np.dtype("i4")

    series = pandas.Series([1, 2, 3])
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    for one, hint in (
        (series, "np.asarray"),
        (masked, r"filled\(value\)"),
        (Looks(), "np.asarray"),
    ):
        for make in (
            lambda one=one: ml.Rows({"x": one}),
            lambda one=one: ml.Field(one),
            lambda one=one: ml.Crops(
                {"x": np.zeros((3, 4))}, dims="ty", size={"y": 2}, where=ml.fraction(one)
            ),
        ):
            with pytest.raises(TypeError, match=f"of zarrix or of NumPy, not .*{hint}"):
                make()
    rows = ml.Rows({"x": series.to_numpy(), "y": masked.filled(0)})
    assert rows[1]["x"] == 2


@pytest.mark.parametrize("shape", [(5, 0), (5, 0, 3)])
def test_samples_without_elements_and_fields_without_axes_are_delivered(shape: Any) -> None:
    scalar = zarr.array(np.array(7))
    clips = ml.Clips(
        {"x": np.arange(5), "place": scalar}, dims={"x": "t", "place": ()}, frames=2, every=2
    )
    for dataset in (ml.Rows({"x": np.zeros(shape)}), ml.Rows({"x": zarr.zeros(shape)}), clips):
        for mixed in (dataset, ml.Mix({"a": dataset})):
            seen = [
                batch
                for shuffle in ("full", "block")
                for batch in ml.Loader(mixed, 2, shuffle=shuffle)
            ]
            assert sum(len(batch["x"]) for batch in seen) == 2 * len(dataset)
            assert all((batch.get("place", 7) == 7).all() for batch in seen if "place" in batch)


def test_weights_whose_sum_is_not_finite_draw_all_items() -> None:
    rows = ml.Rows({"x": np.arange(40)})
    huge = ml.Loader(rows, 4, weights=np.full(40, 1e308), seed=1)
    ones = ml.Loader(rows, 4, weights=np.ones(40), seed=1)
    assert [b["item"].tolist() for b in huge] == [b["item"].tolist() for b in ones]
