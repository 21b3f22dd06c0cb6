"""The cache of decoded chunks: `zarrix.config.chunk_cache_bytes`."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time

import numcodecs
import numpy as np
import pytest
import zarrix as zarr

MIB = 1 << 20
# For so long after a file was changed nothing of it is kept, and some more.
SETTLING_S = 0.06


@pytest.fixture(autouse=True)
def cache():
    with zarr.config(chunk_cache_bytes=64 * MIB):
        yield


def hits_of(read):
    """How many chunks that ``read`` wanted were kept, and how many not."""
    before = zarr.config.chunk_cache_counts
    read()
    after = zarr.config.chunk_cache_counts
    return after["hits"] - before["hits"], after["misses"] - before["misses"]


KINDS = {
    "zstd": {"compressor": numcodecs.Zstd()},
    "filters": {"compressor": numcodecs.Zlib(1), "filters": [numcodecs.Delta("i4")]},
    "blosc": {},
    "blosc zstd": {"compressor": numcodecs.Blosc("zstd", 1)},
    "order F": {"compressor": numcodecs.Zstd(), "order": "F"},
    "shards": {"zarr_format": 3, "shards": (400, 400), "chunks": (100, 100)},
}
DATA = np.random.default_rng(0).integers(0, 9, (400, 400)).astype("i4")


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    return zarr.MemoryStore() if request.param == "memory" else tmp_path / "x"


@pytest.fixture(params=KINDS)
def array(request, store):
    """An array that is no longer changed."""
    options = {"chunks": (200, 400), **KINDS[request.param]}
    make = zarr.create_array if "shards" in options else zarr.create
    options.pop("zarr_format", None)
    z = make(store=store, shape=DATA.shape, dtype="i4", **options)
    z[:] = DATA
    time.sleep(SETTLING_S)
    return z


def test_a_chunk_that_is_read_again_is_not_decoded_again(array):
    for _ in range(2):
        np.testing.assert_array_equal(array[:], DATA)
    assert hits_of(lambda: array[:])[1] == 0
    assert hits_of(lambda: array[50:60, 70:80])[1] == 0
    np.testing.assert_array_equal(array[::3, 5:300:7], DATA[::3, 5:300:7])
    rows = np.array([399, 2, 2, 250])
    np.testing.assert_array_equal(array.oindex[rows, 3:9], DATA[rows, 3:9])
    np.testing.assert_array_equal(array.vindex[rows, rows], DATA[rows, rows])
    windows = array.read_windows([[0, 0], [190, 190], [336, 336]], (64, 64))
    np.testing.assert_array_equal(windows[1], DATA[190:254, 190:254])
    assert zarr.config.chunk_cache_counts["bytes"] >= DATA.nbytes


def test_handles_share_it_and_changes_through_any_are_seen(array, store):
    if not isinstance(store, zarr.MemoryStore):
        other = zarr.open(store, mode="r+")
    else:
        other = zarr.open(array.store, mode="r+")
    array[:], array[:]
    assert hits_of(lambda: other[:])[1] == 0
    other[7, 7] = 1000
    assert array[7, 7] == 1000
    time.sleep(SETTLING_S)
    assert array[7, 7] == array[7, 7] == 1000
    array.resize(100, 400)
    array.resize(400, 400)
    expected = DATA[:100].copy()
    expected[7, 7] = 1000
    np.testing.assert_array_equal(array[:100], expected)
    np.testing.assert_array_equal(array[100:], 0)


def test_an_array_that_took_the_place_of_another_is_read_anew(tmp_path):
    place = tmp_path / "x"
    for dtype, fill in [("i4", 1), ("f4", 2), (">i4", 3), ("u2", 4)]:
        z = zarr.open(place, mode="w", shape=100, chunks=50, dtype=dtype)
        z[:] = fill
        for wait in (0, SETTLING_S):
            time.sleep(wait)
            assert (z[:] == fill).all()
            assert (zarr.open(place, mode="r")[:] == fill).all()


def test_another_process_is_seen_at_once(tmp_path):
    z = zarr.open(tmp_path / "x", mode="w", shape=1000, chunks=100, dtype="i8")
    program = f"import zarrix; zarrix.open({str(tmp_path / 'x')!r}, mode='r+')[...] = "
    for value in (5, 6):
        subprocess.run([sys.executable, "-c", program + str(value)], check=True)
        assert (z[:] == value).all()
        time.sleep(SETTLING_S)
        assert (z[:] == value).all()
        assert (z[:] == value).all()
    os.remove(tmp_path / "x" / "3")
    assert (z[300:400] == 0).all()
    assert (z[400:] == value).all()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_an_empty_one_of_its_own(tmp_path):
    z = zarr.open(tmp_path / "x", mode="w", shape=1000, chunks=100, dtype="i8")
    z[:] = np.arange(1000)
    time.sleep(SETTLING_S)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            z[:]

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for _ in range(10):
            context = multiprocessing.get_context("fork")
            child = context.Process(target=_check, args=(z,))
            child.start()
            child.join(60)
            assert child.exitcode == 0
    finally:
        stop.set()
        for reader in readers:
            reader.join()


def _check(z):
    counts = zarr.config.chunk_cache_counts
    assert counts["entries"] == counts["hits"] == 0
    for _ in range(3):
        np.testing.assert_array_equal(z[:], np.arange(1000))
    assert zarr.config.chunk_cache_counts["hits"] > 0


def test_stores_that_cannot_tell_versions_keep_nothing():
    values = {}
    z = zarr.create(1000, chunks=100, dtype="i4", store=values)
    z[:] = 1
    z[:], z[:]
    other = zarr.create(1000, chunks=100, dtype="i4", store={})
    other[:] = 2
    values.update((key, value) for key, value in other.store.items())
    assert (z[:] == 2).all()
    assert zarr.config.chunk_cache_counts["entries"] == 0


def test_memory_that_is_given_back_and_settings_that_make_no_sense():
    z = zarr.create((100, 100), chunks=(10, 100), dtype="i4", compressor=numcodecs.Zstd())
    z[:] = 1
    z[:]
    assert zarr.config.chunk_cache_counts["bytes"] > 40_000
    zarr.config.chunk_cache_bytes = 0
    assert zarr.config.chunk_cache_counts["bytes"] == 0
    assert hits_of(lambda: z[:]) == (0, 0)
    with pytest.raises(ValueError, match="at least 0, not -1"):
        zarr.config.chunk_cache_bytes = -1
    zarr.config.chunk_cache_bytes = 12_000
    z[:]
    assert 4000 < zarr.config.chunk_cache_counts["bytes"] <= 12_000


def test_chunks_that_appear_are_seen(tmp_path):
    z = zarr.open(tmp_path / "x", mode="w", shape=100, chunks=10, dtype="i4", fill_value=3)
    assert (z[:] == 3).all()
    assert (z[:] == 3).all()
    zarr.open(tmp_path / "x", mode="r+")[40:50] = 8
    assert (z[40:50] == 8).all()
    assert (z[50:] == 3).all()
