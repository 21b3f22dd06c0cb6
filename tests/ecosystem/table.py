"""The table of docs/ecosystem.md, written from the stored results of the suites.

    ZARRIX_ECOSYSTEM_STORE=1 pytest --long tests/ecosystem -k NAME   # run, and store the results
    python tests/ecosystem/table.py                                  # write the table

results.json has, for each suite and way, what passes, what passes with zarr-python, and how many
tests fail for each reason of listed.toml. A test compares the page with it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from suites import LEFT_OUT, SUITES, Suite
from ways import BASELINE, WAYS

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
PAGE = HERE.parents[1] / "docs" / "ecosystem.md"
BEGIN, END = "<!-- suites: written by tests/ecosystem/table.py -->\n", "<!-- end of suites -->\n"
TITLES = {
    "as_zarr": "alias",
    "accelerate": "`accelerate`",
    "pipeline": "pipeline",
    "engine": "engine of xarray",
    "as_zarr2": "without the alias",
    "collected": "alias, all tests collected",
}
# Causes of a suite that the table has; the others are in listed.toml.
MOST_CAUSES = 5


def results() -> dict[str, dict[str, Any]]:
    """The stored results: by suite and way ``passed``, ``baseline`` and ``listed``."""
    found: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text())
    return found


def store(rows: list[tuple[str, str, int, int, dict[str, list[str]], list[str]]]) -> None:
    """Replace the results of the suites and ways that have run."""
    stored = results()
    for name, way, passed, baseline, listed, lost in rows:
        causes = {reason: len(tests) for reason, tests in sorted(listed.items())}
        found = {"passed": passed, "baseline": baseline, "listed": causes, "without": len(lost)}
        stored.setdefault(name, {})[way] = found
    RESULTS.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


def table(stored: dict[str, dict[str, Any]]) -> str:
    """The rows, in the order of suites.py."""
    lines = [
        "| project | passes with zarrix, of what passes with zarr-python | what differs |",
        "|---|---|---|",
    ]
    for name, suite in SUITES.items():
        if name in stored:
            lines.append(
                f"| {_title(name, suite)} | {_counts(stored[name])} | {_causes(stored[name])} |"
            )
    return "\n".join(lines) + "\n"


def _title(name: str, suite: Suite) -> str:
    """The project and its version: the package that the suite is called after, or the first."""
    parts = [re.split(r"\[.*?\]|==", package) for package in suite.packages]
    chosen = next((one for one in parts if one[0] == name), parts[0])
    return f"{chosen[0]} {chosen[-1]}"


def _counts(ways: dict[str, Any]) -> str:
    order = [way for way in WAYS if way != BASELINE and way in ways]
    return "<br>".join(
        f"{TITLES[way]}: {ways[way]['passed']} of {ways[way]['baseline']}" for way in order
    )


def _causes(ways: dict[str, Any]) -> str:
    counts: dict[str, int] = {}
    for found in ways.values():
        for reason, number in found["listed"].items():
            counts[reason] = max(number, counts.get(reason, 0))
    without = max(found["without"] for found in ways.values())
    ordered = sorted(counts, key=lambda reason: (-counts[reason], reason))
    shown = [f"{reason.removeprefix('zarr-python: ')} ({counts[reason]})" for reason in ordered]
    if len(shown) > MOST_CAUSES:
        rest = len(shown) - MOST_CAUSES
        shown = [*shown[:MOST_CAUSES], f"{rest} more causes in listed.toml"]
    # What was known of results that were stored before their causes were.
    shown += sorted({found["note"] for found in ways.values() if "note" in found})
    if without:
        shown.append(f"{without} without a cause in the list")
    return "; ".join(shown).replace("|", "\\|")


def written(page: str, stored: dict[str, dict[str, Any]]) -> str:
    """The page with the table of these results."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}{table(stored)}{_left_out()}{END}{after}"


def _left_out() -> str:
    """Rows for the projects without a suite."""
    return "".join(f"| {project} | | {reason} |\n" for project, reason in LEFT_OUT.items())


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(), results()))
