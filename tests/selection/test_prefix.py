"""Chunks of zstd are decoded only as far as a selection reaches, with equal elements."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._errors import CorruptChunkError

SHAPE = (7, 130, 260)
VALUES = np.random.default_rng(3).integers(0, 40, SHAPE).cumsum(axis=2).astype("<u4")

SELECTIONS: list[Any] = [
    (0,),
    (3,),
    (6,),
    (slice(1, 3), slice(5, 9), slice(250, 260)),
    (slice(None, None, 3), 129),
    (slice(5, 1, -2), slice(None, None, -1), 7),
    (slice(2, 2),),
    (slice(0, 1), slice(0, 1), slice(0, 1)),
    (..., 0),
    (..., 259),
]


def made(path: Path, **options: Any) -> Any:
    z = zarr.create_array(path, shape=SHAPE, dtype=VALUES.dtype, **options)
    z[:] = VALUES
    return z


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shards", [None, SHAPE])
@pytest.mark.parametrize(
    "compressor",
    [
        zarr.codecs.ZstdCodec(level=1),
        zarr.codecs.ZstdCodec(checksum=True),
        zarr.codecs.numcodecs.LZ4(),
    ],
    ids=["zstd", "zstd-checksum", "lz4"],
)
def test_parts_of_large_chunks_equal_numpy(
    tmp_path: Path, compressor: Any, shards: Any, order: str
) -> None:
    turned: Any = zarr.codecs.TransposeCodec(order=(2, 1, 0)) if order == "F" else None
    filters = [turned] if turned else []
    z = made(tmp_path / "a", chunks=SHAPE, shards=shards, compressors=[compressor], filters=filters)
    for selection in SELECTIONS:
        np.testing.assert_array_equal(z[selection], VALUES[selection], str(selection))
    at = ([0, 5, 0], [3, 2, 129], [0, 259, 8])
    np.testing.assert_array_equal(z.vindex[at], VALUES[at])
    rows = [4, 0, 1]
    np.testing.assert_array_equal(z.oindex[rows, [128, 3], :], VALUES[rows][:, [128, 3]])
    mask = VALUES < 100
    mask[4:] = False
    np.testing.assert_array_equal(z.vindex[mask], VALUES[mask])


def flipped(path: Path, at: float) -> None:
    """Change a byte of the only chunk, at this part of its length."""
    chunk = path / "c" / "0" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    data[int(at * len(data))] ^= 0x55
    chunk.write_bytes(data)


def test_damage_is_found_where_it_is_read_or_a_checksum_covers_it(tmp_path: Path) -> None:
    zstd, summed = zarr.codecs.ZstdCodec(level=1), zarr.codecs.ZstdCodec(level=1, checksum=True)
    crc = zarr.codecs.Crc32cCodec()
    for name, compressors in {"none": [zstd], "own": [summed], "crc32c": [zstd, crc]}.items():
        path = tmp_path / name
        z = made(path, chunks=SHAPE, compressors=compressors)
        flipped(path, 0.98)
        if name == "none":
            np.testing.assert_array_equal(z[0], VALUES[0])
        else:
            with pytest.raises(CorruptChunkError):
                z[0]
        flipped(path, 0.98)
        np.testing.assert_array_equal(z[:], VALUES)


def test_a_frame_that_is_cut_is_an_error_for_every_part(tmp_path: Path) -> None:
    z = made(tmp_path / "a", chunks=SHAPE, compressors=[zarr.codecs.ZstdCodec(level=1)])
    chunk = tmp_path / "a" / "c" / "0" / "0" / "0"
    data = chunk.read_bytes()
    for length in (0, 3, 9, 200, len(data) // 2, len(data) - 1):
        chunk.write_bytes(data[:length])
        with pytest.raises(CorruptChunkError):
            z[0]
