"""What a selection without axes is under the alias: an array or a scalar, as in zarr-python 3."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._as_zarr.dialect import enter, leave


@pytest.fixture
def dialect() -> Iterator[None]:
    enter()
    try:
        yield
    finally:
        leave()


# As zarr-python 3.4.2 answers, in v2 and v3.
ARRAYS = ["z[1]", "z[(1,)]", "z.oindex[1]", "m[0, 1]", "m.oindex[0, 1]", "next(iter(z))"]
SCALARS = [
    *("z[np.int64(1)]", "z[1, ...]", "z[..., 1]", "z.get_basic_selection(1)"),
    *("z.get_basic_selection((1,))", "e[()]", "e[...]", "e.get_basic_selection(())"),
    *("asyncio.run(z.async_array.getitem(1))", "asyncio.run(e.async_array.getitem(...))"),
]


@pytest.mark.usefixtures("dialect")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["i4", "U5", "M8[s]", "i4,f8"])
def test_an_element_is_what_it_is_in_zarr_python_3(zarr_format: Any, dtype: str) -> None:
    options: dict[str, Any] = {"dtype": dtype, "zarr_format": zarr_format}
    names: dict[str, Any] = {"np": np, "asyncio": asyncio}
    names["z"] = zarr.create_array({}, shape=4, chunks=2, **options)
    names["m"] = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), **options)
    names["e"] = zarr.create_array({}, shape=(), **options)
    for key in ARRAYS:
        found = eval(key, names)
        assert (type(found), found.shape) == (np.ndarray, ()), key
        assert found.dtype == np.dtype(dtype), key
    for key in SCALARS:
        assert isinstance(eval(key, names), np.generic), key


def test_an_element_is_a_scalar_without_the_alias() -> None:
    names: dict[str, Any] = {"np": np, "asyncio": asyncio}
    names["z"] = names["e"] = zarr.array([1, 2, 3, 4])
    names["m"] = zarr.zeros((4, 4))
    for key in [*ARRAYS, *SCALARS[:3]]:
        assert isinstance(eval(key, names), np.generic), key
    assert type(zarr.zeros(())[...]) is np.ndarray


@pytest.mark.usefixtures("dialect")
def test_elements_keep_their_values() -> None:
    z = zarr.array([1.5, 2.5, 3.5], chunks=2)
    assert [float(one) for one in z] == [1.5, 2.5, 3.5]
    assert z[2] == 3.5
    out = np.zeros((), "f8")
    assert z.get_basic_selection(1, out=out) == 2.5
    assert out == 2.5
    records = zarr.array(np.array([(1, 2.0), (3, 4.0)], "i4,f8"))
    assert records.get_basic_selection(1, fields="f1") == 4.0
    assert records[1]["f0"] == 3


def is_new_numpy() -> bool:
    return hasattr(np.dtypes, "StringDType")


@pytest.mark.skipif(not is_new_numpy(), reason="NumPy older than 2 has no strings")
@pytest.mark.usefixtures("dialect")
def test_text_of_two_is_of_numpy_strings(tmp_path: Path) -> None:
    z = zarr.create_array(tmp_path / "z", shape=4, chunks=2, dtype=str, zarr_format=2)
    z[:2] = np.array(["a", "bcé"])
    z[2:3] = np.array(["o"], object)
    assert z.dtype == z[:].dtype == np.dtypes.StringDType()
    assert z[:].tolist() == z.oindex[[0, 1, 2, 3]].tolist() == ["a", "bcé", "o", ""]
    assert b'"|O"' in (tmp_path / "z" / ".zarray").read_bytes()
    copy = zarr.create_array({}, data=z[:], zarr_format=3)
    same = zarr.create_array({}, shape=4, dtype=z.dtype, zarr_format=3)
    assert copy[:].tolist() == z[:].tolist()
    assert copy.dtype == same.dtype == z.dtype
    filled = zarr.create_array({}, shape=2, dtype=str, zarr_format=2, fill_value="N")
    assert filled[:].tolist() == ["N", "N"]


def test_text_of_two_is_of_objects_without_the_alias(tmp_path: Path) -> None:
    enter()
    try:
        zarr.create_array(tmp_path, shape=2, dtype=str, zarr_format=2)[:] = "a"
        assert zarr.open_array(tmp_path).dtype.kind == ("T" if is_new_numpy() else "O")
    finally:
        leave()
    z = zarr.open_array(tmp_path)
    assert z.dtype == z[:].dtype == object
    assert z[:].tolist() == ["a", "a"]
