"""Ctrl-C in the middle of long calls: when it is raised, and what is left.

A timer sends SIGINT to this process while the main thread is in one call of the engine that would
take seconds. The handle must go on working, nothing may be left beside the chunks, and what is
stored must not change any more once the exception is there. Last, a process that catches nothing is
interrupted, and how long it goes on living is measured.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_COLUMNS = 1 << 17


@dataclass(frozen=True)
class _Kind:
    """How the array is stored, in chunks of so many MiB, and what is held against 100 ms.

    The quick form measures arrays of ``quick_mib``, and none of the kinds that have 0 there.
    """

    name: str
    chunk_mib: int
    compressor: dict[str, Any]
    shard_mib: int | None = None
    most_mib: int = 1024
    barred: tuple[str, ...] = ("read", "write")
    quick_mib: int = 0

    def make(self, folder: Path, rows: int) -> Any:
        import zarrix as zarr

        shape, chunks = (rows, _COLUMNS), (self.chunk_mib, _COLUMNS)
        if self.shard_mib is None:
            return zarr.open_array(
                folder,
                mode="w",
                shape=shape,
                chunks=chunks,
                dtype="<f8",
                compressor=self.compressor,
            )
        return zarr.create_array(
            folder, shape=shape, chunks=chunks, shards=(self.shard_mib, _COLUMNS), dtype="<f8"
        )


_BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
_KINDS = (
    _Kind("Blosc lz4 in chunks of 1 MiB", 1, _BLOSC, quick_mib=128),
    _Kind("zlib in chunks of 1 MiB", 1, {"id": "zlib", "level": 1}, quick_mib=64),
    _Kind("zstd in a shard of 256 MiB", 1, {}, shard_mib=256, quick_mib=128),
    # What a library encodes in one call is finished first; decoding is polled, or fast.
    _Kind("Blosc lz4 in chunks of 256 MiB", 256, _BLOSC, barred=("read",)),
    _Kind("zlib of level 6 in chunks of 4 MiB", 4, {"id": "zlib", "level": 6}, barred=("read",)),
    _Kind("zstd in chunks of 32 MiB", 32, {"id": "zstd", "level": 1}, barred=("read",)),
    _Kind("bz2 in chunks of 64 MiB", 64, {"id": "bz2", "level": 1}, most_mib=128),
    _Kind("lzma in chunks of 64 MiB", 64, {"id": "lzma", "preset": 0}, most_mib=128),
)


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Reads and writes in chunks small and large, with codecs fast and slow."""
    # A shell that runs this in the background has SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    figures = []
    rows = max(kind.most_mib if scale >= 1 else kind.quick_mib for kind in _KINDS)
    noise = np.random.default_rng(1).integers(0, 50, (rows, _COLUMNS)).astype("<f8")
    for number, kind in enumerate(_KINDS):
        size = kind.most_mib if scale >= 1 else kind.quick_mib
        if size:
            values = noise[:size]
            figures += _measured(kind, folder / str(number), values, scale)
    return figures + _exits(folder / "exit", scale)


def _measured(kind: _Kind, folder: Path, values: Any, scale: float) -> list[Figure]:
    turns = 10 if scale >= 1 else 2
    after_s = 0.1 if scale >= 1 else 0.03
    # The quick form runs beside other tests: what is measured there is the time on a processor,
    # which no other work makes longer. Two threads that decode spend twice the time that passes.
    clock = time.perf_counter if scale >= 1 else time.process_time
    array = kind.make(folder, len(values))
    figures = []
    changed = 0
    for call in ("write", "read"):
        if call == "read":
            array[:] = values

        def work(call: str = call) -> None:
            if call == "write":
                array[:] = values
            else:
                array[:]

        caught = []
        for turn in range(turns):
            wait = _interrupted(work, after_s + 0.01 * turn, clock)
            if wait is not None:
                caught.append(wait)
                before = _versions(folder)
                time.sleep(0.05)
                changed += before != _versions(folder)
        what = f"Ctrl-C in a {call} of {len(values)} MiB, {kind.name}: "
        figures += [
            Figure(f"{what}calls that ended before it", turns - len(caught)),
            Figure(
                f"{what}longest wait",
                round(max(caught, default=0.0), 1),
                ("<= 100" if scale >= 1 else "<= 1000") if call in kind.barred else "",
                "ms",
            ),
        ]
    strays = list(folder.rglob("*.partial"))
    array[:4] = 1
    broken = int(float(array[3, 7]) != 1.0)
    shutil.rmtree(folder)
    return [
        *figures,
        Figure(f"Ctrl-C, {kind.name}: strays", len(strays), "= 0"),
        Figure(f"Ctrl-C, {kind.name}: changes after it was raised", changed, "= 0"),
        Figure(f"Ctrl-C, {kind.name}: handle broken", broken, "= 0"),
    ]


def _versions(folder: Path) -> dict[str, tuple[int, int]]:
    stats = {str(path): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {path: (stat.st_ino, stat.st_mtime_ns) for path, stat in stats.items()}


# A process that has not ended by then hangs.
_HANGS_S = 120

_ENDLESS = """
import sys, numpy as np, zarrix as zarr
shape, chunks = (int(sys.argv[2]), 1 << 17), (1, 1 << 17)
array = zarr.open_array(sys.argv[1], mode="w", shape=shape, chunks=chunks, dtype="f8")
array[:] = values = np.random.default_rng(1).integers(0, 50, array.shape).astype("f8")
print("begun", flush=True)
while True:
    {}
"""


def _exits(folder: Path, scale: float) -> list[Figure]:
    """From SIGINT to the end of a process that is in the middle of a call and catches nothing."""
    figures = []
    for name, step in (("reads", "array[:]"), ("writes", "array[:] = values")):
        waits = []
        for turn in range(10 if scale >= 1 else 1):
            mib = "256" if scale >= 1 else "64"
            command = [sys.executable, "-c", _ENDLESS.format(step), str(folder), mib]
            with subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
            ) as child:
                assert child.stdout is not None
                child.stdout.readline()
                time.sleep(0.05 + 0.013 * turn)
                begun = time.perf_counter()
                child.send_signal(signal.SIGINT)
                child.wait(_HANGS_S)
                waits.append(time.perf_counter() - begun)
            shutil.rmtree(folder)
        what = f"Ctrl-C in a process that {name}: "
        bar = "<= 0.3" if scale >= 1 else f"<= {_HANGS_S}"
        figures.append(Figure(f"{what}longest time to its end", round(max(waits), 3), bar, "s"))
    return figures


def _interrupted(
    work: Callable[[], Any], after_s: float, clock: Callable[[], float]
) -> float | None:
    """Milliseconds from the signal to the exception; None if the call was faster."""
    sent: list[float] = []

    def send() -> None:
        sent.append(clock())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after_s, send)
    try:
        # On a busy machine the timer can be faster than its start is.
        timer.start()
        work()
        timer.cancel()
        timer.join()
    except KeyboardInterrupt:
        return (clock() - sent[0]) * 1e3
    return None
