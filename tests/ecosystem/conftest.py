"""Prints how many tests of each project passed in each way, and which failed and why."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import table


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    rows = [
        value
        for outcome in ("passed", "failed")
        for report in terminalreporter.stats.get(outcome, ())
        for key, value in getattr(report, "user_properties", ())
        if key == "ecosystem"
    ]
    if not rows:
        return
    if os.environ.get("ZARRIX_ECOSYSTEM_STORE"):
        table.store(rows)
    write = terminalreporter.write_line
    terminalreporter.section("tests of other projects on zarrix")
    write("the baseline is what passes with zarr-python")
    write(f"{'suite':<14}{'way':<12}{'passed':>8}{'baseline':>10}{'':>9}{'listed':>8}{'lost':>6}")
    for name, way, passed, baseline, listed, lost in rows:
        count = sum(len(tests) for tests in listed.values())
        part = f"{100 * passed / baseline:.2f} %"
        write(f"{name:<14}{way:<12}{passed:>8}{baseline:>10}{part:>9}{count:>8}{len(lost):>6}")
    for name, way, _, _, listed, lost in rows:
        for reason, tests in listed.items():
            write(f"{name}, {way}: {len(tests)} listed: {reason}")
        for test in lost:
            write(f"{name}, {way}: LOST {test}")
