"""Large chunks that all threads encode together: the same bytes as one thread makes, and the data.

The engine does so where a call writes fewer chunks than threads could share evenly; those here are
large enough for that.
"""

from collections.abc import Callable
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import BloscCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec

SHAPE = (6, 300, 400)


def values(dtype: str) -> np.ndarray[Any, Any]:
    """Smooth numbers with some noise, and a part that is nothing but 0."""
    random = np.random.default_rng(5)
    ramp = np.add.outer(np.arange(6), np.add.outer(np.arange(300), np.arange(400)))
    data = (ramp + random.integers(0, 3, SHAPE)).astype(dtype)
    data[:2] = 0
    return data


BLOSC = {
    "lz4": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.SHUFFLE),
    "lz4hc": numcodecs.Blosc("lz4hc", 3, numcodecs.Blosc.BITSHUFFLE),
    "zstd": numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE),
    "no shuffle": numcodecs.Blosc("lz4", 1, numcodecs.Blosc.NOSHUFFLE),
    "small blocks": numcodecs.Blosc("zstd", 1, numcodecs.Blosc.SHUFFLE, blocksize=4096),
    "blocks that divide no element": numcodecs.Blosc("lz4", 5, 0, blocksize=4099),
    "stored": numcodecs.Blosc("lz4", 0, numcodecs.Blosc.SHUFFLE),
    "encoded by c-blosc": numcodecs.Blosc("blosclz", 5, numcodecs.Blosc.SHUFFLE),
    "no blocks": numcodecs.Zstd(1),
}
BUFFERS: dict[str, Callable[[np.ndarray[Any, Any]], Any]] = {
    "contiguous": lambda data: data,
    "transposed": lambda data: np.asfortranarray(data),
    "backwards": lambda data: np.ascontiguousarray(data[::-1, :, ::-1])[::-1, :, ::-1],
    "every other": lambda data: np.repeat(data, 2, axis=2)[..., ::2],
    "one row for all": lambda data: np.broadcast_to(data[3, 7], SHAPE),
}


def stored(threads: int, value: Any, write: Callable[[Any], Any], **keywords: Any) -> Any:
    """What writing with so many threads leaves in a store, and the array."""
    store: dict[str, bytes] = {}
    with zarr.config(threads=threads):
        z = zarr.create_array(store, shape=SHAPE, dtype=value.dtype, **keywords)
        write(z)
    return {key: bytes(data) for key, data in store.items()}, z


def check(value: Any, write: Callable[[Any], Any] | None = None, **keywords: Any) -> None:
    def whole(z: Any) -> None:
        z[...] = value

    alone, _ = stored(1, value, write or whole, **keywords)
    shared, z = stored(3, value, write or whole, **keywords)
    assert shared == alone
    if write is None:
        assert np.array_equal(z[...], value)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("buffer", BUFFERS)
@pytest.mark.parametrize("name", BLOSC)
def test_a_chunk_has_the_bytes_that_one_thread_makes(name: str, buffer: str, order: Any) -> None:
    value = BUFFERS[buffer](values("u2"))
    check(value, chunks=SHAPE, compressors=BLOSC[name], order=order, zarr_format=2)


@pytest.mark.parametrize("dtype", ["u1", ">i4", "f8", "M8[ns]", "S3", "c16"])
def test_elements_of_every_size_are_cut_where_they_end(dtype: str) -> None:
    value = np.arange(np.prod(SHAPE)).astype("i8").astype(dtype).reshape(SHAPE)
    check(value, chunks=SHAPE, compressors=BLOSC["zstd"], zarr_format=2)


def test_noise_is_stored_as_it_is() -> None:
    value = np.random.default_rng(1).integers(0, 2**32, SHAPE, "u4")
    for buffer in ("contiguous", "transposed"):
        check(BUFFERS[buffer](value), chunks=SHAPE, compressors=BLOSC["lz4"], zarr_format=2)


def shards(*, location: Any = "end", inner: Any = (1, 60, 80), codecs: Any = None) -> Any:
    codec = ShardingCodec(
        chunk_shape=inner,
        codecs=codecs or [zarr.codecs.BytesCodec(), BloscCodec(cname="lz4", typesize=2)],
        index_location=location,
    )
    return {"chunks": SHAPE, "serializer": codec, "zarr_format": 3}


SHARDS = {
    "index at the end": {"compressors": None, **shards()},
    "index at the start": {"compressors": None, **shards(location="start")},
    "under a codec": {"compressors": [GzipCodec(), Crc32cCodec()], **shards()},
    "through a transpose": {
        "filters": [TransposeCodec(order=(2, 0, 1))],
        "compressors": None,
        **shards(inner=(80, 1, 60)),
    },
    "shards in shards": {
        "compressors": None,
        **shards(inner=(3, 150, 400), codecs=[shards(inner=(1, 50, 100))["serializer"]]),
    },
}


@pytest.mark.parametrize("empty", [False, True], ids=["without fill", "with fill"])
@pytest.mark.parametrize("buffer", ["contiguous", "transposed", "one row for all"])
@pytest.mark.parametrize("name", SHARDS)
def test_a_shard_has_the_bytes_that_one_thread_makes(name: str, buffer: str, empty: bool) -> None:
    value = BUFFERS[buffer](values("u2"))
    check(value, **SHARDS[name], config={"write_empty_chunks": empty})


@pytest.mark.parametrize("name", SHARDS)
def test_parts_of_shards_and_what_lies_at_the_edge(name: str) -> None:
    def write(z: Any) -> None:
        z[...] = 7
        z[1:5, 10:290] = values("u2")[1:5, 10:290]
        z.resize((6, 300, 450))
        z[..., 300:] = 9

    check(values("u2"), write, **SHARDS[name])


@pytest.mark.parametrize("keywords", [{"compressors": BLOSC["lz4"], "chunks": SHAPE}, shards()])
def test_nothing_but_fill_is_not_stored_and_takes_away_what_was(keywords: Any) -> None:
    def write(z: Any) -> None:
        z[...] = 1
        z[...] = 0

    without = {"zarr_format": 2} | keywords | {"config": {"write_empty_chunks": False}}
    value = values("u2")
    check(value, write, **without)
    left, _ = stored(3, value, write, **without)
    assert set(left) <= {".zarray", ".zattrs", "zarr.json"}


def test_chunks_that_threads_cannot_share_evenly() -> None:
    for rows in (3, 2):
        check(values("f4"), chunks=(rows, 300, 400), compressors=BLOSC["lz4"], zarr_format=2)
