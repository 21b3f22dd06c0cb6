"""The options of formats: what they are called, what they take, and the error for another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.convert import formats
from zarrix.convert._formats import converter
from zarrix.convert._options import check_options, options_of
from zarrix.errors import ConversionError, OptionError, OverlapError

FUNCTIONS = [
    pytest.param(function, id=f"{one.name}-{does}")
    for one in formats()
    for does, function in (
        ("read", converter(one.name).open_source),
        ("write", getattr(converter(one.name), "save", None)),
    )
    if function is not None
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_option_has_a_meaning_and_takes_its_default(function: Any) -> None:
    for name, option in options_of(function).items():
        assert option.what, name
        check_options(function, {name: option.default}, "x", "read")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_value_of_another_kind_is_an_error_that_says_what_the_option_takes(function: Any) -> None:
    for name, option in options_of(function).items():
        if option.kinds:
            with pytest.raises(OptionError, match=f"^{name}=.* is not {option.takes}, which"):
                check_options(function, {name: object()}, "x", "read")
    with pytest.raises(OptionError, match=r"'nonsense' is not an option to read x.*; (it|its) "):
        check_options(function, {"nonsense": 1}, "x", "read")


def test_numbers_of_numpy_are_numbers_and_booleans_are_not() -> None:
    read = converter("text").open_source
    check_options(read, {"skip": np.int64(3)}, "text", "read")
    for wrong in (True, 1.0, "x", None):
        with pytest.raises(OptionError, match="is not a whole number"):
            check_options(read, {"skip": wrong}, "text", "read")


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_option_of_another_format_is_refused_before_anything_is_written(
    overwrite: bool, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=r"'deflate' is not an option to write npy; it has none"):
        zarr.export(zarr.array([1]), tmp_path / "x.npy", deflate=True, overwrite=overwrite)
    with pytest.raises(TypeError, match=r"no format has an option of that name; did you mean"):
        zarr.export(zarr.array([1]), tmp_path / "x.npz", deflat=True)
    assert not list(tmp_path.iterdir())


def test_a_suffix_is_the_name_of_a_format_and_of_its_delimiter(tmp_path: Path) -> None:
    value = np.arange(6.0).reshape(2, 3)
    for suffix, between in (("csv", ","), ("tsv", "\t"), ("txt", " ")):
        file = tmp_path / f"{suffix}.data"
        zarr.export(zarr.array(value), file, format=suffix)
        assert file.read_text().splitlines()[0] == between.join(("0.0", "1.0", "2.0"))
        assert np.array_equal(zarr.convert.open_file(file, format=suffix)[...], value)
        named = tmp_path / f"x.{suffix}"
        zarr.export(zarr.array(value), named)
        assert named.read_bytes() == file.read_bytes()
        assert np.array_equal(zarr.convert.open_file(named)[...], value)
    with pytest.raises(ConversionError, match=r"'cvs' is not a format; did you mean 'csv'|npy"):
        zarr.export(zarr.array(value), tmp_path / "x", format="cvs")


def test_zarr_is_not_imported_as_a_folder_of_images(tmp_path: Path) -> None:
    zarr.save(tmp_path / "x.zarr", np.zeros(3))
    with pytest.raises(ConversionError, match="is Zarr, and not a file of another format"):
        zarr.import_(tmp_path / "x.zarr", tmp_path / "y.zarr")
    assert not (tmp_path / "y.zarr").exists()


def test_a_file_in_its_own_source_is_refused(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    group.create_array("a", data=np.zeros((2, 3), "u1"))
    (tmp_path / "link").symlink_to("x.zarr")
    before = sorted(tmp_path.rglob("*"))
    for dest in ("x.zarr/y.npz", "link/y.npz", "link/a/y.npz", "x.zarr/a"):
        with pytest.raises(OverlapError, match="cannot export"):
            zarr.export(group, tmp_path / dest, format="npz", overwrite=True)
    with pytest.raises(OverlapError):
        zarr.export(group["a"], tmp_path, format="images", overwrite=True)
    np.save(tmp_path / "y.npy", np.arange(3))
    file = zarr.convert.open_file(tmp_path / "y.npy")
    with pytest.raises(OverlapError):
        zarr.export(file, tmp_path / "y.npy", overwrite=True)
    assert np.load(tmp_path / "y.npy").tolist() == [0, 1, 2]
    (tmp_path / "y.npy").unlink()
    assert sorted(tmp_path.rglob("*")) == before
    # Beside it, in the folder of its group, nothing is in danger.
    zarr.export(group["a"], tmp_path / "x.zarr/beside.npy")
