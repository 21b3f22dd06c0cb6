"""`read_encoded`: its table, decoded by libraries on the processor, gives the values."""

import zlib
from typing import Any

import numcodecs
import numcodecs.lz4
import numcodecs.zstd
import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix import ml
from zarrix.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, ZstdCodec

VALUES = np.random.default_rng(8).integers(0, 40, (13, 30, 21)).astype("i4")


def decompressed(codec: str, data: bytes, size: int) -> bytes:
    if codec == "zstd":
        return bytes(numcodecs.zstd.decompress(data))
    if codec == "lz4":
        return bytes(numcodecs.lz4.decompress(size.to_bytes(4, "little") + data))
    if codec == "deflate":
        return zlib.decompress(data, wbits=-15)
    assert codec == "none"
    return data


def unshuffled(kind: str, block: Any, itemsize: int) -> Any:
    """What the shuffles of Blosc and numcodecs undo, in NumPy."""
    count = len(block) // itemsize
    whole = count * itemsize
    if kind == "byte":
        elements = block[:whole].reshape(itemsize, count).T
    else:
        bits = np.unpackbits(block[:whole], bitorder="little").reshape(itemsize * 8, count)
        elements = np.packbits(bits.T.reshape(count, itemsize, 8), axis=2, bitorder="little")
    return np.concatenate([elements.reshape(-1), block[whole:]])


def decoded(encoded: Any) -> Any:
    """The elements, by the table alone."""
    buffer = np.full(encoded.decoded_bytes, 0xA5, np.uint8)
    data = encoded.data[: encoded.nbytes]
    for codec, source, length, destination, size in encoded.streams.tolist():
        assert source + length <= len(data)
        raw = decompressed(codec, bytes(data[source : source + length]), size)
        assert len(raw) == size
        buffer[destination : destination + size] = np.frombuffer(raw, np.uint8)
    for kind, begin, size, itemsize in encoded.blocks.tolist():
        buffer[begin : begin + size] = unshuffled(kind, buffer[begin : begin + size], itemsize)
    result = np.full(encoded.box, 0, encoded.dtype)
    for begin, shape, order, start, count, target in encoded.parts:
        where = tuple(slice(t, t + c) for t, c in zip(target, count, strict=True))
        if begin < 0:
            result[where] = encoded.fill_value
            continue
        size = int(np.prod(shape)) * encoded.dtype.itemsize
        stored = buffer[begin : begin + size].view(encoded.dtype).reshape([shape[n] for n in order])
        chunk = stored.transpose(np.argsort(order))
        inside = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
        result[where] = chunk[inside]
    return result.reshape(encoded.shape)


def v2(compressor: Any, **keywords: Any) -> Any:
    return lambda values: zarr.array(
        values, chunks=(5, 16, 8)[: values.ndim], compressor=compressor, zarr_format=2, **keywords
    )


def v3(*compressors: Any, **keywords: Any) -> Any:
    def make(values: Any) -> Any:
        z = zarr.create_array(
            {}, shape=values.shape, dtype=values.dtype, chunks=(5, 16, 8)[: values.ndim],
            compressors=list(compressors) or None, **keywords,
        )  # fmt: skip
        z[...] = values
        return z

    return make


def nested(values: Any) -> Any:
    inner = ShardingCodec(chunk_shape=(5, 8, 8), codecs=(BytesCodec(), ZstdCodec()))
    z = zarr.create_array(
        {}, shape=values.shape, dtype=values.dtype, chunks=(10, 16, 16), compressors=None,
        serializer=ShardingCodec(chunk_shape=(5, 16, 8), codecs=(inner,)),
    )  # fmt: skip
    z[...] = values
    return z


SHARDS = {"shards": (10, 32, 16)}
# The layout, and whether a device can decode it.
LAYOUTS: dict[str, tuple[Any, bool]] = {
    "none": (v2(None), True),
    "zstd": (v2(numcodecs.Zstd(3)), True),
    "lz4": (v2(numcodecs.LZ4()), True),
    "zlib": (v2(numcodecs.Zlib(6)), True),
    "gzip": (v2(numcodecs.GZip(6)), True),
    "F": (v2(numcodecs.Zstd(3), order="F"), True),
    "shuffle, zlib": (v2(numcodecs.Zlib(6), filters=[numcodecs.Shuffle(4)]), True),
    "delta": (v2(numcodecs.Zstd(3), filters=[numcodecs.Delta("i4")]), False),
    "bz2": (v2(numcodecs.BZ2(3)), False),
    **{
        f"blosc {name} {shuffle}": (v2(numcodecs.Blosc(name, 5, shuffle, blocksize)), is_native)
        for name, is_native in (
            ("lz4", True),
            ("lz4hc", True),
            ("zstd", True),
            ("zlib", True),
            ("blosclz", False),
        )
        for shuffle, blocksize in ((0, 0), (1, 0), (2, 0), (1, 512), (2, 1024))
    },
    "v3 blosc": (v3(BloscCodec(cname="zstd", shuffle="bitshuffle")), True),
    "v3 gzip": (v3(GzipCodec(level=5)), True),
    "v3 crc32c": (v3(ZstdCodec(), Crc32cCodec()), False),
    "v3 big": (v3(ZstdCodec(), serializer=BytesCodec(endian="big")), False),
    "shards": (v3(ZstdCodec(), **SHARDS), True),
    "shards of Blosc": (v3(BloscCodec(cname="lz4", shuffle="shuffle"), **SHARDS), True),
    "shards of none": (v3(**SHARDS), True),
    "nested shards": (nested, False),
}
SELECTIONS = [
    ...,
    np.s_[3],
    np.s_[2:11, 5:29, 7:9],
    np.s_[-1, :, 20],
    np.s_[4:4],
    np.s_[12:, 15:17],
]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_table_gives_the_values(name: str) -> None:
    make, is_native = LAYOUTS[name]
    z = make(VALUES)
    memory = bytearray(1 << 20)
    for selection in SELECTIONS:
        encoded = ml.read_encoded(z, selection)
        assert np.array_equal(decoded(encoded), VALUES[selection])
        again = ml.read_encoded(z, selection, into=memory)
        assert np.array_equal(decoded(again), VALUES[selection])
        assert again.nbytes == encoded.nbytes
    codecs = set(ml.read_encoded(z).streams["codec"].tolist())
    if name not in ("none", "shards of none"):
        assert (codecs != {"none"}) == is_native


