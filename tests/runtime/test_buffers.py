"""The buffers that codecs of users get."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._runtime.buffers import NDBuffer


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8"])
def test_elements_that_are_minus_zero_are_not_equal_to_zero(dtype: str) -> None:
    for value in (0.0, -0.0):
        buffer = NDBuffer.from_numpy_array(np.full((3, 4), value, dtype))
        assert buffer.all_equal(np.asarray(value, dtype)[()])
        assert not buffer.all_equal(np.asarray(-value, dtype)[()])
    assert NDBuffer.from_numpy_array(np.full(3, -0.0, dtype)).all_equal(0)


@pytest.mark.parametrize(
    ("values", "other", "expected"),
    [
        ([1, 1], 1, True),
        ([1, 2], 1, False),
        ([0, 0], 0.0, True),
        ([np.nan, np.nan], np.nan, True),
        ([np.nan, 0.0], np.nan, False),
        (["", ""], "", True),
        ([True, False], False, False),
        ([1, 1], None, False),
    ],
)
def test_elements_are_compared_with_one_value(values: Any, other: Any, expected: bool) -> None:
    assert NDBuffer.from_numpy_array(np.array(values)).all_equal(other) is expected


def test_a_selection_is_read_into_a_buffer() -> None:
    z = zarr.array(np.arange(6, dtype="i4").reshape(2, 3))
    buffer = NDBuffer.from_numpy_array(np.zeros((2, 2), "i4"))
    z.get_basic_selection((slice(None), slice(1, 3)), out=buffer)
    assert buffer.as_numpy_array().tolist() == [[1, 2], [4, 5]]
    with pytest.raises(ValueError, match="out has shape"):
        z.get_basic_selection(0, out=buffer)
