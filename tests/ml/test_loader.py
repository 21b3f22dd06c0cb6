"""The loader: memory, errors, threads and forks, and what it says about itself."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of, numbered, scenes
from waiting import PATIENCE_S
from zarrix import _engine, ml
from zarrix.ml._loading import passes as _passes
from zarrix.ml._loading.batch_reader import BatchReader
from zarrix.ml._loading.fill_size import FillSize
from zarrix.ml._reading import fetch as _fetch
from zarrix.ml._reading.pace import Pace


def rows(count: int = 20) -> ml.Rows:
    return ml.Rows({"x": numbered(count)})


def test_a_batch_that_is_kept_is_never_overwritten() -> None:
    arrays, _ = scenes()
    loader = ml.Loader(ml.Crops(arrays, dims="tcyx", size=(24, 36), per_item=20), 4, prefetch=3)
    kept, copies = [], []
    for number, batch in enumerate(loader):
        if number % 3 == 0:
            kept.append(batch["rgb"][1:, :, ::2])
            copies.append(kept[-1].copy())
    assert len(kept) == 20
    for one, copy in zip(kept, copies, strict=True):
        assert np.array_equal(one, copy)


def test_memory_of_batches_is_used_again() -> None:
    # One chunk for each item: batches that share none are read a few at a time.
    loader = ml.Loader(ml.Rows({"x": zarr.zeros((4000, 100), chunks=(1, 100))}), 10, shuffle="full")
    batches = iter(loader)
    held = set()
    for batch in batches:
        held.add(batch["x"].ctypes.data)
        del batch
    assert len(held) < 60
    assert loader._slots.held_bytes < 2**19


@pytest.mark.parametrize("is_fast", [False, True])
@pytest.mark.parametrize("shuffle", [False, "full"])
def test_a_fill_uses_the_memory_that_waiting_batches_leave(
    monkeypatch: pytest.MonkeyPatch, shuffle: Any, is_fast: bool
) -> None:
    """Longer fills decode chunks fewer times; batches that wait to be used, count."""
    z = zarr.array(np.arange(4096 * 64, dtype="f8").reshape(4096, 64), chunks=(64, 64))
    each, hold = 16 * 64 * 8, 40
    loader = ml.Loader(ml.Rows({"x": z}), 16, shuffle=shuffle, memory=hold * each)
    fills = []
    window, after = BatchReader.window, FillSize.after

    def drained(self: Any, count: int, waiting: Any, pace: Pace) -> int:
        """A consumer that is faster than the loader has used all batches by now."""
        while is_fast and waiting:
            time.sleep(0.001)
        return after(self, count, waiting, pace)

    def watched(self: Any, planned: Any) -> Any:
        if planned:
            fills.append(len(planned))
            # The consumer has one batch, and takes the next one before it gives that up.
            assert len(loader._running._filler._ready) + len(planned) + 2 <= hold
        return window(self, planned)

    asked = Pace.asked

    def asked_at_once(self: Any, now: float) -> None:
        """A fast consumer's steps take no time, also where the system stops it."""
        asked(self, now if self._given is None else self._given)

    monkeypatch.setattr(BatchReader, "window", watched)
    monkeypatch.setattr(FillSize, "after", drained)
    if is_fast:
        monkeypatch.setattr(Pace, "asked", asked_at_once)
    seen = []
    for batch in loader:
        assert np.array_equal(batch["x"][:, 0], batch["item"] * 64)
        seen += batch["item"].tolist()
        if not is_fast:
            time.sleep(0.001)
    assert sorted(seen) == list(range(4096))
    assert sum(fills) == 256
    assert loader._slots.held_bytes <= hold * (each + 64)
    if shuffle and not is_fast:
        # Fills grow as the consumer's steps leave time for.
        assert max(fills) >= hold // 2
        assert len(fills) < 64
        return
    # At least half of the memory from the second fill on; the last one has what is left.
    assert min(fills[1:-1]) >= hold // 2
    if is_fast:
        assert set(fills[1:-1]) == {hold - 2}


