"""Prints how many tests of each project passed, and which failed and why."""

from typing import Any

import pytest


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
    terminalreporter.section("tests of other projects on zarrix")
    terminalreporter.write_line(
        f"{'suite':<14}{'way':<12}{'passed':>8}{'baseline':>10}{'listed':>8}"
    )
    for name, way, passed, baseline, listed in rows:
        count = sum(len(names) for names in listed.values())
        terminalreporter.write_line(f"{name:<14}{way:<12}{passed:>8}{baseline:>10}{count:>8}")
        for reason, names in listed.items():
            terminalreporter.write_line(f"    {len(names)} listed: {reason}")
