"""The engine counts and hashes stored chunks, in any store and in any number."""

import hashlib
import itertools
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import io_of
from zarrix.errors import CorruptChunkError

STORES = ("directory", "memory", "mapping")
LAYOUTS = ("v2", "v3", "shards")


@pytest.fixture(params=list(itertools.product(STORES, LAYOUTS)), ids="-".join)
def z(request: pytest.FixtureRequest, tmp_path: Path) -> zarr.Array:
    """An array whose numbers of chunks sort otherwise as text than as numbers, with some absent."""
    kind, layout = request.param
    store: Any = {"directory": str(tmp_path / "s"), "memory": zarr.MemoryStore(), "mapping": {}}
    options: dict[str, Any] = {"chunks": (2, 3), "dtype": "i4"}
    if layout == "v2":
        z = zarr.create((24, 36), store=store[kind], path="a/b1", **options)
    else:
        shards = (4, 3) if layout == "shards" else None
        root = zarr.open_group(store[kind], mode="w", zarr_format=3)
        z = root.create_array("a/b1", shape=(24, 36), shards=shards, **options)
    z[:20] = np.arange(20 * 36).reshape(20, 36) + 1
    z.attrs["unit"] = "K"
    return z


def stored_in_order(z: zarr.Array) -> list[bytes]:
    """The values of the stored chunks in C order, by their keys in the specification's words."""
    lengths = z.shards or z.chunks
    grid = [range(-(-n // c)) for n, c in zip(z.shape, lengths, strict=True)]
    name = "{}/{}.{}" if z.metadata.zarr_format == 2 else "{}/c/{}/{}"
    keys = [name.format(z.path, *place) for place in itertools.product(*grid)]
    return [bytes(z.chunk_store[key]) for key in keys if key in z.chunk_store]


@pytest.mark.parametrize("name", ["sha1", "md5", "blake2b"])
def test_a_digest_is_of_chunks_in_c_order_then_metadata_then_attributes(
    z: zarr.Array, name: str
) -> None:
    documents = (".zarray", ".zattrs") if z.metadata.zarr_format == 2 else ("zarr.json",)
    want = hashlib.new(name)
    for value in stored_in_order(z):
        want.update(value)
    for document in documents:
        want.update(z.store[f"{z.path}/{document}"])
    assert z.digest(name) == want.digest()
    assert z.hexdigest(name) == want.hexdigest()
    z[23, 35] = 9
    assert z.digest(name) != want.digest()


def test_chunks_and_bytes_are_counted(z: zarr.Array) -> None:
    stored = stored_in_order(z)
    each = np.prod(z.shards or z.chunks) // np.prod(z.chunks)
    assert z.nchunks_initialized == len(stored) * each == 120
    assert z.nchunks == 144
    prefix = f"{z.path}/"
    values = [bytes(z.store[key]) for key in z.store if key.startswith(prefix)]
    assert z.nbytes_stored == sum(map(len, values)) > sum(map(len, stored))


@pytest.mark.parametrize("count", [100, 10_000])
def test_no_python_runs_for_each_chunk(count: int) -> None:
    z = zarr.create((count,), chunks=1, dtype="i4", compressor=None)
    z[...] = np.arange(count) + 1
    calls = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        z.digest()
        assert z.nchunks_initialized == count
        assert z.nbytes_stored > 4 * count
    finally:
        sys.setprofile(None)
    assert calls < 100


def test_the_digest_of_a_chunk_of_holes_is_refused_instead_of_read(tmp_path: Path) -> None:
    z = zarr.open_array(str(tmp_path), mode="w", shape=4, chunks=2, dtype="i4")
    z[...] = 1
    with open(tmp_path / "1", "r+b") as file:
        file.truncate(2**40)
    with pytest.raises(CorruptChunkError, match="more bytes are stored"):
        z.digest()


def test_an_error_while_hashing_is_the_callers() -> None:
    z = zarr.array(np.arange(10), chunks=2)

    def refuse(piece: bytes) -> None:
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        io_of(z).each_stored(refuse)
