"""Every test that docs/reliability.md and docs/viewer.md name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A file, a test in a file, or a test by its name alone.
NAMED = re.compile(r"`((?:tests/)?(?:[\w.]+/)*test_\w+\.py)?(?:::)?(test_\w+)?`")


def exists(file: str, test: str) -> bool:
    """Whether a test, or a file of tests, exists: in that file, or anywhere if none is named."""
    pattern = file.removeprefix("tests/") or "test_*.py"
    files = [*(ROOT / "tests").rglob(pattern)]
    if not test:
        return bool(files)
    defined = re.compile(rf"^ *(?:async )?def {test}\(", re.MULTILINE)
    return any(defined.search(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("page", ["reliability.md", "viewer.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = {found for found in NAMED.findall(text) if any(found)}
    assert len(named) > 10
    assert sorted("::".join(one) for one in named if not exists(*one)) == []


def test_a_test_that_does_not_exist_is_noticed() -> None:
    assert exists("tests/docs/test_promises.py", "test_every_test_that_a_page_names_exists")
    assert exists("test_promises.py", "")
    assert exists("", "test_every_test_that_a_page_names_exists")
    assert not exists("tests/docs/test_promises.py", "test_that_does_not_exist")
    assert not exists("tests/docs/test_absent.py", "")
    assert not exists("", "test_that_is_absent")
