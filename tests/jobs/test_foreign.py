"""Damaged and foreign documents of jobs are one clear error, in bounded time and memory."""

import json
import random
import shutil

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.errors import JobError, ZarrixError


@pytest.fixture
def z(tmp_path):
    made = zarr.create_array(tmp_path / "a", shape=(40, 6), chunks=(4, 6), dtype="i4")
    made[:] = np.arange(240).reshape(40, 6)
    return made


@pytest.fixture
def begun(tmp_path, z):
    """An unfinished job, of which some tasks are in the journal."""
    job = jobs.rechunk(z, tmp_path / "b", chunks=(40, 2), run=False)
    job.run(part=(0, 2))
    return tmp_path / "b" / ".zarrix-job", lambda **m: jobs.rechunk(
        z, tmp_path / "b", chunks=(40, 2), **m
    )


NOT_A_DOCUMENT = [
    b"",
    b"\0",
    b"[1]",
    b"{}",
    b"null",
    b'{"zarrix_job": 1}',
    b'{"zarrix_job": 2}',
    b'{"zarrix_job": 2, "job": 1, "run": 1, "state": "x", "as_of": 0, "sources": [], "document": 0}',  # noqa: E501
    b"[" * 10_000,
    b"\xff\xfe",
    b'{"run": 1, "stages": [[[0, 99999999999999999999, 1]]]}',
]


@pytest.mark.parametrize("content", NOT_A_DOCUMENT)
def test_a_claim_that_is_none(begun, content):
    folder, call = begun
    (folder / "job.json").write_bytes(content)
    for one in (
        call,
        lambda: call(run=False).abandon(),
        lambda: call(run=False).status(),
        lambda: call(run=False).finish(),
        lambda: jobs.Job.load(folder.parent),
    ):
        with pytest.raises(JobError, match=r"job\.json|damaged|is not a job"):
            one()
    made = call(overwrite=True)
    assert made.chunks == (40, 2)
    assert not folder.exists()


@pytest.mark.parametrize("content", NOT_A_DOCUMENT)
def test_a_journal_that_is_none(begun, content):
    folder, call = begun
    (name,) = [one.name for one in (folder / "journal").glob("done-*")]
    run = json.loads((folder / "job.json").read_text())["run"]
    (folder / "journal" / name).write_bytes(
        content.replace(b'"run": 1', f'"run": "{run}"'.encode())
    )
    for one in (call, lambda: call(run=False).status(), lambda: call(run=False).finish()):
        with pytest.raises(JobError, match=rf"{name}.*damaged.*overwrite=True"):
            one()
    (folder / "journal" / name).unlink()
    assert call().chunks == (40, 2)


@pytest.mark.parametrize(
    "stages",
    [
        [],
        [[], []],
        [[[0, 1]]],
        [[[0, 1, 0]]],
        [[[-1, 1, 1]]],
        [[[0, 10**9, 1]]],
        [[[0, 1, 10**30]], 1],
        [[["0", 1, 1]]],
        [[[0.0, 1, 1]]],
        [{"a": 1}],
        [None],
    ],
)
def test_runs_of_tasks_that_there_are_none_of(begun, stages):
    folder, call = begun
    run = json.loads((folder / "job.json").read_text())["run"]
    document = json.dumps({"run": run, "stages": stages})
    (folder / "journal" / "done-0").write_text(document)
    with pytest.raises(JobError, match=r"done-0.*damaged"):
        call()


@pytest.mark.parametrize("values", [[{"99": 1}], [{"x": 1}], [[1]], [{"-1": 1}], [], [{}, {}]])
def test_values_of_tasks_that_there_are_none_of(tmp_path, z, values):
    job = jobs.statistics(z, run=False)
    job.run(part=(0, 2), resume=tmp_path / "journal")
    folder = tmp_path / "journal" / job.id
    run = json.loads((folder / "job.json").read_text())["run"]
    (folder / "journal" / "values-0-0").write_text(json.dumps({"run": run, "stages": values}))
    with pytest.raises(JobError, match=r"values-0-0.*damaged"):
        jobs.statistics(z, resume=tmp_path / "journal")


@pytest.mark.parametrize(
    "content", [b"[1]", b"{}", b'{"kind": "copy"}', b'{"zarr_format": 3}', b""]
)
def test_other_json_is_not_a_job(tmp_path, content):
    (tmp_path / "job.json").write_bytes(content)
    with pytest.raises(JobError, match=r"job\.json"):
        jobs.Job.load(tmp_path / "job.json")


def saved_jobs(tmp_path, z):
    """A saved job of each kind that a file can hold."""
    np.save(tmp_path / "one.npy", np.ones((4, 4)))
    group = zarr.open_group(tmp_path / "g", mode="w", zarr_format=3)
    group.create_array("0", data=np.arange(400, dtype="u2").reshape(20, 20), chunks=(10, 10))
    levels = jobs.pyramid(group["0"], levels=2)
    dest = tmp_path / "dest"
    return {
        "copy": jobs.copy(z, dest, run=False),
        "verify": jobs.verify(z, run=False),
        "rechunk": jobs.rechunk(z, dest, chunks=(40, 2), run=False),
        "map": jobs.map_chunks("numpy:negative", z, dest=dest, run=False),
        "statistics": jobs.statistics(z, run=False),
        "along": jobs.statistics(z, axis=0, dest=dest, run=False),
        "stack": jobs.stack([tmp_path / "one.npy"], dest, chunks=(2, 4), run=False),
        "pyramid": jobs.pyramid(z, dest, run=False),
        "update-pyramid": jobs.update_pyramid(levels, run=False),
    }


