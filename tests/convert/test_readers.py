"""Each importer gives what the library of the format reads."""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import VALUES, same, write_mat, write_n5
from zarrix.convert import open_file
from zarrix.errors import ConversionError

RNG = np.random.default_rng(3)
FRAMES = RNG.integers(0, 256, (5, 33, 47, 3)).astype("u1")


def imported(source: Path, **options: Any) -> Any:
    dest = source.with_name(f"{source.name}.zarr")
    zarr.import_(source, dest, overwrite=True, verify="full", memory="1 MiB", **options)
    return zarr.open(dest, mode="r")


@pytest.mark.parametrize("deflate", [False, True])
def test_npz(deflate: bool, tmp_path: Path) -> None:
    arrays = {name.replace(" ", "_"): value for name, value in VALUES.items()}
    arrays["fortran"] = np.asfortranarray(VALUES["f8"])
    (np.savez_compressed if deflate else np.savez)(tmp_path / "x.npz", **arrays)
    found, shown = imported(tmp_path / "x.npz"), open_file(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as expected:
        for name in arrays:
            same(found[name][...], expected[name])
            same(shown[name][...], expected[name])
    zarr.export(found, tmp_path / "y.npz", deflate=deflate)
    with np.load(tmp_path / "y.npz") as again:
        for name, value in arrays.items():
            same(again[name], value)


@pytest.mark.parametrize("name", VALUES)
def test_raw(name: str, tmp_path: Path) -> None:
    value = VALUES[name]
    value.tofile(tmp_path / "x.raw")
    descr = np.lib.format.dtype_to_descr(value.dtype)
    found = imported(tmp_path / "x.raw", dtype=descr, shape=value.shape)
    same(found[...], value)
    zarr.export(found, tmp_path / "y.raw")
    assert (tmp_path / "y.raw").read_bytes() == (tmp_path / "x.raw").read_bytes()
    same(imported(tmp_path / "y.raw")[...], value)


@pytest.mark.parametrize("suffix", ["csv", "txt"])
@pytest.mark.parametrize("code", ["i8", "u8", "f8", "f4"])
def test_text(suffix: str, code: str, tmp_path: Path) -> None:
    value = np.frombuffer(RNG.bytes(40 * np.dtype(code).itemsize), code).reshape(10, 4).copy()
    if value.dtype.kind == "f":
        value[~np.isfinite(value)] = 0.1
        value[0] = [np.nan, np.inf, -0.0, 1e-310 if code == "f8" else 1e-45]
    zarr.export(zarr.array(value), tmp_path / f"x.{suffix}")
    options = {"dtype": "f4"} if code == "f4" else {}
    same(imported(tmp_path / f"x.{suffix}", **options)[...], value)
    delimiter = "," if suffix == "csv" else None
    same(np.loadtxt(tmp_path / f"x.{suffix}", code, delimiter=delimiter), value)


def test_text_of_words_and_names(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("name,age\nanna,1\nbo,22\n")
    found = imported(tmp_path / "x.csv", names=True)
    assert found[...].tolist() == [["anna", "1"], ["bo", "22"]]
    assert found.attrs["columns"] == ["name", "age"]


def test_safetensors(tmp_path: Path) -> None:
    numpy = pytest.importorskip("safetensors.numpy")
    arrays = {"a.w": VALUES["f4"], "b": VALUES["i8"], "h": VALUES["f2"]}
    arrays["z"] = np.zeros((0, 3), "u1")
    numpy.save_file(arrays, tmp_path / "x.safetensors", {"made": "here"})
    found = imported(tmp_path / "x.safetensors")
    for name, value in numpy.load_file(tmp_path / "x.safetensors").items():
        same(found[name][...], value)
    assert found.attrs["made"] == "here"
    zarr.export(found, tmp_path / "y.safetensors")
    for name, value in numpy.load_file(tmp_path / "y.safetensors").items():
        same(value, arrays[name])


@pytest.mark.parametrize("variant", ["CLASSIC", "64BIT_OFFSET", "64BIT_DATA"])
@pytest.mark.parametrize("variables", [1, 3])
def test_netcdf3(variant: str, variables: int, tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "x.nc", "w", format=f"NETCDF3_{variant}") as file:
        file.createDimension("t", None)
        file.createDimension("x", 5)
        file.title = "T"
        for index, code in enumerate(("i2", "f8", "i1")[:variables]):
            one = file.createVariable(f"v{index}", code, ("t", "x"))
            one.units = "m"
            one[:] = np.arange(35).reshape(7, 5) + index
        file.createVariable("fixed", "f4", ("x",))[:] = np.arange(5) / 3
    found, shown = imported(tmp_path / "x.nc"), open_file(tmp_path / "x.nc")
    with netcdf.Dataset(tmp_path / "x.nc") as file:
        file.set_auto_mask(False)
        for name, one in file.variables.items():
            expected = np.asarray(one[:])
            assert np.array_equal(found[name][...], expected)
            assert np.array_equal(shown[name][...], expected)
    assert (found.attrs["title"], found["v0"].attrs["units"]) == ("T", "m")
    assert found["v0"].attrs["_ARRAY_DIMENSIONS"] == ["t", "x"]


def test_netcdf4_in_and_out(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 5)
        file.createVariable("x", "f8", ("x",))[:] = np.arange(5)
        one = file.createVariable("v", "f4", ("t", "x"), zlib=True, shuffle=True)
        one[:] = np.arange(35).reshape(7, 5)
        one.units = "m"
        file.createGroup("g").createVariable("w", "i2", ("x",))[:] = 3
    found = imported(tmp_path / "x.nc", keep_chunks=True)
    assert found["v"].attrs["_ARRAY_DIMENSIONS"] == ["t", "x"]
    assert found["v"].attrs.asdict().keys() == {"units", "unlimited_axes", "_ARRAY_DIMENSIONS"}
    zarr.export(found, tmp_path / "y.nc")
    with netcdf.Dataset(tmp_path / "y.nc") as file:
        assert file["v"].dimensions == ("t", "x")
        assert file.dimensions["t"].isunlimited()
        assert np.array_equal(file["v"][:], np.arange(35).reshape(7, 5))
        assert np.array_equal(file["g/w"][:], [3] * 5)


@pytest.mark.parametrize("predictor", [False, True])
@pytest.mark.parametrize("compression", [None, "zlib", "zstd", "lzw"])
@pytest.mark.parametrize("tile", [None, (16, 32)])
@pytest.mark.parametrize("code", ["u1", ">u2", "f4"])
def test_tiff(predictor: bool, compression: Any, tile: Any, code: str, tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    if compression in ("zstd", "lzw") or predictor:
        pytest.importorskip("imagecodecs")
    value = RNG.integers(0, 200, (3, 50, 70)).astype(code)
    options: Any = {"tile": tile} if tile else {"rowsperstrip": 16}
    if compression is None:
        predictor = False
    tifffile.imwrite(
        tmp_path / "x.tif", value, compression=compression, predictor=predictor,
        byteorder=">" if code[0] == ">" else "<", photometric="minisblack", **options,
    )  # fmt: skip
    expected = tifffile.imread(tmp_path / "x.tif")
    for keep in (False, True):
        found = imported(tmp_path / "x.tif", keep_chunks=keep)
        assert np.array_equal(found[...], expected)
    assert np.array_equal(open_file(tmp_path / "x.tif")[:, 3:40, 5:66], expected[:, 3:40, 5:66])
    zarr.export(found, tmp_path / "y.tif")
    with tifffile.TiffFile(tmp_path / "y.tif") as again:
        assert again.byteorder == (">" if code[0] == ">" else "<")
        same(again.asarray().astype(code), value)


def test_colours_and_pyramids_of_tiff(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    value = RNG.integers(0, 255, (90, 120, 3)).astype("u1")
    with tifffile.TiffWriter(tmp_path / "x.ome.tif", bigtiff=True) as writer:
        options: Any = {"tile": (32, 32), "photometric": "rgb", "compression": "zlib"}
        writer.write(
            value, subifds=1, **options,
            metadata={"axes": "YXS", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.25},
        )  # fmt: skip
        writer.write(value[::2, ::2], subfiletype=1, **options)
    found = imported(tmp_path / "x.ome.tif")
    assert np.array_equal(found["0"][...], value)
    assert np.array_equal(found["1"][...], value[::2, ::2])
    (scales,) = found.attrs["ome"]["multiscales"]
    assert [one["path"] for one in scales["datasets"]] == ["0", "1"]
    assert scales["datasets"][1]["coordinateTransformations"][0]["scale"] == [0.5, 1.0, 1.0]
    zarr.export(found["0"], tmp_path / "y.tif")
    assert np.array_equal(tifffile.imread(tmp_path / "y.tif"), value)


def test_a_folder_of_images(tmp_path: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    folder = tmp_path / "frames"
    folder.mkdir()
    for i, frame in enumerate(FRAMES):
        image_of.fromarray(frame).save(folder / f"f{i * 5}.png")
    found = imported(folder)
    same(found["image"][...], FRAMES)
    assert found["name"][...].tolist() == [f"f{i * 5}.png" for i in range(5)]
    assert imported(folder, channels="first")["image"].shape == (5, 3, 33, 47)
    for name, node in (("again", found), ("first", imported(folder, channels="first"))):
        zarr.export(node, tmp_path / name, format="images")
        read = [np.asarray(image_of.open(one)) for one in sorted((tmp_path / name).iterdir())]
        same(np.stack(read), FRAMES)


@pytest.mark.parametrize("mode", ["1", "L", "I;16", "RGB", "RGBA", "LA", "P"])
def test_an_image_has_the_values_of_pillow(mode: str, tmp_path: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    if mode == "I;16":
        image = image_of.fromarray(RNG.integers(0, 2**16, (20, 30)).astype("u2"))
    else:
        image = image_of.fromarray(FRAMES[0]).convert(mode)
    image.save(tmp_path / "x.png")
    with image_of.open(tmp_path / "x.png") as opened:
        expected = np.asarray(opened)
        if mode == "1":
            # Pillow's booleans have the byte 255.
            expected = expected.view("u1") != 0
        same(imported(tmp_path / "x.png")[...], expected)


def test_labels_of_folders_and_images_of_two_sizes(tmp_path: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    for label in ("cat", "dog"):
        (tmp_path / "set" / label).mkdir(parents=True)
        image_of.fromarray(FRAMES[0]).save(tmp_path / "set" / label / "1.png")
    found = imported(tmp_path / "set", labels="folder")
    assert found["label"][...].tolist() == [0, 1]
    assert found["label"].attrs["names"] == ["cat", "dog"]
    image_of.fromarray(FRAMES[0][:5]).save(tmp_path / "set" / "dog" / "2.png")
    with pytest.raises(ConversionError, match=r"1 images differ .* the first is 2\.png"):
        imported(tmp_path / "set", labels="folder")


def test_webdataset(tmp_path: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for i, frame in enumerate(FRAMES):
            png, npy = io.BytesIO(), io.BytesIO()
            image_of.fromarray(frame).save(png, "PNG")
            np.save(npy, frame[..., 0].astype("f4"))
            parts = {"png": png.getvalue(), "npy": npy.getvalue(), "cls": b"%d" % i}
            parts |= {"json": json.dumps({"i": i}).encode(), "odd.npy": b"x" * i}
            for suffix, value in parts.items():
                member = tarfile.TarInfo(f"train/{i:04}.{suffix}")
                member.size = len(value)
                archive.addfile(member, io.BytesIO(value))
    with pytest.raises(ConversionError, match="npy"):
        imported(tmp_path / "x.tar")
    with tarfile.open(tmp_path / "x.tar") as old, tarfile.open(tmp_path / "z.tar", "w") as archive:
        for member in old:
            if "odd" not in member.name:
                archive.addfile(member, old.extractfile(member))
    found = imported(tmp_path / "z.tar")
    same(found["png"][...], FRAMES)
    same(found["npy"][...], FRAMES[..., 0].astype("f4"))
    assert found["cls"][...].tolist() == [*range(5)]
    assert found["key"][0] == "train/0000"
    zarr.export(found, tmp_path / "y.tar")
    again = imported(tmp_path / "y.tar")
    same(again["npy"][...], found["npy"][...])
    same(again["png_npy"][...], FRAMES)
    assert again["json"][3] == '{"i": 3}'


def test_video(tmp_path: Path) -> None:
    av = pytest.importorskip("av")
    zarr.export(zarr.array(FRAMES[:, :32, :46]), tmp_path / "x.mkv")
    found = imported(tmp_path / "x.mkv")
    same(found["rgb"][...], FRAMES[:, :32, :46])
    with av.open(str(tmp_path / "x.mkv")) as container:
        expected = [frame.pts for frame in container.decode(video=0)]
    assert found["pts"][...].tolist() == expected


def test_matlab_has_complex_numbers_and_booleans(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    value = RNG.random((3, 4)) + 1j * RNG.random((3, 4))
    parts = np.zeros((4, 3), [("real", "f8"), ("imag", "f8")])
    parts["real"], parts["imag"] = value.T.real, value.T.imag
    with h5py.File(tmp_path / "x.mat", "w", userblock_size=512) as file:
        file["z"] = parts
        file["b"] = np.array([[1, 0, 1]], "u1").T
        file["b"].attrs["MATLAB_class"] = np.bytes_("logical")
    found = imported(tmp_path / "x.mat")
    same(found["z"][...], value)
    same(found["b"][...], np.array([[True, False, True]]))


def test_palettes_and_geography_become_attributes(tmp_path: Path) -> None:
    image_of = pytest.importorskip("PIL.Image")
    tifffile = pytest.importorskip("tifffile")
    image_of.fromarray(FRAMES[0]).convert("P").save(tmp_path / "x.png")
    with image_of.open(tmp_path / "x.png") as image:
        colours = image.getpalette()[:3]
    assert imported(tmp_path / "x.png").attrs["palette"][0] == colours
    palette = RNG.integers(0, 2**16, (3, 256)).astype("u2")
    scale = (33550, "d", 3, (10.0, 10.0, 0.0), True)
    keys = (34735, "H", 8, (1, 1, 0, 1, 1024, 0, 1, 1), True)
    tifffile.imwrite(
        tmp_path / "x.tif", FRAMES[0, ..., 0], photometric="palette", colormap=palette,
        extratags=[scale, keys],
    )  # fmt: skip
    found = imported(tmp_path / "x.tif").attrs
    assert found["palette"] == palette.T.tolist()
    assert found["geotiff"]["ModelPixelScale"] == [10.0, 10.0, 0.0]


@pytest.mark.parametrize(
    ("text", "expected", "columns"),
    [
        (b"a,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ["a", "b"]),
        (b"\xef\xbb\xbf1,2\n3,4\n", [[1, 2], [3, 4]], None),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", [[1, 2]], ["a", "b"]),
        (b'"x, y",2\nz,"a ""q"" b"\n', [["x, y", "2"], ["z", 'a "q" b']], None),
        (b'"two\nlines",2\nz,3\n', [["two\nlines", "2"], ["z", "3"]], None),
        (b'5" pipe,2\nz,3\n', [['5" pipe', "2"], ["z", "3"]], None),
        (b'"1","2"\n', [[1, 2]], None),
        (b"a,b\nc,d\n", [["a", "b"], ["c", "d"]], None),
    ],
)
def test_csv_as_spreadsheets_write_it(
    text: bytes, expected: Any, columns: Any, tmp_path: Path
) -> None:
    (tmp_path / "x.csv").write_bytes(text)
    found = imported(tmp_path / "x.csv")
    assert found[...].tolist() == expected
    assert found.attrs.get("columns") == columns


@pytest.mark.parametrize("options", [{"skip": "x"}, {"delimiter": "ab"}, {"names": "yes"}])
def test_an_option_of_text_that_means_nothing_is_an_error(options: Any, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(ConversionError, match=next(iter(options))):
        imported(tmp_path / "x.csv", **options)


def test_matlab(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    value = np.arange(6.0).reshape(2, 3)
    write_mat(tmp_path / "x.mat", value)
    found = imported(tmp_path / "x.mat")
    same(found["data"][...], value)
    assert list(found) == ["data"]


@pytest.mark.parametrize("compression", ["raw", "gzip", "zstd", "bzip2", "blosc"])
def test_n5(compression: str, tmp_path: Path) -> None:
    pytest.importorskip("numcodecs")
    value = RNG.integers(0, 1000, (7, 5)).astype("u2")
    write_n5(tmp_path / "x.n5", value, (4, 3), compression, unit="nm")
    found = imported(tmp_path / "x.n5")
    same(found["data"][...], value)
    assert found["data"].attrs["unit"] == "nm"
