"""Readers of what is being replaced: every read must be one version, and none may fail.

A writer replaces chunks, or shards, in a loop; two readers open and read all the time, whole chunks
and parts of them. Each value tells the version that it belongs to.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call, stream
from tests.reliability.figures import Figure
from tests.reliability.kills import CHUNK_LENGTH, CHUNKS, PATTERN, write_chunks
from tests.reliability.libraries import Library, has_shards

READERS = 2


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """6 seconds of chunks, 6 of shards."""
    seconds = max(0.5, 6 * scale)
    figures = []
    for place in ["chunk"] + ["shard"] * has_shards(library):
        array = folder / place
        inner = None if place == "chunk" else CHUNK_LENGTH // 16
        make = partial(library.make, array, CHUNKS * CHUNK_LENGTH, CHUNK_LENGTH, inner)
        call(lambda make=make: make() and None)
        call(partial(_write, library, array, CHUNKS))
        writer = os.fork()
        if not writer:
            _write(library, array, 1 << 40)
            os._exit(0)
        reads, torn, failed = _read_all(partial(_read, library, array, seconds), seconds)
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        what = f"{READERS} readers while each {place} is replaced, {seconds:g} s: "
        figures += [
            Figure(f"{what}reads", reads, "> 0"),
            Figure(f"{what}torn", torn, "= 0"),
            Figure(f"{what}failed", failed, "= 0"),
        ]
    return figures


def _write(library: Library, folder: Path, count: int) -> None:
    step = write_chunks(library, folder)
    for number in range(count):
        step(number)


def _read_all(read: Callable[[], Any], seconds: float) -> tuple[int, int, int]:
    """Sums over readers that read at the same time."""

    def work() -> Iterator[Any]:
        yield "begun"
        yield read()

    children = [stream(work, seconds + 60) for _ in range(READERS)]
    for child in children:
        # A child begins when its first answer is asked for.
        next(child)
    counts = [next(child).answer or (0, 0, 1) for child in children]
    reads, torn, failed = np.sum(counts, axis=0).tolist()
    return reads, torn, failed


def _read(library: Library, folder: Path, seconds: float) -> tuple[int, int, int]:
    """Reads, those of more than one version, and those that raised."""
    chance = np.random.default_rng(os.getpid())
    reads = torn = failed = 0
    deadline = time.monotonic() + seconds
    while not reads or time.monotonic() < deadline:
        begin, end = 0, CHUNK_LENGTH
        if reads % 2:
            begin, end = sorted(chance.integers(0, CHUNK_LENGTH, 2).tolist())
        at = int(chance.integers(CHUNKS)) * CHUNK_LENGTH
        reads += 1
        try:
            found = np.asarray(library.open(folder)[at + begin : at + end])
        except Exception:
            failed += 1
        else:
            torn += np.unique(found ^ PATTERN[begin:end]).size > 1
    return reads, torn, failed
