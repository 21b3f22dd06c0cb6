"""What shards cost: which keys are asked for, which inner chunks are encoded, which bytes stay.

The requests for parts of a shard are counted in `crates/engine/tests/shards.rs`; here it is what a
user's mapping and a user's codec see of it.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import ShardingCodec


class Mark(numcodecs.abc.Codec):
    """A byte before all others; remembers how often it is put there.

    By appending: without a GIL, threads that add to a number lose some.
    """

    codec_id = "mark_for_shards"
    calls: ClassVar[list[str]] = []

    def encode(self, buf: Any) -> bytes:
        self.calls.append("encode")
        return b"#" + bytes(numcodecs.compat.ensure_contiguous_ndarray(buf).view("u1"))

    def decode(self, buf: Any, out: Any = None) -> Any:
        self.calls.append("decode")
        data = bytes(numcodecs.compat.ensure_contiguous_ndarray(buf).view("u1"))[1:]
        return data if out is None else numcodecs.compat.ndarray_copy(data, out)


class Counting(dict[str, bytes]):
    """A mapping that remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[str, str]] = []

    def __getitem__(self, key: str) -> bytes:
        self.calls.append(("get", key))
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: bytes) -> None:
        self.calls.append(("set", key))
        super().__setitem__(key, value)

    def take(self) -> list[tuple[str, str]]:
        taken = [call for call in self.calls if call[1].startswith("c/")]
        self.calls.clear()
        return sorted(taken)


@pytest.fixture(autouse=True)
def marks() -> Iterator[None]:
    numcodecs.register_codec(Mark)
    Mark.calls.clear()
    yield
    del numcodecs.registry.codec_registry[Mark.codec_id]


def counts() -> tuple[int, int]:
    found = (Mark.calls.count("encode"), Mark.calls.count("decode"))
    Mark.calls.clear()
    return found


def sharded(store: Any, at: str = "end", **keywords: Any) -> zarr.Array:
    return zarr.create_array(
        store,
        shape=(64, 64),
        chunks=(8, 8),
        shards={"shape": (32, 32), "index_location": at},
        dtype="i4",
        compressors=[{"name": "numcodecs.mark_for_shards", "configuration": {}}],
        **keywords,
    )


@pytest.mark.parametrize("at", ["start", "end"])
def test_whole_shards_are_written_without_reading(at: str) -> None:
    store = Counting()
    z = sharded(store, at)
    values = np.arange(64 * 64, dtype="i4").reshape(64, 64) + 1
    for _ in range(2):
        store.take()
        z[...] = values
        assert store.take() == [("set", f"c/{i}/{j}") for i in (0, 1) for j in (0, 1)]
        assert counts() == (64, 0)
    z[32:, :32] = values[:32, :32]
    assert store.take() == [("set", "c/1/0")]


@pytest.mark.parametrize("at", ["start", "end"])
def test_a_partial_write_encodes_only_the_inner_chunks_that_it_touches(at: str) -> None:
    store = Counting()
    z = sharded(store, at)
    values = np.arange(64 * 64, dtype="i4").reshape(64, 64) + 1
    z[...] = values
    before = store["c/0/1"]
    store.take()
    counts()
    # One inner chunk as a whole, one in part, in the same shard.
    z[8:16, 40:50] = 7
    assert store.take() == [("get", "c/0/1"), ("set", "c/0/1")]
    assert counts() == (2, 1)
    after = store["c/0/1"]
    changed = {5, 6}
    for entry, (old, new) in enumerate(zip(_inner(before, at), _inner(after, at), strict=True)):
        assert (old == new) is (entry not in changed)
    values[8:16, 40:50] = 7
    np.testing.assert_array_equal(z[...], values)


def _inner(shard: bytes, at: str) -> list[bytes]:
    """The encoded inner chunks of a shard of 16."""
    index = shard[: 16 * 16] if at == "start" else shard[-16 * 16 - 4 : -4]
    places = np.frombuffer(index, "<u8").reshape(16, 2)
    return [shard[offset : offset + length] for offset, length in places.tolist()]


