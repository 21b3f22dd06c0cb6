"""Every public function that has a destination, in arrangements where it could destroy something.

The oracle is the same for all: after an error no file has changed, and after a success only files
of the destination have, which then has the data of the source.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import convert, jobs
from zarrix.cli._table import VERBS

VALUES = np.arange(12).reshape(3, 4)

# By name: the source and the destination, relative to the folder of the test.
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


def group_of(path: str) -> tuple[Any, str]:
    above, _, name = path.rpartition("/")
    return zarr.open_group(above, mode="r+"), name


def copy(source: str, dest: str) -> None:
    group, name = group_of(dest)
    zarr.copy(zarr.open(source), group, name=name, if_exists="replace")


# Each takes source and destination.
COPIES: dict[str, Callable[[str, str], Any]] = {
    "copy": copy,
    "copy_store": lambda source, dest: zarr.copy_store(source, dest, if_exists="replace"),
    "save": lambda source, dest: zarr.save(dest, zarr.open(source)),
    "save_array": lambda source, dest: zarr.save_array(dest, zarr.open(source)),
    "array": lambda source, dest: zarr.array(zarr.open(source), store=dest, overwrite=True),
    "from_array": lambda source, dest: zarr.from_array(
        dest, data=zarr.open(source), overwrite=True
    ),
    "create_array": lambda source, dest: zarr.create_array(
        dest, data=zarr.open(source), overwrite=True
    ),
}
# Destinations that have tests of their own: tests/nodes/test_arrays_above.py, tests/jobs,
# tests/convert, tests/hierarchy/test_copy_overlap.py.
ELSEWHERE = """
    copy_all save_group open open_array open_group open_like group create_group create_hierarchy
    create empty ones zeros full empty_like ones_like zeros_like full_like
    jobs.copy jobs.rechunk jobs.map_chunks jobs.stack jobs.statistics jobs.pyramid
    export import_ virtual
""".split()  # noqa: SIM905
# Functions and verbs that create nothing, or change only the node that they name; and verbs that
# call one of the functions above, or are in tests/cli/test_destinations.py.
OTHERS = """
    consolidate_metadata load migrate open_consolidated open_file
    info ls tree attrs cat stats show view serve plan verify repair digest diff doctor rm
    consolidate formats bench advise suggest compare demo help completion
    rechunk pyramid stack map import export cp mv
""".split()  # noqa: SIM905
DESTINATIONS = {"dest", "destination", "store", "path", "out", "file", "target", "folder"}


def functions() -> Iterator[str]:
    for prefix, module in (("", zarr), ("jobs.", jobs), ("", convert)):
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isfunction(one) and DESTINATIONS & inspect.signature(one).parameters.keys():
                yield f"{prefix}{name}"


def test_every_function_and_verb_with_a_destination_is_here() -> None:
    known = {*COPIES, *ELSEWHERE, *OTHERS}
    assert {*functions(), *VERBS} - known == set()


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return {
        str(path.relative_to(folder)): (
            os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        )
        for path in files
    }


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    group = zarr.open_group("x.zarr", mode="w")
    group["a"] = np.arange(5)
    group["g/b"] = VALUES
    zarr.save("y.zarr", VALUES)
    np.save("n.npy", VALUES)
    (tmp_path / "link.zarr").symlink_to("x.zarr")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "notes.txt").write_text("mine")
    (tmp_path / "foreign" / "data.bin").write_bytes(bytes(range(50)))
    (tmp_path / "to_foreign").symlink_to("foreign")
    return tmp_path


@pytest.mark.parametrize("arrangement", ARRANGEMENTS)
@pytest.mark.parametrize("name", COPIES)
def test_what_is_not_named_stays_as_it_is(name: str, arrangement: str, folder: Path) -> None:
    source, dest = ARRANGEMENTS[arrangement]
    call, dest = COPIES[name], dest.format(folder)
    before = state(folder)
    try:
        call(source, dest)
    except Exception:
        assert state(folder) == before
        return
    there = os.path.relpath(os.path.realpath(dest.removeprefix("file://")), folder)
    after = state(folder)
    assert {
        key: value for key, value in before.items() if not f"{key}/".startswith(f"{there}/")
    }.items() <= after.items()
    assert before["foreign/notes.txt"] == after["foreign/notes.txt"]
    np.testing.assert_array_equal(zarr.open(dest, mode="r")[:], VALUES)
