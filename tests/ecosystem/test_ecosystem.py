"""The tests of xarray, dask, anndata, ome-zarr and spatialdata, with zarrix in the place of zarr.

Each runs in its own environment, once with zarr-python and once with zarrix. What passes with the
one and fails with the other is listed in `suites`, with its reason.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import zarrix

sys.path.insert(0, str(Path(__file__).resolve().parent))

from suites import FOLDER, SUITES, WAYS, Suite

PACKAGE = Path(zarrix.__file__).parents[1]
TIME_LIMIT_S = 3600


def outcomes(name: str, suite: Suite, way: str, scratch: Path) -> dict[str, bool]:
    """Whether each test that ran passed, by its whole name."""
    folder = FOLDER / name
    report = scratch / "report.xml"
    sources = [path for path in (folder / "source").glob("*/") if path.is_dir()]
    command = [str(folder / "bin" / "python"), *WAYS[way], *suite.arguments]
    command += ["-q", "-p", "no:cacheprovider", "--tb=no", "-W", "ignore", "--timeout=300"]
    subprocess.run(
        [*command, f"--junitxml={report}", "-o", "junit_family=xunit1"],
        cwd=sources[0] if sources else scratch,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        stdout=subprocess.DEVNULL,
        timeout=TIME_LIMIT_S,
        check=False,
    )
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        if "skipped" not in kinds:
            whole = f"{case.get('classname')}::{case.get('name')}"
            found[whole] = not kinds & {"failure", "error"}
    return found


@pytest.mark.long
@pytest.mark.parametrize("way", [way for way in WAYS if way != "zarr-python"])
@pytest.mark.parametrize("name", SUITES)
def test_what_passes_with_zarr_python_passes_with_zarrix(
    name: str, way: str, tmp_path: Path, record_property: pytest.FixtureRequest
) -> None:
    suite = SUITES[name]
    if not (FOLDER / name / "bin" / "python").exists():
        pytest.skip(f"its environment is not there: tests/ecosystem/setup {name}")
    before, after = (tmp_path / one for one in ("zarr-python", way))
    before.mkdir()
    after.mkdir()
    theirs = outcomes(name, suite, "zarr-python", before)
    ours = outcomes(name, suite, way, after)
    expected = {test for test, passed in theirs.items() if passed}
    assert expected, "zarr-python passes none of the tests, so that they say nothing"
    lost = sorted(test for test in expected if not ours.get(test, False))
    listed: dict[str, list[str]] = {}
    unlisted = []
    for test in lost:
        reason = next((why for part, why in suite.listed.items() if part in test), None)
        if reason is None:
            unlisted.append(test)
        else:
            listed.setdefault(reason, []).append(test)
    passed = len(expected) - len(lost)
    record_property("ecosystem", (name, way, passed, len(expected), listed))  # type: ignore[operator]
    assert unlisted == []
    assert passed >= suite.least * len(expected)


def test_every_exception_has_a_reason() -> None:
    for suite in SUITES.values():
        assert all(part and reason for part, reason in suite.listed.items())
        assert all("==" in one for one in suite.packages[:1])
