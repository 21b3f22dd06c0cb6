"""How often chunks are read in an epoch, counted at the store, and what `plan` said before."""

import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix.ml._loading.epochs import order_of


class Counting(dict[str, bytes]):
    """A store that counts how often each chunk is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads, self.lock = Counter[str](), threading.Lock()

    def __getitem__(self, key: str) -> bytes:
        if not key.rsplit("/", 1)[-1].startswith("."):
            with self.lock:
                self.reads[key] += 1
        return super().__getitem__(key)


def video(store: Counting, frames: int = 400, chunk: int = 8) -> zarr.Array:
    z = zarr.create((frames, 6), chunks=(chunk, 6), dtype="i4", store=store)
    z[...] = np.arange(frames * 6).reshape(frames, 6)
    return z


def reads_of(store: Counting, loader: ml.Loader) -> float:
    """Reads of a chunk, on average, in an epoch of which every sample is checked."""
    store.reads.clear()
    seen = []
    for batch in loader:
        starts = batch["start"][:, 0]
        for x, start in zip(batch["x"], starts, strict=True):
            assert (x.reshape(-1, 6)[0] == start * 6 + np.arange(6)).all()
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(len(loader.dataset)))
    return sum(store.reads.values()) / len(store.reads)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("options", "most"),
    [({"frames": 5}, 1.4), ({"frames": 4, "every": 2}, 1.4), ({"frames": 16}, 1.4)],
)
def test_clips_in_blocks_read_a_chunk_about_1_33_times(
    options: dict[str, int], most: float, seed: int
) -> None:
    store = Counting()
    clips = ml.Clips({"x": video(store)}, dims="tc", **options)
    each = 8 * clips[0]["x"].nbytes
    loader = ml.Loader(clips, 8, shuffle="block", memory=2 * 12 * each, seed=seed)
    plan = loader.plan()
    assert plan.order.startswith("block/2:12:")
    assert plan.blocks_open == 12
    reads = reads_of(store, loader)
    assert 1.0 < reads <= most
    # Bytes of decoded chunks over those of samples.
    measured = reads * video(Counting()).nbytes / (len(clips) * clips[0]["x"].nbytes)
    assert 0.85 * plan.amplification <= measured <= 1.05 * plan.amplification
    # What stays together differs by epoch.
    first, second = (
        {
            tuple(sorted(window // 8))
            for window in order_of(clips, loader._choice, seed, epoch).windows(10**6, 10**6)
        }
        for epoch in (0, 1)
    )
    assert first != second


def test_blocks_whose_items_touch_no_other_chunk_are_permuted_one_by_one() -> None:
    """Version 1 of their order, which states of rows have."""
    store = Counting()
    z = video(store)
    for dataset in (
        ml.Rows({"x": z}),
        ml.Crops({"x": z}, dims="tc", size={"c": 2}),
        ml.Clips({"x": z}, dims="tc", frames=8, stride=8),
        ml.Clips({"x": z}, dims="tc", frames=4, episodes=np.arange(8, 401, 8)),
    ):
        loader = ml.Loader(dataset, 8, shuffle="block", memory=4000)
        assert str(loader._choice).startswith("block/1:")
    store.reads.clear()
    list(ml.Loader(ml.Rows({"x": z}), 8, shuffle="block", memory=4000))
    assert set(store.reads.values()) == {1}


def test_a_clip_that_ends_in_the_first_inner_chunk_of_a_shard_hardly_reads_more() -> None:
    z = zarr.create_array({}, shape=(512, 4), chunks=(4, 4), shards=(128, 4), dtype="i4")
    z[...] = 1
    near = ml.Clips({"x": z}, dims="tc", frames=4)
    far = ml.Clips({"x": z}, dims="tc", frames=130)
    assert 0 < near._overlap() < 0.1
    assert far._overlap() > 0.5
    assert ml.Loader(near, 8, shuffle="block", memory="32 KiB")._choice.run == 1


@pytest.mark.parametrize("kind", ["rows", "two chunk lengths"])
def test_a_plan_of_rows_is_what_is_read(kind: str) -> None:
    store, other = Counting(), Counting()
    fields: dict[str, Any] = {"x": video(store)}
    if kind != "rows":
        # A chunk of the second field is in several blocks.
        fields["y"] = video(other, chunk=40)
    rows = ml.Rows(fields)
    loader = ml.Loader(rows, 8, shuffle="block", memory=2 * 8 * 6 * 8 * 24)
    plan = loader.plan()
    for one in (store, other):
        one.reads.clear()
    list(loader)
    decoded = sum(store.reads.values()) * 8 * 24 + sum(other.reads.values()) * 40 * 24
    measured = decoded / (400 * 24 * len(fields))
    assert 0.85 * plan.amplification <= measured <= 1.05 * plan.amplification
