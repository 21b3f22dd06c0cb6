"""Stores in Redis and MongoDB. Redis is a real server; MongoDB's client is mongomock's."""

import os
import pickle
import shutil
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from database_values import check_filled, fill
from servers import free_ports
from zarrix import _database_server, storage

SECRET = "verysecretword"


@pytest.fixture(scope="module")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Any:
    redis = pytest.importorskip("redis", reason="pip install 'zarrix[redis]'")
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    (port,) = free_ports(1)
    command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    command += ["--requirepass", SECRET, "--dir", str(tmp_path_factory.mktemp("redis"))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                with redis.Redis(port=port, password=SECRET) as client:
                    client.ping()
                break
            except redis.ConnectionError:
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(params=["redis", "mongodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "redis":
        port = request.getfixturevalue("redis_port")
        made: Any = storage.RedisStore(f"x[{time.monotonic()}]", port=port, password=SECRET)
    else:
        pymongo = pytest.importorskip("pymongo", reason="pip install pymongo mongomock")
        mongomock = pytest.importorskip("mongomock", reason="pip install pymongo mongomock")
        servers = mongomock.store.ServerStore()
        monkeypatch.setattr(
            pymongo, "MongoClient", lambda **kwargs: mongomock.MongoClient(_store=servers)
        )
        made = storage.MongoDBStore(host=f"mongodb://me:{SECRET}@127.0.0.1:1")
    with made:
        yield made


def test_it_is_a_mapping_with_the_methods_of_a_store(store: Any) -> None:
    fill(store)
    check_filled(store)
    store.rename("c/e", "moved")
    store.rmdir("c")
    assert sorted(store) == ["a", "c0", "moved/f", "moved/g"]
    with pytest.raises(KeyError):
        del store["n"]
    store.clear()
    assert list(store) == []


def test_arrays_groups_and_shards(store: Any) -> None:
    root = zarr.open_group(store, mode="a")
    z = root.create_dataset("x", shape=(9, 9), chunks=(4, 4), dtype="i4")
    z[2:5, 3:9] = np.arange(18).reshape(3, 6)
    expected = np.zeros((9, 9), "i4")
    expected[2:5, 3:9] = np.arange(18).reshape(3, 6)
    assert np.array_equal(zarr.open_group(store, mode="r")["x"][:], expected)


def test_passwords_are_not_shown_or_pickled(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store["a"] = b"1"
    pickled = pickle.dumps(store)
    assert SECRET.encode() not in pickled
    assert SECRET not in repr(store)
    assert pickle.loads(pickled) == store
    assert pickle.loads(pickled)["a"] == b"1"
    monkeypatch.setattr(_database_server, "_given", {})
    twin = pickle.loads(pickled)
    variable = {"RedisStore": "ZARRIX_REDIS_PASSWORD"}.get(
        type(store).__name__, "ZARRIX_MONGODB_HOST"
    )
    with pytest.raises(PermissionError, match=variable):
        twin["a"]
    monkeypatch.setenv(variable, SECRET)
    assert twin["a"] == b"1"


WRITER = """
import os, sys
import zarrix as zarr
from zarrix import storage

prefix, port, first, step = sys.argv[1:]
with storage.RedisStore(prefix, port=int(port), password=os.environ["PASSWORD"]) as store:
    z = zarr.open_array(store, mode="r+")
    for position in range(int(first), z.shape[0], int(step)):
        z[position] = position + 1
"""


def test_processes_that_write_parts_of_one_chunk_all_keep_them(redis_port: int) -> None:
    prefix = f"writers-{os.getpid()}"
    store = storage.RedisStore(prefix, port=redis_port, password=SECRET)
    z = zarr.create(48, chunks=48, dtype="i4", store=store)
    command = [sys.executable, "-c", WRITER, prefix, str(redis_port)]
    environment = {**os.environ, "PASSWORD": SECRET}
    writers = [subprocess.Popen([*command, str(n), "3"], env=environment) for n in range(3)]
    assert [writer.wait(300) for writer in writers] == [0] * 3
    assert z[:].tolist() == list(range(1, 49))
    store.close()


def test_a_forked_child_and_its_parent_both_go_on(redis_port: int) -> None:
    store = storage.RedisStore(f"fork-{os.getpid()}", port=redis_port, password=SECRET)
    store["a"] = b"1"
    child = os.fork()
    if child == 0:
        store["child"] = store["a"]
        os._exit(0 if store["child"] == b"1" else 1)
    store["parent"] = store["a"]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (store["child"], store["parent"]) == (b"1", b"1")
    store.close()


@pytest.mark.parametrize("package", ["redis", "pymongo"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    kind = {"redis": storage.RedisStore, "pymongo": storage.MongoDBStore}[package]
    with pytest.raises(ImportError, match=f"needs the package {package}: pip install 'zarrix"):
        kind()
