"""`jobs.copy`: equal bytes for every executor and after every interruption."""

import threading
from concurrent import futures

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import hierarchy
from zarrix import jobs
from zarrix.jobs._operations.copy import Copy


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("executor", [None, "threads", map, futures.ThreadPoolExecutor])
def test_a_copy_has_the_same_bytes(tmp_path, zarr_format, executor):
    source = hierarchy(tmp_path / "a.zarr", zarr_format)
    if executor is map:
        # Any function that maps.
        executor = lambda function, numbers: map(function, numbers)  # noqa: E731
    copied = jobs.copy(source, tmp_path / "b.zarr", executor=executor)
    assert isinstance(copied, zarr.Group)
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_processes_copy_the_same_bytes(tmp_path):
    hierarchy(tmp_path / "a.zarr")
    jobs.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", executor="processes")
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_one_array_is_copied_into_a_group(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    zarr.open_group(tmp_path / "b.zarr", mode="w", zarr_format=3)
    place = zarr.open_group(tmp_path / "b.zarr").require_group("x")
    copied = jobs.copy(source["deep/shards"], zarr.storage.StorePath(place.store, "x/y/z"))
    np.testing.assert_array_equal(copied[:], source["deep/shards"][:])
    assert zarr.open_group(tmp_path / "b.zarr")["x/y/z"] == copied


def test_consolidated_metadata_is_copied_and_true(tmp_path):
    hierarchy(tmp_path / "a.zarr", 2)
    zarr.consolidate_metadata(str(tmp_path / "a.zarr"))
    jobs.copy(tmp_path / "a.zarr", tmp_path / "b.zarr")
    assert zarr.verify(tmp_path / "b.zarr").ok
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_a_plan_changes_nothing(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    job = jobs.copy(source, tmp_path / "b.zarr", run=False)
    assert "GET" in str(job)
    assert job.status() == {"job": job.id, "state": "not begun", "stages": [(0, 6)]}
    assert not (tmp_path / "b.zarr").exists()


def test_an_existing_destination_is_an_error(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    zarr.open_group(tmp_path / "b.zarr", mode="w")
    with pytest.raises(zarr.errors.ContainsGroupError, match="overwrite=True"):
        jobs.copy(source, tmp_path / "b.zarr")
    (tmp_path / "c.zarr").mkdir()
    (tmp_path / "c.zarr" / "0.0").write_bytes(b"a chunk")
    with pytest.raises(zarr.errors.ContainsArrayError, match=r"0\.0"):
        jobs.copy(source, tmp_path / "c.zarr")
    jobs.copy(source, tmp_path / "b.zarr", overwrite=True)
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_a_copy_over_its_source_is_an_error(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    before = zarr.digests(tmp_path / "a.zarr")
    with pytest.raises(zarr.errors.OverlapError, match="source"):
        jobs.copy(source, tmp_path / "a.zarr", overwrite=True)
    assert zarr.digests(tmp_path / "a.zarr") == before


def test_a_copy_that_fails_half_way_goes_on_with_the_rest(tmp_path, monkeypatch):
    source = hierarchy(tmp_path / "a.zarr")
    done, run = [], Copy.run

    def failing(self, stage, number):
        if number == 3 and not done.count("repaired"):
            raise RuntimeError("a broken task")
        done.append(number)
        return run(self, stage, number)

    monkeypatch.setattr(Copy, "run", failing)
    with pytest.raises(zarr.errors.JobFailed, match="task 3 of stage 0: RuntimeError: a broken"):
        jobs.copy(source, tmp_path / "b.zarr")
    with pytest.raises(zarr.errors.PathNotFoundError):
        zarr.open(tmp_path / "b.zarr", mode="r")
    first = len(done)
    done.append("repaired")
    job = jobs.Job.load(tmp_path / "b.zarr")
    assert job.status()["stages"] == [(5, 6)]
    assert job.run().tasks == 1
    assert len(done) == first + 2
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_parts_are_finished_by_a_call_of_its_own(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    jobs.copy(source, tmp_path / "b.zarr", run=False).save(tmp_path / "job.json")
    load = jobs.Job.load
    threads = [
        threading.Thread(target=lambda i=i: load(tmp_path / "job.json").run(part=(i, 3)))
        for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(zarr.errors.JobInterrupted, match="2 tasks of stage 0"):
        load(tmp_path / "job.json").finish()
    load(tmp_path / "job.json").run(part=(2, 3))
    load(tmp_path / "job.json").finish()
    assert zarr.digests(tmp_path / "b.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_a_changed_source_is_an_error(tmp_path):
    source = zarr.create_array(tmp_path / "a.zarr", shape=(40,), chunks=(10,), dtype="i4")
    job = jobs.copy(source, tmp_path / "b.zarr", run=False)
    source.resize(50)
    with pytest.raises(zarr.errors.JobFailed, match="has another shape"):
        job.run()


def test_an_abandoned_job_leaves_nothing(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    job = jobs.copy(source, tmp_path / "b.zarr", run=False)
    job.run(part=(0, 2))
    assert list(zarr.DirectoryStore(tmp_path / "b.zarr"))
    job.abandon()
    assert not list(zarr.DirectoryStore(tmp_path / "b.zarr"))


def test_another_job_at_the_destination_is_an_error(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    jobs.copy(source, tmp_path / "b.zarr", run=False).run(part=(0, 2))
    with pytest.raises(zarr.errors.JobError, match="another job"):
        jobs.copy(source["numbers"], tmp_path / "b.zarr")
    jobs.copy(source["numbers"], tmp_path / "b.zarr", overwrite=True)
    np.testing.assert_array_equal(zarr.open(tmp_path / "b.zarr")[:], source["numbers"][:])


def test_a_store_in_memory_is_for_this_process_only():
    source = hierarchy(zarr.MemoryStore())
    with pytest.raises(zarr.errors.JobError, match="in the memory of this process"):
        jobs.copy(source, zarr.MemoryStore(), executor="processes")
    dest = zarr.MemoryStore()
    jobs.copy(source, dest, executor="threads")
    assert zarr.digests(dest) == zarr.digests(source)


def test_zip_archives_are_sources_and_destinations(tmp_path):
    source = hierarchy(tmp_path / "a.zarr")
    with zarr.ZipStore(str(tmp_path / "b.zip"), mode="w") as packed:
        jobs.copy(source, packed)
    jobs.copy(tmp_path / "b.zip", tmp_path / "c.zarr")
    assert zarr.digests(tmp_path / "c.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_large_values_are_copied_as_files(tmp_path):
    """Those are copied by the system, in a loop."""
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(3, 200_000), chunks=(1, 200_000), dtype="u4", compressors=None
    )
    z[0], z[2] = np.arange(200_000), 7
    done = jobs.copy(z, tmp_path / "b.zarr", executor="threads")
    np.testing.assert_array_equal(done[:], z[:])
    assert done.nchunks_initialized == 2
    assert zarr.digests(tmp_path / "a.zarr") == zarr.digests(tmp_path / "b.zarr")


def test_a_file_that_cannot_be_stored_leaves_the_old_one(tmp_path):
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(200_000,), chunks=(200_000,), dtype="u4", compressors=None
    )
    z[:] = 7
    source, dest = zarr.DirectoryStore(tmp_path / "a.zarr"), zarr.DirectoryStore(tmp_path / "b")
    dest["c/0"] = b"old"
    (tmp_path / "b" / "c" / "0").chmod(0o444)
    with pytest.raises(zarr.errors.InvalidKeyError):
        dest._engine.copy_many(source._engine, [("c/0", "../c")])
    (tmp_path / "a.zarr" / "c" / "0").unlink()
    assert dest._engine.copy_many(source._engine, [("c/0", "c/0")]) == (0, 0)
    assert dest["c/0"] == b"old"
