"""Ctrl-C at each point of a call: nothing is lost or repeated, no lock stays, nothing hangs."""

import os
import subprocess
import sys
from pathlib import Path

import interrupted
import pytest
import zarrix as zarr

# Against hanging only.
HANGS_S = 120


@pytest.mark.parametrize("name", interrupted.PROGRAMS)
def test_a_call_is_interrupted_at_each_point(name: str) -> None:
    places = [str(Path(zarr.__file__).parents[1]), str(Path(interrupted.__file__).parent)]
    done = subprocess.run(
        [sys.executable, str(interrupted.__file__), name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        timeout=HANGS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" points\n")
