"""Windows of blocks: each chunk is read once, and the first batch does not wait for the window."""

import collections
import shutil
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of
from waiting import PATIENCE_S
from zarrix import ml


class Counting(dict[str, Any]):
    """A mapping that counts how often each key is read, and may hold back some."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: collections.Counter[str] = collections.Counter()
        self.held: set[str] = set()
        self.released = threading.Event()

    def __getitem__(self, key: str) -> Any:
        if key in self.held and not self.released.wait(PATIENCE_S):
            raise TimeoutError(key)
        self.reads[key] += 1
        return super().__getitem__(key)


def stored(count: int, chunk: int) -> tuple[Counting, ml.Rows]:
    store = Counting()
    z = zarr.create_array(store, shape=(count, 3), chunks=(chunk, 3), dtype="i4")
    z[:] = np.arange(count * 3).reshape(count, 3)
    store.reads.clear()
    return store, ml.Rows({"x": zarr.open_array(store, mode="r")})


def checked(batch: ml.Batch, first: int) -> list[int]:
    """The items of a batch whose values count up by two in each row."""
    assert np.array_equal(batch["x"][:, 0], first + batch["item"] * 2)
    items: list[int] = batch["item"].tolist()
    return items


@pytest.mark.parametrize("memory", ["1 MiB", "8 KiB", "3000 B"])
@pytest.mark.parametrize("size", [7, 32])
def test_an_epoch_reads_each_chunk_once(memory: str, size: int) -> None:
    """Also where windows end within batches."""
    store, rows = stored(2000, 10)
    loader = ml.Loader(rows, size, shuffle="block", memory=memory, seed=3)
    blocks = loader.plan().blocks_open
    assert (blocks == 200) == (memory == "1 MiB")
    store.reads.clear()
    items = []
    for batch in loader:
        assert np.array_equal(batch["x"][:, 0], batch["item"] * 3)
        items += batch["item"].tolist()
    assert sorted(items) == list(range(2000))
    chunks = {key: count for key, count in store.reads.items() if key.startswith("c/")}
    assert len(chunks) == 200
    assert set(chunks.values()) == {1}


def test_a_batch_is_delivered_while_the_rest_of_its_window_is_read() -> None:
    """Chunks are asked for in the order in which batches need them, 256 at a time."""
    store, rows = stored(1200, 2)
    loader = ml.Loader(rows, 2, shuffle="block", seed=3)
    order = [item // 2 for batch in ml.Loader(rows, 2, shuffle="block", seed=3, prefetch=0)
             for item in batch["item"].tolist()]  # fmt: skip
    needed = list(dict.fromkeys(order))
    store.held = {f"c/{chunk}/0" for chunk in needed[300:]}
    try:
        with loader:
            batches = iter(loader)
            found = [next(batches) for _ in range(100)]
            assert not store.released.is_set()
            store.released.set()
            found += list(batches)
    finally:
        store.released.set()
    assert [item // 2 for batch in found for item in batch["item"].tolist()] == order


def test_all_batches_before_a_corrupt_chunk_are_delivered(tmp_path: Path) -> None:
    z = zarr.create_array(tmp_path / "a.zarr", shape=(60, 2), chunks=(3, 2), dtype="i4")
    z[:] = np.arange(120).reshape(60, 2)
    rows = ml.Rows({"x": z})
    options: dict[str, Any] = {"shuffle": "block", "seed": 1}
    order = [item for batch in ml.Loader(rows, 4, **options) for item in batch["item"].tolist()]
    bad = order[33] // 3
    (tmp_path / "a.zarr" / "c" / str(bad) / "0").write_bytes(b"no zstd")
    first = next(n for n, item in enumerate(order) if item // 3 == bad)
    for prefetch in (0, 1, 2):
        loader = ml.Loader(rows, 4, prefetch=prefetch, **options)
        seen: list[int] = []
        with pytest.raises(zarr.errors.CorruptChunkError):
            seen.extend(item for batch in loader for item in checked(batch, 0))
        assert seen == order[: len(seen)]
        assert len(seen) <= first
        assert prefetch == 0 or len(seen) == first // 4 * 4


def test_an_array_that_is_deleted_is_an_error_and_no_fill_value(tmp_path: Path) -> None:
    z = zarr.create_array(tmp_path / "a.zarr", shape=(400, 2), chunks=(1, 2), dtype="i4")
    z[:] = 1 + np.arange(800).reshape(400, 2)
    # Nothing is read while the files go one by one: the metadata may be the last of them.
    loader = ml.Loader(ml.Rows({"x": z}), 2, shuffle="block", memory=64, seed=1, prefetch=0)
    batches = iter(loader)
    next(batches)
    shutil.rmtree(tmp_path / "a.zarr")
    seen: list[int] = []
    with pytest.raises(zarr.errors.ArrayNotFoundError):
        seen.extend(item for batch in batches for item in checked(batch, 1))
    assert len(seen) < 398


def test_fields_in_memory_and_text_are_read_beside_those_of_the_engine() -> None:
    names = np.array([f"name {n}" for n in range(50)], object)
    fields = {
        "x": zarr.array(np.arange(50), chunks=3),
        "label": np.arange(50) * 2,
        "name": zarr.array(names, dtype=str, chunks=7),
    }
    for chosen in (("x", "label", "name"), ("label",), ("label", "name")):
        seen: list[int] = []
        loader = ml.Loader(
            ml.Rows({name: fields[name] for name in chosen}), 4, shuffle="block", memory=600
        )
        for batch in loader:
            item = batch["item"]
            assert np.array_equal(batch["label"], item * 2)
            assert "x" not in batch or np.array_equal(batch["x"], item)
            assert "name" not in batch or batch["name"].tolist() == names[item].tolist()
            seen += item.tolist()
        assert sorted(seen) == list(range(50))


def test_memory_of_batches_is_used_again_in_the_next_epoch() -> None:
    rows = ml.Rows({"x": zarr.zeros((200, 512), chunks=(20, 512))})
    loader = ml.Loader(rows, 10, shuffle="block", seed=1)
    held = []
    for _ in range(3):
        for batch in loader:
            del batch
        held.append(loader._slots_here().held_bytes)
    assert held[0] == held[1] == held[2]
    loader.close()
    assert loader._slots_here().held_bytes == 0


def test_batches_of_a_full_shuffle_that_share_chunks_are_read_together() -> None:
    crops = ml.Crops(
        {"x": zarr.zeros((30, 64, 64), chunks=(1, 64, 64))}, dims="tyx", size=(16, 16), per_item=8
    )
    full = ml.Loader(crops, 8, shuffle="full")
    assert full.plan().amplification == pytest.approx(2.0)
    for _ in range(2):
        assert sorted(items_of(full)) == list(range(240))
    # The first batch of an epoch is read alone, and others until the first step has ended.
    assert 4 <= full._counters.calls <= 20
    held = ml.Loader(crops, 8, shuffle="full", memory="64 KiB")
    assert 4 < held.plan().amplification <= 16
    alone = ml.Rows({"x": zarr.zeros((4000, 64), chunks=(1, 64))})
    assert ml.Loader(alone, 8, shuffle="full").plan().batches_at_once == 16
    halves = alone.split({"a": 0.5, "b": 0.5})[0], ml.Mix({"a": crops, "b": crops})
    sizes = [ml.Loader(one, 8, shuffle="full").plan().batches_at_once for one in halves]
    assert sizes == [16, 4096]
