"""Stores of zarr-python 3, of Icechunk and of VirtualiZarr as stores of zarrix."""

import asyncio
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix
from zarrix import storage

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr

KINDS = ["local", "memory", "fsspec", "zip", "object", "wrapper", "icechunk"]


def icechunk_session() -> Any:
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    return repository.writable_session("main")


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    def of_objects() -> Any:
        obstore = pytest.importorskip("obstore")
        return zarr.storage.ObjectStore(obstore.store.MemoryStore())

    def of_fsspec() -> Any:
        return zarr.storage.FsspecStore.from_url(f"memory://{tmp_path}")

    return {
        "local": lambda: zarr.storage.LocalStore(tmp_path / "x"),
        "memory": zarr.storage.MemoryStore,
        "fsspec": of_fsspec,
        "zip": lambda: zarr.storage.ZipStore(tmp_path / "x.zip", mode="w"),
        "object": of_objects,
        "wrapper": lambda: zarr.storage.WrapperStore(zarr.storage.MemoryStore()),
        "icechunk": lambda: icechunk_session().store,
    }[request.param]()


def test_what_zarr_python_writes_is_read_here_and_the_other_way_round(store: Any) -> None:
    theirs = zarr.open_group(store, mode="a")
    values = np.arange(600, dtype="f4").reshape(20, 30)
    theirs.create_array("a", shape=(20, 30), chunks=(7, 7), dtype="f4")[:] = values
    theirs.create_array("b", shape=4096, chunks=64, shards=4096, dtype="i8")[:] = range(4096)
    ours = zarrix.open(store, mode="r+")
    assert np.array_equal(ours["a"][:], values)
    assert ours["b"][1000:1003].tolist() == [1000, 1001, 1002]
    assert sorted(ours) == ["a", "b"]
    if isinstance(store, zarr.storage.ZipStore):
        return
    ours["a"][3:5] = 0
    ours["b"][7] = -1
    ours.create_array("new", shape=10, chunks=5, dtype="u1")[:] = 9
    values[3:5] = 0
    assert np.array_equal(zarr.open_array(store, path="a", mode="r")[:], values)
    assert zarr.open_array(store, path="b", mode="r")[5:9].tolist() == [5, 6, -1, 8]
    assert zarr.open_array(store, path="new", mode="r")[:].tolist() == [9] * 10


def test_one_that_is_read_only_refuses_changes(tmp_path: Path) -> None:
    zarrix.save_array(str(tmp_path / "x"), np.arange(3))
    memory = zarr.storage.MemoryStore()
    zarrix.save_array(memory, np.arange(3))
    for closed in (
        zarr.storage.LocalStore(tmp_path / "x", read_only=True),
        memory.with_read_only(True),
    ):
        assert zarrix.open(closed, mode="r")[:].tolist() == [0, 1, 2]
        with pytest.raises(zarrix.errors.ReadOnlyError):
            zarrix.open_array(closed, mode="r+")[0] = 5


def test_local_files_are_served_by_the_engine(tmp_path: Path) -> None:
    z = zarrix.open_group(zarr.storage.LocalStore(tmp_path / "x"), mode="w")
    assert type(z.store) is storage.LocalStore


def test_a_session_of_icechunk_is_a_store_and_a_commit_keeps_what_was_written() -> None:
    session = icechunk_session()
    z = zarrix.create_array(session, name="a", shape=4096, chunks=64, shards=1024, dtype="i4")
    z[:] = np.arange(4096)
    z[7] = -7
    session.commit("written by zarrix")
    reader = session.repo.readonly_session("main") if hasattr(session, "repo") else None
    found = zarrix.open_array(reader or session.store, path="a", mode="r")
    assert found[5:9].tolist() == [5, 6, -7, 8]
    assert zarr.open_array(session.store, path="a", mode="r")[7] == -7


def test_a_manifest_of_virtualizarr_is_read(tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore")
    manifests = pytest.importorskip("virtualizarr.manifests")
    registry_of = pytest.importorskip("obspec_utils.registry").ObjectStoreRegistry
    (tmp_path / "data.bin").write_bytes(b"head" + np.arange(12, dtype="<i4").tobytes())
    metadata = zarr.create_array(
        zarr.storage.MemoryStore(), shape=12, chunks=6, dtype="<i4", compressors=None
    ).metadata
    where = f"file://{tmp_path}/data.bin"
    entries = {str(i): {"path": where, "offset": 4 + 24 * i, "length": 24} for i in range(2)}
    array = manifests.ManifestArray(
        metadata=metadata, chunkmanifest=manifests.ChunkManifest(entries=entries)
    )
    registry = registry_of({"file://": obstore.store.LocalStore()})
    store = manifests.ManifestStore(
        registry=registry, group=manifests.ManifestGroup(arrays={"a": array})
    )
    assert zarrix.open_array(store, path="a", mode="r")[:].tolist() == [*range(12)]
    assert sorted(zarrix.open_group(store, mode="r")) == ["a"]


def test_a_store_is_used_from_inside_a_loop_and_after_a_fork() -> None:
    store = zarr.storage.MemoryStore()

    async def inside() -> Any:
        zarrix.save_array(store, np.arange(5))
        return zarrix.open(store, mode="r")[:].tolist()

    assert asyncio.run(asyncio.wait_for(inside(), 60)) == [0, 1, 2, 3, 4]
    child = os.fork()
    if child == 0:
        os._exit(0 if zarrix.open(store, mode="r")[2] == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_pickle_has_what_that_of_the_store_has(tmp_path: Path) -> None:
    store = zarr.storage.ZipStore(tmp_path / "x.zip", mode="w")
    zarrix.save_array(store, np.arange(5))
    store.close()
    z = zarrix.open(zarr.storage.ZipStore(tmp_path / "x.zip", mode="r"), mode="r")
    assert pickle.loads(pickle.dumps(z))[:].tolist() == [0, 1, 2, 3, 4]
