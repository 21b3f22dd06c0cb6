"""Every example of every help text runs, and prints what is kept in ``expected``.

``ZARRIX_WRITE_EXPECTED=1 pytest tests/cli/test_examples.py`` writes what they print now.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.cli._commands import parser_of
from zarrix.cli._table import VERBS

EXPECTED = Path(__file__).parent / "expected"
# What they print is of this machine.
OF_THE_MACHINE = {"doctor", "bench", "advise", "compare", "snapshot", "versions"}
# They run until Ctrl-C; tests/viewer runs their examples.
SERVERS = {"serve", "view"}
# They run a program of the user's; tests/display/test_trace.py runs one.
OF_PROGRAMS = {"trace"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the examples name."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = zarr.create_group("data.zarr", zarr_format=2, attributes={"title": "T"})
    rgb = root.create_dataset(
        "rgb", shape=(2, 3, 4, 6), chunks=(1, 3, 4, 6), dtype="u1", compressor=None
    )
    rgb[:] = np.arange(144).reshape(2, 3, 4, 6)
    depth = root.create_dataset(
        "depth", shape=(2, 4, 6), chunks=(1, 4, 6), dtype="f4", compressor=None
    )
    depth[:] = np.arange(48).reshape(2, 4, 6) / 4
    rgb.attrs["_ARRAY_DIMENSIONS"] = ["t", "c", "y", "x"]
    depth.attrs["_ARRAY_DIMENSIONS"] = ["t", "y", "x"]
    for day in (1, 2):
        new = zarr.create_group(f"day{day}.zarr", zarr_format=3)
        time = new.create_array("time", data=[day], dimension_names=["time"])
        time.attrs["units"] = "days since 2020-01-01"
        new.create_array("t", data=[day / 2], dimension_names=["time"])
    values = np.arange(12, dtype="f4").reshape(3, 4)
    np.save("x.npy", values)
    with h5py.File("x.h5", "w") as file:
        file.create_dataset("data", data=values, chunks=(2, 2), compression="gzip")
        file["data"].attrs.clear()
    return tmp_path


@pytest.mark.parametrize("verb", sorted({*VERBS} - SERVERS - OF_PROGRAMS))
def test_the_examples_of_a_verb_print_what_is_expected(
    verb: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb in ("diff", "restore", "versions"):
        zarr.snapshot("data.zarr", "v1")
    lines = []
    for example in parser_of(verb)[1].EXAMPLES:
        words = shlex.split(example)
        assert words[:2] == ["zarrix", verb]
        code = main(words[1:])
        printed = capsys.readouterr()
        text = printed.out.replace(str(folder.resolve()), "").replace(str(folder), "")
        assert (code, printed.err) == (0, ""), example
        lines += [f"$ {example}", text.rstrip("\n"), ""]
    if verb in OF_THE_MACHINE or not lines:
        return
    found = "\n".join(lines)
    # Compressed sizes depend on the release of a codec's library.
    of_codecs = r"\d[\d,]* bytes|\d+ B\b|in \d+\.\d+ s|\d+\.\d+x( smaller)?|stored as [\d,]+"
    found = re.sub(of_codecs, "SIZE", found)
    found = re.sub(r"( +)\d+( +)SIZE", " SIZE", found)
    # Since 3.13 Python names the value of an option once.
    found = re.sub(r"(-\w) ([A-Z=]+), (--[\w-]+) \2", r"\1, \3 \2", found)
    file = EXPECTED / f"{verb}.txt"
    if os.environ.get("ZARRIX_WRITE_EXPECTED"):
        file.write_text(found, encoding="utf-8")
    assert found == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_that_fits_and_examples(verb: str) -> None:
    parser, module = parser_of(verb)
    assert parser.description is not None
    assert parser.description.rstrip().endswith(".")
    assert module.EXAMPLES or verb == "demo"
    assert all(action.help for action in parser._actions)
