"""Two drivers of one job, late workers, and journals that are left: one result, written once."""

import os
import pickle
import shutil
import threading
import time

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double
from zarrix import jobs
from zarrix.errors import JobError, JobFailed
from zarrix.jobs._running import operation as _operation
from zarrix.jobs._running.journal import Journal
from zarrix.jobs._running.tenure import Tenure


@pytest.fixture
def z(tmp_path):
    made = zarr.create_array(tmp_path / "a", shape=(40, 6), chunks=(4, 6), dtype="i4")
    made[:] = np.arange(240).reshape(40, 6)
    return made


def files(folder):
    return sorted(os.path.relpath(one, folder) for one in folder.rglob("*") if one.is_file())


def test_two_drivers_of_statistics_lose_no_value(tmp_path):
    """Each has keys of its own in the journal, and a task is done only if its value is there."""
    z = zarr.create_array(tmp_path / "a", shape=(4_000, 1_000), chunks=(10, 1_000), dtype="f8")
    z[:] = 1.0
    journal = tmp_path / "journal"
    jobs_of = [jobs.statistics(z, run=False) for _ in range(2)]
    begun = [Tenure(one, journal).begin((0, 1)) for one in jobs_of]
    count = jobs_of[0].stages[0].count
    assert count > 8
    for number in range(count):
        # Both save after each task: the second one half of the tasks.
        _, own = begun[number % 2]
        own.mark(0, number, jobs_of[0]._operation.run(0, number).value)
        own.save()
    found = jobs.statistics(z, resume=journal)
    assert (found.count, found.mean) == (z.size, 1.0)
    assert files(journal) == []


class Stopped(Exception):
    """A driver that a test ends."""


def test_two_interrupted_drivers_of_statistics_lose_no_value(tmp_path, monkeypatch):
    """Both have begun; one saves twice, and the other one in between."""
    z = zarr.create_array(tmp_path / "a", shape=(4_000, 1_000), chunks=(10, 1_000), dtype="f8")
    z[:] = 1.0
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    begun, saved, left = threading.Barrier(2, timeout=60), threading.Event(), threading.Event()

    def drive(at_begin, events):
        def in_order(function, iterable):
            at_begin()
            return map(function, iterable)

        job = jobs.statistics(z, run=False)
        with pytest.raises(Stopped):
            job.run(in_order, resume=tmp_path / "journal", events=events)

    def first(event):
        # The journal is saved at the first task after its lag.
        if event["task"] in (4, 5):
            now[0] += 100
        if event["task"] == 5:
            saved.set()
            assert left.wait(60)
        if event["task"] == 6:
            raise Stopped

    def second(event):
        raise Stopped

    def begin_second():
        begun.wait()
        assert saved.wait(60)

    other = threading.Thread(target=drive, args=(begin_second, second))
    other.start()
    done = threading.Thread(target=lambda: (other.join(), left.set()))
    done.start()
    drive(begun.wait, first)
    done.join()
    found = jobs.statistics(z, resume=tmp_path / "journal")
    assert (found.count, found.mean) == (z.size, 1.0)


def test_a_task_whose_value_is_gone_is_not_done(tmp_path):
    store = zarr.DirectoryStore(tmp_path)
    one = Journal([10], "run", (store, "j"))
    for number in range(10):
        one.mark(0, number, {"n": number} if number % 2 else None)
    one.save()
    (values,) = [name for name in store.listdir("j") if name.startswith("values-")]
    del store[f"j/{values}"]
    two = Journal([10], "run", (store, "j"))
    two.load()
    assert [n for n in range(10) if two.is_done(0, n)] == [0, 2, 4, 6, 8]
    # A fork stores under another name.
    other = Journal([10], "run", (store, "j"))
    other.mark(0, 1, {"n": 1})
    other.save()
    names = set(store.listdir("j"))
    other._process = -1
    other.mark(0, 3, {"n": 3})
    other.save()
    assert names < set(store.listdir("j"))


def test_a_journal_of_another_run_does_not_count(tmp_path, z):
    """After the removal of everything else in the destination, or of the claim."""
    dest = tmp_path / "b"
    job = jobs.copy(z, dest, run=False)
    _, journal = Tenure(job, True).begin((0, 1))
    journal.mark(0, 0, None)
    journal.save()
    assert any("journal" in one for one in files(dest))
    for name in ("c", "zarr.json", ".zarrix-job/job.json"):
        shutil.rmtree(dest / name, ignore_errors=True)
        (dest / name).unlink(missing_ok=True) if (dest / name).is_file() else None
    assert any("journal" in one for one in files(dest))
    assert jobs.copy(z, dest, run=False).status()["state"] == "not begun"
    np.testing.assert_array_equal(jobs.copy(z, dest)[:], z[:])
    assert not (dest / ".zarrix-job").exists()


def test_a_journal_that_comes_back_is_removed(tmp_path, z):
    """The last save of a second driver, at the end or after it."""
    dest = tmp_path / "b"
    job = jobs.copy(z, dest, run=False)
    _, late = Tenure(jobs.copy(z, dest, run=False), True).begin((0, 1))
    late.mark(0, 0, None)
    job.run()
    before = files(dest)
    late.save()
    assert files(dest) == before

    # It ended between the question and the save.
    answers = iter([True, False])
    late._goes_on = lambda: next(answers)
    late.save()
    assert files(dest) == before
    # The driver was killed between the save and the second question.
    late._pending, late._goes_on = 1, lambda: True
    late.save()
    assert any("journal" in one for one in files(dest))
    jobs.copy(z, dest)
    assert files(dest) == before
    late._pending = 1
    late.save()
    job.abandon()
    assert files(dest) == before
    assert not (dest / ".zarrix-job").exists()


