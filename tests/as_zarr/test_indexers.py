"""Names of zarr-python's internals by which programs divide selections by chunks themselves."""

from random import Random
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid
from zarrix._as_zarr.names.core.chunk_key_encodings import (
    ChunkKeyEncoding,
    DefaultChunkKeyEncoding,
    V2ChunkKeyEncoding,
    parse_chunk_key_encoding,
)
from zarrix._as_zarr.names.core.indexing import OrthogonalIndexer
from zarrix.codecs import BloscCodec, BytesCodec, ZstdCodec

SHAPE = (7, 9, 4)
VALUES = np.arange(7 * 9 * 4).reshape(SHAPE)
GRIDS: list[tuple[Any, ...]] = [(3, 4, 2), (7, 9, 4), (1, 20, 3), ([2, 5], [4, 4, 1], 2)]


def selection(random: Random) -> tuple[Any, ...]:
    items: list[Any] = []
    for size in SHAPE:
        ends = sorted(random.randint(0, size) for _ in range(2))
        items.append(
            random.choice(
                [
                    slice(*ends, random.choice([None, 1, 2, 3])),
                    random.randrange(-size, size),
                    [random.randrange(-size, size) for _ in range(random.randint(1, 5))],
                    np.array([random.random() < 0.5 for _ in range(size)]),
                ]
            )
        )
    return tuple(items)


def block_of(coords: tuple[int, ...], grid: tuple[Any, ...]) -> Any:
    """The elements of a chunk."""
    key = []
    for number, sizes, length in zip(coords, grid, SHAPE, strict=True):
        edges = [0, *np.cumsum(sizes)] if isinstance(sizes, list) else range(0, 99, sizes)
        key.append(slice(int(edges[number]), min(int(edges[number + 1]), length)))
    return VALUES[tuple(key)]


@pytest.mark.parametrize("seed", range(60))
def test_the_parts_of_a_selection_are_the_whole_selection(seed: int) -> None:
    random = Random(seed)
    grid = random.choice(GRIDS)
    key = selection(random)
    indexer = OrthogonalIndexer(key, SHAPE, ChunkGrid.from_sizes(SHAPE, grid))
    found = np.full(indexer.shape, -1)
    whole = 0
    for coords, inside, out, is_complete in indexer:
        block = block_of(coords, grid)
        part = block[inside]
        found[out] = part.squeeze(indexer.drop_axes) if indexer.drop_axes else part
        assert not is_complete or part.size == block.size
        whole += is_complete
    expected = zarr.array(VALUES).oindex[key]
    assert np.array_equal(found, expected)
    assert not whole or expected.size


def test_every_chunk_of_everything_is_complete() -> None:
    parts = [*OrthogonalIndexer(..., SHAPE, ChunkGrid.from_sizes(SHAPE, (3, 4, 2)))]
    assert len(parts) == 3 * 3 * 2
    assert all(part.is_complete_chunk for part in parts)


def test_a_grid_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="has 2 dimensions"):
        ChunkGrid.from_sizes((3, 4), (2,))
    with pytest.raises(ValueError, match="exceeds sum of edges 3"):
        ChunkGrid.from_sizes((4,), ([1, 2],))


def test_codecs_of_metadata_are_equal_to_codec_objects() -> None:
    blosc = BloscCodec(cname="lz4", clevel=2, shuffle="shuffle", typesize=8)
    z = zarr.create_array({}, shape=3, chunks=2, dtype="i8", compressors=[blosc], zarr_format=3)
    assert z.metadata.codecs == (BytesCodec(), blosc)
    assert (BytesCodec(), blosc) == z.metadata.codecs
    assert z.metadata.codecs[1] != ZstdCodec()
    assert z.metadata.codecs[1] != "blosc"
    assert z.metadata.codecs[0] == BytesCodec().to_dict()
    assert z.metadata.codecs[0] != blosc.to_dict()


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("kind", [DefaultChunkKeyEncoding, V2ChunkKeyEncoding])
def test_encodings_of_chunk_keys_give_the_keys_that_are_stored(kind: Any, separator: str) -> None:
    store: dict[str, bytes] = {}
    encoding = kind(separator)
    for given in (encoding, encoding.to_dict()):
        z = zarr.create_array(
            store, shape=(4, 6), chunks=(2, 3), chunk_key_encoding=given, overwrite=True
        )
        z[...] = 1.0
        keys = {encoding.encode_chunk_key((i, j)): (i, j) for i in range(2) for j in range(2)}
        assert store.keys() - {"zarr.json"} == keys.keys()
        assert {key: encoding.decode_chunk_key(key) for key in keys} == keys
        assert parse_chunk_key_encoding(given) == encoding
        assert ChunkKeyEncoding.from_dict(encoding.to_dict()) == encoding
    scalar = encoding.encode_chunk_key(())
    assert scalar == ("c" if kind is DefaultChunkKeyEncoding else "0")


def test_encodings_of_chunk_keys_that_do_not_exist_are_errors() -> None:
    with pytest.raises(ValueError, match="separator='-'"):
        V2ChunkKeyEncoding("-")
    with pytest.raises(ValueError, match="'3'"):
        parse_chunk_key_encoding("3")
    with pytest.raises(ValueError, match="suffix"):
        parse_chunk_key_encoding({"name": "suffix", "configuration": {"suffix": ".tif"}})
    with pytest.raises(ValueError, match="not a key"):
        DefaultChunkKeyEncoding().decode_chunk_key("0/1")
