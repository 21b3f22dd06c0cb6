"""What a batch costs in Python and in calls, and how much memory a loader takes."""

import gc
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import scenes
from zarrix import _engine, ml
from zarrix.ml._reading import fetch as _fetch


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries each native call of the loaders had."""
    calls: list[int] = []
    original = _engine.read_many

    def count(entries: Any, **keywords: Any) -> Any:
        calls.append(len(entries))
        return original(entries, **keywords)

    class Engine:
        read_many = staticmethod(count)
        CancelToken = _engine.CancelToken

    monkeypatch.setattr(_fetch, "_engine", Engine)
    return calls


@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_a_batch_of_several_fields_takes_at_most_one_native_call(
    monkeypatch: pytest.MonkeyPatch, shuffle: str
) -> None:
    calls = counted(monkeypatch)
    arrays, _ = scenes()
    loader = ml.Loader(
        ml.Crops(arrays, dims="tcyx", size=(24, 36), per_item=20), 8, shuffle=shuffle, prefetch=0
    )
    assert len(list(loader)) == 30
    assert len(calls) < 30
    assert sum(calls) == 3 * 30


def test_the_python_of_a_batch_is_bounded() -> None:
    """At most 150 microseconds a batch, counted as calls: a call of Python takes less than one."""
    arrays, _ = scenes()
    crops = ml.Crops(arrays, dims="tcyx", size=(24, 36), per_item=400)
    loader = ml.Loader(crops, 16, prefetch=0, shuffle="full")
    batches = iter(loader)
    for _ in range(20):
        next(batches)
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        for _ in range(200):
            next(batches)
    finally:
        sys.setprofile(None)
    assert calls / 200 < 150


def test_memory_is_bounded_over_2000_batches() -> None:
    rows = ml.Rows({"x": zarr.zeros((4000, 512), chunks=(20, 512), dtype="f4")})
    loader = ml.Loader(rows, 2, memory="256 KiB", shuffle="block")
    tracemalloc.start()
    try:
        peaks = []
        for number, batch in enumerate(loader):
            del batch
            if number % 500 == 100:
                gc.collect()
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.reset_peak()
    finally:
        tracemalloc.stop()
    assert number == 1999
    assert max(peaks) < 2**20 + 2**19
    assert loader._slots.held_bytes <= 2**18


def test_the_order_of_a_billion_items_takes_no_memory() -> None:
    rows = ml.Rows({"x": zarr.zeros((10**9,), chunks=(10**6,), dtype="u1")})
    tracemalloc.start()
    try:
        batches = iter(ml.Loader(rows, 4, shuffle="full", prefetch=0))
        first = next(batches)["item"]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(np.unique(first)) == 4
    assert peak < 2**22


def test_what_a_worker_is_sent_is_small(tmp_path: Any) -> None:
    import pickle

    root = zarr.open_group(tmp_path / "a.zarr", mode="w")
    for name in ("a", "b", "c"):
        root.create_dataset(name, shape=(1000, 64, 64), chunks=(1, 64, 64), dtype="u1")
    crops = ml.Crops(dict(root.arrays()), dims="tyx", size=(32, 32))
    assert len(pickle.dumps(crops)) < 8192
    assert len(pickle.loads(pickle.dumps(crops))) == 1000


def test_a_plan_counts_chunks_before_anything_is_read() -> None:
    z = zarr.zeros((64, 32, 32), chunks=(8, 32, 32), dtype="u1")
    rows = ml.Rows({"x": z})
    block = ml.Loader(rows, 8, shuffle="block").plan()
    many = ml.Rows({"x": zarr.zeros((640, 32, 32), chunks=(8, 32, 32), dtype="u1")})
    full = ml.Loader(many, 2, shuffle="full", memory="64 KiB").plan()
    assert block.amplification == 1.0
    assert (block.blocks, block.samples, block.batches) == (8, 64, 8)
    assert full.amplification > 3
    assert full.other_amplification < 1.5
    assert "shuffle='block' reads" in str(full)
    assert 0.9 < block.randomness <= 1
    for one in (block, full, rows, ml.Loader(rows), ml.Loader(rows).stats()):
        assert one._repr_html_().startswith("<table")


def test_a_preview_is_a_picture_and_moves_nothing(tmp_path: Any) -> None:
    arrays, _ = scenes()
    loader = ml.Loader(ml.Crops(arrays, dims="tcyx", size=(24, 36)), 6)
    preview = loader.preview(samples=3)
    assert preview.names == ["rgb", "flow", "depth"]
    assert preview.image.shape == (304, 456, 3)
    preview.save(tmp_path / "preview.png")
    assert (tmp_path / "preview.png").read_bytes().startswith(b"\x89PNG")
    assert loader.state_dict()["seen"] == 0


def test_headspace_serves_one_batch() -> None:
    loader = ml.Loader(ml.Rows({"x": zarr.zeros((8, 2))}), 4)
    assert len({id(batch) for batch in ml.headspace(loader, 7)}) == 1
    assert loader.state_dict()["seen"] == 0


def test_parts_of_a_split_share_nothing() -> None:
    values = np.arange(40)
    clips = ml.Clips({"x": zarr.array(values, chunks=4)}, dims="t", frames=3, every=2)
    train, val = clips.split({"train": 0.7, "val": 0.3})
    frames = [
        {int(one) for batch in ml.Loader(part, 3) for one in batch["x"].reshape(-1)}
        for part in (train, val)
    ]
    assert not frames[0] & frames[1]
    assert len(frames[0] | frames[1]) > 30
    groups = ml.Rows([{"x": zarr.array(np.arange(n) + 100 * n)} for n in (3, 4, 5, 6)])
    parts = groups.split({"a": 0.5, "b": 0.25, "c": 0.25}, by="group", seed=1)
    seen = [
        {int(one) // 100 for batch in ml.Loader(part, 3) for one in batch["x"]} for part in parts
    ]
    assert [len(one) for one in seen] == [2, 1, 1]
    assert len(set.union(*seen)) == 4
    episodes = ml.Clips(
        {"x": zarr.array(values)}, dims="t", frames=2, episodes=[10, 20, 30, 40]
    ).split({"a": 0.5, "b": 0.5})
    assert [len(part) for part in episodes] == [18, 18]
    with pytest.raises(ValueError, match="'group' or 'item'"):
        groups.split({"a": 0.5}, by="episode")
    with pytest.raises(ValueError, match="at most 1"):
        groups.split({"a": 0.9, "b": 0.2})


def test_a_grid_covers_an_array_and_says_where() -> None:
    values = np.random.default_rng(0).integers(0, 99, (2, 13, 22)).astype("u1")
    fields = {"x": zarr.array(values, chunks=(1, 5, 5)), "y": zarr.array(values[:, :12:2, ::2])}
    with pytest.raises(ValueError, match="neither is a multiple"):
        ml.Grid(fields, (4, 6), dims="tyx")
    grid = ml.Grid({"x": fields["x"]}, (4, 6), dims="tyx", border="reflect")
    out = np.zeros_like(values)
    for batch in ml.Loader(grid, 5, shuffle=False):
        for x, (t, y, z), inside in zip(batch["x"], batch["start"], batch["inside"], strict=True):
            (_, _), (_, rows), (_, columns) = inside.tolist()
            out[t, y : y + rows, z : z + columns] = x[:rows, :columns]
    assert np.array_equal(out, values)


@pytest.mark.parametrize("border", ["pad", "edge", "reflect"])
def test_crops_beyond_the_border_are_those_of_numpy(border: str) -> None:
    values = np.random.default_rng(0).integers(0, 99, (3, 20, 30)).astype("i2")
    more = {"constant_values": -5} if border == "pad" else {}
    mode = {"pad": "constant"}.get(border, border)
    wanted = np.pad(values, ((0, 0), (16, 16), (16, 16)), mode=mode, **more)
    for source in (zarr.array(values, chunks=(1, 7, 7)), values):
        crops = ml.Crops(
            {"x": source}, dims="tyx", size=(12, 16), border=border, pad_value=-5, per_item=30
        )
        left = 0
        for batch in ml.Loader(crops, 7):
            for x, (t, y, z), inside in zip(
                batch["x"], batch["start"], batch["inside"], strict=True
            ):
                assert np.array_equal(x, wanted[t, y + 16 : y + 28, z + 16 : z + 32])
                rows = [max(0, -int(y)), min(12, 20 - int(y))]
                assert inside[1].tolist() == rows
                left += rows != [0, 12]
        assert left > 10


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "<u2", ">i4", "f2", "f4", "f8", "c8", "S3"])
@pytest.mark.parametrize("format", [2, 3])
def test_values_of_every_type_are_those_of_slicing(dtype: str, format: int) -> None:
    values = np.arange(12 * 10).reshape(12, 10).astype(dtype)
    z = zarr.array(values, chunks=(5, 3), zarr_format=format)
    batch = next(iter(ml.Loader(ml.Rows({"x": z}), 12, seed=1)))
    assert batch["x"].dtype == z.dtype
    assert np.array_equal(batch["x"], values[batch["item"]])
    if values.dtype.kind not in "cS":
        for target in ("float16", "float32"):
            field = ml.Field(z, dtype=target, scale=0.5, offset=1, clip=(2, 40))
            batch = next(iter(ml.Loader(ml.Rows({"x": field}), 12, seed=1)))
            exact = np.clip(values[batch["item"]].astype("f8") * 0.5 + 1, 2, 40).astype(target)
            assert np.array_equal(batch["x"], exact)


def test_text_and_sharded_arrays_are_read_too() -> None:
    names = np.array([f"name {n}" for n in range(9)], object)
    sharded = zarr.create_array({}, shape=(9, 4), chunks=(1, 2), shards=(3, 4), dtype="i4")
    sharded[...] = np.arange(36).reshape(9, 4)
    rows = ml.Rows({"name": zarr.array(names, dtype=str, chunks=2), "x": sharded})
    for batch in ml.Loader(rows, 4):
        assert batch["name"].tolist() == names[batch["item"]].tolist()
        assert np.array_equal(batch["x"][:, 0], batch["item"] * 4)


@pytest.fixture
def _uncollected() -> Any:
    """No garbage collection: what is not used any more must be free at once."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_uncollected")
