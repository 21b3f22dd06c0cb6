"""Imports into groups that exist, and of files that URLs name."""

from __future__ import annotations

import functools
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
from commits.steps import dies_at
from zarrix.cli import main
from zarrix.errors import (
    ContainsArrayError,
    ContainsGroupError,
    ConversionError,
    SourceChangedError,
)

h5py = pytest.importorskip("h5py")
VALUES = np.arange(24.0).reshape(6, 4)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    root = zarr.open_group("run.zarr", mode="w", zarr_format=3, attributes={"title": "mine"})
    old = root.create_array("old", data=np.zeros((6, 4)), chunks=(2, 3), attributes={"units": "K"})
    old[:] = -1
    root.create_array("untouched", data=[1, 2])
    zarr.consolidate_metadata("run.zarr")
    with h5py.File("more.h5", "w") as file:
        file.attrs["title"] = "theirs"
        file["old"], file["new"], file["deep/x"] = VALUES, VALUES * 2, [7, 8]


def check() -> None:
    for opened in (zarr.open_group, zarr.open_consolidated):
        root = opened("run.zarr", mode="r")
        np.testing.assert_array_equal(root["old"], VALUES)
        np.testing.assert_array_equal(root["new"], VALUES * 2)
        np.testing.assert_array_equal(root["deep/x"], [7, 8])
        np.testing.assert_array_equal(root["untouched"], [1, 2])
        assert (root["old"].chunks, root["old"].attrs["units"]) == ((2, 3), "K")
        assert root.attrs["title"] == "mine"
    assert not Path("run.zarr/zarrix-import.json").exists()


