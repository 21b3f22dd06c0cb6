"""Copies from servers: what they list."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import zarrix as zarr
from servers.faulty import FaultyServer


def test_a_copy_lists_its_source_once(faulty: FaultyServer, tmp_path: Path) -> None:
    url, options = f"{faulty.url}/a", faulty.options
    made = zarr.create_array(url, data=np.arange(6), chunks=2, storage_options=options)
    assert len({*made.store}) == 4
    faulty.requests.clear()
    source = zarr.storage.RemoteStore(url, options)
    zarr.copy_store(source, tmp_path / "b.zarr")
    # The key of a listing is empty.
    assert faulty.requests.count(("GET", "")) == 1
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr"), np.arange(6))
