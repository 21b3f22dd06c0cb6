"""Pieces on a web server: one client for all of them, and lists that open them again."""

from __future__ import annotations

import collections
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    handler = functools.partial(_Handler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_pieces_of_one_server_share_one_store(server: str, tmp_path: Path) -> None:
    parts = [np.arange(n * 6).reshape(n, 6) for n in (2, 5, 3)]
    for number, part in enumerate(parts):
        zarr.create_array(tmp_path / f"{number}.zarr", data=part, chunks=(2, 3))
    z = virtual.concat([f"{server}/{number}.zarr" for number in range(3)])
    np.testing.assert_array_equal(z[1:9, ::2], np.concatenate(parts)[1:9, ::2])
    virtual.save(z, tmp_path / "all.virtual.json")
    for path in (tmp_path / "all.virtual.json", f"{server}/all.virtual.json"):
        opened: Any = virtual.open(path)
        np.testing.assert_array_equal(opened[...], np.concatenate(parts))
    stores = {id(z.store.opener.place(number)[0]) for number in range(3)}
    assert len(stores) == 1


def test_a_list_on_a_server_names_no_local_files(server: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    virtual.save(virtual.concat([tmp_path / "x.npy"]), tmp_path / "a.json", relative=False)
    with pytest.raises(zarr.errors.CorruptStoreError, match="which is not below its folder"):
        virtual.open(f"{server}/a.json")


class _Together(_Handler):
    """Answers a request for a document or a chunk when the other server was asked for it, too."""

    number: int
    waits: str
    asked: tuple[collections.defaultdict[str, threading.Event], ...]

    def do_GET(self) -> None:
        self.asked[self.number][self.path].set()
        # A call that asks one server after the other fails after that time, and not before.
        if self.waits in self.path and not self.asked[1 - self.number][self.path].wait(20):
            self.send_error(403, "the other server was not asked")
        else:
            super().do_GET()


@pytest.mark.parametrize("way", ["virtual", "read_many"])
def test_several_servers_are_asked_at_the_same_time(
    tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    asked = tuple(collections.defaultdict(threading.Event) for _ in range(2))
    # Other documents are asked for by one call each.
    waits = "a.zarr" if way == "virtual" else "/c/"
    parts = [np.arange(6).reshape(2, 3) + 10 * n for n in range(2)]
    urls = []
    for number, part in enumerate(parts):
        zarr.create_array(tmp_path / str(number) / "a.zarr", data=part, zarr_format=3)
        kind = type("One", (_Together,), {"number": number, "waits": waits, "asked": asked})
        handler = functools.partial(kind, directory=str(tmp_path / str(number)))
        running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        request.addfinalizer(running.server_close)
        request.addfinalizer(thread.join)
        request.addfinalizer(running.shutdown)
        urls.append(f"http://127.0.0.1:{running.server_port}/a.zarr")
    if way == "read_many":
        arrays = [zarr.open(url, mode="r") for url in urls]
        read = zarr.read_many([(array, [[0, 0]], [2, 3]) for array in arrays])
        np.testing.assert_array_equal([windows[0] for windows in read], parts)
        return
    local = [f"{tmp_path}/{number}/a.zarr" for number in range(2)]
    virtual.save(virtual.concat(local), tmp_path / "list.json", relative=False)
    text = (tmp_path / "list.json").read_text()
    for path, url in zip(local, urls, strict=True):
        text = text.replace(path, url)
    (tmp_path / "list.json").write_text(text)
    listed: Any = virtual.open(tmp_path / "list.json")
    np.testing.assert_array_equal(listed[...], np.concatenate(parts))
