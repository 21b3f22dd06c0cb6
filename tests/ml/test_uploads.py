"""Batches for a CUDA device, with a torch whose copies finish late: no machine here has a GPU."""

import functools
import pickle
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ml.late_torch import Cuda, Tensor, Turns, late_torch
from zarrix import ml
from zarrix.ml._reading import uploads

VALUES = np.random.default_rng(2).integers(0, 2**31, (48, 64)).astype("i4")
ROWS = ml.Rows({"x": zarr.array(VALUES, chunks=(8, 64)), "y": VALUES[:, :3].astype("f4")})


class Consumer:
    """Steps that read batches late, on the stream that was current when they were taken."""

    def __init__(self, device: Cuda) -> None:
        self.device, self.read = device, 0

    def take(self, batch: Any, items: Any) -> None:
        for name in ("x", "y"):
            assert batch[name].is_on_device
            memory, wanted = batch[name].array, ROWS._groups[0][name].array[...][items]
            self.device.current.add(lambda m=memory, w=wanted: self._compare(m, w))

    def _compare(self, memory: Any, wanted: Any) -> bool:
        assert np.array_equal(memory, wanted)
        self.read += 1
        return True


@functools.cache
def expected(**options: Any) -> list[Any]:
    """The items of each batch."""
    return [batch["item"].copy() for batch in ml.Loader(ROWS, 5, **options)]


@settings(max_examples=40)
@given(
    steps=st.lists(st.lists(st.integers(0, 1), max_size=8), max_size=10),
    kept=st.sets(st.integers(0, 9)),
    shuffle=st.sampled_from(["full", "block", False]),
    memory=st.sampled_from(["6 KB", "1 MiB"]),
    most=st.sampled_from([0, 3000, 2**28]),
)
def test_every_order_of_copies_and_steps_reads_the_right_values(
    steps: Any, kept: Any, shuffle: Any, memory: str, most: int
) -> None:
    wanted = expected(shuffle=shuffle, memory=memory)
    with late_torch() as device, pytest.MonkeyPatch.context() as patch:
        patch.setattr(uploads, "_MOST_BYTES", most)
        loader = ml.Loader(ROWS, 5, shuffle=shuffle, memory=memory, prefetch=0, device="cuda:0")
        consumer, held = Consumer(device), []
        for number, batch in enumerate(loader):
            consumer.take(batch, wanted[number])
            if number in kept:
                held.append(batch)
            del batch
            for which in steps[number] if number < len(steps) else []:
                if which < len(device.streams):
                    device.streams[which].step()
        device.finish()
        assert consumer.read == 2 * len(wanted)
        held.clear()


@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_a_thread_that_reads_ahead_does_not_overwrite_what_is_being_copied(shuffle: str) -> None:
    wanted = expected(shuffle=shuffle, memory="6 KB")
    with late_torch() as device:
        loader = ml.Loader(
            ROWS, 5, shuffle=shuffle, memory="6 KB", prefetch=3, to="torch", device=0
        )
        consumer = Consumer(device)
        batches = iter(loader)
        for items in wanted:
            consumer.take(next(batches), items)
        assert next(batches, None) is None
        device.finish()
        assert consumer.read == 2 * len(wanted)


@settings(max_examples=40)
@given(
    schedule=st.lists(st.booleans(), min_size=1, max_size=40),
    steps=st.lists(st.integers(0, 1), min_size=1, max_size=12),
    shuffle=st.sampled_from(["full", "block"]),
    most=st.sampled_from([0, 2**28]),
)
# Each thread waits for the other at each point: batches are taken while others are being copied.
@example(schedule=[True], steps=[1, 0], shuffle="block", most=2**28)
@example(schedule=[True], steps=[0], shuffle="full", most=2**28)
@example(schedule=[True, True, False], steps=[0, 1], shuffle="block", most=0)
def test_every_order_of_the_threads_reads_the_right_values(
    schedule: list[bool], steps: list[int], shuffle: str, most: int
) -> None:
    wanted = expected(shuffle=shuffle, memory="6 KB")
    with late_torch(Turns(schedule)) as device, pytest.MonkeyPatch.context() as patch:
        patch.setattr(uploads, "_MOST_BYTES", most)
        loader = ml.Loader(ROWS, 5, shuffle=shuffle, memory="6 KB", prefetch=3, device=0)
        consumer = Consumer(device)
        batches = iter(loader)
        for number, items in enumerate(wanted):
            consumer.take(next(batches), items)
            for which in steps[number % 3 :: 3]:
                if which < len(device.streams):
                    device.streams[which].step()
        assert next(batches, None) is None
        device.finish()
        assert consumer.read == 2 * len(wanted)


def test_page_locked_memory_is_used_again_after_its_event() -> None:
    with late_torch() as device:
        loader = ml.Loader(ROWS, 4, prefetch=0, shuffle="full", memory="1 KiB", device="cuda")
        for _ in range(3):
            for batch in loader:
                assert isinstance(batch["x"], Tensor)
                del batch
                device.finish()
        # One batch is read while the copy of another one is not known to have ended.
        pooled = sum(map(len, loader._slots_here()._slots.values()))
        assert 1 <= pooled <= 4
        assert len(loader._deliver._begun) <= 2


def test_waiting_copies_keep_a_bounded_amount_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_MOST_BYTES", 4000)
    with late_torch() as device:
        loader = ml.Loader(ROWS, 4, prefetch=0, shuffle=False, device="cuda")
        for _ in loader:
            # Nothing runs on the device by itself.
            assert loader._deliver._bytes <= 4000 + 4 * (256 + 12 + 8 + 16 + 8)
        device.finish()


def test_tensors_of_a_transform_that_are_on_the_device_stay_there() -> None:
    with late_torch() as device:

        def place(batch: Any, rng: Any) -> Any:
            return {"made": Tensor(device, np.arange(3), is_on_device=True), "x": [batch["x"]]}

        loader = ml.Loader(ROWS, 4, prefetch=0, shuffle=False, device="cuda", transform=place)
        batch = next(iter(loader))
        assert batch["made"].array.tolist() == [0, 1, 2]
        device.finish()
        assert np.array_equal(batch["x"][0].array, VALUES[:4])
        assert np.array_equal(next(ml.headspace(loader, 1))["made"].array, [0, 1, 2])


def test_a_loader_for_a_device_pickles_and_others_need_no_locked_memory() -> None:
    with late_torch() as device:
        loader = pickle.loads(pickle.dumps(ml.Loader(ROWS, 4, device="cuda:1")))
        assert loader._deliver.device == "cuda:1"
        next(iter(ml.Loader(ROWS, 4, to="torch", prefetch=0)))
        assert not device.locked
