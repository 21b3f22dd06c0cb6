"""Virtual arrays beside those of other libraries: HDF5's virtual datasets, xarray and VirtualiZarr.

Each example draws the files anew, and compares a few selections of the whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from zarrix import virtual

h5py = pytest.importorskip("h5py")

_numbers = itertools.count()
_DTYPES = ("u1", "<i2", ">i4", "<f4", ">f8", "<c8", "?", "S3")


@pytest.fixture
def examples(pytestconfig: pytest.Config) -> int:
    return 300 if pytestconfig.getoption("--long") else 10


def drawn(count: int, check: Callable[[Any], None]) -> None:
    """Call ``check`` with the data of ``count`` examples."""

    @settings(
        max_examples=count,
        deadline=None,
        # An example makes files, so that smaller ones of a failure would take minutes.
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(st.data())
    def run(data: Any) -> None:
        check(data)

    run()


def numbers(data: Any, shape: Sequence[int], dtype: str) -> Any:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    return rng.integers(0, 100, shape).astype(dtype)


def selections(data: Any, shape: Sequence[int]) -> list[tuple[Any, ...]]:
    """The whole, and three keys of ranges and indices."""
    found: list[tuple[Any, ...]] = [(...,)]
    for _ in range(3):
        key: list[Any] = []
        for size in shape:
            if size and data.draw(st.booleans()):
                key.append(data.draw(st.integers(0, size - 1)))
            else:
                start = data.draw(st.integers(0, size))
                stop = data.draw(st.integers(start, size))
                key.append(slice(start, stop, data.draw(st.sampled_from((1, 1, 2, 3)))))
        found.append(tuple(key))
    return found


def in_hdf5(data: Any, folder: Path, values: Any) -> str:
    """A dataset of one of HDF5's layouts, with filters or without."""
    path = folder / f"{next(_numbers)}.h5"
    kind = data.draw(st.sampled_from(("contiguous", "plain", "deflate", "shuffle", "lzf", "v4")))
    chunks = None
    if kind != "contiguous":
        # The last chunk of an axis may be padded.
        chunks = tuple(data.draw(st.integers(1, max(1, n))) for n in values.shape)
    filters: dict[str, Any] = {
        "deflate": {"compression": "gzip"},
        "shuffle": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "lzf": {"compression": "lzf"},
    }.get(kind, {})
    with h5py.File(path, "w", libver="latest" if kind == "v4" else None) as file:
        file.create_dataset("u", data=values, chunks=chunks, **filters)
    return str(path)


def in_zarr(data: Any, folder: Path, values: Any) -> str:
    """The same elements as a Zarr array of one of the versions."""
    path = str(folder / f"{next(_numbers)}.zarr")
    chunks = tuple(data.draw(st.integers(1, max(1, n))) for n in values.shape)
    shards = tuple(2 * n for n in chunks) if data.draw(st.booleans()) else None
    zarr_format: Any = 3 if shards else data.draw(st.sampled_from((2, 3)))
    zarr.create_array(path, data=values, chunks=chunks, shards=shards, zarr_format=zarr_format)
    return path


def placed_boxes(data: Any, kind: str) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], int]:
    """Starts and shapes of pieces that do not overlap, and the axis that they lie along."""
    ndim = data.draw(st.integers(1, 3))
    common = [data.draw(st.integers(1, 6)) for _ in range(ndim)]
    axis = data.draw(st.integers(0, ndim - 1))
    starts, shapes, begin = [], [], 0
    for _ in range(data.draw(st.integers(1, 5))):
        length = data.draw(st.integers(1, 6))
        if kind == "mosaic":
            # Holes lie before and beside a piece.
            begin += data.draw(st.integers(0, 3))
            beside = [data.draw(st.integers(0, 2)) for _ in common]
        else:
            beside = [0] * ndim
        starts.append(tuple(begin if n == axis else k for n, k in enumerate(beside)))
        shapes.append(tuple(length if n == axis else k for n, k in enumerate(common)))
        begin += length
    return starts, shapes, axis


