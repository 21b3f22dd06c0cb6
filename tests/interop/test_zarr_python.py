"""zarr-python 3 in one process with zarrix: tests/zarr_python, in an environment that has it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(__file__).parent / "envs" / "stores" / "bin" / "python"


def test_stores_of_either_are_stores_of_the_other() -> None:
    if not PYTHON.exists():
        pytest.skip("zarr-python 3 is not there; tests/interop/setup stores makes its environment")
    options = (
        "asyncio_mode=auto",
        "asyncio_default_fixture_loop_scope=function",
        "filterwarnings=",
    )
    command = [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/zarr_python"]
    command += [word for option in options for word in ("-o", option)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    ended = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    sys.stdout.write(ended.stdout)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-1000:]
