"""Every parameter of every operation: an unfinished job goes on with equal ones only.

One is changed, and the same call is made again. Either it is an error, or the result is that of the
new parameter alone. A parameter without a row fails.
"""

import inspect

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double, smooth
from zarrix import jobs
from zarrix.errors import JobError
from zarrix.jobs._running import operation as _operation
from zarrix.jobs._running.run import Running

# They say how a job runs, and not what it makes.
HOW = {"overwrite", "run", "running", *Running.__annotations__}
SAME = object()
"""The parameter changes nothing that is stored."""


@pytest.fixture
def data(tmp_path):
    """Sources; by name what each changed source is called."""
    for name, times in (("a", 1), ("other", 3)):
        group = zarr.open_group(tmp_path / name, mode="w", zarr_format=3)
        z = group.create_array(
            "z", shape=(40, 12), chunks=(4, 6), dtype="f4", dimension_names=("y", "x")
        )
        z[:] = times * np.random.default_rng(1).random((40, 12))
        np.save(tmp_path / f"{name}.npy", times * np.arange(60.0).reshape(10, 6))
        np.savez(tmp_path / f"{name}.npz", p=times * np.ones((10, 6)), q=np.zeros((10, 6)))
        image = zarr.open_group(tmp_path / f"{name}.image", mode="w", zarr_format=3)
        level = image.create_array("0", shape=(64, 64), chunks=(8, 8), dtype="f4")
        level[:] = times * np.random.default_rng(2).random((64, 64))
        jobs.pyramid(level, levels=3)
        level[:] = level[:] + 1
    return tmp_path


def reading(path):
    return 2 * np.load(path)


# By kind: the function, its first call, and another value of each parameter.
ROWS = {
    "copy": (
        jobs.copy,
        lambda p: {"source": p / "a", "dest": p / "d"},
        {"source": lambda p: p / "other", "dest": lambda p: p / "d2"},
    ),
    "rechunk": (
        jobs.rechunk,
        lambda p: {"source": p / "a" / "z", "dest": p / "d", "chunks": (8, 3)},
        {
            "source": lambda p: p / "other" / "z",
            "dest": lambda p: p / "d2",
            "chunks": lambda p: (10, 4),
            "shards": lambda p: (8, 6),
            "compressors": lambda p: None,
            "dtype": lambda p: "f8",
            "max_error": lambda p: 0.1,
            "zarr_format": lambda p: 2,
            "max_memory": lambda p: 4096,
            "passes": lambda p: 2,
            "temp": lambda p: p / "t",
            "rates": lambda p: {"latency": 1.0},
        },
    ),
    "map": (
        jobs.map_chunks,
        lambda p: {"function": smooth, "sources": [p / "a" / "z"], "dest": p / "d", "halo": (2, 1)},
        {
            "function": lambda p: double,
            "sources": lambda p: [p / "other" / "z"],
            "dest": lambda p: p / "d2",
            "dtype": lambda p: "f8",
            "chunks": lambda p: (8, 12),
            "shards": lambda p: (8, 12),
            "compressors": lambda p: None,
            "fill_value": lambda p: 1,
            "halo": lambda p: (4, 2),
            "boundary": lambda p: "edge",
            "seed": lambda p: 1,
            "version": lambda p: "2",
        },
    ),
    "pyramid": (
        jobs.pyramid,
        lambda p: {"source": p / "a" / "z", "dest": p / "d", "levels": 3},
        {
            "source": lambda p: p / "other" / "z",
            "dest": lambda p: p / "d2",
            "levels": lambda p: 2,
            "factors": lambda p: {"y": 2},
            "method": lambda p: "max",
            "ome": lambda p: False,
            "axes": lambda p: SAME,
            "units": lambda p: {"x": "micrometer"},
            "scale": lambda p: {"x": 2},
            "name": lambda p: "another",
            "chunks": lambda p: (8, 12),
            "shards": lambda p: (8, 12),
            "compressors": lambda p: None,
            "max_memory": lambda p: 8192,
        },
    ),
    "along": (
        jobs.statistics,
        lambda p: {"source": p / "a" / "z", "dest": p / "d", "axis": 0},
        {
            "source": lambda p: p / "other" / "z",
            "dest": lambda p: p / "d2",
            "axis": lambda p: 1,
            "skip": lambda p: "fill",
            # They are of all elements, below.
            "bins": lambda p: SAME,
            "range": lambda p: SAME,
            "quantiles": lambda p: SAME,
            "exact": lambda p: SAME,
        },
    ),
    "statistics": (
        jobs.statistics,
        lambda p: {"source": p / "a" / "z", "bins": 4, "range": (0, 1), "quantiles": (0.5,)},
        {
            "source": lambda p: p / "other" / "z",
            "bins": lambda p: 5,
            "range": lambda p: (0, 2),
            "quantiles": lambda p: (0.25,),
            "skip": lambda p: "fill",
            "exact": lambda p: True,
            # Another kind, above.
            "axis": lambda p: SAME,
            "dest": lambda p: SAME,
        },
    ),
    "stack": (
        jobs.stack,
        lambda p: {"files": [p / "a.npy"] * 2, "dest": p / "d", "chunks": (2, 6)},
        {
            "files": lambda p: [p / "a.npy", p / "other.npy"],
            "dest": lambda p: p / "d2",
            "axis": lambda p: 1,
            "new_axis": lambda p: SAME,
            "reader": lambda p: reading,
            "member": lambda p: "q",
            "align": lambda p: "files",
            "on_error": lambda p: "fill",
            "dtype": lambda p: "f4",
            "chunks": lambda p: (5, 6),
            "shards": lambda p: (4, 6),
            "compressors": lambda p: None,
            "dimension_names": lambda p: ("y", "x"),
            "zarr_format": lambda p: 2,
            "max_memory": lambda p: 512,
            "version": lambda p: "2",
        },
    ),
    "verify": (
        jobs.verify,
        lambda p: {"source": p / "a"},
        {"source": lambda p: p / "other", "sample": lambda p: 0.5},
    ),
    "update-pyramid": (
        jobs.update_pyramid,
        lambda p: {"group": p / "a.image"},
        {
            "group": lambda p: p / "other.image",
            "region": lambda p: (slice(0, 32), slice(0, 32)),
            "method": lambda p: "max",
            "factors": lambda p: SAME,
            "levels": lambda p: ["0", "1"],
            "max_memory": lambda p: 8192,
        },
    ),
}
CASES = [(kind, name) for kind, (_, _, rows) in ROWS.items() for name in rows]


