"""How often jobs ask for metadata of their sources."""

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix._nodes import nodes
from zarrix.errors import JobFailed
from zarrix.jobs._running import worker as _worker

ARRAYS = 12


@pytest.fixture
def group(tmp_path):
    """A group of arrays, each of four tasks."""
    group = zarr.open_group(tmp_path / "a", mode="w", zarr_format=3)
    for number in range(ARRAYS):
        z = group.create_array(str(number), shape=(64, 64), chunks=(4, 64), dtype="f4")
        z[:] = np.random.default_rng(number).random((64, 64))
    return tmp_path / "a"


@pytest.mark.parametrize("kind", ["rechunk", "copy"])
def test_a_task_of_a_group_asks_for_one_document_and_the_end_for_all(
    group, tmp_path, kind, monkeypatch
):
    plans = {
        "rechunk": lambda: jobs.rechunk(
            group, tmp_path / "b", chunks=(64, 8), max_memory="20 KB", run=False
        ),
        "copy": lambda: jobs.copy(group, tmp_path / "b", run=False),
    }
    job = plans[kind]()
    tasks = sum(stage.count for stage in job.stages)
    assert tasks >= ARRAYS
    # As if each task took more than a second.
    monkeypatch.setattr(_worker, "_CHECKED_S", -1.0)
    asked = []
    find = nodes.find

    def spy(store, path, zarr_format=None):
        asked.append(path)
        return find(store, path, zarr_format)

    monkeypatch.setattr(nodes, "find", spy)
    job.run()
    arrays = [path for path in asked if path and path.isdigit()]
    # Once for each task, once to open each array, and a few times for all at the end.
    assert len(arrays) <= tasks + 4 * ARRAYS


@pytest.mark.parametrize("kind", ["rechunk", "copy"])
def test_a_source_that_changes_meanwhile_is_noticed(group, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(_worker, "_CHECKED_S", -1.0)
    plan = {"chunks": (64, 8)} if kind == "rechunk" else {}
    job = getattr(jobs, kind)(group, tmp_path / "b", run=False, **plan)
    changed = []

    def change(event):
        if not changed:
            changed.append(event)
            zarr.open_array(group / str(ARRAYS - 1), mode="r+").resize((32, 64))

    with pytest.raises(JobFailed, match="SourceChangedError"):
        job.run(events=change)
