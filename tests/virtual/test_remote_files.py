"""Pieces of other formats on web servers and in buckets: downloaded, listed, changed, and gone."""

from __future__ import annotations

import functools
import gc
import http.server
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix import virtual
from zarrix.errors import PieceChangedError, PieceNotFoundError, VirtualError
from zarrix.storage import RemoteStore


class _Handler(http.server.SimpleHTTPRequestHandler):
    asked: list[str]

    def log_message(self, *args: Any) -> None:
        self.asked.append(f"{self.command} {self.path}")

    def end_headers(self) -> None:
        # The clock of files is too coarse to show that one was replaced at once.
        try:
            found = os.stat(self.translate_path(self.path))
        except OSError:
            pass
        else:
            self.send_header("ETag", f'"{found.st_size}-{found.st_mtime_ns}-{found.st_ino}"')
        super().end_headers()


class Web:
    """A folder on a web server, and the requests for it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked = folder, []  # type: tuple[Path, list[str]]
        self._kind: Any = type("Handler", (_Handler,), {"asked": self.asked})
        handler = functools.partial(self._kind, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def watch(self, asked: list[str]) -> None:
        """Add the requests from now on to another list."""
        self._kind.asked = self.asked = asked

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    (tmp_path / "web").mkdir()
    running = Web(tmp_path / "web")
    yield running
    running.close()


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files are downloaded to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def write(folder: Path, format: str, name: str, values: Any) -> str:
    """One file of a format; the path of the array in the folder."""
    if format == "npy":
        np.save(folder / f"{name}.npy", values)
        return f"{name}.npy"
    if format == "tif":
        pytest.importorskip("tifffile").imwrite(folder / f"{name}.tif", values)
        return f"{name}.tif"
    if format == "h5":
        with pytest.importorskip("h5py").File(folder / f"{name}.h5", "w") as file:
            file.create_dataset("in/u", data=values, chunks=(1, 2), compression="gzip")
        return f"{name}.h5/in/u"
    if format == "nc":
        xr = pytest.importorskip("xarray")
        pytest.importorskip("netCDF4")
        xr.Dataset({"u": (("y", "x"), values)}).to_netcdf(folder / f"{name}.nc")
        return f"{name}.nc/u"
    if format == "json":
        np.save(folder / f"{name}.npy", values)
        document = {"shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str}
        document |= {"zarr_format": 2, "compressor": None, "filters": None, "fill_value": 0}
        size = (folder / f"{name}.npy").stat().st_size
        refs = {"u/.zarray": json.dumps({**document, "order": "C"})}
        refs[".zgroup"] = '{"zarr_format": 2}'
        part: Any = [f"BASE/{name}.npy", size - values.nbytes, values.nbytes]
        (folder / f"{name}.json").write_text(
            json.dumps({"version": 1, "refs": {**refs, "u/0.0": part}})
        )
        return f"{name}.json/u"
    zarr.create_array(folder / f"{name}.zarr", data=values, chunks=(2, 2))
    return f"{name}.zarr"


_FORMATS = ("npy", "tif", "h5", "nc", "json", "zarr")


def several(folder: Path, base: str) -> tuple[list[str], Any]:
    """A file of each format, by their URLs, and the whole."""
    names, parts = [], []
    for number, format in enumerate(_FORMATS):
        parts.append(np.arange(6.0, dtype="f4").reshape(2, 3) + 10 * number)
        names.append(f"{base}/{write(folder, format, str(number), parts[-1])}")
    for document in folder.glob("*.json"):
        document.write_text(document.read_text().replace("BASE", base))
    return names, np.concatenate(parts)


def test_files_of_each_format_on_a_web_server(web: Web, tmp_path: Path, temporary: Path) -> None:
    names, whole = several(web.folder, web.url)
    z = virtual.concat(names)
    np.testing.assert_array_equal(z[...], whole)
    np.testing.assert_array_equal(z[1:9:3, ::2], whole[1:9:3, ::2])
    virtual.save(z, tmp_path / "list.json")
    web.asked.clear()
    listed: Any = virtual.open(tmp_path / "list.json")
    assert not web.asked
    np.testing.assert_array_equal(listed[2:4], whole[2:4])
    # One request has the file, and what tells its version; no other file is touched.
    assert [one.split()[0] for one in web.asked] == ["GET"]
    assert all(one.endswith("/1.tif") for one in web.asked)
    assert virtual.verify(listed) == []
    assert any(temporary.iterdir())
    del z, listed
    gc.collect()
    assert not any(temporary.iterdir())


def test_files_in_a_bucket(tmp_path: Path) -> None:
    with FaultyServer() as server:
        store = RemoteStore(server.url, server.options)
        names, parts = [], []
        for number, format in enumerate(("npy", "h5", "tif")):
            parts.append(np.arange(6.0, dtype="f4").reshape(2, 3) + 10 * number)
            names.append(f"{server.url}/{write(tmp_path, format, str(number), parts[-1])}")
        for file in tmp_path.iterdir():
            store[file.name] = file.read_bytes()
        whole = np.concatenate(parts)
        z = virtual.concat(names, storage_options=server.options)
        np.testing.assert_array_equal(z[1:5], whole[1:5])
        virtual.save(z, tmp_path / "list.json")
        listed: Any = virtual.open(tmp_path / "list.json", storage_options=server.options)
        del store["2.tif"]
        np.testing.assert_array_equal(listed[:4], whole[:4])
        with pytest.raises(PieceNotFoundError, match=r"2\.tif is gone"):
            listed[3:5]


def test_groups_of_files_are_joined(web: Web, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip("zarrix.xarray")
    parts = []
    for month in (1, 2):
        days = np.datetime64(f"2020-0{month}-01", "ns") + np.arange(3).astype("m8[D]")
        one = xr.Dataset({"t": ("time", np.arange(3.0) + month)}, {"time": days})
        one.to_netcdf(web.folder / f"{month}.nc")
        parts.append(one)
    joined = virtual.join([f"{web.url}/2.nc", f"{web.url}/1.nc"], "time")
    virtual.save(joined, tmp_path / "list.json")
    with xr.open_dataset(tmp_path / "list.json", engine="zarrix") as found:
        xr.testing.assert_identical(found.load(), xr.concat(parts, "time"))


@pytest.mark.parametrize("format", _FORMATS[:4])
def test_a_file_that_changes_or_vanishes_is_an_error(
    web: Web, tmp_path: Path, temporary: Path, format: str
) -> None:
    values = np.arange(6.0).reshape(2, 3)
    name = write(web.folder, format, "x", values)
    virtual.save(virtual.concat([f"{web.url}/{name}"] * 2), tmp_path / "list.json")
    file = web.folder / name.split("/")[0]
    file.unlink()
    listed: Any = virtual.open(tmp_path / "list.json")
    with pytest.raises(PieceNotFoundError, match=rf"/x\.{format}.* is gone"):
        listed[...]
    assert [one.piece for one in virtual.verify(listed)] == [0, 1]
    write(web.folder, format, "x", values + 100)
    with pytest.raises(PieceChangedError, match=rf"/x\.{format} has changed since"):
        virtual.open(tmp_path / "list.json")[...]
    fresh: Any = virtual.refresh(virtual.open(tmp_path / "list.json"))
    np.testing.assert_array_equal(fresh[2:], values + 100)
    gc.collect()
    assert len([*temporary.iterdir()]) == 1


def test_missing_files_are_filled_only_if_that_is_said(web: Web, tmp_path: Path) -> None:
    names = [f"{web.url}/{write(web.folder, 'npy', name, np.ones((1, 2)))}" for name in "ab"]
    z = virtual.concat(names, missing="fill")
    virtual.save(z, tmp_path / "list.json")
    (web.folder / "a.npy").unlink()
    listed: Any = virtual.open(tmp_path / "list.json")
    assert listed[...].tolist() == [[0, 0], [1, 1]]
    assert virtual.pieces(listed).missing == [0]


def test_what_is_not_there_or_not_a_piece_is_named(web: Web, tmp_path: Path) -> None:
    with pytest.raises(PieceNotFoundError, match=r"^no array at .*/no\.nc/u"):
        virtual.concat([f"{web.url}/no.nc/u"])
    write(web.folder, "npy", "x", np.arange(3))
    virtual.save(virtual.concat([f"{web.url}/x.npy"]), web.folder / "list.json")
    with pytest.raises(
        VirtualError, match=r"list\.json is the list of a virtual array; open it by"
    ):
        virtual.concat([f"{web.url}/list.json"])


def test_a_hierarchy_of_zarr_in_a_bucket_may_be_named_as_a_file() -> None:
    with FaultyServer() as server:
        url = f"{server.url}/a.zarr/x.nc"
        zarr.save_array(url, np.arange(3), storage_options=server.options)
        z = virtual.concat([url], storage_options=server.options)
        assert z[...].tolist() == [0, 1, 2]


def test_references_on_a_server_name_what_is_on_it_alone(web: Web, tmp_path: Path) -> None:
    name = write(web.folder, "json", "x", np.ones((2, 3), "f4"))
    document = web.folder / "x.json"
    np.save(tmp_path / "secret.npy", np.ones((2, 3), "f4"))
    document.write_text(document.read_text().replace("BASE/x.npy", str(tmp_path / "secret.npy")))
    z = virtual.concat([f"{web.url}/{name}"])
    with pytest.raises(PermissionError, match="is below none of allowed="):
        z[...]
    virtual.save(z, tmp_path / "list.json")
    listed: Any = virtual.open(tmp_path / "list.json")
    with pytest.raises(PermissionError, match="is below none of allowed="):
        listed[...]


def test_references_to_files_on_a_server_name_their_urls(web: Web, tmp_path: Path) -> None:
    names = [
        f"{web.url}/{write(web.folder, 'h5', name, np.arange(6.0).reshape(2, 3) + ord(name))}"
        for name in "ab"
    ]
    z = virtual.concat(names)
    virtual.references(z, tmp_path / "refs.json")
    refs = json.loads((tmp_path / "refs.json").read_text())["refs"]
    assert {part[0] for part in refs.values() if isinstance(part, list)} == {
        f"{web.url}/a.h5",
        f"{web.url}/b.h5",
    }
    np.testing.assert_array_equal(zarr.open(tmp_path / "refs.json", mode="r")[...], z[...])


def test_a_download_that_fails_leaves_nothing(
    web: Web, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (web.folder / "x.npy").write_bytes(b"no array")
    with pytest.raises(zarr.errors.ConversionError, match=f"{web.url}/x.npy"):
        virtual.concat([f"{web.url}/x.npy"])
    np.save(web.folder / "x.npy", np.arange(6))
    seen = iter(range(10))
    real = _Handler.end_headers

    def another_version(self: Any) -> None:
        # Each answer is of another version, as of a server that lies.
        self.send_header("ETag", f'"{next(seen)}"')
        real(self)

    monkeypatch.setattr(_Handler, "end_headers", another_version)
    with pytest.raises(zarr.errors.ZarrixError, match="has changed"):
        virtual.concat([f"{web.url}/x.npy"])
    assert not any(temporary.iterdir())
