"""What programs for zarr-python 3 do with stores, arrays, groups and errors."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._runtime.dialect import DIALECT
from zarrix.core.metadata import GroupMetadata
from zarrix.errors import ContainsArrayError, ContainsGroupError, ReadOnlyError


def test_a_store_passes_read_only_to_its_base() -> None:
    class Folder(zarr.storage.Store):
        def __init__(self, *, read_only: bool = False) -> None:
            super().__init__(read_only=read_only)
            self.values: dict[str, Any] = {}

        def __getitem__(self, key: str) -> Any:
            return self.values[key]

        def __setitem__(self, key: str, value: Any) -> None:
            self._check_writable()
            self.values[key] = value

        def __iter__(self) -> Any:
            return iter(self.values)

    assert not Folder().read_only
    store = Folder(read_only=True)
    assert store.read_only
    with pytest.raises(ReadOnlyError):
        zarr.create_array(store, shape=3, dtype="i4")
    assert store.values == {}
    zarr.create_array(Folder(), shape=3, dtype="i4")[:] = 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_and_a_group_take_the_class_of_a_subclass(zarr_format: Any) -> None:
    class Table(zarr.Array):
        def total(self) -> Any:
            return self[:].sum()

    class Folder(zarr.Group):
        def total(self) -> int:
            return len(self)

    root = zarr.create_group({}, zarr_format=zarr_format)
    z = root.create_array("a", shape=4, chunks=2, dtype="i4")
    z[:] = [1, 2, 3, 4]
    z.__class__ = Table
    z[0] = 5
    assert z.total() == 14
    assert Table(z.async_array).total() == 14
    root.__class__ = Folder
    assert (root.total(), Folder(zarr.AsyncGroup(root)).total()) == (1, 1)
    assert root["a"][:].tolist() == [5, 2, 3, 4]


def test_errors_have_the_types_that_either_version_raises() -> None:
    root = zarr.group()
    root.create_group("g")
    root.create_array("a", shape=3, dtype="i4")
    for error, kinds in (
        (ReadOnlyError, (PermissionError, ValueError)),
        (ContainsArrayError, (FileExistsError, ValueError, TypeError)),
        (ContainsGroupError, (FileExistsError, ValueError, TypeError)),
    ):
        assert all(issubclass(error, kind) for kind in kinds)
    with pytest.raises(TypeError):
        root.require_group("a")
    with pytest.raises(TypeError):
        root.require_array("g", shape=3, dtype="i4")


@pytest.mark.parametrize("name", [".DS_Store", "._zarr.json", ".nfs00a1", "Thumbs.db", "c/._0"])
def test_litter_of_systems_does_not_stop_an_overwrite(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=3, dtype="i4")[:] = 1
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).write_text("x")
    zarr.create_array(path, shape=4, dtype="i4", overwrite=True)
    assert [one.name for one in path.iterdir()] == ["zarr.json"]
    (path / "thesis.txt").write_text("x")
    with pytest.raises(ValueError, match=r"thesis\.txt"):
        zarr.open_group(path, mode="w")
    assert (path / "thesis.txt").exists()


def test_the_store_of_a_consolidated_group_is_the_one_that_was_opened(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "a", mode="w").create_array("x", shape=3, dtype="i4")
    zarr.consolidate_metadata(tmp_path / "a")
    root = zarr.open_consolidated(tmp_path / "a")
    assert isinstance(root.store, zarr.storage.LocalStore)
    assert Path(root.store.root) == tmp_path / "a"
    assert root["x"].store is root.store
    assert zarr.open_consolidated({**root.store}).store is not None


def test_settings_are_found_by_their_names() -> None:
    assert "array.order" in zarr.config
    assert "threads" in zarr.config
    assert "array.odor" not in zarr.config
    assert 3 not in zarr.config


def test_an_array_like_another_has_its_fill_value() -> None:
    for zarr_format in (2, 3):
        z = zarr.full(3, 7, dtype="i4", zarr_format=zarr_format)
        assert zarr.empty_like(z)[:].tolist() == [7, 7, 7]
    assert zarr.empty_like(np.ones(3, "i4"), zarr_format=2).fill_value is None


def test_paths_of_stores_are_awaited() -> None:
    async def awaited() -> list[Any]:
        path = zarr.storage.StorePath(zarr.MemoryStore()) / "a/b"
        missing = [await path.get(), await path.exists()]
        await path.set(b"12")
        await path.delete()
        await path.set(b"123")
        part = await path.get(byte_range=zarr.abc.store.SuffixByteRequest(2))
        return [*missing, part.to_bytes(), await path.exists()]

    assert asyncio.run(awaited()) == [None, False, b"23", True]


def test_metadata_tells_the_keys_and_documents_that_are_stored() -> None:
    for words in (
        {"zarr_format": 2},
        {"zarr_format": 2, "chunk_key_encoding": ("v2", "/")},
        {"zarr_format": 3},
        {"zarr_format": 3, "chunk_key_encoding": ("v2", ".")},
        {"chunk_key_encoding": {"name": "suffix", "configuration": {"suffix": ".tif"}}},
    ):
        if "name" in words.get("chunk_key_encoding", {}):
            encoding = words["chunk_key_encoding"]["configuration"]
            encoding["base-encoding"] = encoding["base_encoding"] = {"name": "default"}
            encoding.pop("base-encoding")
        store: dict[str, bytes] = {}
        z = zarr.create_array(store, shape=(4, 4), chunks=(2, 2), dtype="i4", **words)
        z[...] = 1
        found = {z.metadata.encode_chunk_key((i, j)) for i in range(2) for j in range(2)}
        documents = z.metadata.to_buffer_dict()
        assert {*store} - {*documents} == found
        for name, document in documents.items():
            assert name == ".zattrs" or document.to_bytes() == store[name]
        with pytest.raises(ValueError, match="1 coordinates for 2 axes"):
            z.metadata.encode_chunk_key((1,))
    scalar = zarr.create_array({}, shape=(), dtype="i4")
    assert scalar.metadata.encode_chunk_key(()) == "c"


def test_metadata_is_made_of_objects() -> None:
    from zarrix.codecs import BytesCodec, ZstdCodec
    from zarrix.core.metadata import ArrayV2Metadata, ArrayV3Metadata
    from zarrix.dtype import DateTime64, Float32

    z = zarr.create_array(
        {}, shape=(4, 6), chunks=(2, 3), dtype="f4", fill_value=np.nan, compressors=ZstdCodec()
    )
    made = ArrayV3Metadata(
        shape=(4, 6),
        data_type=Float32(),
        chunk_grid=z.metadata.chunk_grid,
        chunk_key_encoding=z.metadata.chunk_key_encoding,
        fill_value=np.float32("nan"),
        codecs=[BytesCodec(), ZstdCodec()],
        attributes=None,
        dimension_names=None,
        storage_transformers=None,
    )
    assert isinstance(made, ArrayV3Metadata)
    assert made.to_dict() == z.metadata.to_dict()
    old = ArrayV2Metadata(
        shape=(4,),
        dtype=DateTime64(unit="s"),
        chunks=(2,),
        fill_value=np.datetime64("2020-01-01", "s"),
        order="C",
        compressor=zarr.Zlib(3),
        filters=None,
    )
    assert (old.dtype, old.fill_value) == (np.dtype("M8[s]"), np.datetime64("2020-01-01", "s"))
    assert old.compressor == {"id": "zlib", "level": 3}


def test_codecs_of_numcodecs_tell_their_configuration() -> None:
    from zarrix.codecs.numcodecs import Delta

    delta = Delta(dtype="i4")
    assert delta.codec_config == {"id": "delta", "dtype": "i4"}
    again = zarr.registry.get_codec_class("numcodecs.delta").from_dict(delta.to_dict())
    assert (type(again), again) == (Delta, delta)


def test_names_of_internals_that_programs_import(tmp_path: Path) -> None:
    program = """
