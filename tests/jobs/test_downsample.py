"""Kernels of pyramids against definitions written element by element, and against scikit-image."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarrix import _engine
from zarrix.jobs._operations.downsample import METHODS, check_dtype, downsampled, shape_below

RANDOM = np.random.default_rng(16)


def _blocks(source, factors):
    for at in np.ndindex(shape_below(source.shape, factors)):
        inside = tuple(slice(i * f, (i + 1) * f) for i, f in zip(at, factors, strict=True))
        yield at, source[inside].ravel().tolist()


EXPECTED = {
    "mean": lambda cells: round(Fraction(sum(cells), len(cells))),
    "mode": lambda cells: min(sorted(set(cells)), key=lambda one: -cells.count(one)),
    "min": min,
    "max": max,
    "nearest": lambda cells: cells[0],
    "median": lambda cells: round(
        Fraction(sorted(cells)[(len(cells) - 1) // 2] + sorted(cells)[len(cells) // 2], 2)
    ),
}


def test_every_method_has_a_definition():
    assert EXPECTED.keys() == METHODS.keys()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">u2"])
@pytest.mark.parametrize("method", METHODS)
def test_integers_are_as_exact_as_fractions(dtype, method):
    info = np.iinfo(dtype)
    for shape, factors in [((7, 5), (2, 2)), ((5, 4, 3), (1, 3, 2)), ((9,), (4,))]:
        few = RANDOM.integers(-3 if info.min else 0, 4, shape).astype(dtype)
        wide = RANDOM.integers(info.min, info.max, shape, dtype=np.dtype(dtype).newbyteorder("="))
        extreme = np.where(few > 0, np.array(info.max, few.dtype), np.array(info.min, few.dtype))
        for source in (few, wide.astype(dtype), extreme.astype(dtype)):
            found = downsampled(source, factors, method)
            assert found.dtype == source.dtype
            for at, cells in _blocks(source, factors):
                assert found[at] == EXPECTED[method](cells), (source, at)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.data())
def test_any_shape_and_factors_have_the_mean_of_the_cells_that_exist(shape, data):
    factors = [data.draw(st.integers(1, 4)) for _ in shape]
    source = np.arange(np.prod(shape), dtype="i2").reshape(shape) * 7 % 31
    found = downsampled(source, factors, "mean")
    assert found.shape == shape_below(shape, factors)
    for at, cells in _blocks(source, factors):
        assert found[at] == EXPECTED["mean"](cells)


def test_a_region_of_blocks_gives_what_the_whole_gives(monkeypatch):
    from zarrix.jobs._operations import downsample as _downsample

    for dtype, method in itertools.product(["f4", "u2", "f2"], METHODS):
        source = (RANDOM.random((40, 21)) * 100).astype(dtype)
        whole = downsampled(source, (2, 3), method)
        monkeypatch.setattr(_downsample, "_AT_ONCE", 200)
        parts = [downsampled(source[i : i + 8], (2, 3), method) for i in range(0, 40, 8)]
        monkeypatch.undo()
        assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4"])
def test_the_engine_rounds_sums_of_any_block_once(dtype):
    """Powers of two and other lengths, large blocks, negative halves, and views of other arrays."""
    info = np.iinfo(dtype)
    base = RANDOM.integers(info.min, info.max, (9, 70, 300), dtype, endpoint=True)
    for source in (base, base[:, ::-2, 3:], base.transpose(1, 0, 2)[::3], base[4:5, :1]):
        for factors in [(1, 2, 2), (2, 2, 2), (3, 1, 1), (1, 1, 1), (9, 64, 300), (2, 3, 4)]:
            found = downsampled(source, factors, "mean")
            places = [tuple(RANDOM.integers(found.shape)) for _ in range(20)]
            for at in [*places, tuple(n - 1 for n in found.shape)]:
                cells = tuple(slice(i * f, (i + 1) * f) for i, f in zip(at, factors, strict=True))
                assert found[at] == EXPECTED["mean"](source[cells].ravel().tolist())


def test_the_engine_refuses_blocks_that_do_not_fit():
    source, out = np.zeros((4, 6), "u2"), np.zeros((2, 3), "u2")
    _engine.block_means(source, out, "u2", (2, 2))
    for wrong, message in [
        ((source, out, "u2", (2, 0)), "at least 1"),
        ((source, out, "u2", (2,)), "for each axis"),
        ((source, out, "u2", (2, 3)), "has shape"),
        ((source, out, "u2", (2, 2**40)), "has shape"),
        ((source, out, "u4", (2, 2)), "elements of 2 bytes"),
        ((source, out, "f4", (2, 2)), "no means of blocks"),
        ((source, out, ">u2", (2, 2)), "no means of blocks"),
        ((np.zeros((6, 4), "u2").T, out, "u2", (2, 2)), "not contiguous"),
    ]:
        with pytest.raises((ValueError, IndexError, BufferError), match=message):
            _engine.block_means(*wrong)
    with pytest.raises(ValueError, match="read-only"):
        _engine.block_means(source, np.broadcast_to(out[:1, :1], (2, 3)), "u2", (2, 2))


def test_floats_are_averaged_in_double_precision():
    source = np.array([1e8, 1, -1e8, 1], "f4").reshape(2, 2)
    assert downsampled(source, (2, 2), "mean")[0, 0] == 0.5
    source[0, 0] = np.nan
    assert np.isnan(downsampled(source, (2, 2), "mean")[0, 0])
    assert downsampled(np.array([True, True, False]), (3,), "mean").tolist() == [True]
    assert downsampled(np.array([1 + 1j, 3 + 3j]), (2,), "mean").tolist() == [2 + 2j]


def test_scikit_image_gives_the_same_means():
    measure = pytest.importorskip("skimage.transform")
    source = RANDOM.random((64, 48, 6))
    theirs = measure.downscale_local_mean(source, (2, 2, 3))
    np.testing.assert_allclose(downsampled(source, (2, 2, 3), "mean"), theirs, rtol=1e-14)


def test_methods_that_elements_do_not_have_are_errors():
    with pytest.raises(ValueError, match="expected one of 'mean', 'mode'"):
        check_dtype(np.dtype("u1"), "average")
    for dtype, method in [("M8[s]", "mean"), ("S3", "mode"), ("c8", "max"), ("O", "median")]:
        with pytest.raises(TypeError, match="use method='nearest'"):
            check_dtype(np.dtype(dtype), method)
        check_dtype(np.dtype(dtype), "nearest")
