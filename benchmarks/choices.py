"""How the engine reads beside all other ways to read: ``python -m benchmarks.choices``.

For each read the engine chooses three things: whether the calling thread does it alone, whether
chunks and shards are read in parts, and whether threads share the blocks of chunks or the inner
chunks of shards. This program measures the choice and all others in interleaved rounds, for 30
layouts with 8 selections each, and prints the time of the fastest way divided by that of the
choice: 1 is the best, and 0.85 the bar. A result below the bar is measured again with more rounds,
twice, because the fastest of several ways is lucky; the last one counts. It is 1 where threads
share chunks or shards, and that is the fastest way.

    python -m benchmarks.choices [--rounds 9] [--only lz4 ...] [--folder made] [--verbose]

With ``--verbose`` each line has the estimate, too, from which the threads are chosen: the work in
bytes that are copied meanwhile.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import zarrix as zarr
from zarrix import _engine
from zarrix._array.access import io_of

from benchmarks.measure import Call, Pace, rounds

BAR = 0.85
AGAIN = 2
POINTS = 64
Key = Any


class Layout(NamedTuple):
    """An array: its name, shape, dtype, chunks, shards and codec."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    codec: Any


_CODECS: dict[str, Any] = {
    "plain": None,
    "lz4": zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle"),
    "blosc zstd": zarr.codecs.BloscCodec(cname="zstd", clevel=5, shuffle="bitshuffle"),
    "zstd": zarr.codecs.ZstdCodec(level=3),
}
_SHAPES: dict[str, tuple[tuple[int, ...], str, tuple[int, ...]]] = {
    "planes": ((64, 512, 512), "f4", (1, 512, 512)),
    "cubes": ((128, 256, 256), "f4", (32, 32, 32)),
    "tiles": ((4096, 4096), "u2", (64, 64)),
    "large tiles": ((4096, 4096), "u2", (1024, 1024)),
    "one axis": ((4_000_000,), "f8", (100_000,)),
    "one chunk": ((2048, 2048), "f4", (2048, 2048)),
}
_SHARDED = (
    Layout("shards, lz4", (4096, 4096), "u2", (64, 64), (1024, 1024), _CODECS["lz4"]),
    Layout("shards, zstd", (4096, 4096), "u2", (256, 256), (2048, 2048), _CODECS["zstd"]),
    Layout("one shard, lz4", (4096, 4096), "u2", (128, 128), (4096, 4096), _CODECS["lz4"]),
    Layout("volume, zstd", (256, 256, 256), "u1", (32, 32, 32), (128, 128, 128), _CODECS["zstd"]),
    Layout("small shards", (4096, 4096), "u2", (32, 32), (256, 256), _CODECS["lz4"]),
    Layout("shards, one axis", (4_000_000,), "f8", (10_000,), (1_000_000,), _CODECS["zstd"]),
)


def layouts() -> list[Layout]:
    """All of them: each shape with each codec, and arrays with shards."""
    found = [
        Layout(f"{name}, {codec}", *shape, None, _CODECS[codec])
        for (name, shape), codec in itertools.product(_SHAPES.items(), _CODECS)
    ]
    return [*found, *_SHARDED]


def make(layout: Layout, folder: Path) -> Path:
    """The array, smooth with noise in its last bits."""
    path = folder / f"{layout.name.replace(', ', '-').replace(' ', '-')}.zarr"
    if (path / "zarr.json").exists():
        return path
    z = zarr.create_array(
        path,
        shape=layout.shape,
        dtype=layout.dtype,
        chunks=layout.chunks,
        shards=layout.shards,
        compressors=layout.codec,
        overwrite=True,
    )
    random = np.random.default_rng(1)
    places = np.arange(np.prod(layout.shape), dtype="f8").reshape(layout.shape)
    smooth = 100 + 60 * np.sin(places / 1000)
    z[...] = (smooth + random.integers(0, 8, layout.shape)).astype(layout.dtype)
    return path


