"""Patterns of names on this machine, in buckets, and on servers that do not list their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ingest import days
from servers.faulty import FaultyServer
from zarrix import virtual
from zarrix.errors import AppendError, PieceNotFoundError, VirtualError
from zarrix.storage import RemoteStore

WEB = "http://127.0.0.1:1"


def put(server: FaultyServer, folder: Path) -> None:
    """Copy all files of a folder to the bucket."""
    store = RemoteStore(server.url, server.options)
    for file in folder.rglob("*"):
        if file.is_file():
            store[str(file.relative_to(folder))] = file.read_bytes()


def test_a_pattern_names_files_and_groups_in_a_bucket(tmp_path: Path) -> None:
    folder = tmp_path / "bucket"
    for number in (1, 2, 10):
        below = folder / f"y{number}"
        below.mkdir(parents=True)
        np.save(below / "a.npy", np.full(2, number))
        zarr.save_array(folder / f"{number}.zarr", np.full(3, number))
        group = zarr.open_group(folder / f"g{number}.zarr", mode="w", zarr_format=3)
        group.create_array("u", data=np.full(1, number))
    (folder / ".9.zarr").mkdir()
    (folder / ".9.zarr" / "no").write_bytes(b"")
    with FaultyServer() as server:
        put(server, folder)

        def read(pattern: str) -> Any:
            url = f"{server.url}/{pattern}"
            return virtual.concat(url, storage_options=server.options)[...].tolist()

        assert read("y*/a.npy") == [1, 1, 2, 2, 10, 10]
        assert read("y1*/*.npy") == [1, 1, 10, 10]
        assert read("[0-9]*.zarr") == [1, 1, 1, 2, 2, 2, 10, 10, 10]
        assert read("g?.zarr/u") == [1, 2]
        with pytest.raises(PieceNotFoundError, match=r"nothing matches .*/z\*\.npy"):
            read("z*.npy")
        # A key that has such letters is itself.
        RemoteStore(server.url, server.options)["[0-9].npy"] = (folder / "y2/a.npy").read_bytes()
        assert read("[0-9].npy") == [2, 2]


def test_a_pattern_names_the_sources_of_an_append(tmp_path: Path) -> None:
    days.make(tmp_path / "bucket", 3)
    zarr.append([*(tmp_path / "bucket").iterdir()], tmp_path / "here.zarr", along="time")
    with FaultyServer() as server:
        put(server, tmp_path / "bucket")
        done = zarr.append(
            f"{server.url}/day*.zarr",
            tmp_path / "there.zarr",
            along="time",
            storage_options=server.options,
        )
        assert done.added == 10
        with pytest.raises(FileNotFoundError, match="no file matches"):
            zarr.append(
                f"{server.url}/no*", tmp_path / "x", along="time", storage_options=server.options
            )
    days.same(tmp_path / "there.zarr", tmp_path / "here.zarr")


def test_a_web_server_lists_no_names(tmp_path: Path) -> None:
    # Nothing is asked: no server is there.
    message = r"http://127\.0\.0\.1:1/2020-\*\.nc/t is a pattern, and its server does not list"
    with pytest.raises(VirtualError, match=message):
        virtual.concat([f"{WEB}/2020-*.nc/t"])
    with pytest.raises(VirtualError, match="does not list what is below a URL; pass the URLs one"):
        virtual.join(f"{WEB}/2020-*.nc", "time")
    with pytest.raises(AppendError, match="does not list what is below a URL"):
        zarr.append(f"{WEB}/2020-*.nc", tmp_path / "dest.zarr", along="time")
    assert not (tmp_path / "dest.zarr").exists()


def test_a_file_that_has_the_letters_of_a_pattern_is_itself(tmp_path: Path) -> None:
    for name in ("[1].npy", "1.npy"):
        np.save(tmp_path / name, np.full(1, len(name)))
    assert virtual.concat([tmp_path / "[1].npy"])[...].tolist() == [7]
    assert virtual.concat(str(tmp_path / "?.npy"))[...].tolist() == [5]
