"""The commands that look, and how every command says that it cannot."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    root = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    root.create_dataset("lr/rgb", shape=(4, 6), chunks=(2, 3), dtype="u1")[:] = 7
    return tmp_path / "x.zarr"


def test_version_prints_the_version_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"zarrix {zarr.__version__}\n"


def test_info_prints_what_the_array_says(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(stored / "lr" / "rgb")]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{zarr.open(str(stored / 'lr/rgb'), mode='r').info}\n"
    assert re.search(r"^Shape +: \(4, 6\)$", printed, re.MULTILINE)


def test_tree_prints_groups_and_arrays(stored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tree", str(stored)]) == 0
    assert capsys.readouterr().out == "/\n └── lr\n     └── rgb (4, 6) uint8\n"


@pytest.mark.parametrize("command", ["info", "tree"])
def test_a_missing_path_is_one_sentence_that_names_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = tmp_path / "nowhere.zarr"
    assert main([command, str(missing)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("zarrix: ")
    assert str(missing) in printed.err
    assert printed.err.count("\n") == 1
    assert not missing.exists()


def test_a_broken_array_document_is_one_sentence(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (stored / "lr" / "rgb" / ".zarray").write_text("{not json")
    assert main(["info", str(stored / "lr" / "rgb")]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("zarrix: ")
    assert printed.count("\n") == 1


def test_without_a_command_the_usage_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: zarrix" in capsys.readouterr().err


@pytest.mark.parametrize("module", ["rich", "PIL", "tifffile", "h5py"])
def test_the_demo_without_an_extra_says_what_to_install(
    module: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in list(sys.modules):
        if name.startswith("zarrix.cli.") or name.partition(".")[0] == module:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("zarrix.cli._demo.demo", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["demo", "--path", str(tmp_path / "demo")]) == 2
    package = "pillow" if module == "PIL" else module
    assert capsys.readouterr().err == (
        f'zarrix: the demo needs {package}, which is not installed: pip install "zarrix[demo]"\n'
    )
    assert not (tmp_path / "demo").exists()


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--frames", "0"),
        ("--frames", "x"),
        ("--seconds", "-1"),
        ("--seconds", "nan"),
        ("--seed", "-1"),
        ("--size", "100p"),
    ],
)
def test_a_flag_with_a_wrong_value_is_refused_and_named(
    flag: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", flag, value])
    assert ended.value.code == 2
    assert f"argument {flag}: " in capsys.readouterr().err


def test_the_module_runs_as_the_command(stored: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "zarrix.cli", "info", str(stored)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"{zarr.open(str(stored), mode='r').info}\n"


# The programs that train need data and torch: tests/ml/test_examples.py.
@pytest.mark.parametrize(
    "example",
    [path for path in sorted(EXAMPLES.glob("*.py")) if not path.stem.startswith("train_")],
    ids=lambda path: path.stem,
)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stderr == ""
    assert run.returncode == 0


def test_the_quickstart_reads_back_what_it_wrote(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / "quickstart.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.startswith("(3, 320, 320) uint8 [244 245 246]\n/\n └── frames")
    written = zarr.open_array(str(tmp_path / "quickstart.zarr" / "frames"), mode="r")
    assert written.attrs["camera"] == "left"
    np.testing.assert_array_equal(written[3, 1, 5], np.arange(1280, dtype="u1"))
