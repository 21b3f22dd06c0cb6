"""`jobs.statistics` against NumPy, with every executor and after interruptions."""

import json
import math

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.jobs import _statistics

RANDOM = np.random.default_rng(23)
QUANTILES = (0, 0.01, 0.25, 0.5, 0.9, 1)


def _values(dtype, size=20_000):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RANDOM.random(size) < 0.3
    if dtype.kind == "f":
        return (RANDOM.standard_normal(size) * 30 + 10).astype(dtype)
    info = np.iinfo(dtype)
    return RANDOM.integers(max(info.min, -5000), min(info.max, 70_000), size).astype(dtype)


def _close(found, expected, tolerance=1e-12):
    assert math.isclose(found, float(expected), rel_tol=tolerance, abs_tol=1e-12), (found, expected)


@pytest.mark.parametrize("dtype", ["?", "u1", "i1", "u2", ">i2", "f2", "i4", "u8", "f4", ">f8"])
def test_all_is_what_numpy_says(dtype, monkeypatch):
    monkeypatch.setattr(_statistics, "_REGION_BYTES", 3000)
    values = _values(dtype).reshape(100, 200)
    z = zarr.array(values, chunks=(7, 30))
    found = jobs.statistics(z, bins=16, quantiles=QUANTILES, exact=True)
    wide = values.astype("f8")
    assert (found.count, found.min, found.max) == (values.size, values.min(), values.max())
    _close(found.mean, wide.mean())
    _close(found.var, wide.var(), 1e-10)
    _close(found.std, wide.std(), 1e-10)
    counted, edges = np.histogram(wide, 16)
    np.testing.assert_array_equal(found.edges, edges)
    np.testing.assert_array_equal(found.histogram, counted)
    for at in QUANTILES:
        _close(found.quantile(at), np.quantile(wide, at))
    assert json.loads(json.dumps(found.to_json()))["count"] == values.size


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_one_pass_finds_quantiles_within_their_bound(dtype):
    values = _values(dtype)
    found = jobs.statistics(zarr.array(values, chunks=999), quantiles=(0.5,), bins=5, range=(0, 9))
    for at in np.linspace(0, 1, 23):
        expected = np.quantile(values.astype("f8"), at)
        assert abs(found.quantile(at) - expected) <= abs(expected) * 2**-8 + 1e-9
    np.testing.assert_array_equal(found.histogram, np.histogram(values, 5, (0, 9))[0])


def test_elements_are_skipped(tmp_path):
    values = np.array([np.nan, 1, 2, 7, 7, np.nan, 3], "f4")
    z = zarr.array(values, chunks=2, fill_value=7)
    found = jobs.statistics(z, quantiles=(0.5,))
    assert (found.count, found.nan_count, found.fill_count) == (5, 2, 2)
    assert (found.mean, found.max) == (4.0, 7)
    assert found.fill_fraction == 2 / 7
    found = jobs.statistics(z, skip="fill")
    assert (found.count, found.mean, found.max) == (3, 2.0, 3)
    found = jobs.statistics(z, skip="none", quantiles=(0.5,), bins=3)
    assert found.count == 7
    assert all(map(math.isnan, (found.mean, found.std, found.min, found.quantile(0.5))))
    assert found.histogram is None
    assert found.to_json()["mean"] is None
    half = jobs.statistics(zarr.array(values.astype("f2"), chunks=2), skip="none")
    assert all(map(math.isnan, (half.mean, half.min, half.quantile(0.5))))


def test_nothing_has_no_statistics():
    for dtype in ("u1", "f8"):
        found = jobs.statistics(zarr.zeros((0, 3), dtype=dtype), bins=4, quantiles=(0.5,))
        assert (found.count, found.min, found.max) == (0, None, None)
        assert all(map(math.isnan, (found.mean, found.std, found.quantile(0.5))))
    scalar = jobs.statistics(zarr.array(np.array(3.5)), bins=2, quantiles=(0.5,), exact=True)
    assert (scalar.count, scalar.mean, scalar.quantile(0.5)) == (1, 3.5, 3.5)
    assert scalar.histogram.tolist() == [0, 1]


def test_bits_are_equal_for_every_executor_and_after_interruptions(tmp_path, monkeypatch):
    monkeypatch.setattr(_statistics, "_REGION_BYTES", 4096)
    z = zarr.array(_values("f8"), chunks=100, store=str(tmp_path / "z"))
    found = {str(jobs.statistics(z, executor=one).to_json()) for one in (None, "threads")}
    job = jobs.statistics(z, run=False)
    assert len(job.tasks(0)) > 20
    journal = tmp_path / "journal"
    for part in (2, 0):
        job.run(part=(part, 3), resume=journal)
    report = job.run(resume=journal)
    assert report.resumed > 10
    found.add(str(report.result.to_json()))
    assert len(found) == 1


def test_processes_count_the_same(tmp_path):
    z = zarr.array(_values("u2"), chunks=5000, store=str(tmp_path / "z"))
    assert jobs.statistics(z, executor="processes").to_json() == jobs.statistics(z).to_json()


def test_mistakes_are_errors():
    z = zarr.array(np.zeros(3))
    for error, message, arguments in [
        (ValueError, "from 0 to 1", {"quantiles": (2,)}),
        (ValueError, "expected one of 'nan'", {"skip": "zero"}),
        (ValueError, "at least 1", {"bins": 0}),
        (ValueError, "with bins=", {"range": (0, 1)}),
        (ValueError, "with bins=", {"range": (1, 1), "bins": 3}),
        (ValueError, "several passes", {"exact": True, "run": False}),
        (TypeError, "real numbers", {"source": zarr.array(np.zeros(3, "c16"))}),
        (TypeError, "real numbers", {"source": zarr.array(["a"], dtype=str)}),
        (TypeError, "is a group", {"source": zarr.group()}),
    ]:
        with pytest.raises(error, match=message):
            jobs.statistics(arguments.pop("source", z), **arguments)
    found = jobs.statistics(z, exact=True, quantiles=(0.5,))
    with pytest.raises(ValueError, match="exact=True finds no other"):
        found.quantile(0.25)


def test_the_mean_is_that_of_the_exact_sum(monkeypatch):
    """Values of all sizes and signs, whose sum loses digits when it is added up plainly."""
    monkeypatch.setattr(_statistics, "_REGION_BYTES", 4000)
    values = RANDOM.standard_normal(40_000) * 10.0 ** RANDOM.integers(-3, 7, 40_000)
    z = zarr.array(values.reshape(200, 200), chunks=(9, 40))
    found = jobs.statistics(z)
    exact = math.fsum(values) / values.size
    square = math.fsum((value - exact) ** 2 for value in values) / values.size
    # Relative to the size of the values: their mean is small beside them.
    assert abs(found.mean - exact) <= 1e-13 * math.fsum(map(abs, values)) / values.size
    _close(found.var, square, 1e-12)
