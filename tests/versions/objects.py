"""A hierarchy in a bucket that keeps versions, for tests of its versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix.versions._open import store_of


@dataclass
class InBucket:
    """A hierarchy by its URL, and what opens it."""

    url: str
    options: dict[str, Any]

    def make(self, zarr_format: int = 3) -> Any:
        """Arrays with two axes, one and none, in a group and at the root."""
        root = zarr.open_group(
            self.url, mode="w", zarr_format=zarr_format, storage_options=self.options
        )
        root.create_array("t", shape=(4, 6), chunks=(1, 2), dtype="i4")[:] = table()
        root.create_array("g/s", shape=(), dtype="i4")[...] = 5
        root.create_array("g/one", shape=(3,), chunks=1, dtype="i4")[:] = [1, 2, 3]
        return root

    def snapshot(self, name: str, **options: Any) -> Any:
        return zarr.snapshot(self.url, name, storage_options=self.options, **options)

    def open(self, name: str, **options: Any) -> Any:
        return zarr.open(self.url, version=name, storage_options=self.options, **options)

    def store(self, name: str) -> Any:
        """The store of a version, which need not have a node."""
        return store_of(self.history._home, self.history[name])

    @property
    def history(self) -> zarr.Versions:
        return zarr.Versions(self.url, storage_options=self.options)

    def require(self, name: str) -> None:
        """The version has what `make` has stored."""
        old = self.open(name)
        assert sorted(old) == ["g", "t"]
        assert sorted(old["g"]) == ["one", "s"]
        np.testing.assert_array_equal(old["t"][:], table())
        assert old["g/s"][()] == 5
        assert [*old["g/one"][:]] == [1, 2, 3]


def table() -> Any:
    return np.arange(1, 25, dtype="i4").reshape(4, 6)
