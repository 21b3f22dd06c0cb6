"""Files that the libraries of their formats write at random, and what these libraries read.

``python -m tests.foreign_files`` imports 500 of them and says how many are exact; each is
exact, or one error of zarrix, or a member that is named as left out. The kinds of which the library
is not installed are named and left out. A number draws the same file each time.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import json
import shutil
import sys
import tarfile
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarrix as zarr
from zarrix.convert import open_file, virtual
from zarrix.errors import ZarrixError

__all__ = ["KINDS", "Drawn", "checked", "draw", "missing"]

NUMBERS = ("u1", "i2", "<u4", "i8", "f4", "f8", ">i2", ">f4", ">u8", "f2", "c8", "c16")


class Drawn(NamedTuple):
    """A file, the options of its import, and what its library reads by the path of each array."""

    path: Path
    options: dict[str, Any]
    arrays: dict[str, Any]


def values(rng: Any, dtype: str, shape: tuple[int, ...], *, finite: bool = False) -> Any:
    """Elements of all bit patterns, or small integers, which compress."""
    kind = np.dtype(dtype)
    if rng.random() < 0.5 or finite:
        return rng.integers(0, 100, shape).astype(kind)
    count = int(np.prod(shape)) * kind.itemsize
    return np.frombuffer(rng.bytes(count), kind).reshape(shape)


def shape_of(rng: Any, least: int = 1, most: int = 3, side: int = 30) -> tuple[int, ...]:
    axes = int(rng.integers(least, most + 1))
    return tuple(int(n) for n in rng.integers(1, side, axes))


def pick(rng: Any, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def write_hdf5(folder: Path, rng: Any) -> Drawn:
    h5py = importlib.import_module("h5py")
    path = folder / "x.h5"
    userblock = pick(rng, [0, 0, 0, 512])
    libver = pick(rng, ["earliest", "latest", ("earliest", "v110"), "latest"])
    follow = bool(rng.random() < 0.3)
    if follow:
        with h5py.File(folder / "o.h5", "w", libver=libver) as other:
            other["pad"] = np.arange(int(rng.integers(100)))
            _hdf5_dataset(h5py, other, "a", rng)
            other.create_group("g")["b"] = values(rng, "i4", (5, 6))
    with h5py.File(path, "w", libver=libver, userblock_size=userblock) as file:
        for index in range(int(rng.integers(1, 4))):
            _hdf5_dataset(h5py, file, f"d{index}", rng)
        _hdf5_dataset(h5py, file.create_group("g/h"), "deep", rng)
        file["soft"] = h5py.SoftLink("/g/h/deep")
        file["hard"] = file["d0"]
        if follow:
            file["linked"] = h5py.ExternalLink("o.h5", "/a")
            file["group"] = h5py.ExternalLink("o.h5", "/g")
            layout = h5py.VirtualLayout((5, 6), "i4")
            layout[1:3] = h5py.VirtualSource("o.h5", "g/b", (5, 6))[1:3]
            file.create_virtual_dataset("virtual", layout, fillvalue=9)
    found: dict[str, Any] = {}

    def read(group: Any, above: str) -> None:
        for name in group:
            one = group[name]
            if isinstance(one, h5py.Dataset):
                text = h5py.check_string_dtype(one.dtype)
                is_text = text is not None and text.length is None
                found[f"{above}{name}"] = one.asstr()[...] if is_text else one[...]
            else:
                read(one, f"{above}{name}/")

    with h5py.File(path) as file:
        read(file, "")
    return Drawn(path, {"follow": True} if follow else {}, found)


def _hdf5_dataset(h5py: Any, group: Any, name: str, rng: Any) -> None:
    draw = rng.random()
    if draw < 0.06:
        group[name] = values(rng, pick(rng, NUMBERS), ())
    elif draw < 0.12:
        group.create_dataset(name, data=["a", "ü", ""] * 3, dtype=h5py.string_dtype())
    elif draw < 0.18:
        fields = np.zeros(7, [("a", pick(rng, NUMBERS)), ("b", "f8"), ("c", "S3")])
        fields["b"] = rng.random(7)
        group.create_dataset(name, data=fields, chunks=(3,), compression=pick(rng, [None, "gzip"]))
    elif draw < 0.22:
        rows = group.create_dataset(name, (3, 2), h5py.vlen_dtype(np.dtype("f4")))
        rows[1, 1] = [1, 2, 3]
    elif draw < 0.26:
        group[name] = np.array([1, 2, 0], h5py.enum_dtype({"a": 1, "b": 2}, "i2"))
    elif draw < 0.3:
        group[name] = rng.random((4, 3)) > 0.5
    else:
        shape = shape_of(rng, most=4, side=14)
        dtype = pick(rng, NUMBERS)
        options = _hdf5_layout(rng, shape, dtype)
        made = group.create_dataset(name, shape, dtype, **options)
        if rng.random() < 0.3 and options.get("chunks"):
            made[tuple(slice(0, n // 2 + 1) for n in shape)] = 3
        elif rng.random() < 0.95:
            made[...] = values(rng, dtype, shape)


def _hdf5_layout(rng: Any, shape: tuple[int, ...], dtype: str) -> dict[str, Any]:
    if rng.random() < 0.2:
        return {}
    chunks = tuple(int(rng.integers(1, n + 1)) for n in shape)
    options: dict[str, Any] = {"chunks": chunks}
    most = [pick(rng, [n, n, n + int(rng.integers(9)), None]) for n in shape]
    if rng.random() < 0.6:
        options["maxshape"] = tuple(most)
    options |= pick(rng, [
        {}, {}, {"compression": "gzip"}, {"compression": 1, "shuffle": True},
        {"compression": "lzf"}, {"fletcher32": True}, {"shuffle": True},
        {"compression": 9, "shuffle": True, "fletcher32": True},
        {"compression": "lzf", "shuffle": True, "fletcher32": True},
    ])  # fmt: skip
    if rng.random() < 0.3 and np.dtype(dtype).kind != "c":
        options["fillvalue"] = int(rng.integers(1, 50))
    return options


def write_netcdf4(folder: Path, rng: Any, *, classic: bool = False) -> Drawn:
    netcdf = importlib.import_module("netCDF4")
    path = folder / "x.nc"
    formats = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
    kind = pick(rng, formats) if classic else pick(rng, ["NETCDF4", "NETCDF4_CLASSIC"])
    big = not classic or kind == "NETCDF3_64BIT_DATA"
    with netcdf.Dataset(path, "w", format=kind) as file:
        dims = {"t": None, "y": int(rng.integers(1, 12)), "x": int(rng.integers(1, 12))}
        for name, n in dims.items():
            file.createDimension(name, n)
        file.title = "T"
        codes = ["i1", "i2", "i4", "f4", "f8"] + (["i8", "u2", "u8"] if big else [])
        if kind == "NETCDF4_CLASSIC":
            codes = codes[:5]
        steps = int(rng.integers(1, 6))
        for index in range(int(rng.integers(1, 6))):
            names = pick(rng, [("t", "y"), ("y", "x"), ("x",), ("t",), ("t", "y", "x"), ()])
            dtype = pick(rng, codes)
            options: dict[str, Any] = {}
            if not classic and names:
                options = {"zlib": bool(rng.random() < 0.6), "shuffle": bool(rng.random() < 0.5),
                           "fletcher32": bool(rng.random() < 0.3)}  # fmt: skip
                options["endian"] = pick(rng, ["native", "big", "little"])
            if rng.random() < 0.4:
                options["fill_value"] = int(rng.integers(0, 100))
            one = file.createVariable(f"v{index}", dtype, names, **options)
            one.scale_factor = np.float32(0.5)
            one.valid_range = np.array([1, 2], dtype)
            one.set_auto_maskandscale(False)
            shape = tuple(steps if n == "t" else dims[n] for n in names)
            if names and rng.random() < 0.2:
                one[tuple(slice(0, 1) for _ in names)] = 5
            else:
                one[...] = values(rng, dtype, shape, finite=True)
    found = {}
    with netcdf.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for name, one in file.variables.items():
            found[name] = np.asarray(one[...])
    return Drawn(path, {}, found)


def write_netcdf3(folder: Path, rng: Any) -> Drawn:
    return write_netcdf4(folder, rng, classic=True)


def write_pytables(folder: Path, rng: Any) -> Drawn:
    tables = importlib.import_module("tables")
    path = folder / "x.h5"
    with tables.open_file(str(path), "w") as file:
        group = file.create_group("/", "g")
        library = pick(rng, ["zlib", "lzo", "bzip2", "blosc", "blosc:zstd", "blosc2:lz4"])
        filters = tables.Filters(
            complevel=int(rng.integers(0, 9)), complib=library, shuffle=bool(rng.random() < 0.5),
            fletcher32=bool(rng.random() < 0.3),
        )  # fmt: skip
        shape = shape_of(rng, side=20)
        dtype = pick(rng, ["i4", "f8", "u1", "c16", "f4", "i8"])
        value = values(rng, dtype, shape)
        file.create_array("/", "array", value)
        file.create_carray("/", "carray", obj=value, filters=filters)
        extended = int(rng.integers(len(shape)))
        empty = value[(slice(None),) * extended + (slice(0, 0),)]
        made = file.create_earray(
            group, "earray", tables.Atom.from_dtype(value.dtype),
            shape=empty.shape, filters=filters, expectedrows=100,
        )  # fmt: skip
        made.append(value)
        fields = np.zeros(11, [("a", "i4"), ("b", "f8"), ("s", "S4"), ("c", "c16"), ("v", "f4", 3)])
        fields["c"] = rng.random(11) * 1j
        file.create_table(group, "table", obj=fields, filters=filters)
        rows = file.create_vlarray("/", "rows", tables.Int32Atom())
        rows.append([1, 2])
        rows.append([3])
    found: dict[str, Any] = {}
    with tables.open_file(str(path)) as file:
        for node in ("/array", "/carray", "/g/earray", "/g/table"):
            found[node[1:]] = np.asarray(file.get_node(node).read())
        kept = np.empty(2, object)
        kept[:] = file.get_node("/rows").read()
        found["rows"] = kept
    return Drawn(path, {}, found)


def write_matlab(folder: Path, rng: Any) -> Drawn:
    h5py = importlib.import_module("h5py")
    path = folder / "x.mat"
    found: dict[str, Any] = {}
    with h5py.File(path, "w", userblock_size=512, libver=("earliest", "v110")) as file:
        for index in range(3):
            shape = shape_of(rng, least=2)
            dtype, name = pick(rng, [("f8", "double"), ("i4", "int32"), ("f4", "single")])
            value = values(rng, dtype, shape)
            chunks = tuple(int(rng.integers(1, n + 1)) for n in shape[::-1])
            options = pick(rng, [{}, {"chunks": chunks, "compression": 3, "shuffle": True}])
            made = file.create_dataset(f"v{index}", data=value.T, **options)
            made.attrs["MATLAB_class"] = np.bytes_(name)
            found[f"v{index}"] = value
        value = rng.random((3, 4)) + 1j * rng.random((3, 4))
        parts = np.zeros((4, 3), [("real", "f8"), ("imag", "f8")])
        parts["real"], parts["imag"] = value.T.real, value.T.imag
        file["z"] = parts
        file["z"].attrs["MATLAB_class"] = np.bytes_("double")
        found["z"] = value
        file["b"] = np.array([[1, 0, 1]], "u1").T
        file["b"].attrs["MATLAB_class"] = np.bytes_("logical")
        found["b"] = np.array([[True, False, True]])
        file["e"] = np.array([0, 3], "u8")
        file["e"].attrs["MATLAB_class"] = np.bytes_("single")
        file["e"].attrs["MATLAB_empty"] = np.uint8(1)
        found["e"] = np.zeros((0, 3), "f4")
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file")
    return Drawn(path, {}, found)


def write_tiff(folder: Path, rng: Any, feature: str = "") -> Drawn:
    """One of ``ome``, ``big``, ``tiled``, ``jpeg`` and ``palette`` for sure, all else at random."""
    tifffile = importlib.import_module("tifffile")
    name = "x.ome.tif" if feature == "ome" else "x.tif"
    path = folder / (pick(rng, [name, "x.ome.tif"]) if feature in ("", "big", "tiled") else name)
    value, options = _tiff_pixels(rng, feature, may_map=not path.name.endswith("ome.tif"))
    options |= _tiff_codec(rng, feature, value.dtype, options)
    layouts = [{"tile": (16, 32)}, {"rowsperstrip": int(rng.integers(1, 20))}, {}]
    layout = pick(rng, layouts[:1] if feature == "tiled" else layouts)
    big = feature == "big" or bool(rng.random() < 0.5)
    with tifffile.TiffWriter(path, bigtiff=big, byteorder=pick(rng, "<>")) as writer:
        writer.write(value, **options, **layout)
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        has = {
            "": True, "ome": file.is_ome, "big": file.is_bigtiff, "tiled": page.is_tiled,
            "jpeg": page.compression == 7, "palette": page.photometric == 3,
        }  # fmt: skip
        assert has[feature], feature
    return Drawn(path, {}, {"": tifffile.imread(path)})


def _tiff_pixels(rng: Any, feature: str, *, may_map: bool) -> tuple[Any, dict[str, Any]]:
    """The elements of all pages, and what a pixel means."""
    always_bytes = feature in ("jpeg", "palette")
    dtype = "u1" if always_bytes else pick(rng, ["u1", "u2", "i2", "f4", "f8", "u4"])
    pages, height, width = (int(n) for n in rng.integers(1, 60, 3))
    shape: tuple[int, ...] = (pages % 5 + 1, height, width)
    options: dict[str, Any] = {"photometric": "minisblack"}
    if feature == "palette" or (may_map and dtype == "u1" and rng.random() < 0.1):
        colours = rng.integers(0, 2**16, (3, 256)).astype("u2")
        options = {"photometric": "palette", "colormap": colours}
    elif dtype in ("u1", "u2") and rng.random() < 0.3:
        planar = "contig" if feature == "jpeg" else pick(rng, ["contig", "separate"])
        shape = (*shape, 3) if planar == "contig" else (shape[0], 3, height, width)
        options = {"photometric": "rgb", "planarconfig": planar}
    return values(rng, dtype, shape, finite=True), options


def _tiff_codec(rng: Any, feature: str, dtype: Any, pixels: dict[str, Any]) -> dict[str, Any]:
    if feature == "jpeg":
        return {"compression": "jpeg"}
    has_codecs = importlib.util.find_spec("imagecodecs") is not None
    codecs = [None, "zlib", "zlib"] + (["lzw", "zstd", "packbits", "lzma"] if has_codecs else [])
    if has_codecs and dtype == "u1" and pixels.get("planarconfig") == "contig":
        codecs += ["jpeg", "webp"]
    codec = pick(rng, codecs)
    if has_codecs and codec in ("zlib", "lzw", "zstd") and rng.random() < 0.5:
        return {"compression": codec, "predictor": True}
    return {"compression": codec}


def write_n5(folder: Path, rng: Any) -> Drawn:
    """N5 by its specification: blocks of any codec, of which some are missing."""
    path, value, block = _n5_values(folder, rng)
    shape = value.shape
    codec = pick(rng, [None, "gzip", "bz2", "zstd"])
    get_codec = importlib.import_module("numcodecs").get_codec
    names = {None: "raw", "gzip": "gzip", "bz2": "bzip2", "zstd": "zstd"}
    document = {
        "dimensions": shape[::-1], "blockSize": block[::-1], "dataType": value.dtype.name,
        "compression": {"type": names[codec]},
    }  # fmt: skip
    (path / "data").mkdir(parents=True)
    (path / "attributes.json").write_text('{"n5": "2.0.0"}')
    (path / "data" / "attributes.json").write_text(json.dumps(document))
    expected = np.zeros_like(value)
    for coords in itertools.product(
        *(range(-(-n // b)) for n, b in zip(shape, block, strict=True))
    ):
        if rng.random() < 0.3:
            continue
        at = tuple(slice(i * n, (i + 1) * n) for i, n in zip(coords, block, strict=True))
        part = expected[at] = value[at]
        head = np.array([0, len(shape)], ">u2").tobytes()
        head += np.array(part.shape[::-1], ">u4").tobytes()
        data = part.astype(part.dtype.newbyteorder(">")).tobytes()
        file = (path / "data").joinpath(*map(str, reversed(coords)))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(head + (get_codec({"id": codec}).encode(data) if codec else data))
    return Drawn(path, {}, {"data": expected})


def _n5_values(folder: Path, rng: Any) -> tuple[Path, Any, tuple[int, ...]]:
    shape = shape_of(rng)
    value = values(rng, pick(rng, ["u1", "i2", "u4", "i8", "f4", "f8"]), shape)
    return folder / "x.n5", value, tuple(int(rng.integers(1, n + 1)) for n in shape)


def write_z5py(folder: Path, rng: Any) -> Drawn:
    library = importlib.import_module("z5py")
    path, value, block = _n5_values(folder, rng)
    codec = pick(rng, ["raw", "gzip", "bzip2", "zstd", "blosc", "xz", "lz4"])
    file = library.File(str(path), "w", use_zarr_format=False)
    made = file.require_group("g").create_dataset(
        "data", shape=value.shape, dtype=value.dtype.name, chunks=block, compression=codec
    )
    made.attrs["unit"] = "nm"
    written = tuple(slice(0, pick(rng, [n, n // 2 + 1])) for n in value.shape)
    made[written] = value[written]
    return Drawn(path, {}, {"g/data": np.asarray(made[:])})


def write_tensorstore(folder: Path, rng: Any) -> Drawn:
    library = importlib.import_module("tensorstore")
    path, value, block = _n5_values(folder, rng)
    kinds = ["raw", "gzip", "bzip2", "zstd", "blosc", "xz"]
    compression: dict[str, Any] = {"type": pick(rng, kinds)}
    if compression["type"] == "blosc":
        compression |= {"cname": "lz4", "clevel": 5, "shuffle": 1}
    spec = {
        "driver": "n5", "kvstore": {"driver": "file", "path": f"{path}/data/"},
        "metadata": {
            "dimensions": value.shape[::-1], "blockSize": block[::-1],
            "dataType": value.dtype.name, "compression": compression,
        },
    }  # fmt: skip
    made = library.open(spec, create=True).result()
    made[tuple(slice(0, n // 2 + 1) for n in value.shape[::-1])].write(
        value[tuple(slice(0, n // 2 + 1) for n in value.shape)].T
    ).result()
    return Drawn(path, {}, {"data": np.asarray(made.read().result()).T})


def write_npz(folder: Path, rng: Any) -> Drawn:
    arrays = {f"a{i}": values(rng, pick(rng, NUMBERS), shape_of(rng, least=0)) for i in range(3)}
    arrays["f"] = np.asfortranarray(values(rng, "i4", (4, 5)))
    arrays["s"] = np.array(["a", "ü"])
    arrays["t"] = np.array(["2020", "NaT"], "M8[s]")
    save = pick(rng, [np.savez, np.savez_compressed])
    save(folder / "x.npz", **arrays)
    with np.load(folder / "x.npz") as found:
        return Drawn(folder / "x.npz", {}, dict(found))


def write_safetensors(folder: Path, rng: Any) -> Drawn:
    library = importlib.import_module("safetensors.numpy")
    codes = ["u1", "i2", "<u4", "i8", "f4", "f8", "f2", "?"]
    arrays = {f"a.{i}": values(rng, pick(rng, codes), shape_of(rng, least=0)) for i in range(4)}
    arrays = {
        name: np.asarray(one != 0) if one.dtype == bool else one for name, one in arrays.items()
    }
    library.save_file(arrays, folder / "x.safetensors", {"made": "here"})
    return Drawn(folder / "x.safetensors", {}, library.load_file(folder / "x.safetensors"))


def write_csv(folder: Path, rng: Any) -> Drawn:
    csv = importlib.import_module("csv")
    path = folder / "x.csv"
    rows, columns = (int(n) for n in rng.integers(1, 30, 2))
    head = pick(rng, [None, [f"c {i}" for i in range(columns)]])
    encoding = pick(rng, ["utf-8", "utf-8-sig"])
    if rng.random() < 0.5:
        value: Any = pick(rng, [rng.random((rows, columns)), rng.integers(0, 9, (rows, columns))])
        cells = [[repr(one.item()) for one in row] for row in value]
    else:
        words = ["a", "b, c", 'say "hi"', "two\nlines", "ü", "5'' pipe", "x"]
        cells = [[pick(rng, words) for _ in range(columns)] for _ in range(rows)]
        cells[0][0], head = "a, b", None
        value = None
    with open(path, "w", newline="", encoding=encoding) as file:
        writer = csv.writer(file, quoting=pick(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
        writer.writerows([*([head] if head else []), *cells])
    if value is None:
        with open(path, newline="", encoding="utf-8-sig") as file:
            value = np.array([*csv.reader(file)], object)
    return Drawn(path, {}, {"": value[:, 0] if columns == 1 else value})


def write_tar(folder: Path, rng: Any) -> Drawn:
    path, count = folder / "x.tar", int(rng.integers(1, 12))
    arrays = values(rng, pick(rng, NUMBERS), (count, *shape_of(rng, side=9)))
    classes = rng.integers(0, 9, count)
    raw = [rng.bytes(int(rng.integers(0, 50))) for _ in range(count)]
    with tarfile.open(path, "w", format=pick(rng, [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])) as out:
        for i in range(count):
            npy = io.BytesIO()
            np.save(npy, arrays[i])
            parts = {"npy": npy.getvalue(), "cls": b"%d" % classes[i], "x.dat": raw[i]}
            parts["x_dat"] = raw[i][::-1]
            for suffix, value in parts.items():
                info = tarfile.TarInfo(f"train/{i:03}.{suffix}")
                info.size = len(value)
                out.addfile(info, io.BytesIO(value))
    kept, turned = np.empty(count, object), np.empty(count, object)
    kept[:], turned[:] = raw, [one[::-1] for one in raw]
    found = {"npy": arrays, "cls": classes, "x_dat": kept, "x_dat_": turned}
    return Drawn(path, {}, found)


KINDS: dict[str, tuple[Callable[[Path, Any], Drawn], int]] = {
    "hdf5": (write_hdf5, 170),
    "netcdf4": (write_netcdf4, 70),
    "netcdf3": (write_netcdf3, 40),
    "pytables": (write_pytables, 40),
    "matlab": (write_matlab, 20),
    "tiff": (write_tiff, 20),
    "tiff-ome": (partial(write_tiff, feature="ome"), 12),
    "tiff-big": (partial(write_tiff, feature="big"), 10),
    "tiff-tiled": (partial(write_tiff, feature="tiled"), 10),
    "tiff-jpeg": (partial(write_tiff, feature="jpeg"), 10),
    "tiff-palette": (partial(write_tiff, feature="palette"), 8),
    "n5": (write_n5, 10),
    "n5-z5py": (write_z5py, 10),
    "n5-tensorstore": (write_tensorstore, 10),
    "npz": (write_npz, 15),
    "safetensors": (write_safetensors, 10),
    "csv": (write_csv, 20),
    "tar": (write_tar, 15),
}
"""By kind: what writes a file, and how many of the 500 it writes."""

_NEEDS = {
    "hdf5": "h5py", "netcdf4": "netCDF4", "netcdf3": "netCDF4", "pytables": "tables",
    "matlab": "h5py", "tiff": "tifffile", "n5": "numcodecs", "n5-z5py": "z5py",
    "n5-tensorstore": "tensorstore", "safetensors": "safetensors", "tiff-jpeg": "imagecodecs",
}  # fmt: skip


def missing(kind: str) -> str | None:
    """The library that a kind needs and that is not installed."""
    needed = {_NEEDS.get(kind), _NEEDS.get(kind.partition("-")[0])} - {None}
    return next((one for one in sorted(needed) if importlib.util.find_spec(one) is None), None)


def draw(kind: str, number: int, folder: Path) -> Drawn:
    """The file of that number."""
    return KINDS[kind][0](folder, np.random.default_rng([number, *kind.encode()]))


def checked(drawn: Drawn) -> str:
    """How a file fared in an import, with kept chunks, opened, and by references.

    It is ``exact``; ``exact except what is named`` if a member was left out; or ``error``.

    Raises
    ------
    AssertionError
        Something is neither exact nor named.
    """
    folder = drawn.path.parent
    told = "exact"
    for keep in (False, True):
        dest = folder / f"{keep}.zarr"
        try:
            done = zarr.import_(drawn.path, dest, keep_chunks=keep, verify="full", **drawn.options)
        except ZarrixError as error:
            told = "error" if "\n" not in str(error) else f"several lines: {error}"
            continue
        _compare(zarr.open(dest, mode="r"), drawn.arrays, done.left_out)
    if told == "exact":
        _compare(open_file(drawn.path, **drawn.options), drawn.arrays, done.left_out)
        with contextlib.suppress(ZarrixError):
            # Some elements have no references.
            virtual(drawn.path, folder / "x.json", **drawn.options)
            references = zarr.open(folder / "x.json", mode="r")
            _compare(references, drawn.arrays, done.left_out)
        named = {one.partition(" is left out")[0] for one in done.left_out}
        told = "exact except what is named" if named & {*drawn.arrays} else "exact"
    return told


def _compare(found: Any, arrays: dict[str, Any], left_out: list[str]) -> None:
    named = {one.partition(" is left out")[0] for one in left_out}
    for name, expected in arrays.items():
        if name in named:
            continue
        one = found[name] if name else found
        same(np.asarray(one[...]), np.asarray(expected), name)


def same(found: Any, expected: Any, name: str) -> None:
    """Assert that elements are equal bit by bit, in any byte order."""
    assert found.shape == expected.shape, (name, found.shape, expected.shape)
    if found.dtype.kind in "OT" or expected.dtype.kind in "OT":
        pairs = zip(found.ravel().tolist(), expected.ravel().tolist(), strict=True)
        for mine, theirs in pairs:
            if isinstance(mine, np.ndarray):
                mine, theirs = mine.tolist(), list(theirs)
            assert mine == theirs, (name, mine, theirs)
        return
    assert found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("="), (
        name, found.dtype, expected.dtype
    )  # fmt: skip
    assert found.astype(expected.dtype).tobytes() == expected.tobytes(), name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    arguments = parser.parse_args()
    counted: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    for kind in arguments.kind or KINDS:
        if lacking := missing(kind):
            print(f"{kind}: left out, because {lacking} is not installed")
            continue
        of_kind: Counter[str] = Counter()
        for number in range(arguments.first, arguments.first + KINDS[kind][1]):
            folder = Path(tempfile.mkdtemp(prefix="zarrix-foreign-"))
            try:
                of_kind[checked(draw(kind, number, folder))] += 1
            except AssertionError as error:
                of_kind["wrong"] += 1
                print(f"{kind} {number}: {error}")
            except Exception as error:
                of_kind["raised"] += 1
                print(f"{kind} {number}: {error!r}")
            finally:
                shutil.rmtree(folder)
        print(f"{kind}: {dict(of_kind)}", flush=True)
        counted += of_kind
    print(f"{sum(counted.values())} files: {dict(counted)}")
    return 1 if counted["wrong"] or counted["raised"] else 0


if __name__ == "__main__":
    sys.exit(main())
