"""What is exported, as the native library of each format reads it; or one error before a write."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import VALUES
from zarrix.errors import ConversionError, OptionError, ZarrixError


def raw(path: Path) -> Any:
    told = json.loads(Path(f"{path}.json").read_text())
    descr: Any = told["dtype"]
    if isinstance(descr, list):
        descr = [tuple(one) if isinstance(one[1], str) else
                 (one[0], [tuple(each) for each in one[1]]) for one in descr]  # fmt: skip
        descr = [(one[0], one[1], tuple(one[2])) if len(one) > 2 else one for one in descr]
    dtype = np.lib.format.descr_to_dtype(descr)
    return np.frombuffer(path.read_bytes(), dtype).reshape(told["shape"], order=told["order"])


def hdf5(path: Path) -> Any:
    with pytest.importorskip("h5py").File(path) as file:
        return np.asarray(file["data"][()])


def safetensors(path: Path) -> Any:
    return pytest.importorskip("safetensors.numpy").load_file(path)["data"]


def tiff(path: Path) -> Any:
    return pytest.importorskip("tifffile").imread(path)


def tar(path: Path) -> Any:
    with tarfile.open(path) as archive:
        members = [archive.extractfile(one) for one in archive.getmembers()]
        return np.stack([np.load(io.BytesIO(one.read())) for one in members if one is not None])


READERS: dict[str, Callable[[Path], Any]] = {
    "npy": np.load, "npz": lambda path: np.load(path)["arr_0"], "raw": raw, "h5": hdf5,
    "safetensors": safetensors, "tif": tiff, "tar": tar,
}  # fmt: skip
# Elements whose bytes are those of another form in the file.
OTHER_FORM = {("tar", "text"), ("tar", "no elements")}


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_native_library_reads_every_bit(suffix: str, zarr_format: Any, tmp_path: Path) -> None:
    compared = 0
    for number, (name, value) in enumerate(VALUES.items()):
        for order in ("C", "F"):
            try:
                array = zarr.create(
                    value.shape, dtype=value.dtype, zarr_format=zarr_format, order=order,
                    chunks=tuple(max(1, (n + 1) // 2) for n in value.shape), fill_value=None,
                )  # fmt: skip
            except ZarrixError:
                continue
            array[...] = value
            file = tmp_path / f"{number}{order}.{suffix}"
            try:
                zarr.export(array, file)
            except ConversionError:
                assert not file.exists()
                continue
            if (suffix, name) in OTHER_FORM:
                continue
            found, expected = np.asarray(READERS[suffix](file)), np.asarray(array[...])
            assert found.shape == expected.shape, name
            # Libraries give numbers of the other byte order in that of this machine.
            assert found.astype(expected.dtype).tobytes() == expected.tobytes(), name
            compared += 1
    assert compared >= 20


def variable(kind: str) -> Any:
    """Arrays whose elements have no fixed size, of which npy would have pickles, or pointers."""
    codecs: dict[str, Any] = {
        "words": zarr.codecs.VLenUTF8(), "bytes": zarr.codecs.VLenBytes(),
        "rows": zarr.codecs.VLenArray("i4"), "objects": zarr.codecs.JSON(),
    }  # fmt: skip
    values: dict[str, list[Any]] = {
        "words": ["a", "bb"], "bytes": [b"a", b"b\0b"], "objects": [{"a": 1}, [2]],
        "rows": [np.array([1, 2], "i4"), np.array([3], "i4")],
    }  # fmt: skip
    made = zarr.create(2, dtype=object, object_codec=codecs[kind], zarr_format=2)
    for index, value in enumerate(values[kind]):
        made[index] = value
    return made


REFUSES = {
    "words": ("npy", "npz", "raw", "safetensors", "tif", "png"),
    "bytes": ("npy", "npz", "raw", "safetensors", "tif", "png", "csv", "nc", "h5"),
    "rows": ("npy", "npz", "raw", "safetensors", "tif", "png", "csv", "nc", "tar"),
    "objects": ("npy", "npz", "raw", "safetensors", "tif", "png", "csv", "nc", "h5", "tar"),
}


@pytest.mark.parametrize(
    ("kind", "suffix"), [(kind, one) for kind, suffixes in REFUSES.items() for one in suffixes]
)
def test_elements_without_a_fixed_size_are_refused(kind: str, suffix: str, tmp_path: Path) -> None:
    needs = {"nc": "h5py", "h5": "h5py", "tif": "tifffile", "png": "PIL"}
    pytest.importorskip(needs.get(suffix, "numpy"))
    with pytest.raises(ConversionError):
        zarr.export(variable(kind), tmp_path / f"x.{suffix}")
    assert not list(tmp_path.iterdir())


def test_rows_and_words_of_hdf5_are_those_of_the_array(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for kind in ("words", "rows"):
        zarr.export(variable(kind), tmp_path / f"{kind}.h5")
        with h5py.File(tmp_path / f"{kind}.h5") as file:
            data = file["data"].asstr() if kind == "words" else file["data"]
            found = [one if isinstance(one, str) else one.tolist() for one in data[...]]
        assert found == {"words": ["a", "bb"], "rows": [[1, 2], [3]]}[kind]


@pytest.mark.parametrize("given", ["", "1", "e", ".", "-", "+", "\n", "\r", '"', "#", "::", "a"])
def test_a_delimiter_that_numbers_have_is_refused(given: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is not one character that numbers"):
        zarr.export(zarr.array([[1.5, 2.0]]), tmp_path / "x.csv", delimiter=given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "word",
    ["", " ", "a,b", "a\nb", "a\rb", "a\x0bb", "a\x0cb", "a\x1cb", "a\x85b", "a\u2028b", "a\u2029",
     '"a', 'a"b', " a", "a ", "#a"],
)  # fmt: skip
def test_a_word_that_readers_would_divide_is_refused(word: str, tmp_path: Path) -> None:
    array = zarr.create(2, dtype=str, zarr_format=3)
    array[...] = np.array([word, "b"], dtype=object)
    with pytest.raises(ConversionError):
        zarr.export(array, tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


def test_csv_is_read_the_same_by_numpy_pandas_and_the_csv_module(tmp_path: Path) -> None:
    import csv

    value = VALUES["f8"].copy()
    value[~np.isfinite(value)] = 0.1
    zarr.export(zarr.array(value), tmp_path / "x.csv")
    assert np.loadtxt(tmp_path / "x.csv", delimiter=",").tobytes() == value.tobytes()
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = [*csv.reader(file)]
    assert np.array(rows, dtype="f8").tobytes() == value.tobytes()
    pandas = pytest.importorskip("pandas")
    found = pandas.read_csv(tmp_path / "x.csv", header=None)
    assert found.to_numpy().tobytes() == value.tobytes()


@pytest.mark.parametrize(
    ("suffix", "options"),
    [
        ("h5", {"compression": "foo"}), ("h5", {"level": 10}), ("h5", {"level": -1}),
        ("nc", {"compression": "lzf"}), ("nc", {"level": 99}), ("tif", {"compression": "jpeg"}),
        ("tif", {"tile": 0}), ("tif", {"tile": 17}), ("tif", {"tile": 10**9}),
    ],
)  # fmt: skip
def test_a_value_that_an_option_does_not_have_is_an_error(
    suffix: str, options: dict[str, Any], tmp_path: Path
) -> None:
    pytest.importorskip("tifffile" if suffix == "tif" else "h5py")
    with pytest.raises(OptionError):
        zarr.export(zarr.zeros((20, 30)), tmp_path / f"x.{suffix}", **options)
    assert not list(tmp_path.iterdir())


def test_what_is_no_array_and_no_group_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    class Dataset:
        """As those of h5py and xarray."""

        attrs: dict[str, Any] = {}  # noqa: RUF012 - as theirs
        shape = (3,)

    for source in (Dataset(), None):
        with pytest.raises(ConversionError, match="is exported after it is stored"):
            zarr.export(source, tmp_path / "x.npy")
    with pytest.raises(ConversionError, match=r"path='a': .* is an array, without members"):
        zarr.export(zarr.array([1]), tmp_path / "x.npy", path="a")
    assert not list(tmp_path.iterdir())


def test_names_at_the_edge(tmp_path: Path) -> None:
    names = ("a", "A", "a.b", "ä", "a b", "x.npy", "g/x", "a_b", "data")
    group = zarr.group(zarr_format=3)
    for number, name in enumerate(names):
        group.create_array(name, data=np.arange(3) + number)
    zarr.export(group, tmp_path / "x.npz")
    found = np.load(tmp_path / "x.npz")
    assert sorted(found.files) == sorted(names)
    assert all(np.array_equal(found[name], group[name][...]) for name in names)
    h5py = pytest.importorskip("h5py")
    zarr.export(group, tmp_path / "x.h5")
    with h5py.File(tmp_path / "x.h5") as file:
        assert all(np.array_equal(file[name][()], group[name][...]) for name in names)
    load = pytest.importorskip("safetensors.numpy").load_file
    zarr.export(group, tmp_path / "x.safetensors")
    tensors = load(tmp_path / "x.safetensors")
    assert all(np.array_equal(tensors[name], group[name][...]) for name in names)
    named = zarr.group(zarr_format=3)
    with pytest.warns(UserWarning, match="reserved"):
        named.create_dataset("__metadata__", data=np.arange(3))
    with pytest.raises(ConversionError, match="__metadata__"):
        zarr.export(named, tmp_path / "y.safetensors")
