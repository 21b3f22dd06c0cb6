"""The floor: what the same bytes cost with no store around them.

It is a sum of parts that are timed apart: opening and reading the same files, decoding them by the
bare codec on all cores, and one copy into a new result. Reading counts for as many files at once as
there are CPUs. Chunks too small for a Python thread each are decoded on one core and the time is
divided by the CPUs, which no program quite reaches; a single chunk has the codec's own threads.

A floor decodes whole chunks. A store that decodes only what a selection needs can be below it.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import AnyArray, Key
from benchmarks.data import Layout, Shape, cpus
from benchmarks.measure import Call

NAME = "floor"

_THREAD_WORTHY_BYTES = 128 * 1024


def read(path: Path, layout: Layout, keys: Sequence[Key]) -> Call:
    """The floor of reading every key in turn, as a call that returns seconds."""
    parts = [_Part(path, layout, key) for key in keys]
    return Call(lambda: sum(part.seconds() for part in parts), len(keys), seconds=True)


def write(folder: Callable[[], Path], layout: Layout, values: AnyArray) -> Call:
    """The floor of writing ``values`` to files in a new folder, as a call that returns seconds."""
    chunks = [layout.chunk_of(values, cell) for cell in layout.cells()]
    encoded = [layout.encode(chunk) for chunk in chunks]

    def seconds() -> float:
        place = folder()
        place.mkdir(parents=True)
        names = [str(place / str(n)) for n in range(len(encoded))]
        stored = _timed(lambda: _put_all(names, encoded))
        shutil.rmtree(place)
        packed = _on_all_cores(chunks, lambda some: [layout.encode(c) for c in some])
        return stored / min(cpus(), len(names)) + packed + _copy_s(values.nbytes)

    return Call(seconds, seconds=True)


class _Part:
    """One selection: its files, their bytes, and the size of its result."""

    def __init__(self, path: Path, layout: Layout, key: Key) -> None:
        files = [path / layout.file_of(cell) for cell in touched(key, layout)]
        self._names = [str(file) for file in files]
        stored = [file.read_bytes() for file in files]
        self._encoded = [piece for file in stored for piece in layout.pieces(file)]
        self._buffer = memoryview(bytearray(max(map(len, stored))))
        itemsize = np.dtype(layout.dtype).itemsize
        self._chunk_bytes = int(np.prod(layout.chunks)) * itemsize
        self._result_bytes = selected(key, layout.shape) * itemsize
        self._codec = layout.codec()

    def seconds(self) -> float:
        files = _timed(lambda: _get_all(self._names, self._buffer))
        total = files / min(cpus(), len(self._names)) + _copy_s(self._result_bytes)
        if self._codec is not None:
            total += self._decode_s()
        return total

    def _decode_s(self) -> float:
        def decode(some: Sequence[bytes]) -> None:
            scratch = _scratch(self._chunk_bytes)
            for one in some:
                self._codec.decode(one, scratch)

        if len(self._encoded) > 1:
            return _on_all_cores(self._encoded, decode, self._chunk_bytes)
        times = []
        for threads in (False, True):
            with _codec_threads(threads):
                times.append(_timed(lambda: decode(self._encoded)))
        return min(times)


def touched(key: Key, layout: Layout) -> list[Shape]:
    """The coordinates of the files that ``key`` has elements in."""
    ranges = []
    for axis, chunk in zip(_axes(key, layout.shape), layout.stored_shape, strict=True):
        ranges.append(range(axis.start // chunk, (axis.stop - 1) // chunk + 1))
    return list(product(*ranges))


def selected(key: Key, shape: Shape) -> int:
    """How many elements ``key`` selects."""
    return int(np.prod([len(axis) for axis in _axes(key, shape)]))


def _axes(key: Key, shape: Shape) -> list[range]:
    given = key if isinstance(key, tuple) else (key,)
    full = (*given, *(slice(None),) * (len(shape) - len(given)))
    return [
        range(n)[k] if isinstance(k, slice) else range(k, k + 1)
        for k, n in zip(full, shape, strict=True)
    ]


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _get_all(names: Sequence[str], buffer: memoryview) -> None:
    for name in names:
        file = os.open(name, os.O_RDONLY)
        os.readv(file, [buffer])
        os.close(file)


def _put_all(names: Sequence[str], values: Sequence[Any]) -> None:
    for name, value in zip(names, values, strict=True):
        file = os.open(name, os.O_WRONLY | os.O_CREAT)
        os.write(file, value)
        os.close(file)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cpus())


@cache
def _scratch_of(thread: int, size: int) -> AnyArray:
    return np.empty(size, np.uint8)


def _scratch(size: int) -> AnyArray:
    return _scratch_of(threading.get_ident(), size)


@contextmanager
def _codec_threads(on: bool) -> Any:
    """Let Blosc use threads of its own, or not; zarr-python's own choice comes back after."""
    from numcodecs import blosc

    before = blosc.use_threads
    blosc.use_threads = on
    try:
        yield
    finally:
        blosc.use_threads = before


def _on_all_cores(
    items: Sequence[Any], work: Callable[[Sequence[Any]], object], item_bytes: int | None = None
) -> float:
    """Seconds for ``work`` on all items, spread over the CPUs."""
    workers = min(cpus(), len(items))
    size = item_bytes if item_bytes is not None else items[0].nbytes
    with _codec_threads(False):
        if size < _THREAD_WORTHY_BYTES:
            return _timed(lambda: work(items)) / workers
        shares = [items[n::workers] for n in range(workers)]
        return _timed(lambda: list(_pool().map(work, shares)))


def _copy_s(size: int) -> float:
    """Seconds to copy ``size`` bytes into new memory."""
    source = _source(size)
    workers = cpus() if size >= 8 * _THREAD_WORTHY_BYTES else 1
    cuts = [size * n // workers for n in range(workers + 1)]

    def copy() -> None:
        target = np.empty(size, np.uint8)
        if workers == 1:
            np.copyto(target, source)
            return
        spans = [slice(*pair) for pair in pairwise(cuts)]
        list(_pool().map(lambda span: np.copyto(target[span], source[span]), spans))

    return _timed(copy)


@cache
def _largest() -> list[AnyArray]:
    return [np.ones(1, np.uint8)]


def _source(size: int) -> AnyArray:
    held = _largest()
    if len(held[0]) < size:
        held[0] = np.ones(size, np.uint8)
    return held[0][:size]
