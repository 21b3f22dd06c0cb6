"""The lock overhead of an uncontended writer of a chunk.

The same array twice: beside its document, which every write locks a byte of, and with its chunks in
a folder without one, where there is nothing to lock and processes are not kept apart. The writes
take turns, so that a busy machine slows both; the median of the ratios is told, and no bar: a test
must not depend on how fast a machine is at the moment.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_ROUNDS = 300
_EACH = 10


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Whole chunks and single elements, in chunks of 64 KiB and of 1 MiB."""
    rounds = max(5, round(_ROUNDS * scale))
    return [
        _cost(folder / f"{size}-{what}", size, what, rounds)
        for size in (64, 1024)
        for what in ("a whole chunk", "one element")
    ]


def _cost(folder: Path, kibibytes: int, what: str, rounds: int) -> Figure:
    import zarrix as zarr

    length = kibibytes << 8
    keywords: dict[str, Any] = {"shape": length, "chunks": length, "dtype": "i4"}
    locked = zarr.create(store=folder / "locked", compressor=None, **keywords)
    chunks = zarr.DirectoryStore(folder / "chunks")
    free = zarr.create(store=folder / "free", chunk_store=chunks, compressor=None, **keywords)
    data = np.arange(length, dtype="i4")
    for array in (locked, free):
        array[:] = data
    written: Any = (slice(None), data) if what == "a whole chunk" else (slice(5, 6), data[:1])
    ratios = []
    for number in range(rounds):
        pair = (locked, free) if number % 2 else (free, locked)
        took = {id(array): _seconds(array, written) for array in pair}
        ratios.append(took[id(locked)] / took[id(free)])
    more = 100 * (statistics.median(ratios) - 1)
    return Figure(f"the lock, beside a write of {what} of {kibibytes} KiB", round(more, 1), "", "%")


def _seconds(array: Any, written: Any) -> float:
    begin = time.perf_counter()
    for _ in range(_EACH):
        array[written[0]] = written[1]
    return time.perf_counter() - begin
