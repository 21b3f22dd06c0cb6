"""Data types of machine learning, through ml_dtypes where it is installed."""

import json

import numpy as np
import pytest
import zarrix as zarr
from zarrix._dtypes.v3 import ML_TYPES

ml_dtypes = pytest.importorskip("ml_dtypes")


@pytest.mark.parametrize("name", [name for name in ML_TYPES if hasattr(ml_dtypes, name)])
def test_every_type_is_stored_by_its_name_and_read_bit_by_bit(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name))
    values = (np.arange(6) % 2).astype("f4").astype(dtype)
    z = zarr.create_array({}, shape=6, chunks=4, dtype=name)
    z[...] = values
    again = zarr.open_array(z.store)
    assert json.loads(z.store["zarr.json"])["data_type"] == name
    assert again.dtype == dtype
    assert again[...].tobytes() == values.tobytes()
    assert again[1:5:2].tobytes() == values[1:5:2].tobytes()
    assert zarr.create_array({}, shape=2, dtype=dtype, fill_value=1)[0] == dtype.type(1)


@pytest.mark.parametrize(("name", "size"), [("int2", 2), ("uint2", 2), ("int4", 3), ("uint4", 3)])
def test_small_integers_are_packed(name: str, size: int) -> None:
    values = (np.arange(6) % 2).astype(getattr(ml_dtypes, name))
    z = zarr.create_array({}, data=values, serializer="packbits", compressors=None)
    assert len(z.store["c/0"]) == size
    assert z[...].tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("document", "bits"), [(0.0, 0x00), (2.0**-127, 0x00), (1.0, 0x7F), ("NaN", 0xFF)]
)
def test_a_fill_value_of_zero_is_the_smallest_where_there_is_no_zero(
    document: float | str, bits: int
) -> None:
    """TensorStore writes so of the smallest float8_e8m0fnu; read as NaN, whole chunks were."""
    z = zarr.create_array({}, shape=2, dtype="float8_e8m0fnu")
    stored = json.loads(z.store["zarr.json"])
    z.store["zarr.json"] = json.dumps({**stored, "fill_value": document}).encode()
    assert zarr.open_array(z.store, mode="r")[...].tobytes() == bytes([bits, bits])


@pytest.mark.parametrize("document", [-1.0, 1e-60, 1e40])
def test_a_fill_value_that_would_become_not_a_number_is_refused(document: float) -> None:
    z = zarr.create_array({}, shape=2, dtype="float8_e8m0fnu")
    stored = json.loads(z.store["zarr.json"])
    z.store["zarr.json"] = json.dumps({**stored, "fill_value": document}).encode()
    with pytest.raises(zarr.errors.MetadataError, match=r"key 'fill_value'.*float8_e8m0fnu"):
        zarr.open_array(z.store, mode="r")


@pytest.mark.parametrize("given", [{}, {"fill_value": 0}, {"fill_value": 0.0}])
def test_the_smallest_stands_for_zero_where_a_type_has_none(given: dict[str, float]) -> None:
    z = zarr.create(3, dtype="float8_e8m0fnu", zarr_format=3, **given)
    assert z[...].tobytes() == bytes(3)
    assert zarr.open_array(z.store)[...].tobytes() == bytes(3)
    z = zarr.create_array(shape=3, dtype="float8_e8m0fnu", fill_value=float("nan"))
    assert np.isnan(z[...].astype("f4")).all()
