"""The pages of tables say what the code says: settings, errors, commands, and where pages are."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from zarrix import _errors, errors
from zarrix._runtime import config

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def rows(page: str, width: int) -> list[list[str]]:
    """The cells of each row of ``page``'s tables with this number of columns, without the heads."""
    text = (DOCS / page).read_text(encoding="utf-8")
    tables = re.findall(r"^\|[^\n]*\n\|[-| ]*\n((?:\|[^\n]*\n)+)", text, re.MULTILINE)
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for table in tables
        for line in table.splitlines()
    ]
    return [[cell.strip("` |") for cell in row] for row in cells if len(row) == width]


def test_the_index_names_every_page() -> None:
    text = (DOCS / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([\w/-]+\.md)\)", text))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert linked == pages - {"README.md"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
    files = [target for target in targets if not re.match(r"\w+:", target)]
    assert [target for target in files if not (page.parent / target).exists()] == []


def test_the_page_of_settings_has_all_of_them() -> None:
    named = {name: variable for name, variable, _, _ in rows("settings.md", 4)}
    assert named == {name: f"ZARRIX_{name.upper()}" for name in config._VARIABLES}


def test_the_page_of_errors_is_the_tree() -> None:
    found = {name: (above, kind) for name, above, kind, _, _ in rows("errors.md", 5)}
    expected = {}
    for name in _errors.__all__:
        cls = getattr(errors, name)
        above = [base.__name__ for base in cls.__bases__ if base is not errors.ZarrixError]
        expected[name] = ("`, `".join(above), cls.kind)
    assert found == expected


def test_the_page_of_errors_has_every_warning() -> None:
    named = {name.removeprefix("zarrix.errors.") for name, _, _ in rows("errors.md", 3)}
    public = {
        name
        for name in dir(errors)
        if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), Warning)
    }
    assert named >= {name for name in public if getattr(errors, name).__module__ == "zarrix.errors"}


def test_the_page_of_the_tool_is_written_from_the_parsers() -> None:
    ran = subprocess.run([sys.executable, ROOT / ".ci" / "tool.py"], check=False, timeout=120)
    assert ran.returncode == 0, "python .ci/tool.py --write"


def test_the_extras_that_the_design_names_are_those_of_the_package() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    design = (DOCS / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"\[([\w-]+)\]", design.partition("Everything else is an extra:")[2][:220])
    assert set(named) == set(extras)


def test_no_page_claims_what_its_figures_do_not_say() -> None:
    for page in PAGES:
        text = " ".join(page.read_text(encoding="utf-8").split())
        for claim in ("faster than any other", "faster than every other one", "never wrong data"):
            assert claim not in text, page.name
        assert "the mission's" not in text, page.name


def test_what_a_package_index_shows_needs_no_other_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]+)\)", text)
    assert [target for target in targets if not target.startswith("https://")] == []
