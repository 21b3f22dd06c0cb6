"""The driver: retries, failures, events, journals, and documents of jobs."""

import errno
import json
import pickle

import pytest
import zarrix as zarr
from jobs.operations import Counting, hierarchy
from zarrix import jobs
from zarrix.jobs._running.journal import Journal
from zarrix.jobs._running.operation import Setting
from zarrix.jobs._running.worker import Runner


@pytest.fixture
def counting():
    Counting.errors, Counting.calls = {}, []
    return lambda count=20: jobs.Job("test-counting", Setting({"count": count}, {}))


def test_a_task_whose_input_fails_is_tried_again(counting):
    Counting.errors = {3: [OSError("a passing error")], 7: [TimeoutError(), ConnectionError()]}
    report = counting().run(retries=2)
    assert report.result == sum(n * n for n in range(20))
    assert (report.tasks, report.again) == (20, 3)


def test_a_task_that_fails_for_good_is_named_and_others_go_on(counting):
    Counting.errors = {n: [ValueError(f"bad {n}")] for n in (2, 5)}
    with pytest.raises(zarr.errors.JobFailed, match=r"2 tasks failed(.|\n)*task 2(.|\n)*task 5"):
        counting().run()
    assert sorted(Counting.calls) == list(range(20))


def test_a_full_disk_stops_at_once(counting):
    Counting.errors = {4: [OSError(errno.ENOSPC, "No space left on device")]}
    with pytest.raises(zarr.errors.JobFailed, match="No space left"):
        counting().run()
    assert Counting.calls == [0, 1, 2, 3, 4]


def test_the_first_failure_stops_if_asked(counting):
    Counting.errors = {1: [ValueError("bad")]}
    with pytest.raises(zarr.errors.JobFailed):
        counting().run(on_error="stop")
    assert Counting.calls == [0, 1]


@pytest.mark.parametrize("executor", [None, "threads"])
def test_events_and_progress_have_every_task(counting, executor):
    events, progress = [], []
    Counting.errors = {3: [OSError("again")]}
    counting().run(
        executor, events=events.append, progress=lambda *told: progress.append(told), retries=1
    )
    assert sorted(one["task"] for one in events) == sorted([*range(20), 3])
    assert [one["error"] for one in events].count(None) == 20
    assert progress[-1] == (20, 20)


def test_values_of_tasks_come_back_from_the_journal(counting, tmp_path):
    Counting.errors = {11: [ValueError("once")]}
    job = counting()
    with pytest.raises(zarr.errors.JobFailed):
        job.run(resume=tmp_path / "journal")
    Counting.calls = []
    report = job.run(resume=tmp_path / "journal")
    assert Counting.calls == [11]
    assert report.result == sum(n * n for n in range(20))
    assert report.resumed == 19
    assert not list(zarr.DirectoryStore(tmp_path / "journal"))


@pytest.mark.parametrize("part", [(0, 1), (2, 7)])
def test_a_journal_has_what_was_marked(tmp_path, part):
    store = zarr.DirectoryStore(tmp_path)
    one = Journal([1000, 10], "run", (store, "j"), part)
    marked = [n for n in range(part[0], 1000, part[1]) if n % 3]
    for number in marked:
        one.mark(0, number, None)
    one.mark(1, part[0], {"a": [1]})
    one.save()
    two = Journal([1000, 10], "run", (store, "j"), (0, 3))
    two.load()
    assert [n for n in range(1000) if two.is_done(0, n)] == marked
    assert two.in_order() == [{}, {part[0]: {"a": [1]}}]


def test_a_document_is_short_and_has_no_task(tmp_path):
    source = zarr.create_array(
        tmp_path / "a.zarr", shape=(10**6, 10**6), chunks=(100, 100), dtype="f4"
    )
    job = jobs.copy(source, tmp_path / "b.zarr", run=False)
    assert job.tasks(0)[-1].number == len(job.tasks(0)) - 1 > 10**4
    assert len(json.dumps(job.document)) < 4096
    assert len(pickle.dumps(Runner(job.kind, job._setting))) < 4096


def test_a_job_of_another_version_is_refused(tmp_path):
    job = jobs.copy(hierarchy(tmp_path / "a.zarr"), tmp_path / "b.zarr", run=False)
    (tmp_path / "job.json").write_text(json.dumps({**job.document, "engine": "9.9.9"}))
    with pytest.raises(zarr.errors.JobError, match=r"9\.9\.9"):
        jobs.Job.load(tmp_path / "job.json")
    (tmp_path / "job.json").write_text("[1]")
    with pytest.raises(zarr.errors.JobError, match="not a job"):
        jobs.Job.load(tmp_path / "job.json")
    with pytest.raises(zarr.errors.JobError, match="no unfinished job"):
        jobs.Job.load(tmp_path / "a.zarr")


@pytest.mark.parametrize("executor", [3, "cluster", object()])
def test_what_is_not_an_executor_is_named(counting, executor):
    with pytest.raises(TypeError, match="expected None, 'processes'"):
        counting().run(executor)
