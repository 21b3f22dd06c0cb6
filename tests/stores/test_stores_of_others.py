"""Stores that others wrote for zarr-python 3 pass `check_store`, natively and under the alias."""

import asyncio
import os
import subprocess
import sys
from importlib.machinery import PathFinder
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from async_stores import Coroutines
from zarrix import storage
from zarrix._runtime.buffers import Buffer, RangeByteRequest
from zarrix._stores.open import as_store
from zarrix.testing import check_store

PROGRAM = """
import os
import sys
import numpy as np
if sys.argv[1] == "alias":
    import zarrix.as_zarr
from zarrix._stores.open import as_store
from zarrix.testing import check_store

folder, which = sys.argv[2:]


def icechunk():
    import icechunk

    import zarrix as zarr

    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    check_store(repository.writable_session("main").store, only_nodes=True)
    session = repository.writable_session("main")
    zarr.open_group(session.store, mode="w").create_array("x", data=np.arange(8), chunks=(4,))
    session.commit("first")
    check_store(repository.readonly_session("main").store, only_nodes=True)


def obstore():
    import obstore.store

    check_store(obstore.store.MemoryStore())


def fsspec():
    import fsspec

    check_store(fsspec.get_mapper("memory://of-others"))


def tifffile():
    import tifffile

    pixels = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    names = [f"{folder}/{number}.tif" for number in range(3)]
    for name in names:
        tifffile.imwrite(name, pixels, tile=(16, 16))
    with tifffile.TiffFile(names[0]) as file:
        check_store(file.aszarr(), only_nodes=True)
    check_store(tifffile.imread(names, aszarr=True), only_nodes=True)


def virtualizarr():
    import obstore.store
    from virtualizarr.manifests import ChunkManifest, ManifestArray, ManifestGroup, ManifestStore
    from virtualizarr.manifests.utils import create_v3_array_metadata
    from virtualizarr.registry import ObjectStoreRegistry

    raw = np.arange(16, dtype="i4").tobytes()
    with open(f"{folder}/raw", "wb") as file:
        file.write(raw)
    metadata = create_v3_array_metadata(
        shape=(16,), data_type=np.dtype("i4"), chunk_shape=(4,), fill_value=0,
        codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
    )
    pieces = {
        str(at): {"path": f"file://{folder}/raw", "offset": 16 * at, "length": 16}
        for at in range(4)
    }
    array = ManifestArray(metadata=metadata, chunkmanifest=ChunkManifest(pieces))
    registry = ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    store = ManifestStore(ManifestGroup(arrays={"a": array}), registry=registry)
    documents = {key: as_store(store)[key] for key in ("zarr.json", "a/zarr.json")}
    chunks = {f"a/c/{at}": raw[16 * at : 16 * at + 16] for at in range(4)}
    check_store(store, holds=documents | chunks, only_nodes=True)


globals()[which]()
print("passes", flush=True)
# A thread of obstore that has just answered may still need the interpreter. It ends the process
# by an abort if the interpreter is gone by then.
os._exit(0)
"""


@pytest.mark.parametrize("way", ["native", "alias"])
@pytest.mark.parametrize("package", ["icechunk", "obstore", "fsspec", "tifffile", "virtualizarr"])
def test_a_store_of_another_package_passes(tmp_path: Path, package: str, way: str) -> None:
    try:
        installed = version(package)
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")
    # Not by an import: the alias may be installed in this process.
    is_there = PathFinder.find_spec("zarr") is not None
    if way == "native" and package in ("tifffile", "virtualizarr") and not is_there:
        pytest.skip("its stores are subclasses of zarr-python's, which is not installed")
    if package == "tifffile" and tuple(map(int, installed.split(".")[:2])) < (2026, 11):
        pytest.skip("it imports names that zarr-python 3.4 does not have")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), way, str(tmp_path), package],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(zarr.__file__).parents[1])},
    )
    assert (done.stdout, done.returncode) == ("passes\n", 0), done.stderr


