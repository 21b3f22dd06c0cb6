"""Prints which peers ran, and with how many cases."""

from collections import Counter
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    counted: dict[str, Counter[str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            for key, value in getattr(report, "user_properties", ()):
                if key == "interop":
                    peer, way, equal, limited, wrong = value
                    row = counted.setdefault(peer, Counter())
                    row.update({way: equal, "limited": limited, "wrong": wrong})
    if counted:
        terminalreporter.section("exchanged with peers")
    for peer, row in counted.items():
        terminalreporter.write_line(
            f"{peer}: {row['read']} arrays of ours read equal, {row['write']} of its own by us; "
            f"{row['limited']} it cannot do, {row['wrong']} wrong"
        )
