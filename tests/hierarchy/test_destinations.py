"""Every public function that has a destination, in arrangements where it could destroy something.

The oracle is the same for all: after an error no file has changed, and after a success only files
of the destination have, which then has the data of the source.
"""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hierarchy.destinations import FILE, FUNCTIONS, LOADED, VALUES, WITHOUT, Row, files_of
from zarrix.cli._table import VERBS

# By name: the source and the destination, relative to the folder of the test. Calls without a
# source get the destination only.
ARRANGEMENTS = {
    "source inside destination": ("x.zarr/g/b", "x.zarr/g"),
    "destination inside source": ("x.zarr/g/b", "x.zarr/g/b/new"),
    "same": ("x.zarr/g/b", "x.zarr/g/b"),
    "same by a link": ("x.zarr/g/b", "link.zarr/g/b"),
    "source inside destination, by a URL": ("x.zarr/g/b", "file://{}/link.zarr/g"),
    "an array above": ("y.zarr", "x.zarr/a/new"),
    "foreign files": ("y.zarr", "foreign"),
    "a link to foreign files": ("y.zarr", "to_foreign"),
}
# Not hostile: each call succeeds in one of these or of the others.
BENIGN = {
    "a new hierarchy": ("y.zarr", "new.zarr"),
    "a new member": ("x.zarr/g/b", "x.zarr/g/c"),
    "a member to a new hierarchy": ("x.zarr/g/b", "new.zarr"),
    "another hierarchy": ("x.zarr/g/b", "y.zarr"),
}
ROWS = {**FUNCTIONS, **{f"zarrix {name}": row for name, row in LOADED.items()}}

MODULES = {
    "": "zarrix",
    "storage.": "zarrix.storage",
    "jobs.": "zarrix.jobs",
    "convert.": "zarrix.convert",
    "operate.": "zarrix.operate",
    "xarray.": "zarrix.xarray",
    "dask.": "zarrix.dask",
    "ml.": "zarrix.ml",
    "viewer.": "zarrix.viewer",
    "measure.": "zarrix.measure",
    "testing.": "zarrix.testing",
}
DESTINATIONS = {
    "dest", "destination", "dest_root", "dst_path", "store", "path", "file", "filename", "target",
    "targets", "folder",
}  # fmt: skip
# Methods whose name= is the path of a node that they create.
CLASSES = {
    "Group.": (zarr.Group, DESTINATIONS | {"name"}),
    "Array.": (zarr.Array, DESTINATIONS),
    "DirectoryStore.": (zarr.DirectoryStore, DESTINATIONS),
    "Job.": (zarr.jobs.Job, DESTINATIONS),
}
# Methods that only read, by what their names begin with.
READING = ("child_names", "dir_path", "engine_path", "get", "list", "contains")


def functions() -> Iterator[str]:
    """The names of all functions and methods with a parameter that may name a destination."""
    for prefix, module in MODULES.items():
        one = pytest.importorskip(module)
        for name in one.__all__:
            function = getattr(one, name)
            if inspect.isfunction(function) and has(function, DESTINATIONS):
                # The functions of `convert` and `operate` are in the first module, too.
                is_above = getattr(zarr, name, None) is function
                yield name if is_above or prefix == "convert." else f"{prefix}{name}"
    for prefix, (cls, parameters) in CLASSES.items():
        for name in dir(cls):
            method = inspect.getattr_static(cls, name)
            method = getattr(method, "__func__", method)
            is_public = inspect.isfunction(method) and not name.startswith(("_", *READING))
            if is_public and has(method, parameters):
                yield f"{prefix}{name}"


def has(function: Any, parameters: set[str]) -> bool:
    return bool(parameters & inspect.signature(function).parameters.keys())


def test_every_function_method_and_verb_with_a_destination_has_a_row() -> None:
    assert sorted({*functions()} - FUNCTIONS.keys() - WITHOUT.keys()) == []
    assert sorted({*VERBS} - LOADED.keys() - WITHOUT.keys()) == []


def test_what_has_no_row_exists() -> None:
    assert sorted(WITHOUT.keys() - {*functions(), *VERBS}) == []


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {
        str(path.relative_to(folder)): (
            os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        )
        for path in files
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made")
    group = zarr.open_group(made / "x.zarr", mode="w")
    group["a"] = np.arange(5)
    group["g/b"] = VALUES
    zarr.save(str(made / "y.zarr"), VALUES)
    (made / "link.zarr").symlink_to("x.zarr")
    (made / "foreign").mkdir()
    (made / "foreign" / "notes.txt").write_text("mine")
    (made / "foreign" / "data.bin").write_bytes(bytes(range(50)))
    (made / "to_foreign").symlink_to("foreign")
    return made


@pytest.mark.parametrize("name", ROWS)
def test_what_is_not_named_stays_as_it_is(
    name: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    succeeds = False
    for number, arrangement in enumerate([*ARRANGEMENTS, *BENIGN]):
        folder = tmp_path / str(number)
        shutil.copytree(made, folder, symlinks=True)
        monkeypatch.chdir(folder)
        succeeds |= rest_stays(ROWS[name], arrangement, folder)
    assert succeeds


def rest_stays(row: Row, arrangement: str, folder: Path) -> bool:
    """Make the call, and compare what it leaves; whether it succeeded."""
    source, dest = {**ARRANGEMENTS, **BENIGN}[arrangement]
    if row.of_file:
        files_of(source)
        source = f"{source}/{FILE}"
    dest = dest.format(folder)
    before = state(folder)
    try:
        row.call(source, dest)
    except Exception:
        assert state(folder) == before, arrangement
        return False
    check_rest(row, source, dest, before, folder)
    if row.found is not None:
        found = row.found(dest)
        assert found is True or np.array_equal(found, VALUES), arrangement
    return True


def check_rest(row: Row, source: str, dest: str, before: dict[str, bytes], folder: Path) -> None:
    """What is neither the destination, nor a source that was moved, is as it was."""
    path = dest.removeprefix("file://")
    named = [os.path.relpath(os.path.realpath(path), folder), os.path.relpath(path, folder)]
    if row.takes_source:
        named.append(source)
    after = state(folder)
    rest = {
        key: value
        for key, value in before.items()
        if not any(f"{key}/".startswith(f"{one}/") for one in named)
    }
    assert {key: after.get(key) for key in rest} == rest
    if not row.removes_all:
        assert before["foreign/notes.txt"] == after.get("foreign/notes.txt")
        assert before["foreign/data.bin"] == after.get("foreign/data.bin")
