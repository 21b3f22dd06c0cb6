"""The examples of docs/ecosystem.md that need a program of others run where that is installed.

A block begins with ```` ```python NAME ````, and NAME is the program. CI installs all of them in
one environment; elsewhere tests/ecosystem/setup makes one for each.
"""

import os
import re
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
import zarrix

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "ecosystem.md"
BLOCK = re.compile(r"^```python (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
# What a program imports, and the environment of tests/ecosystem that has it.
PROGRAMS = {
    "anndata": ("anndata", "anndata"),
    "napari": ("napari_builtins", "napari"),
    "zarr-python": ("zarr", "zarr"),
}


def python_with(program: str) -> str:
    """An interpreter that has the program; without one the test is skipped."""
    module, environment = PROGRAMS[program]
    # Another test may have installed the alias, under which zarrix is found as zarr.
    if PathFinder.find_spec(module) is not None:
        return sys.executable
    python = ROOT / "tests" / "ecosystem" / "envs" / environment / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{program} is not installed; tests/ecosystem/setup {environment}")
    return str(python)


@pytest.mark.parametrize(("program", "block"), BLOCKS, ids=[program for program, _ in BLOCKS])
def test_an_example_runs(program: str, block: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [python_with(program), "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(zarrix.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_page_has_an_example_of_each_program() -> None:
    assert {program for program, _ in BLOCKS} == set(PROGRAMS)
    text = PAGE.read_text(encoding="utf-8")
    assert "import zarrix.xarray" in text
    assert "import zarrix.dask" in text
