"""Stores that take no more: what fails has changed nothing, or says what it has changed."""

import errno
import os
from collections.abc import MutableMapping

import numpy as np
import pytest
import zarrix as zarr


class Full(MutableMapping):
    """Values in memory; those of the keys in ``full`` cannot be stored."""

    def __init__(self):
        self.values_, self.full = {}, ()

    def __getitem__(self, key):
        return self.values_[key]

    def __setitem__(self, key, value):
        if key in self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), key)
        self.values_[key] = bytes(value)

    def __delitem__(self, key):
        del self.values_[key]

    def __iter__(self):
        return iter(list(self.values_))

    def __len__(self):
        return len(self.values_)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("full", ["metadata", "a chunk that is cut"])
def test_an_array_that_cannot_be_made_smaller_keeps_all_its_values(zarr_format, full):
    store = Full()
    data = np.arange(24).reshape(4, 6)
    z = zarr.create_array(store, data=data, chunks=(2, 2), zarr_format=zarr_format)
    document, chunk = (".zarray", "1.0") if zarr_format == 2 else ("zarr.json", "c/1/0")
    store.full = (document,) if full == "metadata" else (chunk,)
    before = dict(store)
    with pytest.raises(OSError, match="No space left"):
        z.resize(3, 4)
    # With two chunks at the boundary, one may be cleared already; so there is only one.
    same = {key: value for key, value in store.items() if value == before[key]}
    assert set(store) == set(before)
    assert len(before) - len(same) <= (0 if full == "metadata" else 1)
    assert zarr.open_array(store, mode="r").shape == (4, 6)
    store.full = ()
    z.resize(3, 4)
    np.testing.assert_array_equal(z[:], data[:3, :4])
    assert len(store) == 1 + 4


def test_a_change_that_consolidated_metadata_cannot_follow_says_that_it_has_happened():
    store = Full()
    root = zarr.open_group(store, mode="w")
    root.create_dataset("a", shape=3)
    root.create_dataset("b", shape=3)
    zarr.consolidate_metadata(store)
    store.full = (".zmetadata",)
    changes = {
        "a": lambda: root["a"].attrs.update(x=1),
        "b": lambda: root.__delitem__("b"),
        "c": lambda: root.create_dataset("c", shape=3),
    }
    for name, change in changes.items():
        with pytest.raises(OSError, match="No space left") as raised:
            change()
        (note,) = raised.value.__notes__
        assert f"the change of '{name}' itself is stored" in note
        assert "'.zmetadata' does not say so" in note
    assert root["a"].attrs["x"] == 1
    assert sorted(root) == ["a", "c"]