import asyncio
import numpy as np
import zarrix.as_zarr
import zarr
import zarr.buffer.cpu, zarr.core.dtype.common
from zarr.abc.buffer import Buffer
from zarr.abc.numcodec import Numcodec
from zarr.codecs.bytes import Endian
from zarr.codecs.cast_value import CastValue
from zarr.codecs.crc32c_ import Crc32cCodec
from zarr.codecs.scale_offset import ScaleOffset
from zarr.codecs.sharding import IndexLocation, ShardingCodecIndexLocation
from zarr.codecs.vlen_utf8 import VLenUTF8Codec
from zarr.core.array import create_array
from zarr.core.buffer.core import default_buffer_prototype
from zarr.core.chunk_grids import ChunkGrid
from zarr.core.codec_pipeline import BatchedCodecPipeline, codecs_from_list
from zarr.core.dtype import parse_data_type, parse_dtype
from zarr.core.indexing import BasicIndexer
from zarr.core.metadata.v2 import ArrayV2Metadata
from zarr.core.metadata.v3 import (
    ArrayV3Metadata, RectilinearChunkGridMetadata, RegularChunkGridMetadata,
)
from zarr.dtype import data_type_registry

async def made():
    return await create_array({}, shape=(4, 6), chunks=(2, 3), dtype="i4")

