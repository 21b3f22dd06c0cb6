"""Writers that meet in one chunk, one shard, one document, and what they lose.

Every writer has elements (rows, attributes) of its own, so that nothing may be lost. All writers
of a round start together, after a barrier; afterwards one of them looks at what is stored.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library, has_shards

WRITERS = (64, 2)
QUICK_WRITERS = (16, 2)
_PATIENCE_S = 300
_LIMIT_S = 1200


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """64 writers, or 16, and 2, of one chunk and one shard, 8 of attributes, 8 that append."""
    rounds = max(2, round(200 * scale))
    counts = WRITERS if scale >= 1 else QUICK_WRITERS
    figures = []
    for writers in counts:
        for place in ["chunk"] + ["shard"] * has_shards(library):
            for kind, meet in (("processes", _processes), ("threads", _threads)):
                array = folder / f"{writers}-{place}-{kind}"
                what = f"{writers} {kind}, one element each of one {place}, {rounds} rounds"
                length = 1 << 18 if scale >= 1 else 1 << 14
                inner = None if place == "chunk" else length // counts[0]
                call(lambda a=array, n=length, i=inner: library.make(a, n, n, i) and None)
                begun = time.monotonic()
                work = partial(_elements, library, array, rounds, writers)
                # In a child: what a library starts would hang the processes of the next kind.
                outcome = call(partial(meet, work, writers), _LIMIT_S + _PATIENCE_S)
                lost, failed = outcome.answer or (0, writers)
                each_ms = (time.monotonic() - begun) * 1e3 / (rounds * writers)
                figures += [
                    Figure(f"{what}: lost of {rounds * writers}", lost, "= 0"),
                    Figure(f"{what}: writers that did not finish", failed, "= 0"),
                    Figure(f"{what}: a write", round(each_ms, 2), unit="ms"),
                ]
    rows = max(10, round(100 * scale))
    if library.append is not None:
        figures += _append(library, folder / "append", rows)
    if library.attributes is not None:
        figures += _attributes(library, folder / "attributes", rows)
    return figures


def _elements(
    library: Library, folder: Path, rounds: int, writers: int, number: int, barrier: Any
) -> int:
    """One writer; the first one counts what a round has lost."""
    array = library.open(folder)
    step = np.asarray(array[:]).size // writers
    lost = 0
    for turn in range(1, rounds + 1):
        barrier.wait(_PATIENCE_S)
        with contextlib.suppress(Exception):
            # What a library raises here shows as a lost element.
            array[number * step : number * step + 1] = np.asarray([turn * writers + number], "<i4")
        barrier.wait(_PATIENCE_S)
        if number == 0:
            try:
                found = np.asarray(library.open(folder)[:])[::step][:writers]
            except Exception:
                lost += writers
            else:
                lost += int(np.count_nonzero(found != turn * writers + np.arange(writers)))
        barrier.wait(_PATIENCE_S)
    return lost


def _append(library: Library, folder: Path, rows: int) -> list[Figure]:
    library.make(folder, 0, 1000, None)

    def work(number: int, barrier: Any) -> int:
        array = library.open(folder)
        barrier.wait(_PATIENCE_S)
        failed = 0
        for row in range(rows):
            try:
                library.append(array, np.asarray([1 + number * rows + row], "<i4"))  # type: ignore[misc]
            except Exception:
                failed += 1
        return failed

    failed, errors = _processes(work, 8)
    stored = np.asarray(library.open(folder)[:])
    what = f"8 processes append {rows} rows each: "
    distinct = np.unique(stored[stored > 0]).size
    return [
        Figure(f"{what}rows missing of {8 * rows}", 8 * rows - distinct, "= 0"),
        Figure(f"{what}rows too many", max(0, stored.size - 8 * rows), "= 0"),
        Figure(f"{what}errors", failed + errors, "= 0"),
    ]


def _attributes(library: Library, folder: Path, count: int) -> list[Figure]:
    library.make(folder, 8, 8, None)

    def work(number: int, barrier: Any) -> int:
        barrier.wait(_PATIENCE_S)
        failed = 0
        for each in range(count):
            try:
                library.attributes(folder)[f"{number}-{each}"] = each  # type: ignore[misc]
            except Exception:
                failed += 1
        return failed

    failed, errors = _processes(work, 8)
    kept = len(dict(library.attributes(folder)))  # type: ignore[misc]
    what = f"8 processes set {count} attributes each: "
    return [
        Figure(f"{what}lost of {8 * count}", 8 * count - kept, "= 0"),
        Figure(f"{what}errors", failed + errors, "= 0"),
    ]


Work = Callable[[int, Any], int]


def _processes(work: Work, count: int) -> tuple[int, int]:
    """Sum of what the forked processes answer, and how many failed to answer."""
    context = multiprocessing.get_context("fork")
    barrier = context.Barrier(count)
    answers = context.SimpleQueue()

    def one(number: int) -> None:
        answers.put(work(number, barrier))

    processes = [context.Process(target=one, args=(i,), daemon=True) for i in range(count)]
    for process in processes:
        process.start()
    deadline = time.monotonic() + _LIMIT_S
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))
        process.kill()
    told = []
    while not answers.empty():
        told.append(answers.get())
    return sum(told), count - len(told)


def _threads(work: Work, count: int) -> tuple[int, int]:
    """The same with threads of this process, each with handles of its own."""
    barrier = threading.Barrier(count)
    told: list[int] = []

    def one(number: int) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            told.append(work(number, barrier))

    threads = [threading.Thread(target=one, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(told), count - len(told)
