"""On a Python without a GIL, zarrix does not bring it back."""

import os
import subprocess
import sys

import pytest
from free_threading import WITHOUT_GIL

PROGRAM = """
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

# Python warns where it enables the GIL for a module.
warnings.simplefilter("error")
import zarrix

assert not sys._is_gil_enabled(), "import zarrix"
for zarr_format in (2, 3):
    z = zarrix.zeros((8, 64), chunks=(1, 16), dtype="i4", zarr_format=zarr_format)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda row: z.__setitem__((row, slice(5, 50)), row), range(8)))
    assert z[:].sum() == 45 * 28
    assert not sys._is_gil_enabled(), f"arrays of format {zarr_format}"
"""


@pytest.mark.skipif(not WITHOUT_GIL, reason="this Python has a GIL")
def test_import_reads_and_writes_leave_the_gil_off() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, timeout=300)
