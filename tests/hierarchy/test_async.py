"""The async door does what the synchronous one does, overlaps calls and can be cancelled."""

import asyncio
import gc
import inspect
import pickle
import threading
import warnings
from collections.abc import Coroutine
from typing import Any, TypeVar

import numpy as np
import pytest
import zarrix as zarr
from zarrix import AsyncArray, AsyncGroup
from zarrix.api import asynchronous, synchronous

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine, debug=True)


class Gated(dict[str, Any]):
    """A mapping that gives no chunk before its gate is open, and knows how many wait there."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()
        self.inside = 0
        self._lock = threading.Lock()

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            self.inside += 1
        try:
            assert self.gate.wait(60)
            return super().__getitem__(key)
        finally:
            with self._lock:
                self.inside -= 1


def test_every_function_has_a_twin_with_the_same_parameters() -> None:
    assert asynchronous.__all__ == synchronous.__all__
    for name in asynchronous.__all__:
        here, there = getattr(asynchronous, name), getattr(synchronous, name)
        assert list(inspect.signature(here).parameters) == list(inspect.signature(there).parameters)
        assert inspect.iscoroutinefunction(here) or name == "create_hierarchy"
        assert here.__module__ == "zarrix.api.asynchronous"
        assert here.__doc__


def test_an_array_is_created_written_read_and_changed() -> None:
    async def all_of_it() -> None:
        z = await asynchronous.create_array({}, shape=(6, 4), chunks=(2, 2), dtype="i4")
        assert isinstance(z, AsyncArray)
        assert (z.shape, z.chunks, z.dtype, z.ndim) == ((6, 4), (2, 2), np.dtype("i4"), 2)
        values = np.arange(24, dtype="i4").reshape(6, 4)
        await z.setitem(..., values)
        np.testing.assert_array_equal(await z.getitem((slice(1, 5), -1)), values[1:5, -1])
        np.testing.assert_array_equal(await z.oindex.getitem([4, 0]), values[[4, 0]])
        np.testing.assert_array_equal(
            await z.vindex.getitem(([4, 0], [1, 2])), values[[4, 0], [1, 2]]
        )
        await z.vindex.setitem(([4, 0], [1, 2]), 99)
        mask = values % 5 == 0
        values[[4, 0], [1, 2]] = 99
        np.testing.assert_array_equal(await z.get_mask_selection(mask), values[mask])
        np.testing.assert_array_equal(
            await z.get_coordinate_selection(([1, 2], [3, 3])), values[[1, 2], [3, 3]]
        )
        assert await z.append(values) == (12, 4)
        await z.resize((3, 4))
        assert z.shape == (3, 4)
        assert await z.nchunks_initialized() == 4
        assert await z.nbytes_stored() > 0
        again = await z.update_attributes({"unit": "mm"})
        assert isinstance(again, AsyncArray)
        assert z.attrs["unit"] == "mm"
        assert z.array.async_array == z == again
        assert z != z.array
        assert repr(z) == "<AsyncArray of <zarrix.core.Array (3, 4) int32>>"
        with pytest.raises(AttributeError, match="'shap'"):
            z.shap  # noqa: B018
        with pytest.raises(zarr.errors.BoundsCheckError):
            await z.getitem(9)
        sparing = z.with_config({"write_empty_chunks": False})
        assert isinstance(sparing, AsyncArray)

    run(all_of_it())


def test_a_group_and_its_members_are_awaited() -> None:
    async def all_of_it() -> None:
        root = await asynchronous.open_group({}, mode="w", zarr_format=3)
        assert isinstance(root, AsyncGroup)
        child = await root.create_group("child", attributes={"a": 1})
        z = await child.create_array("z", shape=3, dtype="u1")
        assert (type(child), type(z)) == (AsyncGroup, AsyncArray)
        await root.setitem("y", np.arange(3))
        assert await root.getitem("child/z") == z
        assert await root.get("nothing") is None
        assert await root.contains("y")
        with pytest.raises(KeyError):
            await root.getitem("nothing")
        found = [(name, type(one)) async for name, one in root.members(None)]
        assert found == [("child", AsyncGroup), ("child/z", AsyncArray), ("y", AsyncArray)]
        assert [name async for name in root.array_keys()] == ["y"]
        assert [one.path async for one in root.group_values()] == ["child"]
        assert await root.nmembers() == 2
        assert await root.require_array("y", shape=3, dtype="i8") == await root.getitem("y")
        assert "child" in str(await root.tree())
        await root.move("y", "child/w")
        await root.delitem("child")
        assert not [name async for name in root.keys()]  # noqa: SIM118
        groups = await root.require_groups("a", "b")
        assert [type(one) for one in groups] == [AsyncGroup, AsyncGroup]
        made = [path async for path, _ in root.create_hierarchy({"c": root.metadata})]
        assert made == ["c"]
        assert root.group.async_group == root

    run(all_of_it())


def test_functions_take_and_give_asynchronous_counterparts(tmp_path: Any) -> None:
    async def all_of_it() -> None:
        store = {}
        z = await asynchronous.array(np.arange(4), store=store)
        copied = await asynchronous.from_array({}, data=z)
        assert isinstance(copied, AsyncArray)
        np.testing.assert_array_equal(await asynchronous.load(store), np.arange(4))
        await asynchronous.save(str(tmp_path / "x.zarr"), z)
        opened = await AsyncArray.open(str(tmp_path / "x.zarr"))
        assert opened.shape == (4,)
        group = await AsyncGroup.from_store({}, attributes={"a": 1})
        assert (await AsyncGroup.open(group.store)).attrs["a"] == 1
        with pytest.raises(zarr.errors.GroupNotFoundError):
            await AsyncGroup.open({})
        again = pickle.loads(pickle.dumps(opened))
        np.testing.assert_array_equal(await again.getitem(...), np.arange(4))
        for wrong in (AsyncArray, AsyncGroup):
            with pytest.raises(TypeError, match="is made from"):
                wrong({})

    run(all_of_it())


def test_calls_overlap() -> None:
    class Meeting(dict[str, Any]):
        together = threading.Barrier(1)

        def __getitem__(self, key: str) -> Any:
            self.together.wait(60)
            return super().__getitem__(key)

    store = Meeting()
    z = zarr.create_array(store, shape=8, chunks=1, dtype="i4")
    # No chunk is missing: after one that is, the metadata is looked at.
    z[:] = np.arange(1, 9)
    # From here on no call goes on before another one is there, too.
    store.together = threading.Barrier(2)

    async def all_of_it() -> list[Any]:
        return await asyncio.gather(*(z.async_array.getitem(i) for i in range(8)))

    assert run(all_of_it()) == list(range(1, 9))


def test_a_cancelled_call_has_ended_when_its_caller_goes_on() -> None:
    store = Gated()
    z = zarr.create_array(store, shape=4, chunks=4, dtype="i4")
    out = np.zeros(4, "i4")

    async def all_of_it() -> None:
        loop = asyncio.get_running_loop()
        store.gate.clear()
        task = asyncio.create_task(z.async_array.get_basic_selection(..., out=out))
        while not store.inside:
            await asyncio.sleep(0.005)
        task.cancel()
        # A second time, while it waits for the call to end.
        await asyncio.sleep(0.02)
        task.cancel()
        loop.call_later(0.05, store.gate.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert store.inside == 0
        store.gate.clear()
        call = asyncio.create_task(z.async_array.setitem(slice(0, 2), 7))
        while not store.inside:
            await asyncio.sleep(0.005)
        timed = asyncio.create_task(asyncio.wait_for(call, 0.05))
        while not call.cancelling():
            await asyncio.sleep(0.005)
        store.gate.set()
        with pytest.raises(asyncio.TimeoutError):
            await timed
        assert store.inside == 0

    run(all_of_it())
    # The write that was cancelled is in the store whole, and nothing is lost by cancelling.
    assert z[:].tolist() == [7, 7, 0, 0]


def test_a_call_that_has_not_begun_when_it_is_cancelled_never_begins() -> None:
    store = Gated()
    z = zarr.create_array(store, shape=4, chunks=4, dtype="i4")

    async def all_of_it() -> None:
        import concurrent.futures

        loop = asyncio.get_running_loop()
        loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(1))
        busy = threading.Event()
        blocker = loop.run_in_executor(None, busy.wait)
        task = asyncio.create_task(z.async_array.setitem(..., 5))
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.sleep(0.02)
        busy.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await blocker

    run(all_of_it())
    assert z[:].tolist() == [0, 0, 0, 0]


def test_an_error_after_a_cancellation_is_not_reported_as_lost() -> None:
    class Failing(Gated):
        def __getitem__(self, key: str) -> Any:
            value = super().__getitem__(key)
            if key == "c/0":
                raise OSError("gone")
            return value

    store = Failing()
    z = zarr.create_array(store, shape=4, chunks=4, dtype="i4")
    z[:] = 1

    async def all_of_it() -> None:
        store.gate.clear()
        task = asyncio.create_task(z.async_array.getitem(...))
        while not store.inside:
            await asyncio.sleep(0.005)
        task.cancel()
        asyncio.get_running_loop().call_later(0.02, store.gate.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        gc.collect()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(all_of_it())
