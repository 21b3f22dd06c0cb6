"""Runs of minutes: memory of 2000 batches, 200 interrupts, and forks during 500 fills."""

import os
import signal
import statistics
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of
from zarrix import ml

pytestmark = pytest.mark.long


def pss() -> int:
    """Bytes of memory that are this process's own, with its share of what it shares."""
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:"))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux says PSS")
@pytest.mark.parametrize("shuffle", ["full", "block"])
def test_memory_of_2000_batches_stays_within_what_was_allowed(tmp_path: Path, shuffle: str) -> None:
    path = tmp_path / "x.zarr"
    z = zarr.create_array(path, shape=(2000, 3, 128, 128), chunks=(4, 3, 64, 64), dtype="u1")
    for begin in range(0, 2000, 100):
        z[begin : begin + 100] = np.random.default_rng(begin).integers(0, 9, (100, 3, 128, 128))
    crops = ml.Crops({"x": z}, dims="tcyx", size={"y": 64, "x": 64}, per_item=8)
    list(zip(range(5), ml.Loader(crops, 8, shuffle=shuffle), strict=False))
    before = pss()
    loader = ml.Loader(crops, 8, shuffle=shuffle, memory="48 MiB")
    kept, most, count = [], 0, 0
    for batch in loader:
        if count % 50 == 0:
            kept.append((batch["x"], batch["x"].copy()))
            most = max(most, pss() - before)
        count += 1
    assert count == 2000
    own = sum(2 * one.nbytes for one, _ in kept)
    # Scratch memory of the threads, and of Python.
    assert most <= 48 * 2**20 + own + 16 * 2**20
    assert all(np.array_equal(one, copy) for one, copy in kept)


def test_200_interrupts_end_a_wait_within_100_ms() -> None:
    """In ``next``, while the reading thread is in the middle of a batch that takes long."""
    rows = ml.Rows({"x": zarr.zeros((100_000, 4), chunks=(1, 4))})
    entered = threading.Event()

    def slow(batch: ml.Batch, rng: np.random.Generator) -> None:
        entered.set()
        time.sleep(0.3)

    main, waits = threading.get_ident(), []
    for _ in range(200):
        loader = ml.Loader(rows, 1, transform=slow, shuffle="full")
        batches = iter(loader)
        sent: list[float] = []

        def interrupt(sent: list[float] = sent) -> None:
            entered.wait()
            sent.append(time.perf_counter())
            signal.pthread_kill(main, signal.SIGINT)

        entered.clear()
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            next(batches)
        waits.append(time.perf_counter() - sent[0])
        thread.join()
        assert loader.state_dict()["seen"] == 0
    print(f"median {statistics.median(waits):.4f} s, most {max(waits):.4f} s")
    assert sorted(waits)[197] <= 0.1


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_500_forks_during_fills() -> None:
    """A child forked at any moment of a fill reads an epoch of its own, and ends."""
    values = np.arange(400 * 64).reshape(400, 64)
    rows = ml.Rows({"x": zarr.array(values, chunks=(8, 64))})
    wanted = items_of(ml.Loader(rows, 16, seed=5, shuffle="full"))
    forks = 0
    while forks < 500:
        loader = ml.Loader(rows, 16, seed=5, shuffle="full")
        for number, batch in enumerate(loader):
            assert np.array_equal(batch["x"], values[batch["item"]])
            if number % 5:
                continue
            child = os.fork()
            if not child:
                signal.alarm(60)
                own = items_of(ml.Loader(rows, 16, seed=5, shuffle="full"))
                os._exit(0 if own == wanted else 1)
            forks += 1
            assert os.waitpid(child, 0)[1] == 0