def test_a_consumer_with_steps_need_not_wait_for_a_long_fill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a shuffle of shards, the first batch of a long fill is complete only near its end."""
    z = zarr.array(np.arange(4096 * 64, dtype="f8").reshape(4096, 64), chunks=(64, 64))
    loader = ml.Loader(ml.Rows({"x": z}), 16, shuffle="full", memory=40 * 16 * 64 * 8)
    fills = []
    window = BatchReader.window

    def watched(self: Any, planned: Any) -> Any:
        fills.append(len(planned))
        return window(self, planned)

    monkeypatch.setattr(BatchReader, "window", watched)
    batches = iter(loader)
    next(batches)
    filler = loader._running._filler
    begun = time.monotonic()
    # A long step: it ends when all that may be read ahead is there.
    while len(filler._ready) < 18 and time.monotonic() - begun < 30:
        time.sleep(0.001)
    assert len(filler._ready) >= 18
    assert fills[:2] == [1, 1]
    assert sum(len(batch["item"]) for batch in batches) == 4096 - 16


@pytest.mark.parametrize("prefetch", [1, 2, 5])
def test_a_fill_waits_until_a_consumer_with_short_steps_has_used_the_last_one(
    monkeypatch: pytest.MonkeyPatch, prefetch: int
) -> None:
    """All batches of shards are complete at the end of a fill: half of the memory would wait."""
    z = zarr.array(
        np.arange(4096 * 64, dtype="f8").reshape(4096, 64),
        chunks=(8, 64),
        shards=(512, 64),
        zarr_format=3,
    )
    hold = 40
    loader = ml.Loader(
        ml.Rows({"x": z}), 16, shuffle="full", memory=hold * 16 * 64 * 8, prefetch=prefetch
    )
    fills = []
    window, asked = BatchReader.window, Pace.asked

    def watched(self: Any, planned: Any) -> Any:
        if planned:
            fills.append(len(planned))
            assert len(loader._running._filler._ready) + len(planned) + 2 <= hold
        return window(self, planned)

    def asked_at_once(self: Any, now: float) -> None:
        """Steps take no time, however long the system lets them wait."""
        asked(self, now if self._given is None else self._given)

    monkeypatch.setattr(BatchReader, "window", watched)
    monkeypatch.setattr(Pace, "asked", asked_at_once)
    seen = []
    for batch in loader:
        assert np.array_equal(batch["x"][:, 0], batch["item"] * 64)
        seen += batch["item"].tolist()
        time.sleep(0.002)
    assert sorted(seen) == list(range(4096))
    assert sum(fills) == 256
    # The first ones are short, while no step is known.
    assert min(fills[2:-1]) >= hold - 2 - max(1, prefetch - 1)


def test_workers_have_batches_of_the_last_fill_while_the_next_one_is_read() -> None:
    pace = Pace()
    pace.gave(0.0)
    pace.asked(0.0)
    pace.read(1.0, 10)
    alone = FillSize(20, 40, 2, True, False, False, False)
    assert (alone.room(20, pace), replace(alone, has_workers=True).room(20, pace)) == (1, 18)
    assert replace(alone, is_sequential=True).room(20, pace) == 18
    pace.gave(1.0)
    pace.asked(2.0)
    assert alone.room(20, pace) == 18


def test_short_steps_are_a_part_of_the_time_in_which_a_batch_is_read() -> None:
    pace = Pace()
    assert not pace.is_fast, "no step has ended"
    pace.read(1.0, 10)
    assert not pace.is_fast
    pace.gave(0.0)
    pace.asked(0.02)
    assert pace.is_fast
    pace.gave(1.0)
    pace.asked(1.03)
    assert not pace.is_fast


def test_fills_are_as_long_as_steps_leave_time_for() -> None:
    pace = Pace()
    assert pace.at_most(40, 3, 0.0) == 1, "nothing was read yet"
    pace.asked(0.0)
    pace.read(0.25, 1)
    assert pace.at_most(40, 1, 0.5) == 1, "no step has begun"
    pace.gave(1.0)
    assert pace.at_most(40, 1, 1.125) == 1
    assert pace.at_most(40, 4, 1.5) == 8, "the step takes half a second, or longer"
    pace.asked(2.0)
    assert pace.at_most(40, 4, 9.0) == 16
    assert pace.at_most(10, 4, 9.0) == 10
    assert pace.at_most(40, 0, 9.0) == 1
    pace.gave(9.0)
    pace.asked(9.125)
    assert pace.at_most(40, 0, 9.5) == 40, "it waits in any case"
    pace.read(1.0, 10)
    assert pace.at_most(40, 8, 9.5) == 10, "together they take less time each"
    pace.read(0.0, 0)
    assert pace.at_most(40, 8, 9.5) == 10
    pace.read(0.0, 3)
    assert pace.at_most(40, 8, 9.5) == 40


def test_an_iterator_of_a_loader_that_is_gone_goes_on() -> None:
    batches = iter(ml.Loader(rows(), 5, shuffle=False))
    assert [batch["x"][0] for batch in batches] == [0, 5, 10, 15]


def test_threads_end_with_their_iterator() -> None:
    def readers() -> int:
        return sum(one.name == "zarrix-loader" for one in threading.enumerate())

    before = readers()
    loader = ml.Loader(rows(1000), 1, prefetch=1)
    next(iter(loader))
    assert readers() == before + 1
    loader.close()
    assert readers() == before
    next(iter(loader))
    gone = weakref.ref(loader)
    del loader
    assert gone() is None
    assert readers() == before


@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_error_while_reading_reaches_the_caller(prefetch: int) -> None:
    def fails(batch: Any, rng: Any) -> None:
        if 7 in batch["item"]:
            raise LookupError("seven")

    loader = ml.Loader(rows(), 2, shuffle=False, prefetch=prefetch, transform=fails)
    got = []
    with pytest.raises(LookupError, match="seven"):
        got += [batch["item"].tolist() for batch in loader]
    seen = loader.state_dict()["seen"]
    assert seen == 6


def test_a_transform_has_numbers_that_do_not_depend_on_batches() -> None:
    def seeds(size: int) -> dict[int, int]:
        found: dict[int, int] = {}

        def note(batch: ml.Batch, rng: np.random.Generator) -> None:
            batch["noise"] = rng.random(len(batch["item"]))
            found.update(zip(batch["item"].tolist(), batch.seeds.tolist(), strict=True))

        batches = list(ml.Loader(rows(), size, transform=note))
        assert all(batch["noise"].shape == batch["item"].shape for batch in batches)
        return found

    assert seeds(3) == seeds(7)
    assert len(set(seeds(3).values())) == 20


def test_a_loader_pickles_with_its_position_and_without_its_thread() -> None:
    loader = ml.Loader(rows(), 3, seed=2)
    batches = iter(loader)
    first = next(batches)["item"].tolist()
    other = pickle.loads(pickle.dumps(loader))
    other.load_state_dict(loader.state_dict())
    assert first + items_of(other) == items_of(ml.Loader(rows(), 3, seed=2))


# Python 3.12 and later warn of a fork beside threads, which is what is tested.
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_iterators_of_its_own_and_leaves_that_of_its_parent() -> None:
    loader = ml.Loader(rows(), 2, shuffle=False)
    batches = iter(loader)
    next(batches)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        found: Any = "nothing"
        try:
            next(batches)
        except RuntimeError as error:
            found = str(error)
        mine = ml.Loader(rows(), 2, shuffle=False)
        found = [found, items_of(mine)]
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        message, items = json.loads(pipe.read())
    os.waitpid(child, 0)
    assert "process that was forked" in message
    assert items == list(range(20))
    assert [one for batch in batches for one in batch["item"].tolist()] == list(range(2, 20))


def run(program: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(zarr.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


SLOW = """
import time, zarrix as zarr
from zarrix import ml
rows = ml.Rows({"x": zarr.zeros((100, 4), chunks=(1, 4))})
def slow(batch, rng):
    time.sleep(SECONDS)
