"""Rounding keeps its bound for all bit patterns, and changes nothing that is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from zarrix._dtypes.rounding import check_max_error, rounded

BOUNDS = (1e-3, 0.3, 7.0, 1e-300, 1e300, 5e-324)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("code", ["f2", "f4", "f8", ">f4", ">f8", "c8", ">c16"])
@pytest.mark.parametrize("bound", BOUNDS)
def test_every_bit_pattern_stays_within_the_bound(code: str, bound: float) -> None:
    given = np.frombuffer(np.random.default_rng(0).bytes(80_000), code).copy()
    before = given.tobytes()
    made, largest = rounded(given, bound)
    assert given.tobytes() == before
    assert (made.dtype, made.shape) == (given.dtype, given.shape)
    part = given.real.dtype
    old, new = (np.ascontiguousarray(one).view(part) for one in (given, made))
    finite = np.isfinite(old)
    word = f"{part.byteorder}u{part.itemsize}"
    assert np.array_equal(old.view(word)[~finite], new.view(word)[~finite])
    errors = np.abs(old[finite].astype("f8") - new[finite].astype("f8"))
    assert errors.max() == largest <= bound
    # What is rounded stays.
    assert rounded(made, bound)[0].tobytes() == made.tobytes()


def test_missing_values_and_other_dtypes_are_kept() -> None:
    values = np.array([-999.9, 3.14159, 9.96921e36, 1e20], "f4")
    made, _ = rounded(values, 0.5, [float(np.float32(-999.9))])
    assert made.tolist() == [np.float32(-999.9), 3.0, np.float32(9.96921e36), np.float32(1e20)]
    whole = np.arange(5)
    assert rounded(whole, 0.5)[0] is whole
    assert rounded(np.empty((0, 3)), 0.5)[0].shape == (0, 3)


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf"), "0.1", True])
def test_a_bound_is_a_number_above_0(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"max_error=.* is not a number above 0"):
        check_max_error(wrong)
