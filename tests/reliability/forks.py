"""Forks in the middle of reads and writes: no child hangs, and no lock outlives its holder."""

from __future__ import annotations

import os
import signal
import struct
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_SHAPE = (400, 500)
_LIMIT_S = 120


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """1000 forks while threads read and write, 100 killed parents that were writing."""
    forks = max(20, round(1000 * scale))
    kills = max(5, round(100 * scale))
    hung, wrong = _busy(folder / "busy", forks)
    failed, longest_ms = _killed_parents(folder / "killed", kills)
    return [
        Figure(f"{forks} forks while threads read and write: hung", hung, "= 0"),
        Figure(f"{forks} forks while threads read and write: wrong or failed", wrong, "= 0"),
        Figure(f"{kills} writers killed, their child writes the same key: failed", failed, "= 0"),
        Figure(
            f"{kills} writers killed, their child writes the same key: longest",
            round(longest_ms, 1),
            # The quick form runs beside other tests, on a machine that may be busy with them.
            "< 1000" if scale >= 1 else f"< {1000 * _LIMIT_S}",
            "ms",
        ),
    ]


def _busy(folder: Path, forks: int) -> tuple[int, int]:
    import zarrix as zarr

    values = np.arange(_SHAPE[0] * _SHAPE[1], dtype="<i4").reshape(_SHAPE)
    array = zarr.open_array(folder, mode="w", shape=_SHAPE, chunks=(50, 100), dtype="<i4")
    array[:] = values
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            array[200:]

    def write() -> None:
        while not stop.is_set():
            array[:100, 3] = 7

    threads = [threading.Thread(target=work) for work in (read, read, write)]
    for thread in threads:
        thread.start()

    def child() -> bool:
        right = np.array_equal(array[200:], values[200:])
        fresh = zarr.open_array(folder, mode="r+")
        fresh[150, 0] = 1
        return right and int(fresh[150, 0]) == 1

    ended = [call(child, _LIMIT_S) for _ in range(forks)]
    stop.set()
    for thread in threads:
        thread.join()
    hung = sum(outcome.ended == "hung" for outcome in ended)
    return hung, sum(outcome.answer is not True for outcome in ended) - hung


def _killed_parents(folder: Path, kills: int) -> tuple[int, float]:
    """A parent forks while its threads write a key and is killed; the child then writes the key."""
    import zarrix as zarr

    length = 1 << 20
    array = zarr.open_array(
        folder, mode="w", shape=length, chunks=length, dtype="<i4", compressor=None
    )
    array[:] = 1
    failed, longest_ms = 0, 0.0
    for number in range(kills):
        reader, writer = os.pipe()
        parent = os.fork()
        if not parent:
            _write_and_fork(array, number, reader, writer)
        os.close(writer)
        # The child says that it lives; then its parent is killed in the middle of a write.
        os.read(reader, 1)
        os.kill(parent, signal.SIGKILL)
        os.waitpid(parent, 0)
        answer = _read_within(reader, _LIMIT_S)
        os.close(reader)
        if answer is None:
            failed += 1
        else:
            longest_ms = max(longest_ms, answer * 1e3)
            failed += int(array[5]) != -number
    return failed, longest_ms


def _write_and_fork(array: Any, number: int, reader: int, writer: int) -> None:
    """In the parent that is to be killed: two threads write, the main thread forks."""
    os.close(reader)

    def write() -> None:
        while True:
            array[1::2] = number

    for _ in range(2):
        threading.Thread(target=write, daemon=True).start()
    time.sleep(0.01 + 0.003 * (number % 10))
    if os.fork():
        time.sleep(10 * _LIMIT_S)
        os._exit(1)
    parent = os.getppid()
    os.write(writer, b"!")
    while os.getppid() == parent:
        time.sleep(0.0005)
    begun = time.perf_counter()
    array[5] = -number
    os.write(writer, struct.pack("<d", time.perf_counter() - begun))
    os._exit(0)


def _read_within(reader: int, limit_s: float) -> float | None:
    import select

    ready, _, _ = select.select([reader], [], [], limit_s)
    answer = os.read(reader, 8) if ready else b""
    return float(struct.unpack("<d", answer)[0]) if len(answer) == 8 else None
