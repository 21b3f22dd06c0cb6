"""How a suite runs: with zarr-python, and in each way with zarrix; what came out, test by test.

ZARRIX_ECOSYSTEM_WORKERS is how many processes of pytest-xdist run a suite (default: one, without).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from suites import FOLDER, Suite

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TIME_LIMIT_S = 7200
WORKERS = os.environ.get("ZARRIX_ECOSYSTEM_WORKERS", "")
BASELINE = "zarr-python"
ALIAS = ("-m", "zarrix.as_zarr", "-m", "pytest", "-p", "zarrix.testing.as_zarr")


@dataclass(frozen=True)
class Way:
    """How pytest is started, variables of its environment, and what all its workers run first.

    A project's own plugins are imported in a worker before those of the command line.
    """

    start: tuple[str, ...] = ("-m", "pytest")
    variables: dict[str, str] = field(default_factory=dict)
    in_workers: str = ""


WAYS = {
    BASELINE: Way(),
    "as_zarr": Way(ALIAS, in_workers="import zarrix.as_zarr"),
    "accelerate": Way(("-m", "pytest", "-p", "accelerated")),
    "pipeline": Way(variables={"ZARR_CODEC_PIPELINE__PATH": "zarrix.interop.Pipeline"}),
    "as_zarr2": Way(("-m", "pytest", "-p", "as_zarr2")),
    "engine": Way(("-m", "pytest", "-p", "under_engine")),
    "collected": Way((*ALIAS, "-p", "collected")),
}


def outcomes(name: str, suite: Suite, way: str, scratch: Path) -> dict[str, str]:
    """How each test that ran failed, by its whole name; empty where it passed.

    What passes with zarr-python does not depend on zarrix, and is stored beside the environment.
    """
    if way != BASELINE:
        return run(name, suite, way, scratch)
    stored = FOLDER / name / f"failures-{_digest(suite)}.json"
    if not stored.exists():
        found = run(name, suite, way, scratch)
        assert found, f"no test of {name} ran; see {scratch}"
        stored.write_text(json.dumps(found, indent=0))
    return dict(json.loads(stored.read_text()))


def _digest(suite: Suite) -> str:
    what = repr((suite.installed, suite.sdist, suite.arguments)).encode()
    own = (HERE / suite.own).read_bytes() if suite.own else b""
    return hashlib.sha256(what + own).hexdigest()[:12]


def run(name: str, suite: Suite, way: str, scratch: Path) -> dict[str, str]:
    """Run the tests, whether or not a result of them is stored."""
    folder = FOLDER / name
    report = scratch / f"{name}-{way}.xml"
    python_path = [] if way == BASELINE else [str(ROOT / "python"), str(HERE), entry_point(scratch)]
    sources = [path for path in (folder / "source").glob("*/") if (path / "PKG-INFO").exists()]
    starts_in = sources[0] if sources and not suite.own else scratch
    how = WAYS[way]
    if suite.own:
        # Beside no conftest.py of ours.
        shutil.copy(HERE / suite.own, scratch / f"test_{suite.own}")
    command = [str(folder / "bin" / "python"), *how.start, *suite.arguments]
    # Our own conftest.py is above the environments.
    command += [f"--confcutdir={folder}", "-q", "-p", "no:cacheprovider", "--tb=short"]
    command += ["-W", "ignore", "--timeout=300"]
    if WORKERS and not suite.own and "-n" not in suite.arguments:
        command += ["-n", WORKERS]
        if how.in_workers:
            (scratch / "installed" / "sitecustomize.py").write_text(how.in_workers)
    with (scratch / f"{name}-{way}.log").open("wb") as log:
        subprocess.run(
            [*command, f"--junitxml={report}", "-o", "junit_family=xunit1"],
            cwd=starts_in,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(python_path)}
            | how.variables
            | suite.variables,
            stdout=log,
            stderr=log,
            timeout=TIME_LIMIT_S,
            check=False,
        )
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag: child for child in case}
        if "skipped" not in kinds:
            whole = f"{case.get('classname')}::{case.get('name')}"
            failed = kinds.get("failure", kinds.get("error"))
            found[whole] = "" if failed is None else failed.get("message") or "failed"
    return found


def entry_point(scratch: Path) -> str:
    """A folder with what an installed zarrix has, where it is on the path only."""
    entry = scratch / "installed" / "zarrix_entry-1.dist-info"
    entry.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    group = "zarr.codec_pipeline"
    lines = [f"{name} = {value}" for name, value in project["entry-points"][group].items()]
    (entry / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: zarrix-entry\nVersion: 1\n")
    return str(entry.parent)
