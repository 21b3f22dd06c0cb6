"""The chunks of an array as objects, and what the alias means where the generations differ."""

import asyncio
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._as_zarr.names.core import array as walks
from zarrix._as_zarr.names.core.chunk_grids import (
    ChunkGrid,
    FixedDimension,
    VaryingDimension,
    guess_chunks,
    normalize_chunks_nd,
    resolve_outer_and_inner_chunks,
)
from zarrix._as_zarr.names.core.common import compress_rle, expand_rle
from zarrix._as_zarr.names.core.indexing import _iter_regions, iter_grid, oindex, oindex_set
from zarrix._as_zarr.names.core.metadata.v3 import create_chunk_grid_metadata
from zarrix._runtime.dialect import DIALECT


@pytest.fixture
def as_zarr3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", True)


def sizes_of(random: Random, length: int) -> int | list[int]:
    if random.random() < 0.5:
        return random.randint(1, length + 2)
    sizes: list[int] = []
    while sum(sizes) < length:
        sizes.append(random.randint(1, 4))
    return sizes


@pytest.mark.parametrize("seed", range(40))
def test_the_chunks_cover_every_element_once(seed: int) -> None:
    random = Random(seed)
    shape = tuple(random.randint(1, 9) for _ in range(random.randint(1, 3)))
    grid = ChunkGrid.from_sizes(shape, [sizes_of(random, length) for length in shape])
    covered = np.zeros(shape, "i4")
    for chunk in grid:
        covered[chunk.slices] += 1
        assert chunk.shape == covered[chunk.slices].shape
        assert chunk.is_boundary == (chunk.shape != chunk.codec_shape)
    assert (covered == 1).all()
    assert grid.get_nchunks() == len([*grid]) == len([*grid.all_chunk_coords()])
    for length, axis in zip(shape, grid.dimensions, strict=True):
        numbers = [axis.index_to_chunk(index) for index in range(length)]
        assert numbers == [*axis.indices_to_chunks(np.arange(length))]
        assert sum(map(axis.data_size, range(axis.nchunks))) == length
        with pytest.raises(IndexError, match=r"out of bounds|Negative"):
            axis.index_to_chunk(random.choice([-1, length]))
    assert grid[(10**6,) * len(shape)] is None


@pytest.mark.parametrize("chunks", [(3, 4), ([2, 5], [4, 4, 1]), ([2, 5], 4)])
def test_the_grid_of_an_array_is_that_of_its_metadata(chunks: Any) -> None:
    z = zarr.create_array({}, shape=(7, 9), chunks=chunks, dtype="i2", zarr_format=3)
    grid = ChunkGrid.from_metadata(z.metadata)
    assert grid.chunk_sizes == z.write_chunk_sizes
    assert create_chunk_grid_metadata(grid) == z.metadata.chunk_grid
    new = z.metadata.update_shape((11, 3))
    assert ChunkGrid.from_metadata(new).chunk_sizes == grid.update_shape((11, 3)).chunk_sizes
    with pytest.raises(TypeError, match="Unknown chunk grid"):
        ChunkGrid.from_metadata(type("M", (), {"chunk_grid": None}))


def test_the_walks_of_an_array_with_shards_are_those_of_its_stored_values() -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(store, shape=(7, 9), chunks=(2, 3), shards=(4, 6), dtype="i2")
    z[:] = np.arange(1, 64).reshape(7, 9)
    assert sorted(walks.iter_shard_keys(z)) == sorted(set(store) - {"zarr.json"})
    for walk in (walks.iter_shard_regions, walks.iter_chunk_regions):
        found = np.zeros(z.shape, "i2")
        for region in walk(z):
            found[region] += z[region]
        np.testing.assert_array_equal(found, z[:])
    assert walks.chunk_grid_shape(z) == (4, 3)
    assert walks.shard_grid_shape(z) == (2, 2)
    assert walks.count_shards(z) == 4


