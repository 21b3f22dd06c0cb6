"""Stores of zarrix under zarr-python's own suite for stores, and under xarray and dask."""

import json
import os
import pickle
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix
from zarrix import storage

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from zarr.core.buffer import Buffer, cpu
from zarr.testing.store import StoreTests
from zarrix.interop import ZarrStore

# Servers that tests/interop started: the URL of a bucket and how it is asked, by name.
SERVERS = json.loads(os.environ.get("ZARRIX_TEST_SERVERS", "{}"))


class Suite(StoreTests[ZarrStore, cpu.Buffer]):
    """The suite, over the store that ``store_kwargs`` name."""

    store_cls = ZarrStore
    buffer_cls = cpu.Buffer

    async def set(self, store: ZarrStore, key: str, value: Buffer) -> None:
        store.store[key] = value.to_bytes()

    async def get(self, store: ZarrStore, key: str) -> Buffer:
        return self.buffer_cls.from_bytes(store.store[key])

    def test_store_repr(self, store: ZarrStore) -> None:
        assert repr(store) == str(store) == f"<zarrix.interop.ZarrStore of {store.store!r}>"

    def test_store_supports_writes(self, store: ZarrStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: ZarrStore) -> None:
        assert store.supports_listing


class TestMemory(Suite):
    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": storage.MemoryStore()}


class TestDisk(Suite):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": str(tmp_path / "x.zarr")}


class TestZip(Suite):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": storage.ZipStore(tmp_path / "x.zip")}


class TestDatabase(Suite):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": storage.SQLiteStore(tmp_path / "x.sqlite")}


class TestCalled(Suite):
    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": storage.KVStore({})}


@pytest.mark.skipif(not SERVERS, reason="tests/interop starts servers")
class TestServers(Suite):
    @pytest.fixture(params=SERVERS)
    def store_kwargs(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        url, options = SERVERS[request.param]
        return {"store": f"{url}/{uuid.uuid4().hex}", "storage_options": options}


def test_each_reads_what_the_other_wrote(tmp_path: Path) -> None:
    store = ZarrStore(tmp_path / "x")
    values = np.arange(600, dtype="f4").reshape(20, 30)
    theirs = zarr.create_array(store, name="a", shape=(20, 30), chunks=(7, 7), dtype="f4")
    theirs[:] = values
    shards = zarr.create_array(store, name="b", shape=4096, chunks=64, shards=1024, dtype="i8")
    shards[:] = np.arange(4096)
    assert np.array_equal(zarrix.open(str(tmp_path / "x"), mode="r")["a"][:], values)
    ours = zarrix.open(store, mode="r+")
    assert type(ours.store) is storage.DirectoryStore
    ours["b"][5] = -5
    assert shards[4:7].tolist() == [4, -5, 6]


def test_a_read_only_one_is_read_only_in_both(tmp_path: Path) -> None:
    zarrix.save_array(str(tmp_path / "x"), np.arange(3))
    closed = ZarrStore(tmp_path / "x", read_only=True)
    assert zarr.open_array(closed)[:].tolist() == [0, 1, 2]
    with pytest.raises(zarrix.errors.ReadOnlyError):
        zarrix.open_array(closed, mode="r+")[0] = 1
    with pytest.raises(zarrix.errors.ReadOnlyError):
        ZarrStore(storage.LocalStore(tmp_path / "x", read_only=True)).with_read_only(False)


def test_ranges_are_cut_at_the_end_of_the_value() -> None:
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

    for inner in (storage.MemoryStore(), storage.KVStore({}), storage.TempStore()):
        store = ZarrStore(inner)
        inner["a"] = b"0123"
        found = {
            part: store.get_sync("a", byte_range=part).to_bytes()
            for part in (
                *(RangeByteRequest(0, 9), RangeByteRequest(2, 9), RangeByteRequest(7, 9)),
                *(OffsetByteRequest(1), OffsetByteRequest(5)),
                *(SuffixByteRequest(2), SuffixByteRequest(9)),
            )
        }
        assert [*found.values()] == [b"0123", b"23", b"", b"123", b"", b"23", b"0123"]
        assert store.get_sync("b", byte_range=OffsetByteRequest(1)) is None


def test_a_prototype_may_be_left_out_as_in_zarr_pythons_stores() -> None:
    import asyncio

    store = ZarrStore(storage.MemoryStore())
    store.store["a"] = b"0123"
    assert asyncio.run(store.get("a")).to_bytes() == b"0123"
    asyncio.run(store.delete(""))
    assert list(store.store) == ["a"]


def test_existence_in_a_foreign_store_reads_no_value() -> None:
    import asyncio

    class Counting(zarr.storage.WrapperStore[Any]):
        asked: list[str]

        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            self.asked.append(key)
            return await super().get(key, *arguments, **options)

    foreign = Counting(zarr.storage.MemoryStore())
    foreign.asked = []
    store = ZarrStore(foreign)
    asyncio.run(store.set("a", cpu.Buffer.from_bytes(b"0123")))
    assert asyncio.run(store.exists("a"))
    assert not asyncio.run(store.exists("b"))
    assert foreign.asked == []


def test_many_who_add_one_key_agree_on_a_value() -> None:
    import asyncio

    store = ZarrStore(storage.MemoryStore())

    async def add() -> None:
        buffers = [cpu.Buffer.from_bytes(bytes([number])) for number in range(50)]
        await asyncio.gather(*(store.set_if_not_exists("a", buffer) for buffer in buffers))

    asyncio.run(add())
    assert len(store.store["a"]) == 1


def test_a_forked_child_has_threads_of_its_own(tmp_path: Path) -> None:
    z = zarr.create_array(ZarrStore(tmp_path / "x"), shape=10, chunks=2, dtype="i4")
    z[:] = 3
    child = os.fork()
    if child == 0:
        os._exit(0 if z[:].tolist() == [3] * 10 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_no_pickle_or_repr_has_credentials() -> None:
    options = {"key": "abc", "secret": "verysecret", "client_kwargs": {"region_name": "x"}}
    store = ZarrStore("s3://bucket/x", storage_options=options)
    assert b"verysecret" not in pickle.dumps(store)
    assert "verysecret" not in repr(store)


def test_xarray_writes_and_reads_through_it(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("dask")
    values = np.random.default_rng(0).random((50, 40))
    dataset = xarray.Dataset(
        {"t": (("y", "x"), values)}, coords={"y": np.arange(50), "x": np.linspace(0, 1, 40)}
    )
    store = ZarrStore(tmp_path / "x")
    dataset.chunk(y=25).to_zarr(store, consolidated=False)
    xarray.testing.assert_identical(xarray.open_zarr(store, consolidated=False).load(), dataset)
    assert np.array_equal(zarrix.open(str(tmp_path / "x"), mode="r")["t"][:], values)


def test_dask_writes_and_reads_through_it(tmp_path: Path) -> None:
    dask = pytest.importorskip("dask.array")
    values = np.arange(600).reshape(20, 30)
    z = zarr.create_array(ZarrStore(tmp_path / "x"), shape=(20, 30), chunks=(5, 10), dtype="i8")
    dask.from_array(values, chunks=(5, 10)).to_zarr(z)
    found = dask.from_zarr(zarr.open_array(ZarrStore(tmp_path / "x"), mode="r"))
    assert np.array_equal(found.compute(), values)
