"""Job arrays, of which a scheduler may run only some elements at once."""

import concurrent.futures
import multiprocessing
import threading

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.errors import JobFailed, JobInterrupted
from zarrix.jobs._running import parts as _parts
from zarrix.jobs._running.parts import Parts, drive_parts

PARTS = 8


@pytest.fixture
def plan(tmp_path):
    """A saved job of two stages."""
    z = zarr.create_array(tmp_path / "a", shape=(192, 64), chunks=(4, 64), dtype="i4")
    z[:] = np.arange(z.size).reshape(z.shape)
    job = jobs.rechunk(
        tmp_path / "a", tmp_path / "b", chunks=(192, 4), passes=2, max_memory=12_000, run=False
    )
    assert job.stages[0].count > PARTS
    assert len(job.stages) == 2
    job.save(tmp_path / "job.json")
    return tmp_path


def _run(path, number, patience=5.0, count=PARTS):
    report = jobs.Job.load(path / "job.json").run(part=(number, count), patience=patience)
    return report.tasks, report.note


def _finished(path):
    made = jobs.Job.load(path / "job.json").finish()
    np.testing.assert_array_equal(made[:], zarr.open_array(path / "a")[:])
    assert not (path / "b" / ".zarrix-job").exists()


@pytest.mark.parametrize("at_once", [1, 3, PARTS])
def test_every_element_ends_well_however_many_run_at_once(plan, at_once):
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(lambda number: _run(plan, number), range(PARTS)))
    counts = [one.count for one in jobs.Job.load(plan / "job.json").stages]
    assert sum(tasks for tasks, _ in found) == sum(counts)
    left = [note for _, note in found if note]
    assert (len(left) >= PARTS - at_once) if at_once < PARTS else True
    assert all("left to the parts that have not begun" in note for note in left)
    _finished(plan)


def test_processes_of_a_job_array_of_which_two_run_at_once(plan):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(_run, [plan] * 5, range(5), [60.0] * 5, [5] * 5))
    assert sum(bool(note) for _, note in found) >= 3, "that many ended before the last began"
    _finished(plan)


def test_a_part_that_came_and_does_not_end_is_told_and_the_same_calls_go_on(plan, monkeypatch):
    monkeypatch.setattr(_parts, "_sleep", lambda seconds: None)
    job = jobs.Job.load(plan / "job.json")
    with monkeypatch.context() as patched:
        patched.setattr(type(job._operation), "run", lambda self, stage, number: 1 / 0)
        with pytest.raises(JobFailed, match="ZeroDivisionError"):
            job.run(part=(1, 2))
    with pytest.raises(JobInterrupted, match="part 1 of 2 has begun and does not end"):
        _run(plan, 0, patience=0.01, count=2)
    for number in (1, 0):
        _run(plan, number, count=2)
    _finished(plan)


def test_stages_of_arrays_that_follow_each_other_wait_for_nothing(plan):
    with pytest.raises(JobInterrupted, match="stage 1 needs all tasks of the stages before it"):
        jobs.Job.load(plan / "job.json").run(part=(0, PARTS), stage=1)
    for stage in range(2):
        for number in range(PARTS):
            jobs.Job.load(plan / "job.json").run(part=(number, PARTS), stage=stage)
    _finished(plan)


def test_more_parts_than_tasks(plan):
    for number in range(200):
        _run(plan, number, patience=0.0, count=200)
    _finished(plan)


class Listed(zarr.MemoryStore):
    """A store that counts its requests."""

    def __init__(self):
        super().__init__()
        self.listings = self.gets = 0

    def listdir(self, path=None):
        self.listings += 1
        return super().listdir(path)

    def getitems(self, keys, *, contexts):
        self.gets += len(keys)
        return super().getitems(keys, contexts=contexts)


def test_waiting_takes_one_listing_for_any_number_of_parts(monkeypatch):
    store, count = Listed(), 1000
    waiting = Parts(store, "journal", "run", (0, count), [count, count])
    for number in range(1, count):
        Parts(store, "journal", "run", (number, count), [count, count])._put(f"begun-{number}")
        waiting.record(0, number) if number < count - 1 else None
    store.listings = store.gets = 0
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if sum(slept) > 600:
            waiting.record(0, count - 1)

    monkeypatch.setattr(_parts, "_sleep", sleep)
    assert drive_parts(waiting, lambda stage, number: None, lambda stage: False, 1e6) == ""
    assert store.listings <= len(slept) + 4
    assert store.gets == 0, "nothing is read while there is patience"
    assert len(slept) < 60, "pauses grow"
    assert len(set(slept)) == len(slept), "and differ"


def test_parts_that_work_for_long_are_waited_for(monkeypatch):
    store = Listed()
    clock = iter(range(0, 10**6, 40))
    monkeypatch.setattr(_parts.time, "monotonic", lambda: float(next(clock)))
    waiting = Parts(store, "journal", "run", (0, 2), [2, 2])
    working = Parts(store, "journal", "run", (1, 2), [2, 2])
    working.begin()
    beats = []

    def sleep(seconds):
        beats.append(seconds)
        if len(beats) < 20:
            working.beat()
        elif len(beats) == 20:
            working.record(0, 1)

    monkeypatch.setattr(_parts, "_sleep", sleep)
    assert drive_parts(waiting, lambda stage, number: None, lambda stage: False, 300.0) == ""
    assert len(beats) == 20


def test_shares_of_parts_that_have_left_are_taken_over_once():
    store = Listed()
    counts = [6, 6]
    did = []
    for number in range(4):
        parts = Parts(store, "journal", "run", (number, 6), counts)
        note = drive_parts(parts, lambda *one: did.append(one), lambda stage: False, 1.0)
        assert "part 5" in note or "of 6" in note
    barrier = threading.Barrier(2)

    def last(number):
        parts = Parts(store, "journal", "run", (number, 6), counts)
        parts.begin()
        barrier.wait()
        return drive_parts(parts, lambda *one: did.append(one), lambda stage: False, 60.0)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(last, (4, 5))) == ["", ""]
    assert sorted(did) == [(stage, number) for stage in range(2) for number in range(6)]
