"""States of statistics merge to what NumPy says of all elements."""

import math
import random

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from zarrix import _engine
from zarrix.jobs._operations.bit_counts import (
    add_packed,
    bits_of,
    bucket_of,
    counts_after,
    image_of,
    is_counted_exactly,
    packed,
    value_of,
    values_of_buckets,
)
from zarrix.jobs._operations.block_summary import summary_of
from zarrix.jobs._operations.moments import Moments

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
    counts = summary_of(values).leading
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
        prefix, within = bucket_of(summary_of(values, exact=True).leading, rank)
        for bits in range(16, bits_of(dtype), 16):
            (counts,) = counts_after(values, [prefix], bits)
            bucket, within = bucket_of(counts, within)
            prefix = prefix << 16 | bucket
        assert value_of(prefix, dtype) == np.sort(values)[rank]


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f4", "f8"])
def test_moments_are_those_of_all_elements(dtype):
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = (RANDOM.random(60_000) * 50 + 1000).astype(dtype)
        exact = math.fsum(values.astype("f8").tolist())
    else:
        info = np.iinfo(dtype)
        values = RANDOM.integers(info.min, info.max, 60_000, dtype=dtype, endpoint=True)
        values[:2] = info.min, info.max
        exact = sum(values.tolist())
    found = Moments()
    for part in np.array_split(values, 7):
        found.merge(Moments.from_json(summary_of(part).moments.to_json()))
    assert found.count == 60_000
    assert (found.least, found.largest) == (values.min(), values.max())
    near = 0 if kind.kind == "f" else 2.0 ** (8 * kind.itemsize - 50)
    assert math.isclose(found.mean, exact / 60_000, rel_tol=1e-13, abs_tol=near)
    variance = np.var(values.astype("f8"))
    assert math.isclose(found.squares / 60_000, variance, rel_tol=1e-10)
    if kind.kind != "f":
        assert found.total == exact


def test_infinities_and_nan_are_not_hidden():
    assert summary_of(np.array([1.0, np.inf])).moments.largest == np.inf
    for order in range(3):
        parts = [np.array([1.0]), np.array([np.nan, 2.0]), np.array([3.0])]
        random.Random(order).shuffle(parts)
        found = Moments()
        for part in parts:
            found.merge(summary_of(part).moments)
        assert math.isnan(found.mean)
        assert math.isnan(found.squares)
    assert summary_of(np.array([])).moments.to_json()[0] == 0


@pytest.mark.parametrize("dtype", ["u4", "i4", "f4", "u8", "i8", "f8"])
@pytest.mark.parametrize(("bins", "ends"), [(1, (0, 1)), (7, (-3, 90)), (300, (10.1, 30.7))])
def test_bins_are_those_of_numpy(dtype, bins, ends):
    values = (RANDOM.standard_normal(9000) * 30).astype("f4")
    values[:40] = np.linspace(*ends, 40)
    values[40:44] = *ends, np.nan, np.inf
    if dtype[0] != "f":
        values = np.nan_to_num(values, posinf=0)
    values = (np.abs(values) if dtype[0] == "u" else values).astype(dtype)
    wanted, edges = np.histogram(values, bins, ends)
    found = summary_of(values, edges=edges.tolist(), leading=False)
    np.testing.assert_array_equal(found.bins, wanted)
    # Numbers that are edges, and those beside them.
    values = edges.astype(dtype)
    if dtype[0] == "f":
        values = np.concatenate([values, np.nextafter(values, values.dtype.type(-np.inf))])
    found = summary_of(values, edges=edges.tolist(), leading=False)
    np.testing.assert_array_equal(found.bins, np.histogram(values, bins, ends)[0])


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "f4", "f8", "i8"])
def test_elements_are_left_out(dtype):
    kind = np.dtype(dtype)
    values = (RANDOM.random(10_000) * 5).astype(dtype)
    if kind.kind == "f":
        values[::7] = np.nan
        values[::11] = 3
    fill = values.dtype.type(3)
    is_fill, is_nan = values == fill, values != values
    for skip, kept in [
        ("none", ~is_fill | is_fill),
        ("nan", ~is_nan),
        ("fill", ~is_nan & ~is_fill),
    ]:
        found = summary_of(values, fill=fill, skip=skip)
        assert (found.fills, found.nans) == (is_fill.sum(), is_nan.sum())
        assert found.leading.sum() == kept.sum()
        np.testing.assert_array_equal(found.leading, summary_of(values[kept]).leading)
        if kind.itemsize > 2:
            assert found.moments.count == kept.sum()
            np.testing.assert_allclose(found.moments.mean, values[kept].astype("f8").mean())


def test_a_summary_of_a_block_has_the_same_bits_on_any_number_of_threads():
    # More than one task, the last of which is shorter than a buffer.
    values = RANDOM.random((2 << 20) + 1001, dtype="f4")
    found = []
    for threads in (1, 4):
        with zarr.config.set(threads=threads):
            one = summary_of(values, edges=[0, 0.5, 1])
        found.append([one.moments.to_json(), one.leading.tolist(), one.bins.tolist()])
    assert found[0] == found[1]
    assert found[0][0][0] == values.size


@pytest.mark.parametrize(
    ("values", "dtype", "fill"),
    [
        (np.zeros(4, "f4")[::2], "<f4", None),
        (np.zeros((2, 2), "f4"), "<f4", None),
        (np.zeros(4, "f4"), ">f4", None),
        (np.zeros(4, "f4"), "<f8", None),
        (np.zeros(4, "f2"), "<f2", None),
        (np.zeros(4, "f4"), "<f4", b"12"),
        (np.zeros(4, "f4"), "what", None),
    ],
)
def test_blocks_that_the_engine_cannot_summarize_are_errors(values, dtype, fill):
    with pytest.raises((ValueError, BufferError, IndexError)):
        _engine.summarize(
            values, dtype, fill=fill, skip="nan", moments=True, leading="own", edges=[]
        )
