"""Writers of one chunk, one document, one array on a server: nobody's change is lost."""

import multiprocessing
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import zarrix as zarr
from zarrix._stores import as_store
from zarrix.errors import LostUpdateWarning

WRITERS = int(os.environ.get("ZARRIX_REMOTE_WRITERS", "16"))
ROUNDS = int(os.environ.get("ZARRIX_REMOTE_ROUNDS", "2"))

# A process of its own, with nothing inherited, that writes its element of the chunk each round.
WRITER = """
import os, sys, zarrix as zarr
url, mine, rounds, endpoint = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
options = {"endpoint_url": endpoint, "client_kwargs": {"region_name": "us-east-1"}}
z = zarr.open(url, mode="r+", storage_options=options)
print("ready", flush=True)
for number in range(rounds):
    sys.stdin.readline()
    z[mine] = number + 1
    z.attrs[f"writer{mine}"] = number + 1
    print("done", flush=True)
"""


@pytest.mark.parametrize("shards", [None, (16,)])
def test_processes_that_write_distinct_elements_of_one_chunk_lose_none(bucket, shards):
    url = f"{bucket.url}/x.zarr"
    count = max(WRITERS, 16)
    z = zarr.create_array(
        url,
        shape=count,
        chunks=count if shards is None else 4,
        shards=shards and (count,),
        dtype="i4",
        storage_options=bucket.options,
    )
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": bucket.options["key"],
        "AWS_SECRET_ACCESS_KEY": bucket.options["secret"],
    }
    command = [sys.executable, "-W", "error", "-c", WRITER, url]
    endpoint = bucket.options["endpoint_url"]
    writers = [
        subprocess.Popen(
            [*command, str(mine), str(ROUNDS), endpoint],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        for mine in range(WRITERS)
    ]
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for number in range(ROUNDS):
            for writer in writers:
                writer.stdin.write("go\n")
                writer.stdin.flush()
            for writer in writers:
                assert writer.stdout.readline() == "done\n"
            assert z[:WRITERS].tolist() == [number + 1] * WRITERS
            z.attrs.refresh()
            assert dict(z.attrs) == {f"writer{mine}": number + 1 for mine in range(WRITERS)}
        for writer in writers:
            assert writer.wait(30) == 0
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def append_ones(url, options, times):
    z = zarr.open(url, mode="r+", storage_options=options)
    for _ in range(times):
        z.append(np.ones(3, "i4"))


def test_appends_by_processes_all_arrive(bucket):
    url = f"{bucket.url}/x.zarr"
    zarr.open(url, mode="w", shape=0, chunks=4, dtype="i4", storage_options=bucket.options)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=append_ones, args=(url, bucket.options, 5)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    again = zarr.open(url, mode="r", storage_options=bucket.options)
    assert again[:].tolist() == [1] * 45


def test_a_chunk_emptied_in_part_stays_so_that_nobody_elses_change_goes_with_it(bucket):
    z = zarr.create_array(
        bucket.url + "/x", shape=4, chunks=4, dtype="i4", storage_options=bucket.options
    )
    z[0] = 1
    z[0] = 0
    assert z.nchunks_initialized == 1
    assert z[:].tolist() == [0, 0, 0, 0]
    z[:] = 0
    assert z.nchunks_initialized == 0


def test_the_probe_for_conditions_leaves_nothing(bucket):
    store = as_store(bucket.url, bucket.options)
    store.update_value("a/b", lambda old: b"1")
    assert list(store) == ["a/b"]
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    found = s3fs.S3FileSystem(**bucket.options).find(bucket.url[5:])
    s3fs.S3FileSystem.clear_instance_cache()
    assert found == [f"{bucket.url[5:]}/a/b"]


def test_a_server_that_ignores_conditions_is_named_once(faulty):
    faulty.mode = "ignore conditions"
    store = as_store(f"{faulty.url}/x", faulty.options)
    with pytest.warns(LostUpdateWarning, match="ignores conditional writes"):
        store.update_value("a", lambda old: b"1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.update_value("a", lambda old: old + b"2")
    assert store["a"] == b"12"


@pytest.mark.parametrize("lost", ["answer to a put", "connection after a put"])
def test_a_change_whose_answer_is_lost_is_made_once(faulty, lost):
    store = as_store(f"{faulty.url}/x", faulty.options)
    store.update_value("n", lambda old: b"0")
    for number in range(3):
        faulty.mode = lost
        faulty.count = 1
        store.update_value("n", lambda old: str(int(old) + 1).encode())
        assert faulty.count == 0
        assert store["n"] == str(number + 1).encode()
