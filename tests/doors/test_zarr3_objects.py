"""Objects of zarr-python 3 that programs make, ask for their class, or subscript."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
import zarrix as zarr
from zarrix.abc.codec import ArrayBytesCodec, BytesBytesCodec
from zarrix.core.metadata import ArrayMetadata, ArrayV2Metadata, ArrayV3Metadata


@pytest.mark.parametrize("kind", [zarr.Array, zarr.AsyncArray, zarr.AsyncGroup, zarr.dtype.ZDType])
def test_classes_can_be_subscripted(kind: Any) -> None:
    assert kind[Any].__origin__ is kind


def test_an_array_and_a_group_can_be_made_of_their_asynchronous_counterparts() -> None:
    root = zarr.group()
    z = root.array("x", [1, 2, 3])
    again = zarr.Array(z.async_array)
    again[0] = 7
    assert (type(again), again == z, z[:].tolist()) == (zarr.Array, True, [7, 2, 3])
    group = zarr.Group(zarr.AsyncGroup(root))
    assert (type(group), group == root, list(group)) == (zarr.Group, True, ["x"])


@pytest.mark.parametrize(("zarr_format", "kind"), [(2, ArrayV2Metadata), (3, ArrayV3Metadata)])
def test_metadata_knows_its_format(zarr_format: Any, kind: Any) -> None:
    z = zarr.create((4, 6), chunks=(2, 3), zarr_format=zarr_format, attributes={"unit": "K"})
    metadata = z.metadata
    other = {ArrayV2Metadata: ArrayV3Metadata, ArrayV3Metadata: ArrayV2Metadata}[kind]
    assert isinstance(metadata, kind)
    assert isinstance(metadata, ArrayMetadata)
    assert not isinstance(metadata, other)
    assert issubclass(kind, ArrayMetadata)
    members = metadata.to_dict()
    for one in (kind.from_dict(members), ArrayMetadata.from_dict(members), kind(**members)):
        assert one == metadata
        assert one.to_dict() == members
        assert one.attributes == {"unit": "K"}
    with pytest.raises(zarr.errors.MetadataError, match="zarr_format"):
        other.from_dict(members)
    with pytest.raises(zarr.errors.MetadataError, match="2 or 3"):
        ArrayMetadata.from_dict({**members, "zarr_format": 4})


def test_metadata_is_made_of_codecs_that_are_objects() -> None:
    z = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), shards=(4, 4), dtype="i4")
    metadata = z.metadata
    members = metadata.to_dict()
    codecs = [one.to_dict() for one in metadata.codecs]
    for given in (tuple(codecs), metadata.codecs, [*metadata.codecs]):
        assert ArrayV3Metadata.from_dict({**members, "codecs": given}) == metadata
    for wrong in ("bytes", None, 3, ({"name": 1},)):
        with pytest.raises(zarr.errors.MetadataError, match="codecs"):
            ArrayV3Metadata.from_dict({**members, "codecs": wrong})


def test_codecs_of_metadata_are_instances_of_their_classes() -> None:
    z = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), shards=(4, 4), dtype="i4")
    (shard,) = z.metadata.codecs
    assert isinstance(shard, zarr.codecs.ShardingCodec)
    assert not isinstance(shard, zarr.codecs.BytesCodec)
    first, second = zarr.zeros(3, zarr_format=3).metadata.codecs
    assert isinstance(first, zarr.codecs.BytesCodec | ArrayBytesCodec)
    assert isinstance(second, zarr.codecs.ZstdCodec)
    assert isinstance(second, BytesBytesCodec)
    assert isinstance(second, dict)
    for same in (pickle.loads(pickle.dumps(second)), copy.copy(second), copy.deepcopy(second)):
        assert (same, type(same)) == (second, type(second))
    assert json.loads(json.dumps(second)) == second


def test_a_dict_is_the_memory_of_a_store() -> None:
    values: dict[str, bytes] = {}
    store = zarr.storage.MemoryStore(store_dict=values)
    z = zarr.array([1, 2, 3, 4], chunks=2, store=store)
    assert sorted(values) == sorted(store) == [".zarray", "0", "1"]
    values["0"] = values["1"]
    assert z[:].tolist() == [3, 4, 3, 4]
    assert store == zarr.storage.MemoryStore(dict(values))
    copied = pickle.loads(pickle.dumps(store))
    copied["0"] = b""
    assert values["0"] == values["1"]
    assert copied == copied.with_read_only(True)
    with pytest.raises(ValueError, match="store_dict"):
        zarr.storage.MemoryStore({}, store_dict=values)


def test_modules_of_core_are_attributes() -> None:
    assert zarr.core.metadata.ArrayV3Metadata is ArrayV3Metadata


def test_the_values_of_a_store_in_memory_are_a_mapping_of_buffers() -> None:
    store = zarr.MemoryStore()
    zarr.zeros(4, chunks=2, store=store, zarr_format=3)[:] = 1
    values = store._store_dict
    assert sorted(values) == ["c/0", "c/1", "zarr.json"]
    assert json.loads(values["zarr.json"].to_bytes())["shape"] == [4]
    del values["c/0"]
    values["c/1"] = b"damaged"
    assert "c/0" not in store
    assert store["c/1"] == b"damaged"
    assert pickle.loads(pickle.dumps(store)) == store
    values.clear()
    assert len(store) == 0
