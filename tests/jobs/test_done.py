"""A job that is done: the same line again does nothing, and gives the result."""

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import hierarchy
from zarrix import jobs
from zarrix.errors import ContainsArrayError, ContainsGroupError


def double(block):
    return 2 * block


@pytest.fixture
def source(tmp_path):
    group = hierarchy(tmp_path / "a.zarr")
    np.save(tmp_path / "one.npy", np.arange(10))
    return group


def calls(tmp_path, source):
    dest = tmp_path / "b.zarr"
    numbers = source["numbers"]
    return {
        "copy": lambda **more: jobs.copy(source, dest, **more),
        "copy of an array": lambda **more: jobs.copy(numbers, dest, **more),
        "rechunk": lambda **more: jobs.rechunk(
            source, dest, chunks={"numbers": (53, 5)}, max_memory="16 KiB", **more
        ),
        "pyramid": lambda **more: jobs.pyramid(numbers, dest, **more),
        "map": lambda **more: jobs.map_chunks(
            "jobs.test_done:double", numbers, dest=dest, dtype="f4", **more
        ),
        "stack": lambda **more: jobs.stack([tmp_path / "one.npy"], dest, chunks=(3,), **more),
    }


NAMES = ("copy", "copy of an array", "rechunk", "pyramid", "map", "stack")


@pytest.mark.parametrize("name", NAMES)
def test_the_same_line_again_gives_the_result(tmp_path, source, name):
    call = calls(tmp_path, source)[name]
    first = call()
    before = zarr.digests(tmp_path / "b.zarr")
    report = call(run=False).run()
    assert (report.tasks, report.bytes_out) == (0, 0)
    assert report.resumed == sum(stage.count for stage in call(run=False).stages)
    assert type(report.result) is type(first)
    assert zarr.digests(tmp_path / "b.zarr") == before
    job = call(run=False)
    assert job.is_done
    assert job.status()["state"] == "done"
    assert job.run("threads", part=(0, 2)).tasks == 0
    assert job.finish() is not None
    checked = zarr.verify(tmp_path / "b.zarr")
    assert checked.ok
    assert "zarrix-done" not in str(checked)


@pytest.mark.parametrize("name", NAMES)
def test_another_line_is_an_error_and_so_is_afresh(tmp_path, source, name):
    call = calls(tmp_path, source)[name]
    call()
    taken = (ContainsArrayError, ContainsGroupError)
    with pytest.raises(taken):
        call(resume=False)
    with pytest.raises(taken):
        jobs.copy(source["deep"], tmp_path / "b.zarr")
    assert call(overwrite=True, run=False).run().tasks > 0


def test_a_result_that_was_removed_is_made_again(tmp_path, source):
    jobs.copy(source["numbers"], tmp_path / "b.zarr")
    zarr.DirectoryStore(tmp_path / "b.zarr").rmdir("")
    assert jobs.copy(source["numbers"], tmp_path / "b.zarr", run=False).run().tasks == 1
    # Something else took the place: the mark went with the old one.
    zarr.create_array(tmp_path / "b.zarr", data=np.arange(3), overwrite=True)
    with pytest.raises(ContainsArrayError):
        jobs.copy(source["numbers"], tmp_path / "b.zarr")


def test_levels_beside_an_image_are_made_once(tmp_path, source):
    image = source["numbers"]
    assert list(jobs.pyramid(image)) == list(jobs.pyramid(image))
    assert jobs.pyramid(image, run=False).run().tasks == 0


def test_a_function_of_this_program_cannot_be_compared(tmp_path, source):
    jobs.map_chunks(double, source["numbers"], dest=tmp_path / "b.zarr", dtype="f4")
    job = jobs.map_chunks(
        double, source["numbers"], dest=tmp_path / "b.zarr", dtype="f4", run=False
    )
    if job._setting.objects:
        with pytest.raises(ContainsArrayError):
            job.run()
    else:
        assert job.run().tasks == 0
