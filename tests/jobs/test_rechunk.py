"""`jobs.rechunk`: equal elements, equal bytes for every plan and executor, bounded memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import RANDOM, hierarchy
from zarrix import jobs


@pytest.fixture
def steps(tmp_path):
    """An array of time steps, and its elements."""
    z = zarr.create_array(
        tmp_path / "steps.zarr",
        shape=(60, 50, 40),
        chunks=(4, 50, 40),
        dtype="f4",
        attributes={"unit": "K"},
        dimension_names=["time", "y", "x"],
    )
    z[:] = RANDOM.random(z.shape)
    return z


@pytest.mark.parametrize("passes", [None, 1, 2, 3, 4])
@pytest.mark.parametrize("executor", [None, "threads"])
def test_every_plan_has_the_same_bytes(tmp_path, steps, passes, executor):
    direct = zarr.from_array(tmp_path / "direct.zarr", data=steps, chunks=(60, 7, 8))
    done = jobs.rechunk(
        steps,
        tmp_path / "series.zarr",
        chunks=(-1, 7, 8),
        max_memory="256 KiB",
        passes=passes,
        executor=executor,
    )
    np.testing.assert_array_equal(done[:], steps[:])
    assert zarr.digests(tmp_path / "series.zarr") == zarr.digests(tmp_path / "direct.zarr")
    assert direct.attrs["unit"] == done.attrs["unit"]


@pytest.mark.parametrize(
    ("chunks", "shards"),
    [
        ((10, 10, 10), (30, 20, 40)),
        (None, (8, 50, 80)),
        ((7, 9, 11), None),
        ([[10, 50], 50, 40], None),
    ],
)
def test_shards_and_uneven_chunks_are_written_whole(tmp_path, steps, chunks, shards):
    done = jobs.rechunk(
        steps, tmp_path / "b.zarr", chunks=chunks, shards=shards, max_memory="1 MiB"
    )
    np.testing.assert_array_equal(done[:], steps[:])
    assert zarr.verify(tmp_path / "b.zarr").ok


def test_lengths_are_given_by_the_names_of_dimensions(tmp_path, steps):
    done = jobs.rechunk(steps, tmp_path / "b.zarr", chunks={"time": -1, "x": 5})
    assert done.chunks == (60, 50, 5)
    with pytest.raises(ValueError, match="no dimension 'z'"):
        jobs.rechunk(steps, tmp_path / "c.zarr", chunks={"z": 5})


@pytest.mark.parametrize("name", ["chunks", "shards"])
@pytest.mark.parametrize("lengths", [(2,), (1, 1), (2,) * 4])
def test_lengths_that_are_not_one_for_each_axis_name_the_shape(tmp_path, name, lengths):
    source = zarr.create_array(tmp_path / "a.zarr", shape=(4, 4, 4), dtype="i4")
    with pytest.raises(
        ValueError, match=r"one length for each axis of an array of shape \(4, 4, 4\)"
    ):
        jobs.rechunk(source, tmp_path / "b.zarr", **{name: lengths})
    assert not (tmp_path / "b.zarr").exists()


def test_lengths_are_given_by_the_names_that_xarray_keeps_in_v2(tmp_path):
    source = zarr.open(tmp_path / "a.zarr", mode="w", shape=(4, 6), dtype="i4")
    source.attrs["_ARRAY_DIMENSIONS"] = ["t", "x"]
    made = jobs.rechunk(source, tmp_path / "b.zarr", chunks={"t": 2})
    assert made.chunks == (2, 6)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_has_a_rule_for_each_array(tmp_path, zarr_format):
    source = hierarchy(tmp_path / "a.zarr", zarr_format)
    zarr.consolidate_metadata(str(tmp_path / "a.zarr"))
    done = jobs.rechunk(source, tmp_path / "b.zarr", chunks={"numbers": (53, 5)})
    assert done["numbers"].chunks == (53, 5)
    assert done["deep/text"].chunks == (2,)
    assert done.attrs["unit"] == "mm"
    assert not [one for one in zarr.diff(source, done).differences if one.kind == "data"]
    for path in ("numbers", "deep/text", "scalar", "sparse", "empty"):
        np.testing.assert_array_equal(done[path][...], source[path][...])
    assert zarr.verify(tmp_path / "b.zarr").ok


def test_elements_are_cast_and_codecs_replaced(tmp_path, steps):
    done = jobs.rechunk(
        steps, tmp_path / "b.zarr", chunks=(60, 10, 10), dtype="f2", compressors=None
    )
    np.testing.assert_array_equal(done[:], steps[:].astype("f2"))
    assert done.compressors == ()


def test_shards_make_an_array_of_format_2_one_of_format_3(tmp_path):
    z = zarr.array(np.arange(100), chunks=10, store=str(tmp_path / "a.zarr"))
    done = jobs.rechunk(z, tmp_path / "b.zarr", chunks=5, shards=50)
    assert (done.zarr_format, done.shards) == (3, (50,))
    np.testing.assert_array_equal(done[:], z[:])


def test_intermediates_are_below_temp_and_are_removed(tmp_path, steps):
    seen = set()

    def look(event):
        seen.update(one.name for one in (tmp_path / "temp").iterdir())

    job = jobs.rechunk(
        steps,
        tmp_path / "b.zarr",
        chunks=(60, 5, 5),
        passes=2,
        max_memory="256 KiB",
        temp=tmp_path / "temp",
        run=False,
    )
    job.run(events=look)
    # In a folder of the run: what else is below ``temp`` is not touched.
    assert [name.startswith("zarrix-job-") for name in seen] == [True]
    assert not (tmp_path / "temp").exists() or not list((tmp_path / "temp").iterdir())
    assert not (tmp_path / "b.zarr" / ".zarrix-job").exists()


def test_a_late_task_of_a_finished_job_changes_nothing(tmp_path, steps):
    """Its intermediate is gone, and a missing chunk must not read as the fill value."""
    job = jobs.rechunk(
        steps, tmp_path / "b.zarr", chunks=(60, 5, 5), passes=2, max_memory="256 KiB", run=False
    )
    job.run()
    before = zarr.digests(tmp_path / "b.zarr")
    late = jobs.rechunk(
        steps, tmp_path / "c.zarr", chunks=(60, 5, 5), passes=2, max_memory="256 KiB", run=False
    )
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        late._operation.run(1, 0)
    with pytest.raises(zarr.errors.ChunkNotFoundError):
        job._operation.run(1, 0)
    assert zarr.digests(tmp_path / "b.zarr") == before


def test_memory_that_is_not_enough_names_what_is(tmp_path, steps):
    with pytest.raises(zarr.errors.JobError, match="a task holds at least"):
        jobs.rechunk(steps, tmp_path / "b.zarr", chunks=(60, 50, 40), max_memory="10 KiB")
    with pytest.raises(ValueError, match="max_memory='much'"):
        jobs.rechunk(steps, tmp_path / "b.zarr", max_memory="much")
    with pytest.raises(TypeError, match="rates has no 'speed'"):
        jobs.rechunk(steps, tmp_path / "b.zarr", rates={"speed": 1})


def test_a_plan_says_what_it_does(tmp_path, steps):
    job = jobs.rechunk(
        steps, tmp_path / "b.zarr", chunks=(60, 5, 5), max_memory="256 KiB", run=False
    )
    assert "pass 1 of 2" in str(job)
    assert "estimated for one worker by number of passes" in str(job)
    assert job.memory <= 256 * 1024
    first, last = job.tasks(0), job.tasks(1)
    assert sum(np.prod([s.stop - s.start for s in t.region]) for t in first) == steps.size
    assert sum(np.prod([s.stop - s.start for s in t.region]) for t in last) == steps.size


@pytest.mark.parametrize("passes", [1, 2])
def test_values_are_rounded_only_where_an_error_is_named(tmp_path, steps, passes):
    steps.attrs["missing_value"] = -999.875
    steps[0, 0, 0] = -999.875
    done = jobs.rechunk(steps, tmp_path / "x.zarr", chunks=(60, 7, 8), max_error=0.3, passes=passes)
    assert float(np.abs(done[...] - steps[...]).max()) <= 0.3
    assert done[0, 0, 0] == -999.875
    assert set(np.unique(done[...])) <= {-999.875, 0.0, 0.5, 1.0}
    same = jobs.rechunk(steps, tmp_path / "y.zarr", max_error=0.3)
    np.testing.assert_array_equal(same[...], done[...])
    with pytest.raises(ValueError, match="max_error=0 is not a number above 0"):
        jobs.rechunk(steps, tmp_path / "z.zarr", max_error=0)


@pytest.mark.parametrize("fill_value", [None, 0, 3])
def test_absent_chunks_have_nothing_of_the_task_before(fill_value: Any, tmp_path: Path) -> None:
    source = zarr.open(
        tmp_path / "source", mode="w", shape=(64, 64), chunks=(4, 64), dtype="i4",
        fill_value=fill_value, zarr_format=2,
    )  # fmt: skip
    for row in range(0, 64, 8):
        source[row : row + 4] = 7 + row
    for number, passes in enumerate((1, 2)):
        dest = jobs.rechunk(
            source, tmp_path / f"dest{number}", chunks=(4, 16), max_memory=40_000, passes=passes
        )
        assert np.array_equal(dest[...], source[...])