@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "f8", "c16", "b1", "M8[s]", "S3", "U2"])
@pytest.mark.parametrize("name", ["zstd", "F", "blosc lz4 1", "blosc zstd 2", "v3 blosc", "shards"])
def test_each_dtype(name: str, dtype: str) -> None:
    values = VALUES.astype(dtype)
    z = LAYOUTS[name][0](values)
    assert decoded(ml.read_encoded(z, np.s_[2:11, 5:29])).tobytes() == values[2:11, 5:29].tobytes()


@settings(max_examples=60)
@given(
    name=st.sampled_from(sorted(LAYOUTS)),
    itemsize=st.sampled_from([1, 2, 4, 8]),
    kind=st.sampled_from(["zeros", "random", "ramp"]),
    bounds=st.tuples(*[st.tuples(st.integers(0, 21), st.integers(0, 21))] * 3),
)
def test_every_box_and_content(name: str, itemsize: int, kind: str, bounds: Any) -> None:
    count = int(np.prod(VALUES.shape))
    content = {
        "zeros": np.zeros(count),
        "random": np.random.default_rng(1).integers(0, 2**62, count),
        "ramp": np.arange(count) // 9,
    }
    values = content[kind].astype(f"i{itemsize}" if name != "delta" else "i4").reshape(VALUES.shape)
    box = tuple(slice(min(pair), max(pair)) for pair in bounds)
    assert np.array_equal(decoded(ml.read_encoded(LAYOUTS[name][0](values), box)), values[box])


def test_missing_chunks_are_the_fill_value() -> None:
    for options in ({}, SHARDS):
        z = zarr.create_array(
            {}, shape=(20, 40, 20), chunks=(5, 16, 8), dtype="f4", fill_value=np.nan, **options
        )
        z[:5, :16] = 2
        encoded = ml.read_encoded(z, np.s_[:12])
        assert np.array_equal(decoded(encoded), z[:12], equal_nan=True)
        assert (encoded.parts["begin"] == -1).any()


@pytest.mark.parametrize("name", ["zstd", "lz4", "zlib", "gzip", "blosc lz4 1", "blosc zlib 2"])
def test_damaged_chunks_lead_nowhere_outside(name: str) -> None:
    """The table never names bytes that are not there, for any damage of a chunk."""
    random = np.random.default_rng(3)
    z = LAYOUTS[name][0](VALUES)
    key = "0.0.0"
    sound = bytes(z.store[key])
    for number in range(200):
        value = bytearray(sound)
        for at in random.integers(0, min(len(value), 64 if number % 2 else len(value)), 3):
            value[at] = random.integers(0, 256)
        z.store[key] = bytes(value[: random.integers(0, len(value))] if number % 5 == 0 else value)
        try:
            encoded = ml.read_encoded(z, np.s_[:5])
        except zarr.errors.CorruptChunkError:
            continue
        ends = encoded.streams["source"] + encoded.streams["source_bytes"]
        assert (encoded.streams["source"] >= 0).all()
        assert (ends <= encoded.nbytes).all()
        targets = encoded.streams["destination"] + encoded.streams["destination_bytes"]
        assert (targets <= encoded.decoded_bytes).all()
        blocks = encoded.blocks["begin"] + encoded.blocks["bytes"]
        assert (blocks <= encoded.decoded_bytes).all()


def test_a_damaged_index_of_a_shard_is_an_error() -> None:
    z = LAYOUTS["shards"][0](VALUES)
    value = bytearray(z.store["c/0/0/0"])
    value[-9] ^= 1
    z.store["c/0/0/0"] = bytes(value)
    with pytest.raises(zarr.errors.CorruptChunkError):
        ml.read_encoded(z)


def test_what_is_not_taken_is_an_error() -> None:
    z = zarr.array(VALUES, chunks=(5, 16, 8))
    with pytest.raises(ValueError, match="a step of 1"):
        ml.read_encoded(z, np.s_[::2])
    with pytest.raises(ValueError, match="a step of 1"):
        ml.read_encoded(z, np.s_[None])
    with pytest.raises(ValueError, match="more than"):
        ml.read_encoded(z, into=bytearray(10))
    with pytest.raises(TypeError, match="not views"):
        ml.read_encoded(z.astype("f8"))
    with pytest.raises(TypeError, match="fixed-size"):
        ml.read_encoded(zarr.array(np.array(["a", "bc"], "O"), dtype=str))
    scalar = zarr.array(np.array(5.5))
    assert decoded(ml.read_encoded(scalar)) == 5.5
