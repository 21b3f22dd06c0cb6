"""Calls into which an exception of a signal handler comes, at each point where one could.

Python runs signal handlers after calls and at the beginning of functions. A profile function that
raises an exception there does what Ctrl-C does, at a chosen point instead of an unknown moment. A
test runs one of the programs below in a process of its own, because a mistake shows as a hang.

    python tests/interrupted.py PROGRAM
"""

from __future__ import annotations

import dbm.dumb
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix import ml

_HANDLED = ("call", "c_return")


def interrupted(call: Callable[[], Any], number: int) -> bool:
    """Make a call, and raise an exception at its ``number``th point; whether it has so many."""
    left = number

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal left
        if event in _HANDLED and frame.f_code is not interrupted.__code__:
            left -= 1
            if left == -1:
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        call()
    except KeyboardInterrupt:
        assert left < 0
    finally:
        sys.setprofile(None)
    return left < 0


def at_each_point(attempt: Callable[[int], bool]) -> None:
    """Make an attempt for each point of a call, until it has no more."""
    number = 0
    while attempt(number):
        number += 1
    assert number > 20, "the call has too few points to be the one that is meant"
    print(number, "points")


FRAMES = np.arange(40)[:, None] + np.zeros(3, "i4")


def append() -> None:
    """Frames that fill several blocks; then those that the writer has not taken."""

    def attempt(number: int) -> bool:
        z = zarr.zeros((0, 3), chunks=(4, 3), dtype="i4")
        with z.writer(buffer_bytes=1) as writer:
            writer.append(FRAMES[:5])
            again = interrupted(lambda: writer.append(FRAMES[5:33]), number)
            assert 5 <= writer.count <= 33
            writer.append(FRAMES[writer.count :])
        assert np.array_equal(z[:], FRAMES), z[:, 0]
        return again

    at_each_point(attempt)


def flush() -> None:
    """Half a chunk is stored, and stored again when it is full."""

    def attempt(number: int) -> bool:
        z = zarr.zeros((0, 3), chunks=(4, 3), dtype="i4")
        with z.writer(buffer_bytes=1) as writer:
            writer.append(FRAMES[:18])
            again = interrupted(writer.flush, number)
            assert writer.count == 18
            writer.append(FRAMES[18:])
        assert np.array_equal(z[:], FRAMES), z[:, 0]
        return again

    at_each_point(attempt)


def close() -> None:
    """Closing goes on where it was; nothing is appended to a writer that ends."""

    def attempt(number: int) -> bool:
        z = zarr.zeros((0, 3), chunks=(4, 3), dtype="i4")
        writer = z.writer(buffer_bytes=1)
        writer.append(FRAMES[:18])
        again = interrupted(writer.close, number)
        writer.close()
        assert np.array_equal(z[:], FRAMES[:18]), z[:, 0]
        z.append(FRAMES[18:])
        assert np.array_equal(z[:], FRAMES), z[:, 0]
        return again

    at_each_point(attempt)


def open_() -> None:
    """A writer that was not made leaves the length of the array free."""

    def attempt(number: int) -> bool:
        z = zarr.zeros((0, 3), chunks=(4, 3), dtype="i4")
        again = interrupted(lambda: z.writer().close(), number)
        with z.writer() as writer:
            writer.append(FRAMES)
        assert np.array_equal(z[:], FRAMES), z[:, 0]
        return again

    at_each_point(attempt)


def resize() -> None:
    """A length that one call has changed or not, and that any call may change next."""

    def attempt(number: int) -> bool:
        z = zarr.zeros((4, 3), chunks=(4, 3), dtype="i4")
        again = interrupted(lambda: z.append(FRAMES[4:20]), number)
        assert len(z) in (4, 20)
        z.resize(2, 3)
        with z.writer() as writer:
            writer.append(FRAMES[2:])
        assert np.array_equal(z[2:], FRAMES[2:]), z[:, 0]
        return again

    at_each_point(attempt)


def store(make: Callable[[str], Any], synchronizer: Callable[[str], Any] | None = None) -> None:
    """What is stored meanwhile is there or not, and what is stored then is there."""
    values = np.arange(40, dtype="i4").reshape(20, 2)

    def attempt(number: int) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            store = make(folder)
            z = zarr.open_array(
                store,
                mode="w",
                shape=(20, 2),
                chunks=(4, 2),
                dtype="i4",
                synchronizer=synchronizer and synchronizer(folder),
            )

            def change() -> None:
                z[3:18] = values[3:18]
                z.attrs["before"] = 1

            again = interrupted(change, number)
            z[:] = values
            z.attrs["after"] = 2
            assert np.array_equal(zarr.open_array(store, mode="r")[:], values)
            assert z.attrs["after"] == 2
            if hasattr(store, "close"):
                store.close()
        return again

    at_each_point(attempt)


def lmdb_store(folder: str) -> Any:
    return zarr.LMDBStore(f"{folder}/z.lmdb", map_size=2**24)


def load(prefetch: int, skipped: int) -> None:
    """Each batch comes once, and the position counts those that came."""
    rows = ml.Rows({"x": zarr.array(np.arange(40).reshape(20, 2), chunks=(3, 2))})

    def attempt(number: int) -> bool:
        with ml.Loader(rows, 2, shuffle="full", seed=number, prefetch=prefetch) as loader:
            expected = [batch["item"].tolist() for batch in loader]
        with ml.Loader(rows, 2, shuffle="full", seed=number, prefetch=prefetch) as loader:
            batches = iter(loader)
            came = [next(batches) for _ in range(skipped)]

            def take() -> None:
                # No call here, so that a batch which came is counted.
                for batch in batches:
                    came[skipped:] = (batch,)
                    break

            again = interrupted(take, number)
            seen = [batch["item"].tolist() for batch in came]
            assert loader.state_dict()["seen"] == 2 * len(seen)
            seen += [batch["item"].tolist() for batch in batches]
        assert seen == expected, (seen, expected)
        return again

    at_each_point(attempt)


PROGRAMS: dict[str, Callable[[], None]] = {
    "append": append,
    "flush": flush,
    "close": close,
    "open": open_,
    "resize": resize,
    "store in memory": lambda: store(lambda folder: zarr.MemoryStore()),
    "store in files": lambda: store(lambda folder: f"{folder}/z"),
    "store in a zip file": lambda: store(lambda folder: zarr.ZipStore(f"{folder}/z.zip", mode="w")),
    "store in SQLite": lambda: store(lambda folder: zarr.SQLiteStore(f"{folder}/z.sqlite")),
    "store in LMDB": lambda: store(lmdb_store),
    "store in dbm": lambda: store(lambda folder: zarr.DBMStore(f"{folder}/z", open=dbm.dumb.open)),
    "store with locks of threads": lambda: store(
        lambda folder: zarr.MemoryStore(), lambda folder: zarr.ThreadSynchronizer()
    ),
    "store with locks of processes": lambda: store(
        lambda folder: zarr.MemoryStore(), lambda folder: zarr.ProcessSynchronizer(folder)
    ),
    "load the first": lambda: load(2, 0),
    "load the second": lambda: load(2, 1),
    "load without a thread": lambda: load(0, 0),
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
