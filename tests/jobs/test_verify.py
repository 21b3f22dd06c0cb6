"""`jobs.verify` finds what `zarrix.verify` finds, in tasks; `reserve` gives rows to one writer."""

import threading

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import hierarchy
from zarrix import jobs


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_damaged_chunks_are_found_by_tasks(tmp_path, zarr_format, executor):
    hierarchy(tmp_path / "a.zarr", zarr_format)
    place = str(tmp_path / "a.zarr")
    fine = jobs.verify(place, executor=executor)
    other = zarr.verify(place)
    assert fine.ok
    assert (fine.chunks, fine.stored_bytes) == (other.chunks, other.stored_bytes)
    assert (fine.arrays, fine.groups) == (other.arrays, other.groups)
    store = zarr.DirectoryStore(place)
    damaged = sorted(key for key in store if key.startswith("numbers/") and key[-1] in "13")
    damaged = [key for key in damaged if not key.endswith((".json", ".zarray"))]
    for key in damaged:
        store[key] = b"not a chunk"
    found = jobs.verify(place, executor=executor)
    assert [one.key for one in found.problems] == damaged
    assert [one.key for one in zarr.verify(place).problems] == damaged


def test_a_sample_is_the_same_each_time(tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", shape=(5000, 4), chunks=(1, 2), dtype="u1")
    z[:] = 1
    part = jobs.verify(z, sample=0.5)
    assert 0 < part.chunks < 10_000
    assert jobs.verify(z, sample=0.5).chunks == part.chunks
    with pytest.raises(ValueError, match="sample"):
        jobs.verify(z, sample=2)


def test_a_verification_goes_on(tmp_path):
    hierarchy(tmp_path / "a.zarr")
    job = jobs.verify(tmp_path / "a.zarr", run=False)
    job.run(part=(0, 2), resume=tmp_path / "journal")
    report = job.run(resume=tmp_path / "journal")
    assert report.resumed == -(-len(job.tasks(0)) // 2)
    assert report.result.chunks == zarr.verify(tmp_path / "a.zarr").chunks


@pytest.mark.parametrize("align", ["shards", None])
def test_many_writers_have_rows_of_their_own(tmp_path, align):
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(0, 3), chunks=(2, 3), shards=(4, 3), dtype="i4", fill_value=-1
    )
    regions = []

    def work(number):
        own = zarr.open(tmp_path / "a.zarr", mode="r+")
        for step in range(5):
            with jobs.reserve(own, 1 + (number + step) % 6, align=align) as region:
                own[region] = number
                regions.append((number, region))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    z = zarr.open(tmp_path / "a.zarr", mode="r")
    stored = z[:, 0]
    wanted = np.full(len(stored), -1)
    for number, region in regions:
        assert (wanted[region[0]] == -1).all()
        wanted[region[0]] = number
        assert align is None or region[0].start % 4 == 0
    np.testing.assert_array_equal(stored, wanted)
    assert (align is None) == (-1 not in wanted)


def test_a_reservation_that_is_not_possible_changes_nothing(tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", shape=(3,), chunks=(2,), dtype="i4")
    for wrong in ({"count": -1}, {"count": 1, "axis": 2}, {"count": 1, "align": "rows"}):
        with pytest.raises(ValueError, match=r"count=|axis|align"), jobs.reserve(z, **wrong):
            pass
    with z.writer(), pytest.raises(zarr.errors.WriterError), jobs.reserve(z, 1):
        pass
    assert zarr.open(tmp_path / "a.zarr").shape == (3,)
    read_only = zarr.open(tmp_path / "a.zarr", mode="r")
    with pytest.raises(zarr.errors.ReadOnlyError), jobs.reserve(read_only, 1):
        pass
