"""Zip archives: damaged anywhere, read by forked children, killed while something is added.

A member's bytes and header are checked, so that damage there is noticed. The directory at the end
has no checksum: a name in it may become another name, and a chunk that cannot be found reads as one
that was not written; `zarrix.digests` detects it.
"""

from __future__ import annotations

import os
import random
import signal
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.damage import many, silent, totals, values
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

_LIMIT_S = 120


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """1000 damages of each kind of archive, 60 forks of each kind of handle, 40 kills."""
    figures: list[Figure] = []
    total: Counter[str] = Counter()
    count = max(40, round(1000 * scale))
    for method in ("stored", "deflated"):
        path = folder / f"{method}.zip"
        directory = _archive(path, method)
        # A name that became another one is told as a member that is not there.
        told = (str(path), "zarr.json", '"a/c/', "a is neither an array")
        for name, part in (("members", slice(directory)), ("directory", slice(directory, None))):
            what = f"{method} archive, {name}"
            counts = many(path, count, lambda path=path: _read(path), _names(told), part)
            total += counts
            figures += silent(what, name == "members", count, counts)
    figures += totals("archives", total)
    figures += _forks(folder / "forks.zip", max(3, round(60 * scale)))
    return figures + _kills(folder / "kills.zip", max(4, round(40 * scale)))


def _names(told: tuple[str, ...]) -> Any:
    return lambda message: any(name in message for name in told)


def _archive(path: Path, method: str) -> int:
    """Writes an archive; where its directory begins."""
    import zarrix as zarr

    number = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}[method]
    with zarr.ZipStore(path, mode="w", compression=number) as store:
        root = zarr.open_group(store, mode="w", zarr_format=3)
        root.create_array("a", data=values(), chunks=1000)
        root.attrs["title"] = "a title"
    with zipfile.ZipFile(path) as archive:
        return archive.start_dir


def _read(path: Path) -> tuple[bool, bool]:
    import zarrix as zarr

    with zarr.ZipStore(path, mode="r") as store:
        root = zarr.open_group(store, mode="r")
        right = np.array_equal(root["a"][:], values())
        return right, root.attrs.asdict() == {"title": "a title"}


def _forks(path: Path, count: int) -> list[Figure]:
    """Three children at once read through the handle that they inherit, while the parent does."""
    import zarrix as zarr

    _archive(path, "stored")
    wanted = values()
    array = zarr.open_group(zarr.ZipStore(path, mode="r"), mode="r")["a"]
    failed = 0
    for _ in range(count):
        children = []
        for _ in range(3):
            child = os.fork()
            if not child:
                right = all(np.array_equal(array[:], wanted) for _ in range(10))
                os._exit(0 if right else 1)
            children.append(child)
        failed += not np.array_equal(array[:], wanted)
        failed += sum(os.waitpid(child, 0)[1] != 0 for child in children)
    return [Figure(f"zip read by 3 forked children, {count} times: failed", failed, "= 0")]


def _kills(path: Path, count: int) -> list[Figure]:
    """A writer that adds to an archive dies; what was there is there, to us and to `zipfile`."""
    import zarrix as zarr

    _archive(path, "stored")
    chance = random.Random(5)
    unreadable = unreadable_by_others = 0

    def add(seed: int, ready: int) -> None:
        noise = random.Random(seed)
        with zarr.ZipStore(path, mode="a") as store:
            os.write(ready, b"1")
            for number in range(10_000):
                store[f"new/{seed}/{number}"] = noise.randbytes(noise.randrange(100_000))
                if number % 50 == 49:
                    store.flush()

    for seed in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            add(seed, writer)
            os._exit(0)
        os.read(reader, 1)
        time.sleep(chance.random() * 0.1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)
        outcome = call(lambda: _read(path), _LIMIT_S)
        unreadable += outcome.answer != (True, True)
        with zipfile.ZipFile(path) as archive:
            unreadable_by_others += archive.testzip() is not None
    what = f"zip writers killed while adding, {count} times: what was there"
    return [
        Figure(f"{what} not read", unreadable, "= 0"),
        Figure(f"{what} not read by zipfile", unreadable_by_others, "= 0"),
    ]
