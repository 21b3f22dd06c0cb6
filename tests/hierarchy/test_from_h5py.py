"""Coming from h5py: its files are copied, and what its programs call is here or is named."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CopyError

h5py = pytest.importorskip("h5py")
FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


@pytest.fixture
def h5(tmp_path: Path) -> Any:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.attrs["list"] = np.arange(3)
        file.attrs["flag"] = np.True_
        file.attrs["bytes"] = np.bytes_(b"in bytes")
        file.attrs["nothing"] = h5py.Empty("f4")
        file.attrs["words"] = np.array(["a", "b"], h5py.string_dtype())
        file.attrs["pair"] = np.array((1, 2.5), [("a", "i4"), ("b", "f8")])
        x = file.create_dataset("x", (4, 3), "i4", np.arange(12).reshape(4, 3), chunks=(2, 3))
        x.attrs["scale"] = np.ones((2, 2), "f4")
        file["text"] = ["one", "", "drei é"]
        file["title"] = "a scalar text"
        file.create_dataset("raw", data=[b"a\xff", b""], dtype=h5py.special_dtype(vlen=bytes))
        ragged = file.create_dataset("ragged", (2,), h5py.vlen_dtype("f4"))
        ragged[0], ragged[1] = [1, 2], [3]
        file["fixed"] = np.array([b"abc", b"d"], h5py.string_dtype("ascii", 3))
        file["empty"] = h5py.Empty("i2")
        dtype = np.dtype([("n", "i4"), ("name", h5py.string_dtype("ascii", 4))])
        file["compound"] = np.array([(1, b"one"), (2, b"two")], dtype)
        file["flags"] = np.array([True, False])
        yield file


@FORMATS
def test_attributes_of_h5py_are_copied_as_what_they_mean(h5: Any, zarr_format: int) -> None:
    g = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=zarr_format)
    zarr.copy(h5["x"], g)
    zarr.copy_all(h5, g, if_exists="replace") if zarr_format == 2 else g.attrs.update(
        copied_attributes(h5)
    )
    assert g["x"][:].tolist() == h5["x"][:].tolist()
    assert g["x"].attrs["scale"] == [[1.0, 1.0], [1.0, 1.0]]
    assert dict(g.attrs) == {
        "list": [0, 1, 2],
        "flag": True,
        "bytes": "in bytes",
        "nothing": None,
        "words": ["a", "b"],
        "pair": {"a": 1, "b": 2.5},
    }


def copied_attributes(h5: Any) -> dict[str, Any]:
    inner = zarr.group()
    zarr.copy(h5, inner, name="all", shallow=True)
    return dict(inner["all"].attrs)


@FORMATS
def test_every_kind_of_dataset_is_copied(h5: Any, zarr_format: int) -> None:
    g = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=zarr_format)
    for name in ("text", "title", "raw", "fixed", "empty", "compound", "flags"):
        zarr.copy(h5[name], g)
    assert g["text"][:].tolist() == ["one", "", "drei é"]
    assert g["title"][()] == "a scalar text"
    assert g["raw"][:].tolist() == [b"a\xff", b""]
    assert g["fixed"][:].tolist() == [b"abc", b"d"]
    assert (g["empty"].shape, g["empty"].dtype) == ((0,), np.dtype("i2"))
    assert g["compound"][:].tolist() == [(1, b"one"), (2, b"two")]
    assert g["flags"][:].tolist() == [True, False]
    again = zarr.open_group(g.store, mode="r")
    assert [name for name, _ in again.arrays()] == sorted(g)


def test_arrays_of_any_length_are_copied_to_format_2_and_named_in_format_3(h5: Any) -> None:
    g = zarr.group()
    zarr.copy(h5["ragged"], g)
    assert [one.tolist() for one in g["ragged"][:]] == [[1.0, 2.0], [3.0]]
    with pytest.raises(ValueError, match="variable-length arrays belong to zarr_format=2"):
        zarr.copy(h5["ragged"], zarr.create_group())


def test_references_are_left_out_of_attributes_by_name_and_are_no_array(h5: Any) -> None:
    h5["x"].dims[0].label = "time"
    h5["scale"] = np.arange(4)
    h5["scale"].make_scale()
    h5["x"].dims[0].attach_scale(h5["scale"])
    h5["refs"] = np.array([h5["x"].ref], h5py.ref_dtype)
    g = zarr.group()
    with pytest.warns(UserWarning, match="'/x' that refer .* not copied: DIMENSION_LIST"):
        zarr.copy(h5["x"], g)
    assert g["x"].attrs["DIMENSION_LABELS"] == ["time", ""]
    with pytest.raises(CopyError, match="'/refs' holds references"):
        zarr.copy(h5["refs"], g)
    assert list(g) == ["x"]


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.arange(3), [0, 1, 2]),
        (np.array([[1.5, 2.5]]), [[1.5, 2.5]]),
        (np.array(["a", "b"]), ["a", "b"]),
        (np.array([True, False]), [True, False]),
        (np.True_, True),
        (np.array(3), 3),
        ({"inside": [np.arange(2), np.False_]}, {"inside": [[0, 1], False]}),
    ],
    ids=str,
)
def test_attributes_take_arrays_of_numpy_as_lists(value: Any, stored: Any) -> None:
    z = zarr.zeros(3)
    z.attrs["a"] = value
    assert z.attrs["a"] == stored
    assert zarr.open(z.store, mode="r").attrs["a"] == stored


@FORMATS
def test_words_of_h5py_on_arrays(zarr_format: int) -> None:
    g = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=zarr_format)
    z = g.create_dataset("a/x", (5, 4), "i4", chunks=(2, 3))
    assert z.parent == g["a"]
    assert z.file == g
    assert z.maxshape == (None, None)
    assert z.len() == 5
    z.flush()
    for region in z.iter_chunks():
        z[region] = region[0].start * 10 + region[1].start
    assert z[:, 0].tolist() == [0, 0, 20, 20, 40]
    assert z[0].tolist() == [0, 0, 0, 3]
    assert list(z.iter_chunks((slice(1, 3), slice(2, 4)))) == [
        (slice(1, 2), slice(2, 3)),
        (slice(1, 2), slice(3, 4)),
        (slice(2, 3), slice(2, 3)),
        (slice(2, 3), slice(3, 4)),
    ]
    z.resize(7, axis=0)
    assert z.shape == (7, 4)
    z.resize(2, axis=-1)
    assert z.shape == (7, 2)
    with pytest.raises(TypeError, match="takes one length"):
        z.resize((3, 4), axis=0)
    with pytest.raises(ValueError, match="axis 2 is out of range"):
        z.resize(3, axis=2)


def test_iterating_over_chunks_covers_each_element_once_in_shards_too() -> None:
    z = zarr.create_array(shape=(7, 5), chunks=(1, 2), shards=(3, 4), dtype="i4")
    seen = np.zeros(z.shape, int)
    for region in z.iter_chunks():
        seen[region] += 1
    assert seen.min() == seen.max() == 1
    assert len(list(z.iter_chunks())) == 6


def test_words_of_h5py_on_groups(tmp_path: Path) -> None:
    g = zarr.open_group(zarr.ZipStore(tmp_path / "x.zip", mode="w"), mode="w")
    inner = g.create_group("a/b")
    inner["x"] = np.arange(3)
    assert (inner.parent, inner.file, g.parent) == (g["a"], g, g)
    g.flush()
    inner.copy("x", "y")
    inner.copy(inner["x"], g, name="z")
    g.copy("a/b", "copied")
    assert (list(inner), list(g), list(g["copied"])) == (
        ["x", "y"],
        ["a", "copied", "z"],
        ["x", "y"],
    )
    g.close()
    assert zarr.open(str(tmp_path / "x.zip"), mode="r")["z"][:].tolist() == [0, 1, 2]


def test_a_member_goes_before_a_word_of_h5py() -> None:
    g = zarr.group()
    for name in ("file", "parent", "copy", "close"):
        g[name] = np.arange(2)
        assert getattr(g, name)[:].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("asstr", "str already"),
        ("fillvalue", "use fill_value"),
        ("read_direct", r"use read\(selection, out="),
        ("compression", "use compressor"),
        ("id", "no HDF5 handles"),
    ],
)
def test_other_words_of_h5py_are_answered_with_the_word_here(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=advice):
        getattr(zarr.zeros(3), name)
    with pytest.raises(AttributeError, match=r"use store\.path"):
        zarr.group().filename  # noqa: B018


def test_nothing_is_warned_of_where_there_are_no_references(h5: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        zarr.copy(h5["compound"], zarr.group())