loader = ml.Loader(rows, 1, transform=slow, prefetch=2)
"""


# The signal counts only during the call: wherever else it comes, it would end the program.
INTERRUPTED = """
import signal
inside = False
def interrupt(*_):
    if inside:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
batches = iter(loader)
for number in range(200):
    try:
        inside = True
        signal.setitimer(signal.ITIMER_REAL, 0.002)
        next(batches)
        inside = False
    except KeyboardInterrupt:
        inside = False
    except StopIteration:
        break
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
state = loader.state_dict()
loader.close()
print("seen", state["seen"])
"""


def test_ctrl_c_ends_a_wait_for_a_batch() -> None:
    program = SLOW.replace("SECONDS", "0.05") + INTERRUPTED
    process = run(program)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert out.startswith("seen")


def test_the_interpreter_exits_while_a_loader_runs() -> None:
    process = run(SLOW.replace("SECONDS", "0.01") + "next(iter(loader)); print('left')")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "left\n", "")


def test_a_loader_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    """streaming#781: names of shared memory outlived a kill, and the next start failed."""
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    process = run(SLOW.replace("SECONDS", "60") + "print('on', flush=True); next(iter(loader))")
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    after = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    assert not {name for name in after - before if "zarrix" in name}
    assert len(items_of(ml.Loader(rows(), 3))) == 20


