"""Programs whose calls of the system fail: a library is compiled and preloaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def run_with_failing_calls(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program with ``failing_calls.c``; its argument is a folder."""
    if sys.platform != "linux":
        pytest.skip("LD_PRELOAD")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = folder / "failing_calls.so"
    source = Path(__file__).parent / "stores/failing_calls.c"
    built = [compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"]
    subprocess.run(built, check=True, timeout=300)
    return subprocess.run(
        ["env", f"LD_PRELOAD={library}", sys.executable, "-c", program, str(folder)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