@pytest.mark.parametrize("shuffle", ["full", "block", False])
def test_early_breaks_take_the_memory_of_one_epoch(shuffle: Any) -> None:
    """A call that was cancelled kept its batches by the traceback of its error."""
    z = zarr.array(np.zeros((1200, 256), "f4"), chunks=(16, 256))
    loader = ml.Loader(ml.Rows({"x": z}), 16, shuffle=shuffle)
    for _ in range(100):
        for batch in loader:
            assert len(batch["x"]) == 16
            break
    assert loader._slots is not None
    assert loader._slots.held_bytes <= z.nbytes + 10 * 16 * (1024 + 64)


@pytest.mark.usefixtures("_uncollected")
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("is_taken", [True, False])
def test_errors_take_no_memory(prefetch: int, is_taken: bool) -> None:
    def fails(batch: ml.Batch, rng: np.random.Generator) -> None:
        raise LookupError

    z = zarr.array(np.zeros((1200, 256), "f4"), chunks=(16, 256))
    loader = ml.Loader(ml.Rows({"x": z}), 16, prefetch=prefetch, transform=fails, shuffle="full")
    for _ in range(100):
        batches = iter(loader)
        if is_taken or not prefetch:
            with pytest.raises(LookupError):
                next(batches)
        else:
            batches._filler._await()  # type: ignore[attr-defined]
        del batches
    assert loader._slots is not None
    # As many as one call reads.
    assert loader._slots.held_bytes <= 20 * 16 * (1024 + 64)
