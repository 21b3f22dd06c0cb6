"""Stores whose methods are coroutines, as zarr-python 3 has them."""

import asyncio
import io
import os
import pickle
import threading
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from async_stores import Coroutines, written_by_threads
from waiting import until
from zarrix import storage
from zarrix._errors import InvalidKeyError, ReadOnlyError
from zarrix._stores.open import as_store


def test_it_is_a_mapping_with_the_methods_of_a_store() -> None:
    store: Any = as_store(Coroutines())
    for key, value in {"a": b"aaa", "c/d": b"ddd", "c/e/f": b"fff", "c/e/g": b"gggg"}.items():
        store[key] = value
    store["c/e"] = b"with more below"
    assert sorted(store) == ["a", "c/d", "c/e", "c/e/f", "c/e/g"]
    assert (len(store), store["c/e/f"], "c/d" in store, "c" in store) == (5, b"fff", True, False)
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}
    assert (store.listdir(), store.listdir("c")) == (["a", "c"], ["d", "e"])
    assert (store.child_names("c"), store._engine.list_dir("c")) == (["e"], (["d", "e"], ["e"]))
    assert (store.getsize("a"), store.getsize("c/e/f"), store.getsize("x")) == (3, 3, 0)
    store.rename("c/e", "moved")
    store.rmdir("c")
    assert sorted(store) == ["a", "moved", "moved/f", "moved/g"]
    with pytest.raises(KeyError):
        del store["n"]
    with pytest.raises(InvalidKeyError):
        store["../a"] = b"1"
    store.clear()
    assert list(store) == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_and_groups_of_both_formats(zarr_format: Any) -> None:
    place = Coroutines()
    root = zarr.open_group(place, mode="a", zarr_format=zarr_format)
    z = root.create_array("x", shape=(10, 10), chunks=(4, 4), dtype="i4", fill_value=7)
    z[2:5, 3:9] = np.arange(18).reshape(3, 6)
    expected = np.full((10, 10), 7, "i4")
    expected[2:5, 3:9] = np.arange(18).reshape(3, 6)
    again = zarr.open(place, mode="r")
    assert np.array_equal(again["x"][:], expected)
    assert [*again] == ["x"]
    assert all(type(value) is bytes for value in place.values.values())


def sharded(place: Coroutines, **options: Any) -> Any:
    z = zarr.create_array(place, shape=4096, chunks=64, shards=4096, dtype="u4", **options)
    z[:] = np.arange(4096)
    place.asked.clear()
    return z


def test_of_a_shard_only_the_index_and_what_is_wanted_are_read() -> None:
    place = Coroutines()
    z = sharded(place, compressors=None)
    assert z[100] == 100
    index_bytes, inner_bytes = 64 * 16 + 4, 64 * 4
    assert place.asked == [
        ("c/0", index_bytes),
        ("c/0", inner_bytes),
        # Nothing but the index tells whether all this was one shard.
        ("c/0", index_bytes),
    ]
    place.asked.clear()
    assert z[200] == 200
    assert place.asked == [("c/0", inner_bytes), ("c/0", index_bytes)]
    place.asked.clear()
    assert z[:].tolist() == list(range(4096))
    assert place.asked == [("c/0", len(place.values["c/0"]))]


def test_of_a_chunk_without_codecs_one_range_is_read() -> None:
    place = Coroutines()
    z = zarr.create_array(
        place, shape=(1024, 256), chunks=(1024, 256), dtype="u4", compressors=None
    )
    z[:] = np.arange(1024 * 256).reshape(1024, 256)
    place.asked.clear()
    assert z[5:9, 3].tolist() == [1283, 1539, 1795, 2051]
    assert [key for key, _ in place.asked] == ["c/0/0"]
    assert place.asked[0][1] < 64 << 10


