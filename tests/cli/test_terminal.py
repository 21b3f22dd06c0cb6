"""Missing and strange paths in every verb, and every kind of terminal."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.cli._commands import parser_of
from zarrix.cli._table import VERBS

# They name no path that must exist.
_WITHOUT = {"formats", "help", "completion", "doctor", "suggest", "demo", "trace"}
WITH_PATH = [verb for verb in VERBS if verb not in _WITHOUT and parser_of(verb)[1].EXAMPLES]


def words_of(verb: str, path: str) -> list[str]:
    """The first example of a verb, with another path."""
    words = shlex.split(parser_of(verb)[1].EXAMPLES[0])[1:]
    named = [
        i for i, one in enumerate(words) if re.match(r"(data\.zarr|day1\.zarr|x\.npy|x\.h5)", one)
    ]
    if verb == "ls" and not named:
        return [*words, path]
    words[named[0]] = path
    return words


def complained(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a call that fails says: one sentence on standard error."""
    code = main(words)
    told = capsys.readouterr()
    assert (code, told.out) == (1, ""), told
    assert told.err.startswith("zarrix: ")
    assert told.err.count("\n") == 1
    assert "Traceback" not in told.err
    return told.err


@pytest.mark.parametrize("verb", WITH_PATH)
def test_a_missing_path_is_one_sentence_that_names_it(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "nowhere" in complained(words_of(verb, "nowhere.npy"), capsys)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["loop", "long", "fifo", "empty", "unreadable"])
@pytest.mark.parametrize("verb", ["info", "ls", "tree", "cat", "stats", "verify", "cp", "import"])
def test_strange_paths_are_one_sentence(
    verb: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    path = "p.npy"
    if kind == "loop":
        os.symlink("p.npy", "p.npy")
    elif kind == "long":
        path = "p" * 4000
    elif kind == "fifo":
        os.mkfifo("p.npy")
    elif kind == "empty":
        Path("p.npy").touch()
    else:
        if os.geteuid() == 0:
            pytest.skip("root reads every file")
        zarr.save("p.npy", [1, 2])
        os.chmod("p.npy", 0)
    complained(words_of(verb, path), capsys)
    if kind == "unreadable":
        os.chmod("p.npy", 0o700)


def test_output_is_the_same_for_every_terminal(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.zeros("a_long_name_of_an_array", shape=(40, 50), chunks=(4, 5))[:] = 1
    code = (
        "import sys; from zarrix.cli import main\n"
        "for words in (['info', 'x.zarr/a_long_name_of_an_array'], ['ls', '-l', 'x.zarr'],\n"
        "              ['verify', 'x.zarr'], ['stats', 'x.zarr/a_long_name_of_an_array']):\n"
        "    print(main(words), flush=True)\n"
    )
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "TERM")}
    outputs = []
    for more in (
        {},
        {"NO_COLOR": "1", "TERM": "dumb"},
        {"COLUMNS": "20", "LINES": "3", "LC_ALL": "C", "PYTHONUTF8": "0"},
    ):
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False,
            stdin=subprocess.DEVNULL, env={**plain, **more}, timeout=120,
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        outputs.append(re.sub(rb"in \d+\.\d+ s", b"", ran.stdout))
    assert outputs[0] == outputs[1] == outputs[2]
    assert b"\x1b" not in outputs[0]
    assert [one for one in outputs[0].splitlines() if one.isdigit()] == [b"0"] * 4


DRAWN = """
import importlib.util, sys
if sys.argv[1] == "without":
    found = importlib.util.find_spec
    importlib.util.find_spec = lambda name, *more: None if name == "rich" else found(name, *more)
from zarrix.cli import main
sys.exit(main(sys.argv[2:]))
"""


def drawn(rich: str, *words: object, **more: str) -> str:
    """What a call draws on a terminal, with or without rich."""
    termios = pytest.importorskip("termios")
    terminal, inside = os.openpty()
    termios.tcsetwinsize(inside, (24, 90))
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-c", DRAWN, rich, *map(str, words)],
        stdin=inside, stdout=inside, stderr=inside,
        env={**env, "TERM": "xterm", "COLUMNS": "90", "PYTHONUTF8": "1", **more},
    ) as process:  # fmt: skip
        os.close(inside)
        shown = b""
        # A terminal whose other end is closed is an error on Linux, and at its end elsewhere.
        with contextlib.suppress(OSError):
            while part := os.read(terminal, 4096):
                shown += part
        os.close(terminal)
        assert process.wait(120) == 0, shown
    return shown.decode()


def test_rich_draws_tables_and_bars_where_it_is_installed(tmp_path: Path) -> None:
    pytest.importorskip("rich")
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.zeros("[red]x", shape=(40, 50), chunks=(4, 5))[:] = 1
    table = drawn("with", "ls", "-l", tmp_path / "x.zarr")
    words = re.sub(r"\x1b\[[\d;]*m", "", table)
    assert re.search(r"dtype\s+shape\s+chunks\s+bytes\s+ratio\s+name", words)
    assert "[red]x" in table
    assert "\x1b[1m" in table
    assert "\x1b[3" not in drawn("with", "ls", "-l", tmp_path / "x.zarr", NO_COLOR="1")
    plain = drawn("without", "ls", "-l", tmp_path / "x.zarr")
    assert plain.split() == ["float64", "40x50", "4x5", *plain.split()[3:5], "[red]x"]
    for rich, mark in (("with", "\u2501"), ("without", "[###")):
        assert mark in drawn(rich, "cp", tmp_path / "x.zarr", tmp_path / f"{rich}.zarr")


@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_a_narrow_terminal(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: zarrix {verb}")


@pytest.mark.parametrize("verb", VERBS)
def test_an_unknown_option_is_wrong_usage(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([verb, "--no-such-option", "x", "y"])
    assert ended.value.code == 2
    assert "usage: zarrix" in capsys.readouterr().err
