"""Pieces on a web server: one client for all of them, and lists that open them again."""

from __future__ import annotations

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