def test_a_shard_that_others_replace_between_two_requests_is_read_again() -> None:
    place, other = Coroutines(), Coroutines()
    z = sharded(place)
    sharded(other)[:] = np.random.default_rng(0).integers(0, 2**32, 4096, "u4")
    expected = zarr.open(other)[:]
    seen: list[str] = []

    def replace_after_the_index(key: str) -> None:
        seen.append(key)
        if len(seen) == 2:
            place.values["c/0"] = other.values["c/0"]

    place.before_get = replace_after_the_index
    assert z[1000:1010].tolist() == expected[1000:1010].tolist()


def test_an_index_that_is_remembered_and_no_longer_true_is_noticed() -> None:
    place, other = Coroutines(), Coroutines()
    z = sharded(place)
    assert z[5] == 5
    sharded(other)[:] = 0
    zarr.open(other)[77] = 9
    place.values["c/0"] = other.values["c/0"]
    assert z[70:80].tolist() == [0] * 7 + [9, 0, 0]
    del place.values["c/0"]
    assert z[5] == 0


def test_threads_and_handles_that_write_parts_of_one_chunk_lose_nothing() -> None:
    place = Coroutines()
    assert written_by_threads(place) == list(range(1, 65))


def test_what_may_only_be_read_refuses_changes() -> None:
    place = Coroutines()
    zarr.save_array(place, [1, 2, 3])
    closed = Coroutines(read_only=True)
    closed.values = place.values
    assert zarr.open(closed, mode="r")[:].tolist() == [1, 2, 3]
    with pytest.raises(ReadOnlyError):
        zarr.open_array(closed, mode="r+")[0] = 2
    with pytest.raises(ReadOnlyError):
        as_store(closed)["a"] = b"1"


def test_what_a_store_cannot_do_is_said() -> None:
    place = Coroutines()
    zarr.save_array(place, [1, 2, 3])
    place.supports_listing = place.supports_deletes = False
    assert zarr.open(place, mode="r")[:].tolist() == [1, 2, 3]
    with pytest.raises(io.UnsupportedOperation, match="Coroutines cannot be listed"):
        as_store(place).listdir()
    with pytest.raises(io.UnsupportedOperation, match="Coroutines cannot be deleted from"):
        del as_store(place)["0"]


def test_what_a_store_raises_is_an_error_and_never_fill() -> None:
    place = Coroutines()
    z = sharded(place)

    def refuse(key: str) -> None:
        if key == "c/0":
            raise PermissionError(f"403 for {key}")

    assert z[5] == 5
    place.before_get = refuse
    for read in (lambda: z[:], lambda: z[5], lambda: zarr.open(place)[5]):
        with pytest.raises(PermissionError, match="403 for c/0"):
            read()


def test_calls_from_inside_a_running_loop_end() -> None:
    place = Coroutines()

    async def inside() -> Any:
        zarr.save_array(place, [1, 2, 3])
        return zarr.open(place, mode="r")[:].tolist()

    assert asyncio.run(asyncio.wait_for(inside(), 60)) == [1, 2, 3]


def test_a_coroutine_of_a_store_may_use_another_store() -> None:
    inner, outer = Coroutines(), Coroutines()
    zarr.save_array(inner, [4, 5, 6])
    zarr.save_array(outer, [1, 2, 3])
    read: list[Any] = []
    outer.before_get = lambda key: read.append(zarr.open(inner, mode="r")[:].tolist())
    assert zarr.open(outer, mode="r")[:].tolist() == [1, 2, 3]
    assert read[0] == [4, 5, 6]


def test_a_forked_child_and_its_parent_both_go_on() -> None:
    place = Coroutines()
    z = zarr.create(8, chunks=2, dtype="i4", store=place)
    z[:] = 1
    child = os.fork()
    if child == 0:
        try:
            z[3] = 5
            os._exit(0 if z[:].tolist() == [1, 1, 1, 5, 1, 1, 1, 1] else 1)
        except BaseException:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert z[:].tolist() == [1] * 8


