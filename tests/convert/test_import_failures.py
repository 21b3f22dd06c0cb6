"""A call of the system that fails in an import: an error, and the same call goes on."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ConversionError

VALUE = np.arange(72, dtype="u2").reshape(12, 6)


class Failing(dict[str, Any]):
    """A mapping that fails at its n-th change."""

    left = -1

    def _count(self) -> None:
        self.left -= 1
        if self.left == -1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def __setitem__(self, key: str, value: Any) -> None:
        self._count()
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._count()
        super().__delitem__(key)


@pytest.mark.parametrize("path", ["", "of/it"])
def test_an_import_goes_on_after_each_failure_of_replacing(path: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", VALUE)
    step, fails = 0, True
    while fails:
        found = Failing()
        store = zarr.KVStore(found)
        old = zarr.create_array(
            store, name=path or None, shape=VALUE.shape, chunks=(4, 6), dtype="u2"
        )
        old[:] = VALUE + 1

        def call(store: Any = store, **options: Any) -> None:
            zarr.import_(tmp_path / "x.npy", store, path=path, chunks=(4, 6), **options)

        found.left = step
        try:
            call(overwrite=True)
        except OSError:
            # What continues must never take chunks of the old array for its own.
            try:
                call(resume=True)
            except (ConversionError, zarr.errors.ContainsArrayError):
                call(overwrite=True)
        fails, found.left = found.left < 0, -1
        assert np.array_equal(zarr.open_array(store, path=path, mode="r")[:], VALUE), step
        assert not [key for key in found if "import" in key], step
        step += 1
    assert step > 5
