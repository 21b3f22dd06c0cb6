"""The real program: what a terminal, a pipe and a script see of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.cli._table import OTHER_WORDS, VERBS

# Sends the process Ctrl-C when it imports a module for the first time.
INTERRUPTED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv = ["zarrix", *sys.argv[1:]]
from zarrix.cli import main
sys.exit(main())
"""

# Sends it Ctrl-C when so many values were put aside.
REPAIR_INTERRUPTED = """
import os, signal, sys
from zarrix.cli import main
from zarrix.operate import _repair
settle, calls = _repair._settle, []
def counted(*arguments):
    settle(*arguments)
    calls.append(arguments)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
_repair._settle = counted
sys.exit(main())
"""

# Sends it Ctrl-C before or after the verb runs.
INTERRUPTED_BESIDE = """
import os, signal, sys
import zarrix.cli as cli
step = cli.{step}
def pressed():
    os.kill(os.getpid(), signal.SIGINT)
    return step()
cli.{step} = pressed
sys.exit(cli.main())
"""


def program(
    *arguments: object, code: str = "", module: str = "zarrix.cli", **environment: str
) -> Any:
    """Run ``zarrix``, or some code that calls it, in a process of its own."""
    start = ["-c", code] if code else ["-m", module]
    return subprocess.run(
        [sys.executable, *start, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Calls ``zarrix`` in this process, where what is tested is not the process."""

    def call(*arguments: object) -> Any:
        try:
            code = main([str(one) for one in arguments])
        except SystemExit as ended:
            code = int(ended.code or 0)
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return call


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    root.attrs["title"] = "t"
    z = root.create_dataset("lr/rgb", shape=(4, 6), chunks=(2, 3), dtype="u1", compressor=None)
    z[:] = 7
    return tmp_path / "x.zarr"


def test_the_package_runs_as_the_command(stored: Path) -> None:
    ran = program("tree", stored, module="zarrix")
    assert (ran.stdout, ran.stderr, ran.returncode) == (
        "/\n └── lr\n     └── rgb (4, 6) uint8\n",
        "",
        0,
    )


def test_without_a_command_the_help_is_printed() -> None:
    ran = program()
    assert (ran.stdout, ran.returncode) == ("", 2)
    for word in ("info", "tree", "verify", "repair", "diff", "demo", "exit codes"):
        assert word in ran.stderr


@pytest.mark.parametrize(
    "module", ["argparse", "zarrix.cli._common", "zarrix.cli._commands", "numpy"]
)
def test_ctrl_c_while_the_program_starts_is_one_sentence(stored: Path, module: str) -> None:
    ran = program("tree", stored, code=INTERRUPTED.format(name=module))
    assert (ran.stdout, ran.stderr, ran.returncode) == ("", "zarrix: interrupted\n", 130)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_repair_that_is_interrupted_says_what_it_has_put_aside(
    stored: Path, as_json: bool
) -> None:
    for key in ("0.0", "0.1", "1.0"):
        (stored / "lr/rgb" / key).write_bytes(b"short")
    flags = ["--json"] if as_json else []
    ran = program("repair", stored, *flags, code=REPAIR_INTERRUPTED)
    assert (ran.stderr, ran.returncode) == (
        "zarrix: interrupted; 2 values put aside until then\n",
        130,
    )
    aside = {f"lr/rgb/{key}": f"lr/rgb/{key}.broken" for key in ("0.0", "0.1")}
    if as_json:
        assert json.loads(ran.stdout)["set_aside"] == aside
    else:
        lines = [f"put aside: {old} -> {new}" for old, new in aside.items()]
        assert ran.stdout.splitlines() == lines


@pytest.mark.parametrize(
    ("step", "told", "code"), [("lenient", "zarrix: interrupted\n", 130), ("finish", "", 0)]
)
def test_ctrl_c_beside_the_verb_is_no_traceback(
    step: str, told: str, code: int, stored: Path
) -> None:
    ran = program("info", stored, code=INTERRUPTED_BESIDE.format(step=step))
    assert (ran.stderr, ran.returncode) == (told, code)
    assert bool(ran.stdout) == (code == 0)


def test_what_cannot_be_compared_is_one_sentence(stored: Path, called: Callable[..., Any]) -> None:
    bad = stored.with_name("bad.zarr")
    zarr.group(bad).create_dataset("a", shape=3)
    (bad / "a" / ".zarray").write_text("{")
    ran = called("diff", stored, bad)
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert ran.stderr.startswith(f"zarrix: cannot compare: {bad}/a/.zarray")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["not json", "[]", '{"a": 1}', None, "\udcff"])
def test_a_file_that_holds_no_digests_is_one_sentence_that_names_it(
    stored: Path, text: str | None, called: Callable[..., Any]
) -> None:
    file = stored.with_name("digests.json")
    if text is not None:
        file.write_bytes(text.encode(errors="surrogateescape"))
    ran = called("verify", stored, "--digests", file)
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert ran.stderr.startswith(f"zarrix: {file}")
    assert ran.stderr.count("\n") == 1


def test_digests_are_not_written_of_what_is_not_well_and_that_is_said(
    stored: Path, called: Callable[..., Any]
) -> None:
    file = stored.with_name("digests.json")
    (stored / "lr/rgb/0.0").write_bytes(b"short")
    ran = called("verify", stored, "--write-digests", file)
    assert (ran.returncode, file.exists()) == (3, False)
    assert ran.stderr == f"zarrix: all is not well, so that {file} was not written\n"


def test_a_terminal_without_box_characters_and_accents_gets_the_tree_all_the_same(
    stored: Path,
) -> None:
    zarr.open_group(stored).create_group("é")
    ran = program("tree", stored, PYTHONIOENCODING="ascii")
    assert (ran.stdout, ran.stderr, ran.returncode) == (
        "/\n +-- lr\n |   +-- rgb (4, 6) uint8\n +-- \\xe9\n",
        "",
        0,
    )


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "big.zarr", mode="w")
    for number in range(40):
        # More than a pipe holds.
        root.attrs[f"a{number}"] = "x" * 10_000
    with subprocess.Popen(
        [sys.executable, "-m", "zarrix.cli", "info", "--json", str(tmp_path / "big.zarr")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait(timeout=120) == 0


def test_a_full_disk_behind_the_output_is_one_sentence(stored: Path) -> None:
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "zarrix.cli", "tree", str(stored)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr.startswith("zarrix: ")
    assert ran.stderr.count("\n") == 1


def test_info_and_tree_as_json(stored: Path, called: Callable[..., Any]) -> None:
    array = json.loads(called("info", "--json", stored / "lr/rgb").stdout)
    assert (array["kind"], array["shape"], array["dtype"]) == ("array", [4, 6], "uint8")
    assert (array["chunks"], array["nchunks_initialized"]) == ([2, 3], 4)
    assert array["metadata"]["chunks"] == [2, 3]
    group = json.loads(called("info", "--json", stored).stdout)
    assert (group["kind"], group["groups"], group["arrays"]) == ("group", ["lr"], [])
    assert group["attributes"] == {"title": "t"}
    tree = json.loads(called("tree", "--json", stored).stdout)
    assert tree == {
        "version": 1,
        "name": "/",
        "kind": "group",
        "members": [
            {
                "name": "lr",
                "kind": "group",
                "members": [{"name": "rgb", "kind": "array", "shape": [4, 6], "dtype": "uint8"}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--frames", "x"), "'x' is not a whole number from 1 to 9999"),
        (("--frames", "0"), "'0' is not a whole number from 1 to 9999"),
        (("--seed", "-1"), "'-1' is not a whole number from 0 to "),
        (("--seconds", "0"), "'0' is not a number above 0, and up to 3600"),
        (("--seconds", "nan"), "'nan' is not a number above 0, and up to 3600"),
        (("--seconds", "x"), "'x' is not a number above 0, and up to 3600"),
    ],
)
def test_a_wrong_number_is_told_the_right_ones(
    flags: tuple[str, str], words: str, called: Callable[..., Any]
) -> None:
    ran = called("demo", *flags)
    assert ran.returncode == 2
    assert words in ran.stderr


FORGED = "new\nline: all is well\x1b[2J\u202e"


@pytest.mark.parametrize("command", ["verify", "repair", "tree", "info", "diff"])
def test_a_name_forges_no_line_and_steers_no_terminal(
    tmp_path: Path, command: str, called: Callable[..., Any]
) -> None:
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    root.create_dataset(FORGED, data=np.arange(3), chunks=1, compressor=None).attrs["a"] = 1
    (tmp_path / "x.zarr" / f"{FORGED} too").write_bytes(b"")
    (tmp_path / "x.zarr" / FORGED / "0").write_bytes(b"short")
    other = [tmp_path / "y.zarr"] if command == "diff" else []
    zarr.group(tmp_path / "y.zarr").create_dataset("y", shape=1)
    ran = called(command, tmp_path / "x.zarr", *other)
    assert "new\\nline: all is well\\x1b[2J\\u202e" in ran.stdout
    printed = ran.stdout + ran.stderr
    assert not {"\x1b", "\u202e"} & {*printed}
    assert not any(line.startswith("line: all is well") for line in printed.splitlines())


def test_a_name_in_an_error_forges_no_line(tmp_path: Path, called: Callable[..., Any]) -> None:
    ran = called("info", tmp_path / FORGED)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "\x1b" not in ran.stderr


def test_zip_archives_are_looked_after_like_folders(
    stored: Path, called: Callable[..., Any]
) -> None:
    archive = stored.with_name("x.zip")
    with zarr.ZipStore(archive, mode="w") as store:
        zarr.copy_store(stored, store)
    assert called("verify", archive).stdout.endswith("all is well\n")
    assert called("diff", archive, stored).returncode == 0
    with zarr.ZipStore(archive, mode="a") as store:
        store["lr/rgb/0.0"] = b"short"
    assert called("verify", archive).returncode == 3
    assert "put aside: lr/rgb/0.0" in called("repair", archive).stdout
    assert called("diff", archive, stored).stdout == "/lr/rgb chunk (0, 0)\n"
    assert called("info", archive).returncode == 0


def test_urls_are_looked_after_with_their_options(stored: Path, called: Callable[..., Any]) -> None:
    pytest.importorskip("fsspec")
    url = f"simplecache::file://{stored}"
    option = ("--storage-option", f'simplecache={{"cache_storage": "{stored}.cache"}}')
    for command in ("info", "tree", "verify"):
        ran = called(command, url, *option)
        assert (ran.stderr, ran.returncode) == ("", 0), command
    assert called("diff", url, stored, *option).returncode == 0
    assert called("verify", "memory://nothing").returncode == 1
    wrong = called("verify", url, "--storage-option", "key")
    assert wrong.returncode == 2
    assert "'key' is not KEY=VALUE" in wrong.stderr


def test_a_broken_member_is_in_the_tree_and_a_warning_is_one_line(
    stored: Path, called: Callable[..., Any]
) -> None:
    (stored / "lr/rgb/.zarray").write_text("{")
    ran = called("tree", stored)
    assert (ran.returncode, ran.stdout.count("\n")) == (0, 3)
    assert "rgb (cannot be opened: " in ran.stdout
    (broken,) = json.loads(called("tree", stored, "--json").stdout)["members"][0]["members"]
    assert (broken["name"], broken["kind"]) == ("rgb", "broken")
    code = "import sys, warnings; from zarrix.cli import main\n"
    code += "from zarrix.cli._verbs import info\n"
    code += "info.run = lambda *_: warnings.warn('odd\\nname') or 0\nsys.exit(main())"
    ran = program("info", stored, code=code)
    assert (ran.stderr, ran.returncode) == ("zarrix: warning: odd\\nname\n", 0)


def test_paths_beyond_ascii_work_where_python_takes_paths_for_ascii(tmp_path: Path) -> None:
    zarr.save(tmp_path / "ü.zarr", np.arange(3))
    ascii_only = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    for verb in (["info"], ["cat"], ["stats"], ["verify"]):
        ran = program(*verb, tmp_path / "ü.zarr", **ascii_only)
        assert ran.returncode == 0, ran.stderr
    for copy in ("ä.zarr", "ä.zip"):
        ran = program("cp", tmp_path / "ü.zarr", tmp_path / copy, **ascii_only)
        assert ran.returncode == 0, ran.stderr
        assert zarr.open(tmp_path / copy, mode="r")[...].tolist() == [0, 1, 2]


def test_a_path_that_is_not_utf8_is_one_sentence(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff.zarr"
    os.mkdir(folder)
    ran = program("info", os.fsdecode(folder))
    assert ran.returncode == 1
    assert "is not UTF-8" in ran.stderr


@pytest.mark.parametrize(
    ("word", "verb"),
    [("du", "ls -lS"), ("head", "cat"), ("convert", "import"), ("remove", "rm"), ("zip", "cp")],
)
def test_a_verb_of_another_program_names_the_one_here(
    word: str, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([word])
    assert f"use 'zarrix {verb}'" in capsys.readouterr().err


def test_words_of_other_programs_are_not_verbs_and_name_verbs() -> None:
    assert not set(OTHER_WORDS) & set(VERBS)
    named = [one.split()[0] for one in OTHER_WORDS.values()]
    assert set(named) - {"--version", "import'"} <= set(VERBS)


def test_attributes_are_printed_as_they_read_and_steer_no_terminal(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zarr.open(stored, mode="r+").attrs["é"] = "Straße \x9b2J\u202e\n"
    assert main(["attrs", str(stored)]) == 0
    assert '"é": "Straße \\x9b2J\\u202e\\n"' in capsys.readouterr().out


def test_quiet_verbs_print_what_a_dry_run_would_do_and_not_what_they_did(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = str(tmp_path / "copy.zarr")
    assert main(["cp", "-q", "-n", str(stored), copy]) == 0
    assert capsys.readouterr().out.startswith("would copy")
    for call in (["cp", str(stored), copy], ["consolidate", copy], ["migrate", copy, "--to", "3"]):
        assert main([*call, "-q"]) == 0
        assert capsys.readouterr() == ("", "")
    assert main(["rm", "-r", "-q", copy]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verb", ["info", "ls", "tree", "stats", "verify", "digest", "migrate"])
def test_storage_options_without_a_url_are_refused(
    verb: str, stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    extra = ["--to", "3"] if verb == "migrate" else []
    assert main([verb, str(stored), *extra, "-o", "anon=true"]) == 1
    assert "-o is an option of a URL" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", ["U2", "M8[s]", "c16", [("x", "i4")]])
def test_statistics_of_what_is_not_a_number_are_refused_in_one_sentence(
    dtype: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zarr.open(tmp_path / "x.zarr", mode="w", shape=3, dtype=dtype)
    assert main(["stats", str(tmp_path / "x.zarr")]) == 1
    said = capsys.readouterr().err
    assert "statistics are of real numbers" in said
    assert said.count("\n") == 1


def test_chunks_that_are_neither_lengths_nor_a_size_say_both_forms(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["rechunk", "a.zarr", "b.zarr", "--chunks", "1x4"])
    assert "neither lengths along the axes, as 1,512,512, nor a size" in capsys.readouterr().err


def test_info_has_the_names_of_dimensions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "x.zarr")
    zarr.create_array(path, shape=(2, 3), dtype="i4", dimension_names=["y", None])
    assert main(["info", path]) == 0
    assert "Dimension names    : ('y', None)" in capsys.readouterr().out
