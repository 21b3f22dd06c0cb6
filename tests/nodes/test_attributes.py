"""Attributes: a mapping that is stored at once and merged with what others store."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.attrs import Attributes
from zarrix.errors import MetadataError, ReadOnlyError


def test_attributes_are_stored_as_zarr_2_stores_them(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path), "w")
    root.attrs["author"] = "Ada"
    root.attrs.update({"scale": (1, 2.5)}, date=None)
    assert (tmp_path / ".zattrs").read_text() == (
        '{\n    "author": "Ada",\n    "date": null,\n    "scale": [\n        1,\n        2.5\n'
        "    ]\n}"
    )


def test_attributes_are_a_mutable_mapping() -> None:
    attrs = zarr.zeros(3).attrs
    attrs.put({"a": 1, "b": [1, 2]})
    attrs["c"] = {"x": "y"}
    assert attrs.asdict() == {"a": 1, "b": [1, 2], "c": {"x": "y"}}
    assert (sorted(attrs), len(attrs), "a" in attrs, attrs.get("z")) == (
        ["a", "b", "c"],
        3,
        True,
        None,
    )
    assert attrs.pop("a") == 1
    assert attrs.setdefault("d", 4) == 4
    del attrs["b"]
    assert dict(attrs) == {"c": {"x": "y"}, "d": 4}
    assert attrs.popitem()[0] in ("c", "d")
    attrs.clear()
    assert attrs == {}
    with pytest.raises(KeyError):
        del attrs["a"]
    with pytest.raises(KeyError):
        attrs["a"]


def test_a_value_reads_the_same_before_and_after_reopening() -> None:
    z = zarr.zeros(3)
    z.attrs["shape"] = (1, 2)
    assert z.attrs["shape"] == [1, 2] == zarr.Array(z.store).attrs["shape"]


def test_numpy_numbers_become_numbers() -> None:
    attrs = zarr.zeros(3).attrs
    attrs.update(i=np.int64(3), f=np.float32(1.5), nested={"n": [np.uint8(1)]})
    assert attrs.asdict() == {"i": 3, "f": 1.5, "nested": {"n": [1]}}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (np.array([b"a"]), "'bad' is an array of .S1, .* store text"),
        (np.array([1j]), r"'bad' is an array of complex128, .* store the pair"),
        (np.datetime64("2020"), r"'bad' is numpy.datetime64, .* str\(value\)"),
        ({1, 2}, r"'bad' is set, .* store sorted\(value\)"),
        ({"x": [1, object()]}, r"'bad'\['x'\]\[1\] is object, which JSON"),
        (b"bytes", "'bad' is bytes, which JSON cannot express; store text"),
        ({(1, 2): 3}, r"'bad' has the name \(1, 2\)"),
    ],
)
def test_a_value_that_json_lacks_is_named_and_nothing_is_stored(value: Any, where: str) -> None:
    z = zarr.zeros(3)
    z.attrs["good"] = 1
    with pytest.raises(TypeError, match=where):
        z.attrs.update(bad=value, better=2)
    assert zarr.Array(z.store).attrs.asdict() == {"good": 1}


def test_names_that_are_not_strings_are_stored_as_strings_with_a_warning() -> None:
    attrs = zarr.zeros(3).attrs
    with pytest.warns(DeprecationWarning, match="1 is stored as '1'"):
        attrs[1] = "x"  # type: ignore[index]
    assert dict(attrs) == {"1": "x"}


def test_writers_of_different_attributes_both_keep_theirs(tmp_path: Path) -> None:
    zarr.open_group(str(tmp_path), "w")

    def work(number: int) -> None:
        attrs = zarr.open_group(str(tmp_path), "r+").attrs
        for k in range(10):
            attrs[f"{number}-{k}"] = k

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(zarr.open_group(str(tmp_path), "r").attrs) == 40


def test_cached_attributes_are_read_again_by_refresh_and_uncached_ones_always() -> None:
    store = zarr.MemoryStore()
    writer, cached = Attributes(store), Attributes(store)
    uncached = Attributes(store, cache=False)
    assert (dict(cached), dict(uncached)) == ({}, {})
    writer["a"] = 1
    assert (dict(cached), dict(uncached)) == ({}, {"a": 1})
    cached.refresh()
    assert dict(cached) == {"a": 1}


def test_what_asdict_returns_can_be_changed_freely() -> None:
    attrs = zarr.zeros(3).attrs
    attrs["a"] = 1
    attrs.asdict()["b"] = 2
    assert "b" not in attrs


def test_read_only_attributes_refuse_changes() -> None:
    attrs = Attributes({".zattrs": b'{"a": 1}'}, read_only=True)
    for change in (lambda: attrs.put({}), lambda: attrs.pop("a"), lambda: attrs.clear()):
        with pytest.raises(ReadOnlyError, match=r"\.zattrs"):
            change()
    assert attrs["a"] == 1


def test_a_damaged_document_says_where_it_is() -> None:
    with pytest.raises(MetadataError, match=r"\.zattrs"):
        dict(Attributes({".zattrs": b'{"a": '}))
