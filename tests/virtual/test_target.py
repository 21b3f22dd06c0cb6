"""Where a list and references are written: never over a piece, and over no other file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual
from zarrix.cli import main
from zarrix.errors import OverlapError, VirtualError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.arange(4))
    zarr.save_array("z.zarr", np.arange(4), zarr_format=3)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_a_document_of_a_piece_is_not_replaced(folder: Path) -> None:
    both = virtual.concat(["z.zarr", "x.npy"])
    os.symlink("z.zarr/zarr.json", "link.json")
    before = contents(folder)
    for target in ("z.zarr/zarr.json", folder / "z.zarr" / "zarr.json"):
        with pytest.raises(OverlapError, match="is inside the source"):
            virtual.save(both, target, overwrite=True)
    with pytest.raises((OverlapError, VirtualError)):
        virtual.save(both, "link.json", overwrite=True)
    with pytest.raises(OverlapError, match="is inside the source"):
        virtual.references(virtual.concat(["z.zarr", "z.zarr"]), "z.zarr/zarr.json", overwrite=True)
    assert contents(folder) == before


def test_references_that_are_a_piece_are_not_replaced_by_their_list(folder: Path) -> None:
    virtual.references(virtual.concat(["z.zarr", "z.zarr"]), "r.json")
    before = contents(folder)
    longer = virtual.concat(["r.json", "z.zarr"])
    for write in (virtual.save, virtual.references):
        with pytest.raises((OverlapError, VirtualError)):
            write(longer, "r.json", overwrite=True)
    assert contents(folder) == before


@pytest.mark.parametrize("text", ["{}", "", "[1, 2]", json.dumps({"name": "a package"})])
def test_a_file_of_others_is_not_replaced(folder: Path, text: str) -> None:
    (folder / "package.json").write_text(text)
    array = virtual.concat(["z.zarr", "z.zarr"])
    with pytest.raises(VirtualError, match=r"package.json is not a list of pieces, and is not"):
        virtual.save(array, "package.json", overwrite=True)
    with pytest.raises(VirtualError, match=r"package.json is not a file of references"):
        virtual.references(array, "package.json", overwrite=True)
    assert (folder / "package.json").read_text() == text


def test_lists_and_references_replace_their_own_kind(folder: Path) -> None:
    one, two = virtual.concat(["x.npy"]), virtual.concat(["x.npy", "x.npy"])
    virtual.save(one, "a.json", overwrite=True)
    virtual.save(two, "a.json", overwrite=True)
    # A list that is opened, changed and stored again.
    virtual.save(virtual.edit(virtual.open("a.json"), append=["x.npy"]), "a.json", overwrite=True)
    assert zarr.open("a.json", mode="r").shape == (12,)
    virtual.references(one, "r.json")
    virtual.references(two, "r.json", overwrite=True)
    assert zarr.open("r.json", mode="r").shape == (8,)
    with pytest.raises(VirtualError, match="is not a file of references"):
        virtual.references(one, "a.json", overwrite=True)
    with pytest.raises(VirtualError, match="is not a list of pieces"):
        virtual.save(one, "r.json", overwrite=True)


def test_the_verb_leaves_its_sources_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    words = ["virtual", "concat", "z.zarr", "x.npy", "--dest", "z.zarr/zarr.json", "--overwrite"]
    assert main(words) == 1
    assert "is inside the source" in capsys.readouterr().err
    assert contents(folder) == before
