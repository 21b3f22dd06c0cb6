"""References that `virtual` writes: compared before they get their name, and beside the source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import write_n5
from zarrix.cli import main
from zarrix.convert import _flat, virtual
from zarrix.convert._source import Part
from zarrix.errors import ContainsArrayError, ConversionError, OverlapError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("n.npy", np.arange(6))
    return tmp_path


def wrong_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks one element before where they are, as a reader that is mistaken finds them."""
    monkeypatch.setattr(_flat, "Part", lambda at, offset, *rest: Part(at, offset - 8, *rest))


@pytest.mark.parametrize("verify", ["sample", "full", "none"])
def test_references_are_compared_with_the_source(
    verify: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual("n.npy", "x.json")
    before = (folder / "x.json").read_bytes()
    wrong_parts(monkeypatch)
    if verify == "none":
        virtual("n.npy", "x.json", overwrite=True, verify=verify)
        assert zarr.load("x.json").tolist() != [*range(6)]
        return
    with pytest.raises(ConversionError, match="is not what the source has"):
        virtual("n.npy", "x.json", overwrite=True, verify=verify)
    assert main(["import", "--virtual", "-f", f"--verify={verify}", "n.npy", "x.json"]) == 1
    assert (folder / "x.json").read_bytes() == before
    assert sorted(os.listdir(folder)) == ["n.npy", "x.json"]


def test_another_kind_of_verification_is_an_error(folder: Path) -> None:
    with pytest.raises(ValueError, match="verify"):
        virtual("n.npy", "x.json", verify="some")  # type: ignore[arg-type]
    assert os.listdir(folder) == ["n.npy"]


def test_references_never_replace_a_file_of_their_source(folder: Path) -> None:
    np.arange(4, dtype="<i4").tofile("s.raw")
    (folder / "s.raw.json").write_text('{"dtype": "<i4"}')
    (folder / "link.json").symlink_to("s.raw.json")
    write_n5(folder / "s.n5", np.arange(35, dtype="u2").reshape(7, 5), (4, 3))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for source, dest in (
        ("s.raw", "s.raw.json"),
        ("s.raw", "link.json"),
        ("s.n5", "s.n5/new.json"),
        ("s.n5", "s.n5/attributes.json"),
    ):
        with pytest.raises((OverlapError, ConversionError)):
            virtual(source, dest, overwrite=True)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_of_other_formats_are_not_written_among_the_chunks_of_an_array(folder: Path) -> None:
    zarr.save_array("x.zarr", np.arange(4))
    os.symlink("x.zarr", "link")
    for dest in ("x.zarr/new", "x.zarr/c/new", "link/new"):
        (folder / dest).parent.mkdir(exist_ok=True)
        with pytest.raises(ContainsArrayError, match="is an array"):
            virtual("n.npy", f"{dest}.json", overwrite=True)
        with pytest.raises(ContainsArrayError, match="is an array"):
            zarr.export(zarr.array([1, 2]), f"{dest}.npy", overwrite=True)
    assert sorted(path.name for path in (folder / "x.zarr").rglob("*")) == [".zarray", "0", "c"]
