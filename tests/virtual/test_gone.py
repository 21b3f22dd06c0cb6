"""A piece that is gone is an error that names it; a chunk that a piece does not have is a hole."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual

_VALUES = np.arange(1.0, 13, dtype="f4").reshape(4, 3)
_ZARR = ("v2", "v3", "shards")
_FILES = ("npy", "h5", "tif", "zip", "references")


def piece(folder: Path, format: str) -> tuple[str, Path]:
    """A piece, as what `virtual.concat` takes, and the file or folder that has it."""
    path = folder / f"x.{format}"
    if format in _ZARR:
        shards = (4, 3) if format == "shards" else None
        zarr_format: Any = 2 if format == "v2" else 3
        options: Any = {"chunks": (2, 3), "shards": shards, "zarr_format": zarr_format}
        zarr.create_array(path, data=_VALUES, **options)
        return str(path), path
    if format == "npy":
        np.save(path, _VALUES)
        return str(path), path
    if format == "h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.create_dataset("u", data=_VALUES, chunks=(2, 3))
        return f"{path}/u", path
    if format == "tif":
        pytest.importorskip("tifffile").imwrite(path, _VALUES)
        return str(path), path
    if format == "zip":
        with zarr.ZipStore(path, mode="w") as store:
            zarr.create_array(store, name="u", data=_VALUES, chunks=(2, 3))
        return f"{path}/u", path
    zarr.create_array(
        folder / "target", data=_VALUES, chunks=(2, 3), zarr_format=2, compressor=None
    )
    target = {key: [str(folder / "target" / key)] for key in ("0.0", "1.0")}
    document = (folder / "target" / ".zarray").read_text()
    path = folder / "x.json"
    path.write_text(json.dumps({"version": 1, "refs": {".zarray": document, **target}}))
    return str(path), path


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@pytest.fixture
def listed(tmp_path: Path) -> Callable[[str], Any]:
    """Makes a list of a piece of ones, and one of a format; opened again at each call."""

    def open_list(format: str) -> Any:
        target = tmp_path / "list.json"
        if not target.exists():
            ones = tmp_path / "ones.npy"
            np.save(ones, np.ones((4, 3), "f4"))
            virtual.save(virtual.concat([str(ones), piece(tmp_path, format)[0]]), target)
        return virtual.open(target)

    return open_list


@pytest.mark.parametrize("format", [*_ZARR, *_FILES])
def test_a_piece_that_is_gone_is_named(
    tmp_path: Path, listed: Callable[[str], Any], format: str
) -> None:
    before = listed(format)
    np.testing.assert_array_equal(before[4:], _VALUES)
    path = tmp_path / ("x.json" if format == "references" else f"x.{format}")
    remove(path)
    z = listed(format)
    assert (z[:4] == 1).all()
    for key in ((...,), (slice(3, 5),), (7, 2)):
        with pytest.raises(FileNotFoundError, match=path.name):
            z[key]
    with pytest.raises(FileNotFoundError, match=path.name):
        z.vindex[[0, 5], [0, 0]]
    with pytest.raises(FileNotFoundError, match=path.name):
        zarr.read_many([(z, [[3, 0]], [2, 3])])
    assert [one.piece for one in virtual.verify(z)] == [1]
    # What is open still reads an open file; of a folder, it says that the folder is gone.
    if format in _ZARR:
        with pytest.raises(FileNotFoundError, match=path.name):
            before[4:]
    elif format != "references":
        np.testing.assert_array_equal(before[4:], _VALUES)


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("format", _ZARR)
def test_a_piece_without_its_document_is_gone(
    tmp_path: Path, listed: Callable[[str], Any], format: str, is_open: bool
) -> None:
    z = listed(format)
    if is_open:
        np.testing.assert_array_equal(z[4:], _VALUES)
    path = tmp_path / f"x.{format}"
    (path / (".zarray" if format == "v2" else "zarr.json")).unlink()
    # Half of the chunks, as a removal leaves them that is still going on.
    shutil.rmtree(path / "c") if format != "v2" else (path / "0.0").unlink()
    with pytest.raises(FileNotFoundError, match=path.name):
        z[...]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("format", _ZARR)
def test_chunks_that_a_piece_does_not_have_are_holes(
    tmp_path: Path, listed: Callable[[str], Any], format: str, is_open: bool
) -> None:
    z = listed(format)
    if is_open:
        np.testing.assert_array_equal(z[4:], _VALUES)
    array: Any = zarr.open(tmp_path / f"x.{format}", mode="r+")
    array[2:] = 0
    for key in ("1.0", "c/1/0"):
        (tmp_path / f"x.{format}" / key).unlink(missing_ok=True)
    assert (z[6:] == 0).all()
    assert virtual.verify(z) == []


def test_the_target_of_a_reference_that_is_gone_is_named(
    tmp_path: Path, listed: Callable[[str], Any]
) -> None:
    z = listed("references")
    (tmp_path / "target" / "1.0").unlink()
    np.testing.assert_array_equal(z[4:6], _VALUES[:2])
    with pytest.raises(FileNotFoundError, match=r"target/1\.0.*, which is not there"):
        z[...]
    # A chunk that has no reference is a hole of the array.
    document = json.loads((tmp_path / "x.json").read_text())
    del document["refs"]["1.0"]
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert (virtual.refresh(z)[6:] == 0).all()
