"""Chunks that share cache lines of the caller's memory are written together, like one by one."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

Values = np.ndarray[Any, np.dtype[Any]]

# A plane of so many elements is written with its neighbours.
SIDE = 160
COMPRESSORS = {
    "lz4": zarr.Blosc("lz4", 5, zarr.Blosc.SHUFFLE),
    "lz4, small blocks": zarr.Blosc("lz4", 5, zarr.Blosc.SHUFFLE, blocksize=1 << 12),
    "zstd": zarr.Blosc("zstd", 1, zarr.Blosc.BITSHUFFLE),
    "snappy": zarr.Blosc("snappy", 5, zarr.Blosc.NOSHUFFLE),
    "by c-blosc": zarr.Blosc("zlib", 1, zarr.Blosc.SHUFFLE),
    "not Blosc": zarr.Zlib(1),
    "stored": zarr.Blosc("lz4", 0, zarr.Blosc.SHUFFLE),
}
DTYPES = ("u1", ">f8", "<f4", "<c16", "S3", [("a", "<i2"), ("b", "<f8")])


def stored(folder: Path) -> dict[str, bytes]:
    """What the files of an array hold."""
    return {one.name: one.read_bytes() for one in folder.iterdir()}


def random(shape: tuple[int, ...], dtype: Any, seed: int = 1) -> Values:
    """Noise, which does not become shorter, beside a smooth plane, and planes of zeros."""
    dtype = np.dtype(dtype)
    made = np.random.default_rng(seed)
    values = made.integers(0, 256, (*shape, dtype.itemsize), "u1").view(dtype).reshape(shape)
    if shape[-1] > 4:
        values[..., 1] = values[0, 0, 0]
        values[..., 2] = np.zeros((), dtype)
    return values


def made(folder: Path, shape: tuple[int, ...], chunks: tuple[int, ...], **how: Any) -> Any:
    return zarr.open_array(str(folder), mode="w", shape=shape, chunks=chunks, zarr_format=2, **how)


def one_by_one(z: Any, values: Values) -> None:
    """Write the chunks along the last axis in a call each."""
    step = z.chunks[-1]
    for begin in range(0, values.shape[-1], step):
        z[..., begin : begin + step] = values[..., begin : begin + step]


@pytest.mark.parametrize("name", COMPRESSORS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_the_same_bytes_as_one_by_one(tmp_path: Path, name: str, dtype: Any) -> None:
    shape = (SIDE, SIDE, 21)
    how = {"dtype": dtype, "compressor": COMPRESSORS[name]}
    for thick in (1, 2):
        values = random(shape, dtype)
        together = made(tmp_path / "a", shape, (SIDE, SIDE, thick), **how)
        together[...] = values
        apart = made(tmp_path / "b", shape, (SIDE, SIDE, thick), **how)
        one_by_one(apart, values)
        assert stored(tmp_path / "a") == stored(tmp_path / "b")
        assert together[...].tobytes() == values.tobytes()


@pytest.mark.parametrize("chunks", [(200, 170, 1), (200, 170, 3), (150, 150, 1), (160, 130, 2)])
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("fill", [0, 7])
def test_chunks_beyond_the_edge(
    tmp_path: Path, chunks: tuple[int, ...], empty: bool, fill: int
) -> None:
    shape = (SIDE, 163, 11)
    how = {
        "dtype": "<i4",
        "compressor": COMPRESSORS["lz4"],
        "fill_value": fill,
        "write_empty_chunks": empty,
    }
    values = random(shape, "<i4")
    values[..., 5] = fill
    together, apart = (made(tmp_path / name, shape, chunks, **how) for name in "ab")
    together[...] = values
    one_by_one(apart, values)
    assert stored(tmp_path / "a") == stored(tmp_path / "b")
    assert np.array_equal(together[...], values)


LAYOUTS: dict[str, Callable[[Values], Values]] = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "backwards": lambda values: np.ascontiguousarray(values[::-1, :, ::-1])[::-1, :, ::-1],
    "every second": lambda values: np.repeat(np.repeat(values, 2, axis=0), 2, axis=2)[::2, :, ::2],
    "rows apart": lambda values: np.repeat(values, 2, axis=1)[:, ::2],
    "one row": lambda values: np.broadcast_to(values[:1], values.shape),
    "unaligned": lambda values: np.frombuffer(
        b"x" + values.tobytes(), values.dtype, offset=1
    ).reshape(values.shape),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_any_layout(tmp_path: Path, name: str, order: str) -> None:
    shape = (SIDE, 200, 19)
    values = LAYOUTS[name](random(shape, "<f8"))
    how = {"dtype": "<f8", "compressor": COMPRESSORS["lz4"], "order": order}
    z = made(tmp_path / "a", shape, (SIDE, 150, 1), **how)
    z[...] = values
    assert z[...].tobytes() == values.tobytes()


def test_what_is_written_in_part_keeps_the_rest(tmp_path: Path) -> None:
    shape = (SIDE, SIDE, 24)
    z = made(tmp_path / "a", shape, (SIDE, SIDE, 1), dtype="<f4", compressor=COMPRESSORS["lz4"])
    model = np.zeros(shape, "<f4")
    keys = [(), np.s_[:, :, 3:20], np.s_[:, 5:, 2:22], np.s_[::2, :, :], np.s_[:, :, ::3]]
    for seed, key in enumerate(keys):
        value = random(model[key].shape, "<f4", seed)
        z[key] = value
        model[key] = value
        assert z[...].tobytes() == model.tobytes()


def test_what_another_handle_stored_beyond_the_edge_remains(tmp_path: Path) -> None:
    """The first handle knows a smaller array, whose chunks reach beyond it."""
    how = {"dtype": "<i4", "compressor": COMPRESSORS["lz4"]}
    small = made(tmp_path / "a", (SIDE, SIDE, 16), (200, 200, 1), **how)
    large = zarr.open_array(str(tmp_path / "a"), mode="r+")
    large.resize(200, 200, 16)
    large[SIDE:, :, ::2] = 5
    small[...] = 3
    assert (large[:SIDE, :SIDE] == 3).all()
    assert (large[SIDE:, :, ::2] == 5).all()
    assert (large[SIDE:, :, 1::2] == 0).all()


def test_no_update_is_lost_beside_another_writer(tmp_path: Path) -> None:
    how = {"dtype": "<i4", "compressor": COMPRESSORS["lz4"]}
    for round in range(12):
        folder = tmp_path / str(round)
        small = made(folder, (SIDE, SIDE, 16), (200, 200, 1), **how)
        large = zarr.open_array(str(folder), mode="r+")
        large.resize(200, 200, 16)
        begin = threading.Barrier(2)

        def beyond(large: Any = large, begin: threading.Barrier = begin) -> None:
            begin.wait(60)
            for k in range(16):
                large[SIDE:, :, k] = 5

        thread = threading.Thread(target=beyond)
        thread.start()
        begin.wait(60)
        small[...] = 3
        thread.join(60)
        assert not thread.is_alive()
        assert (large[:SIDE, :SIDE] == 3).all()
        assert (large[SIDE:] == 5).all()


def test_stores_that_are_not_folders(tmp_path: Path) -> None:
    shape = (SIDE, 163, 11)
    values = random(shape, "<f8")
    for store in (zarr.MemoryStore(), zarr.ZipStore(str(tmp_path / "a.zip"), mode="w"), {}):
        z = zarr.open_array(
            store,
            mode="w",
            shape=shape,
            chunks=(SIDE, 170, 1),
            dtype="<f8",
            compressor=COMPRESSORS["lz4"],
            zarr_format=2,
        )
        z[...] = values
        assert z[...].tobytes() == values.tobytes()


def test_values_that_change_meanwhile_are_stored_whole(tmp_path: Path) -> None:
    """What is stored decodes, and each element is one that was there."""
    shape = (SIDE, SIDE, 32)
    values = np.zeros(shape, "<i8")
    z = made(tmp_path / "a", shape, (170, SIDE, 1), dtype="<i8", compressor=COMPRESSORS["lz4"])
    over = threading.Event()

    def change() -> None:
        step = 0
        while not over.is_set():
            values[:] = step % 7
            step += 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            z[...] = values
            assert np.isin(z[...], np.arange(7)).all()
    finally:
        over.set()
        thread.join(60)
