"""`jobs.statistics` against NumPy, with every executor and after interruptions."""

import json
import math
import random
from concurrent import futures

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.jobs._operations import along as _along
from zarrix.jobs._operations import statistics as _statistics

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


@pytest.mark.parametrize("dtype", ["?", "u1", ">i2", "i8", "f2", "f4", ">f8"])
@pytest.mark.parametrize("axis", [0, -1, (0, 2), (2, 1, 0), "t"])
def test_statistics_along_axes_are_those_of_numpy(dtype, axis, monkeypatch):
    monkeypatch.setattr(_along, "_BLOCK_BYTES", 2000)
    monkeypatch.setattr(_along, "_CHUNK", 40)
    values = _values(dtype, 37 * 20 * 11).reshape(37, 20, 11)
    z = zarr.create_array(
        zarr.MemoryStore(),
        data=values,
        chunks=(5, 7, 11),
        dimension_names=("t", "y", "x"),
    )
    found = jobs.statistics(z, axis=axis)
    along = 0 if axis == "t" else axis
    wide = values.astype("f8")
    np.testing.assert_array_equal(found["min"][...], values.min(along))
    np.testing.assert_array_equal(found["max"][...], values.max(along))
    np.testing.assert_allclose(found["mean"][...], wide.mean(along), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["std"][...], wide.std(along), rtol=1e-10, atol=1e-12)
    assert (found["count"][...] == values.size // found["mean"].size).all()
    assert found["min"].dtype == values.dtype.newbyteorder("=")
    names = [one for one, n in zip("tyx", (0, 1, 2), strict=True) if n not in _numbers(along)]
    assert list(found["mean"].metadata.dimension_names or ()) == names


def _numbers(axis):
    return {one % 3 for one in (axis if isinstance(axis, tuple) else (axis,))}


def test_statistics_along_axes_skip_elements():
    nan = np.nan
    values = np.array([[1, nan, nan], [3, nan, 7], [7, nan, 8.0]])
    z = zarr.array(values, chunks=(2, 2), fill_value=7)
    found = jobs.statistics(z, axis=0)
    np.testing.assert_array_equal(found["count"][:], [3, 0, 2])
    np.testing.assert_array_equal(found["nan_count"][:], [0, 3, 1])
    np.testing.assert_array_equal(found["mean"][:], [11 / 3, nan, 7.5])
    np.testing.assert_array_equal(found["max"][:], [7, nan, 8])
    found = jobs.statistics(z, axis=0, skip="fill")
    np.testing.assert_array_equal(found["count"][:], [2, 0, 1])
    np.testing.assert_array_equal(found["min"][:], [1, nan, 8])
    found = jobs.statistics(z, axis=0, skip="none")
    np.testing.assert_array_equal(found["max"][:], [7, nan, nan])
    empty = jobs.statistics(zarr.zeros((0, 2), dtype="i4"), axis=0)
    assert (empty["count"][:].tolist(), empty["max"][:].tolist()) == ([0, 0], [0, 0])


def test_statistics_along_axes_have_equal_bytes_everywhere(tmp_path, monkeypatch):
    monkeypatch.setattr(_along, "_CHUNK", 64)
    z = zarr.array(_values("f4").reshape(50, 400), chunks=(7, 30), store=str(tmp_path / "z"))
    job = jobs.statistics(z, axis=0, dest=tmp_path / "a", run=False)
    assert job.stages[0].count > 5
    job.run(part=(1, 3))
    job.run("threads")
    jobs.statistics(z, axis=0, dest=tmp_path / "b", skip="nan")
    assert zarr.digests(tmp_path / "a") == zarr.digests(tmp_path / "b")
    with pytest.raises(zarr.errors.ContainsGroupError):
        jobs.statistics(z, axis=1, dest=tmp_path / "a")
    again = jobs.statistics(z, axis=1, dest=tmp_path / "a", overwrite=True)
    assert again.attrs["statistics"] == {"axes": [1], "skip": "nan"}
    for error, message, options in [
        (ValueError, "of all elements", {"quantiles": (0.5,)}),
        (ValueError, "the axes of", {"axis": 2}),
        (ValueError, "the axes of", {"axis": "y"}),
        (ValueError, "name each axis once", {"axis": (0, -2)}),
        (ValueError, "name each axis once", {"axis": ()}),
        (ValueError, "pass axis=, too", {"axis": None, "dest": tmp_path / "c"}),
    ]:
        with pytest.raises(error, match=message):
            jobs.statistics(z, **{"axis": 0, **options})


def _shuffled(function, tasks):
    """An executor that does tasks in another order, on threads."""
    tasks = list(tasks)
    random.Random(5).shuffle(tasks)
    with futures.ThreadPoolExecutor(3) as pool:
        yield from (
            one.result()
            for one in futures.as_completed(map(pool.submit, [function] * len(tasks), tasks))
        )


@pytest.mark.long
def test_a_hundred_million_elements_have_the_same_bits_in_any_order(tmp_path):
    shape, rows = (10_000, 10_000), 250
    z = zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=(500, 1000), dtype="f4")
    drawn, sums, squares, bins = np.random.default_rng(8), [], [], 0
    for begin in range(0, shape[0], rows):
        values = drawn.standard_normal((rows, shape[1]), dtype="f4") * 10 + begin / 1000
        values[:, 17] = np.nan
        z[begin : begin + rows] = values
        kept = values[~np.isnan(values)].astype("f8")
        sums.append(math.fsum(kept))
        squares.append(math.fsum(kept * kept))
        bins = bins + np.histogram(kept.astype("f4"), 64, (-50, 60))[0]
    options = {"bins": 64, "range": (-50, 60), "quantiles": (0.01, 0.5)}
    found = jobs.statistics(z, **options)
    for executor in ("threads", _shuffled):
        assert jobs.statistics(z, **options, executor=executor).to_json() == found.to_json()
    assert (found.count, found.nan_count) == (99_990_000, 10_000)
    mean = math.fsum(sums) / found.count
    _close(found.mean, mean)
    _close(found.var, math.fsum(squares) / found.count - mean * mean, 1e-10)
    np.testing.assert_array_equal(found.histogram, bins)
    every = np.sort(z[:].reshape(-1))
    for at in (0.01, 0.5):
        expected = every[int(at * (found.count - 1))]
        assert abs(found.quantile(at) - expected) <= abs(expected) * 2**-8 + 1e-6
