"""Parts of damaged Blosc chunks: an error, or what a read of the whole chunk has."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CorruptChunkError

SHAPE = (90, 700)
# One element, points of many rows, and a box whose rows are taken from planes.
PARTS: tuple[Any, ...] = (
    (5, 9),
    (slice(None, None, 40), slice(3, None, 300)),
    (slice(1, 40), slice(2, 690)),
)
# The header and the first entries of the table of blocks.
FRONT_BYTES = 48


def damaged(good: bytes, random: np.random.Generator) -> bytes:
    """Some bytes changed, most of them in front; sometimes the end is missing."""
    bytes_ = bytearray(good)
    for _ in range(int(random.integers(1, 4))):
        end = FRONT_BYTES if random.random() < 0.6 else len(bytes_)
        bytes_[int(random.integers(0, end))] = int(random.integers(0, 256))
    if random.random() < 0.2:
        del bytes_[int(random.integers(0, len(bytes_))) :]
    return bytes(bytes_)


@pytest.mark.parametrize("dtype", ["u2", "f4", "f8", "V20"])
@pytest.mark.parametrize("name", ["lz4", "zstd", "blosclz", "zlib"])
def test_parts_are_errors_or_those_of_the_whole(name: str, dtype: str) -> None:
    random = np.random.default_rng(11)
    length = SHAPE[0] * SHAPE[1] * np.dtype(dtype).itemsize
    values = np.repeat(random.integers(0, 255, length // 3 + 1, "u1"), 3)[:length]
    errors = 0
    for blocksize in (0, 2048, 8192):
        store: dict[str, bytes] = {}
        z = zarr.open_array(
            store,
            mode="w",
            shape=SHAPE,
            chunks=SHAPE,
            dtype=dtype,
            compressor=zarr.Blosc(name, 5, zarr.Blosc.SHUFFLE, blocksize),
            zarr_format=2,
        )
        z[...] = values.view(dtype).reshape(SHAPE)
        good = bytes(store["0.0"])
        for _ in range(60):
            store["0.0"] = damaged(good, random)
            try:
                whole = z[...]
            except CorruptChunkError:
                whole = None
            for part in PARTS:
                try:
                    found = z[part]
                except CorruptChunkError:
                    errors += 1
                    continue
                if whole is not None:
                    assert np.asarray(found).tobytes() == np.asarray(whole[part]).tobytes()
    assert errors
