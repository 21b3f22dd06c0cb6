"""``zarr.testing`` of an installed zarr-python runs on zarrix under the alias."""

import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
import zarrix


def run(program: str, folder: Path, *paths: Path) -> str:
    above = str(Path(zarrix.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([above, *map(str, paths)])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_kit_is_the_file_of_the_installed_package(tmp_path: Path) -> None:
    kit = tmp_path / "installed" / "zarr" / "testing"
    kit.mkdir(parents=True)
    (kit.parent / "__init__.py").write_text("raise RuntimeError('the real package is imported')")
    (kit / "__init__.py").write_text("")
    (kit / "utils.py").write_text("import zarr\n\nmade = zarr.zeros(3)\n")
    program = """
import zarrix, zarrix.as_zarr as alias
import zarr.testing.utils as kit
print(type(kit.made) is zarrix.Array, kit.__file__.endswith("utils.py"))
try:
    import zarr.testing.nothing
except ModuleNotFoundError as error:
    print(error.name, "pip install zarr" in str(error))
alias.uninstall()
import sys
print([name for name in sys.modules if name.partition(".")[0] == "zarr"])
"""
    lines = run(program, tmp_path, tmp_path / "installed").splitlines()
    assert lines == ["True True", "zarr.testing.nothing True", "[]"]


STRATEGIES = """
import warnings
import zarrix.as_zarr
import zarr
import zarr.testing.strategies as kit
from hypothesis import HealthCheck, given, settings
from zarr.testing.stateful import ZarrHierarchyStateMachine

warnings.simplefilter("ignore")
quiet = settings(max_examples=15, deadline=None, database=None, derandomize=True,
                 suppress_health_check=list(HealthCheck))

@quiet
@given(kit.arrays())
def drawn(array):
    assert type(array) is zarr.Array
    assert array[...].shape == array.shape

@quiet
@given(kit.array_metadata())
def described(metadata):
    again = type(metadata).from_dict(metadata.to_dict())
    assert again.to_dict() == metadata.to_dict()

drawn()
described()
print("done")
"""


@pytest.mark.skipif(
    PathFinder.find_spec("zarr") is None, reason="zarr-python, whose strategies run, is not there"
)
def test_strategies_of_zarr_python_draw_arrays_of_zarrix(tmp_path: Path) -> None:
    assert run(STRATEGIES, tmp_path) == "done\n"
