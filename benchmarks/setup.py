"""The environment of the comparison: one Python with zarrix, built from this tree, and all peers.

The newest zarr-python needs Python 3.12 or newer, zarrix 3.11; its wheel is for the stable ABI, so
one environment holds both. Versions are pinned: a faster peer should show when its pin is raised,
and not when an environment is created.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / "benchmarks" / "envs" / "peers"
PYTHON = ENVIRONMENT / "bin" / "python"
PYTHON_OF_ZARR2 = ROOT / "benchmarks" / "envs" / "zarr2" / "bin" / "python"

PINS = (
    "numpy==2.5.5",
    "numcodecs==0.17.1",
    "zarr==3.4.2",
    "zarrs==0.2.3",
    "tensorstore==0.1.86",
    "h5py==3.16.0",
    "hdf5plugin==7.1.0",
    "blosc2==4.14.1",
    "tiledb==0.36.1",
    "zarrista==0.1.0",
)
PINS_OF_ZARR2 = ("numpy==2.3.5", "numcodecs==0.15.1", "zarr==2.18.7")

_MINORS = (12, 13, 14)


class SetupError(Exception):
    """The environment cannot be made; the message says what is missing."""


def _candidates() -> Iterator[str]:
    yield sys.executable
    for minor in _MINORS:
        found = shutil.which(f"python3.{minor}")
        if found:
            yield found
    pyenv = shutil.which("pyenv")
    if pyenv:
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False)
        for minor in _MINORS:
            versions = Path(root.stdout.strip()) / "versions"
            yield from map(str, sorted(versions.glob(f"3.{minor}.*/bin/python")))


def find_python() -> str:
    """A Python of 3.12 to 3.14 that can make environments: this one, on PATH, or under pyenv."""
    probe = (
        "import sys, venv, ensurepip\n"
        f"assert sys.version_info[0] == 3 and sys.version_info[1] in {_MINORS}"
    )
    for candidate in _candidates():
        tried = subprocess.run([candidate, "-c", probe], capture_output=True, check=False)
        if tried.returncode == 0:
            return candidate
    raise SetupError(
        "the newest zarr-python needs Python 3.12, 3.13 or 3.14, and none is on PATH or under pyenv"
    )


def make() -> Path:
    """Make or renew the environments, and build and install zarrix into that of the peers, whose
    Python is returned."""
    _install(PYTHON, *PINS)
    _install(PYTHON, "--force-reinstall", "--no-deps", str(ROOT))
    _install(PYTHON_OF_ZARR2, *PINS_OF_ZARR2)
    return PYTHON


def _install(python: Path, *what: str) -> None:
    if not python.exists():
        subprocess.run([find_python(), "-m", "venv", str(python.parents[1])], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", *what], check=True)


def hand_over(arguments: list[str], module: str = "benchmarks") -> None:
    """Go on with `module` in the environment, unless this interpreter is the one in it."""
    if Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    if not PYTHON.exists():
        raise SetupError(
            "there is no environment with the peers yet: `python -m benchmarks setup` makes it, "
            "--here goes without"
        )
    os.chdir(ROOT)
    os.execv(PYTHON, [str(PYTHON), "-m", module, *arguments])
