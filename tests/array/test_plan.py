"""Plans of reads against what the reads then do."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import Values, arrays, orthogonal_keys, point_keys


class Counting(dict[str, bytes]):
    """A mapping that counts requests for chunks, and their bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: Counter[str] = Counter()
        self.bytes = 0

    def __getitem__(self, key: str) -> bytes:
        value = super().__getitem__(key)
        if not key.endswith((".zarray", ".zattrs", "zarr.json")):
            self.requests[key] += 1
            self.bytes += len(value)
        return value


@pytest.mark.parametrize("key", [..., (3, 4), (slice(0, 30, 20), slice(None)), ([1, 39], slice(5))])
def test_a_plan_counts_the_requests_and_bytes_that_the_read_makes(key: Any) -> None:
    store = Counting()
    z = zarr.create(store=store, shape=(40, 50), chunks=(10, 20), dtype="i4")
    z[...] = np.arange(2000).reshape(40, 50)
    plan = z.plan(key)
    assert plan.shards is None
    assert plan.missing == 0
    store.requests.clear()
    store.bytes = 0
    result = np.asarray(z[key])
    assert plan.requests == store.requests.total() == plan.chunks
    assert plan.bytes_fetched == store.bytes
    assert plan.bytes_used == result.nbytes
    assert plan.bytes_touched == plan.chunks * 10 * 20 * 4
    assert plan.amplification == plan.bytes_touched / result.nbytes


def test_a_plan_reads_as_a_sentence() -> None:
    z = zarr.zeros((100, 100), chunks=(10, 100), dtype="f4", compressor=None)
    z[:30] = 1
    assert str(z.plan((slice(0, 40), 0))) == (
        "Touches 4 chunks, 1 of them not stored; fetches 11.7 KiB in 4 requests (whole chunks) "
        "and uses 160 B of 15.6 KiB of chunks (amplification 100)."
    )
    assert str(z.plan(slice(0, 0))) == (
        "Touches 0 chunks; fetches 0 B in 0 requests and uses 0 B of 0 B of chunks "
        "(amplification 0)."
    )


def test_shards_are_planned_by_their_inner_chunks_and_by_ranges() -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(
        store, shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="f8", compressors=None
    )
    z[...] = np.random.default_rng(1).random((64, 64))
    one = z.plan((3, 4))
    assert (one.chunks, one.shards, one.missing, one.requests) == (1, 1, 0, 2)
    assert one.bytes_fetched == 8 * 8 * 8 + 16 * 16 + 4
    assert str(one).startswith("Touches 1 chunk in 1 shard; fetches 772 B in 2 requests")
    everything = z.plan()
    assert (everything.chunks, everything.shards, everything.requests) == (64, 4, 4)
    assert everything.amplification == 1
    corners = z.oindex.plan([0, 63])
    assert (corners.chunks, corners.shards) == (16, 4)


def test_two_points_of_a_trillion_chunks_are_planned_as_two() -> None:
    z = zarr.zeros((2_000_000, 2_000_000), chunks=(2, 2), dtype="u1")
    plan = z.vindex.plan(([5, 1_999_999], [7, 123_456]))
    assert (plan.chunks, plan.missing, plan.requests, plan.bytes_fetched) == (2, 2, 2, 0)


@given(st.data(), arrays(smallest=2))
def test_the_chunks_of_a_plan_are_those_that_hold_what_is_selected(
    data: st.DataObject, pair: tuple[Any, Values]
) -> None:
    z, model = pair
    rule = data.draw(st.sampled_from(("oindex", "vindex")))
    keys = orthogonal_keys(model.shape) if rule == "oindex" else point_keys(model.shape, mixed=True)
    key = data.draw(keys)
    axes = [np.repeat(np.arange(len(sizes)), sizes) for sizes in z.read_chunk_sizes]
    number = zarr.array(np.ravel_multi_index(np.ix_(*axes), z.cdata_shape), chunks=1)
    touched = np.unique(getattr(number, rule)[key])
    plan = getattr(z, rule).plan(key)
    assert plan.chunks == len(touched)
    assert plan.bytes_used == np.asarray(getattr(z, rule)[key]).size * z.dtype.itemsize


def test_parts_of_large_local_chunks_are_planned_as_parts(tmp_path: Any) -> None:
    z = zarr.open_array(
        str(tmp_path),
        mode="w",
        shape=(2000, 1000),
        chunks=(2000, 1000),
        dtype="f4",
        compressor=None,
    )
    z[...] = 1
    plan = z.plan(slice(0, 10))
    assert plan.chunks == 1
    assert 40_000 <= plan.bytes_fetched < 100_000
    assert plan.amplification == 200


def test_elements_without_a_size_are_planned_by_their_number() -> None:
    z = zarr.create((10,), chunks=4, dtype=str, store=zarr.MemoryStore())
    z[...] = "text"
    plan = z.plan(slice(0, 3))
    assert (plan.elements_used, plan.elements_touched, plan.bytes_used) == (3, 4, None)
    assert str(plan).endswith("uses 3 elements of 4 elements of chunks (amplification 1.33).")


SHAPE, LARGE, SMALL = (4096, 4096), (2048, 2048), (512, 512)
SHARDS: dict[str, Any] = {"shards": SMALL, "chunks": (64, 64), "compressors": None}
RAW: dict[str, Any] = {"compressors": None}
STRATEGIES: dict[str, tuple[dict[str, Any], Any]] = {
    "nothing": ({"chunks": SMALL}, np.s_[5:5, :]),
    "whole chunks": ({"chunks": SMALL}, np.s_[:5, :]),
    "byte ranges": ({"chunks": SMALL, **RAW}, np.s_[:100, :100]),
    "interleaved": ({"chunks": LARGE, **RAW}, np.s_[:1024, :1024]),
    "shard ranges": (SHARDS, np.s_[10:30, 10:30]),
    "parallel shards": (SHARDS, np.s_[:1024, :1024]),
    "cached chunks": ({"chunks": SMALL}, np.s_[:5, :]),
    "batched": ({"chunks": SMALL}, np.s_[:5, :]),
}


@pytest.mark.parametrize("word", STRATEGIES)
def test_a_plan_says_in_a_word_how_the_read_is_done(word: str) -> None:
    options, key = STRATEGIES[word]
    store: Any = {} if word == "batched" else zarr.MemoryStore()
    z = zarr.create_array(store, shape=SHAPE, dtype="f4", **options)
    with zarr.config(threads=4, chunk_cache_bytes=2**20 if word == "cached chunks" else 0):
        plan = z.plan(key)
    assert plan.strategy == word
    assert f"strategy={word!r}" in repr(plan)
    assert (f"({word}) and uses" in str(plan)) == (word != "nothing")


def test_selections_of_every_kind_have_a_strategy() -> None:
    z = zarr.create_array(zarr.MemoryStore(), shape=SHAPE, chunks=LARGE, dtype="f4", **RAW)
    plans = (
        z.plan([1, 5, 7]),
        z.oindex.plan(([1, 5], [2, 3])),
        z.vindex.plan(([1, 5], [2, 3])),
        z.vindex.plan(([1, 5], slice(3))),
        z.blocks.plan((0, 0)),
    )
    assert {plan.strategy for plan in plans} <= set(STRATEGIES)
