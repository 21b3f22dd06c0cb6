"""What docs/versions.md says of each kind of store: whether it has versions and commits."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers import Running
from zarrix import storage
from zarrix.commits import _left
from zarrix.errors import NotAtomicError, ReadOnlyError

_CLOSED: dict[str, Callable[[Path], Any]] = {
    "memory": lambda folder: storage.MemoryStore(),
    "dict": lambda folder: {},
    "zip": lambda folder: storage.ZipStore(folder / "a.zip", mode="w"),
    "sqlite": lambda folder: storage.SQLiteStore(folder / "a.sqlite"),
    "dbm": lambda folder: storage.DBMStore(folder / "a.dbm"),
    "fsspec": lambda folder: storage.FSStore(f"file://{folder}/a.zarr"),
    "cache": lambda folder: storage.LRUStoreCache(storage.DirectoryStore(folder / "a.zarr"), 1000),
}


def _all_raise(error: type[Exception], match: str, *calls: Callable[[], Any]) -> None:
    for call in calls:
        with pytest.raises(error, match=match):
            call()


def _looks_at_versions(store: Any) -> list[Callable[[], Any]]:
    return [
        lambda: zarr.snapshot(store, "v2"),
        lambda: zarr.Versions(store),
        lambda: zarr.open(store, version="v1"),
    ]


@pytest.mark.parametrize("kind", _CLOSED)
def test_other_stores_refuse_versions_and_commits_and_are_mirrored(
    tmp_path: Path, kind: str
) -> None:
    store = _CLOSED[kind](tmp_path)
    root = zarr.open_group(store, mode="w")
    root.create_dataset("a", data=np.arange(4))
    before = sorted(root.store)
    _all_raise(ValueError, r"keeps no versions.*copy_store", *_looks_at_versions(store))
    _all_raise(
        NotAtomicError,
        r"has no commits; .*buckets of S3.*copy_store",
        lambda: zarr.commit(store).__enter__(),
        lambda: zarr.replacing(root["a"]).__enter__(),
        lambda: zarr.sweep(store),
        lambda: zarr.recover(store),
    )
    assert sorted(root.store) == before
    assert zarr.sync_store(store, tmp_path / "copy.zarr").is_complete
    assert [*zarr.open(tmp_path / "copy.zarr")["a"][:]] == [0, 1, 2, 3]
    if hasattr(store, "close"):
        store.close()


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_PROPFIND(self) -> None:
        """Refuse to list, as web servers without WebDAV do."""
        self.send_error(405)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """The URL of a hierarchy that has a version on disk; elements have changed since then."""
    path = tmp_path / "a.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=3)
    root.create_array("t", data=np.arange(6).reshape(2, 3), chunks=(1, 3))
    zarr.consolidate_metadata(path)
    zarr.snapshot(path, "v1")
    root["t"][0] = 9
    handler = functools.partial(_Files, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/a.zarr"
        finally:
            server.shutdown()
            thread.join()


def test_a_web_server_gives_versions_by_their_own_urls(web: str, tmp_path: Path) -> None:
    assert zarr.open_consolidated(web)["t"][0, 1] == 9
    assert zarr.open_consolidated(f"{web}.versions/v1")["t"][0, 1] == 1
    own_url = r"opens by its own URL, http.*a.zarr.versions/NAME"
    _all_raise(ValueError, own_url, *_looks_at_versions(web))
    _all_raise(
        ReadOnlyError,
        "web servers are read-only",
        lambda: zarr.commit(web).__enter__(),
        lambda: zarr.sync_store(tmp_path / "a.zarr", web),
    )
    with pytest.raises(OSError, match="cannot list"):
        zarr.sync_store(web, tmp_path / "b.zarr")
    zarr.copy_all(zarr.open_consolidated(web), zarr.open_group(tmp_path / "b.zarr", mode="w"))
    assert zarr.open(tmp_path / "b.zarr")["t"][0, 1] == 9


@pytest.mark.parametrize("name", ["versitygw", "seaweedfs", "azurite", "fake-gcs-server"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_each_server_commits(
    serve: Callable[[str], Running], name: str, zarr_format: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise the second commit of a v2 array would wait for ten seconds.
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    found = serve(name)
    url, options = f"{found.bucket}/commits-{zarr_format}.zarr", found.options
    root = zarr.open_group(url, mode="w", zarr_format=zarr_format, storage_options=options)
    for array in "ab":
        root.create_array(array, shape=(4, 6), chunks=(2, 3), dtype="i4")[:] = 0
    root.create_array("rows", shape=(0, 2), chunks=(1, 2), dtype="i4")
    with zarr.commit(url, storage_options=options) as new:
        for array in "ab":
            new[array][1:3] = 1
        new["rows"].append([[1, 1]])
        new.attrs["step"] = 1
    for opened in (zarr.open_consolidated, zarr.open_group):
        seen = opened(url, mode="r", storage_options=options)
        assert [int(seen[array][:].sum()) for array in ("a", "b", "rows")] == [12, 12, 2]
        assert seen.attrs["step"] == 1
    with zarr.replacing(zarr.open_group(url, storage_options=options)["a"]) as content:
        content[...] = 9
    seen = zarr.open_consolidated(url, storage_options=options)
    assert [int(seen[array][:].sum()) for array in ("a", "b")] == [9 * 24, 12]
    if found.scheme != "s3":
        with pytest.raises(ValueError, match="not in a bucket of S3"):
            zarr.open(url, version="v1", storage_options=options)
