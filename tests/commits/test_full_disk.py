"""Commits on a disk that becomes full: the error says whether the commit is visible."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from commits import steps
from preloaded import run_with_failing_calls
from zarrix.errors import CommitVisibleError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")

BEGIN = f"TESTS = {str(Path(__file__).parents[1])!r}\n"
# Each call of a commit that writes fails, that one alone or with all after it.
WRITES_FAIL = """
import errno, json, os, shutil, sys
sys.path.insert(0, TESTS)
from pathlib import Path
from commits import steps, test_full_disk
folder = Path(sys.argv[1])
made, path = folder / "made.zarr", folder / "x.zarr"
steps.make(made, 3)
steps.commit(made, 1)
os.environ |= {"FAIL_ERRNO": str(errno.ENOSPC), "FAIL_PATH": "x.zarr"}
for which in ("FAIL_AT", "FAIL_FROM"):
    os.environ.pop("FAIL_AT", None)
    number, found = 1, []
    while not found or found[-1] != "done":
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(made, path)
        failing = {"FAIL_CALL": "write", which: str(number)}
        found.append(test_full_disk.ended(path, failing))
        test_full_disk.check(path, found[-1])
        number += 7
    print(json.dumps(found))
"""

FULL = """
set -e
mount -t tmpfs -o size=1m none "$1"
shift
exec "$@"
"""
FILLED = """
import json, os, shutil, sys
sys.path.insert(0, TESTS)
from pathlib import Path
from commits import steps, test_full_disk
disk, made = Path(sys.argv[1]), Path(sys.argv[2])
found = []
for pages in range(4, 64, 10):
    path = disk / "x.zarr"
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(made, path)
    left = os.statvfs(disk).f_bavail
    with open(disk / "filler", "wb") as filler:
        filler.write(bytes((left - pages) * 4096))
    found.append(test_full_disk.ended(path, {}))
    (disk / "filler").unlink()
    test_full_disk.check(path, found[-1])
print(json.dumps(found))
"""


def ended(path: Path, environment: dict[str, str]) -> str:
    """How a commit of step 2 ends in a child: 'done', 'complete', 'visible' or 'invisible'."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.environ |= environment
        try:
            steps.commit(path, 2)
        except CommitVisibleError as error:
            end = "complete" if error.is_complete else "visible"
            if "do not make it again" not in str(error) or error.__cause__ is None:
                end = str(error)
        except OSError:
            end = "invisible"
        except BaseException as error:
            end = repr(error)
        else:
            end = "done"
        os.environ.pop("FAIL_CALL", None)
        os.write(writer, end.encode())
        os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with open(reader, encoding="utf-8") as end:
        return end.read()


def check(path: Path, end: str) -> None:
    """Assert that readers see what the error has said, before and after the disk has space."""
    version = 1 if end == "invisible" else 2
    assert end in ("done", "complete", "visible", "invisible"), end
    assert steps.version_of(zarr.open_consolidated(path)) == version
    if end in ("done", "complete"):
        assert not (path / ".zarrix-commit.json").exists()
    zarr.recover(path)
    steps.is_clean(path)
    assert steps.version_of(zarr.open_group(path)) == version
    steps.commit(path, version + 1)


def test_an_error_says_whether_the_commit_is_visible(tmp_path: Path) -> None:
    done = run_with_failing_calls(BEGIN + WRITES_FAIL, tmp_path)
    assert done.returncode == 0, done.stderr
    once, always = map(json.loads, done.stdout.splitlines())
    # A write that fails once is repeated when the commit is completed.
    assert set(once) == {"invisible", "complete", "done"}
    assert set(always) == {"invisible", "visible", "done"}
    for found in (once, always):
        # There is one moment at which the commit happens.
        assert found == sorted(found, key=["invisible", "visible", "complete", "done"].index)


def test_on_a_disk_with_little_space(tmp_path: Path) -> None:
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*unshare, "sh", "-c", FULL, "sh", str(disk)]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], check=False).returncode:
        pytest.skip("this user cannot mount a file system in a namespace")
    made = tmp_path / "made.zarr"
    steps.make(made, 3)
    steps.commit(made, 1)
    program = [sys.executable, "-c", BEGIN + FILLED, str(disk), str(made)]
    run: Any = subprocess.run([*command, *program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found[0] == "invisible"
    assert found[-1] == "done"
