"""``zarrix doctor``: what a bug report needs to say; never credentials."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from zarrix._runtime.system import HAS_FLOCK, lock_file
from zarrix.cli._common import add_common
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix doctor .",)
_OPTIONAL = ("h5py", "tifffile", "pillow", "av", "netCDF4", "imagecodecs", "rich", "xarray", "dask")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", nargs="?", help="a folder whose file system is tried")
    add_common(parser, store=False)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print versions and settings; 3 if the file system has a problem."""
    # Import time: --help does not need it.
    import zarrix as zarr

    found = _versions(zarr)
    problems: list[str] = []
    if arguments.path is not None:
        found |= _file_system(zarr, arguments.path, problems)
    found["problems"] = problems
    if ui.json:
        ui.document(found)
    else:
        for name, value in found.items():
            text = ", ".join(value) or "none" if isinstance(value, list) else value
            ui.say(f"{name:<14} {text}")
    return 3 if problems else 0


def _versions(zarr: Any) -> dict[str, Any]:
    """This system, and the packages that zarrix uses or can use."""
    # Import time: --help does not need them.
    from importlib.metadata import PackageNotFoundError, version

    # Import time, too.
    import numpy as np

    # Import time, too.
    from zarrix import _engine

    found: dict[str, Any] = {
        "zarrix": zarr.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "engine": f"{_engine.SYSTEM}; a process that changes a chunk locks "
        + ("its whole array" if _engine.LOCKS_ARE_WHOLE else "this chunk"),
        "numpy": np.__version__,
        "numcodecs": version("numcodecs"),
        "cpus": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "threads": zarr.config.threads,
        "environment": sorted(name for name in os.environ if name.startswith("ZARRIX_")),
    }
    for name in _OPTIONAL:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _file_system(zarr: Any, path: str, problems: list[str]) -> dict[str, Any]:
    """Try to write, read, lock and delete in a folder that is removed again."""
    with tempfile.TemporaryDirectory(prefix="zarrix-doctor-", dir=path) as folder:
        begun = time.perf_counter()
        z = zarr.open(str(Path(folder) / "x.zarr"), mode="w", shape=16, chunks=8, dtype="u1")
        # A partial write takes the lock of its chunk.
        z[1:3] = 1
        if z[:4].tolist() != [0, 1, 1, 0]:
            problems.append(f"{path} does not give back what was written")
        milliseconds = 1000 * (time.perf_counter() - begun)
    return {
        "path": os.path.abspath(path),
        "write_and_read": f"{milliseconds:.1f} ms",
        "locks": _locks(path, problems),
        "encoding": sys.getfilesystemencoding(),
    }


def _locks(path: str, problems: list[str]) -> str:
    if not HAS_FLOCK:
        problems.append("this system has no fcntl; the engine's own locks are not tried here")
        return "not tried"
    with tempfile.NamedTemporaryFile(dir=path) as file:
        try:
            lock_file(file.fileno(), wait=False)
        except OSError as error:
            problems.append(f"{path} has no advisory locks between processes: {error.strerror}")
            return "none between processes"
    return "yes"
