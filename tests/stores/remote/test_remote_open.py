"""Arrays and groups on servers, by URL and storage options."""

import os
import socket
import threading
import time
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from waiting import PATIENCE_S
from zarrix import _engine
from zarrix._stores.open import as_store
from zarrix.storage import FSStore, KVStore, RemoteStore

DATA = np.arange(10_000, dtype="i4").reshape(100, 100)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_is_written_and_read(bucket, zarr_format):
    url, options = f"{bucket.url}/x.zarr", bucket.options
    z = zarr.open(
        url,
        mode="w",
        shape=DATA.shape,
        chunks=(30, 40),
        dtype="i4",
        zarr_format=zarr_format,
        storage_options=options,
    )
    assert isinstance(z.store, RemoteStore)
    z[:] = DATA
    z[5, 7:9] = -1
    z.attrs["unit"] = "mm"
    again = zarr.open(url, mode="r", storage_options=options)
    expected = DATA.copy()
    expected[5, 7:9] = -1
    np.testing.assert_array_equal(again[:], expected)
    np.testing.assert_array_equal(again[90:, ::-3], expected[90:, ::-3])
    assert again.attrs["unit"] == "mm"
    assert again.nchunks_initialized == 12


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_hierarchy_is_made_listed_renamed_and_deleted(bucket, zarr_format):
    root = zarr.open_group(
        bucket.url, mode="w", zarr_format=zarr_format, storage_options=bucket.options
    )
    for name in ("a", "g/b", "g/h/c"):
        root.create_dataset(name, shape=10, chunks=5, dtype="u1")[:] = 7
    assert sorted(root) == ["a", "g"]
    assert sorted(root["g"]) == ["b", "h"]
    root.move("g/h", "moved")
    assert root["moved/c"][:].tolist() == [7] * 10
    del root["g"]
    again = zarr.open_group(bucket.url, mode="r", storage_options=bucket.options)
    assert sorted(again) == ["a", "moved"]
    with pytest.raises(KeyError):
        again["g"]


def test_shards_are_read_in_part(bucket):
    z = zarr.create_array(
        f"{bucket.url}/s.zarr",
        shape=DATA.shape,
        chunks=(10, 10),
        shards=(50, 50),
        dtype="i4",
        storage_options=bucket.options,
    )
    z[:] = DATA
    np.testing.assert_array_equal(z[45:55, 3], DATA[45:55, 3])
    z[12, 12] = -5
    assert z[10:14, 12].tolist() == [1012, 1112, -5, 1312]


def test_what_is_not_stored_is_fill(bucket):
    z = zarr.open(
        f"{bucket.url}/f.zarr",
        mode="w",
        shape=10,
        chunks=5,
        fill_value=42,
        storage_options=bucket.options,
    )
    z[:3] = 1
    assert z[:].tolist() == [1, 1, 1] + [42] * 7


def test_other_programs_and_ours_see_one_store(s3_bucket):
    import s3fs

    bucket = s3_bucket

    z = zarr.open(
        bucket.url + "/x", mode="w", shape=6, chunks=3, dtype="i2", storage_options=bucket.options
    )
    z[:] = range(6)
    s3fs.S3FileSystem.clear_instance_cache()
    fs = s3fs.S3FileSystem(**bucket.options)
    mapping = s3fs.S3Map(root=bucket.url[5:] + "/x", s3=fs)
    assert sorted(mapping) == [".zarray", "0", "1"]
    theirs = zarr.open(KVStore(mapping), mode="r+")
    theirs[0] = 9
    assert z[:].tolist() == [9, 1, 2, 3, 4, 5]
    s3fs.S3FileSystem.clear_instance_cache()


def test_nothing_there_is_said_by_address(bucket):
    with pytest.raises(FileNotFoundError) as caught:
        zarr.open(f"{bucket.url}/none.zarr", mode="r", storage_options=bucket.options)
    assert f"{bucket.url}/none.zarr" in str(caught.value)


def test_a_missing_bucket_is_an_error_and_never_fill(s3_bucket):
    url = "s3://zarrix-no-such-bucket/x.zarr"
    with pytest.raises(OSError, match="NoSuchBucket"):
        as_store(url, s3_bucket.options)["0"]
    with pytest.raises(OSError, match="NoSuchBucket"):
        as_store(url, s3_bucket.options)["0"] = b"1"