def test_points_lists_and_masks_touch_no_more_than_slices_do() -> None:
    store = Counting()
    z = sharded(store)
    values = np.arange(64 * 64, dtype="i4").reshape(64, 64) + 1
    z[...] = values
    for write in (
        lambda: z.vindex.__setitem__(([1, 2, 9], [1, 2, 33]), [5, 6, 7]),
        lambda: z.oindex.__setitem__(([1, 9], [3]), 5),
    ):
        store.take()
        counts()
        write()
        touched = {key for _, key in store.take()}
        encoded, decoded = counts()
        assert touched <= {"c/0/0", "c/0/1"}
        assert encoded == decoded == 2


def test_a_mapping_is_asked_once_for_each_shard_and_decoding_follows_the_selection() -> None:
    store = Counting()
    z = sharded(store)
    values = np.arange(64 * 64, dtype="i4").reshape(64, 64) + 1
    z[...] = values
    store.take()
    counts()
    np.testing.assert_array_equal(z[::16, ::16], values[::16, ::16])
    assert store.take() == [("get", f"c/{i}/{j}") for i in (0, 1) for j in (0, 1)]
    assert counts() == (0, 16)
    assert z[3, 3] == values[3, 3]
    assert (store.take(), counts()) == ([("get", "c/0/0")], (0, 1))


def test_shards_in_shards_are_written_and_read_by_their_inner_chunks() -> None:
    store = Counting()
    mark = {"name": "numcodecs.mark_for_shards", "configuration": {}}
    z = zarr.create_array(
        store,
        shape=64,
        chunks=32,
        shards=64,
        dtype="u1",
        serializer=ShardingCodec(
            chunk_shape=(4,), codecs=[{"name": "bytes"}, mark], index_location="start"
        ),
        compressors=None,
    )
    values = np.arange(1, 65, dtype="u1")
    z[:] = values
    assert (store.take(), counts()) == ([("set", "c/0")], (16, 0))
    z[5] = 9
    assert (store.take(), counts()) == ([("get", "c/0"), ("set", "c/0")], (1, 1))
    values[5] = 9
    np.testing.assert_array_equal(z[:], values)
    assert counts() == (0, 16)
    assert z[17] == 18
    assert counts() == (0, 1)


class Replaced(dict[str, bytes]):
    """A mapping in which the shard is replaced between any two reads of it."""

    def __init__(self, *versions: dict[str, bytes]) -> None:
        super().__init__(versions[0])
        self.versions = versions
        self.looks = 0

    def __getitem__(self, key: str) -> bytes:
        self.looks += key.startswith("c/")
        return self.versions[self.looks % len(self.versions)][key]


@pytest.mark.parametrize(
    "read",
    [
        lambda z: z[3:40, 5:60],
        lambda z: z[::9, ::-7],
        lambda z: z.oindex[[1, 20, 63], [2, 50, 60]],
        lambda z: z.vindex[[1, 20, 63], [2, 50, 60]],
        lambda z: z.blocks[0, 0],
    ],
    ids=["slices", "steps", "orthogonal", "points", "block"],
)
def test_a_shard_of_a_mapping_that_is_replaced_while_it_is_read_is_read_in_one_version(
    read: Any,
) -> None:
    versions: list[dict[str, bytes]] = [{}, {}]
    for number, values in enumerate(versions):
        noise = np.random.default_rng(number).integers(0, 1000, (64, 64)) + 1000 * number
        zarr.create_array(zarr.KVStore(values), data=noise, chunks=(8, 8), shards=(64, 64))
    array = zarr.open_array(zarr.KVStore(Replaced(*versions)), mode="r")
    for _ in range(2):
        assert len(np.unique(read(array) // 1000)) == 1
