"""How many requests a read makes: no more than its plan says."""

import numpy as np
import pytest
import zarrix as zarr

DATA = np.arange(40_000, dtype="i4").reshape(200, 200)
KINDS = {
    "chunks": {"chunks": (10, 20)},
    # At most 4 KiB, which are read over however near the server is.
    "small shards": {"chunks": (10, 10), "shards": (20, 50)},
    # Beyond 2 MiB, which are never, however far it is.
    "large shards": {"chunks": (10, 50), "shards": (50, 15_000)},
}


@pytest.fixture(params=KINDS)
def array(request, faulty):
    """An array whose chunks and indexes have not been read yet."""
    options = {"shape": DATA.shape, "dtype": "i4", "storage_options": faulty.options}
    zarr.create_array(f"{faulty.url}/x", **options, **KINDS[request.param])[:] = DATA
    return zarr.open(f"{faulty.url}/x", mode="r", storage_options=faulty.options)


@pytest.mark.parametrize("key", [np.s_[:], np.s_[5], np.s_[:, 7:12], np.s_[50:70, 90:150]], ids=str)
def test_a_read_makes_no_more_requests_than_its_plan_says(faulty, array, key):
    planned = array.plan(key).requests
    faulty.requests.clear()
    np.testing.assert_array_equal(array[key], DATA[key])
    assert len(faulty.requests) <= planned


def test_a_crop_of_one_chunk_is_one_request(faulty, array):
    if array.shards is not None and array.shards[1] > 200:
        pytest.skip("the index of a large shard is asked for first")
    faulty.requests.clear()
    np.testing.assert_array_equal(array[12:18, 2:9], DATA[12:18, 2:9])
    assert [method for method, _ in faulty.requests] == ["GET"]


def test_windows_ask_for_each_chunk_once(faulty, array):
    if array.shards is not None:
        pytest.skip("what is asked of a shard is not told by its name")
    starts = np.random.default_rng(0).integers(0, 184, (64, 2))
    touched = np.zeros(DATA.shape, bool)
    for row, column in starts.tolist():
        touched[row : row + 16, column : column + 16] = True
    chunks = touched.reshape(20, 10, 10, 20).any(axis=(1, 3))
    faulty.requests.clear()
    found = array.read_windows(starts, (16, 16))
    for (row, column), window in zip(starts.tolist(), found, strict=True):
        np.testing.assert_array_equal(window, DATA[row : row + 16, column : column + 16])
    assert sorted(key for _, key in faulty.requests) == sorted(
        f"x/c/{row}/{column}" for row, column in np.argwhere(chunks).tolist()
    )


def test_a_small_shard_is_one_request_and_a_large_one_two_once(faulty, array):
    if array.shards is None:
        pytest.skip("no shards")
    faulty.requests.clear()
    assert array[3, 3] == DATA[3, 3]
    assert len(faulty.requests) == (2 if array.shards[1] > 200 else 1)
    faulty.requests.clear()
    assert array[15, 15] == DATA[15, 15]
    # The index is known now, and is of that version.
    assert len(faulty.requests) == 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_and_its_members_are_a_listing_and_one_document_each(faulty, zarr_format):
    place = f"{faulty.url}/g"
    options = {"storage_options": faulty.options}
    group = zarr.open_group(place, mode="w", zarr_format=zarr_format, **options)
    for number in range(20):
        group.create_array(f"a{number:02}", shape=10, chunks=10, dtype="i4")
    faulty.requests.clear()
    assert len(dict(zarr.open(place, mode="r", **options).arrays())) == 20
    # What is there is asked in both formats at once; its members have its own.
    assert len(faulty.requests) == 3 + 1 + 20


def test_a_chunk_that_is_kept_is_one_request_without_a_body(faulty, array):
    if array.shards is not None and array.shards[1] > 200:
        pytest.skip("the index of a large shard is asked for first")
    with zarr.config(chunk_cache_bytes=2**24):
        np.testing.assert_array_equal(array[12:18, 2:9], DATA[12:18, 2:9])
        faulty.requests.clear()
        np.testing.assert_array_equal(array[12:18, 2:9], DATA[12:18, 2:9])
        assert [method for method, _ in faulty.requests] == ["HEAD"]
        zarr.open(f"{faulty.url}/x", mode="r+", storage_options=faulty.options)[13, 3] = -1
        assert array[12:18, 2:9][1, 1] == -1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_hierarchy_is_one_request_for_each_node_and_a_few_more(faulty, zarr_format):
    options = {"storage_options": faulty.options}
    root = zarr.open_group(f"{faulty.url}/h", mode="w", zarr_format=zarr_format, **options)
    like = root.create_array("like", shape=10, chunks=10, dtype="i4").metadata
    zarr.consolidate_metadata(root.store)
    faulty.requests.clear()
    made = dict(root.create_hierarchy({f"g/a{number:03}": like for number in range(100)}))
    asked = len(faulty.requests)
    assert made["g/a099"].shape == (10,)
    assert len(faulty.requests) == asked
    # 101 nodes, the consolidated metadata read and written, and what was there before.
    assert asked <= 1.3 * 101
    assert len(zarr.open_consolidated(f"{faulty.url}/h", mode="r", **options)["g"]) == 100
    with pytest.raises(zarr.errors.ContainsArrayError):
        root.create_hierarchy({f"g/a{number:03}": like for number in range(99, 120)})
    assert "g/a110" not in root


def test_a_batch_reads_no_new_node_again(faulty):
    options = {"storage_options": faulty.options}
    root = zarr.open_group(f"{faulty.url}/b", mode="w", **options)
    counts = {}
    for name in ("bare", "batch"):
        faulty.requests.clear()
        with root.batch():
            for number in range(20):
                root.create_array(f"{name}/{number}", shape=10, chunks=10, dtype="i4")
        counts[name] = len(faulty.requests)
        zarr.consolidate_metadata(root.store)
    assert counts["batch"] <= 1.3 * counts["bare"]
