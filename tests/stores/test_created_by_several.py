"""Processes that create one value at once, in a folder that is not there yet: one of them does."""

import multiprocessing
import os
from pathlib import Path

import pytest
import zarrix as zarr

PROCESSES, ROUNDS = 4, 20
KEY = "b/.zarrix-job/job.json"


def create(folder, barrier, results):
    for number in range(ROUNDS):
        store = zarr.DirectoryStore(f"{folder}/{number}")
        mine = os.urandom(8)
        kept = []

        def keep_or_create(old, mine=mine, kept=kept):
            kept[:] = [mine if old is None else bytes(old)]
            return kept[0]

        barrier.wait(120)
        store.update_value(KEY, keep_or_create)
        results.put((number, kept[0]))


def test_processes_that_create_a_value_at_once_agree_on_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    processes = [
        context.Process(target=create, args=(tmp_path, barrier, results)) for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    found = [results.get(timeout=120) for _ in range(PROCESSES * ROUNDS)]
    for process in processes:
        process.join(120)
    for number, kept in found:
        assert Path(tmp_path, str(number), KEY).read_bytes() == kept


def test_an_update_that_stores_nothing_leaves_no_folder(tmp_path):
    store = zarr.DirectoryStore(tmp_path / "x")
    store.update_value("a/b/c", lambda old: None)
    assert not (tmp_path / "x").exists()

    def fail(old):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.update_value("a/b/c", fail)
    assert not (tmp_path / "x").exists()
    (tmp_path / "x").mkdir()
    store.update_value("a/b/c", lambda old: None)
    assert list(tmp_path.rglob("*")) == [tmp_path / "x"]
