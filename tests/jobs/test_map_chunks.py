"""`jobs.map_chunks`: functions of blocks, with a halo, in any process."""

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double, smooth
from zarrix import jobs
from zarrix._array.access import metadata_of

RANDOM = np.random.default_rng(3)


def noise(block, where):
    """Random numbers that belong to the call."""
    return np.random.default_rng(where.seed).random(block.shape)


def broken(block, where):
    """Fails in one task."""
    if where.number == 3:
        raise ArithmeticError("no such luck")
    return block


@pytest.fixture
def raw(tmp_path):
    return zarr.array(RANDOM.random((50, 37)), chunks=(8, 9), store=str(tmp_path / "raw"))


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_a_filter_with_a_halo_is_that_of_the_whole_array(tmp_path, raw, executor):
    made = jobs.map_chunks(
        smooth, raw, dest=tmp_path / "smooth", halo=(2, 1), chunks=(16, 16), executor=executor
    )
    expected = smooth(np.pad(raw[:], [(2, 2), (1, 1)], mode="reflect"))
    np.testing.assert_array_equal(made[:], expected)
    assert made.chunks == (16, 16)


def test_blocks_with_their_halo_are_trimmed(tmp_path, raw):
    for boundary in ("clip", "edge", "wrap", "reflect", 0.5):
        made = jobs.map_chunks(
            lambda block: block + 1, raw, dest=tmp_path / f"{boundary}", halo=3, boundary=boundary
        )
        np.testing.assert_array_equal(made[:], raw[:] + 1)


def test_several_arrays_and_another_dtype(tmp_path, raw):
    group = zarr.open_group(tmp_path / "g", mode="w", zarr_format=3)
    flat = group.create_array("flat", data=raw[:] + 1, chunks=(50, 5))
    made = jobs.map_chunks(lambda a, b: a < b - 0.5, raw, flat, dest=tmp_path / "less", dtype=bool)
    assert made.dtype == bool
    np.testing.assert_array_equal(made[:], raw[:] < flat[:] - 0.5)
    shards = jobs.map_chunks(
        np.sqrt, flat, dest=tmp_path / "shards", chunks=(5, 5), shards=(25, 40), dtype="f4"
    )
    np.testing.assert_array_equal(shards[:], np.sqrt(flat[:]).astype("f4"))


def test_random_numbers_are_equal_in_every_run(tmp_path, raw):
    one, two, other = (
        jobs.map_chunks(noise, raw, dest=tmp_path / str(n), seed=n // 2, executor=executor)[:]
        for n, executor in enumerate([None, "threads", "threads"])
    )
    assert (one == two).all()
    assert not (one == other).any()
    assert len(np.unique(one)) == one.size


def test_a_saved_job_has_the_name_of_the_function(tmp_path, raw):
    job = jobs.map_chunks("numpy:negative", raw, dest=tmp_path / "minus", run=False)
    job.save(tmp_path / "job.json")
    made = jobs.Job.load(tmp_path / "job.json", modules=["numpy"]).run().result
    np.testing.assert_array_equal(made[:], -raw[:])
    with pytest.raises(jobs.JobError, match="module:name"):
        jobs.map_chunks(np.negative, raw, dest=tmp_path / "x", run=False).save(tmp_path / "y")


def test_an_error_of_the_function_names_the_task_and_the_rest_is_done(tmp_path, raw):
    with pytest.raises(jobs.JobFailed, match="task 3 of stage 0: ArithmeticError: no such luck"):
        jobs.map_chunks(broken, raw, dest=tmp_path / "made")
    with pytest.raises(zarr.errors.ArrayNotFoundError):
        zarr.open_array(tmp_path / "made", mode="r")
    # Another function is another job.
    with pytest.raises(jobs.JobError, match="another job"):
        jobs.map_chunks(lambda block: block, raw, dest=tmp_path / "made")
    made = jobs.map_chunks(lambda block: block, raw, dest=tmp_path / "made", overwrite=True)
    np.testing.assert_array_equal(made[:], raw[:])


def test_mistakes_are_errors_before_anything_is_written(tmp_path, raw):
    short = zarr.array(np.zeros(5), store=str(tmp_path / "short"))
    before = sorted(tmp_path.rglob("*"))
    for error, message, arguments in [
        (ValueError, "different shapes", {"sources": (raw, short)}),
        (ValueError, "at least one array", {"sources": ()}),
        (ValueError, "expected 'reflect'", {"boundary": "mirror"}),
        (ValueError, "not negative", {"halo": -1}),
        (ValueError, "expected 'module:name'", {"function": "numpy"}),
        (AttributeError, "numpy", {"function": "numpy:no_such_name"}),
    ]:
        function = arguments.pop("function", smooth)
        sources = arguments.pop("sources", (raw,))
        with pytest.raises(error, match=message):
            jobs.map_chunks(function, *sources, dest=tmp_path / "made", **arguments)
    assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(jobs.JobFailed, match=r"returned the shape \(8, 5\).* expected \(8, 9\)"):
        jobs.map_chunks(lambda block: block[:, :5], raw, dest=tmp_path / "made")


SCRIPT = """
import pickle
from zarrix.jobs._running.sent import Sent

def double(block):
    return offset + 2 * block

offset = 1
with open("sent", "wb") as file:
    pickle.dump(Sent(double), file)
"""


def test_functions_of_a_program_that_workers_cannot_import_are_sent(tmp_path):
    pytest.importorskip("cloudpickle")
    subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, check=True)
    # This process has another main module.
    assert pickle.loads((tmp_path / "sent").read_bytes()).function(3) == 7


