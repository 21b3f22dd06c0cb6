"""The tests of other projects with zarrix, in each way that it can be used.

Each project runs in its own environment with zarr-python, and then with zarrix. What passes with
the one and fails with the other is in listed.toml, with its reason. A table of all runs is printed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from suites import FOLDER, SUITES
from table import PAGE, results, table, written
from ways import BASELINE, WAYS, outcomes

RUNS = [(name, way) for name, suite in SUITES.items() for way in suite.ways]
LISTED = tomllib.loads((Path(__file__).resolve().parent / "listed.toml").read_text())
# Tests of how zarr-python works inside: the bar of a suite is a part of the others.
INSIDE = "zarr-python: "
# What a line of listed.toml begins with that is about the text of a failure, a regular expression.
FAILURE = "failure: "


def reasons_of(name: str, way: str) -> dict[str, str]:
    """The tests that may fail, by a part of their names: in all ways, and in this one."""
    found = LISTED.get(name, {})
    return {**found.get("all", {}), **found.get(way, {})}


def reason_of(test: str, failure: str, reasons: dict[str, str]) -> str | None:
    """The reason of the longest part that the name of the test has, or else its failure."""
    parts = [part for part in reasons if part in test]
    if not parts:
        texts = [part for part in reasons if part.startswith(FAILURE)]
        parts = [part for part in texts if re.search(part.removeprefix(FAILURE), failure)]
    return reasons[max(parts, key=len)] if parts else None


@pytest.mark.long
@pytest.mark.parametrize(("name", "way"), RUNS, ids=["-".join(run) for run in RUNS])
def test_what_passes_with_zarr_python_passes_with_zarrix(
    name: str, way: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    suite = SUITES[name]
    if not (FOLDER / name / "bin" / "python").exists():
        pytest.skip(f"its environment is not there: tests/ecosystem/setup {name}")
    theirs = outcomes(name, suite, BASELINE, tmp_path)
    ours = outcomes(name, suite, way, tmp_path)
    expected = {test for test, failure in theirs.items() if not failure}
    assert len(expected) >= suite.tests
    lost = sorted(test for test in expected if ours.get(test, "did not run"))
    reasons = reasons_of(name, way)
    listed: dict[str, list[str]] = {}
    for test in lost:
        reason = reason_of(test, ours.get(test, "did not run"), reasons)
        listed.setdefault(reason or "", []).append(test)
    unlisted = listed.pop("", [])
    row = (name, way, len(expected) - len(lost), len(expected), listed, unlisted)
    record_property("ecosystem", row)
    assert len(unlisted) <= suite.open, unlisted
    inside = sum(len(tests) for why, tests in listed.items() if why.startswith(INSIDE))
    assert len(expected) - len(lost) >= suite.least * (len(expected) - inside)


def test_every_exception_has_a_reason() -> None:
    for name, ways in LISTED.items():
        assert set(ways) <= {"all", *SUITES[name].ways}
        for reasons in ways.values():
            assert all(part and len(why) > 30 for part, why in reasons.items())
    assert reason_of("tests.x::test_a[b-c]", "", {"test_a": "one", "test_a[b": "two"}) == "two"
    assert reason_of("tests.x::test_a[b-c]", "", {"test_a[b-d]": "one"}) is None
    reasons = {"failure: no attribute '_": "three", "test_b": "four"}
    assert reason_of("tests.x::test_a", "'A' has no attribute '_b'", reasons) == "three"
    assert reason_of("tests.x::test_b", "'A' has no attribute '_b'", reasons) == "four"
    assert reason_of("tests.x::test_a", "'A' has no attribute 'b'", reasons) is None


def test_every_suite_is_pinned() -> None:
    for suite in SUITES.values():
        assert "==" in suite.packages[0]
        assert set(suite.ways) <= set(WAYS) - {BASELINE}


def test_the_page_has_the_table_of_the_stored_results() -> None:
    page = PAGE.read_text()
    assert written(page, results()) == page
    found = {"passed": 3, "baseline": 9, "listed": {"a cause": 4}, "without": 2}
    row = "| dask 2026.8.0 | alias: 3 of 9 | a cause (4); 2 without a cause in the list |\n"
    assert table({"dask": {"as_zarr": found}}).endswith(row)


def test_every_stored_result_is_of_a_suite_and_adds_up() -> None:
    for name, ways in results().items():
        for way, found in ways.items():
            assert way in SUITES[name].ways
            lost = found["baseline"] - found["passed"]
            if "note" not in found:
                assert sum(found["listed"].values()) + found["without"] == lost