z = asyncio.run(made())
assert type(z) is zarr.AsyncArray, z
metadata = z.metadata
assert isinstance(metadata, ArrayV3Metadata) and not isinstance(metadata, ArrayV2Metadata)
assert isinstance(metadata.chunk_grid, RegularChunkGridMetadata)
assert not isinstance(metadata.chunk_grid, RectilinearChunkGridMetadata)
assert RegularChunkGridMetadata(chunk_shape=(2, 3)) == metadata.chunk_grid
uneven = zarr.create_array({}, shape=3, chunks=[[1, 2]], dtype="i4").metadata.chunk_grid
assert isinstance(uneven, RectilinearChunkGridMetadata)
chain = codecs_from_list(zarr.codecs.numcodecs and [zarr.codecs.BytesCodec(), Crc32cCodec()])
assert [*BatchedCodecPipeline.from_codecs([zarr.codecs.BytesCodec(), Crc32cCodec()])] == [
    chain[1], *chain[2]
]
for wrong in ([Crc32cCodec(), zarr.codecs.BytesCodec()], [], [zarr.codecs.BytesCodec()] * 2):
    try:
        codecs_from_list(wrong)
    except ValueError:
        continue
    raise AssertionError(wrong)
indexer = BasicIndexer((slice(1, 3), 2), (4, 6), ChunkGrid.from_sizes((4, 6), (2, 3)))
assert indexer.shape == (2,) and len([*indexer]) == 2
try:
    BasicIndexer(([1, 2],), (4, 6), ChunkGrid.from_sizes((4, 6), (2, 3)))
except IndexError:
    pass
else:
    raise AssertionError
assert parse_data_type("int32", zarr_format=3) == parse_dtype("int32", zarr_format=3)
assert data_type_registry.match_dtype(np.dtype("i4")) == parse_dtype("int32", zarr_format=3)
assert data_type_registry.match_json("int32", zarr_format=3).to_native_dtype() == np.dtype("i4")
assert isinstance(zarr.Zlib(), Numcodec) and not isinstance(3, Numcodec)
assert Buffer is zarr.buffer.cpu.Buffer
assert issubclass(zarr.core.dtype.common.UnstableSpecificationWarning, FutureWarning)
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
    )
    assert done.stdout == "done\n", done.stderr


def test_metadata_of_groups_gives_its_documents() -> None:
    from zarrix.core.metadata import GroupMetadata

    for zarr_format in (2, 3):
        store: dict[str, bytes] = {}
        root = zarr.create_group(store, attributes={"site": "Kiel"}, zarr_format=zarr_format)
        found = root.metadata.to_buffer_dict()
        assert {name: one.to_bytes() for name, one in found.items()} == store
        made = GroupMetadata(attributes={"site": "Kiel"}, zarr_format=zarr_format).to_buffer_dict()
        again = zarr.open_group({name: one.to_bytes() for name, one in made.items()}, mode="r")
        assert dict(again.attrs) == {"site": "Kiel"}


