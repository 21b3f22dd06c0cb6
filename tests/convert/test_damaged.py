"""Damaged files: one error of zarrix in bounded time, or what the library of the format reads.

Bytes are flipped and files are cut at drawn places. A format without checksums reads damaged
elements as they are, and its library reads the same.
"""

from __future__ import annotations

import contextlib
import io
import struct
import tarfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import write_n5
from zarrix.convert import open_file
from zarrix.errors import ConversionError, ZarrixError

VALUE = np.arange(6 * 50 * 7, dtype="i4").reshape(6, 50, 7) % 99


def write_npz(path: Path, save: Any) -> None:
    save(path, a=VALUE, b=np.asfortranarray(VALUE[0]))


def read_npz(path: Path) -> dict[str, Any]:
    with np.load(path) as found:
        return {name: found[name] for name in found}


def write_hdf5(path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", libver="latest") as file:
        options = {"compression": 4, "shuffle": True, "fletcher32": True}
        file.create_dataset("a", data=VALUE, chunks=(2, 25, 7), **options)
        file["b"] = VALUE[0]
        file["b"].attrs["units"] = "m"


def read_hdf5(path: Path) -> dict[str, Any]:
    h5py = pytest.importorskip("h5py")
    found = {}
    with h5py.File(path) as file:
        for name in file:
            # A member that the library cannot read is not imported either.
            with contextlib.suppress(OSError, RuntimeError, KeyError, ValueError, TypeError):
                found[name] = file[name][...]
    return found


def write_netcdf3(path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as file:
        file.createDimension("t", None)
        file.createDimension("x", 50)
        file.createVariable("a", "i4", ("t", "x"))[...] = VALUE[..., 0]
        file.createVariable("b", "f8", ("x",))[...] = np.arange(50)


def read_netcdf3(path: Path) -> dict[str, Any]:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        return {name: np.asarray(one[...]) for name, one in file.variables.items()}


def write_tiff(path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(path, VALUE.astype("u2"), tile=(16, 16), compression="zlib")


def read_tiff(path: Path) -> dict[str, Any]:
    return {"": pytest.importorskip("tifffile").imread(path)}


def write_safetensors(path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy")
    library.save_file({"a": VALUE, "b": VALUE[0]}, path)


def read_safetensors(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = pytest.importorskip("safetensors.numpy").load_file(path)
    return found


def write_tar(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for index, one in enumerate(VALUE):
            value = io.BytesIO()
            np.save(value, one)
            info = tarfile.TarInfo(f"{index}.npy")
            info.size = len(value.getvalue())
            archive.addfile(info, io.BytesIO(value.getvalue()))


def read_tar(path: Path) -> dict[str, Any]:
    with tarfile.open(path) as archive:
        members = [archive.extractfile(one) for one in archive]
        return {"npy": np.stack([np.load(io.BytesIO(one.read())) for one in members if one])}


def read_csv(path: Path) -> dict[str, Any]:
    return {"": np.loadtxt(path, delimiter=",", ndmin=2)}


FORMATS: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], dict[str, Any]]]] = {
    "npy": ("x.npy", lambda path: np.save(path, VALUE), lambda path: {"": np.load(path)}),
    "npz, stored": ("x.npz", lambda path: write_npz(path, np.savez), read_npz),
    "npz, deflated": ("x.npz", lambda path: write_npz(path, np.savez_compressed), read_npz),
    "hdf5": ("x.h5", write_hdf5, read_hdf5),
    "netcdf3": ("x.nc", write_netcdf3, read_netcdf3),
    "tiff": ("x.tif", write_tiff, read_tiff),
    "safetensors": ("x.safetensors", write_safetensors, read_safetensors),
    "tar": ("x.tar", write_tar, read_tar),
    "csv": ("x.csv", lambda path: np.savetxt(path, VALUE[0], "%d", ","), read_csv),
}


def damaged(whole: bytes, rng: Any) -> bytes:
    value = bytearray(whole)
    draw = rng.random()
    if draw < 0.3:
        return bytes(value[: int(rng.integers(len(value)))])
    for _ in range(int(rng.integers(1, 4))):
        # Most damage is done where headers are.
        end = len(value) if rng.random() < 0.5 else min(len(value), 600)
        value[int(rng.integers(end))] = int(rng.integers(256))
    return bytes(value)


def compare(found: Any, path: Path, read: Callable[[Path], dict[str, Any]]) -> bool:
    """Whether what was imported is what the library reads; False if it cannot read the file."""
    try:
        expected = read(path)
    except Exception:
        return False
    arrays = {"": found} if hasattr(found, "shape") else dict(found.arrays())
    for name in {*arrays} & {*expected}:
        mine, theirs = np.asarray(arrays[name][...]), np.asarray(expected[name])
        assert mine.shape == theirs.shape
        if name == "" and theirs.dtype.kind == "f" and mine.dtype.kind in "iu":
            theirs = theirs.astype(mine.dtype)
        if mine.dtype.kind not in "OT":
            assert mine.tobytes() == theirs.astype(mine.dtype).tobytes()
    return True


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("times", [8, pytest.param(300, marks=pytest.mark.long)])
def test_a_damaged_file_is_one_error_or_what_its_library_reads(
    format: str, times: int, tmp_path: Path
) -> None:
    name, write, read = FORMATS[format]
    source = tmp_path / name
    write(source)
    whole = source.read_bytes()
    rng = np.random.default_rng([times, *format.encode()])
    warnings.simplefilter("ignore")
    refused = 0
    for _ in range(times):
        source.write_bytes(damaged(whole, rng))
        begin = time.process_time()
        try:
            zarr.import_(source, tmp_path / "y.zarr", overwrite=True, memory="8 MiB")
        except ZarrixError:
            refused += 1
        else:
            compare(zarr.open(tmp_path / "y.zarr", mode="r"), source, read)
        # A bound against work that a damaged number asks for.
        assert time.process_time() - begin < 20
    assert refused


def test_a_stored_member_of_npz_with_another_checksum_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=VALUE)
    value = bytearray((tmp_path / "x.npz").read_bytes())
    value[len(value) // 2] ^= 1
    (tmp_path / "x.npz").write_bytes(value)
    with pytest.raises(zipfile.BadZipFile):
        np.load(tmp_path / "x.npz")["a"]
    for verify in ("sample", "full"):
        with pytest.raises(ConversionError, match="checksum"):
            zarr.import_(tmp_path / "x.npz", tmp_path / "y.zarr", verify=verify, overwrite=True)


def test_the_members_of_an_npz_are_listed_a_fixed_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    real = zipfile.ZipFile.__init__

    def counting(self: zipfile.ZipFile, *given: Any, **more: Any) -> None:
        opened.append(given)
        real(self, *given, **more)

    counts = []
    for members in (2, 20):
        path = tmp_path / f"{members}.npz"
        np.savez(path, **{f"a{number}": np.arange(4) for number in range(members)})
        opened.clear()
        with monkeypatch.context() as patched:
            patched.setattr(zipfile.ZipFile, "__init__", counting)
            zarr.import_(path, tmp_path / f"{members}.zarr")
        counts.append(len(opened))
    assert counts[0] == counts[1] > 0


def test_blocks_of_n5_that_are_damaged(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for compression in ("raw", "gzip", "zstd", "blosc"):
        folder = tmp_path / f"{compression}.n5"
        write_n5(folder, VALUE, (2, 20, 7), compression)
        block = folder / "data/0/0/0"
        whole = block.read_bytes()
        for _ in range(20):
            block.write_bytes(damaged(whole, rng))
            with contextlib.suppress(ZarrixError):
                zarr.import_(folder, tmp_path / "y.zarr", overwrite=True)


def test_a_block_of_n5_is_not_believed_to_be_as_large_as_it_says(tmp_path: Path) -> None:
    write_n5(tmp_path / "x.n5", VALUE[0, 0], (7,), "gzip")
    document = tmp_path / "x.n5/data/attributes.json"
    text = document.read_text().replace("[7]", "[1125899906842624]")
    document.write_text(text)
    block = tmp_path / "x.n5/data/0"
    value = bytearray(block.read_bytes())
    value[4:8] = b"\xff\xff\xff\xff"
    block.write_bytes(value)
    with pytest.raises(ConversionError, match="have more than 2,147,483,648 bytes"):
        zarr.import_(tmp_path / "x.n5", tmp_path / "y.zarr", chunks=(1000,))


def test_the_time_of_n5_is_that_of_what_is_stored(tmp_path: Path) -> None:
    write_n5(tmp_path / "x.n5", VALUE[0, 0], (7,))
    document = tmp_path / "x.n5/data/attributes.json"
    document.write_text(
        document.read_text().replace('"dimensions": [7]', f'"dimensions": [{2**50}]')
    )
    zarr.import_(tmp_path / "x.n5", tmp_path / "y.zarr", verify="full")
    found = zarr.open(tmp_path / "y.zarr", mode="r")["data"]
    assert (found[:7].tolist(), found[2**49]) == (VALUE[0, 0].tolist(), 0)
    assert open_file(tmp_path / "x.n5", format="n5")["data"].nchunks_initialized == 1


def test_a_tiff_that_is_shorter_than_its_header_is_an_error(tmp_path: Path) -> None:
    tifffile = pytest.importorskip("tifffile")
    tifffile.imwrite(
        tmp_path / "x.tif", np.ones((64, 112), "u1"), tile=(16, 16), compression="zlib"
    )
    with tifffile.TiffFile(tmp_path / "x.tif", mode="r+b") as file:
        assert len(file.pages[0].dataoffsets) == 28
        file.pages[0].tags["ImageLength"].overwrite(4_000_000_000, dtype="I")
    for call in (
        lambda: zarr.import_(tmp_path / "x.tif", tmp_path / "y.zarr"),
        lambda: open_file(tmp_path / "x.tif"),
        lambda: zarr.convert.virtual(tmp_path / "x.tif", tmp_path / "x.json"),
    ):
        with pytest.raises(ConversionError, match=r"is truncated: .* 28 are there"):
            call()


def tag_at(value: bytes, number: int) -> int:
    """Where the entry of a tag begins in the first page of a TIFF file."""
    (first,) = struct.unpack_from("<I", value, 4)
    (count,) = struct.unpack_from("<H", value, first)
    entries = range(first + 2, first + 2 + 12 * count, 12)
    return next(at for at in entries if struct.unpack_from("<H", value, at)[0] == number)


@pytest.mark.parametrize("keep_chunks", [False, True])
@pytest.mark.parametrize("damage", ["offset", "fewer counts", "data"])
def test_damaged_tiles_are_one_error(damage: str, keep_chunks: bool, tmp_path: Path) -> None:
    """A tile behind the end, one without a length, and one that tifffile cannot decode."""
    write_tiff(tmp_path / "x.tif")
    value = bytearray((tmp_path / "x.tif").read_bytes())
    # Tags of the places of tiles, and of their lengths.
    entry = tag_at(value, 325 if damage == "fewer counts" else 324)
    if damage == "fewer counts":
        value[entry + 4 : entry + 8] = struct.pack("<I", 1)
    else:
        (offsets,) = struct.unpack_from("<I", value, entry + 8)
        (first,) = struct.unpack_from("<I", value, offsets)
        if damage == "offset":
            value[offsets : offsets + 4] = struct.pack("<I", len(value) - 3)
        else:
            value[first : first + 20] = b"\xff" * 20
    (tmp_path / "x.tif").write_bytes(value)
    with pytest.raises(ZarrixError):
        zarr.import_(
            tmp_path / "x.tif", tmp_path / "y.zarr", keep_chunks=keep_chunks, verify="full"
        )


def test_a_member_of_npz_before_the_begin_of_the_file_is_one_error(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=VALUE)
    value = bytearray((tmp_path / "x.npz").read_bytes())
    end = value.rindex(b"PK\5\6")
    # Places are counted from a begin that follows from where the directory should be.
    (place,) = struct.unpack_from("<I", value, end + 16)
    value[end + 16 : end + 20] = struct.pack("<I", place + 1024)
    (tmp_path / "x.npz").write_bytes(value)
    with pytest.raises(ConversionError):
        zarr.import_(tmp_path / "x.npz", tmp_path / "y.zarr")
