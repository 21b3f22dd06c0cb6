"""States of statistics merge to what NumPy says of all elements."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from zarrix.jobs import _moments
from zarrix.jobs._bit_counts import (
    add_packed,
    bits_of,
    bucket_of,
    counts_after,
    image_of,
    is_counted_exactly,
    leading_counts,
    packed,
    value_of,
    values_of_buckets,
)
from zarrix.jobs._moments import Moments

RANDOM = np.random.default_rng(11)
TYPES = ["?", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", ">f4", ">i2"]


@given(st.sampled_from(TYPES), st.data())
def test_images_have_the_order_of_the_values(dtype, data):
    dtype = np.dtype(dtype)
    more = {"allow_nan": False} if dtype.kind == "f" else {}
    values = data.draw(nps.arrays(dtype, 20, elements=nps.from_dtype(dtype, **more)))
    image = image_of(values)
    if dtype.kind != "b":
        for value, one in zip(values, image, strict=True):
            assert value_of(one, dtype) == value
    for i in range(len(values)):
        np.testing.assert_array_equal(
            (image < image[i]) & (values != values[i]), values < values[i]
        )


@pytest.mark.parametrize("dtype", TYPES)
def test_buckets_have_the_values_that_are_counted_in_them(dtype):
    dtype = np.dtype(dtype)
    scale = 1 if dtype.kind == "b" else 100
    values = (RANDOM.standard_normal(1000) * scale).astype("i1" if scale == 100 else bool)
    values = values.astype(dtype) if dtype.kind != "f" else (values / 7).astype(dtype)
    if dtype.kind == "u":
        values = np.abs(values.astype("i8") % 100).astype(dtype)
    counts = leading_counts(values)
    assert counts.sum() == 1000
    of_bucket = values_of_buckets(dtype)
    ordered = np.sort(values).astype("f8")
    for rank in range(0, 1000, 37):
        found = of_bucket[bucket_of(counts, rank)[0]]
        if is_counted_exactly(dtype):
            assert found == ordered[rank]
        else:
            assert abs(found - ordered[rank]) <= abs(ordered[rank]) * 2**-8
    total = counts.copy()
    add_packed(total, packed(counts))
    assert (total == 2 * counts).all()


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4", "u8", "i8", "f8"])
def test_further_passes_find_the_element_itself(dtype):
    dtype = np.dtype(dtype)
    values = (RANDOM.standard_normal(3000) * 1e5).astype(dtype)
    for rank in (0, 1, 1499, 2999):
        prefix, within = bucket_of(leading_counts(values, exact=True), rank)
        for bits in range(16, bits_of(dtype), 16):
            (counts,) = counts_after(values, [prefix], bits)
            bucket, within = bucket_of(counts, within)
            prefix = prefix << 16 | bucket
        assert value_of(prefix, dtype) == np.sort(values)[rank]


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_moments_are_those_of_all_elements(dtype, monkeypatch):
    monkeypatch.setattr(_moments, "_PART", 1000)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = (RANDOM.random(25_000) * 50 + 1000).astype(dtype)
        exact = math.fsum(values.astype("f8").tolist())
    else:
        info = np.iinfo(dtype)
        values = RANDOM.integers(info.min, info.max, 25_000, dtype=dtype, endpoint=True)
        values[:2] = info.min, info.max
        exact = sum(values.tolist())
    found = Moments()
    for part in np.array_split(values, 7):
        found.merge(Moments.from_json(Moments.of(part).to_json()))
    assert found.count == 25_000
    assert (found.least, found.largest) == (values.min(), values.max())
    near = 0 if kind.kind == "f" else 2.0 ** (8 * kind.itemsize - 50)
    assert math.isclose(found.mean, exact / 25_000, rel_tol=1e-13, abs_tol=near)
    variance = np.var(values.astype("f8"))
    assert math.isclose(found.squares / 25_000, variance, rel_tol=1e-10)
    if kind.kind != "f":
        assert found.total == exact


def test_infinities_and_nan_are_not_hidden():
    assert Moments.of(np.array([1.0, np.inf])).largest == np.inf
    for order in range(3):
        parts = [np.array([1.0]), np.array([np.nan, 2.0]), np.array([3.0])]
        random.Random(order).shuffle(parts)
        found = Moments()
        for part in parts:
            found.merge(Moments.of(part))
        assert math.isnan(found.mean)
        assert math.isnan(found.squares)
    assert Moments.of(np.array([])).to_json()[0] == 0
