"""A job is made of one state of its sources: one that goes on after a change is an error."""

import os

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double
from zarrix import jobs
from zarrix._stores.generations import state_below
from zarrix.errors import SourceChangedError
from zarrix.jobs._operations import statistics


@pytest.fixture
def group(tmp_path):
    found = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=3)
    found.create_array("z", shape=(60, 40), chunks=(6, 40), dtype="u2")[:] = 1
    np.save(tmp_path / "one.npy", np.ones((8, 8)))
    return found


def stopped(job, **more):
    """A run of which some tasks are done."""
    job.run(part=(0, 2), **more)


# By name: the job of a folder, and how its source is changed.
def change_array(tmp_path):
    zarr.open_array(tmp_path / "a.zarr" / "z", mode="r+")[:] = 2


def change_file(tmp_path):
    np.save(tmp_path / "one.npy", np.zeros((8, 8)))


JOBS = {
    "copy": (lambda p, **m: jobs.copy(p / "a.zarr", p / "b", **m), change_array),
    "rechunk": (
        lambda p, **m: jobs.rechunk(p / "a.zarr", p / "b", chunks={"z": (60, 4)}, **m),
        change_array,
    ),
    "map": (
        lambda p, **m: jobs.map_chunks(double, p / "a.zarr/z", dest=p / "b", **m),
        change_array,
    ),
    "pyramid": (lambda p, **m: jobs.pyramid(p / "a.zarr/z", p / "b", **m), change_array),
    "pyramid in place": (lambda p, **m: jobs.pyramid(p / "a.zarr/z", **m), change_array),
    "along": (
        lambda p, **m: jobs.statistics(p / "a.zarr/z", axis=0, dest=p / "b", **m),
        change_array,
    ),
    "stack": (
        lambda p, **m: jobs.stack([p / "one.npy"], p / "b", chunks=(2, 8), **m),
        change_file,
    ),
    "stack of arrays": (
        lambda p, **m: jobs.stack([p / "a.zarr/z"], p / "b", reader="zarr", **m),
        change_array,
    ),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_resumed_job_names_the_source_that_changed(tmp_path, group, name):
    make, change = JOBS[name]
    stopped(make(tmp_path, run=False))
    change(tmp_path)
    with pytest.raises(SourceChangedError, match=r"stored values .* overwrite=True, or .*abandon"):
        make(tmp_path)
    # The ways out: begun again, or removed.
    assert make(tmp_path, overwrite=True) is not None
    job = make(tmp_path, overwrite=True, run=False)
    stopped(job)
    change(tmp_path)
    job.abandon()
    assert not (tmp_path / "b").exists() or not list(zarr.DirectoryStore(tmp_path / "b"))
    assert make(tmp_path) is not None


@pytest.mark.parametrize("name", JOBS)
def test_parts_of_two_states_are_not_joined(tmp_path, group, name):
    make, change = JOBS[name]
    job = make(tmp_path, run=False)
    job.run(part=(0, 2))
    change(tmp_path)
    job.run(part=(1, 2))
    with pytest.raises(SourceChangedError, match="since the job began"):
        job.finish()


@pytest.mark.parametrize("name", JOBS)
def test_a_result_of_another_state_is_not_given_again(tmp_path, group, name):
    make, change = JOBS[name]
    make(tmp_path)
    change(tmp_path)
    if name == "map":
        # A function of this program has no name, so that its result is never compared.
        with pytest.raises(zarr.errors.ContainsArrayError):
            make(tmp_path)
        return
    assert not make(tmp_path, run=False).is_done
    with pytest.raises(SourceChangedError, match="overwrite=True makes it again"):
        make(tmp_path)
    make(tmp_path, overwrite=True)


def test_a_source_that_changes_during_the_run_is_an_error(tmp_path, group):
    def change(event):
        if event["task"] == 3:
            change_array(tmp_path)

    job = jobs.map_chunks(double, group["z"], dest=tmp_path / "b", run=False)
    with pytest.raises(SourceChangedError, match="since the job began"):
        job.run(events=change)
    assert not (tmp_path / "b" / "zarr.json").exists()


def test_passes_of_exact_statistics_are_of_one_state(tmp_path, monkeypatch):
    z = zarr.create_array(tmp_path / "a", shape=(100,), chunks=(10,), dtype="f4")
    z[:] = np.arange(100)
    exactly = statistics._exactly

    def later(*told):
        z[:] = np.arange(100)[::-1]
        return exactly(*told)

    monkeypatch.setattr(statistics, "_exactly", later)
    with pytest.raises(SourceChangedError, match="the pass before began"):
        jobs.statistics(z, quantiles=(0.5,), exact=True)


@pytest.mark.parametrize("kind", ["memory", "dict", "zip"])
def test_sources_in_memory_and_in_archives(tmp_path, kind):
    store = {
        "memory": zarr.MemoryStore,
        "dict": lambda: zarr.KVStore({}),
        "zip": lambda: zarr.ZipStore(tmp_path / "a.zip", mode="w"),
    }[kind]()
    z = zarr.create_array(store, shape=(20,), chunks=(2,), dtype="i4")
    z[:] = 1
    if kind == "zip":
        store.flush()
    job = jobs.copy(z, tmp_path / "b", run=False)
    stopped(job)
    z[:] = 2
    if kind == "zip":
        store.flush()
    with pytest.raises(SourceChangedError):
        job.run()
    store.close()


def test_arrays_that_are_stacked_from_memory_are_compared(tmp_path):
    one = np.arange(40).reshape(10, 4)
    stopped(jobs.stack([one, one], tmp_path / "b", chunks=(2, 4), run=False))
    with pytest.raises(SourceChangedError):
        jobs.stack([one, one + 1], tmp_path / "b", chunks=(2, 4))
    made = jobs.stack([one, one], tmp_path / "b", chunks=(2, 4))
    np.testing.assert_array_equal(made[:], np.concatenate([one, one]))


def test_the_report_names_sources_whose_changes_are_not_seen(tmp_path):
    class Mine(zarr.storage.Store):
        def __init__(self):
            self.values_ = {}

        __getitem__ = lambda self, key: self.values_[key]  # noqa: E731
        __setitem__ = lambda self, key, value: self.values_.update({key: bytes(value)})  # noqa: E731
        __delitem__ = lambda self, key: self.values_.pop(key)  # noqa: E731
        __iter__ = lambda self: iter(self.values_)  # noqa: E731

    z = zarr.create_array(Mine(), shape=(4,), chunks=(2,), dtype="i4")
    z[:] = 1
    report = jobs.copy(z, tmp_path / "b", run=False).run()
    assert report.unchecked == ("source",)
    assert "changes of source are not seen" in str(report)
    here = zarr.array([1, 2], store=str(tmp_path / "here"))
    assert jobs.copy(here, tmp_path / "c", run=False).run().unchecked == ()


def test_a_state_sees_what_a_clock_does_not(tmp_path):
    """A file that is replaced within one tick of the clock has another inode; older ones are told
    by their time alone, because inodes change on some file systems.
    """
    z = zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="i4")
    z[:] = 1
    file = tmp_path / "a" / "c" / "0"
    found = os.stat(file)
    now = found.st_mtime_ns
    before = state_below(z.store, "", now)
    old = state_below(z.store, "", now + 10**10)
    copy = tmp_path / "copy"
    copy.write_bytes(file.read_bytes())
    os.utime(copy, ns=(now, now))
    os.replace(copy, file)
    assert state_below(z.store, "", now) != before
    assert state_below(z.store, "", now + 10**10) == old
    os.utime(file, ns=(now, now + 10**6))
    assert state_below(z.store, "", now + 10**10) != old


def test_links_in_a_circle_end(tmp_path):
    z = zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="i4")
    z[:] = 1
    before = state_below(z.store, "", 0)
    os.symlink(tmp_path / "a", tmp_path / "a" / "c" / "loop")
    assert state_below(z.store, "", 0).values >= before.values
