"""Imports to servers: documents are stored at once, and consolidated metadata is written once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer

ARRAYS = 40


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("into", [False, True])
def test_an_import_of_many_arrays_writes_consolidated_metadata_once(
    faulty: FaultyServer, tmp_path: Path, zarr_format: Any, into: bool
) -> None:
    url, options = f"{faulty.url}/h", faulty.options
    root = zarr.open_group(url, mode="w", zarr_format=zarr_format, storage_options=options)
    root.create_array("g/old", data=np.arange(3))
    zarr.consolidate_metadata(root.store)
    zarr.consolidate_metadata(root.store, path="g")
    values = {f"a{number}": np.arange(number, number + 5) for number in range(ARRAYS)}
    np.savez(tmp_path / "all.npz", **values)
    faulty.requests.clear()
    place = "g" if into else "g/new"
    zarr.import_(
        tmp_path / "all.npz",
        url,
        path=place,
        into=into,
        verify="none",
        storage_options=options,
        zarr_format=zarr_format,
    )
    names = (".zmetadata", "zarr.json")
    above = {f"{group}{name}" for group in ("h/", "h/g/") for name in names}
    written = sorted(key for method, key in faulty.requests if method == "PUT" and key in above)
    assert len(written) == len({*written}) == 2
    others = [key for method, key in faulty.requests if method != "PUT"]
    assert len(others) <= (11 if into else 1) * ARRAYS + 60
    for within, name in ((zarr.open_consolidated(root.store), place), (root, place)):
        for key, array in values.items():
            np.testing.assert_array_equal(within[f"{name}/{key}"], array)
        np.testing.assert_array_equal(within["g/old"], np.arange(3))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_that_an_import_replaces_go_from_consolidated_metadata(
    faulty: FaultyServer, tmp_path: Path, zarr_format: Any
) -> None:
    url, options = f"{faulty.url}/h", faulty.options
    root = zarr.open_group(url, mode="w", zarr_format=zarr_format, storage_options=options)
    zarr.consolidate_metadata(root.store)
    for names in (("a", "b"), ("b", "c")):
        np.savez(tmp_path / "all.npz", **{name: np.arange(3) for name in names})
        zarr.import_(
            tmp_path / "all.npz",
            url,
            path="g",
            overwrite=True,
            storage_options=options,
            zarr_format=zarr_format,
        )
        assert sorted(zarr.open_consolidated(root.store)["g"]) == sorted(names)
