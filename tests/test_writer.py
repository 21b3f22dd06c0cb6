"""Streams into arrays: whole chunks, back-pressure, and what a killed writer leaves.

    ZARRIX_WRITER_KILLS=200 pytest tests/test_writer.py

kills two hundred writers instead of twenty.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import assert_same, unhurried
from zarrix.errors import ReadOnlyError

KILLS = int(os.environ.get("ZARRIX_WRITER_KILLS", "20"))


def make(store: Any, shape: tuple[int, ...], layout: str = "v2", **options: Any) -> zarr.Array:
    options = {"dtype": "i4", "chunks": (4, 3, 5), **options}
    if layout == "v2":
        return zarr.create(shape, store=store, **options)
    shards = (8, 3, 5) if layout == "shards" else None
    return zarr.create_array(store, shape=shape, shards=shards, **options)


@unhurried
@given(st.data())
def test_a_stream_stores_what_was_appended_in_order(data: st.DataObject) -> None:
    axis = data.draw(st.integers(-3, 2))
    layout = data.draw(st.sampled_from(("v2", "v3", "shards")))
    shape = [6, 6, 6]
    shape[axis] = data.draw(st.integers(0, 9))
    z = make(zarr.MemoryStore(), tuple(shape), layout)
    model = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    z[...] = model
    frame = (6, 6)
    buffer_bytes = data.draw(st.sampled_from((1, 2000, 10**6)))
    with z.writer(axis, buffer_bytes=buffer_bytes) as stream:
        for number in range(data.draw(st.integers(0, 12))):
            what = data.draw(st.sampled_from(("frame", "frames", "flush")))
            if what == "flush":
                stream.flush()
                assert_same(z[...], model)
                continue
            count = 1 if what == "frame" else data.draw(st.integers(0, 11))
            new = np.full((count, *frame), number + 1000) + np.arange(36).reshape(frame)
            values = np.moveaxis(new, 0, axis)
            stream.append(new[0] if what == "frame" else values)
            model = np.concatenate([model, values.astype("i4")], axis=axis)
            assert stream.count == model.shape[axis]
    assert z.shape == model.shape
    assert_same(z[...], model)
    assert stream.stored == stream.count == model.shape[axis]


def test_frames_are_stored_while_the_caller_goes_on_and_memory_may_be_used_again() -> None:
    z = make(zarr.MemoryStore(), (0, 3, 5))
    reader = z
    frame = np.zeros((3, 5), "i4")
    with z.writer(buffer_bytes=1) as stream:
        for number in range(40):
            frame[...] = number
            stream.append(frame)
        deadline = time.monotonic() + 30
        while stream.stored < 40 and time.monotonic() < deadline:
            time.sleep(0.001)
        assert reader.shape == (40, 3, 5)
    assert z[:, 0, 0].tolist() == list(range(40))


class Slow(dict[str, bytes]):
    """A mapping whose chunks wait until somebody lets them go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def __setitem__(self, key: str, value: bytes) -> None:
        if not key.startswith("."):
            assert self.go.wait(30)
        super().__setitem__(key, value)


def test_appending_waits_for_a_slow_store_instead_of_filling_memory() -> None:
    store = Slow()
    z = make(store, (0, 3, 5))
    stream = z.writer(buffer_bytes=1)
    done = threading.Event()

    def produce() -> None:
        for number in range(40):
            stream.append(np.full((3, 5), number))
        done.set()

    thread = threading.Thread(target=produce)
    thread.start()
    assert not done.wait(0.3)
    # One block is being stored, one waits, one is full: all others are still with the caller.
    assert stream.count <= 12
    store.go.set()
    assert done.wait(30)
    thread.join()
    stream.close()
    assert z[:, 0, 0].tolist() == list(range(40))