@pytest.mark.parametrize("kind", ["concat", "stack", "mosaic"])
def test_hdf5_reads_the_same_from_a_virtual_dataset(
    tmp_path: Path, examples: int, kind: str
) -> None:
    def check(data: Any) -> None:
        dtype = data.draw(st.sampled_from(_DTYPES))
        starts, shapes, axis = placed_boxes(data, kind)
        if kind == "stack":
            shapes = [shapes[0]] * len(shapes)
            axis = data.draw(st.integers(0, len(shapes[0])))
        values = [numbers(data, shape, dtype) for shape in shapes]
        files = [in_hdf5(data, tmp_path, one) for one in values]
        # Zarr has the elements of some files, so that formats are mixed in ours.
        names = [
            f"{file}/u" if data.draw(st.booleans()) else in_zarr(data, tmp_path, one)
            for file, one in zip(files, values, strict=True)
        ]
        mine: Any
        if kind == "concat":
            mine = virtual.concat(names, axis)
        elif kind == "stack":
            mine = virtual.stack(names, axis)
        else:
            fill = np.zeros((), dtype)[()]
            mine = virtual.mosaic(list(zip(starts, names, strict=True)), fill_value=fill)
        layout = h5py.VirtualLayout(mine.shape, dtype=dtype)
        for number, (file, start, shape) in enumerate(zip(files, starts, shapes, strict=True)):
            region: list[Any] = [slice(a, a + n) for a, n in zip(start, shape, strict=True)]
            if kind == "stack":
                region = [slice(None)] * len(shape)
                region.insert(axis, number)
            layout[tuple(region)] = h5py.VirtualSource(file, "u", shape, dtype=dtype)
        whole = tmp_path / f"{next(_numbers)}.h5"
        with h5py.File(whole, "w", libver="latest") as file:
            file.create_virtual_dataset("u", layout)
        with h5py.File(whole, "r") as file:
            theirs = file["u"]
            assert mine.dtype == theirs.dtype.newbyteorder("=")
            for key in selections(data, mine.shape):
                np.testing.assert_array_equal(mine[key], theirs[key])

    drawn(examples, check)


def datasets(data: Any, xr: Any) -> tuple[list[Any], list[dict[str, Any]]]:
    """Data sets that follow one another in time, and how each stores its variables."""
    width = data.draw(st.integers(1, 4))
    dtype = data.draw(st.sampled_from(("<f4", "<f8", "<i4", "|u1")))
    unit = data.draw(st.sampled_from(("hours", "days", "minutes")))
    calendar = data.draw(st.sampled_from(("proleptic_gregorian", "noleap", "360_day")))
    parts, encodings, begin = [], [], 0
    for _ in range(data.draw(st.integers(1, 4))):
        count = data.draw(st.integers(1, 6))
        time = xr.date_range(
            "2001-02-01", periods=begin + count, freq="D", calendar=calendar, use_cftime=True
        )[begin:]
        begin += count + data.draw(st.integers(0, 3))
        t = numbers(data, (count, width), dtype)
        variables = {"t": (("time", "x"), t, {"units": "K"}), "height": ((), 2.0)}
        parts.append(xr.Dataset(variables, {"time": time, "x": np.arange(width)}))
        # Each file counts from a day of its own, as those of months do.
        units = f"{unit} since {time[0].strftime('%Y-%m-%d')}"
        encoding: dict[str, Any] = {"time": {"units": units, "dtype": "i8"}}
        if data.draw(st.booleans()):
            chunks = (data.draw(st.integers(1, count)), data.draw(st.integers(1, width)))
            encoding["t"] = {"chunksizes": chunks, "zlib": True}
        encodings.append(encoding)
    return parts, encodings


