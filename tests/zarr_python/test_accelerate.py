"""`accelerate`: what is replaced, what is served, what falls back, and what concurrent writers may
lose. That the results are equal is in test_accelerate_equal.py.
"""

import asyncio
import os
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
import zarrix
from zarr.core.buffer import cpu
from zarrix.interop import ZarrStore, accelerate

ORIGINAL = zarr.Array.__getitem__, zarr.Array.get_mask_selection, zarr.AsyncArray.setitem


def methods() -> Any:
    return zarr.Array.__getitem__, zarr.Array.get_mask_selection, zarr.AsyncArray.setitem


def is_served(array: Any) -> bool:
    bound = array._async_array.__dict__.get("_zarrix_bound")
    return bound is not None and bound.io is not None


def numbers(store: Any, **arguments: Any) -> Any:
    given = {"shape": (20, 30), "chunks": (7, 7), "dtype": "f4"} | arguments
    array = zarr.create_array(store, **given)
    array[...] = np.arange(600).reshape(20, 30).astype(array.dtype)
    return array


@pytest.fixture
def on() -> Iterator[None]:
    with accelerate():
        yield


def test_it_is_undone_by_its_block_and_by_a_call() -> None:
    assert methods() == ORIGINAL
    with accelerate():
        assert all(a is not b for a, b in zip(methods(), ORIGINAL, strict=True))
        with accelerate():
            pass
        assert methods() != ORIGINAL
        with accelerate(False):
            assert methods() == ORIGINAL
        assert methods() != ORIGINAL
    assert methods() == ORIGINAL
    accelerate()
    accelerate()
    accelerate(False)
    assert methods() == ORIGINAL


def test_methods_keep_their_names_and_documentation(on: None) -> None:
    assert zarr.Array.get_basic_selection.__name__ == "get_basic_selection"
    assert "selection" in (zarr.Array.__getitem__.__doc__ or "")


def store_of(kind: str, tmp_path: Path) -> Any:
    storage = zarr.storage
    return {
        "memory": storage.MemoryStore,
        "local": lambda: storage.LocalStore(tmp_path / "local"),
        "fsspec": lambda: storage.FsspecStore.from_url(f"memory://{tmp_path}"),
        "ours": lambda: ZarrStore(tmp_path / "ours"),
        "managed": lambda: storage.ManagedMemoryStore(name=tmp_path.name, path="below"),
    }[kind]()


