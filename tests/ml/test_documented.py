"""The tests that docs/reliability.md names for the promises of loaders exist."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reliability.md"


def test_every_promise_names_a_test_that_exists() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## What a loader promises")[2]
    rows = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    # The first one is the head of the table.
    for row in rows[1:]:
        named = re.findall(r"`(test_\w+\.py)::(test_\w+)`", row)
        assert named, row
        for file, name in named:
            assert f"def {name}(" in (HERE / file).read_text(encoding="utf-8"), row
    assert len(rows) > 15
