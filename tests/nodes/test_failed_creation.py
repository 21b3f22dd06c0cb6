"""A creation that fails leaves nothing behind, and what is created can be opened again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

NOTED = np.dtype("S3", metadata={"h5py_encoding": "utf-8"})
COMPOUND = np.dtype([("a", "i4"), ("b", NOTED)])
DEEP = np.dtype([("outer", [("inner", NOTED), ("n", "f8")]), ("last", "U2")])
ROWS = np.dtype([("a", NOTED, (2,))])
ALIGNED = np.dtype([("a", "i1"), ("b", "f8"), ("c", NOTED)], align=True)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", [NOTED, COMPOUND, DEEP], ids=str)
def test_a_dtype_that_h5py_has_noted_something_on_can_be_opened_again(
    dtype: np.dtype[Any], zarr_format: int
) -> None:
    g = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=zarr_format)
    z = g.create_dataset("m", shape=2, dtype=dtype, chunks=1)
    z[0] = np.ones((), dtype)
    again = zarr.open(g.store, mode="r")["m"]
    assert again.dtype == dtype
    assert again.dtype.metadata is None
    assert again[0] == np.ones((), dtype)


def test_fields_that_are_arrays_lose_the_notes_too() -> None:
    z = zarr.zeros(2, dtype=ROWS, store={})
    assert zarr.open(z.store, mode="r").dtype.descr == [("a", "|S3", (2,))]


def test_an_aligned_structure_keeps_its_padding_without_the_notes() -> None:
    z = zarr.zeros(2, dtype=ALIGNED, store={})
    assert zarr.open(z.store, mode="r").dtype.itemsize == ALIGNED.itemsize


class Fails:
    """A source of data that fails after its first part, which fills the first chunk."""

    shape, dtype, chunks, ndim = (3 * 2**24,), np.dtype("i4"), (2**24,), 1
    name, attrs, fill_value, compressor, filters, order = "/x", {}, 0, None, None, "C"
    reads = 0

    def __getitem__(self, key: Any) -> Any:
        self.reads += 1
        if self.reads > 1:
            raise OSError("the source is gone")
        return np.broadcast_to(np.int32(1), 2**24)


class Odd:
    """What JSON has no form for."""


UNFIT = np.array([{"a": 1}, {"a": Odd()}], object)


CREATIONS: dict[str, Callable[[Any], Any]] = {
    "create, attributes": lambda g: g.create("x", shape=3, attributes={"a": Odd()}),
    "create_array, attributes": lambda g: g.create_array("x", shape=3, attributes={"a": Odd()}),
    "create_group, attributes": lambda g: g.create_group("x", attributes={"a": Odd()}),
    "require_group, attributes": lambda g: g.require_group("x", attributes={"a": Odd()}),
    "zarr.create_group, attributes": lambda g: zarr.create_group(
        g.store, path="x", attributes={"a": Odd()}
    ),
    "open_group, attributes": lambda g: zarr.open_group(g.store, path="x", attributes={"a": Odd()}),
    "open_array, attributes": lambda g: zarr.open_array(
        g.store, path="x", shape=3, attributes={"a": Odd()}
    ),
    "array, objects": lambda g: zarr.array(
        UNFIT, store=g.store, path="x", dtype=object, object_codec=zarr.JSON(), zarr_format=2
    ),
    "array, source": lambda g: g.array("x", Fails()),
    "create_array, source": lambda g: g.create_array("x", data=Fails()),
    "copy, source": lambda g: zarr.copy(Fails(), g),
    "setitem, source": lambda g: g.__setitem__("x", Fails()),
    "Array.create, attributes": lambda g: zarr.Array.create(
        g.store, shape=3, path="x", zarr_format=g.zarr_format, attributes={"a": Odd()}
    ),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", CREATIONS)
def test_a_creation_that_fails_leaves_nothing_behind(name: str, zarr_format: int) -> None:
    g = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=zarr_format)
    zarr.consolidate_metadata(g.store)
    before = {key: g.store[key] for key in g.store}
    with pytest.raises((TypeError, ValueError, OSError)):
        CREATIONS[name](g)
    assert {key: g.store[key] for key in g.store} == before


def test_what_lies_beside_a_creation_that_fails_is_not_deleted(tmp_path: Any) -> None:
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "thesis.txt").write_text("mine")
    (tmp_path / "7").write_text("mine, too")
    with pytest.raises((TypeError, ValueError)):
        zarr.array(UNFIT, store=str(tmp_path), dtype=object, object_codec=zarr.JSON())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2024", "7"]
    assert (tmp_path / "2024" / "thesis.txt").read_text() == "mine"
