"""Statistics of arrays with infinities and NaN, wherever they are, against NumPy."""

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.jobs._operations import along as _along
from zarrix.jobs._operations import statistics as _statistics
from zarrix.jobs._operations import task_size as _task_size

COUNT = 12


@pytest.fixture(autouse=True)
def small_regions(monkeypatch):
    """Regions of a few elements, so that small arrays have many that are merged."""
    monkeypatch.setattr(_task_size, "_LEAST", 64)
    monkeypatch.setattr(_statistics, "_REGION_BYTES", 64)
    monkeypatch.setattr(_along, "_BLOCK_BYTES", 64)


def _values(random, shape, dtype):
    values = random.normal(size=shape).astype(dtype)
    for special in (np.inf, -np.inf, np.nan):
        if random.random() < 0.5:
            values[random.random(shape) < random.choice([0.02, 0.3])] = special
    return values


def _same(found, expected, values, skip):
    """Equal, and for finite numbers close: the order of additions is another."""
    np.testing.assert_allclose(found, expected, rtol=1e-3, err_msg=f"{skip} {values!r}")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
@pytest.mark.parametrize("skip", ["nan", "none"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_moments_are_those_of_numpy_wherever_infinities_are(dtype, skip):
    random = np.random.default_rng(3)
    for _ in range(COUNT):
        values = _values(random, int(random.integers(1, 200)), dtype)
        counted = values[~np.isnan(values)] if skip == "nan" else values
        found = jobs.statistics(zarr.array(values, chunks=int(random.integers(1, 50))), skip=skip)
        assert found.count == counted.size
        if counted.size:
            wide = counted.astype("f8")
            _same(found.mean, wide.mean(), values, skip)
            _same(found.var, wide.var(), values, skip)
            _same(found.std, wide.std(), values, skip)
            _same([found.min, found.max], [counted.min(), counted.max()], values, skip)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("skip", ["nan", "none"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_moments_along_axes_are_those_of_numpy_wherever_infinities_are(dtype, skip):
    random = np.random.default_rng(4)
    for _ in range(COUNT):
        values = _values(random, tuple(random.integers(1, 25, 2)), dtype)
        axis = int(random.integers(0, 2))
        chunks = tuple(int(n) for n in random.integers(1, 9, 2))
        found = jobs.statistics(zarr.array(values, chunks=chunks), axis=axis, skip=skip)
        lines = np.moveaxis(values, axis, -1)
        for at, line in enumerate(lines):
            counted = line[~np.isnan(line)] if skip == "nan" else line
            assert found["count"][at] == counted.size
            if counted.size:
                wide = counted.astype("f8")
                _same(found["mean"][at], wide.mean(), line, skip)
                _same(found["std"][at], wide.std(), line, skip)
                _same(found["min"][at], counted.min(), line, skip)
                _same(found["max"][at], counted.max(), line, skip)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_histograms_and_exact_quantiles_are_those_of_numpy(dtype):
    random = np.random.default_rng(5)
    at = (0.0, 0.1, 0.5, 0.9, 1.0)
    for _ in range(COUNT // 3):
        values = _values(random, int(random.integers(2, 200)), dtype)
        counted = values[~np.isnan(values)]
        if not counted.size:
            continue
        z = zarr.array(values, chunks=17)
        found = jobs.statistics(z, quantiles=at, exact=True, bins=7, range=(-1.5, 1.0))
        expected, edges = np.histogram(counted.astype("f8"), 7, (-1.5, 1.0))
        np.testing.assert_array_equal(found.histogram, expected)
        np.testing.assert_array_equal(found.edges, edges)
        ordered = np.sort(counted.astype("f8"))
        for one in at:
            rank = one * (len(ordered) - 1)
            low, high = ordered[int(np.floor(rank))], ordered[int(np.ceil(rank))]
            # Between two infinities, or at one of them, NumPy has NaN where both are equal.
            part = rank - np.floor(rank)
            expected = low if low == high or not part else low + (high - low) * part
            np.testing.assert_allclose(found.quantile(one), expected, rtol=1e-6)
        if not np.isfinite(ordered).all():
            assert jobs.statistics(z, bins=3).histogram is None, "it has no range"


@pytest.mark.parametrize("value", [2**63 - 1, 2**60])
def test_a_histogram_of_large_equal_numbers_has_no_bins(value):
    found = jobs.statistics(zarr.array(np.full(9, value)), bins=5, quantiles=(0.5,), exact=True)
    assert found.histogram is None
    assert (found.count, found.min, found.quantile(0.5)) == (9, value, float(value))
