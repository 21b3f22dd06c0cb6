"""What may stand in a chain of v3, and where: other shapes, orders, shards behind filters.

Chunks are decoded a second time here, by NumPy and the specification alone.
"""

import json
import struct
from collections.abc import Iterator
from itertools import product
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import metadata_of
from zarrix.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec, ZstdCodec
from zarrix.errors import CorruptChunkError, MetadataError

NONE: dict[str, Any] = {"compressors": None}


def reshape(*shape: Any) -> dict[str, Any]:
    return {"name": "reshape", "configuration": {"shape": list(shape)}}


def turn(*order: int) -> TransposeCodec:
    return TransposeCodec(order=order)


def delta(dtype: str = "<i4") -> numcodecs.Delta:
    return numcodecs.Delta(dtype)


def ramp(*shape: int, dtype: str = "i4") -> np.ndarray[Any, Any]:
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 1001).astype(dtype).reshape(shape)


def exercise(z: Any, values: np.ndarray[Any, Any]) -> None:
    """Whole, in part, by points, and a part written."""
    z[...] = values
    again = zarr.open_array(z.store, mode="r+")
    np.testing.assert_array_equal(again[...], values)
    part = tuple(slice(1, size, 2) for size in values.shape)
    np.testing.assert_array_equal(again[part], values[part])
    points = tuple(np.array([0, size - 1, size // 2]) for size in values.shape)
    np.testing.assert_array_equal(again.vindex[points], values[points])
    again[part] = values[part] + 1
    changed = values.copy()
    changed[part] += 1
    np.testing.assert_array_equal(zarr.open_array(z.store, mode="r")[...], changed)


CHAINS: dict[str, tuple[list[Any], Any]] = {
    # Filters, and what they make of a chunk of shape (4, 6, 2).
    "reshape": ([reshape([0, 1], 2)], lambda c: c.reshape(24, 2)),
    "reshape-rest": ([reshape(-1)], lambda c: c.reshape(-1)),
    "reshape-ones": ([reshape(1, [0], [], [1], 1, [2])], lambda c: c.reshape(1, 4, 1, 6, 1, 2)),
    "reshape-split": ([reshape([0], 3, 2, [2])], lambda c: c.reshape(4, 3, 2, 2)),
    "reshape-turn": ([reshape(8, 6), turn(1, 0)], lambda c: c.reshape(8, 6).T),
    "turn-reshape": (
        [turn(2, 0, 1), reshape(-1, 4)],
        lambda c: c.transpose(2, 0, 1).reshape(-1, 4),
    ),
    "turn-reshape-turn": (
        [turn(1, 2, 0), reshape(3, 4, 4), turn(2, 0, 1)],
        lambda c: c.transpose(1, 2, 0).reshape(3, 4, 4).transpose(2, 0, 1),
    ),
    "delta-turn": (
        [delta(), turn(2, 1, 0)],
        lambda c: np.diff(c.reshape(-1), prepend=np.int32(0)).reshape(c.shape).transpose(2, 1, 0),
    ),
    "turn-delta-turn": (
        [turn(2, 1, 0), delta(), turn(1, 0, 2)],
        lambda c: (
            np.diff(c.transpose(2, 1, 0).reshape(-1), prepend=np.int32(0))
            .reshape(2, 6, 4)
            .transpose(1, 0, 2)
        ),
    ),
    "reshape-delta": (
        [reshape(-1), delta()],
        lambda c: np.diff(c.reshape(-1), prepend=np.int32(0)),
    ),
}


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("endian", ["little", "big"])
def test_filters_in_any_order_give_what_numpy_gives(name: str, endian: str) -> None:
    filters, encoded = CHAINS[name]
    values = ramp(8, 6, 6)
    z = zarr.create_array(
        {}, shape=values.shape, chunks=(4, 6, 2), dtype="i4", filters=filters,
        serializer=BytesCodec(endian=endian), **NONE,
    )  # fmt: skip
    z[...] = values
    for at in product(range(2), range(1), range(3)):
        chunk = values[tuple(slice(i * n, i * n + n) for i, n in zip(at, (4, 6, 2), strict=True))]
        want = encoded(chunk).astype("<i4" if endian == "little" else ">i4").tobytes()
        assert bytes(z.store["c/" + "/".join(map(str, at))]) == want
    assert metadata_of(z).foreign_codecs == ()
    exercise(z, values)


@pytest.mark.parametrize("name", CHAINS)
def test_filters_in_any_order_work_inside_shards(name: str) -> None:
    values = ramp(8, 12, 6)
    z = zarr.create_array(
        {}, shape=values.shape, chunks=(4, 6, 2), shards=(8, 6, 6), dtype="i4",
        filters=CHAINS[name][0],
    )  # fmt: skip
    exercise(z, values)


def read_shard(stored: bytes, grid: tuple[int, ...], index: str = "<") -> Iterator[bytes | None]:
    """Inner chunks in C order of a shard whose index is at its end, with crc32c behind it."""
    count = int(np.prod(grid))
    entries = struct.unpack(f"{index}{2 * count}Q", stored[-16 * count - 4 : -4])
    for offset, length in zip(entries[::2], entries[1::2], strict=True):
        yield None if offset == 2**64 - 1 else stored[offset : offset + length]


@pytest.mark.parametrize(
    ("filters", "inner", "encoded"),
    [
        ([turn(1, 0)], (3, 2), lambda c: c.T),
        ([delta()], (2, 3), lambda c: np.diff(c.reshape(-1), prepend=np.int32(0)).reshape(c.shape)),
        ([turn(1, 0), delta()], (3, 2),
         lambda c: np.diff(c.T.reshape(-1), prepend=np.int32(0)).reshape(6, 4)),
        ([reshape(-1)], (6,), lambda c: c.reshape(-1)),
        ([reshape(2, 12), turn(1, 0)], (3, 2), lambda c: c.reshape(2, 12).T),
        ([numcodecs.AsType("<i2", "<i4")], (2, 3), lambda c: c.astype("i2")),
        ([numcodecs.AsType("<i8", "<i4"), delta("<i8"), turn(1, 0)], (3, 4),
         lambda c: np.diff(c.astype("i8").reshape(-1), prepend=0).reshape(c.shape).T),
    ],
)  # fmt: skip
def test_filters_before_a_shard_work_on_the_whole_shard(
    filters: list[Any], inner: tuple[int, ...], encoded: Any
) -> None:
    values = ramp(8, 6)
    shard = ShardingCodec(chunk_shape=inner, codecs=[BytesCodec()])
    z = zarr.create_array(
        {}, shape=(8, 6), chunks=(4, 6), dtype="i4", filters=filters, serializer=shard, **NONE
    )
    z[...] = values
    for number in range(2):
        want = encoded(values[4 * number : 4 * number + 4])
        grid = tuple(n // m for n, m in zip(want.shape, inner, strict=True))
        parts = list(read_shard(bytes(z.store[f"c/{number}/0"]), grid))
        for at, part in zip(product(*map(range, grid)), parts, strict=True):
            here = tuple(slice(i * n, i * n + n) for i, n in zip(at, inner, strict=True))
            assert part == want[here].tobytes()
    exercise(z, values)


def test_inner_chunks_that_are_not_there_are_the_fill_value_before_the_filters() -> None:
    shard = ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec()])
    z = zarr.create_array(
        {}, shape=6, chunks=6, dtype="i4", filters=delta(), serializer=shard, fill_value=5, **NONE
    )
    assert z[...].tolist() == [5] * 6
    z[...] = 1
    stored = bytearray(z.store["c/0"])
    # The second of three entries: as if its chunk had not been stored.
    stored[-36:-20] = b"\xff" * 16
    index = bytes(stored[-52:-4])
    stored[-4:] = crc32c(index)
    z.store["c/0"] = bytes(stored)
    # Differences 1, 0, then 5 twice, then 0.
    assert zarr.open_array(z.store, mode="r")[...].tolist() == [1, 1, 6, 11, 11, 11]


def crc32c(data: bytes) -> bytes:
    """The checksum, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize(
    "index_codecs",
    [
        [BytesCodec()],
        [BytesCodec(endian="big")],
        [BytesCodec(endian="big"), Crc32cCodec()],
        [BytesCodec(), numcodecs.CRC32(), Crc32cCodec()],
        [BytesCodec(), numcodecs.Fletcher32()],
        [BytesCodec(), numcodecs.Shuffle(8)],
        [turn(2, 1, 0), BytesCodec()],
        [turn(0, 2, 1), BytesCodec(endian="big"), Crc32cCodec()],
        [reshape(-1), BytesCodec()],
    ],
)
def test_every_index_codec_of_a_fixed_size_works(index_codecs: list[Any], location: str) -> None:
    values = ramp(8, 12)
    shard = ShardingCodec(
        chunk_shape=(2, 3),
        codecs=[BytesCodec(), ZstdCodec()],
        index_codecs=index_codecs,
        index_location=location,
    )
    for shape in ((8, 12), (4, 6)):
        z = zarr.create_array(
            {}, shape=(8, 12), chunks=shape, dtype="i4", filters=None, serializer=shard, **NONE
        )
        exercise(z, values)
    nested = ShardingCodec(chunk_shape=(4, 6), codecs=[shard], index_codecs=[BytesCodec()])
    z = zarr.create_array(
        {}, shape=(8, 12), chunks=(8, 12), dtype="i4", filters=None, serializer=nested, **NONE
    )
    exercise(z, values)


def test_a_big_endian_index_is_big_endian() -> None:
    index = [BytesCodec(endian="big"), Crc32cCodec()]
    shard = ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec()], index_codecs=index)
    z = zarr.create_array({}, shape=4, chunks=4, dtype="u1", serializer=shard, **NONE)
    z[...] = [1, 2, 3, 4]
    stored = bytes(z.store["c/0"])
    assert list(read_shard(stored, (2,), ">")) == [b"\1\2", b"\3\4"]


def test_a_transposed_index_is_transposed() -> None:
    index = [turn(1, 0), BytesCodec()]
    shard = ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec()], index_codecs=index)
    z = zarr.create_array({}, shape=4, chunks=4, dtype="u1", serializer=shard, **NONE)
    z[...] = [1, 2, 3, 4]
    offsets_and_lengths = struct.unpack("<4Q", bytes(z.store["c/0"])[-32:])
    assert offsets_and_lengths == (0, 2, 2, 2)


@pytest.mark.parametrize("index", [[BytesCodec(), ZstdCodec()], [BytesCodec(), numcodecs.BZ2()]])
def test_an_index_that_is_compressed_is_refused(index: list[Any]) -> None:
    def make() -> None:
        shard = ShardingCodec(chunk_shape=(2,), codecs=[BytesCodec()], index_codecs=index)
        zarr.create_array({}, shape=4, chunks=4, dtype="u1", serializer=shard, **NONE)

    with pytest.raises(MetadataError, match="'index_codecs' whose output has no fixed length"):
        make()


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ([[1], [0], [2]], "its axes have to ascend"),
        ([[1, 0], [2]], "its axes have to ascend"),
        ([[0, 1], [1, 2]], "its axes have to ascend"),
        ([-1, -1], "-1 to be there once"),
        ([5, -1], "does not fit into"),
        ([47], "does not fit into"),
        ([6, [1], 2, 2], "does not fit into"),
        ([2, [0], 6], "are not axis 1"),
        ([[0, 2], 6], "are not axis 0"),
        ([8, [1]], "are not axis 1"),
        ([0, -1], "lengths of at least 1"),
        ([[3], -1], "axes below 3"),
        ([True, -1], "lengths of at least 1"),
        ("all", "expected a list"),
        (None, "expected a list"),
    ],
)
def test_a_shape_that_breaks_the_rules_of_reshape_is_refused(shape: Any, words: str) -> None:
    codec = {"name": "reshape", "configuration": {"shape": shape}}
    with pytest.raises(MetadataError, match=words) as caught:
        zarr.create_array({}, shape=(4, 6, 2), chunks=(4, 6, 2), dtype="i4", filters=codec)
    assert "key 'codecs': reshape has the 'shape'" in str(caught.value)


def test_elements_without_a_size_are_reshaped_too() -> None:
    values = np.array([["a", "b"], ["", "dd"]], object)
    z = zarr.create_array({}, data=values, dtype=str, filters=[reshape(-1)])
    assert z[...].tolist() == values.tolist()
    with pytest.raises(MetadataError, match="'transpose' after 'reshape'"):
        zarr.create_array({}, data=values, dtype=str, filters=[reshape(1, -1), turn(1, 0)])
    shard = ShardingCodec(chunk_shape=(2,), codecs=["vlen-utf8"])
    with pytest.raises(MetadataError, match="'sharding_indexed' after 'reshape'"):
        zarr.create_array({}, data=values, dtype=str, filters=[reshape(-1)], serializer=shard)


def test_an_array_of_shards_behind_filters_says_what_is_read_as_one() -> None:
    shard = ShardingCodec(chunk_shape=(6,), codecs=[BytesCodec()])
    z = zarr.create_array(
        {}, shape=(8, 6), chunks=(4, 6), dtype="i4", filters=reshape(-1), serializer=shard, **NONE
    )
    assert (z.chunks, z.shards) == ((4, 6), None)
    assert z.order == "C"
    assert [one.name for one in z.filters] == ["reshape"]
    assert z.serializer.name == "sharding_indexed"


# N5


def n5(*compressors: Any, axes: int = 2, endian: str | None = "big") -> dict[str, Any]:
    order = list(reversed(range(axes)))
    chain: list[Any] = [{"name": "transpose", "configuration": {"order": order}}]
    chain.append({"name": "bytes", **({"configuration": {"endian": endian}} if endian else {})})
    return {"name": "n5_default", "configuration": {"codecs": [*chain, *compressors]}}


def n5_array(dtype: str, codec: Any, **keywords: Any) -> Any:
    return zarr.create_array(
        {}, shape=(5, 7), chunks=(2, 3), dtype=dtype, serializer=codec, filters=None,
        chunk_key_encoding={"name": "v2", "separator": "/"}, **{**NONE, **keywords},
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
@pytest.mark.parametrize("packer", [None, "gzip", "zstd", "blosc"])
def test_blocks_of_n5(dtype: str, packer: str | None) -> None:
    size = np.dtype(dtype).itemsize
    packers = {
        "gzip": {"name": "gzip", "configuration": {"level": 2}},
        "zstd": {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
        "blosc": {
            "name": "blosc",
            "configuration": {
                "cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": size, "blocksize": 0
            },
        },
    }  # fmt: skip
    z = n5_array(
        dtype, n5(*([packers[packer]] if packer else []), endian="big" if size > 1 else None)
    )
    exercise(z, ramp(5, 7, dtype=dtype))
    z[...] = ramp(5, 7, dtype=dtype)
    stored = bytes(z.store["1/0"])
    assert stored[:12] == struct.pack(">HHII", 0, 2, 2, 3)
    if packer is None:
        block = ramp(5, 7, dtype=dtype)[2:4, 0:3]
        assert stored[12:] == block.T.astype(f">{dtype}").tobytes()


def test_blocks_of_n5_that_the_edge_cuts_are_read() -> None:
    z = n5_array("i2", n5(), fill_value=9)
    values = ramp(5, 7, dtype="i2")
    z[...] = values
    for row, column in product(range(3), range(3)):
        block = values[2 * row : 2 * row + 2, 3 * column : 3 * column + 3]
        header = struct.pack(">HHII", 0, 2, *block.shape)
        z.store[f"{row}/{column}"] = header + block.T.astype(">i2").tobytes()
    np.testing.assert_array_equal(zarr.open_array(z.store, mode="r")[...], values)
    z.resize((6, 9))
    grown = zarr.open_array(z.store, mode="r")[...]
    np.testing.assert_array_equal(grown[:5, :7], values)
    assert set(grown[5:].ravel()) | set(grown[:, 7:].ravel()) == {9}


@pytest.mark.parametrize(
    "stored",
    [b"", struct.pack(">HHII", 1, 2, 2, 3), struct.pack(">HHII", 0, 2, 2**31, 2**31), b"\0" * 11],
)
def test_a_block_of_n5_that_lies_is_corrupt(stored: bytes) -> None:
    z = n5_array("i2", n5())
    z.store["0/0"] = stored
    with pytest.raises(CorruptChunkError, match="n5_default"):
        z[0, 0]


@pytest.mark.parametrize(
    ("dtype", "codec", "words"),
    [
        ("i2", n5(endian="little"), "not big-endian"),
        ("i2", n5(endian=None), "not big-endian"),
        ("f2", n5(), "not for float16"),
        ("c8", n5(), "not for complex64"),
        ("i2", n5(axes=1), "expected 'transpose' with the order \\[1, 0\\]"),
        ("i2", n5("crc32c", "crc32c"), "at most one codec"),
        ("i2", {"name": "n5_default"}, "expected a list of codecs"),
        ("i2", {"name": "n5_default", "configuration": {"codecs": ["bytes"]}}, "expected 'tran"),
        ("i2", n5({"name": "numcodecs.delta", "configuration": {"dtype": "<i2"}}), "after a codec"),
    ],
)
def test_what_n5_cannot_store_is_refused(dtype: str, codec: Any, words: str) -> None:
    with pytest.raises(MetadataError, match=words) as caught:
        n5_array(dtype, codec)
    assert "n5_default" in str(caught.value)


def test_the_documents_keep_the_chain_as_it_was_given() -> None:
    filters = [delta(), turn(1, 0)]
    shard = ShardingCodec(chunk_shape=(6, 4), codecs=[BytesCodec()])
    z = zarr.create_array(
        {}, shape=(8, 6), chunks=(4, 6), dtype="i4", filters=filters, serializer=shard, **NONE
    )
    names = [one["name"] for one in json.loads(bytes(z.store["zarr.json"]))["codecs"]]
    assert names == ["numcodecs.delta", "transpose", "sharding_indexed"]
