"""Advice: the same for the same seed, within its budget, and near the best of a grid."""

from __future__ import annotations

import itertools
import math
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix.measure import _advise, _bench, advise, bench, compare, lint, suggest
from zarrix.measure._access import accesses_of
from zarrix.measure._bench import places_of
from zarrix.measure._model import Layout, Use, as_read, candidates, cost

RNG = np.random.default_rng(11)


def smooth(*shape: int) -> Any:
    grids = np.meshgrid(*(np.linspace(0, 7, n) for n in shape), indexing="ij", sparse=True)
    return sum(np.sin((i + 1) * grid) for i, grid in enumerate(grids))


DATA: dict[str, Any] = {
    "frames": (smooth(24, 3, 180, 320) * 40 + 128).astype("u1"),
    "volume": (smooth(64, 96, 128) * 1000).astype("i2"),
    "climate": smooth(365, 45, 90).astype("f4"),
    "table": RNG.normal(size=(20_000, 12)),
    "signal": np.cumsum(RNG.integers(-3, 4, 2_000_000)).astype("i4"),
    "masks": smooth(40, 200, 200) > 0,
}
ACCESSES = ("crop", "frame", "series", "all", "points 20")


def words(access: str, value: Any) -> str:
    if access == "crop":
        return "crop " + "x".join(str(max(1, n // 4)) for n in value.shape[-2:])
    return access


@pytest.mark.parametrize(
    ("text", "shape", "extent"),
    [
        ("crop 32x16", (9, 3, 64, 64), (1, 3, 32, 16)),
        ("crop 32x16", (9, 64, 64, 3), (1, 32, 16, 3)),
        ("crop 8x32x16", (9, 64, 64, 64), (1, 8, 32, 16)),
        ("crop 32x16 of t,x", (40, 64, 64), (32, 1, 16)),
        ("frame:0.5", (9, 4, 5), (1, 4, 5)),
        ("plane y", (9, 4, 5), (9, 1, 5)),
        ("series t", (9, 4, 5), (9, 1, 1)),
        ("all", (9, 4), (9, 4)),
        ("points 7", (9, 4), (1, 1)),
    ],
)
def test_words_are_extents(text: str, shape: tuple[int, ...], extent: tuple[int, ...]) -> None:
    (found,) = accesses_of(text, shape, ("t", "y", "x")[: len(shape)])
    assert found.extent == extent
    assert found.weight == (0.5 if ":" in text else 1.0)


@pytest.mark.parametrize(
    "text", ["corp 3x3", "crop", "crop 0x3", "series q", "frame:-1", "", "plane 9"]
)
def test_words_that_mean_nothing_are_errors(text: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        accesses_of([text], (9, 4, 5), ("t", "y", "x"))


def test_a_suggestion_is_the_same_and_answers_for_arrays_of_any_size() -> None:
    shape = (100_000, 10_000, 25_000)
    begun = time.process_time()
    found = [suggest(shape, "f4", access=["crop 256x256", "series 0:0.01"]) for _ in range(2)]
    assert time.process_time() - begun < 10
    assert found[0] == found[1]
    assert found[0].shards is not None
    for shard, chunk in zip(found[0].shards, found[0].chunks, strict=True):
        assert shard % chunk == 0
    files = math.prod(-(-n // s) for n, s in zip(shape, found[0].shards, strict=True))
    assert files <= 110_000
    assert eval(found[0].code.replace("store, ", ""), {"zarr": zarr}).chunks == found[0].chunks


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("name", DATA)
def test_the_model_chooses_the_best_of_its_candidates(name: str, access: str) -> None:
    value = DATA[name]
    use = Use(value.shape, value.dtype.itemsize, accesses_of(words(access, value), value.shape))
    listed = candidates(use)
    assert 1 <= len(listed) <= 60
    costs = [cost(one, use) for one in listed]
    assert costs[0] <= min(costs) * 1.001
    # An exhaustive grid of divisors by two has nothing that is better by the model.
    grid = [[max(1, n >> k) for k in range(0, 8, 2)] for n in value.shape]
    for chunks in itertools.product(*grid):
        if 32 * 2**10 <= math.prod(chunks) * value.dtype.itemsize <= 32 * 2**20:
            assert costs[0] <= cost(Layout(chunks), use) * 1.1


def test_advice_finds_a_layout_that_is_faster_and_says_how(tmp_path: Path) -> None:
    value = DATA["frames"]
    z = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=value.shape, chunks=(24, 3, 5, 320), dtype="u1"
    )
    z[...] = value
    found = advise(z, access="frame", budget=0.5, seed=3)
    assert found.trials[0].present
    assert found.chunks[0] < 24
    assert found.gain > 1.5
    assert "rechunk" in found.command
    assert found.to_svg().startswith("<svg")
    again = advise(z, access="frame", budget=0.5, seed=3)
    assert [one.chunks for one in again.trials] == [one.chunks for one in found.trials]
    assert zarr.open(tmp_path / "z.zarr", mode="r").chunks == (24, 3, 5, 320)


@pytest.mark.parametrize("access", ["frame", "crop 16x64", "all", "points 20", "series"])
def test_what_is_read_is_always_tried(access: str) -> None:
    value = DATA["climate"]
    z = zarr.array(value, chunks=(365, 3, 3))
    (one,) = accesses_of(access, value.shape)
    tried = {trial.chunks for trial in advise(z, access=access, budget=0.5).trials}
    if math.prod(one.extent) * 4 >= 16 * 2**10:
        assert one.extent in tried or access == "crop 16x64"
    assert as_read(Use(value.shape, 4, [one])) == (
        [Layout(one.extent)] if math.prod(one.extent) * 4 >= 16 * 2**10 else []
    )


def test_writing_ends_with_half_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    z = zarr.array(DATA["volume"])
    seconds = itertools.count(0, 10)
    monkeypatch.setattr(_advise.time, "perf_counter", lambda: next(seconds))
    written: list[Layout] = []
    original = _advise._Trials._written

    def counted(self: Any, layout: Layout, *more: Any) -> Any:
        written.append(layout)
        return original(self, layout, *more)

    monkeypatch.setattr(_advise._Trials, "_written", counted)
    advise(z, access="frame", budget=2.0)
    # The present one, and the least number of others in two codecs.
    assert len(written) == 1 + 2 * 4


@pytest.mark.parametrize("shape", [(), (0,), (0, 5), (1,), (3, 1)])
def test_advice_of_almost_nothing(shape: tuple[int, ...]) -> None:
    z = zarr.zeros(shape, dtype="f4")
    found = advise(z, access="all", budget=0.05)
    assert found.trials[0].present
    assert found.chunks == z.chunks


def test_what_is_read_after_a_large_chunk_is_not_slower_by_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Caches are empty after a large read: in one order, the same array would always pay for it."""
    clock, debt = [0.0], [0.0]
    arrays = [zarr.zeros((64, 64), chunks=(8, side)) for side in (64, 8, 8, 8)]

    def read(array: Any, region: Any) -> None:
        clock[0] += 1.0 + debt[0]
        debt[0] = 3.0 if array is arrays[0] else 0.0

    monkeypatch.setattr(_bench, "read_once", read)
    monkeypatch.setattr(_bench.time, "perf_counter", lambda: clock[0])
    times = _bench.compared(arrays, accesses_of("crop 4x4", (64, 64)), 400.0, 5)
    assert times == [1.0] * 4


def test_an_access_of_everything_has_one_place() -> None:
    found = accesses_of(["all", "frame", "points 3"], (9, 40, 50))
    whole, frames, points = places_of(found, (9, 40, 50), 1)
    assert whole == [(slice(0, 9), slice(0, 40), slice(0, 50))]
    assert 1 < len(frames) <= 6
    assert [len(one) for one in points] == [3] * 6
    assert places_of(found, (9, 40, 50), 1) == [whole, frames, points]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_trials_have_the_chunks_that_are_read(data: Any) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    chunks = tuple(data.draw(st.integers(1, 13)) for _ in shape)

    def box() -> tuple[slice, ...]:
        ends = [sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape]
        return tuple(slice(a, max(a + 1, z)) if a < n else slice(n - 1, n)
                     for (a, z), n in zip(ends, shape, strict=True))  # fmt: skip

    boxes = [box() for _ in range(data.draw(st.integers(1, 4)))]
    parts, share = _advise._touched(boxes, chunks, shape)
    wanted, found = np.zeros(shape, bool), np.zeros(shape, bool)
    for one in boxes:
        grown = tuple(
            slice(s.start // c * c, -(-s.stop // c) * c) for s, c in zip(one, chunks, strict=True)
        )
        wanted[grown] = True
    for part in parts:
        found[part] = True
    assert np.array_equal(found, wanted)
    assert share == pytest.approx(wanted.mean())


def test_the_ratio_of_a_trial_is_that_of_what_was_written(tmp_path: Path) -> None:
    value = DATA["climate"]
    whole = zarr.open(
        tmp_path / "z.zarr", mode="w", shape=value.shape, chunks=(1, 45, 90), dtype="f4"
    )
    whole[...] = value
    (now,) = (one for one in advise(whole, access="frame", budget=0.5).trials if one.present)
    assert now.ratio == pytest.approx(whole.nbytes / whole.nbytes_stored, rel=0.2)


def test_rules_name_what_is_wrong() -> None:
    def rules(z: Any) -> set[str]:
        return {one.rule for one in lint(z)} - {"meta/no-dimension-names"}

    assert rules(zarr.array(np.arange(4000.0), chunks=10)) == {"chunks/tiny", "dtype/wasteful"}
    assert rules(zarr.zeros((600, 600, 600), chunks=(600, 600, 600), dtype="u1")) == {"chunks/huge"}
    assert rules(zarr.array(np.ones((130, 300), "u1"), chunks=(100, 300))) == {"chunks/misfit"}
    assert rules(zarr.zeros(2_000_000, chunks=10, dtype="u1")) >= {"shards/missing", "chunks/tiny"}
    noise = np.frombuffer(RNG.bytes(2**21), "u1")
    assert rules(zarr.array(noise, chunks=2**20)) == {"codec/useless"}


def test_a_comparison_has_a_row_for_each_format_and_gives_back_what_was_written() -> None:
    pytest.importorskip("h5py")
    pytest.importorskip("tifffile")
    found = compare(np.arange(1024, dtype="f4").reshape(32, 32), seconds=0.01)
    rows = {one.format: one for one in found.rows}
    assert {name for name, one in rows.items() if one.why_not} == {"bits", "jpeg"}
    assert all(one.crops_per_s > 0 for one in found.rows if not one.why_not)
    assert rows["raw"].stored_bytes == 4096
    drawn = found.to_svg()
    ElementTree.fromstring(drawn)
    assert all(f">{name}</text>" in drawn for name, one in rows.items() if not one.why_not)
    masks = compare(DATA["masks"][:2], formats=["bits", "npy", "text"], seconds=0.01).rows
    assert masks[0].stored_bytes == 10_000
    assert masks[2].why_not


def test_a_lossy_format_says_how_near_it_is() -> None:
    y, x = np.mgrid[:40, :60]
    frame = np.stack([127 + 100 * np.sin(x / 9 + k + y / 7) for k in range(3)], -1).astype("u1")
    png, jpeg = compare(np.stack([frame] * 2), formats=["npy", "jpeg"], seconds=0.01).rows
    assert png.psnr_db is None
    assert jpeg.psnr_db is not None
    assert 25 < jpeg.psnr_db < 60
    assert f"JPEG 90 (lossy), {jpeg.psnr_db:.1f} dB" == jpeg.how
    assert jpeg.stored_bytes < png.stored_bytes / 3


def test_reads_are_timed() -> None:
    z = zarr.zeros((64, 64), chunks=(16, 16))
    first, second = bench(z, access=["crop 8x8", "points 5"], seconds=0.02)
    assert first.reads >= 3
    assert first.p50_s <= first.p99_s
    assert second.access == "points 5"


def test_rounding_is_tried_only_if_an_error_is_allowed() -> None:
    values = np.cumsum(np.random.default_rng(0).normal(size=(64, 64, 20)), 0).astype("f4")
    z = zarr.array(values, chunks=(64, 1, 20))
    plain = advise(z, access="frame", budget=0.3)
    assert plain.max_error is None
    assert {one.error for one in plain.trials} == {None}
    assert "--max-error" not in plain.command
    found = advise(z, access="frame", budget=0.3, max_error=0.5)
    errors = [one.error for one in found.trials if one.error is not None]
    assert len(errors) == 2
    assert all(0 < one <= 0.5 for one in errors)
    lossy = [one for one in found.trials if one.error is not None]
    assert min(one.ratio for one in lossy) > found.trials[0].ratio
    assert found.max_error == 0.5
    assert "--max-error 0.5" in found.command
    whole = advise(zarr.array(np.arange(4096)), access="all", budget=0.3, max_error=0.5)
    assert {one.error for one in whole.trials} == {None}
