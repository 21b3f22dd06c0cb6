"""The table of formats, and formats of other packages."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.convert import _formats, formats
from zarrix.convert._source import Source, SourceArray
from zarrix.errors import ConversionError


def test_every_format_has_its_functions_and_suffixes_of_its_own() -> None:
    seen: set[str] = set()
    for one in formats():
        module = _formats.converter(one.name)
        assert callable(module.open_source)
        assert hasattr(module, "save") == one.exports
        assert not seen & set(one.suffixes)
        seen |= set(one.suffixes)


def test_a_format_of_another_package_is_used_by_its_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_source(path: Path, *, factor: int = 1) -> Source:
        value = np.frombuffer(path.read_bytes(), "u1") * factor
        return Source(str(path), {"": SourceArray(value.shape, value.dtype, value.__getitem__)})

    def save(node: Any, path: Path, job: Any) -> None:
        path.write_bytes(node[...].tobytes())

    theirs = types.SimpleNamespace(
        __doc__="Bytes.", suffixes=(".bytes",), open_source=open_source, save=save
    )
    point = types.SimpleNamespace(load=lambda: theirs)
    monkeypatch.setattr(_formats, "_others", lambda: {"bytes": point})
    (tmp_path / "x.bytes").write_bytes(b"\x01\x02")
    zarr.import_(tmp_path / "x.bytes", tmp_path / "x.zarr", factor=3)
    assert zarr.open(tmp_path / "x.zarr", mode="r")[...].tolist() == [3, 6]
    zarr.export(tmp_path / "x.zarr", tmp_path / "y.bytes")
    assert (tmp_path / "y.bytes").read_bytes() == b"\x03\x06"
    assert "bytes" in {one.name for one in formats()}


def test_a_file_of_no_known_format_is_an_error_that_lists_them(tmp_path: Path) -> None:
    (tmp_path / "x.what").write_bytes(b"")
    with pytest.raises(ConversionError, match=r"does not say its format; .* npy, npz, raw"):
        zarr.import_(tmp_path / "x.what", tmp_path / "x.zarr")


def test_files_are_stacked_and_joined(tmp_path: Path) -> None:
    for i in (10, 9, 1):
        np.save(tmp_path / f"f{i}.npy", np.full((2, 3), i))
    zarr.import_(str(tmp_path / "f*.npy"), tmp_path / "s.zarr", stack="t")
    found = zarr.open(tmp_path / "s.zarr", mode="r")
    assert found[:, 0, 0].tolist() == [1, 9, 10]
    assert found.metadata.dimension_names == ("t", None, None)
    files = [tmp_path / "f1.npy", tmp_path / "f10.npy"]
    zarr.import_(files, tmp_path / "c.zarr", concat=1)
    joined = zarr.open(tmp_path / "c.zarr", mode="r")[...]
    assert joined.tolist() == [[1] * 3 + [10] * 3] * 2
    with pytest.raises(ConversionError, match="make one array with stack="):
        zarr.import_(files, tmp_path / "d.zarr")