@pytest.mark.parametrize("seed", range(60))
def test_orthogonal_selections_of_numpy_arrays_are_those_of_zarr_arrays(seed: int) -> None:
    random = Random(seed)
    values = np.arange(4 * 5 * 6).reshape(4, 5, 6)
    key = tuple(
        random.choice(
            [
                random.randrange(-length, length),
                slice(random.randint(0, length), None, random.randint(1, 2)),
                [random.randrange(length) for _ in range(3)],
                np.array([random.random() < 0.5 for _ in range(length)]),
                slice(None),
            ]
        )
        for length in values.shape
    )
    z = zarr.array(values)
    expected = z.oindex[key]
    np.testing.assert_array_equal(oindex(values, key), expected)
    if any(isinstance(one, list) and len({*one}) < 3 for one in key):
        return
    new = -np.arange(1, np.size(expected) + 1).reshape(np.shape(expected))
    z.oindex[key] = new
    changed = values.copy()
    oindex_set(changed, key, new)
    np.testing.assert_array_equal(changed, z[:])


def test_boxes_of_a_grid() -> None:
    assert [*iter_grid((2, 3), origin=(1, 1))] == [(1, 1), (1, 2)]
    assert [*iter_grid((2, 3), selection_shape=(1, 2))] == [(0, 0), (0, 1)]
    with pytest.raises(IndexError, match="beyond"):
        iter_grid((5,), selection_shape=(6,))
    with pytest.raises(ValueError, match=r"shorter|longer"):
        iter_grid((5,), origin=(0, 0))
    assert [*_iter_regions((5,), (2,))][-1] == (slice(4, 5, 1),)
    assert [*_iter_regions((5,), (2,), trim_excess=False)][-1] == (slice(4, 6, 1),)


def test_what_a_user_writes_for_chunks() -> None:
    found = normalize_chunks_nd((-1, [2, 3], 4), (7, 5, 9))
    assert found.dimensions == (
        FixedDimension(7, 7),
        VaryingDimension([2, 3], 5),
        FixedDimension(4, 9),
    )
    layout = resolve_outer_and_inner_chunks(
        array_shape=(8, 8),
        chunks=normalize_chunks_nd(2, (8, 8)),
        shard_shape={"shape": -1},
        item_size=1,
    )
    assert layout.outer_chunks.chunk_shape == (8, 8)
    assert guess_chunks((10**4, 10**4), 8).chunk_shape == zarr.util.guess_chunks((10**4,) * 2, 8)
    for wrong, kind, words in (
        (None, ValueError, "not guessed"),
        ((0, 1), ValueError, "positive"),
        ((3, [2, 2]), ValueError, "do not sum"),
        ((3, [2, 2.0]), TypeError, "non-integer"),
        (2.5, TypeError, "integer"),
        (np.True_, TypeError, "integer"),
        ((3,), ValueError, "dimensions"),
        (([], 3), ValueError, "empty"),
    ):
        with pytest.raises(kind, match=words):
            normalize_chunks_nd(wrong, (7, 5))


@pytest.mark.parametrize("sizes", [[10, 10, 5], [1], [3, 3, 3]])
def test_lengths_as_documents_have_them(sizes: list[int]) -> None:
    assert expand_rle(compress_rle(sizes)) == sizes
    for wrong in ([0], [[5, 0]], [[5, 2, 1]]):
        with pytest.raises(ValueError, match="Dimension 2"):
            expand_rle(wrong, axis=2)
    with pytest.raises(TypeError, match="must be an int"):
        expand_rle([2.0])


@pytest.mark.usefixtures("as_zarr3")
def test_where_the_generations_differ_the_alias_is_zarr_python_3(tmp_path: Path) -> None:
    z = zarr.create_array({}, shape=4, dtype="i4", fill_value=7, zarr_format=2, filters=None)
    assert (z.name, z.basename) == ("/", "")
    assert z.filters == ()
    assert z.metadata.compressor.get_config() == z.compressors[0].get_config()
    assert zarr.empty_like(z, dtype="i8").fill_value == 7
    group = zarr.create_group({}, attributes={"a": 1})
    asyncio.run(group.update_attributes_async({"b": 2}))
    assert dict(group.attrs) == {"b": 2}
    group.create_group("x", attributes={"old": 1}).create_group("y")
    assert dict(group.require_group("x").attrs) == {"old": 1}
    assert dict(group.require_group("x", overwrite=True).attrs) == {}
    assert "y" not in group["x"]


