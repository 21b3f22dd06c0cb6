"""Chunks that are read block by block, neighbours together: the same elements as one by one.

The engine does so where chunks are thin in a large buffer and where there are fewer of them than
threads; selections here are large enough, and each is compared with NumPy.
"""

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import Blosc

SHAPE = (300, 400, 20)


@cache
def values(dtype: str) -> np.ndarray[Any, Any]:
    count = int(np.prod(SHAPE))
    raw = np.random.default_rng(3).integers(0, 255, count * np.dtype(dtype).itemsize, "u1")
    raw.flags.writeable = False
    return raw.view(dtype).reshape(SHAPE)


COMPRESSORS = {
    "shuffle": Blosc("lz4", 5, Blosc.SHUFFLE),
    "bitshuffle": Blosc("zstd", 1, Blosc.BITSHUFFLE),
    "small blocks": Blosc("lz4", 5, Blosc.SHUFFLE, blocksize=4096),
    "blocks that divide no element": Blosc("lz4", 5, Blosc.NOSHUFFLE, blocksize=4100),
    "stored": Blosc("lz4", 0, Blosc.NOSHUFFLE),
    "none": None,
}


@pytest.mark.parametrize("compressor", COMPRESSORS.values(), ids=COMPRESSORS)
@pytest.mark.parametrize(
    ("chunks", "order"),
    [((300, 400, 1), "C"), ((150, 399, 2), "F"), ((300, 400, 20), "C")],
    ids=["planes", "pairs of planes", "one chunk"],
)
def test_thin_chunks_read_as_numpy_indexes(
    tmp_path: Path, compressor: Any, chunks: tuple[int, ...], order: Any
) -> None:
    wanted = values("f8").view("u8")
    z = zarr.open(
        str(tmp_path / "a"),
        mode="w",
        shape=SHAPE,
        chunks=chunks,
        dtype="u8",
        compressor=compressor,
        order=order,
    )
    z[...] = wanted
    for key in (
        np.s_[...],
        np.s_[1:],
        np.s_[:, 3:397],
        np.s_[2:299:2, ::3],
        np.s_[..., 1:19],
        np.s_[..., ::-1],
        np.s_[5:290, 7:390, 2],
    ):
        np.testing.assert_array_equal(z[key], wanted[key])
    # One selection into memory whose axes are not in order.
    out = np.zeros((20, 400, 300), "u8").transpose(2, 1, 0)
    z.get_basic_selection(..., out=out)
    np.testing.assert_array_equal(out, wanted)


def big(path: Path, **arguments: Any) -> tuple[Any, np.ndarray[Any, Any]]:
    """An array of planes that is larger than any cache, so that neighbours are read together."""
    wanted = np.random.default_rng(4).integers(0, 9, (256, 512, 32), "i8")
    chunks, fill = (256, 512, 1), -5
    z = zarr.open(
        str(path),
        mode="w",
        shape=wanted.shape,
        chunks=chunks,
        dtype="i8",
        fill_value=fill,
        **arguments,
    )
    z[...] = wanted
    return z, wanted


def test_absent_and_odd_chunks_among_neighbours(tmp_path: Path) -> None:
    z, wanted = big(tmp_path / "a", compressor=Blosc("lz4", 5, Blosc.SHUFFLE))
    for k in (0, 7, 8, 31):
        os.remove(tmp_path / "a" / f"0.0.{k}")
        wanted[..., k] = -5
    # Other blocks than its neighbours have, from the same codec in another mood.
    odd = Blosc("zstd", 1, Blosc.BITSHUFFLE, blocksize=8192).encode(wanted[..., 12].copy())
    (tmp_path / "a" / "0.0.12").write_bytes(odd)
    np.testing.assert_array_equal(z[...], wanted)
    np.testing.assert_array_equal(z[3:, 5:, 1:], wanted[3:, 5:, 1:])


@pytest.mark.parametrize(
    "compressor", [Blosc("lz4", 5, Blosc.SHUFFLE), None], ids=["blosc", "none"]
)
def test_the_error_names_the_damaged_chunk_among_neighbours(
    tmp_path: Path, compressor: Any
) -> None:
    z, _ = big(tmp_path / "a", compressor=compressor)
    for k, keep in ((3, -1), (9, 10), (20, 0)):
        file = tmp_path / "a" / f"0.0.{k}"
        whole = file.read_bytes()
        file.write_bytes(whole[:keep])
        with pytest.raises(zarr.errors.CorruptChunkError, match=rf"0\.0\.{k}\b"):
            z[...]
        file.write_bytes(whole)
    z[...]


def test_threads_do_not_change_the_result(tmp_path: Path) -> None:
    z, wanted = big(tmp_path / "a", compressor=Blosc("lz4", 5, Blosc.SHUFFLE))
    for threads in (1, 2, 5):
        with zarr.config.set({"threads": threads}):
            np.testing.assert_array_equal(z[...], wanted)
            np.testing.assert_array_equal(z[..., 4], wanted[..., 4])
