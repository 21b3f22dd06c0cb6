"""Stored bytes that would become a thousand times more than the metadata allows.

The document declares a chunk of 1 KiB; the chunk decodes to 1 GiB, says so in its header, or is a
file of that length. Measured is what the read takes beyond what the process has, and how long it
works; seconds are processor time, so that a busy machine does not cause a failure.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import Memory, call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_DECLARED = 1 << 10
_MIB = 1 << 20
_TIMES = 3


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """A bomb for every native codec; 1 GiB in the long form, 32 MiB in the quick one."""
    bomb_bytes = 1 << 30 if scale >= 1 else 1 << 25
    figures = []
    for name, compressor, make in _bombs():
        stored = make(bomb_bytes)
        grown, seconds, refused = _read(folder / name.replace(" ", "-"), compressor, stored)
        what = f"{bomb_bytes >> 20} MiB in a chunk of 1 KiB, {name}: "
        figures += [
            Figure(f"{what}not refused", 1 - refused, "= 0"),
            Figure(f"{what}memory", round(grown / _MIB, 2), "< 16", "MiB"),
            Figure(f"{what}time", round(seconds, 4), "< 0.1", "s"),
        ]
    return figures


def _bombs() -> Iterator[tuple[str, dict[str, Any] | None, Callable[[int], bytes | int]]]:
    """Name, compressor and what makes the stored bytes; a number is a length of holes."""
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        yield (
            f"blosc {cname}",
            {"id": "blosc", "cname": cname, "clevel": 9, "shuffle": 1},
            lambda size, cname=cname: _blosc(cname, size),
        )
    zstd = {"id": "zstd", "level": 1}
    yield "zstd", zstd, _zstd
    yield "zstd without the content size", zstd, lambda size: _zstd_repeated(size, 0)
    yield "zstd that says 2**60", zstd, lambda size: _zstd_repeated(size, 1 << 60)
    yield "lz4", {"id": "lz4", "acceleration": 1}, lambda size: _lz4(size, size)
    yield "lz4 that says 1 KiB", {"id": "lz4", "acceleration": 1}, lambda n: _lz4(n, _DECLARED)
    yield "gzip", {"id": "gzip", "level": 1}, lambda size: gzip.compress(bytes(size), 6)
    yield "zlib", {"id": "zlib", "level": 1}, lambda size: zlib.compress(bytes(size), 6)
    yield "bz2", {"id": "bz2", "level": 1}, lambda size: _streamed(bz2.BZ2Compressor(9), size)
    xz = {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None}
    yield "lzma", xz, lambda size: _streamed(lzma.LZMACompressor(preset=0), size)
    # Not compressed at all: files of holes, which take no disk space.
    yield "none, a long file", None, lambda size: size
    yield "zstd, a long file", zstd, lambda size: size
    yield "packbits", None, lambda size: size


def _read(folder: Path, compressor: Any, stored: bytes | int) -> tuple[int, float, bool]:
    """Bytes that reads took, the seconds of the fastest, and whether all were refused."""
    import zarrix as zarr

    packed = folder.name == "packbits"
    keywords: dict[str, Any] = {"dtype": "?", "filters": [{"id": "packbits"}]} if packed else {}
    keywords.setdefault("dtype", "u1")
    array = zarr.open_array(
        folder, mode="w", shape=_DECLARED, chunks=_DECLARED, compressor=compressor, **keywords
    )
    # Modules loaded with the first read are not a cost of the bomb.
    array[:] = np.zeros(_DECLARED, keywords["dtype"])
    array[:10]
    with (folder / "0").open("wb") as file:
        if isinstance(stored, int):
            file.truncate(stored)
        else:
            file.write(stored)

    def work() -> tuple[int, float, bool]:
        memory, seconds, refusals = Memory(), [], 0
        # Other programs take the caches of the processor from one of them at times.
        for _ in range(_TIMES):
            begun = time.process_time()
            try:
                array[:]
            except zarr.errors.CorruptChunkError:
                refusals += 1
            seconds.append(time.process_time() - begun)
        return memory.grown(), min(seconds), refusals == _TIMES

    outcome = call(work)
    return outcome.answer or (1 << 40, 1e9, False)


def _streamed(compressor: Any, size: int) -> bytes:
    block = bytes(_MIB)
    parts = [compressor.compress(block) for _ in range(size // _MIB)]
    return b"".join([*parts, compressor.flush()])


def _blosc(cname: str, size: int) -> bytes:
    from numcodecs import blosc

    # Blosc frames hold 2 GiB at most.
    return bytes(blosc.compress(bytes(size), cname.encode(), 9, 1))


def _zstd(size: int) -> bytes:
    from numcodecs import Zstd

    return bytes(Zstd(1).encode(bytes(size)))


def _zstd_repeated(size: int, said: int) -> bytes:
    """A frame of blocks that repeat one byte, with the content size that it is to claim."""
    # RFC 8878: magic, descriptor, window of 128 KiB or size; a block of type 1 is size and a byte.
    magic = b"\x28\xb5\x2f\xfd"
    head = magic + (b"\xc0\x38" + struct.pack("<Q", said) if said else b"\x00\x38")
    block = 1 << 17
    count = size // block
    each = [
        ((block << 3) | (1 << 1) | (n == count - 1)).to_bytes(3, "little") for n in range(count)
    ]
    return head + b"".join(header + b"\0" for header in each)


def _lz4(size: int, said: int) -> bytes:
    """A literal and one match that repeats it, behind the length that numcodecs writes."""
    extra, rest = divmod(size - 1 - 4 - 15 - 12, 255)
    match = b"\x1f\x00\x01\x00" + b"\xff" * extra + bytes([rest])
    return struct.pack("<I", said) + match + b"\xc0" + bytes(12)
