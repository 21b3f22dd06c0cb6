"""Looking after a store in a bucket: from Python, and with options on the command line."""

import json
import subprocess
import sys

import numpy as np
import zarrix as zarr
from zarrix.cli import main


def test_a_store_in_a_bucket_is_verified_repaired_and_compared(bucket, tmp_path):
    options, url = bucket.options, f"{bucket.url}/x.zarr"
    root = zarr.open_group(url, mode="w", storage_options=options)
    root.create_dataset("g/a", data=np.arange(6, dtype="i4"), chunks=2, compressor=None)
    assert zarr.verify(url, storage_options=options).chunks == 3
    digests = zarr.digests(url, storage_options=options)
    root.store["g/a/1"] = b"short"
    (problem,) = zarr.verify(url, storage_options=options).problems
    assert (problem.kind, problem.key) == ("chunk", "g/a/1")
    assert len(zarr.verify(url, storage_options=options, digests=digests).problems) == 2
    assert zarr.repair(url, storage_options=options).set_aside == {"g/a/1": "g/a/1.broken"}
    other = zarr.group(tmp_path / "y.zarr")
    other.create_dataset("g/a", data=np.arange(6, dtype="i4"), chunks=2, compressor=None)
    found = zarr.diff(url, tmp_path / "y.zarr", storage_options=options)
    assert [str(one) for one in found.differences] == ["/g/a chunk (1,)"]


def given_options(bucket):
    """The options of a bucket, as arguments of the command line."""
    given = []
    for name, value in bucket.options.items():
        text = value if isinstance(value, str) else json.dumps(value)
        given += ["--storage-option", f"{name}={text}"]
    return given


def test_options_reach_the_bucket_of_a_call_that_has_folders_too(bucket, tmp_path):
    here, there, back = str(tmp_path / "a.zarr"), f"{bucket.url}/a.zarr", str(tmp_path / "b.zarr")
    zarr.save(here, np.arange(6).reshape(2, 3))
    given = given_options(bucket)
    assert main(["cp", here, there, *given]) == 0
    assert main(["cp", there, back, *given]) == 0
    assert zarr.open(back)[...].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert main(["diff", here, there, *given]) == 0
    assert main(["info", here, there, *given]) == 0
    assert main(["rm", there, back, *given]) == 0


def test_options_reach_the_bucket_of_a_job(bucket, tmp_path):
    here, there = str(tmp_path / "a.zarr"), f"{bucket.url}/jobs"
    zarr.save(here, np.arange(64, dtype="f4").reshape(8, 8))
    given = given_options(bucket)
    assert main(["rechunk", here, f"{there}/b.zarr", "--chunks", "4,4", *given]) == 0
    assert main(["map", "numpy:negative", f"{there}/b.zarr", f"{there}/c.zarr", *given]) == 0
    assert main(["rechunk", f"{there}/c.zarr", str(tmp_path / "c.zarr"), *given]) == 0
    assert zarr.open(tmp_path / "c.zarr")[...].ravel().tolist() == (-np.arange(64)).tolist()
    assert main(["pyramid", f"{there}/b.zarr", f"{there}/d.zarr", "--levels", "2", *given]) == 0
    assert main(["stats", f"{there}/d.zarr/1", *given]) == 0
    np.save(tmp_path / "x.npy", np.arange(3))
    files = [str(tmp_path / "x.npy")] * 2
    assert main(["stack", *files, f"{there}/e.zarr", *given]) == 0
    assert main(["cat", f"{there}/e.zarr", *given]) == 0


def test_options_reach_a_bucket_from_the_command_line(bucket):
    url = f"{bucket.url}/cli.zarr"
    zarr.open(url, mode="w", shape=3, storage_options=bucket.options)[:] = 1
    given = given_options(bucket)
    for command in ("info", "tree", "verify"):
        ran = subprocess.run(
            [sys.executable, "-m", "zarrix.cli", command, url, *given],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (ran.stderr, ran.returncode) == ("", 0), command
