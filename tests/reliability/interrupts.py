"""Ctrl-C in the middle of long calls: when it is raised, and what is left.

A timer sends SIGINT to this process while the main thread is in one call of the engine that would
take seconds. The handle must go on working, and nothing may be left beside the chunks.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_KINDS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("blosc lz4", {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, 1),
    ("zlib", {"id": "zlib", "level": 1}, 1),
    # Told, without a bar: a chunk that is being encoded is finished first.
    ("zlib of level 6", {"id": "zlib", "level": 6}, 4),
)


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Reads and writes of many chunks, with codecs native and foreign."""
    import zarrix as zarr

    # A shell that runs this in the background has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    turns = 10 if scale >= 1 else 1
    rows = 1024 if scale >= 1 else 256
    figures = []
    noise = np.random.default_rng(1).integers(0, 50, (rows, 1 << 17)).astype("<f8")
    for name, compressor, chunk_rows in _KINDS if scale >= 1 else _KINDS[:2]:
        array = zarr.open_array(
            folder / name.replace(" ", "-"),
            mode="w",
            shape=noise.shape,
            chunks=(chunk_rows, 1 << 17),
            dtype="<f8",
            compressor=compressor,
        )
        bar = "<= 100" if chunk_rows == 1 else ""
        for kind, work in (
            ("write", lambda a=array: a.__setitem__(slice(None), noise)),
            ("read", lambda a=array: a[:]),
        ):
            waits = [w for w in (_interrupted(work, 0.1) for _ in range(turns)) if w is not None]
            what = f"Ctrl-C in a {kind} of {rows} MiB, {name}, chunks of {chunk_rows} MiB: "
            figures += [
                Figure(f"{what}calls that ended before it", turns - len(waits)),
                Figure(f"{what}longest wait", round(max(waits, default=0.0), 1), bar, "ms"),
            ]
            if kind == "write":
                array[: rows // 4] = noise[: rows // 4]
                array[rows // 4 :] = noise[0]
        strays = list(Path(array.store.path).rglob("*.partial"))
        figures.append(Figure(f"Ctrl-C, {name}: strays", len(strays), "= 0"))
        array[:4] = 1
        figures.append(
            Figure(f"Ctrl-C, {name}: handle broken", int(float(array[3, 7]) != 1.0), "= 0")
        )
    return figures


def _interrupted(work: Callable[[], Any], after_s: float) -> float | None:
    """Milliseconds from the signal to the exception; None if the call was faster."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after_s, send)
    timer.start()
    try:
        work()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        return (time.perf_counter() - sent[0]) * 1e3
    return None
