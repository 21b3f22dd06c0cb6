"""Appends to buckets and from URLs."""

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from ingest import days
from servers.faulty import FaultyServer
from zarrix.errors import NotAtomicError, PathNotFoundError, SourceChangedError


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        yield server


def test_rows_are_appended_to_a_bucket_at_its_end(server: FaultyServer, tmp_path: Path) -> None:
    sources = days.make(tmp_path, 3)
    url, options = f"{server.url}/all.zarr", server.options

    def append(*numbers: int) -> zarr.ingest.Appended:
        chosen = [sources[one] for one in numbers]
        return zarr.append(chosen, url, along="time", storage_options=options)

    assert append(1, 0).added == 7
    assert append(1).added == 0
    assert append(2, 1).added == 3
    for opened in (zarr.open_group, zarr.open_consolidated):
        root = opened(url, mode="r", storage_options=options)
        assert days.whole({name: root[name][:] for name in root.array_keys()}) == [*range(10)]
    root = zarr.open_group(url, mode="r", storage_options=options)
    assert root["time"].shape == (10,)


def test_rows_of_a_bucket_of_v2_are_not_moved(server: FaultyServer, tmp_path: Path) -> None:
    url, options = f"{server.url}/all.zarr", server.options
    root = zarr.open_group(url, mode="w", zarr_format=2, storage_options=options)
    for name in ("time", "a"):
        attributes = {"_ARRAY_DIMENSIONS": ["time"], "units": "m"}
        root.create_array(
            name, data=np.array([1, 3]), chunks=1, fill_value=None, attributes=attributes
        )
    sources = []
    for label in (4, 2):
        source = zarr.open_group(tmp_path / f"{label}.zarr", mode="w", zarr_format=3)
        for name in ("time", "a"):
            one = source.create_array(name, data=np.array([label]), dimension_names=["time"])
            one.attrs["units"] = "m"
        sources.append(source)
    zarr.append(sources[0], root, along="time")
    with pytest.raises(NotAtomicError, match="one spelling"):
        zarr.append(sources[1], root, along="time")
    root = zarr.open_group(url, mode="r", storage_options=options)
    assert root["a"][:].tolist() == root["time"][:].tolist() == [1, 3, 4]


def test_a_group_in_a_bucket_that_changes_is_not_appended(
    server: FaultyServer, tmp_path: Path
) -> None:
    source = days.make(tmp_path, 1)[0]
    url, options = f"{server.url}/source.zarr", server.options
    zarr.append(source, url, along="time", storage_options=options)
    dest = tmp_path / "all.zarr"

    def progress(done: int, total: int) -> None:
        root = zarr.open_group(url, mode="r+", storage_options=options)
        root["a"][0, 0] = 5

    with pytest.raises(SourceChangedError, match="nothing was appended"):
        zarr.append(url, dest, along="time", storage_options=options, progress=progress)
    done = zarr.append(url, dest, along="time", storage_options=options)
    assert done.added == 4


def test_a_file_that_a_url_names_is_downloaded(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    source = days.make(tmp_path, 1)[0]
    (tmp_path / "web").mkdir()
    zarr.export(zarr.open_group(source), tmp_path / "web" / "day.nc")
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "web")
    )
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        thread = threading.Thread(target=web.serve_forever, args=(0.05,))
        thread.start()
        try:
            url = f"http://127.0.0.1:{web.server_address[1]}"
            done = zarr.append(f"{url}/day.nc", tmp_path / "all.zarr", along="time")
            with pytest.raises(PathNotFoundError, match=r"other\.nc does not exist"):
                zarr.append(f"{url}/other.nc", tmp_path / "all.zarr", along="time")
        finally:
            web.shutdown()
            thread.join()
    assert done.added == 4
    root = zarr.open_group(tmp_path / "all.zarr", mode="r")
    assert np.array_equal(root["a"][:], zarr.open_group(source)["a"][:])
    shutil.rmtree(tmp_path / "web")
