"""Object stores of obstore: the engine serves those whose configuration says all."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from async_stores import written_by_threads
from zarrix import storage
from zarrix._errors import InvalidKeyError, ReadOnlyError
from zarrix._stores.open import as_store

obstore = pytest.importorskip("obstore.store")


@pytest.fixture
def store() -> Any:
    return storage.ObjectStore(obstore.MemoryStore())


def test_it_is_a_mapping_with_the_methods_of_a_store(store: Any) -> None:
    for key, value in {"a": b"aaa", "c/d": b"ddd", "c/e/f": b"", "c/e/g": b"gggg"}.items():
        store[key] = value
    assert sorted(store) == ["a", "c/d", "c/e/f", "c/e/g"]
    assert (store["c/e/f"], "c/d" in store, "c" in store) == (b"", True, False)
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}
    assert (store.listdir(), store.listdir("c"), store.listdir("a")) == (["a", "c"], ["d", "e"], [])
    assert store.child_names("c") == ["e"]
    assert (store.getsize("a"), store.getsize("c/e"), store.getsize("x")) == (3, 4, 0)
    assert store._engine.get_slice("a", 1, 9) == store._engine.get_last("a", 2) == b"aa"
    assert store._engine.get_last("c/e/f", 5) == b""
    store.rename("c/e", "moved")
    store.rmdir("c")
    assert sorted(store) == ["a", "moved/f", "moved/g"]
    with pytest.raises(KeyError):
        del store["n"]
    with pytest.raises(InvalidKeyError):
        store["../a"] = b"1"


def test_arrays_groups_and_shards_of_an_instance_as_it_is() -> None:
    place = obstore.MemoryStore()
    values = np.arange(4096, dtype="u4").reshape(64, 64)
    root = zarr.open_group(place, mode="w", zarr_format=3)
    z = root.create_array("a", shape=(64, 64), chunks=(8, 8), shards=(32, 32), dtype="u4")
    z[:] = values
    again = zarr.open(place, mode="r+")["a"]
    assert np.array_equal(again[5:40, 3], values[5:40, 3])
    z[:] = values + 1
    assert np.array_equal(again[5:40, 3], values[5:40, 3] + 1)
    again[0, 0] = 77
    assert z[0, :2].tolist() == [77, 2]
    assert type(zarr.open(place).store) is storage.ObjectStore


def test_threads_and_handles_that_write_parts_of_one_chunk_lose_nothing() -> None:
    place = obstore.MemoryStore()
    assert written_by_threads(place) == list(range(1, 65))


def test_a_directory_is_served_by_the_engine(tmp_path: Path) -> None:
    place = obstore.LocalStore(tmp_path, mkdir=True)
    zarr.save_array(place, np.arange(5))
    assert (tmp_path / "0").is_file()
    store = storage.ObjectStore(place)
    assert type(store._engine).__name__ == "LocalStore"
    assert pickle.loads(pickle.dumps(store))["0"] == store["0"]
    assert repr(store) == f"<zarrix.storage.ObjectStore {str(tmp_path)!r}>"


SECRET = "a2V5a2V5a2V5a2V5"  # a made-up key

NATIVE = {
    "s3://bucket/p/q": lambda: obstore.S3Store(
        "bucket",
        prefix="p/q",
        access_key_id="name",
        secret_access_key=SECRET,
        endpoint="http://127.0.0.1:1",
        region="us-east-1",
        client_options={"allow_http": True},
    ),
    "gs://bucket": lambda: obstore.GCSStore("bucket", skip_signature=True),
    "az://box/z": lambda: obstore.AzureStore(
        "box", account_name="name", account_key=SECRET, prefix="z"
    ),
    "http://127.0.0.1:1/x": lambda: obstore.HTTPStore("http://127.0.0.1:1/x"),
}


@pytest.mark.parametrize("url", NATIVE)
def test_what_the_configuration_says_is_served_by_the_engine(url: str) -> None:
    store: Any = as_store(NATIVE[url]())
    assert type(store._engine).__name__ == "ObjectStore"
    assert store._engine.url == url
    assert repr(store) == f"<zarrix.storage.ObjectStore {url!r}>"
    assert store.is_writeable() is not url.startswith("http")
    pickled = pickle.dumps(store)
    assert SECRET.encode() not in pickled
    assert pickle.loads(pickled) == store


def test_one_that_only_obstore_can_open_is_called_and_its_secrets_stay_here() -> None:
    place = obstore.S3Store(
        "bucket", access_key_id="k", secret_access_key=SECRET, retry_config={"max_retries": 1}
    )
    store = storage.ObjectStore(place)
    assert type(store._engine).__name__ == "PythonStore"
    assert SECRET not in repr(store)
    with pytest.raises(pickle.PicklingError, match="has credentials, which are never pickled"):
        pickle.dumps(store)


def test_what_may_only_be_read_refuses_changes(tmp_path: Path) -> None:
    for place in (obstore.MemoryStore(), obstore.LocalStore(tmp_path)):
        zarr.save_array(place, [1, 2, 3])
        closed = storage.ObjectStore(place, read_only=True)
        assert zarr.open(closed, mode="r")[:].tolist() == [1, 2, 3]
        with pytest.raises(ReadOnlyError):
            closed["a"] = b"1"


def test_what_is_no_object_store_is_refused() -> None:
    with pytest.raises(TypeError, match=r"an instance of obstore.store, not dict"):
        storage.ObjectStore({})


def test_a_forked_child_which_has_no_threads_of_obstore_says_so() -> None:
    place = obstore.MemoryStore()
    z = zarr.create(8, chunks=2, dtype="i4", store=place)
    z[:] = 1
    child = os.fork()
    if child == 0:
        try:
            z[:]
        except RuntimeError as error:
            os._exit(0 if "'forkserver'" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert z[:].tolist() == [1] * 8
