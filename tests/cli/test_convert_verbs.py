"""``zarrix import``, ``export`` and ``formats``: options, standard output, and one sentence."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    zarr.save("one.zarr", np.arange(6, dtype="i4").reshape(2, 3))
    Path("h.csv").write_text("a,b\n1,2\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("import h.csv a --option header=1", "'header' is not an option to read text"),
        ("import h.csv a --option skip=x", "skip='x' is not a whole number"),
        ("import h.csv a --option memory=1", "'memory' is not an option to read text"),
        ("import h.csv a --option source=1", "'source' is not an option to read text"),
        ("import h.csv a --virtual --option dest=1", "'dest' is not an option to read text"),
        ("export one.zarr x.npz --option foo=1", "its options are deflate (true or false)"),
        ("export one.zarr x.npz --option path=a", "'path' is not an option to write npz"),
        ("export one.zarr x.npz --option deflate=2", "deflate=2 is not true or false"),
        ("export one.zarr x --option deflate=2", "does not say its format; pass format= (--to)"),
        ("export one.zarr x --to n5", "files of the format n5 are not written, only read"),
        ("export one.zarr nodir/x.npy", "nodir"),
        ("export one.zarr - --to npy --resume", "- is standard output"),
        ("export one.zarr -", "does not say its format"),
        ("import one.zarr two.zarr", "one.zarr is Zarr"),
        ("formats nothing", "'nothing' is not a format"),
    ],
)
def test_a_mistake_is_one_sentence_and_changes_nothing(
    words: str, told: str, files: Path, capsys: Capture
) -> None:
    before = sorted(os.listdir())
    assert main(words.split()) == 1
    printed = capsys.readouterr()
    assert told in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("format", ["npy", "npz", "csv", "raw", "safetensors"])
def test_an_export_to_standard_output_is_the_file(format: str, files: Path) -> None:
    assert main(["export", "one.zarr", f"x.{format}", "-q"]) == 0
    ran = subprocess.run(
        [sys.executable, "-m", "zarrix", "export", "one.zarr", "-", "--to", format],
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")
    # A zip archive has the moment of its making; that of an export has none.
    assert ran.stdout == Path(f"x.{format}").read_bytes()
    assert "-" not in os.listdir()


def test_the_reader_of_standard_output_may_stop_early(files: Path) -> None:
    zarr.save("big.zarr", np.zeros(3_000_000))
    export = f"{sys.executable} -m zarrix export big.zarr - --to npy"
    ran = subprocess.run(
        f"{export} | head -c 6; exit ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"\x93NUMPY", b"")


def test_formats_lists_what_is_read_and_written_with_all_options(capsys: Capture) -> None:
    assert main(["formats", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["version"] == 1
    found: dict[str, Any] = {one["name"]: one for one in document["formats"]}
    assert {*found} == {one.name for one in zarr.convert.formats()}
    assert found["npz"]["write"]["deflate"] == {
        "takes": "true or false", "default": False, "what": "compress members",
    }  # fmt: skip
    assert found["n5"]["write"] is None
    assert main(["formats", "csv"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("text (")
    assert "--option to read: skip, a whole number, default 0: lines before the data" in text


def test_quiet_prints_nothing(files: Path, capsys: Capture) -> None:
    assert main(["export", "one.zarr", "x.npy", "-q"]) == 0
    assert main(["import", "x.npy", "two.zarr", "-q"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    assert np.load(io.BytesIO(Path("x.npy").read_bytes())).sum() == 15


def test_what_is_larger_than_its_elements_is_called_larger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "n.npy", np.arange(3))
    assert main(["import", str(tmp_path / "n.npy"), str(tmp_path / "n.zarr")]) == 0
    told = capsys.readouterr().out
    assert "x larger" in told
    assert "smaller" not in told
