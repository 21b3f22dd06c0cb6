"""Streams into arrays: whole chunks, back-pressure, and the errors of both sides."""

import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import assert_same
from streamed import make
from waiting import PATIENCE_S, until
from zarrix._array import writer as writer_module
from zarrix.errors import CodecError, ReadOnlyError, WriterError


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
        until(lambda: stream.stored == 40)
        assert reader.shape == (40, 3, 5)
    assert z[:, 0, 0].tolist() == list(range(40))


class Slow(dict[str, bytes]):
    """A mapping whose chunks wait until they are released."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def __setitem__(self, key: str, value: bytes) -> None:
        if not key.startswith("."):
            assert self.go.wait(PATIENCE_S)
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
    # Two blocks are being stored, one waits, one is full: all others are still with the caller.
    until(lambda: stream.count == 16)
    assert not done.wait(0.3)
    assert stream.count == 16
    store.go.set()
    assert done.wait(PATIENCE_S)
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
    # Blocks after the one that failed were stored at the same time; they do not show up later.
    z.resize(60, 3, 5)
    assert not z[12:].any()


def test_a_block_is_shown_when_all_before_it_are() -> None:
    class FirstIsSlow(dict[str, bytes]):
        """Holds the first chunk back until a later one is stored."""

        later = threading.Event()

        def __setitem__(self, key: str, value: bytes) -> None:
            if key == "0.0.0":
                assert self.later.wait(PATIENCE_S)
                shapes.append(zarr.open(self, mode="r").shape)
            super().__setitem__(key, value)
            if key == "1.0.0":
                self.later.set()

    shapes: list[tuple[int, ...]] = []
    store = FirstIsSlow()
    z = make(store, (0, 3, 5))
    with z.writer(buffer_bytes=1) as stream:
        for number in range(40):
            stream.append(np.full((3, 5), number))
    assert shapes == [(0, 3, 5)]
    assert z[:, 0, 0].tolist() == list(range(40))


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
    for wrong in (0, -1, "x", 1.5):
        with pytest.raises(ValueError, match=r"buffer_bytes=.*; a number of bytes, 1 or more"):
            z.writer(buffer_bytes=wrong)
    z.read_only = True
    with pytest.raises(ReadOnlyError):
        z.writer()


@pytest.fixture(params=["directory", "memory", "mapping"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    stores: dict[str, Any] = {"directory": str(tmp_path / "z"), "memory": zarr.MemoryStore()}
    return stores.get(request.param, {})


def test_nobody_else_changes_the_length_while_a_writer_is_open(store: Any) -> None:
    z = make(store, (0, 3, 5))
    other = zarr.open_array(store, mode="r+")
    with z.writer() as stream:
        stream.append(np.ones((5, 3, 5)))
        stream.flush()
        for change in (
            lambda: other.append(np.ones((2, 3, 5))),
            lambda: other.resize(1, 3, 5),
            lambda: setattr(other, "shape", (9, 3, 5)),
            lambda: z.append(np.ones((2, 3, 5))),
        ):
            with pytest.raises(WriterError, match="a writer of the array is open; close it"):
                change()
        with pytest.raises(WriterError, match=r"the length .* a writer needs it exclusively"):
            other.writer()
        # What is there already may be written by anybody.
        zarr.open_array(store, mode="r+")[0] = 7
        stream.append(np.full((2, 3, 5), 2))
    assert z[:, 0, 0].tolist() == [7, 1, 1, 1, 1, 2, 2]
    other.append(np.full((1, 3, 5), 3))
    with other.writer() as stream:
        stream.append(np.full((3, 5), 4))
    assert zarr.open_array(store)[:, 0, 0].tolist() == [7, 1, 1, 1, 1, 2, 2, 3, 4]


def test_who_does_not_know_of_the_writer_is_noticed_by_it() -> None:
    store = zarr.MemoryStore()
    z = make(store, (0, 3, 5))
    stream = z.writer(buffer_bytes=1)
    # As another library does it, which takes no lock of ours.
    store[".zarray"] = store[".zarray"].replace(b"        0,\n", b"        2,\n", 1)
    assert zarr.open_array(store).shape == (2, 3, 5)
    stream.append(np.ones((4, 3, 5)))
    with pytest.raises(WriterError, match=r"has the shape \(2, 3, 5\) where its writer left"):
        stream.close()
    assert not zarr.open_array(store)[...].any()
    # It is closed all the same, and another one may begin.
    with zarr.open_array(store, mode="r+").writer() as stream:
        assert stream.count == 2


def test_writers_of_many_arrays_run_at_once(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path), mode="w")
    arrays = [
        root.create_dataset(str(number), shape=(0, 3, 5), chunks=(4, 3, 5), dtype="i4")
        for number in range(6)
    ]

    def produce(number: int) -> None:
        with arrays[number].writer(buffer_bytes=1) as stream:
            for frame in range(50):
                stream.append(np.full((3, 5), 100 * number + frame))

    threads = [threading.Thread(target=produce, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, z in enumerate(arrays):
        assert z[:, 2, 4].tolist() == list(range(100 * number, 100 * number + 50))


def test_threads_that_share_a_writer_keep_their_frames_whole() -> None:
    z = make(zarr.MemoryStore(), (0, 3, 5))

    def produce(number: int, stream: Any) -> None:
        for _ in range(40):
            stream.append(np.full((2, 3, 5), number))

    with z.writer(buffer_bytes=1) as stream:
        threads = [threading.Thread(target=produce, args=(n, stream)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    values = z[...]
    assert (values == values[:, :1, :1]).all()
    assert np.bincount(values[:, 0, 0]).tolist() == [80] * 4


def test_a_writer_that_is_dropped_stores_what_it_has() -> None:
    z = make(zarr.MemoryStore(), (0, 3, 5))
    stream = z.writer()
    stream.append(np.ones((5, 3, 5)))
    with pytest.warns(ResourceWarning, match="5 buffered> was not closed"):
        del stream
    assert z.shape == (5, 3, 5)
    z.append(np.ones((1, 3, 5)))


def test_dropping_a_writer_does_not_wait_for_a_lock_that_the_thread_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Garbage collection drops a writer in any thread, also in one that holds a lock of the store.
    monkeypatch.setattr(writer_module, "_DROPPED_S", 0.05)
    lock = threading.Lock()

    class Locked(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            with lock:
                super().__setitem__(key, value)

    z = make(Locked(), (0, 3, 5))
    streams = [z.writer()]
    streams[0].append(np.ones((5, 3, 5)))

    def drop() -> None:
        with lock:
            streams.clear()

    def drops() -> bool:
        dropping = threading.Thread(target=drop, daemon=True)
        dropping.start()
        dropping.join(PATIENCE_S)
        return not dropping.is_alive()

    with pytest.warns(ResourceWarning, match="was not closed"):
        assert drops()
    until(lambda: not writer_module._closing)
    assert zarr.open_array(z.store)[...].sum() == 75


def test_a_dropped_writer_is_closed_where_the_warning_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raised: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: raised.append(one.exc_value))
    z = make(zarr.MemoryStore(), (0, 3, 5))
    stream = z.writer()
    stream.append(np.ones((5, 3, 5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        del stream
    assert [type(one) for one in raised] == [ResourceWarning]
    raised.clear()
    assert z.shape == (5, 3, 5)


ELEMENTS: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "text": ({"dtype": str}, ["a", "", "čeština", "x" * 100]),
    "bytes": ({"dtype": bytes}, [b"", b"\0\1", b"abc"]),
    "fixed text": ({"dtype": "U3"}, ["a", "abc", ""]),
    "times": ({"dtype": "M8[s]"}, ["2020-01-01", "NaT"]),
    "structures": ({"dtype": [("a", "i2"), ("b", "S2")]}, [(1, b"x"), (2, b"yz")]),
    "ragged": ({"dtype": "array:i4"}, [[1, 2], [3, 4], []]),
    "objects": (
        {"dtype": object, "object_codec": numcodecs.JSON()},
        [{"a": 1}, [1, 2], "text", None],
    ),
}


@pytest.mark.parametrize("kind", ELEMENTS)
def test_elements_of_every_kind_are_streamed(kind: str) -> None:
    options, values = ELEMENTS[kind]
    z = zarr.create((0,), chunks=3, store=zarr.MemoryStore(), **options)
    want = zarr.create((4 * len(values),), chunks=3, store=zarr.MemoryStore(), **options)
    with z.writer(buffer_bytes=1) as stream:
        for _ in range(3):
            stream.append(values)
        for value in values:
            stream.append([value])
    for number, value in enumerate(values * 4):
        want[number] = value
    assert z.shape == want.shape
    assert [np.asarray(a).tolist() for a in z] == [np.asarray(a).tolist() for a in want]


def test_what_cannot_be_encoded_is_the_callers_error() -> None:
    z = zarr.create((0,), chunks=2, dtype=object, object_codec=numcodecs.JSON())
    stream = z.writer(buffer_bytes=1)
    stream.append([1, 2])
    stream.flush()
    stream.append([{3}, 4])
    with pytest.raises(CodecError, match="not JSON serializable"):
        stream.flush()
    with pytest.raises(CodecError):
        stream.append([5, 6])
    with pytest.raises(CodecError):
        stream.close()
    stream.close()
    assert z[...].tolist() == [1, 2]
