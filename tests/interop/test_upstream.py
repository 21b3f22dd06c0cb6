"""zarr-python's own tests of arrays, with and without the engine: what passes without passes with.

It runs thousands of tests three times, some minutes each, with ``--long``.
"""

from __future__ import annotations

import os
import subprocess
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENVIRONMENT = HERE / "envs" / "upstream"
FILES = (
    *("test_array.py", "test_indexing.py", "test_group.py", "test_api.py", "test_api"),
    *("test_codecs", "test_v2.py", "test_sync.py", "test_buffer.py", "test_config.py"),
    *("test_codec_pipeline.py", "test_codec_pipeline_suite.py", "test_fused_pipeline.py"),
    *("test_unified_chunk_grid.py", "test_resize.py", "test_attributes.py", "test_experimental"),
    *("test_pipeline_parity.py", "test_fastpath_equivalence.py", "test_chunk_grids.py"),
    *("test_info.py", "test_codec_entrypoints.py", "test_regression", "test_zarr.py"),
)
PIPELINE = {"ZARR_CODEC_PIPELINE__PATH": "zarrix.interop.Pipeline"}
WAYS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "accelerate": (("-p", "accelerated"), {}),
    "pipeline": ((), PIPELINE),
}
"""How the engine is used: arguments of pytest, and variables of the environment."""


def entry_point(folder: Path) -> None:
    """What an installed zarrix has, for a process that has it on its path only."""
    entry = folder / "zarrix_entry-1.dist-info"
    entry.mkdir()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    group = "zarr.codec_pipeline"
    lines = [f"{name} = {value}" for name, value in project["entry-points"][group].items()]
    (entry / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: zarrix-entry\nVersion: 1\n")


def run(folder: Path, arguments: tuple[str, ...], variables: dict[str, str]) -> dict[str, str]:
    """The outcome of each test, by its name."""
    report = folder / "report.xml"
    paths = (ROOT / "python", HERE, folder)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))} | variables
    command = [str(ENVIRONMENT / "bin" / "python"), "-m", "pytest", "-q", "-n", "2"]
    command += ["-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings="]
    command += [*arguments, f"--junitxml={report}", *(f"tests/{name}" for name in FILES)]
    source = ENVIRONMENT / "source"
    subprocess.run(command, cwd=source, env=environment, check=False, timeout=3600)
    return {
        f"{case.get('classname')}::{case.get('name')}": outcome_of(case)
        for case in ElementTree.parse(report).iter("testcase")
    }


def outcome_of(case: ElementTree.Element) -> str:
    kinds = {child.tag for child in case}
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"


def listed(way: str) -> dict[str, str]:
    return tomllib.loads((HERE / "upstream.toml").read_text())[way]


def reason_of(test: str, reasons: dict[str, str]) -> str | None:
    name = test.rpartition("::")[2]
    return reasons.get(name) or reasons.get(name.partition("[")[0])


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    if not (ENVIRONMENT / "source").is_dir():
        pytest.skip("tests/interop/setup upstream makes the environment of zarr-python's tests")
    return run(tmp_path_factory.mktemp("baseline"), (), {})


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
def test_what_passes_without_the_engine_passes_with_it(
    way: str, baseline: dict[str, str], tmp_path: Path
) -> None:
    entry_point(tmp_path)
    found = run(tmp_path, *WAYS[way])
    passed = {test for test, outcome in baseline.items() if outcome == "passed"}
    assert len(passed) > 8000
    failed = sorted(test for test in passed if found.get(test) != "passed")
    reasons = listed(way)
    print(f"{way}: {len(passed) - len(failed)} of {len(passed)} passed, {len(failed)} listed")
    assert [test for test in failed if reason_of(test, reasons) is None] == []


@pytest.mark.parametrize("way", WAYS)
def test_every_exception_has_a_reason(way: str) -> None:
    assert all(len(reason) > 30 for reason in listed(way).values())
    assert reason_of("tests.test_x::test_a[b-c]", {"test_a": "because"}) == "because"
    assert reason_of("tests.test_x::test_a[b-c]", {"test_a[b-d]": "because"}) is None
