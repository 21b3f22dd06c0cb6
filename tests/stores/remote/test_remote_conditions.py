"""Writers of one chunk, one document or one array on a server lose no update."""

import json
import multiprocessing
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import zarrix as zarr
from servers import s3_client
from waiting import PATIENCE_S
from zarrix._stores.open import as_store
from zarrix.errors import LostUpdateWarning

WRITERS = int(os.environ.get("ZARRIX_REMOTE_WRITERS", "4"))
ROUNDS = int(os.environ.get("ZARRIX_REMOTE_ROUNDS", "2"))

# A process of its own, with nothing inherited, that writes its element of the chunk each round.
WRITER = """
import json, os, sys, zarrix as zarr
url, mine, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
options = json.loads(os.environ["ZARRIX_TEST_OPTIONS"])
z = zarr.open(url, mode="r+", storage_options=options)
print("ready", flush=True)
for number in range(rounds):
    sys.stdin.readline()
    z[mine] = number + 1
    z.attrs[f"writer{mine}"] = number + 1
    print("done", flush=True)
"""


def keeps_conditions(bucket):
    # Other options are another client, which finds out for itself.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        as_store(bucket.url, {**bucket.options, "timeout": 59}).update_value("a", lambda old: b"1")
    return not any(issubclass(one.category, LostUpdateWarning) for one in caught)


@pytest.mark.parametrize("shards", [None, (16,)])
def test_processes_that_write_distinct_elements_of_one_chunk_lose_none(bucket, shards):
    keeps = keeps_conditions(bucket)
    # There processes of one machine meet in lock files instead.
    if not keeps and bucket.server.scheme != "hdfs":
        pytest.skip(f"{bucket.server.name} ignores conditional writes, and that is said")
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
    environment = {**os.environ, "ZARRIX_TEST_OPTIONS": json.dumps(bucket.options)}
    command = [sys.executable, "-W", "error" if keeps else "ignore", "-c", WRITER, url]
    writers = [
        subprocess.Popen(
            [*command, str(mine), str(ROUNDS)],
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
            assert writer.wait(PATIENCE_S) == 0
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
        worker.join(PATIENCE_S)
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


def test_the_probe_for_conditions_leaves_nothing(s3_bucket):
    store = as_store(s3_bucket.url, s3_bucket.options)
    store.update_value("a/b", lambda old: b"1")
    assert list(store) == ["a/b"]
    client = s3_client(s3_bucket.server)
    name, _, prefix = s3_bucket.url[5:].partition("/")
    found = client.list_objects_v2(Bucket=name, Prefix=f"{prefix}/")["Contents"]
    client.close()
    assert [one["Key"] for one in found] == [f"{prefix}/a/b"]


def test_a_server_that_ignores_conditions_is_named_once(faulty):
    faulty.mode = "ignore conditions"
    store = as_store(f"{faulty.url}/x", faulty.options)
    with pytest.warns(LostUpdateWarning, match="ignores conditional writes"):
        store.update_value("a", lambda old: b"1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.update_value("a", lambda old: old + b"2")
    assert store["a"] == b"12"


def test_a_change_of_what_is_deleted_meanwhile_is_made_to_nothing(faulty):
    store = as_store(f"{faulty.url}/x", faulty.options)
    store.update_value("n", lambda old: b"1")
    faulty.mode, faulty.count, faulty.only = "deleted before a put", 1, ("PUT",)
    store.update_value("n", lambda old: (old or b"nothing") + b"2")
    assert faulty.count == 0
    assert store["n"] == b"nothing2"


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