def test_xarray_opens_the_same_from_several_files(tmp_path: Path, examples: int) -> None:
    xr = pytest.importorskip("xarray")
    for name in ("zarrix.xarray", "netCDF4", "dask.array", "cftime"):
        pytest.importorskip(name)

    def check(data: Any) -> None:
        parts, encodings = datasets(data, xr)
        names = [str(tmp_path / f"{next(_numbers)}.nc") for _ in parts]
        for name, part, encoding in zip(names, parts, encodings, strict=True):
            part.to_netcdf(name, encoding=encoding)
        given = data.draw(st.permutations(names))
        joined = virtual.join(given, "time")
        times = xr.coders.CFDatetimeCoder(use_cftime=True)
        with (
            xr.open_mfdataset(
                names,
                combine="nested",
                concat_dim="time",
                data_vars="minimal",
                coords="minimal",
                compat="override",
                join="outer",
                decode_times=times,
            ) as theirs,
            xr.open_dataset(joined.store, engine="zarrix", decode_times=times) as mine,
        ):
            xr.testing.assert_identical(mine.load(), theirs.load())
            one = data.draw(st.integers(0, len(theirs["time"]) - 1))
            label = theirs["time"].values[one].isoformat()
            row = np.ravel(joined.sel(time=label)["t"][...])
            np.testing.assert_array_equal(row, theirs["t"].values[one])

    # Opening several files takes dask a tenth of a second.
    drawn(examples // 2, check)


def test_xarray_concatenates_packed_variables_to_the_same(tmp_path: Path, examples: int) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")

    def check(data: Any) -> None:
        width = data.draw(st.integers(1, 4))
        names, decoded = [], []
        for _ in range(data.draw(st.integers(1, 4))):
            values = numbers(data, (data.draw(st.integers(1, 5)), width), "f8")
            values[data.draw(st.integers(0, len(values) - 1))] = np.nan
            packed: dict[str, Any] = {"dtype": "i2", "_FillValue": -1}
            packed["scale_factor"] = data.draw(st.sampled_from((0.5, 0.1, 3.0)))
            packed["add_offset"] = data.draw(st.sampled_from((0.0, -7.0, 273.15)))
            names.append(str(tmp_path / f"{next(_numbers)}.nc"))
            xr.Dataset({"t": (("y", "x"), values)}).to_netcdf(names[-1], encoding={"t": packed})
            with xr.open_dataset(names[-1]) as one:
                decoded.append(one["t"].load())
        theirs = xr.concat(decoded, "y").values
        mine = virtual.concat([f"{name}/t" for name in names], decode="cf")
        assert mine.shape == theirs.shape
        for key in selections(data, mine.shape):
            np.testing.assert_array_equal(mine[key], theirs[key].astype(mine.dtype))

    drawn(examples, check)


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in the Zarr version 3:UserWarning")
def test_virtualizarr_writes_references_to_the_same(tmp_path: Path, examples: int) -> None:
    vz = pytest.importorskip("virtualizarr")
    xr = pytest.importorskip("xarray")
    stores = pytest.importorskip("obstore.store")
    registries = pytest.importorskip("obspec_utils.registry")
    parsers = pytest.importorskip("virtualizarr.parsers")
    fsspec = pytest.importorskip("fsspec")
    registry = registries.ObjectStoreRegistry({"file://": stores.LocalStore()})

    def check(data: Any) -> None:
        # What its references can say: one dtype, one layout, and no padded chunk in the middle.
        dtype = data.draw(st.sampled_from(("<i2", "<i4", "<f4", "<f8")))
        chunks = tuple(data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=2)))
        width = data.draw(st.integers(1, 5))
        compression = data.draw(st.sampled_from((None, "gzip")))
        names, several = [], []
        for _ in range(data.draw(st.integers(2, 4))):
            values = numbers(data, (chunks[0] * data.draw(st.integers(1, 3)), width), dtype)
            names.append(str(tmp_path / f"{next(_numbers)}.h5"))
            with h5py.File(names[-1], "w") as file:
                layout = (chunks[0], min(chunks[1], width))
                made = file.create_dataset("t", data=values, chunks=layout, compression=compression)
                for axis, name in enumerate(("y", "x")):
                    file.create_dataset(name, data=np.arange(values.shape[axis])).make_scale(name)
                    made.dims[axis].attach_scale(file[name])
            parser = parsers.HDFParser(drop_variables=["y", "x"])
            several.append(
                vz.open_virtual_dataset(
                    f"file://{names[-1]}", registry, parser, loadable_variables=[]
                )
            )
        written = str(tmp_path / f"{next(_numbers)}.json")
        whole = xr.concat(several, "y", coords="minimal", compat="override")
        whole.vz.to_kerchunk(written, format="json")
        mine = virtual.concat([f"{name}/t" for name in names])
        # Their references, read by us; ours, read by fsspec; and our pieces.
        theirs: Any = zarr.open(written, mode="r")["t"]
        virtual.references(mine, tmp_path / "ours.json", overwrite=True)
        ours: Any = zarr.open(
            fsspec.filesystem("reference", fo=str(tmp_path / "ours.json")).get_mapper(""), mode="r"
        )
        assert mine.shape == theirs.shape == ours.shape
        for key in selections(data, mine.shape):
            np.testing.assert_array_equal(mine[key], theirs[key])
            np.testing.assert_array_equal(mine[key], ours[key])

    drawn(examples, check)
