"""Encoded chunks of HDF5: masked ones, those at the edge, and all filters that Zarr has."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import same
from hypothesis import given, settings
from hypothesis import strategies as st
from zarrix.convert import open_file, virtual
from zarrix.errors import ConversionError

h5py = pytest.importorskip("h5py")

FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "deflate": {"compression": "gzip"},
    "shuffle, deflate": {"compression": 1, "shuffle": True},
    "shuffle, deflate, fletcher32": {"compression": 9, "shuffle": True, "fletcher32": True},
    "fletcher32": {"fletcher32": True},
    "lzf": {"compression": "lzf", "shuffle": True},
}


@st.composite
def datasets(draw: Any) -> tuple[np.ndarray[Any, Any], tuple[int, ...], str, list[bool]]:
    shape = tuple(draw(st.lists(st.integers(1, 12), min_size=1, max_size=3)))
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    dtype = draw(st.sampled_from(["u1", "<i2", ">i4", "<f4", ">f8", "c16", "S3", "?"]))
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = draw(st.binary(min_size=nbytes, max_size=nbytes))
    value = np.frombuffer(raw, "u1" if dtype == "?" else dtype).reshape(shape)
    if dtype == "?":
        value = value > 100
    masked = draw(st.lists(st.booleans(), min_size=8, max_size=8))
    return value, chunks, draw(st.sampled_from(sorted(FILTERS))), masked


@settings(max_examples=60, deadline=None)
@given(datasets())
def test_every_dataset_reads_as_h5py_reads_it(drawn: Any) -> None:
    value, chunks, filters, masked = drawn
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with h5py.File(folder / "x.h5", "w") as file:
            made = file.create_dataset("x", data=value, chunks=chunks, **FILTERS[filters])
            mask_some(made, value, masked)
        # Reopened, because the handle that wrote such a chunk does not read it (HDF5 2.0).
        with h5py.File(folder / "x.h5") as file:
            expected = file["x"][()]
        same(open_file(folder / "x.h5", "x")[...], expected)
        for keep in (False, True):
            dest = folder / f"{keep}.zarr"
            zarr.import_(folder / "x.h5", dest, keep_chunks=keep, zarr_format=2)
            same(zarr.open(dest, mode="r")["x"][...], expected)


def mask_some(made: Any, value: Any, masked: list[bool]) -> None:
    """Store some chunks again without their first filter, as HDF5 does if it does not pay."""
    if not (made.compression or made.fletcher32):
        return
    for index in range(made.id.get_num_chunks()):
        if not masked[index % len(masked)]:
            continue
        info = made.id.get_chunk_info(index)
        whole = np.zeros(made.chunks, made.dtype)
        region = tuple(
            slice(at, min(at + n, length))
            for at, n, length in zip(info.chunk_offset, made.chunks, made.shape, strict=True)
        )
        whole[tuple(slice(0, one.stop - one.start) for one in region)] = value[region]
        every = (1 << made.id.get_create_plist().get_nfilters()) - 1
        made.id.write_direct_chunk(info.chunk_offset, whole.tobytes(), filter_mask=every)


@pytest.mark.parametrize("filters", ["blosc", "zstd", "bzip2"])
def test_filters_of_plugins_are_kept(filters: str, tmp_path: Path) -> None:
    plugin = pytest.importorskip("hdf5plugin")
    options = {
        "blosc": plugin.Blosc(cname="lz4", clevel=9, shuffle=plugin.Blosc.SHUFFLE),
        "zstd": plugin.Zstd(3),
        "bzip2": plugin.BZip2(5),
    }[filters]
    # Chunks of noise do not become smaller, so that Blosc leaves its filter out.
    value = np.random.default_rng(0).integers(0, 2**32, (40, 30)).astype("u4")
    value[:20] = 7
    with h5py.File(tmp_path / "x.h5", "w") as file:
        made = file.create_dataset("x", data=value, chunks=(7, 8), **options)
        masks = {made.id.get_chunk_info(i).filter_mask for i in range(made.id.get_num_chunks())}
        assert len(masks) == (2 if filters == "blosc" else 1)
    done = zarr.import_(tmp_path / "x.h5", tmp_path / "x.zarr", keep_chunks=True)
    assert done.arrays["x"]["how"] == "chunks kept"
    same(zarr.open(tmp_path / "x.zarr", mode="r")["x"][...], value)
    virtual(tmp_path / "x.h5", tmp_path / "x.json")
    same(zarr.open(tmp_path / "x.json", mode="r")["x"][...], value)


def test_chunks_at_the_edge_that_are_stored_without_filters(tmp_path: Path) -> None:
    value = np.arange(35, dtype="i4").reshape(5, 7)
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        made = file.create_dataset("x", shape=(5, 7), dtype="i4", chunks=(4, 4), compression=4)
        made[...] = value
        # What the option H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS leaves: raw bytes and mask 0.
        assert made.id.get_chunk_info(0).filter_mask == 0
    same(open_file(tmp_path / "x.h5", "x")[...], value)


def test_chunks_that_were_never_written_are_missing(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        made = file.create_dataset(
            "x", shape=(100, 100), chunks=(10, 10), dtype="f4", fillvalue=np.nan, compression="gzip"
        )
        made[:10, :10] = 1
    zarr.import_(tmp_path / "x.h5", tmp_path / "x.zarr", keep_chunks=True)
    found = zarr.open(tmp_path / "x.zarr", mode="r")["x"]
    assert (found.nchunks_initialized, np.isnan(found[50, 50]), found[0, 0]) == (1, True, 1)


def test_what_leads_out_of_a_file_is_left_out_and_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["x"] = [1, 2, 3]
    layout = h5py.VirtualLayout((3,), "i8")
    layout[:] = h5py.VirtualSource(tmp_path / "secret.h5", "x", (3,))
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["ok"] = [4]
        file["link"] = h5py.ExternalLink(str(tmp_path / "secret.h5"), "/x")
        file["soft"] = h5py.SoftLink("/link")
        file["loop"] = h5py.SoftLink("/loop")
        file["self"] = file["/"]
        file.create_virtual_dataset("virtual", layout)
        outside = (str(tmp_path / "secret.h5"), 0, 24)
        file.create_dataset("external", (3,), "i8", external=[outside])
    done = zarr.import_(tmp_path / "x.h5", tmp_path / "x.zarr")
    assert list(done.arrays) == ["ok"]
    for name in ("link", "soft", "loop", "self", "virtual", "external"):
        assert any(note.startswith(f"{name} is left out") for note in done.notes), name
    followed = zarr.import_(tmp_path / "x.h5", tmp_path / "y.zarr", follow=True)
    assert {"link", "virtual"} <= set(followed.arrays)


def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.arange(100), chunks=(10,), compression="gzip")
    shown = open_file(tmp_path / "x.h5", "x")
    assert shown[5] == 5
    with open(tmp_path / "x.h5", "ab") as file:
        file.write(b"more")
    with pytest.raises(ConversionError, match="has changed while it was read"):
        shown[50]
