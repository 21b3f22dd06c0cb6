"""Completion: names inside hierarchies and files, and the script of bash in bash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    two = zarr.open_group("two.zarr", mode="w")
    two.zeros("lr/rgb", shape=4, chunks=1)[:] = 1
    two.zeros("depth", shape=4, chunks=1)[:] = 1
    three = zarr.create_group("three.zarr", zarr_format=3)
    three.create_array("x", shape=4, chunks=1, dtype="u1")[:] = 1
    np.savez("x.npz", a=np.zeros(3), b=np.zeros(3))
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / ".hidden").write_text("")
    (tmp_path / "two\nlines").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("", "notes.txt three.zarr/ two.zarr/ x.npz"),
        ("t", "three.zarr/ two.zarr/"),
        (".h", ".hidden"),
        ("two.zarr/", "two.zarr/depth two.zarr/lr/"),
        ("two.zarr/lr/r", "two.zarr/lr/rgb"),
        ("two.zarr/depth/", ""),
        ("three.zarr/", "three.zarr/x"),
        ("x.npz/", "x.npz/a x.npz/b"),
        ("notes.txt/", ""),
        ("nowhere/", ""),
        ("s3://bucket/", ""),
    ],
)
def test_names_are_completed(
    word: str, found: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["__complete", word]) == 0
    assert capsys.readouterr().out.split() == found.split()


def test_bash_completes_verbs_options_and_names(folder: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    (folder / "bin").mkdir()
    program = folder / "bin" / "zarrix"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m zarrix "$@"\n')
    program.chmod(0o755)
    script = """
PATH="$PWD/bin:$PATH"
source <(zarrix completion bash)
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _zarrix; echo "${COMPREPLY[*]}"; }
try zarrix inf
try zarrix info --attr
try zarrix info two.zarr/lr/r
try zarrix ls t
"""
    ran = subprocess.run(
        [bash, "-c", script], capture_output=True, text=True, check=False, cwd=folder, timeout=120
    )
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "info",
        "--attrs",
        "two.zarr/lr/rgb",
        "three.zarr/ two.zarr/",
    ]
