"""What a call loads: only the verb that is used, and NumPy only where values are needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import zarrix as zarr

LOADED = """
import sys
from zarrix.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sorted(sys.modules), file=sys.stderr)
"""


def loaded(*arguments: object) -> set[str]:
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, *map(str, arguments)],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return set(ran.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["ls", "--help"],
        ["completion", "bash"],
        ["help"],
        ["__complete", "/"],
    ],
)
def test_help_and_completion_load_no_numpy(arguments: list[str]) -> None:
    assert not loaded(*arguments) & {"numpy", "numcodecs", "zarrix._array.array", "rich"}


def test_a_verb_loads_no_other_verb(tmp_path: Path) -> None:
    zarr.save(tmp_path / "x.zarr", [1, 2, 3])
    found = loaded("info", tmp_path / "x.zarr")
    assert {one for one in found if one.startswith("zarrix.cli._verbs.")} == {
        "zarrix.cli._verbs.info"
    }
    others = {
        "h5py",
        "numcodecs",
        "tifffile",
        "zarrix.convert",
        "zarrix.jobs",
        "zarrix.measure",
        "zarrix.operate",
    }
    assert found & others == set()
