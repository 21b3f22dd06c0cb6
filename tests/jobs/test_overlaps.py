"""A job never writes over, or removes, what it reads, by any names that lead there."""

import os
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double
from zarrix import jobs
from zarrix.errors import JobError, OverlapError


@pytest.fixture
def data(tmp_path):
    """A group with an array and what it lies in; all that is there is compared at the end."""
    root = zarr.open_group(tmp_path / "x", mode="w", zarr_format=3)
    z = root.create_array("a/src", shape=(12, 6), chunks=(4, 6), dtype="i4")
    z[:] = np.arange(72).reshape(12, 6)
    np.save(tmp_path / "x" / "one.npy", np.ones((4, 4)))
    (tmp_path / "link").symlink_to(tmp_path / "x")
    (tmp_path / "x" / "inner").symlink_to(tmp_path / "x" / "a")
    before = contents(tmp_path)
    yield tmp_path
    assert contents(tmp_path) == before


def contents(folder):
    paths = (Path(at) / name for at, _, names in os.walk(folder) for name in names)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


CALLS = {
    "copy": lambda source, dest, **m: jobs.copy(source, dest, **m),
    "rechunk": lambda source, dest, **m: jobs.rechunk(source, dest, chunks=(12, 2), **m),
    "map_chunks": lambda source, dest, **m: jobs.map_chunks(double, source, dest=dest, **m),
    "stack": lambda source, dest, **m: jobs.stack([source], dest, reader="zarr", **m),
    "pyramid": lambda source, dest, **m: jobs.pyramid(source, dest, **m),
    "along": lambda source, dest, **m: jobs.statistics(source, axis=0, dest=dest, **m),
}
# The destination, when the source is x/a/src: around it, it, inside it; by other names.
PLACES = {
    "around": "x/a",
    "the root": "x",
    "itself": "x/a/src",
    "inside": "x/a/src/new",
    "through a link": "link/a",
    "the link": "link",
    "a link inside": "x/inner",
    "dots": "x/a/../a",
}


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CALLS)
def test_an_overlap_is_an_error(data, name, place, overwrite):
    with pytest.raises(OverlapError, match="source"):
        CALLS[name](str(data / "x/a/src"), str(data / PLACES[place]), overwrite=overwrite)


@pytest.mark.parametrize("name", CALLS)
def test_other_roots_of_stores_are_the_same_place(data, name):
    source = zarr.open_array(zarr.DirectoryStore(data / "x"), path="a/src", mode="r")
    wrapped = zarr.LRUStoreCache(zarr.DirectoryStore(data / "link"), None)
    for dest in (zarr.DirectoryStore(data / "x" / "a"), zarr.open_group(wrapped, path="a")):
        with pytest.raises(OverlapError, match="source"):
            CALLS[name](source, dest, overwrite=True)


def test_files_that_are_stacked_are_kept(data):
    with pytest.raises(OverlapError, match="source"):
        jobs.stack([data / "x" / "one.npy"], data / "x", chunks=(2, 4), overwrite=True)


def test_temporary_places_and_journals_are_apart(data):
    source, dest = str(data / "x/a/src"), data / "new"
    plan = {"chunks": (12, 2), "passes": 2, "max_memory": "400 B"}
    for temp in (dest, data / "x" / "a" / "src", data / "link" / "a" / "src"):
        with pytest.raises(OverlapError):
            jobs.rechunk(source, dest, temp=temp, **plan)
    for resume in (dest, data / "x" / "a" / "src"):
        with pytest.raises(OverlapError):
            jobs.copy(source, dest, resume=resume)
    assert not dest.exists()


def test_what_is_beside_intermediates_stays(tmp_path):
    """Those are in a folder of their own, so that temp= may be a folder of anything."""
    z = zarr.create_array(tmp_path / "all" / "a", shape=(12, 6), chunks=(4, 6), dtype="i4")
    z[:] = 1
    (tmp_path / "all" / "mine.txt").write_text("mine")
    plan = {"chunks": (12, 2), "passes": 2, "max_memory": "400 B"}
    jobs.rechunk(z, tmp_path / "all" / "b", temp=tmp_path / "all", **plan)
    assert sorted(os.listdir(tmp_path / "all")) == ["a", "b", "mine.txt"]


@pytest.mark.parametrize("name", CALLS)
def test_files_of_others_in_a_destination_stay(tmp_path, name):
    z = zarr.create_array(tmp_path / "a", shape=(12, 6), chunks=(4, 6), dtype="i4")
    z[:] = 1
    dest = tmp_path / "b"
    dest.mkdir()
    (dest / "notes.txt").write_text("mine")
    with pytest.raises((JobError, zarr.errors.ContainsArrayError), match=r"notes\.txt"):
        CALLS[name](z, dest)
    with pytest.raises(JobError, match=r"notes\.txt"):
        CALLS[name](z, dest, overwrite=True)
    (dest / "notes.txt").unlink()
    job = CALLS[name](z, dest, run=False)
    job.run(part=(0, 2))
    # What came since is not the job's either.
    (dest / "notes.txt").write_text("mine")
    zarr.create_array(dest / "mine", data=np.arange(3))
    for call in (job.abandon, lambda: CALLS[name](z, dest, overwrite=True, resume=False)):
        with pytest.raises(JobError, match=r"notes\.txt"):
            call()
    (dest / "notes.txt").unlink()
    with pytest.raises(JobError, match=r"mine/"):
        job.abandon()
    assert zarr.open_array(dest / "mine")[1] == 1


def test_a_job_folder_behind_a_link_is_not_touched(tmp_path):
    z = zarr.create_array(tmp_path / "a", shape=(12,), chunks=(4,), dtype="i4")
    z[:] = 1
    (tmp_path / "mine" / "journal").mkdir(parents=True)
    (tmp_path / "mine" / "journal" / "text").write_text("mine")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".zarrix-job").symlink_to(tmp_path / "mine")
    for call in (
        lambda: jobs.copy(z, tmp_path / "b"),
        lambda: jobs.copy(z, tmp_path / "b", overwrite=True),
        lambda: jobs.copy(z, tmp_path / "b", run=False).abandon(),
    ):
        with pytest.raises(JobError, match="is a link"):
            call()
    assert (tmp_path / "mine" / "journal" / "text").read_text() == "mine"


def test_what_others_have_in_a_job_folder_stays(tmp_path):
    z = zarr.create_array(tmp_path / "a", shape=(12,), chunks=(4,), dtype="i4")
    z[:] = 1
    (tmp_path / "b" / ".zarrix-job").mkdir(parents=True)
    (tmp_path / "b" / ".zarrix-job" / "notes.txt").write_text("mine")
    jobs.copy(z, tmp_path / "b")
    assert (tmp_path / "b" / ".zarrix-job" / "notes.txt").read_text() == "mine"
