"""`sync_store` to and from S3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from hierarchy.syncs import files, new_tree
from servers.faulty import FaultyServer
from zarrix._stores.open import as_store


def stored(faulty: FaultyServer, prefix: str) -> dict[str, bytes]:
    start = f"{prefix}/"
    return {
        key.removeprefix(start): value
        for key, (value, _) in sorted(faulty.values.items())
        if key.startswith(start)
    }


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_bucket_follows_a_folder_and_back(
    faulty: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zarr_format: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "a.zarr"
    new_tree(zarr.DirectoryStore(source), zarr_format)

    def place(name: str) -> Any:
        return as_store(f"{faulty.url}/{name}", faulty.options)

    zarr.sync_store(source, place("b"))
    assert stored(faulty, "b") == files(source)
    # What is there already is not copied again.
    counts = zarr.sync_store(source, place("b"))
    assert (counts.replaced, counts.unchanged) == (0, len(files(source)))
    zarr.open(source)["inner/t2m"][0, 0] = 5
    zarr.open(source)["time"].resize(3)
    assert zarr.sync_store(source, place("b"), delete=True).deleted == 1
    assert stored(faulty, "b") == files(source)
    zarr.sync_store(place("b"), tmp_path / "c")
    assert files(tmp_path / "c") == files(source)
    zarr.sync_store(place("b"), place("d"))
    assert stored(faulty, "d") == files(source)
