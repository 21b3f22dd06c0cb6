"""Arrays in directories that a loader may stage, and what a stage has."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import zarrix as zarr


def settled(folder: Path) -> None:
    """Make new files an hour old: what has just been changed is not staged yet."""
    hour = 3600 * 10**9
    for path in folder.rglob("*"):
        before = path.stat()
        if path.is_file() and before.st_mtime_ns > time.time_ns() - hour // 2:
            os.utime(path, ns=(before.st_atime_ns - hour, before.st_mtime_ns - hour))


def stored(folder: Path, values: Any, **layout: Any) -> Any:
    z = zarr.create_array(folder, shape=values.shape, dtype=values.dtype, **layout)
    z[...] = values
    settled(folder)
    return zarr.open_array(folder, mode="r")


def rows_of(values: Any) -> Any:
    """Rows of which each is told apart from all others."""
    return np.random.default_rng(4).integers(0, 2**31, values).astype("i4")


def chunks_of(folder: Path) -> list[Path]:
    """The files of staged chunks."""
    return sorted(path for path in folder.glob("zarrix-stage/*/[0-3]/c*") if path.is_file())


def unfinished(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.partial"))


def disk_bytes(folder: Path) -> int:
    files = chunks_of(folder) + unfinished(folder)
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in files)


def hide_source(folder: Path) -> None:
    """Make the bytes of all chunks of a source useless, and leave their sizes and times."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("zarr.json", ".zarray"):
            before = path.stat()
            with path.open("r+b") as file:
                file.write(b"\xa5" * before.st_size)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
