"""Icechunk repositories on servers: equal values, and no more requests than there are files."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from icechunk_files import NAMES, contents, files
from zarrix.storage import RemoteStore

ALLOWED = "file:///golden/outside"


def uploaded(name: str, url: str, options: dict[str, Any]) -> None:
    store = RemoteStore(url, options)
    for key, value in files(name).items():
        store[key] = value


@pytest.mark.parametrize("name", NAMES)
def test_a_repository_in_a_bucket_has_the_arrays_of_each_version(s3_bucket: Any, name: str) -> None:
    uploaded(name, f"{s3_bucket.url}/{name}", s3_bucket.options)
    uploaded_file = RemoteStore(f"{s3_bucket.url}/outside", s3_bucket.options)
    uploaded_file["data file.bin"] = b"head" + contents.CLIMATE.tobytes()
    place = f"{s3_bucket.url}/outside"
    options = {
        **s3_bucket.options,
        "allowed": {ALLOWED: place},
        "remote_options": {place: s3_bucket.options},
    }
    for version, state in contents.states(moves=name == "v2").items():
        url = f"icechunk+{s3_bucket.url}/{name}@{version}"
        root = zarr.open_group(url, mode="r", storage_options=options)
        for path, values in state.items():
            assert np.array_equal(root[path][...], values), (version, path)
        assert np.array_equal(root["split"][3:9, 11:20], state["split"][3:9, 11:20])


@pytest.mark.parametrize(("path", "manifests", "chunks"), [("wave", 1, 16), ("split", 18, 30)])
def test_a_read_asks_for_each_manifest_once_and_for_each_chunk_that_is_not_inline(
    faulty: Any, path: str, manifests: int, chunks: int
) -> None:
    uploaded("v2", f"{faulty.url}/x", faulty.options)
    faulty.requests.clear()
    url = f"icechunk+{faulty.url}/x@tag:v1"
    z = zarr.open_array(url, path=path, mode="r", storage_options=faulty.options)
    opened = [method for method, _ in faulty.requests]
    assert opened == ["GET"] * 2, "the repository's file and the snapshot"
    expected = contents.states(moves=True)["tag:v1"][path]
    for asked in (manifests + chunks, chunks):
        faulty.requests.clear()
        assert np.array_equal(z[:], expected)
        assert [method for method, _ in faulty.requests] == ["GET"] * asked
    faulty.requests.clear()
    assert z[0, 0] == expected[0, 0]
    # That of one is in a manifest, which is in memory.
    assert len(faulty.requests) == (0 if path == "split" else 1)


def test_a_chunk_that_is_missing_on_a_server_is_an_error(faulty: Any) -> None:
    uploaded("v2", f"{faulty.url}/x", faulty.options)
    url = f"icechunk+{faulty.url}/x@tag:v1"
    z = zarr.open_array(url, path="wave", mode="r", storage_options=faulty.options)
    store = RemoteStore(f"{faulty.url}/x", faulty.options)
    for key in files("v2"):
        if key.startswith("chunks/"):
            del store[key]
    with pytest.raises(zarr.errors.CorruptChunkError, match="is missing"):
        z[:]


def test_nothing_of_a_credential_is_shown(faulty: Any) -> None:
    uploaded("v2", f"{faulty.url}/x", faulty.options)
    store = zarr.open_group(
        f"icechunk+{faulty.url}/x", mode="r", storage_options=faulty.options
    ).store
    secret = faulty.options["secret"]
    assert secret not in f"{store!r} {store.url} {store.__getstate__()!r}"