PROGRAM_OF_MIGRATION = """
import sys
import zarrix.as_zarr
import numpy as np
import zarr
from zarr.metadata import migrate_v3
from zarr.storage import LocalStore

old = LocalStore(sys.argv[1])
root = zarr.create_group(old, zarr_format=2, attributes={"k": 1})
z = root.create_array("a/b", shape=(4, 6), chunks=(2, 3), dtype=">i4", order="F", fill_value=7)
z[:2] = np.arange(12).reshape(2, 6)
converted = migrate_v3._convert_array_metadata(z.metadata)
assert (converted.zarr_format, converted.shape, converted.fill_value) == (3, (4, 6), 7)

migrate_v3.migrate_v2_to_v3(input_store=old, dry_run=True)
assert not [*LocalStore(sys.argv[1]).root.rglob("zarr.json")]
migrate_v3.migrate_v2_to_v3(input_store=old)
try:
    migrate_v3.migrate_v2_to_v3(input_store=old)
except (ValueError, TypeError) as error:
    print(type(error).__name__)
remove = migrate_v3.remove_metadata
zarr.core.sync.sync(remove(old, 2))
try:
    zarr.core.sync.sync(remove(old, 3))
except ValueError as error:
    print("force" in str(error))
found = zarr.open_group(old, mode="r")
print(found.metadata.zarr_format, dict(found.attrs), found["a/b"][:].sum())
"""


def test_documents_of_three_are_written_beside_those_of_two(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM_OF_MIGRATION, str(tmp_path / "z")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-5:] == ["True", "3", "{'k':", "1}", str(66 + 12 * 7)]


PROGRAM_OF_METADATA = """
import zarrix.as_zarr
import zarr
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.codecs import numcodecs
from zarr.core.metadata.v3 import ArrayV3Metadata

z = zarr.create_array({}, shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4")
m = z.metadata
print(m.chunks, m.shards, [type(one).__name__ for one in m.inner_codecs])
document = m.to_dict()
document["codecs"][0]["configuration"]["chunk_shape"] = (2, 2)
document["chunk_key_encoding"] = {"name": "default", "separator": "."}
document["dimension_names"] = {"y": 0, "x": 1}
made = ArrayV3Metadata.from_dict(document)
print(made.chunk_key_encoding.separator, made.dimension_names, made.chunks)
plain = zarr.create_array({}, shape=8, chunks=4, dtype="i4", filters=numcodecs.Delta(dtype="<i4"),
                          compressors=numcodecs.Zlib(level=1))
print(plain.metadata.chunks, plain.metadata.shards)
kinds = (ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec)
print([[isinstance(one, kind) for kind in kinds].index(True) for one in plain.metadata.codecs])
"""


def test_metadata_has_what_virtualizarr_asks_for() -> None:
    command = [sys.executable, "-c", PROGRAM_OF_METADATA]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "(2, 2) (4, 4) ['BytesCodec', 'ZstdCodec']",
        ". ('y', 'x') (2, 2)",
        "(4,) None",
        "[0, 1, 2]",
    ]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_asynchronous_group_is_made_from_metadata_and_a_path(zarr_format: Any) -> None:
    store = zarr.MemoryStore()
    metadata = GroupMetadata(zarr_format=zarr_format, attributes={"k": 1})
    path = zarr.storage.StorePath(store, "a/b")
    group = zarr.AsyncGroup(metadata=metadata, store_path=path)
    assert group.store_path == path
    assert (group.metadata.zarr_format, dict(group.attrs)) == (zarr_format, {"k": 1})
    child = asyncio.run(zarr.AsyncGroup(metadata, path).create_group("c"))
    assert child.path == "a/b/c"
    assert [*zarr.open_group(store, path="a/b")] == ["c"]
    with pytest.raises(TypeError):
        zarr.AsyncGroup(metadata)


