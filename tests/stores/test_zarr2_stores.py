"""What zarr 2.18 asks of stores: many values at once with ``contexts``, and an archive's ``zf``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr


class Counting(zarr.storage.Store):
    """A store as programs for zarr 2.18 write it, whose `getitems` needs the contexts."""

    def __init__(self) -> None:
        self.values_of: dict[str, Any] = {}
        self.calls: Counter[Any] = Counter()

    def __getitem__(self, key: str) -> Any:
        self.calls["getitem", key] += 1
        return self.values_of[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_of[key] = value

    def __delitem__(self, key: str) -> None:
        del self.values_of[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of)

    def __len__(self) -> int:
        return len(self.values_of)

    def getitems(  # type: ignore[override]  # As zarr 2.18's base has it.
        self, keys: Sequence[str], *, contexts: Mapping[str, Any]
    ) -> dict[str, Any]:
        assert contexts == {}
        self.calls["getitems", len(keys)] += 1
        return {key: self.values_of[key] for key in keys if key in self.values_of}


def test_chunks_are_asked_for_by_the_getitems_of_a_store() -> None:
    store = Counting()
    z = zarr.zeros(40, chunks=10, dtype="i4", store=store)
    z[10:30] = np.arange(20)
    store.calls.clear()
    assert z[5:35].tolist() == [0] * 5 + [*range(20)] + [0] * 5
    assert store.calls[("getitems", 4)] == 1
    assert not any(name == "getitem" and key[0].isdigit() for name, key in store.calls)


def test_a_getitems_that_gives_none_is_an_error() -> None:
    store = Counting()
    z = zarr.zeros(40, chunks=10, dtype="i4", store=store)
    z[:] = 1
    store.values_of["1"] = None
    with pytest.raises(TypeError, match="bytes-like"):
        z[:]


def test_groups_and_consolidated_metadata_are_found_by_it() -> None:
    store = Counting()
    root = zarr.group(store)
    root.create_dataset("a/b", data=[1, 2, 3])
    zarr.consolidate_metadata(store)
    assert zarr.open_consolidated(store)["a/b"][:].tolist() == [1, 2, 3]
    assert [name for name, _ in zarr.open_group(store).groups()] == ["a"]


def test_an_archive_can_be_looked_into_by_zipfile(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zarr.ZipStore(path, mode="w") as store:
        store["a/b"] = b"12"
        with store.zf as archive:
            assert (archive.namelist(), archive.read("a/b")) == (["a/b"], b"12")
        store["c"] = b"3"
    with pytest.raises(ValueError, match="is closed"):
        _ = store.zf
    with zarr.ZipStore(path, mode="r") as store, store.zf as archive:
        assert sorted(archive.namelist()) == ["a/b", "c"]


def test_the_file_system_of_a_bucket_is_that_of_its_url() -> None:
    pytest.importorskip("s3fs")
    store = zarr.storage.RemoteStore(
        "s3://bucket/a", {"anon": True, "endpoint_url": "http://127.0.0.1:9", "timeout": 3}
    )
    assert store.fs.protocol == ("s3", "s3a")
    assert (store.fs.anon, store.fs.endpoint_url) == (True, "http://127.0.0.1:9")


def test_the_shuffle_of_h5py_is_ignored_with_a_warning() -> None:
    root = zarr.group()
    with pytest.warns(UserWarning, match="ignoring keyword argument 'shuffle'"):
        root.create_dataset("x", shape=4, dtype="i4", shuffle=True)
    with pytest.warns(UserWarning, match="ignoring keyword argument 'shuffle'"):
        root.require_dataset("y", shape=4, dtype="i4", shuffle=True)


def test_metadata2_is_a_class_with_the_functions_of_its_module() -> None:
    from zarrix.meta import Metadata2, decode_array_metadata

    store = zarr.MemoryStore()
    zarr.zeros((4, 6), chunks=(2, 3), store=store)
    decoded = Metadata2.decode_array_metadata(store[".zarray"])
    assert decoded == decode_array_metadata(store[".zarray"])
    assert Metadata2().encode_array_metadata(decoded) == store[".zarray"]
