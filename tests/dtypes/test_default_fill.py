"""The values of elements that were never written, without a fill value in the call."""

import json
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr


@pytest.mark.parametrize("words", [{}, {"fill_value": 0}])
@pytest.mark.parametrize(("dtype", "empty"), [(str, ""), ("T", ""), (bytes, b""), (object, 0)])
def test_elements_of_v2_that_were_never_written_are_empty(dtype, empty, words) -> None:
    codec = {"object_codec": numcodecs.JSON()} if dtype is object else {}
    for make in (zarr.create, zarr.open_array):
        store: dict[str, bytes] = {}
        z = make(store=store, shape=3, chunks=2, dtype=dtype, zarr_format=2, **codec, **words)
        again = zarr.open_array(store, mode="r")
        for one in (z, again):
            assert type(one.fill_value) is type(empty)
            assert one[:].tolist() == [empty] * 3


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ms]", ">M8[D]"])
def test_times_that_were_never_written_are_not_a_time(dtype, zarr_format) -> None:
    words = {"shape": 3, "dtype": dtype, "zarr_format": zarr_format}
    made = [
        zarr.create(**words),
        zarr.create_array(**words),
        zarr.open_array({}, mode="w", **words),
        zarr.group(zarr_format=zarr_format).create_dataset("a", **words),
    ]
    for z in made:
        assert np.isnat(z.fill_value)
        assert np.isnat(z[:]).all()
    assert zarr.zeros(3, dtype=dtype, zarr_format=zarr_format)[:].astype("i8").tolist() == [0] * 3


@pytest.mark.parametrize(("codec", "empty"), [("vlen-utf8", ""), ("vlen-bytes", b"")])
def test_elements_of_v2_without_a_fill_value_are_empty(codec: str, empty: Any) -> None:
    """As zarr 2.18 and zarr-python 3 read them; zarr-python 3 and xarray write such documents."""
    document = {
        "zarr_format": 2,
        "shape": [6],
        "chunks": [2],
        "dtype": "|O",
        "order": "C",
        "compressor": None,
        "filters": [{"id": codec}],
        "fill_value": None,
    }
    store = {".zarray": json.dumps(document).encode()}
    z = zarr.open_array(store, mode="r+")
    assert z[:].tolist() == [empty] * 6
    z[1] = type(empty)(b"x", "ascii") if codec == "vlen-utf8" else b"x"
    z[4:] = empty
    assert zarr.open_array(store)[:].tolist() == [empty, z[1], *[empty] * 4]
    assert z[[5, 0]].tolist() == [empty, empty]
    z.resize(8)
    assert z[7] == empty
    assert json.loads(store[".zarray"])["fill_value"] is None


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_a_fill_value_of_minus_zero_keeps_its_sign(dtype: str, zarr_format: int) -> None:
    store: dict[str, bytes] = {}
    made = zarr.create(store=store, shape=3, dtype=dtype, fill_value=-0.0, zarr_format=zarr_format)
    expected = np.full(3, -0.0, dtype).tobytes()
    for one in (made, zarr.open_array(store, mode="r")):
        assert one[:].tobytes() == expected