@pytest.fixture
def as_zarr3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", True)


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_tuple_in_attributes_is_one_until_they_are_read_again(zarr_format: Any) -> None:
    store = zarr.MemoryStore()
    z = zarr.create_array(store, shape=3, dtype="i4", zarr_format=zarr_format)
    given = (1, [2, (3,)], {"deep": ("x",)})
    z.attrs["k"] = given
    z.attrs.update({"b": [1]}, c=(4,))
    assert z.attrs.asdict() == {"k": given, "b": [1], "c": (4,)}
    zarr.open_array(store).attrs["other"] = (5,)
    z.attrs["c"] = [4]
    assert z.attrs.asdict() == {"k": given, "b": [1], "c": [4], "other": [5]}
    del z.attrs["b"]
    z.attrs.refresh()
    lists = [1, [2, [3]], {"deep": ["x"]}]
    assert z.attrs.asdict() == {"k": lists, "c": [4], "other": [5]}
    assert dict(zarr.open_array(store).attrs) == {"k": lists, "c": [4], "other": [5]}


@pytest.mark.usefixtures("as_zarr3")
def test_a_tuple_does_not_hide_what_another_has_stored() -> None:
    store = zarr.MemoryStore()
    mine = zarr.create_array(store, shape=3, dtype="i4")
    mine.attrs.update({"k": (1, 2), "n": True})
    zarr.open_array(store).attrs.update({"k": [1, 3], "n": 1})
    mine.attrs["b"] = 0
    assert mine.attrs.asdict() == {"k": [1, 3], "n": 1, "b": 0}
    assert mine.attrs["n"] is not True


def test_a_tuple_in_attributes_is_a_list_without_the_alias() -> None:
    z = zarr.create_array({}, shape=3, dtype="i4")
    z.attrs["k"] = (1, 2)
    assert z.attrs["k"] == [1, 2]


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("opened", [zarr.open, zarr.open_array, zarr.open_group])
def test_a_store_that_is_read_only_is_not_opened_to_be_written(opened: Any) -> None:
    store = zarr.storage.MemoryStore()
    path = "a" if opened is zarr.open_array else ""
    zarr.create_array(store, name="a", shape=3, dtype="i4")
    reader = store.with_read_only(True)
    with pytest.raises(ValueError, match="is read-only, and mode='r\\+' writes"):
        opened(reader, path=path, mode="r+")
    for mode in ("r", "a"):
        assert opened(reader, path=path, mode=mode).read_only
    assert not opened(store, path=path, mode="r+").read_only


def test_a_store_that_is_read_only_is_opened_without_the_alias() -> None:
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, shape=3, dtype="i4")
    assert zarr.open_array(store.with_read_only(True), mode="r+").read_only


@pytest.mark.usefixtures("as_zarr3")
def test_the_table_of_an_array_names_the_class_of_its_data_type() -> None:
    z = zarr.create_array({}, shape=3, dtype="f4")
    assert "Float32" in str(z.info)
    assert "Float32" in z.info._repr_html_()


def test_the_table_of_an_array_has_its_dtype_without_the_alias() -> None:
    assert "Float32" not in str(zarr.create_array({}, shape=3, dtype="f4").info)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_metadata_of_a_group_is_one_object_until_it_changes(zarr_format: Any) -> None:
    store = zarr.MemoryStore()
    group = zarr.create_group(store, zarr_format=zarr_format)
    before = group.metadata
    again = zarr.AsyncGroup(group)
    assert again.metadata is zarr.Group(again).metadata is before
    zarr.open_group(store).attrs["k"] = 1
    group.attrs.refresh()
    assert group.metadata.attributes == {"k": 1}
    assert before.attributes == {}
    zarr.consolidate_metadata(store)
    assert zarr.open_group(store).metadata.consolidated_metadata is not None