def test_one_object_is_one_store_and_a_pickle_has_its_own() -> None:
    place = Coroutines()
    store = as_store(place)
    assert as_store(place)._engine.id == store._engine.id
    assert store == as_store(place)
    assert (store == 5) is False
    assert repr(store) == f"<zarrix.storage.AsyncStore of Coroutines at {id(place):#x}>"
    store["a"] = b"1"
    twin = pickle.loads(pickle.dumps(store))
    twin["b"] = b"2"
    assert (twin["a"], sorted(twin), sorted(store)) == (b"1", ["a", "b"], ["a"])
    assert isinstance(twin, storage.Store)


class OnlyOf3(Coroutines):
    """As Icechunk: it has no documents of v2, and raises an error where it is asked for one."""

    async def exists(self, key: str) -> bool:
        if key.rpartition("/")[2].startswith(".z"):
            raise LookupError(f"v2 key not found at {key!r}")
        return await super().exists(key)


def test_a_store_without_keys_of_v2_is_overwritten() -> None:
    store = OnlyOf3()
    for _ in range(2):
        group = zarr.open_group(store, mode="w", zarr_format=3)
        assert list(group) == []
        group["a"] = [1, 2]
        group["a"] = [3]
        assert group["a"][:].tolist() == [3]


class OfIcechunk(OnlyOf3):
    """It also refuses such documents, as a session's store does."""

    async def set(self, key: str, value: Any) -> None:
        if key.rpartition("/")[2].startswith(".z"):
            raise NotImplementedError("cannot set Zarr V2 metadata keys")
        await super().set(key, value)


def test_new_nodes_in_a_session_of_icechunk_are_of_v3() -> None:
    OfIcechunk.__module__ = "icechunk.store"
    store = OfIcechunk()
    for _ in range(2):
        group = zarr.open_group(store, mode="w")
        assert (list(group), group.zarr_format) == ([], 3)
        group["a"] = [1, 2]
        z = zarr.open_array(store, mode="w", path="b/c", shape=2, dtype="i4")
        assert (z[:].tolist(), z.zarr_format) == ([0, 0], 3)
    with pytest.raises(TypeError, match=r"call session\.commit\(message\)"), zarr.commit(store):
        pass
    with pytest.raises(ValueError, match="holds only v3, so zarr_format=2 needs another store"):
        zarr.open_group(store, mode="w", zarr_format=2)


@pytest.mark.parametrize("wrong", [5, "text", [1, 2], {"a": 1}, np.array([None])])
def test_a_value_that_is_no_buffer_is_an_error_that_names_the_key(wrong: Any) -> None:
    """An int has ``to_bytes()``, too."""

    class Wrong(Coroutines):
        gives: Any = None

        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            if self.gives is not None and key == "c/0":
                return self.gives
            return await super().get(key, prototype, byte_range)

    store = Wrong()
    z = zarr.create_array(store, data=np.arange(4, dtype="u1"), compressors=None)
    for right in (b"\4\5\6\7", bytearray(b"\4\5\6\7"), memoryview(b"\4\5\6\7")):
        store.gives = right
        assert z[:].tolist() == [4, 5, 6, 7]
    store.gives = wrong
    with pytest.raises(TypeError, match=r"Wrong\.get\('c/0'\) gave '\w+', which is not a Buffer"):
        z[:]


@pytest.mark.parametrize("what", ["exit", "stop"])
def test_a_store_that_ends_the_loop_does_not_end_those_of_others(what: str) -> None:
    class Ending(Coroutines):
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            if key == "exit":
                raise SystemExit(3)
            if key == "stop":
                asyncio.get_running_loop().stop()
            return await super().get(key, prototype, byte_range)

    store = storage.AsyncStore(Ending())
    store["a"], store["stop"] = b"1", b"2"

    answers: list[Any] = []

    def ask() -> None:
        try:
            answers.append(store[what])
        except SystemExit as error:
            answers.append(error.code)
        answers.append(store["a"])

    # A daemon, because what fails here waits for ever.
    threading.Thread(target=ask, daemon=True).start()
    until(lambda: len(answers) == 2)
    assert answers == [3 if what == "exit" else b"2", b"1"]