def stopped_at(number, dest, z, meanwhile=None):
    """Run a job whose driver ends at a task, and saves its journal."""

    def end(event):
        if event["task"] == number:
            if meanwhile is not None:
                meanwhile()
            raise Stopped

    with pytest.raises(Stopped):
        jobs.map_chunks(double, z, dest=dest, run=False).run(map, events=end)


def test_a_driver_that_ends_after_the_other_one_leaves_no_folder(tmp_path, z):
    dest = tmp_path / "b"
    stopped_at(2, dest, z, lambda: jobs.map_chunks(double, z, dest=dest))
    assert not (dest / ".zarrix-job").exists()
    np.testing.assert_array_equal(zarr.open(dest, mode="r")[:], 2 * z[:])


def test_a_journal_without_its_job_does_not_count(tmp_path, z):
    """All that is left of a destination is the journal of a driver."""
    dest = tmp_path / "b"
    stopped_at(3, dest, z)
    for one in dest.glob("[!.]*"):
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    (dest / ".zarrix-job" / "job.json").unlink()
    assert files(dest)
    np.testing.assert_array_equal(jobs.map_chunks(double, z, dest=dest)[:], 2 * z[:])


def test_a_worker_of_a_finished_job_writes_nothing(tmp_path, z):
    """An executor calls the same task again, after the user has written."""
    calls = []

    def kept(function, iterable):
        for one in iterable:
            calls.append((function, one))
            yield function(one)

    copied = jobs.copy(z, tmp_path / "b", run=False).run(kept).result
    copied[:] = -1
    for function, one in calls:
        function(one)
    np.testing.assert_array_equal(copied[:], -1)


CALLS = {
    "copy": lambda z, dest, **m: jobs.copy(z, dest, **m),
    "rechunk": lambda z, dest, **m: jobs.rechunk(z, dest, chunks=(40, 2), **m),
    "rechunk in two passes": lambda z, dest, **m: jobs.rechunk(
        z, dest, chunks=(40, 2), passes=2, max_memory="768 B", **m
    ),
    "rechunk that moves": lambda z, dest, **m: jobs.rechunk(
        z, dest, chunks=(4, 6), shards=(8, 6), **m
    ),
    "map": lambda z, dest, **m: jobs.map_chunks(double, z, dest=dest, **m),
    "pyramid": lambda z, dest, **m: jobs.pyramid(z, dest, name="p", **m),
    "along": lambda z, dest, **m: jobs.statistics(z, axis=0, dest=dest, **m),
    "stack": lambda z, dest, **m: jobs.stack([z[:], z[:]], dest, chunks=(4, 6), **m),
}
WRITES_NOTHING_NEW = {"verify", "statistics", "update-pyramid", "test-counting"}


def test_every_kind_that_writes_is_fenced_below():
    named = {"rechunk in two passes": "rechunk", "rechunk that moves": "rechunk"}
    tested = {named.get(one, one) for one in CALLS} | WRITES_NOTHING_NEW
    assert tested >= set(_operation._KINDS)


@pytest.mark.parametrize("name", CALLS)
def test_a_worker_that_returns_late_writes_nothing(tmp_path, z, name):
    """It belongs to a run that is finished, abandoned, or begun again."""
    dest = tmp_path / "b"
    job = CALLS[name](z, dest, run=False)
    claim, _ = Tenure(job, True).begin((0, 1))
    late = pickle.loads(pickle.dumps(job._runner(claim)))
    # It is in the middle of a task, of each stage, with open arrays.
    assert late(0, [0])[0].failure is None
    CALLS[name](z, dest)
    before = {one: (dest / one).read_bytes() for one in files(dest)}
    for stage in range(len(job.stages)):
        (outcome,) = late(stage, [0])
        assert outcome.failure is not None
        assert "writes no more" in outcome.failure.message or "missing" in outcome.failure.message
    assert {one: (dest / one).read_bytes() for one in files(dest)} == before

    again = CALLS[name](z, dest, run=False, overwrite=True)
    Tenure(again, True).begin((0, 1))
    kept = files(dest)
    assert late(0, [0])[0].failure is not None
    assert files(dest) == kept
    again.abandon()
    assert late(0, [0])[0].failure is not None
    assert files(dest) == []


@pytest.mark.parametrize("name", CALLS)
def test_the_second_of_two_drivers_has_the_result(tmp_path, z, name):
    """The other one finishes when this one is in the middle, or at its end."""
    for at in (0, -1):
        dest = tmp_path / f"b{at}"
        job = CALLS[name](z, dest, run=False)
        count = sum(stage.count for stage in job.stages)
        seen = []

        def finish_first(event, dest=dest, seen=seen, at=at, count=count):
            seen.append(event)
            if len(seen) == (1 if at == 0 else count):
                CALLS[name](z, dest)

        report = job.run(events=finish_first)
        assert report.finished
        assert report.result is not None
        checked = zarr.verify(dest)
        assert checked.ok
        assert not (dest / ".zarrix-job").exists()
        assert zarr.digests(dest) == zarr.digests(tmp_path / "b0")


def test_a_run_that_another_one_took_away_is_an_error(tmp_path, z):
    dest = tmp_path / "b"
    job = jobs.map_chunks(double, z, dest=dest, run=False)

    def abandon(event):
        if event["task"] == 2:
            jobs.map_chunks(double, z, dest=dest, run=False).abandon()

    with pytest.raises((JobFailed, JobError), match="abandoned"):
        job.run(events=abandon)
    assert files(dest) == []
    np.testing.assert_array_equal(job.run().result[:], 2 * z[:])
