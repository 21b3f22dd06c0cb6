"""The hierarchy that all calls which must fail are made on."""

from pathlib import Path

import pytest
import zarrix as zarr

from bad_input.refusing import NUMBERS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A hierarchy: ``x.zarr`` with the array ``a`` and the group ``g`` that holds ``g/b``."""
    root = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    root.attrs["title"] = "kept"
    root.create_dataset("a", data=NUMBERS, chunks=(2, 5)).attrs["unit"] = "m"
    root.create_dataset("g/b", data=NUMBERS[0], chunks=4, compressor=None)
    return tmp_path
