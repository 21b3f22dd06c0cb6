"""``out=`` as zarr 2.18.7 takes it: a stored array, and structures whose fields lie elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarrix as zarr

VALUES = np.arange(60).reshape(6, 10)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_stored_array_can_be_filled(order: Any) -> None:
    z = zarr.array(VALUES, chunks=(2, 3), order=order)
    out = zarr.zeros((3, 10), chunks=(2, 7), dtype=VALUES.dtype)
    assert z.get_basic_selection(slice(1, 4), out=out) is out
    assert np.array_equal(out[:], VALUES[1:4])
    assert z.get_orthogonal_selection(([5, 0, 2], slice(None)), out=out) is out
    assert np.array_equal(out[:], VALUES[[5, 0, 2]])
    points = zarr.zeros(2, dtype=VALUES.dtype)
    assert z.get_coordinate_selection(([1, 2], [3, 4]), out=points) is points
    assert points[:].tolist() == [13, 24]


def test_a_stored_array_can_be_filled_from_itself() -> None:
    z = zarr.array(VALUES, chunks=(2, 3))
    assert z.read((slice(None, None, -1), slice(None, None, -1)), out=z) is z
    assert np.array_equal(z[:], VALUES[::-1, ::-1])


def test_a_stored_array_of_another_shape_or_dtype_is_refused() -> None:
    z = zarr.array(VALUES)
    for out in (zarr.zeros(10, dtype=VALUES.dtype), zarr.zeros(VALUES.shape, dtype="f4")):
        with pytest.raises(ValueError, match="out has"):
            z.read(out=out)
        assert not out[:].any()


def test_fields_are_read_into_a_structure_with_the_gaps_of_numpy() -> None:
    kind = [("foo", "S3"), ("bar", "i4"), ("baz", "f8")]
    records = np.array([(b"aaa", 1, 4.2), (b"bbb", 2, 8.4)], dtype=kind)
    z = zarr.array(records, chunks=1)
    fields = ["foo", "baz"]
    out = np.empty_like(records[fields])
    assert out.dtype.itemsize == records.dtype.itemsize
    assert z.get_basic_selection(slice(None), fields=fields, out=out) is out
    assert np.array_equal(out, records[fields])
    packed = np.empty(2, [("foo", "S3"), ("baz", "f8")])
    assert np.array_equal(z.get_basic_selection(slice(None), fields=fields, out=packed), packed)
    assert packed.tolist() == records[fields].tolist()
    with pytest.raises(ValueError, match="out has dtype"):
        z.get_basic_selection(
            slice(None), fields=fields, out=np.empty(2, [("foo", "S3"), ("b", "f8")])
        )
