"""NetCDF-4 that is exported is what the NetCDF library and xarray read from files of their own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import VALUES
from zarrix.errors import ConversionError

pytest.importorskip("h5py")
netCDF4 = pytest.importorskip("netCDF4")  # noqa: N816 - its name

# What NetCDF does not have; everything else is compared with what the library reads.
REFUSED = ("f2", "void", "fields", "nested fields")


def in_netcdf(value: Any) -> Any:
    """The elements that the CF conventions have for these."""
    if value.dtype.kind == "b":
        return value.view("i1")
    if value.dtype.kind in "mM":
        return value.view(value.dtype.str[0] + "i8")
    if value.dtype.kind == "S":
        return value.reshape(*value.shape, 1).view("S1")
    return value


def dumped(file: Path) -> str:
    """What ncdump prints of a file; empty where it is not installed."""
    if shutil.which("ncdump") is None:
        return ""
    ran = subprocess.run(["ncdump", file], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_library_reads_every_element(name: str, zarr_format: Any, tmp_path: Path) -> None:
    value = VALUES[name]
    group = zarr.group(zarr_format=2 if name in ("fields", "nested fields") else zarr_format)
    array = group.create_dataset("data", data=value, shape=value.shape, dtype=value.dtype)
    for number, node in enumerate((array, group)):
        file = tmp_path / f"{number}.nc"
        if name in REFUSED:
            with pytest.raises(ConversionError, match=r"which NetCDF does not have"):
                zarr.export(node, file)
            assert not list(tmp_path.iterdir())
            continue
        zarr.export(node, file)
        dumped(file)
        with netCDF4.Dataset(file, auto_complex=True) as found:
            found.set_auto_maskandscale(False)
            found.set_auto_chartostring(False)
            got, expected = np.asarray(found["data"][...]), in_netcdf(np.asarray(array[...]))
            assert got.shape == expected.shape
            if value.dtype.kind == "U":
                assert got.tolist() == expected.tolist()
            else:
                # The library gives complex numbers in the byte order of this machine.
                assert got.astype(expected.dtype).tobytes() == expected.tobytes()
            assert "_FillValue" not in found["data"].ncattrs()


def data(xr: Any) -> Any:
    """A data set with all that CF and xarray have."""
    times = np.array(["2020-01-01", "2020-01-02T03", "NaT", "2020-01-04"], "M8[ns]")
    given = xr.Dataset(
        {
            "packed": (("time", "x"), np.array([[1.0, np.nan], [2, 3], [4, 5], [6, 7]])),
            "short": (
                ("time", "x"), np.arange(8, dtype="i2").reshape(4, 2),
                {"valid_range": np.array([0, 5], "i2"), "units": "K", "empty": "", "ä": "ö",
                 "flag_values": np.array([0, 1], "i2"), "many": [1, 2], "one": 1.5,
                 "names": ["a", "b"]},
            ),
            "text": ("x", np.array(["ab", "c\N{GRINNING FACE}"])),
            "flag": ("x", np.array([True, False])),
            "when": ("time", times),
            "how_long": ("x", np.array([1, 2], "m8[s]")),
            "scalar": ((), 5.0),
            "wide": ("x", np.array([2**60 + 1, -1])),
            "big": ("x", np.array([1.5, np.nan], ">f8")),
            "complex": ("x", np.array([1 + 2j, 3])),
            "without_coordinate": ("y", np.arange(3.0, dtype="f4")),
        },
        coords={"x": [1.5, 2.5], "other": ("x", [7, 8]), "name": ("y", ["p", "q", "r"])},
        attrs={"title": "a title", "number": 3, "ratio": 0.5},
    )  # fmt: skip
    given["short"].encoding["_FillValue"] = np.int16(-1)
    given["packed"].encoding.update(
        dtype="i2", scale_factor=0.5, add_offset=1.0, _FillValue=np.int16(-32767)
    )
    return given


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_xarray_reads_the_same_from_zarr_and_from_netcdf(zarr_format: Any, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    from zarrix.xarray import to_zarr

    to_zarr(data(xr), tmp_path / "x.zarr", zarr_format=zarr_format)
    done = zarr.export(tmp_path / "x.zarr", tmp_path / "x.nc")
    assert done.notes == []
    told = dumped(tmp_path / "x.nc")
    for line in (
        'title = "a title"', "packed:_FillValue = -32767s", "short:valid_range = 0s, 5s",
        "short:flag_values = 0s, 1s", "short:_FillValue = -1s", 'short:units = "K"',
    ):  # fmt: skip
        assert line in told or not told
    for unwanted in (
        "DIMENSION_LABELS",
        "_ARRAY_DIMENSIONS",
        "phony",
        "string title",
        "time(time)",
    ):
        assert unwanted not in told
    with (
        xr.open_dataset(tmp_path / "x.zarr", engine="zarrix") as stored,
        xr.open_dataset(tmp_path / "x.nc", engine="netcdf4", auto_complex=True) as exported,
    ):
        xr.testing.assert_identical(stored, exported)
        own = data(xr).drop_vars("complex")
        own.to_netcdf(tmp_path / "own.nc")
        with xr.open_dataset(tmp_path / "own.nc", engine="netcdf4") as written:
            xr.testing.assert_identical(written, exported.drop_vars("complex"))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_dimension_names_of_one_array_are_kept(zarr_format: Any, tmp_path: Path) -> None:
    array = zarr.create_array(
        tmp_path / "x.zarr", data=np.zeros((2, 3), "f4"), zarr_format=zarr_format,
        **({"dimension_names": ("lat", "lon")} if zarr_format == 3 else {}),
    )  # fmt: skip
    if zarr_format == 2:
        array.attrs["_ARRAY_DIMENSIONS"] = ["lat", "lon"]
    zarr.export(array, tmp_path / "x.nc")
    with netCDF4.Dataset(tmp_path / "x.nc") as found:
        assert found["data"].dimensions == ("lat", "lon")
        assert [*found.variables] == ["data"]


def named(group: Any, name: str, shape: tuple[int, ...], dims: Any, **more: Any) -> Any:
    made = group.create_array(name, shape=shape, dtype="i4", dimension_names=dims, **more)
    made[...] = np.arange(np.prod(shape)).reshape(shape)
    return made


def test_dimensions_of_every_kind(tmp_path: Path) -> None:
    """Names of other variables, twice in one, missing, without a limit, and in groups."""
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    named(group, "x", (3,), ("x",))
    named(group, "y", (3, 4), ("x", "y"))
    named(group, "covariance", (3, 3), ("x", "x"))
    named(group, "nameless", (4, 3, 4), None)
    named(group, "half", (3, 5), ("x", None))
    named(group, "growing", (2, 3), ("t", "x"), attributes={"unlimited_axes": [0]})
    named(group, "also", (2,), ("t",))
    below = group.create_group("below", attributes={"level": 2})
    named(below, "x", (7,), ("x",))
    named(below, "a.b c", (7, 2), ("x", "ä"))
    zarr.export(group, tmp_path / "x.nc")
    dumped(tmp_path / "x.nc")
    with netCDF4.Dataset(tmp_path / "x.nc") as found:
        dims = {name: one.dimensions for name, one in found.variables.items()}
        assert dims == {
            "x": ("x",), "y": ("x", "y"), "covariance": ("x", "x"),
            "nameless": ("dim_1", "dim_2", "dim_3"), "half": ("x", "dim_0"),
            "growing": ("t", "x"), "also": ("t",),
        }  # fmt: skip
        assert found.dimensions["t"].isunlimited()
        assert found["below"].level == 2
        assert found["below/a.b c"].dimensions == ("x", "ä")
        for path in ("x", "y", "covariance", "nameless", "half", "growing", "below/a.b c"):
            assert np.array_equal(found[path][...], group[path][...])


@pytest.mark.parametrize(
    ("second", "dims", "match"),
    [
        ((4,), ("x",), r"dimension 'x' has length 3 in /a and 4 in /b"),
        ((4,), ("a/b",), "no name in NetCDF"),
        ((4,), ("inside",), "its group has a group of that name"),
    ],
)
def test_what_netcdf_cannot_represent_is_an_error_before_anything_is_written(
    second: tuple[int, ...], dims: Any, match: str, tmp_path: Path
) -> None:
    group = zarr.group(zarr_format=3)
    group.create_group("inside")
    named(group, "a", (3,), ("x",))
    named(group, "b", second, dims)
    with pytest.raises(ConversionError, match=match):
        zarr.export(group, tmp_path / "x.nc")
    assert not list(tmp_path.iterdir())


def test_attributes_without_a_type_in_netcdf_are_noted(tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "nothing": None, "truth": True, "nested": {"a": [1]}, "mixed": [1, "a"], "none": [],
        "wide": 2**70, "CLASS": "mine", "long": "x" * 100_000, "nul": "a\0b", "kept": [0.1, 2.0],
        "_FillValue": "no number",
    }  # fmt: skip
    array = zarr.create_array(zarr.MemoryStore(), data=np.zeros(3), attributes=given)
    done = zarr.export(array, tmp_path / "x.nc")
    dumped(tmp_path / "x.nc")
    with netCDF4.Dataset(tmp_path / "x.nc") as found:
        found.set_auto_mask(False)
        read = {name: found["data"].getncattr(name) for name in found["data"].ncattrs()}
    told = " ".join(done.notes)
    for name in given:
        assert name in read or name in told
    assert read["kept"].tolist() == [0.1, 2.0]
    assert read["nested"] == '{"a": [1]}'


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_hdf5_cannot_hold_is_an_error(text: str, tmp_path: Path) -> None:
    array = zarr.create(1, dtype=object, object_codec=zarr.codecs.JSON(), zarr_format=2)
    with pytest.raises(ConversionError, match="objects"):
        zarr.export(array, tmp_path / "x.nc")
    texts = zarr.create(2, dtype=str, zarr_format=3)
    if text == "a\0b":
        texts[0] = text
        for suffix in ("nc", "h5"):
            with pytest.raises(ConversionError, match="which has a NUL"):
                zarr.export(texts, tmp_path / f"x.{suffix}")
    assert not list(tmp_path.iterdir())