def test_reading_and_writing_go_on_in_forked_children(bucket):
    z = zarr.open(
        bucket.url + "/x", mode="w", shape=40, chunks=5, dtype="i2", storage_options=bucket.options
    )
    z[:] = np.arange(40)
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            assert z[3] == 3

    busy = threading.Thread(target=read)
    busy.start()
    try:
        children = []
        for number in range(4):
            pid = os.fork()
            if pid == 0:
                right = z[:].tolist() == list(range(40))
                z[35 + number] = 35 + number
                os._exit(0 if right else 1)
            children.append(pid)
        for pid in children:
            due = time.monotonic() + PATIENCE_S
            while True:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done or time.monotonic() > due:
                    break
                time.sleep(0.01)
            assert done, "the child hangs"
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        busy.join()
    assert z[:].tolist() == list(range(40))


def test_a_server_that_is_not_there_is_an_error_within_the_time_limit():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        options: dict[str, Any] = {
            "key": "key-a",
            "secret": "secret-b",
            "endpoint_url": f"http://127.0.0.1:{port}",
            "timeout": 2,
        }
        began = time.monotonic()
        # A busy machine may not have refused the connection by then.
        with pytest.raises((ConnectionError, TimeoutError), match="s3://bucket/x/0"):
            as_store("s3://bucket/x", options)["0"]
        assert time.monotonic() - began < PATIENCE_S


def test_an_fsspec_mapping_of_a_known_server_is_served_by_the_engine(s3_bucket):
    import s3fs

    bucket = s3_bucket

    s3fs.S3FileSystem.clear_instance_cache()
    options = {**bucket.options, "default_block_size": 2**20}
    fs = s3fs.S3FileSystem(**options)
    store = as_store(s3fs.S3Map(root=f"{bucket.url[5:]}/m", s3=fs, check=False))
    assert isinstance(store, RemoteStore)
    zarr.group(store).create_dataset("a", shape=5)[:] = 3
    assert "a/.zarray" in store
    plain = s3fs.S3Map(root=f"{bucket.url[5:]}/m", s3=fs)
    assert sorted(plain) == [".zgroup", "a/.zarray", "a/0"]
    versioned = s3fs.S3FileSystem(**options, version_aware=True)
    kept = as_store(s3fs.S3Map(root=f"{bucket.url[5:]}/m", s3=versioned))
    assert isinstance(kept, FSStore)
    assert isinstance(kept._engine, _engine.PythonStore)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.mark.parametrize("nested", [False, True])
def test_a_zip_archive_on_a_server_is_read_in_place(bucket, tmp_path, nested):
    import zipfile

    zarr.open(tmp_path / "x.zarr", mode="w", shape=1000, chunks=100, dtype="i4")[:] = range(1000)
    name = "x" if nested else "x.zip"
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for path in sorted((tmp_path / "x.zarr").rglob("*")):
            archive.write(path, str(path.relative_to(tmp_path / "x.zarr")))
    as_store(bucket.url, bucket.options)[f"d/{name}"] = (tmp_path / name).read_bytes()
    url = f"{'zip::' if nested else ''}{bucket.url}/d/{name}"
    z = zarr.open(url, mode="r", storage_options=bucket.options)
    assert z[:].tolist() == list(range(1000))
    assert z[[3, 500]].tolist() == [3, 500]
    with pytest.raises(PermissionError):
        zarr.open(url, mode="r+", storage_options=bucket.options)[0] = 1
    with pytest.raises(FileNotFoundError, match=r"none\.zip"):
        zarr.open(f"{bucket.url}/none.zip", mode="r", storage_options=bucket.options)


def test_opening_and_reading_take_few_round_trips(faulty):
    url, options = f"{faulty.url}/h", faulty.options
    root = zarr.open_group(url, mode="w", storage_options=options)
    for number in range(20):
        root.create_dataset(f"a{number:02}", shape=40, chunks=10, dtype="i2")[:] = number
    faulty.requests.clear()
    # The group's documents in both formats; its listing; the documents of its arrays.
    faulty.rounds = [3, 1, 20]
    again = zarr.open(url, mode="r", storage_options=options)
    opened = dict(again.arrays())
    assert len(opened) == 20
    assert len(faulty.requests) == 24
    faulty.requests.clear()
    faulty.rounds = [4]
    assert opened["a07"][:].tolist() == [7] * 40
    assert len(faulty.requests) == 4