def damaged(tmp_path: Path) -> tuple[ml.Crops, set[int]]:
    """Crops of ten frames, of which two are corrupt."""
    array = zarr.create_array(
        tmp_path / "x.zarr", shape=(10, 8, 8), chunks=(1, 8, 8), dtype="i4", fill_value=-1
    )
    array[...] = np.arange(10)[:, None, None]
    for frame in (3, 7):
        path = tmp_path / "x.zarr" / "c" / str(frame) / "0" / "0"
        stored = bytearray(path.read_bytes())
        stored[len(stored) // 2] ^= 0xFF
        path.write_bytes(stored)
    return ml.Crops({"x": array}, dims="tyx", size={"y": 4, "x": 4}, per_item=3), {3, 7}


@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_corrupt_chunks_raise_are_replaced_or_filled_and_recorded(
    tmp_path: Path, shuffle: str
) -> None:
    crops, bad = damaged(tmp_path)
    with pytest.raises(zarr.errors.CorruptChunkError):
        list(ml.Loader(crops, 4, shuffle=shuffle))
    runs = []
    for _ in range(2):
        log = tmp_path / f"errors-{len(runs)}.jsonl"
        loader = ml.Loader(
            crops, 4, shuffle=shuffle, on_error="replace", drop_last=True, error_log=log
        )
        batches = list(loader)
        assert all(len(batch["x"]) == 4 for batch in batches)
        values = np.concatenate([batch["x"][:, 0, 0] for batch in batches])
        assert not set(values.tolist()) & (bad | {-1})
        records = {(one["item"], one["replaced_by"]) for one in loader.errors}
        runs.append((values.tolist(), records))
        assert loader.state_dict()["seen"] == 30
        assert [json.loads(line) for line in log.read_text().splitlines()] == loader.errors
    assert runs[0] == runs[1]
    loader = ml.Loader(crops, 5, shuffle=shuffle, on_error="fill")
    filled = 0
    for batch in loader:
        frames = batch["item"] // 3
        assert batch["valid"].tolist() == [frame not in bad for frame in frames.tolist()]
        assert (batch["x"][~batch["valid"]] == -1).all()
        assert (batch["x"][batch["valid"], 0, 0] == frames[batch["valid"]]).all()
        filled += (~batch["valid"]).sum()
    assert filled == len(loader.errors) == 6
    with pytest.raises(zarr.errors.CorruptChunkError, match="max_errors=2"):
        list(ml.Loader(crops, 4, on_error="fill", max_errors=2))


def test_stats_count_what_was_delivered() -> None:
    loader = ml.Loader(rows(), 3)
    assert loader.stats().limited_by == "unknown"
    list(loader)
    stats = loader.stats()
    assert (stats.samples, stats.batches, stats.bytes, stats.errors) == (20, 7, 160, 0)
    assert 0 <= stats.waited <= 1
    assert "20 samples in 7 batches" in str(stats)


def test_threads_may_share_a_dataset() -> None:
    arrays, _ = scenes()
    crops = ml.Crops(arrays, dims="tcyx", size=(24, 36), per_item=3)
    wanted = items_of(ml.Loader(crops, 4))
    found: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: found.append(items_of(ml.Loader(crops, 4))))
        for _ in range(4)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    assert found == [wanted] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 2.5}, "batch_size=2.5"),
        ({"shuffle": "blocks"}, "did you mean 'block'"),
        ({"to": "torhc"}, "did you mean 'torch'"),
        ({"on_error": "skip"}, "on_error='skip'"),
        ({"memory": "many"}, "memory='many'"),
        ({"rank": 3, "world": 3}, "rank 3 of 3"),
        ({"rank": 3}, "together"),
        ({"weights": [1, 2]}, "for 20 items"),
        ({"weights": [-1.0] * 20}, "not negative"),
        ({"samples": 3}, "samples= is for a Mix"),
    ],
)
def test_options_that_do_not_fit_are_errors(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ml.Loader(rows(), **options)


def test_waiting_takes_no_processor() -> None:
    loader = ml.Loader(rows(), 1, transform=lambda batch, rng: time.sleep(0.2), prefetch=1)
    since = time.thread_time()
    batches = iter(loader)
    next(batches), next(batches)
    assert time.thread_time() - since < 0.15


def test_threads_of_a_loader_are_a_share_of_those_of_the_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    original = _engine.read_many

    class Engine:
        CancelToken, threads = _engine.CancelToken, staticmethod(_engine.threads)

        @staticmethod
        def read_many(entries: Any, *, threads: int, **keywords: Any) -> Any:
            asked.append(threads)
            return original(entries, threads=threads, **keywords)

    monkeypatch.setattr(_fetch, "_engine", Engine)

    def used(**options: Any) -> set[int]:
        asked.clear()
        assert items_of(ml.Loader(rows(), 4, shuffle="full", **options))
        return set(asked)

    with zarr.config(threads=8):
        monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
        assert used() == {7}
        assert used(threads=2) == {2}
        assert used(threads=2, prefetch=0) == {2}
        monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
        assert used() == {2}
        monkeypatch.setenv("LOCAL_WORLD_SIZE", "100")
        assert used() == {1}
    with pytest.raises(ValueError, match="threads=0"):
        ml.Loader(rows(), threads=0)


def test_dropping_an_iterator_waits_for_its_thread_for_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Garbage collection may drop it in a thread that holds a lock which reading takes."""
    monkeypatch.setattr(_passes, "_DROPPED_S", 0.01)
    entered, goes_on, dropped = threading.Event(), threading.Event(), threading.Event()

    def stops(batch: ml.Batch, rng: np.random.Generator) -> None:
        if batch["item"][0]:
            entered.set()
            assert goes_on.wait(PATIENCE_S)

    loader = ml.Loader(rows(), 1, transform=stops, shuffle=False, prefetch=1)

    def drop() -> None:
        batches = iter(loader)
        next(batches)
        assert entered.wait(PATIENCE_S)
        loader._running = None
        del batches
        dropped.set()

    thread = threading.Thread(target=drop, daemon=True)
    thread.start()
    try:
        assert dropped.wait(PATIENCE_S / 4)
    finally:
        goes_on.set()
        thread.join(PATIENCE_S)
    assert items_of(ml.Loader(rows(), 3, shuffle=False)) == list(range(20))


def test_a_dropped_iterator_is_waited_for_where_python_ends() -> None:
    """However long it takes, because its thread is still in a call."""
    program = """
import threading, time, zarrix as zarr
from zarrix import ml
from zarrix.ml._loading import passes as _passes
_passes._DROPPED_S = 0.0
entered = threading.Event()
def slow(batch, rng):
    if batch["item"][0]:
        entered.set()
        time.sleep(1)
        print("ended", flush=True)
loader = ml.Loader(ml.Rows({"x": zarr.zeros(9, chunks=1)}), 1, shuffle=False, transform=slow)
batches = iter(loader)
next(batches)
entered.wait()
del loader, batches
print("dropped", flush=True)
"""
    process = run(program)
    assert process.communicate(timeout=PATIENCE_S) == ("dropped\nended\n", "")
