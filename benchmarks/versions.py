"""Versions of a hierarchy on disk: what they cost, beside `cp -al`.

    python -m benchmarks.versions             20,000 chunks, and versions with a million keys
    python -m benchmarks.versions --quick     2000 chunks, and 50,000 keys

Processor time is that of this process and of its children, so that other load changes it little;
the median of interleaved rounds counts, in which they take turns to begin.

Nothing is deleted before the end. An ext4 without a journal uses no inode for a minute after it was
freed, and for six if the disk does not have that yet; what is made meanwhile looks at all freed
inodes for each new one, which took up to five times as long.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr


def processor_s() -> float:
    """Seconds of processor time so far, of this process and of children that have ended."""
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(one) for one in whose]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Processor time and wall time of a call, in seconds."""
    begun, at = processor_s(), time.perf_counter()
    call()
    return processor_s() - begun, time.perf_counter() - at


def make(path: Path, count: int, *, is_flat: bool) -> None:
    """An array of ``count`` chunks of 4 KiB; with a directory each, or all in one."""
    z = zarr.create_array(
        str(path),
        shape=(count, 512),
        chunks=(1, 512),
        dtype="f8",
        compressors=None,
        chunk_key_encoding={"name": "default", "separator": "." if is_flat else "/"},
    )
    z[:] = np.random.default_rng(1).random((1, 512))


def against_cp(folder: Path, count: int, rounds: int, *, is_flat: bool) -> None:
    """Versions by links, and `cp -al`, of an array that is made anew for each round."""
    found: dict[str, list[float]] = {"snapshot": [], "again": [], "cp -al": []}

    def copies(root: Path) -> None:
        call = partial(subprocess.run, ["cp", "-al", root, f"{root}.copy"], check=True)
        found["cp -al"].append(timed(call)[0])

    def snapshots(root: Path) -> None:
        for name in ("snapshot", "again"):
            found[name].append(timed(partial(zarr.snapshot, root, name, how="link"))[0])

    for number in range(rounds):
        root = folder / f"{'flat' if is_flat else 'nested'}{number}.zarr"
        make(root, count, is_flat=is_flat)
        for call in (snapshots, copies) if number % 2 else (copies, snapshots):
            call(root)
    peer = statistics.median(found["cp -al"])
    word = "all in one directory" if is_flat else "a directory each"
    print(f"{count:,} chunks, {word}; processor time per chunk:")
    for name, seconds in found.items():
        each = statistics.median(seconds)
        ends = " to ".join(f"{one / count * 1e6:.1f}" for one in (min(seconds), max(seconds)))
        print(f"  {name:9} {each / count * 1e6:6.1f} us ({ends})   {each / peer:.2f} of cp -al")


def rewriting(folder: Path, count: int, rounds: int, *, is_flat: bool) -> None:
    """A commit that changes one chunk, and carries all others."""
    times = []
    for number in range(rounds):
        root = folder / f"{'flat' if is_flat else 'nested'}-group{number}.zarr"
        zarr.create_group(str(root))
        make(root / "a", count, is_flat=is_flat)
        zarr.consolidate_metadata(str(root))
        times.append(timed(partial(change_one_chunk, root)))
    used, wall = (statistics.median(column) for column in zip(*times, strict=True))
    word = "all in one directory" if is_flat else "a directory each"
    print(f"a commit of one chunk of {count:,}, {word}: {used:.2f} s of processors, {wall:.2f} s")


def change_one_chunk(root: Path) -> None:
    """Change elements of one chunk by a commit."""
    with zarr.commit(str(root)) as new:
        new["a"][1] = 0


def many_keys(folder: Path, count: int, rounds: int) -> None:
    """Versions of many small chunks: opening, comparing, and what a second one writes."""
    root = folder / "keys.zarr"
    root.mkdir()
    group = zarr.open_group(str(root), mode="w", zarr_format=3)
    z = group.create_array(
        "a", shape=(count,), chunks=(1,), dtype="u1", compressors=None,
        chunk_key_encoding={"name": "v2", "separator": "."},
    )  # fmt: skip
    for number in range(count):
        (root / "a" / str(number)).write_bytes(b"\1")
    used, wall = timed(lambda: zarr.snapshot(root, "v1"))
    print(f"{count:,} keys: the first version {used / count * 1e6:.1f} us a key, {wall:.1f} s")
    pages = root.parent / "keys.zarr.versions/pages"
    before = sum(1 for _ in pages.rglob("*.gz"))
    for number in np.random.default_rng(2).choice(count, min(100, count), replace=False):
        z[int(number)] = 2
    used, wall = timed(lambda: zarr.snapshot(root, "v2"))
    written = sum(1 for _ in pages.rglob("*.gz")) - before
    print(
        f"  the second {used / count * 1e6:.1f} us a key; 100 changes: {written} pages of {before}"
    )
    history = zarr.Versions(root)
    rows = {
        "open an array of v1": lambda: zarr.open_array(root, path="a", version="v1")[0],
        "diff of v1 and v2": lambda: history.diff("v1", "v2"),
    }
    for name, call in rows.items():
        times = [timed(call)[1] for _ in range(rounds)]
        print(f"  {name}: {statistics.median(times) * 1e3:.1f} ms")
    lengths = [(pages.parent / f"{name}.version.json").stat().st_size for name in ("v1", "v2")]
    print(
        f"  documents {lengths} bytes; pages {sum(p.stat().st_size for p in pages.rglob('*.gz'))}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions")
    parser.add_argument("--quick", action="store_true", help="a tenth of the chunks, three rounds")
    parser.add_argument("--folder", type=Path, help="where, which decides the file system")
    arguments = parser.parse_args()
    quick = arguments.quick
    folder = Path(tempfile.mkdtemp(prefix="zarrix-versions-", dir=arguments.folder))
    try:
        for is_flat in (False, True):
            against_cp(folder, 2000 if quick else 20_000, 3 if quick else 7, is_flat=is_flat)
            rewriting(folder, 2000 if quick else 20_000, 3, is_flat=is_flat)
        many_keys(folder, 50_000 if quick else 1_000_000, 7)
    finally:
        shutil.rmtree(folder)
    print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
