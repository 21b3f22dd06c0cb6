"""zarr-python 3 in one process with zarrix: tests/zarr_python, in an environment that has it."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from servers import SERVERS, new_bucket, running

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(__file__).parent / "envs" / "stores" / "bin" / "python"
# Those on which zarr-python's suite for stores runs, where they are installed.
ON_SERVERS = ("seaweedfs", "moto")


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
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "NO_PROXY": "127.0.0.1"}
    with contextlib.ExitStack() as stack:
        buckets = {}
        for name in ON_SERVERS:
            if not SERVERS[name].missing:
                found = stack.enter_context(running(SERVERS[name]))
                buckets[name] = (new_bucket(found, "zarr-python"), found.options)
        environment["ZARRIX_TEST_SERVERS"] = json.dumps(buckets)
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900
        )
    sys.stdout.write(ended.stdout)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-1000:]
