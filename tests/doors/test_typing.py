"""What checkers of types say of programs that use zarrix: each mistake, and nothing else."""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

import pytest
import zarrix as zarr
from zarrix._codecs import numcodecs_names

EXAMPLES = Path(__file__).parents[1] / "typed"
PACKAGE = Path(zarr.__file__).parent


PROGRAMS = [EXAMPLES / "mistakes.py", EXAMPLES / "right.py"]


def mypy(cache: Path) -> dict[Path, dict[int, str]]:
    """Messages of mypy --strict about each program, by line."""
    # mypy finds what is installed by itself, and refuses to be told of it.
    is_installed = PACKAGE.parent == Path(sysconfig.get_path("platlib"))
    told = {} if is_installed else {"MYPYPATH": str(PACKAGE.parent)}
    command = ["mypy", "--strict", "--config-file=", f"--cache-dir={cache}", "--show-absolute-path"]
    done = subprocess.run(
        [sys.executable, "-m", *command, *map(str, PROGRAMS)],
        env={**os.environ, **told},
        capture_output=True,
        text=True,
    )
    found: dict[Path, dict[int, str]] = {path: {} for path in PROGRAMS}
    for path, line, message in re.findall(r"(.*):(\d+): error: (.*)", done.stdout):
        found[Path(path)][int(line)] = message
    assert any(found.values()) or done.returncode == 0, done.stdout + done.stderr
    return found


def pyright(folder: Path) -> dict[Path, dict[int, str]]:
    """Messages of pyright (basedpyright, which brings all that it needs), by program and line."""
    settings = {
        "include": [str(path) for path in PROGRAMS],
        "extraPaths": [str(PACKAGE.parent)],
        "typeCheckingMode": "standard",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(folder)),
            *("--pythonpath", sys.executable),
        ],
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout)
    assert told["summary"]["filesAnalyzed"] == len(PROGRAMS)
    found: dict[Path, dict[int, str]] = {path: {} for path in PROGRAMS}
    for one in told["generalDiagnostics"]:
        if one["severity"] == "error":
            found[Path(one["file"])][one["range"]["start"]["line"] + 1] = one["message"]
    return found


CHECKERS = [
    pytest.param(mypy, id="mypy"),
    pytest.param(
        pyright,
        id="pyright",
        marks=pytest.mark.skipif(find_spec("basedpyright") is None, reason="no basedpyright"),
    ),
]


@pytest.fixture
def kept(pytestconfig: pytest.Config, tmp_path: Path) -> Path:
    """A folder that the next run of the tests finds again, where pytest has one."""
    cache: pytest.Cache | None = getattr(pytestconfig, "cache", None)
    return cache.mkdir("types") if cache else tmp_path


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_mistake_is_flagged_and_nothing_beside_it(checker, kept: Path) -> None:
    # One run for both programs: reading the package takes nearly all of it.
    mistakes, right = PROGRAMS
    lines = mistakes.read_text().splitlines()
    wrong = {n for n, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) > 30
    found = checker(kept)
    assert found[mistakes].keys() == wrong
    assert found[right] == {}


def test_every_public_name_is_exported_for_checkers() -> None:
    """By name, ``import x as x``, which is what makes a name public in a typed package."""
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    exported = {
        name.asname
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
        if name.asname == name.name
    }
    assert exported == {*zarr.__all__, *zarr._MODULES}


def test_the_stub_of_numcodecs_says_what_numcodecs_takes() -> None:
    tree = ast.parse((PACKAGE / "_codecs/numcodecs_names.pyi").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            made = [one for one in node.body if getattr(one, "name", "") == "__init__"]
            named = [one.arg for one in made[0].args.args[1:]] if made else []
            assert named == list(inspect.signature(getattr(zarr, node.name)).parameters), node.name
    names = {getattr(node, "name", "") for node in tree.body}
    assert set(numcodecs_names.__all__) - names == {"blosc", "codec_registry"}