@pytest.mark.parametrize("kind", ["memory", "local", "fsspec", "ours", "managed"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_stores_are_served(kind: str, zarr_format: int, tmp_path: Path, on: None) -> None:
    array = numbers(store_of(kind, tmp_path), name="a", zarr_format=zarr_format)
    assert is_served(array)
    array[3:5, 2] = 7
    with accelerate(False):
        expected = np.arange(600, dtype="f4").reshape(20, 30)
        expected[3:5, 2] = 7
        assert np.array_equal(array[:], expected)


def test_an_obstore_is_served(on: None) -> None:
    obstore = pytest.importorskip("obstore")
    array = numbers(zarr.storage.ObjectStore(obstore.store.MemoryStore()))
    assert is_served(array)
    assert array[19, 29] == 599


def test_icechunk_is_served_and_a_commit_has_what_was_written(on: None) -> None:
    icechunk = pytest.importorskip("icechunk")
    repository = icechunk.Repository.create(icechunk.in_memory_storage())
    session = repository.writable_session("main")
    array = numbers(session.store, name="a")
    array[0, 0] = 7
    assert is_served(array)
    session.commit("written through the engine")
    with pytest.raises(Exception, match=r"(?i)read.only"):
        array[0, 0] = 8
    found = zarr.open_array(repository.readonly_session("main").store, path="a", mode="r")
    assert found[0, :3].tolist() == [7, 1, 2]
    assert is_served(found)
    with accelerate(False):
        assert found[19, 29] == 599


class Logged(zarr.storage.MemoryStore):
    """A user's store: what it does with values is its own affair."""


def test_what_is_not_served_is_left_to_zarr_python(tmp_path: Path, on: None) -> None:
    class Mine(zarr.codecs.GzipCodec):
        pass

    arrays = [
        numbers(zarr.storage.WrapperStore(zarr.storage.MemoryStore())),
        numbers(Logged()),
        numbers(zarr.storage.MemoryStore(), compressors=Mine()),
        numbers(zarr.storage.ZipStore(tmp_path / "x.zip", mode="w")),
    ]
    for array in arrays:
        assert array[19, 29] == 599
        assert not is_served(array)


def test_other_buffers_are_left_to_zarr_python(on: None) -> None:
    class Mine(cpu.NDBuffer):
        pass

    array = numbers(zarr.storage.MemoryStore())
    prototype = zarr.core.buffer.BufferPrototype(buffer=cpu.Buffer, nd_buffer=Mine)
    assert array.get_basic_selection((0, 1), prototype=prototype) == 1
    out = Mine.create(shape=(2,), dtype="f4")
    assert array.get_basic_selection((slice(2), 1), out=out).tolist() == [1, 31]
    out = cpu.NDBuffer.create(shape=(2,), dtype="f4")
    found = array.get_basic_selection((slice(2), 1), out=out)
    assert found.tolist() == out.as_numpy_array().tolist() == [1, 31]
    assert np.shares_memory(found, out.as_numpy_array())
    with pytest.raises(ValueError, match="shape of out argument"):
        array.get_basic_selection((slice(3), 1), out=out)


def test_a_resize_is_seen_by_the_next_call(on: None) -> None:
    array = numbers(zarr.storage.MemoryStore())
    assert array[-1, -1] == 599
    array.resize((22, 30))
    assert array[-1, -1] == 0
    assert array.append(np.ones((2, 30), "f4")) == (24, 30)
    assert array[20:].sum() == 60


def test_a_missing_chunk_is_an_error_where_it_is_one(on: None) -> None:
    store = zarr.storage.MemoryStore()
    array = zarr.create_array(
        store, shape=9, chunks=3, dtype="i4", config={"read_missing_chunks": False}
    )
    array[:3] = 1
    assert is_served(array)
    assert array[:3].tolist() == [1, 1, 1]
    with pytest.raises(zarr.errors.ChunkNotFoundError, match="c/1"):
        array[:]


def test_a_damaged_chunk_raises_the_error_of_zarr_python(on: None) -> None:
    store = zarr.storage.MemoryStore()
    array = numbers(store)
    store._store_dict["c/0/0"] = cpu.Buffer.from_bytes(b"damaged")
    with accelerate(False), pytest.raises(Exception) as expected:
        array[:]
    with pytest.raises(expected.type):
        array[:]
    assert array[8, 8] == 248


def test_a_read_only_store_refuses_in_the_words_of_zarr_python(on: None) -> None:
    store = zarr.storage.MemoryStore()
    numbers(store)
    array = zarr.open_array(store.with_read_only(True), mode="r")
    assert array[1, 1] == 31
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1


def test_a_method_that_is_replaced_in_a_store_is_called(
    monkeypatch: pytest.MonkeyPatch, on: None
) -> None:
    store = zarr.storage.MemoryStore()
    array = numbers(store)
    assert is_served(array)

    async def refuse(*arguments: Any, **options: Any) -> None:
        raise RuntimeError("refused")

    with monkeypatch.context() as patched:
        patched.setattr(store, "set", refuse)
        with pytest.raises(RuntimeError, match="refused"):
            array[0, 0] = 1
    array[0, 0] = 1
    assert is_served(array)


def test_coroutines_are_served(on: None) -> None:
    array = numbers(zarr.storage.MemoryStore())._async_array

    async def work() -> Any:
        await array.setitem((slice(2), 0), 5)
        some = await array.getitem((slice(3), 0))
        by_axis = await array.oindex.getitem(([0, 2], [1, 3]))
        points = await array.vindex.getitem(([0, 2], [1, 3]))
        return some.tolist(), by_axis.tolist(), points.tolist()

    assert asyncio.run(work()) == ([5, 5, 60], [[1, 3], [61, 63]], [1, 63])


def test_arrays_are_pickled_and_copied_as_before(tmp_path: Path, on: None) -> None:
    array = numbers(zarr.storage.LocalStore(tmp_path / "x"))
    assert is_served(array)
    pickled = pickle.dumps(array)
    assert b"zarrix" not in pickled.replace(b"_zarrix_bound", b"").replace(b"_zarrix_store", b"")
    copied = pickle.loads(pickled)
    assert copied == array
    assert copied[19, 29] == 599
    assert is_served(copied)


def test_a_forked_child_reads_and_writes(tmp_path: Path, on: None) -> None:
    array = numbers(zarr.storage.LocalStore(tmp_path / "x"))
    child = os.fork()
    if child == 0:
        array[0, 0] = 9
        os._exit(0 if array[0, 0] == 9 and array[19, 29] == 599 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert array[0, 0] == 9


def test_writers_that_are_accelerated_lose_nothing(tmp_path: Path, on: None) -> None:
    """Each thread writes its own elements of one chunk: as zarr-python#3682, but all are kept."""
    for store in (zarr.storage.LocalStore(tmp_path / "x"), zarr.storage.MemoryStore()):
        array = zarr.create_array(store, shape=64, chunks=64, dtype="i4")
        handles = [zarr.open_array(store, mode="r+") for _ in range(8)]

        def write(number: int, handles: list[Any] = handles) -> None:
            for element in range(number, 64, 8):
                handles[number][element] = element + 1

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert array[:].tolist() == [*range(1, 65)]


def test_a_writer_of_zarrix_and_an_accelerated_one_lose_nothing(tmp_path: Path, on: None) -> None:
    theirs = zarr.create_array(tmp_path / "x", shape=64, chunks=64, dtype="i4")
    ours = zarrix.open_array(str(tmp_path / "x"), mode="r+")

    def write(array: Any, first: int) -> None:
        for element in range(first, 64, 2):
            array[element] = element + 1

    other = threading.Thread(target=write, args=(ours, 0))
    other.start()
    write(theirs, 1)
    other.join()
    assert theirs[:].tolist() == [*range(1, 65)]


def test_a_writer_that_is_not_accelerated_may_undo_what_another_wrote(on: None) -> None:
    """What the documentation warns of, made certain: zarr-python read the chunk before, and stores
    it after another writer. It takes no lock, so that no lock of ours can help.
    """

    class Slow(zarr.storage.MemoryStore):
        def __init__(self, values: Any) -> None:
            super().__init__(values)
            self.read, self.go_on = threading.Event(), threading.Event()

        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            if key.startswith("c"):
                self.read.set()
                await asyncio.to_thread(self.go_on.wait, 60)
            await super().set(key, value)

    fast = zarr.storage.MemoryStore()
    array = zarr.create_array(fast, shape=8, chunks=8, dtype="i4")
    array[:] = 1
    slow = Slow(fast._store_dict)
    other = zarr.open_array(slow, mode="r+")
    writer = threading.Thread(target=other.__setitem__, args=(0, 5))
    writer.start()
    assert slow.read.wait(60)
    array[7] = 9
    slow.go_on.set()
    writer.join()
    assert array[:].tolist() == [5, 1, 1, 1, 1, 1, 1, 1]


def test_an_unknown_zarr_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(zarr.Array, "get_block_selection")
    with pytest.raises(RuntimeError, match="has no method get_block_selection"):
        accelerate()
    assert methods() == ORIGINAL


def test_versions_are_known_tried_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr, "__version__", "3.3.9")
    with pytest.raises(RuntimeError, match=r"needs zarr-python 3\.4 or newer; 3\.3\.9"):
        accelerate()
    monkeypatch.setattr(zarr, "__version__", "4.0.0rc1")
    with accelerate():
        assert methods() != ORIGINAL
    assert methods() == ORIGINAL


def test_a_version_with_other_results_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    original = zarr.Array.__getitem__

    def scalars(self: Any, key: Any) -> Any:
        found = original(self, key)
        return found[()] if not found.shape else found

    monkeypatch.setattr(zarr.Array, "__getitem__", scalars)
    monkeypatch.setattr(zarr, "__version__", "3.9.0")
    with pytest.raises(RuntimeError, match="other results"):
        accelerate()
    assert zarr.Array.__getitem__ is scalars


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_store_that_moves_takes_open_arrays_along(
    zarr_format: int, tmp_path: Path, on: None
) -> None:
    store = zarr.storage.LocalStore(tmp_path / "before")
    array = numbers(store, name="a", zarr_format=zarr_format)
    assert is_served(array)
    asyncio.run(store.move(tmp_path / "after"))
    assert array[19, 29] == 599
    array[0, 0] = 7
    assert not (tmp_path / "before").exists()
    assert is_served(array)
    with accelerate(False):
        assert zarr.open_array(tmp_path / "after" / "a")[0, 0] == 7


def test_a_store_with_another_mapping_is_another_store(on: None) -> None:
    store = zarr.storage.MemoryStore()
    array = numbers(store, name="a")
    assert array[0, 1] == 1
    store._store_dict = {}
    assert array[0, 1] == 0
