"""Virtual arrays of mixed formats beside NumPy: every selection is equal, or both are errors."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from zarrix import virtual

h5py = pytest.importorskip("h5py")
tifffile = pytest.importorskip("tifffile")

_numbers = itertools.count()
_FORMATS = ("v2", "v3", "shards", "npy", "h5", "tif", "memory")


@pytest.fixture
def examples(pytestconfig: pytest.Config) -> int:
    return 400 if pytestconfig.getoption("--long") else 20


def stored(folder: Path, values: Any, format: str, chunks: tuple[int, ...]) -> Any:
    """``values`` in one of the formats, as what `zarrix.virtual` takes."""
    path = str(folder / str(next(_numbers)))
    if format == "h5" and values.ndim:
        with h5py.File(f"{path}.h5", "w") as file:
            file.create_dataset("inside/u", data=values, chunks=chunks, compression="gzip")
        return f"{path}.h5/inside/u"
    if format == "tif" and values.ndim == 2 and min(values.shape) > 1:
        tifffile.imwrite(f"{path}.tif", values.astype(values.dtype.newbyteorder("=")))
        return f"{path}.tif"
    if format == "npy":
        np.save(f"{path}.npy", values)
        return f"{path}.npy"
    if format == "memory":
        return zarr.array(values, chunks=chunks)
    if format == "shards":
        shards = tuple(2 * n for n in chunks)
        zarr.create_array(path, data=values, chunks=chunks, shards=shards, zarr_format=3)
    else:
        zarr.create_array(path, data=values, chunks=chunks, zarr_format=2 if format == "v2" else 3)
    return path


@st.composite
def keys(draw: Any, shape: tuple[int, ...]) -> Any:
    """A NumPy key: indices, slices with steps, and at most one array."""
    items: list[Any] = []
    has_array = False
    for size in shape:
        kind = draw(st.sampled_from(("slice", "slice", "int", "array", "all")))
        if kind == "int" and size:
            items.append(draw(st.integers(-size, size - 1)))
        elif kind == "array" and size and not has_array:
            has_array = True
            items.append(draw(st.lists(st.integers(-size, size - 1), min_size=1, max_size=6)))
        elif kind == "slice":
            ends = st.none() | st.integers(-size - 1, size + 1)
            step = draw(st.sampled_from((None, 1, 2, 3, -1, -2, 7)))
            items.append(slice(draw(ends), draw(ends), step))
        else:
            items.append(slice(None))
    return tuple(items[: draw(st.integers(0, len(items)))]) or (...,)


def check(z: Any, whole: Any, data: Any) -> None:
    """A few selections of a virtual array, in each way to read."""
    assert z.shape == whole.shape
    assert z.dtype == whole.dtype
    key = data.draw(keys(whole.shape))
    # An array beside indices is one of points in NumPy, and stays in its place here.
    with_list = [n for n, one in enumerate(key) if isinstance(one, list)]
    expected = whole
    if with_list:
        (axis,) = with_list
        expected = np.take(whole, key[axis], axis)
        rest = [slice(None) if n == axis else one for n, one in enumerate(key)]
        expected = expected[tuple(rest)]
    else:
        expected = whole[key]
    np.testing.assert_array_equal(z.oindex[key] if key != (...,) else z[...], expected)
    if whole.size:
        count = data.draw(st.integers(1, 5))
        points = [
            data.draw(st.lists(st.integers(0, n - 1), min_size=count, max_size=count))
            for n in whole.shape
        ]
        if whole.ndim:
            np.testing.assert_array_equal(z.vindex[tuple(points)], whole[tuple(points)])
            np.testing.assert_array_equal(z.vindex[points[0]], whole[points[0]])
            size = [data.draw(st.integers(0, n)) for n in whole.shape]
            corner = [
                data.draw(st.integers(0, n - k)) for n, k in zip(whole.shape, size, strict=True)
            ]
            inside = tuple(slice(a, a + n) for a, n in zip(corner, size, strict=True))
            np.testing.assert_array_equal(z.read_windows([corner], size)[0], whole[inside])
            (read,) = zarr.read_many([(z, [corner], size)])
            np.testing.assert_array_equal(read[0], whole[inside])
    if not with_list:
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(z))[key[:1]], whole[key[:1]])


def some_pieces(data: Any, folder: Path, shapes: list[tuple[int, ...]]) -> tuple[list[Any], Any]:
    dtype = data.draw(st.sampled_from(("u1", "i2", "f4", "f8", "c8", "?")))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    values = [rng.integers(0, 100, shape).astype(dtype) for shape in shapes]
    made = []
    for one in values:
        format = data.draw(st.sampled_from(_FORMATS))
        if format == "tif" and dtype in ("c8", "?"):
            format = "npy"
        chunks = tuple(data.draw(st.integers(1, max(1, n))) for n in one.shape)
        if 0 in one.shape:
            format = "v3"
        swapped = one.astype(one.dtype.newbyteorder(">")) if format == "npy" else one
        made.append(stored(folder, swapped, format, chunks))
    return made, values


_SETTINGS = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
}


def test_concatenations_read_as_those_of_numpy(tmp_path: Path, examples: int) -> None:
    @settings(max_examples=examples, derandomize=True, **_SETTINGS)
    @given(st.data())
    def run(data: Any) -> None:
        ndim = data.draw(st.integers(1, 3))
        axis = data.draw(st.integers(0, ndim - 1))
        common = [data.draw(st.integers(1, 6)) for _ in range(ndim)]
        lengths = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=6))
        shapes = [
            tuple(n if k != axis else length for k, n in enumerate(common)) for length in lengths
        ]
        made, values = some_pieces(data, tmp_path, shapes)
        check(virtual.concat(made, axis), np.concatenate(values, axis), data)

    run()


def test_stacks_read_as_those_of_numpy(tmp_path: Path, examples: int) -> None:
    @settings(max_examples=examples, derandomize=True, **_SETTINGS)
    @given(st.data())
    def run(data: Any) -> None:
        shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=0, max_size=2)))
        axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
        made, values = some_pieces(data, tmp_path, [shape] * data.draw(st.integers(1, 5)))
        check(virtual.stack(made, axis), np.stack(values, axis), data)

    run()


def test_mosaics_read_as_if_they_were_painted(tmp_path: Path, examples: int) -> None:
    @settings(max_examples=examples, derandomize=True, **_SETTINGS)
    @given(st.data())
    def run(data: Any) -> None:
        ndim = data.draw(st.integers(1, 3))
        count = data.draw(st.integers(1, 5))
        axes = st.lists(st.integers(1, 5), min_size=ndim, max_size=ndim)
        shapes = [tuple(data.draw(axes)) for _ in range(count)]
        starts = [tuple(n - 1 for n in data.draw(axes)) for _ in range(count)]
        made, values = some_pieces(data, tmp_path, shapes)
        overlap = data.draw(st.sampled_from(("first", "last")))
        extent = np.max([np.add(a, b) for a, b in zip(starts, shapes, strict=True)], axis=0)
        whole = np.full(extent, 1, values[0].dtype)
        order = list(zip(starts, values, strict=True))
        for start, one in reversed(order) if overlap == "first" else order:
            whole[tuple(slice(a, a + n) for a, n in zip(start, one.shape, strict=True))] = one
        placed = list(zip(starts, made, strict=True))
        check(virtual.mosaic(placed, fill_value=1, overlap=overlap), whole, data)

    run()


def test_edits_saves_and_nesting_read_as_lists_of_arrays(tmp_path: Path, examples: int) -> None:
    @settings(max_examples=examples, derandomize=True, **_SETTINGS)
    @given(st.data())
    def run(data: Any) -> None:
        lengths = data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
        made, values = some_pieces(data, tmp_path, [(n, 3) for n in lengths])
        made = [
            one if isinstance(one, str) else stored(tmp_path, one[...], "v3", (2, 2))
            for one in made
        ]
        z, whole = virtual.concat(made), np.concatenate(values)
        for step in data.draw(st.lists(st.sampled_from("adwsn"), max_size=4)):
            number = data.draw(st.integers(0, len(made) - 1))
            if step == "a":
                z, whole = virtual.edit(z, append=[made[number]]), np.r_[whole, values[number]]
            elif step == "d":
                z, whole = virtual.edit(z, prepend=[made[number]]), np.r_[values[number], whole]
            elif step == "w":
                window = data.draw(st.integers(1, len(whole)))
                z, whole = virtual.edit(z, window=window), whole[-window:]
            elif step == "s":
                path = str(tmp_path / f"{next(_numbers)}.virtual.json")
                virtual.save(z, path, relative=data.draw(st.booleans()))
                z = zarr.open(path, mode="r")
            else:
                z = virtual.concat([z.lazy[1:], z, z.lazy[:, :3]])
                whole = np.r_[whole[1:], whole, whole]
        check(z, whole, data)

    run()
