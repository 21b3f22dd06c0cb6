"""Answers of servers on local disk: never old, bounded, shared, harmless when damaged."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from waiting import PATIENCE_S
from zarrix._stores.open import as_store

DATA = np.arange(6000, dtype="i4").reshape(60, 100)
LAYOUTS = {
    "chunks": {"chunks": (10, 25)},
    "shards": {"chunks": (10, 25), "shards": (20, 50)},
    "large shards": {"chunks": (10, 25), "shards": (10, 60_000)},
    "no codec": {"chunks": (60, 100), "compressors": None},
}
# Servers that send what they are told is known: nothing is saved, and nothing wrong.
SENDS_AGAIN = ("fake-gcs-server",)


@pytest.fixture
def cached(bucket, tmp_path):
    """Options with a folder for answers."""
    return {**bucket.options, "cache": tmp_path / "cache"}


def files(options):
    found = [path for path in Path(options["cache"]).rglob("*") if path.is_file()]
    return [path for path in found if path.name != "zarrix-cache.txt"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_read_comes_from_the_disk_and_what_changed_does_not(bucket, cached, layout):
    url = f"{bucket.url}/x"
    written = zarr.create_array(
        url, shape=DATA.shape, dtype="i4", storage_options=bucket.options, **LAYOUTS[layout]
    )
    written[:] = DATA
    z = zarr.open(url, mode="r", storage_options=cached)
    for key in (np.s_[:], np.s_[7:30, 20:60]):
        np.testing.assert_array_equal(z[key], DATA[key])
        before = z.store.cache_counts
        np.testing.assert_array_equal(z[key], DATA[key])
        after = z.store.cache_counts
        assert after["misses"] == before["misses"]
        if bucket.server.name in SENDS_AGAIN:
            assert after["hits"] == 0
            continue
        assert after["hits"] > before["hits"]
        assert after["saved_bytes"] > before["saved_bytes"]
    # By another client, which knows of no cache.
    written[5:40] = -1
    expected = DATA.copy()
    expected[5:40] = -1
    np.testing.assert_array_equal(z[7:30, 20:60], expected[7:30, 20:60])
    np.testing.assert_array_equal(z[:], expected)
    assert z.store.cache_counts["changed"] > 0


def test_what_is_deleted_or_made_meanwhile_is_seen(bucket, cached):
    plain, store = as_store(bucket.url, bucket.options), as_store(bucket.url, cached)
    assert store.get("a") is None
    plain["a"] = b"one"
    assert (store["a"], store["a"]) == (b"one", b"one")
    del plain["a"]
    assert store.get("a") is None
    plain["a"] = b"two"
    assert store["a"] == b"two"
    store["a"] = b"three"
    assert store["a"] == b"three"


def test_a_damaged_entry_is_noticed_and_fetched_again(faulty, tmp_path):
    options = {**faulty.options, "cache": tmp_path}
    store = as_store(f"{faulty.url}/d", options)
    store["a"] = bytes(range(256))
    assert store["a"] == store["a"] == bytes(range(256))
    (entry,) = files(options)
    for position in (0, 9, 40, -1):
        stored = bytearray(entry.read_bytes())
        stored[position] ^= 1
        entry.write_bytes(stored)
        assert store["a"] == bytes(range(256))
    entry.write_bytes(b"")
    assert store["a"] == bytes(range(256))
    counts = store.cache_counts
    assert (counts["damaged"], counts["hits"], counts["misses"]) == (5, 1, 6)


def test_a_server_that_does_not_know_conditions_is_read_as_without_a_cache(faulty, tmp_path):
    store = as_store(f"{faulty.url}/d", {**faulty.options, "cache": tmp_path})
    store["a"] = b"1"
    faulty.mode = "wrong etag"
    assert [store["a"] for _ in range(3)] == [b"1"] * 3
    assert store.cache_counts["hits"] == 0


def test_the_folder_keeps_its_bound(faulty, tmp_path):
    options = {**faulty.options, "cache": tmp_path, "cache_bytes": 100_000}
    store = as_store(f"{faulty.url}/d", options)
    store["large"] = bytes(30_000)
    for number in range(60):
        store[f"{number}"] = np.random.default_rng(number).bytes(5_000)
        assert len(store[f"{number}"]) == 5_000
        assert len(store["large"]) == 30_000
        assert sum(path.stat().st_size for path in files(options)) <= 100_000
    assert store.cache_counts["evicted"] > 30
    # Longer than a quarter of the room, and not kept.
    assert not any(path.stat().st_size > 25_000 for path in files(options))


READER = """
import sys, zarrix as zarr
z = zarr.open(sys.argv[1], mode="r", storage_options=eval(sys.argv[2]))
print("ready", flush=True)
for _ in range(20):
    sys.stdin.readline()
    found = z[:]
    print(int(found.min()), int(found.max()), flush=True)