def called(function, arguments, **more):
    arguments = dict(arguments)
    positional = []
    if "sources" in arguments:
        positional = [arguments.pop("function"), *arguments.pop("sources")]
    return function(*positional, **arguments, **more)


def outcome(kind, result, arguments):
    """What a call has made, in a form that can be compared."""
    if kind == "verify":
        return result.ok, result.chunks, result.stored_bytes, result.arrays
    if kind == "statistics":
        return result.to_json()
    place = arguments.get("dest", arguments.get("group"))
    return {k: v for k, v in zarr.digests(place).items() if "zarr.json" not in k}


def test_every_kind_and_every_parameter_has_a_row():
    assert {*ROWS} == {*_operation._KINDS} - {"test-counting"}
    for kind, (function, _, rows) in ROWS.items():
        parameters = {*inspect.signature(function).parameters} - HOW
        assert parameters == {*rows}, kind


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_parameter_that_changes_is_not_mixed(data, kind, name):
    function, first, rows = ROWS[kind]
    if rows[name](data) is SAME:
        return
    arguments = first(data)
    changed = {**arguments, name: rows[name](data)}
    journal = data / "journal"
    where = {"resume": journal} if kind in ("statistics", "verify", "update-pyramid") else {}
    job = called(function, arguments, run=False)
    job.run(part=(0, 2), stage=0, **where)
    try:
        again = called(function, changed, **where)
    except JobError:
        return
    found = outcome(kind, again, changed)
    # The same call where nothing was begun.
    if "dest" in changed:
        zarr.DirectoryStore(changed["dest"]).rmdir()
    fresh = called(function, changed, **({"resume": data / "second"} if where else {}))
    assert found == outcome(kind, fresh, changed)