def test_a_failure_in_the_background_is_raised_to_the_caller_and_the_prefix_stays() -> None:
    class Failing(dict[str, bytes]):
        def __setitem__(self, key: str, value: bytes) -> None:
            if key.startswith("3"):
                raise OSError("no space left")
            super().__setitem__(key, value)

    z = make(Failing(), (0, 3, 5))

    def produce() -> None:
        with z.writer(buffer_bytes=1) as stream:
            for number in range(100):
                stream.append(np.full((3, 5), number))

    with pytest.raises(OSError, match="no space left"):
        produce()
    assert z.shape == (12, 3, 5)
    assert z[:, 0, 0].tolist() == list(range(12))


def test_what_was_appended_before_an_error_of_the_caller_is_kept() -> None:
    z = make(zarr.MemoryStore(), (0, 3, 5))

    def produce() -> None:
        with z.writer() as stream:
            stream.append(np.ones((3, 5)))
            raise KeyError("camera")

    with pytest.raises(KeyError, match="camera"):
        produce()
    assert z.shape == (1, 3, 5)


def test_what_does_not_fit_is_refused_and_nothing_of_it_is_taken() -> None:
    z = make(zarr.MemoryStore(), (0, 3, 5))
    with z.writer() as stream:
        stream.append(np.ones((3, 5)))
        with pytest.raises(ValueError, match=r"\(1, 5, 3\); one frame of the array has"):
            stream.append(np.ones((5, 3)))
        with pytest.raises(ValueError, match="invalid literal"):
            stream.append([["x"] * 5] * 3)
        assert stream.count == 1
        assert repr(stream).endswith("along axis 0, 0 stored, 1 buffered>")
    assert z.shape == (1, 3, 5)
    with pytest.raises(ValueError, match="the writer is closed"):
        stream.append(np.ones((3, 5)))
    stream.close()
    with pytest.raises(ValueError, match="axis 3 is out of range for an array of 3 axes"):
        z.writer(3)
    z.read_only = True
    with pytest.raises(ReadOnlyError):
        z.writer()


def test_two_who_change_the_length_are_told() -> None:
    store = zarr.MemoryStore()
    z = make(store, (0, 3, 5))
    stream = z.writer(buffer_bytes=1)
    zarr.open_array(store, mode="r+").append(np.ones((2, 3, 5)))
    stream.append(np.ones((4, 3, 5)))
    with pytest.raises(RuntimeError, match=r"has the shape \(2, 3, 5\) where its writer left"):
        stream.close()
    assert z[...].sum() == 30


PROGRAM = """
import sys
import numpy as np
import zarrix as zarr

z = zarr.open(sys.argv[1], mode="r+")
with z.writer(buffer_bytes=int(sys.argv[2])) as stream:
    number = z.shape[0]
    print("ready", flush=True)
    while True:
        stream.append(np.full(z.shape[1:], number))
        number += 1
        if number % 97 == 0:
            stream.flush()
"""


def test_a_killed_writer_leaves_a_prefix_of_whole_frames(tmp_path: Path) -> None:
    chance = random.Random(7)
    lengths: list[int] = []
    for layout in ("v2", "shards"):
        path = str(tmp_path / layout)
        z = make(path, (0, 16, 16), layout, chunks=(4, 8, 16) if layout == "v2" else (4, 3, 5))
        del z
    for kill in range(KILLS):
        path = str(tmp_path / ("v2" if kill % 2 else "shards"))
        size = chance.choice(("1", "20000", "300000"))
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, path, size], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        with child.stdout:
            assert child.stdout.readline() == "ready\n"
            time.sleep(chance.random() * 0.06)
            child.send_signal(signal.SIGKILL)
        child.wait()
        values = zarr.open(path, mode="r")[...]
        assert_same(
            values, np.broadcast_to(np.arange(len(values), dtype="i4")[:, None, None], values.shape)
        )
        lengths.append(len(values))
    assert max(lengths) > 0
    # What a killed writer left behind the end does not come back when the array grows.
    z = zarr.open(path, mode="r+")
    with z.writer():
        pass
    length = z.shape[0]
    z.resize(length + 500, 16, 16)
    assert not z[length:].any()