VALUES = [None, -1, 0, 2**70, 1.5, "x", [], {}, [[]], True, [-1], ["x"]]


def places_in(value, path=()):
    """The paths of all values in a document."""
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, one in items:
        yield from places_in(one, (*path, key))


@pytest.mark.parametrize("count", [40, pytest.param(300, marks=pytest.mark.long)])
def test_a_document_with_any_change_is_a_job_or_one_error(tmp_path, z, count):
    """Loaded without its id and run, it does its tasks, or there is an error of ours."""
    drawn = random.Random(5)
    errors = 0
    for kind, job in saved_jobs(tmp_path, z).items():
        paths = [one for one in places_in(job.document) if one]
        for _ in range(count):
            document = json.loads(json.dumps(job.document))
            *above, last = drawn.choice(paths)
            inside = document
            for key in above:
                inside = inside[key]
            if drawn.random() < 0.3 and isinstance(inside, dict):
                del inside[last]
            else:
                inside[last] = drawn.choice(VALUES)
            if "places" in above or last == "places":
                # A job of elsewhere may name any place; that is what it is trusted with.
                document["places"] = job.document["places"]
            (tmp_path / "job.json").write_text(json.dumps(document))
            try:
                made = jobs.Job.load(tmp_path / "job.json", modules=["numpy"])
                str(made)
                made.run(resume=False)
            except ZarrixError:
                errors += 1
            except (ValueError, TypeError, KeyError, OSError) as error:
                # Only a task, or the end, may find out; a plan that loads says what it does.
                pytest.fail(f"{kind} {above} {last}: {type(error).__name__}: {error}")
            shutil.rmtree(tmp_path / "dest", ignore_errors=True)
    assert errors > count


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        ("copy", ("arrays", 0, "grid", 0)),
        ("verify", ("arrays", 0, "grid", 0)),
        ("map", ("document", "shape", 0)),
    ],
)
def test_a_plan_that_declares_more_than_there_is(tmp_path, z, kind, path):
    document = json.loads(json.dumps(saved_jobs(tmp_path, z)[kind].document))
    *above, last = ("parameters", *path)
    inside = document
    for key in above:
        inside = inside[key]
    inside[last] = 10**6
    (tmp_path / "job.json").write_text(json.dumps(document))
    job = jobs.Job.load(tmp_path / "job.json", modules=["numpy"])
    with pytest.raises(JobError, match=r"the job says|plan it again"):
        job.run()
    assert not (tmp_path / "dest").exists()


def test_a_saved_job_whose_bytes_are_damaged_is_refused(tmp_path, z):
    job = jobs.rechunk(z, tmp_path / "b", chunks=(40, 2), run=False)
    job.save(tmp_path / "job.json")
    told = json.loads((tmp_path / "job.json").read_text())
    told["document"]["parameters"]["arrays"][0]["passes"][0]["bytes_in"] += 1
    (tmp_path / "job.json").write_text(json.dumps(told))
    with pytest.raises(JobError, match="damaged: it is not the one with the id"):
        jobs.Job.load(tmp_path / "job.json")


@pytest.mark.parametrize("stage", [9, -1, 1, "0", 0.0, True])
def test_a_stage_that_there_is_none_of(tmp_path, z, stage):
    job = jobs.copy(z, tmp_path / "b", run=False)
    for part in (None, (0, 2)):
        with pytest.raises(JobError, match=r"stage=.*; the job has 1 stage, from 0"):
            job.run(part=part, stage=stage)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("part", [(1,), (2, 2), (-1, 2), ("a", 2), (0.0, 2), 3, (0, 0), (0, True)])
def test_a_part_that_there_is_none_of(tmp_path, z, part):
    job = jobs.copy(z, tmp_path / "b", run=False)
    with pytest.raises(ValueError, match="part="):
        job.run(part=part)
    assert not (tmp_path / "b").exists()


def test_a_folder_that_was_moved_or_copied_is_not_run_elsewhere(tmp_path, z):
    jobs.copy(z, tmp_path / "b", run=False).run(part=(0, 2))
    shutil.copytree(tmp_path / "b", tmp_path / "copied")
    with pytest.raises(JobError, match="belongs to another destination"):
        jobs.Job.load(tmp_path / "copied")
    with pytest.raises(JobError, match=r"another job .* differs in places\.destination"):
        jobs.copy(z, tmp_path / "copied")
    np.testing.assert_array_equal(jobs.copy(z, tmp_path / "copied", overwrite=True)[:], z[:])
    (tmp_path / "link").symlink_to(tmp_path / "b")
    np.testing.assert_array_equal(jobs.copy(z, tmp_path / "b")[:], z[:])
