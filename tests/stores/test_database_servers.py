"""Stores in Redis and MongoDB, on servers; where passwords go, with mongomock's client, too."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from database_values import check_filled, check_fork, fill
from elsewhere import forget_secrets
from servers import SECRET, Running
from zarrix import storage
from zarrix.testing import check_store

OPENED: dict[str, Callable[..., Any]] = {
    "redis": lambda name, **options: storage.RedisStore(name, **options),
    "mongodb": lambda name, **options: storage.MongoDBStore(collection=name, **options),
}


@pytest.fixture(params=[*OPENED, "mongomock"])
def store(
    request: pytest.FixtureRequest, serve: Callable[[str], Running], monkeypatch: pytest.MonkeyPatch
) -> Any:
    if request.param in OPENED:
        found = serve(request.param)
        made: Any = OPENED[request.param](f"x[{time.monotonic()}]", **found.options)
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


@pytest.mark.parametrize("name", OPENED)
def test_it_conforms(name: str, serve: Callable[[str], Running]) -> None:
    found = serve(name)
    with (
        OPENED[name]("conformance", **found.options) as store,
        OPENED[name]("conformance", **found.options) as twin,
    ):
        check_store(store, twin)


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
    if not store._hidden:
        pytest.skip("this server asks for no password")
    store["a"] = b"1"
    pickled = pickle.dumps(store)
    assert SECRET.encode() not in pickled
    assert SECRET not in repr(store)
    assert pickle.loads(pickled) == store
    assert pickle.loads(pickled)["a"] == b"1"
    forget_secrets(monkeypatch)
    twin = pickle.loads(pickled)
    variable = {"RedisStore": "ZARRIX_REDIS_PASSWORD"}.get(
        type(store).__name__, "ZARRIX_MONGODB_HOST"
    )
    with pytest.raises(PermissionError, match=variable):
        twin["a"]
    monkeypatch.setenv(variable, SECRET)
    assert twin["a"] == b"1"


WRITER = """
import json, os, sys
import zarrix as zarr
from zarrix import storage

kind, arguments, first, step = sys.argv[1:]
with getattr(storage, kind)(**json.loads(arguments), **json.loads(os.environ["OPTIONS"])) as store:
    z = zarr.open_array(store, mode="r+")
    for position in range(int(first), z.shape[0], int(step)):
        z[position] = position + 1
"""
NAMES = {"redis": ("RedisStore", "prefix"), "mongodb": ("MongoDBStore", "collection")}


@pytest.mark.parametrize("name", OPENED)
def test_processes_that_write_parts_of_one_chunk_all_keep_them(
    name: str, serve: Callable[[str], Running]
) -> None:
    found, place = serve(name), f"writers-{os.getpid()}"
    with OPENED[name](place, **found.options) as store:
        z = zarr.create(48, chunks=48, dtype="i4", store=store)
        kind, argument = NAMES[name]
        command = [sys.executable, "-c", WRITER, kind, json.dumps({argument: place})]
        environment = {**os.environ, "OPTIONS": json.dumps(found.options)}
        writers = [subprocess.Popen([*command, str(n), "3"], env=environment) for n in range(3)]
        assert [writer.wait(300) for writer in writers] == [0] * 3
        assert z[:].tolist() == list(range(1, 49))


@pytest.mark.parametrize("name", OPENED)
def test_a_forked_child_and_its_parent_both_go_on(
    name: str, serve: Callable[[str], Running]
) -> None:
    with OPENED[name](f"fork-{os.getpid()}", **serve(name).options) as store:
        check_fork(store)


@pytest.mark.parametrize("package", ["redis", "pymongo"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    kind = {"redis": storage.RedisStore, "pymongo": storage.MongoDBStore}[package]
    with pytest.raises(ImportError, match=f"needs the package {package}: pip install 'zarrix"):
        kind()