def test_where_the_generations_differ_zarrix_is_zarr_2() -> None:
    z = zarr.create_array({}, shape=4, dtype="i4", fill_value=7, zarr_format=2, filters=None)
    assert (z.name, z.basename, z.filters) == (None, None, None)
    assert z.metadata.compressor["id"] == z.compressors[0].codec_id
    group = zarr.create_group({}, attributes={"a": 1})
    asyncio.run(group.update_attributes_async({"b": 2}))
    assert dict(group.attrs) == {"a": 1, "b": 2}
    group.create_group("x", attributes={"old": 1})
    assert dict(group.require_group("x", overwrite=True).attrs) == {"old": 1}


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_under_the_alias_a_store_may_lie_beside_the_chunks_of_an_array(
    tmp_path: Path, zarr_format: int
) -> None:
    z = zarr.create_array(tmp_path / "a", shape=4, chunks=2, dtype="i4", zarr_format=zarr_format)
    z[:] = 1
    before = {one: one.read_bytes() for one in (tmp_path / "a").rglob("*") if one.is_file()}
    zarr.create_array(tmp_path / "a" / "beside", shape=3, dtype="i4", zarr_format=zarr_format)
    for part in ("0", "1.0", "c", "c/1", "0/1"):
        # A chunk is a file, below which nothing can be.
        with pytest.raises((zarr.errors.ContainsArrayError, zarr.errors.FSPathExistNotDir)):
            zarr.create_array(tmp_path / "a" / part, shape=3, dtype="i4", overwrite=True)
    assert all(one.read_bytes() == content for one, content in before.items())
    assert (z[:] == 1).all()


def test_metadata_is_equal_where_the_arrays_are() -> None:
    for zarr_format in (2, 3):
        store: dict[str, bytes] = {}
        z = zarr.create_array(store, shape=4, dtype="f8", zarr_format=zarr_format)
        again = zarr.create_array({}, name="b", shape=4, dtype="f8", zarr_format=zarr_format)
        assert z.metadata == again.metadata
        again.attrs["a"] = 1
        changed = zarr.open_array(again.store, path="b").metadata
        assert z.metadata != changed
        assert z.metadata.update_attributes({"a": 1}) == changed
        assert z.metadata != z.metadata.update_shape((5,))
        group = zarr.create_group({}, attributes={"a": 1}, zarr_format=zarr_format)
        made = type(group.metadata)(attributes={"a": 1}, zarr_format=zarr_format)
        assert group.metadata == made
        assert group.metadata != type(made)(attributes={}, zarr_format=zarr_format)


def test_private_attributes_are_there_under_the_alias_only() -> None:
    assert not hasattr(zarr.Array, "_chunk_grid")
    program = """
import zarrix.as_zarr
import zarr, zarrix
from zarr.core.array import _parse_chunk_encoding_v2, _parse_chunk_encoding_v3
from zarr.core.sync_group import create_rooted_hierarchy

z = zarr.create_array({}, shape=(7, 9), chunks=(2, 3), dtype="i2")
assert z._chunk_grid.grid_shape == (4, 3)
assert z._async_array._chunk_grid_shape == (4, 3)
assert [*z._iter_shard_coords()][-1] == (3, 2)
given = {"filters": "auto", "compressors": "auto", "serializer": "auto", "dtype": z._zdtype}
assert _parse_chunk_encoding_v3(**given) == (z.filters, z.serializer, z.compressors)
old = zarr.create_array({}, shape=4, dtype="i2", zarr_format=2)
given = {"filters": "auto", "compressor": "auto", "dtype": old._zdtype}
assert _parse_chunk_encoding_v2(**given) == (old.metadata.filters, old.metadata.compressor)
root = create_rooted_hierarchy(store=zarr.storage.MemoryStore(), nodes={"": z.metadata})
assert root.metadata == z.metadata
zarrix.as_zarr.uninstall()
assert not hasattr(zarrix.Array, "_chunk_grid") and z.name is None
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout == "done\n", done.stderr
