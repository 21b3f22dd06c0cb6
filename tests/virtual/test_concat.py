"""Virtual arrays of arrays behind one another, beside NumPy's concatenation."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual


@pytest.fixture
def pieces(tmp_path: Path) -> tuple[list[str], Any]:
    """Paths of arrays in three formats, and what they are together."""
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 1000, (n, 5), dtype="i4") for n in (3, 1, 7, 4, 2, 6)]
    paths = []
    for number, part in enumerate(parts):
        path = str(tmp_path / f"{number}.{'npy' if number % 3 == 2 else 'zarr'}")
        if path.endswith("npy"):
            np.save(path, part)
        else:
            zarr.create_array(path, data=part, chunks=(3, 2), zarr_format=2 + number % 2)
        paths.append(path)
    return paths, np.concatenate(parts)


KEYS: list[Any] = [
    ...,
    3,
    -1,
    slice(None, None, -2),
    (slice(2, 20, 3), slice(None, None, -1)),
    slice(5, 5),
    ([5, 1, 1, 20], slice(1, 3)),
    (slice(None), [1, 1, 0]),
    (slice(None), 2),
    (4, 4),
    ([3, 1, 22], [2, 2, 0]),
    (None, 4),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_every_key_reads_what_numpy_concatenates(pieces: Any, key: Any) -> None:
    paths, whole = pieces
    np.testing.assert_array_equal(virtual.concat(paths)[key], whole[key])


def test_every_way_to_read(pieces: Any) -> None:
    paths, whole = pieces
    z = virtual.concat(paths)
    np.testing.assert_array_equal(z.vindex[[5, 1, 20], :], whole[[5, 1, 20], :])
    np.testing.assert_array_equal(z.oindex[[5, 1, 20], [0, 2]], whole[np.ix_([5, 1, 20], [0, 2])])
    np.testing.assert_array_equal(z[whole > 500], whole[whole > 500])
    np.testing.assert_array_equal(z.lazy[2:9].T[...], whole[2:9].T)
    windows = z.read_windows([[0, 0], [3, 1]], (4, 3))
    np.testing.assert_array_equal(windows, np.stack([whole[:4, :3], whole[3:7, 1:4]]))
    out = np.zeros((5, whole.shape[0]), "i4").T
    assert z.read(out=out) is out
    np.testing.assert_array_equal(out, whole)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(z))[...], whole)


def test_an_axis_by_number_or_name(tmp_path: Path) -> None:
    parts = [np.arange(n * 2, dtype="f4").reshape(2, n) for n in (3, 5)]
    arrays = [
        zarr.create_array(tmp_path / f"{n}", data=part, dimension_names=["y", "x"])
        for n, part in enumerate(parts)
    ]
    for axis in (1, -1, "x"):
        np.testing.assert_array_equal(
            virtual.concat(arrays, axis)[...], np.concatenate(parts, axis=1)
        )
    with pytest.raises(zarr.errors.VirtualError, match="has no dimension 'z'"):
        virtual.concat(arrays, "z")


def test_views_are_pieces(tmp_path: Path) -> None:
    values = np.arange(48).reshape(8, 6)
    z = zarr.create_array(tmp_path / "a", data=values, chunks=(3, 4))
    made = virtual.concat([z.lazy[5:1:-2].T, z.lazy[::4, :].T, z.lazy[3:4, 0:6].T], axis=1)
    expected = np.concatenate([values[5:1:-2].T, values[::4].T, values[3:4].T], axis=1)
    np.testing.assert_array_equal(made[...], expected)
    np.testing.assert_array_equal(made[::-1, [4, 0]], expected[::-1, [4, 0]])
    np.testing.assert_array_equal(made.vindex[[1, 3], [4, 1]], expected[[1, 3], [4, 1]])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda p: virtual.concat([*p, zarr.zeros((2, 4), dtype="i4")]), "along axis 0 only"),
        (lambda p: virtual.concat([*p, zarr.zeros((2, 5), dtype="i8")]), "dtype= casts them"),
        (lambda p: virtual.concat(p, dtype="i2"), "cannot be cast to int16 without loss"),
        (lambda p: virtual.concat([]), "at least one array"),
        (lambda p: virtual.concat(zarr.zeros(3)), "sources are a list"),
        (lambda p: virtual.concat([np.zeros(3)]), "is not a piece"),
        (lambda p: virtual.concat(p, axis=2), "axis 2 is not one of"),
        (lambda p: virtual.concat([zarr.zeros(9).lazy[[1, 4]]]), "list of indices"),
    ],
)
def test_what_does_not_fit_is_refused(pieces: Any, made: Any, message: str) -> None:
    with pytest.raises(zarr.errors.VirtualError, match=message):
        made(pieces[0])


def test_a_missing_source_is_named(pieces: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"no array at .*nope\.zarr"):
        virtual.concat([*pieces[0], "nope.zarr"])
    with pytest.raises(FileNotFoundError, match=r"nothing matches '.*\.zzz'"):
        virtual.concat(f"{pieces[0][0]}/*.zzz")


def test_a_write_names_the_way_out(pieces: Any) -> None:
    z = virtual.concat(pieces[0])
    with pytest.raises(zarr.errors.ReadOnlyError, match="write to the piece"):
        z[0] = 1
    with pytest.raises(zarr.errors.ReadOnlyError):
        z.resize(3)


def test_a_cast_keeps_every_value(tmp_path: Path) -> None:
    small, large = np.array([1, 200], "u1"), np.array([-5, 2**40], ">i8")
    made = virtual.concat([zarr.array(small), zarr.array(large)], dtype="f8")
    np.testing.assert_array_equal(made[...], [1, 200, -5, 2**40])
    assert made.dtype == np.dtype("f8")
    assert virtual.concat([zarr.array(large), zarr.array(large.astype("<i8"))])[1] == 2**40
