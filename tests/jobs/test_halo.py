"""Blocks with a halo against `numpy.pad` of the whole array."""

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from zarrix.jobs._operations.halo import halo_of, read_with_halo, trimmed


@given(st.data())
def test_a_block_is_a_box_of_the_padded_array(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    z = zarr.array(np.arange(np.prod(shape)).reshape(shape), chunks=3)
    halo = tuple((data.draw(st.integers(0, 12)), data.draw(st.integers(0, 12))) for _ in shape)
    boundary = data.draw(st.sampled_from(["reflect", "edge", "wrap", 7]))
    begins = [data.draw(st.integers(0, n - 1)) for n in shape]
    ends = [data.draw(st.integers(b + 1, n)) for b, n in zip(begins, shape, strict=True)]
    region = tuple(map(slice, begins, ends))
    mode = {"mode": boundary} if isinstance(boundary, str) else {"constant_values": boundary}
    whole = np.pad(z[:], halo, **mode)
    inside = tuple(
        slice(b, e + before + after)
        for b, e, (before, after) in zip(begins, ends, halo, strict=True)
    )
    block = read_with_halo(z, region, halo, boundary)
    np.testing.assert_array_equal(block, whole[inside])
    np.testing.assert_array_equal(trimmed(block, region, halo, boundary), z[region])
    clipped = read_with_halo(z, region, halo, "clip")
    np.testing.assert_array_equal(trimmed(clipped, region, halo, "clip"), z[region])


def test_a_halo_is_given_in_several_ways():
    assert halo_of(None, 2, None) == ((0, 0), (0, 0))
    assert halo_of(2, 2, None) == ((2, 2), (2, 2))
    assert halo_of((1, (0, 3)), 2, None) == ((1, 1), (0, 3))
    assert halo_of({"y": 1, -1: 4}, 3, ("z", "y", "x")) == ((0, 0), (1, 1), (4, 4))
    for wrong in (-1, 1.5, (1,), (1, (1, 2, 3)), "yx"):
        with pytest.raises(ValueError, match="not negative"):
            halo_of(wrong, 2, None)
    with pytest.raises(ValueError, match="the axes are 'y', 'x'"):
        halo_of({"z": 1}, 2, ("y", "x"))
    with pytest.raises(ValueError, match="the axes are 0 to 1"):
        halo_of({"z": 1}, 2, None)