"""


def test_processes_share_a_folder_and_none_reads_what_is_old(faulty, tmp_path):
    url = f"{faulty.url}/x"
    options = {**faulty.options, "cache": str(tmp_path), "cache_bytes": 20_000}
    z = zarr.open(url, mode="w", shape=1000, chunks=100, dtype="i8", storage_options=options)
    z[:] = 0
    readers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", READER, url, repr(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    try:
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
        for number in range(20):
            z[:] = number
            for reader in readers:
                reader.stdin.write("go\n")
                reader.stdin.flush()
            for reader in readers:
                assert reader.stdout.readline() == f"{number} {number}\n"
        for reader in readers:
            assert reader.wait(PATIENCE_S) == 0
    finally:
        for reader in readers:
            reader.kill()
            reader.communicate()


def test_a_folder_that_cannot_be_written_is_no_cache_and_no_error(faulty, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    store = as_store(f"{faulty.url}/d", {**faulty.options, "cache": tmp_path / "file" / "below"})
    store["a"] = b"1"
    assert (store["a"], store["a"]) == (b"1", b"1")
    assert store.cache_counts["hits"] == 0


def test_a_folder_that_holds_something_else_is_refused_and_nothing_in_it_deleted(faulty, tmp_path):
    theses = [tmp_path / "home" / "thesis" / f"result-{number}.npy" for number in range(5)]
    theses[0].parent.mkdir(parents=True)
    for thesis in theses:
        thesis.write_bytes(bytes(1000))
    options = {**faulty.options, "cache": tmp_path / "home", "cache_bytes": 2000}

    def use():
        store = as_store(f"{faulty.url}/d", options)
        store["a"] = b"1"
        assert store["a"] == store["a"] == b"1"

    with pytest.raises(
        OSError, match=r"home\" is not empty and is not a cache of zarrix.*new or empty"
    ):
        use()
    assert [thesis.stat().st_size for thesis in theses] == [1000] * 5
    options["cache"] = tmp_path / "home" / "zarrix-cache"
    use()
    assert len(files(options)) == 1
    assert options["cache"].stat().st_mode & 0o777 == 0o700


def test_what_is_in_the_place_of_an_entry_is_neither_waited_for_nor_followed(faulty, tmp_path):
    options = {**faulty.options, "cache": tmp_path / "cache"}
    store = as_store(f"{faulty.url}/d", options)
    store["a"] = b"one"
    assert store["a"] == b"one"
    (entry,) = files(options)
    elsewhere = entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(elsewhere)
    assert store["a"] == b"one"
    assert not entry.is_symlink()
    entry.unlink()
    os.mkfifo(entry)
    # In this process, a thread would wait forever, and the process with it.
    program = """
import sys, zarrix as zarr
from zarrix._stores.open import as_store
print(as_store(sys.argv[1], eval(sys.argv[2]))["a"])
"""
    given = repr({**options, "cache": str(options["cache"])})
    command = [sys.executable, "-c", program, f"{faulty.url}/d", given]
    told = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert told.stdout == "b'one'\n"
    assert elsewhere.stat().st_size == entry.stat().st_size


def test_a_pickle_keeps_its_cache_and_without_one_there_are_no_counts(faulty, tmp_path):
    store = as_store(f"{faulty.url}/d", {**faulty.options, "cache": tmp_path})
    store["a"] = b"1"
    again = pickle.loads(pickle.dumps(store))
    assert again["a"] == again["a"] == b"1"
    assert again.cache_counts["hits"] == 1
    assert as_store(f"{faulty.url}/d", faulty.options).cache_counts is None
    with pytest.raises(ValueError, match="cache_bytes"):
        as_store(f"{faulty.url}/d", {**faulty.options, "cache": tmp_path, "cache_bytes": 0})