@pytest.mark.parametrize("executor", [None, "threads", map])
def test_a_function_that_always_fails_ends_the_job_soon(tmp_path, executor):
    z = zarr.zeros(20_000, chunks=10, store=str(tmp_path / "a"), dtype="i4", zarr_format=3)
    calls = []

    def fails(block):
        calls.append(1)
        raise ArithmeticError(f"call {len(calls)}")

    with pytest.raises(
        jobs.JobFailed, match=r"failed alike, and the others were not tried(.|\n)*ArithmeticError"
    ):
        jobs.map_chunks(fails, z, dest=tmp_path / "b", executor=executor)
    assert 8 <= len(calls) < 1000


def test_a_function_that_fails_often_is_called_for_all_others(tmp_path):
    z = zarr.array(np.arange(200), chunks=1, store=str(tmp_path / "a"))

    def fails(block):
        if block[0] % 10:
            raise ArithmeticError("no such luck")
        return block

    with pytest.raises(jobs.JobFailed, match="180 tasks failed; the same call tries only"):
        jobs.map_chunks(fails, z, dest=tmp_path / "b")
    # What succeeded before counts: none of the rest is left out.
    with pytest.raises(jobs.JobFailed, match="180 tasks failed; the same call tries only"):
        jobs.map_chunks(fails, z, dest=tmp_path / "b")


def test_all_tasks_are_tried_if_asked_for(tmp_path):
    z = zarr.array(np.arange(100), chunks=1, store=str(tmp_path / "a"))

    def fails(block):
        if block[0] < 50:
            raise ArithmeticError("no such luck")
        return block

    job = jobs.map_chunks(fails, z, dest=tmp_path / "b", run=False)
    with pytest.raises(jobs.JobFailed, match="8 tasks failed alike"):
        job.run()
    with pytest.raises(jobs.JobFailed, match="50 tasks failed"):
        job.run(on_error="all")


def test_damaged_chunks_leave_no_others_out(tmp_path):
    z = zarr.array(np.arange(40.0), chunks=1, store=str(tmp_path / "a"), zarr_format=3)
    for number in range(20):
        (tmp_path / "a" / "c" / str(number)).write_bytes(b"damaged")
    with pytest.raises(jobs.JobFailed, match="20 tasks failed; the same call"):
        jobs.map_chunks(np.sqrt, z, dest=tmp_path / "b")


@pytest.mark.parametrize("shape", [(5000,), (70, 90), (3, 0), ()])
def test_small_values_share_a_task_and_are_called_for_one_by_one(tmp_path, shape, monkeypatch):
    monkeypatch.setattr("zarrix.jobs._operations.map._TASKS", 10)
    z = zarr.array(
        np.arange(math.prod(shape)).reshape(shape),
        chunks=(1,) * len(shape),
        store=str(tmp_path / "a"),
    )
    told = []

    def take(block, where):
        told.append((where.number, where.seed))
        assert block.shape == tuple(one.stop - one.start for one in where.region)
        return block + where.number

    job = jobs.map_chunks(take, z, dest=tmp_path / "b", run=False)
    values = math.prod(metadata_of(z).chunk_grid_shape)
    assert job.stages[0].count <= 20 if values else job.stages[0].count == 0
    assert job.stages[0].puts == values
    made = job.run().result
    assert sorted(number for number, _ in told) == list(range(values))
    assert len({seed for _, seed in told}) == values
    np.testing.assert_array_equal(made[...], z[...] + np.arange(values).reshape(shape))
    told.clear()
    monkeypatch.setattr("zarrix.jobs._operations.map._TASKS", 10**9)
    one = jobs.map_chunks(take, z, dest=tmp_path / "c")
    np.testing.assert_array_equal(one[...], made[...])


def test_many_small_values_are_few_tasks(tmp_path):
    """Each task costs a scheduler about as much as thousands of such values."""
    z = zarr.create_array(tmp_path / "a", shape=(3_000,), chunks=(1,), dtype="i4")
    report = jobs.map_chunks(double, z, dest=tmp_path / "b", run=False).run()
    assert report.tasks <= 1500
