"""Folders of references in parquet as pieces, on this machine and on a web server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from virtual.test_remote_files import Web, web
from zarrix import virtual
from zarrix.errors import PieceChangedError, PieceNotFoundError

__all__ = ["web"]

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def references(folder: Path, base: str, values: Any) -> Path:
    """Make a folder of references to the array ``u`` of a file beside it."""
    (folder / "u").mkdir(parents=True, exist_ok=True)
    np.save(folder.with_suffix(".npy"), values)
    size = folder.with_suffix(".npy").stat().st_size
    document = {
        "zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": values.dtype.str,
        "compressor": None, "filters": None, "fill_value": 0, "order": "C",
    }  # fmt: skip
    metadata = {".zgroup": {"zarr_format": 2}, "u/.zarray": document}
    (folder / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 1}))
    columns = {
        "path": [f"{base}/{folder.stem}.npy"], "offset": [size - values.nbytes],
        "size": [values.nbytes], "raw": arrow.array([None], arrow.binary()),
    }  # fmt: skip
    parquet.write_table(arrow.table(columns), folder / "u" / "refs.0.parq")
    return folder


@pytest.mark.parametrize("is_remote", [False, True])
@pytest.mark.parametrize("suffix", ["parq", "parquet"])
def test_references_in_parquet_are_pieces(
    web: Web, tmp_path: Path, is_remote: bool, suffix: str
) -> None:
    base = web.url if is_remote else str(web.folder)
    parts = [np.arange(6.0).reshape(2, 3) + 10 * number for number in range(2)]
    for number, part in enumerate(parts):
        references(web.folder / f"{number}.{suffix}", base, part)
    z: Any = virtual.concat([f"{base}/{number}.{suffix}/u" for number in range(2)])
    np.testing.assert_array_equal(z[...], np.concatenate(parts))
    virtual.save(z, tmp_path / "list.json")
    listed: Any = virtual.open(tmp_path / "list.json")
    np.testing.assert_array_equal(listed[1:3], np.concatenate(parts)[1:3])
    references(web.folder / f"1.{suffix}", base, np.zeros((20, 3)))
    with pytest.raises(PieceChangedError, match=rf"/1\.{suffix} has changed since it was listed"):
        virtual.open(tmp_path / "list.json")[...]
    (web.folder / f"1.{suffix}" / ".zmetadata").unlink()
    with pytest.raises(PieceNotFoundError, match=rf"/1\.{suffix}"):
        virtual.open(tmp_path / "list.json")[...]


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_group_that_is_named_as_references_is_a_group(web: Web, is_remote: bool) -> None:
    group = zarr.open_group(web.folder / "x.parq", mode="w", zarr_format=2)
    group.create_array("u", data=np.arange(3))
    zarr.consolidate_metadata(web.folder / "x.parq")
    base = web.url if is_remote else web.folder
    assert virtual.concat([f"{base}/x.parq/u"])[...].tolist() == [0, 1, 2]


def test_references_in_parquet_on_a_server_name_what_is_on_it_alone(
    web: Web, tmp_path: Path
) -> None:
    references(web.folder / "x.parq", str(tmp_path), np.ones((2, 3)))
    z = virtual.concat([f"{web.url}/x.parq/u"])
    with pytest.raises(PermissionError, match="is below none of allowed="):
        z[...]