def test_new_arrays_are_added_and_those_there_get_the_elements() -> None:
    with pytest.raises(ContainsArrayError, match=r"into=True \(--into\)"):
        zarr.import_("more.h5", "run.zarr")
    would = zarr.import_("more.h5", "run.zarr", into=True, dry_run=True)
    assert would.arrays["old"]["how"] == "written into the array that exists"
    assert zarr.open("run.zarr/old")[0, 0] == -1
    zarr.import_("more.h5", "run.zarr", into=True, verify="full")
    check()
    assert main(["import", "more.h5", "run.zarr", "--into"]) == 0
    check()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda: _replace("old", VALUES[:5]), r"\(5, 4\) of float64.*same shape and dtype"),
        (lambda: _replace("old", VALUES.astype("f4")), "float32"),
        (lambda: _replace("deep", VALUES), "is a group, and the source has an array there"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(change: Any, told: str) -> None:
    zarr.open_group("run.zarr").create_group("deep")
    change()
    before = {one: one.read_bytes() for one in Path("run.zarr").rglob("*") if one.is_file()}
    with pytest.raises((ConversionError, ContainsGroupError), match=told):
        zarr.import_("more.h5", "run.zarr", into=True)
    found = {one: one.read_bytes() for one in Path("run.zarr").rglob("*") if one.is_file()}
    assert found == before
    with pytest.raises(ValueError, match="pass one of them"):
        zarr.import_("more.h5", "run.zarr", into=True, overwrite=True)


def _replace(name: str, values: Any) -> None:
    with h5py.File("more.h5", "a") as file:
        del file[name]
        file[name] = values


def test_chunks_of_others_do_not_become_elements() -> None:
    Path("run.zarr/new/c/0").mkdir(parents=True)
    Path("run.zarr/new/c/0/0").write_bytes(b"?")
    with pytest.raises((ContainsArrayError, ConversionError)):
        zarr.import_("more.h5", "run.zarr", into=True)
    assert Path("run.zarr/new/c/0/0").read_bytes() == b"?"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_call_that_is_killed_is_repeated(tmp_path: Path, pytestconfig: Any) -> None:
    number = 0
    while dies_at(number, lambda: zarr.import_("more.h5", "run.zarr", into=True)):
        root = zarr.open_group("run.zarr", mode="r")
        for name, values in (("new", VALUES * 2), ("deep/x", [7, 8])):
            if name in root:
                np.testing.assert_array_equal(root[name], values)
        zarr.import_("more.h5", "run.zarr", into=True, resume=True)
        check()
        zarr.import_("more.h5", "fresh.zarr", overwrite=True, verify="none")
        zarr.open_group("run.zarr")["old"][:] = -1
        for name in ("new", "deep"):
            del zarr.open_group("run.zarr")[name]
        number += 1 if pytestconfig.getoption("--long") else 5
    assert number > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_attributes_of_v2_survive_a_kill_between_two_documents() -> None:
    with h5py.File("attributes.h5", "w") as file:
        file["g/new"] = [1, 2]
        file["g/new"].attrs["unit"] = "K"
    number, is_complete = 0, False
    while not is_complete:
        root = zarr.open_group("old.zarr", mode="w", zarr_format=2)
        root.create_array("mine", data=[1])
        zarr.consolidate_metadata("old.zarr")
        is_complete = not dies_at(
            number, lambda: zarr.import_("attributes.h5", "old.zarr", into=True, verify="none")
        )
        if not is_complete:
            zarr.import_("attributes.h5", "old.zarr", into=True, resume=True)
        for opened in (zarr.open_group, zarr.open_consolidated):
            found = opened("old.zarr", mode="r")
            assert found["g/new"].attrs["unit"] == "K"
            assert sorted(found) == ["g", "mine"]
        number += 1
    assert number > 5


def test_attributes_that_another_process_removes_before_the_mark_are_stored_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with h5py.File("attributes.h5", "w") as file:
        file.create_group("g").attrs["unit"] = "K"
    root = zarr.open_group("old.zarr", mode="w", zarr_format=2)
    put = zarr.storage.LocalStore.__setitem__

    def late(self: Any, key: str, value: Any) -> None:
        if key == "g/.zgroup":
            # A node that is created below g finds attributes without a node.
            Path("old.zarr/g/.zattrs").unlink()
        put(self, key, value)

    monkeypatch.setattr(zarr.storage.LocalStore, "__setitem__", late)
    zarr.import_("attributes.h5", "old.zarr", into=True, verify="none")
    assert not Path("old.zarr/g/.zarray").exists()
    assert root["g"].attrs["unit"] == "K"


class _Server(http.server.SimpleHTTPRequestHandler):
    served: Any = None

    def do_GET(self) -> None:
        if self.served is not None:
            self.served()
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    handler = functools.partial(_Server, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_files_that_urls_name_are_imported(web: str) -> None:
    made = zarr.import_(f"{web}/more.h5", "a.zarr")
    assert made.source == f"{web}/more.h5"
    np.testing.assert_array_equal(zarr.open("a.zarr/new"), VALUES * 2)
    for name in ("x0.npy", "x1.npy"):
        np.save(name, VALUES)
    zarr.import_([f"{web}/x0.npy", "x1.npy"], "b.zarr", stack="t")
    assert zarr.open("b.zarr").shape == (2, 6, 4)
    assert main(["import", f"{web}/more.h5", "run.zarr", "--into"]) == 0
    check()
    with pytest.raises(FileNotFoundError, match="does not exist"):
        zarr.import_(f"{web}/other.h5", "c.zarr")
    assert not Path("c.zarr").exists()


def test_a_file_that_changes_on_its_server_is_not_imported(
    web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace() -> None:
        monkeypatch.setattr(_Server, "served", None)
        with open("more.h5", "ab") as file:
            file.write(b"\0" * 100)

    monkeypatch.setattr(_Server, "served", staticmethod(replace))
    with pytest.raises((SourceChangedError, OSError)):
        zarr.import_(f"{web}/more.h5", "a.zarr")
    assert not Path("a.zarr").exists()


def test_an_import_of_a_url_is_resumed(web: str) -> None:
    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zarr.import_(f"{web}/more.h5", "a.zarr", progress=stop)
    assert json.loads(Path("a.zarr/zarrix-import.json").read_text())
    assert zarr.import_(f"{web}/more.h5", "a.zarr", resume=True).kept >= 1
    np.testing.assert_array_equal(zarr.open("a.zarr/new"), VALUES * 2)
