"""Shards of Zarr v3, put together and taken apart by numpy alone.

A shard is its encoded inner chunks one after the other, then for each of them, in C order, where it
begins and how long it is, then the CRC-32C of that index.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.data import Layout

_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")
_NAMES = {"u1": "uint8", "u2": "uint16", "f4": "float32", "f8": "float64"}
_CHECKSUM_BYTES = 4


def document(layout: Layout) -> str:
    """The text of `zarr.json`."""
    little = {"name": "bytes", "configuration": {"endian": "little"}}
    crc = {"name": "crc32c"}
    sharding = {
        "chunk_shape": layout.chunks,
        "codecs": [little, _codec(layout)],
        "index_codecs": [little, crc],
        "index_location": "end",
    }
    return json.dumps(
        {
            "zarr_format": 3,
            "node_type": "array",
            "shape": layout.shape,
            "data_type": _NAMES[layout.dtype],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": layout.shards}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0,
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
            "attributes": {},
        },
        indent=4,
    )


def _codec(layout: Layout) -> dict[str, Any]:
    match layout.compressor:
        case cname, level, shuffle:
            configuration = {
                "cname": cname,
                "clevel": level,
                "shuffle": _SHUFFLES[shuffle],
                "typesize": np.dtype(layout.dtype).itemsize,
                "blocksize": 0,
            }
            return {"name": "blosc", "configuration": configuration}
        case "zstd", level:
            return {"name": "zstd", "configuration": {"level": level, "checksum": False}}
    raise ValueError(f"no codec of v3 for {layout.compressor}")


def join(pieces: list[bytes]) -> bytes:
    """The shard that holds ``pieces``."""
    lengths = np.array([len(piece) for piece in pieces], "<u8")
    index = np.stack([np.cumsum(lengths) - lengths, lengths], axis=1).astype("<u8").tobytes()
    return b"".join([*pieces, index, _crc32c(index).to_bytes(_CHECKSUM_BYTES, "little")])


def split(shard: bytes, count: int) -> list[bytes]:
    """The ``count`` encoded inner chunks of a shard."""
    end = len(shard) - _CHECKSUM_BYTES
    index = np.frombuffer(shard[end - 16 * count : end], "<u8").reshape(count, 2)
    return [shard[offset : offset + length] for offset, length in index.tolist()]


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ _TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def _table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


_TABLE = [_table_entry(byte) for byte in range(256)]