class Own(storage.Store):
    """A user's subclass with coroutines of its own, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Coroutines()

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        return await self.place.get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        return await self.place.exists(key)

    async def set(self, key: str, value: Any) -> None:
        await self.place.set(key, value)

    async def delete(self, key: str) -> None:
        await self.place.delete(key)

    async def list(self) -> Any:
        async for key in self.place.list():
            yield key

    async def list_prefix(self, prefix: str) -> Any:
        async for key in self.place.list_prefix(prefix):
            yield key

    async def list_dir(self, prefix: str) -> Any:
        async for name in self.place.list_dir(prefix):
            yield name


def test_a_subclass_with_coroutines_passes_and_is_wrapped() -> None:
    check_store(Own())
    check_store(storage.WrapperStore(Own()))


def test_a_subclass_with_coroutines_inherits_the_other_methods() -> None:
    store = Own()

    async def program() -> None:
        await store._set_many([("a/b", _buffer(b"123")), ("a/c/d", _buffer(b"4"))])
        assert (await store.getsize("a/b"), await store.getsize_prefix("a")) == (3, 4)
        assert (await store.is_empty("a"), await store.is_empty("x")) == (False, True)
        parts = [RangeByteRequest(0, 1), None]
        found = [one async for batch in store.get_ranges("a/b", parts) for one in batch]
        assert [part.to_bytes() for _, part in found] == [b"1", b"123"]
        await store.set_if_not_exists("a/b", _buffer(b"9"))
        with pytest.raises(FileNotFoundError):
            await store.getsize("none")
        await store.delete_dir("a/c")
        assert store.place.values == {"a/b": b"123"}
        await store.clear()
        assert store.place.values == {}

    asyncio.run(program())
    store["k"] = b"1"
    assert (list(store), store["k"], "k" in store, len(store)) == (["k"], b"1", True, 1)
    del store["k"]
    assert store.place.values == {}


def test_a_subclass_without_methods_says_which_one_it_lacks() -> None:
    class Empty(storage.Store):
        pass

    with pytest.raises(TypeError, match="Empty does not define __getitem__"):
        Empty()["a"]


def _buffer(value: bytes) -> Any:
    return Buffer.from_bytes(value)


def test_a_part_of_a_document_is_a_part_where_the_store_gives_the_whole() -> None:
    class Whole(Coroutines):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            return await super().get(key, prototype)

    place = Whole()
    place.values["zarr.json"] = b"0123456789"
    store = as_store(place)
    engine = store._engine
    assert engine.get_slice("zarr.json", 2, 4) == b"23"
    assert (engine.get_slice("zarr.json", 7), engine.get_last("zarr.json", 2)) == (b"789", b"89")


def test_a_store_that_gives_whole_values_only_has_shards() -> None:
    class Refusing(Coroutines):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            if byte_range is not None:
                raise NotImplementedError(f"{byte_range} is not supported")
            return await super().get(key, prototype)

    z = zarr.create_array(Refusing(), shape=64, chunks=8, shards=64, dtype="i4")
    z[:] = np.arange(64)
    assert z[9:20].tolist() == list(range(9, 20))
    assert z.store["c/0"][-4:] == as_store(z.store)._engine.get_last("c/0", 4)


def test_group_metadata_may_be_made_without_attributes() -> None:
    metadata = zarr.core.group.GroupMetadata(attributes=None)
    assert metadata.attributes == {}
    assert [*metadata.to_buffer_dict()] == ["zarr.json"]


class Strict(Coroutines):
    """Refuses keys that are not those of a hierarchy, as Icechunk does."""

    def check(self, key: str) -> None:
        name = key.rpartition("/")[2]
        if not (name.startswith((".z", "zarr.json")) or "c/" in key):
            raise ValueError(f"invalid zarr key format {key!r}")

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        self.check(key)
        return await super().get(key, prototype, byte_range)


class Losing(Strict):
    async def set(self, key: str, value: Any) -> None:
        await super().set(key, value)
        if "c/" in key and len(self.values) > 4:
            self.values[key] = self.values[key][:-1] + b"\0"


class Hiding(Strict):
    async def list_dir(self, prefix: str) -> Any:
        return
        yield


def test_a_store_of_nodes_only_is_checked_by_nodes() -> None:
    with pytest.raises((AssertionError, ValueError), match="invalid zarr key"):
        check_store(Strict())
    check_store(Strict(), only_nodes=True)


@pytest.mark.parametrize("kind", [Losing, Hiding])
def test_a_fault_of_a_store_of_nodes_is_found(kind: Any) -> None:
    with pytest.raises((AssertionError, ValueError, RuntimeError)):
        check_store(kind(), only_nodes=True)


def test_a_wrong_value_of_a_read_only_store_of_nodes_is_found() -> None:
    place = Strict()
    zarr.create_array(place, data=np.arange(8), chunks=(4,))
    place.read_only, place.supports_writes = True, False
    held = dict(place.values)
    check_store(place, only_nodes=True)
    check_store(place, holds=held, only_nodes=True)
    with pytest.raises(AssertionError, match="c/1"):
        check_store(place, holds={**held, "c/1": held["c/0"]}, only_nodes=True)