def selections(shape: tuple[int, ...]) -> dict[str, Key]:
    """Eight selections of an array; the points are a tuple of arrays."""

    def box(part: float) -> Key:
        return tuple(slice(n // 3, n // 3 + max(1, round(n * part))) for n in shape)

    random = np.random.default_rng(2)
    return {
        "all": ...,
        "half": box(0.5),
        "sixteenth": box(1 / 16),
        "element": tuple(n // 2 for n in shape),
        "first index": (shape[0] // 2,),
        "last index": (..., shape[-1] // 2) if len(shape) > 1 else slice(0, None, 1000),
        "every third": tuple(slice(None, None, 3) for _ in shape),
        "points": tuple(random.integers(0, n, POINTS) for n in shape),
    }


# The ways to read


Choices = tuple[bool | None, bool | None, bool | None]
CHOSEN: Choices = (None, None, None)
# What does not read chunk by chunk decides about threads itself.
_TOGETHER = ("interleaved", "parallel shards")


def opened(path: Path, choices: Choices) -> Any:
    """The array, read as ``choices`` say."""
    made = partial(_engine.ArrayIO, choices=choices)
    with mock.patch.object(_engine, "ArrayIO", made):
        return zarr.open_array(path, mode="r")


def reader(z: Any, key: Key) -> Callable[[], Any]:
    """What reads a selection."""
    if isinstance(key, tuple) and any(isinstance(one, np.ndarray) for one in key):
        return partial(z.get_coordinate_selection, key)
    return partial(z.__getitem__, key)


def ways(path: Path, key: Key) -> Iterator[tuple[str, Any]]:
    """Each way that differs from the others, in words, and an array that is read so."""
    seen = set()
    for alone, parts, shared in itertools.product((True, False), repeat=3):
        z = opened(path, (alone, parts, shared))
        how = z.plan(key).strategy
        word = how if how in _TOGETHER else f"{how}, {'alone' if alone else 'pool'}"
        if word not in seen:
            seen.add(word)
            yield word, z


class Found(NamedTuple):
    """The time of the fastest way divided by that of the choice, and both ways."""

    ratio: float
    chosen: str
    best: str
    seconds: float
    estimate: int


def measured(path: Path, key: Key, count: int) -> Found:
    """One selection of one array; the results of all ways are compared first."""
    mine = opened(path, CHOSEN)
    ours = reader(mine, key)
    expected = ours()
    calls = {"": Call(ours)}
    for word, z in ways(path, key):
        read = reader(z, key)
        if not np.array_equal(read(), expected):
            raise AssertionError(f"{path.name}: {word} reads other values")
        calls[word] = Call(read)
    timed = rounds(calls, Pace(count, least_s=0.003, budget_s=4.0 * count / 9))
    times = {word: statistics.median(some) for word, some in timed.items()}
    chosen = times.pop("")
    best = min(times, key=lambda word: times[word])
    is_points = isinstance(key, tuple) and any(isinstance(one, np.ndarray) for one in key)
    estimate = 0 if is_points else estimate_of(mine, key)
    how = mine.plan(key).strategy
    ratio = 1.0 if best == how else times[best] / chosen
    return Found(ratio, how, best, chosen, estimate)


def estimate_of(z: Any, key: Key) -> int:
    """The work that the engine expects, in bytes that are copied meanwhile."""
    key = key if isinstance(key, tuple) else (key,)
    if Ellipsis in key:
        at = key.index(Ellipsis)
        key = key[:at] + (slice(None),) * (z.ndim - len(key) + 1) + key[at + 1 :]
    key += (slice(None),) * (z.ndim - len(key))
    axes: list[Any] = []
    for one, n in zip(key, z.shape, strict=True):
        if isinstance(one, slice):
            numbers = range(n)[one]
            axes.append((numbers.start, numbers.step, len(numbers)))
        else:
            axes.append(int(one))
    return int(io_of(z).effort(tuple(axes)))


def main() -> int:
    """Parse the arguments, measure, and print the lines; 1 where a choice misses the bar."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=(), help="words of the names of layouts")
    parser.add_argument("--folder", default=None, help="where arrays are made, and kept")
    parser.add_argument("--verbose", action="store_true", help="print every selection")
    options = parser.parse_args()
    missed, least, total = [], 1.0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for layout in layouts():
            if options.only and not any(word in layout.name for word in options.only):
                continue
            path = make(layout, folder)
            ratios = {}
            for name, key in selections(layout.shape).items():
                found = measured(path, key, options.rounds)
                for more in range(2, 2 + AGAIN):
                    if found.ratio >= BAR:
                        break
                    found = measured(path, key, more * options.rounds)
                ratios[name] = found.ratio
                if found.ratio < BAR:
                    missed.append(f"{layout.name}: {name}")
                if options.verbose or found.ratio < BAR:
                    print(
                        f"  {layout.name}: {name}: {found.ratio:.2f}, {found.chosen} in "
                        f"{found.seconds * 1e6:,.0f} us, {found.estimate:,} estimated; "
                        f"fastest: {found.best}",
                        flush=True,
                    )
            total += len(ratios)
            least = min(least, *ratios.values())
            words = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())
            print(f"{layout.name}: {words}", flush=True)
    print(f"{total - len(missed)} of {total} at least {BAR}; the least {least:.2f}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
