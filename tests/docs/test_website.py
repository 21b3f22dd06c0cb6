"""The documentation site: every public name once, every page in the navigation, links that lead."""

import posixpath
import re
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from ci_tools import load

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def website() -> ModuleType:
    with warnings.catch_warnings():
        # Deprecated public modules say so when they are imported.
        warnings.simplefilter("ignore")
        return load("website")


@pytest.fixture(scope="module")
def pages(website: ModuleType) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, str] = website.sources()
    return found


def test_every_public_name_is_documented_once(website: ModuleType, pages: dict[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = list(website.public_names())
    assert len(names) > 400
    text = "\n".join(pages.values())
    documented = re.findall(r'^ *heading: "(.+)"$|^## (zarrix\.\S+)$', text, re.MULTILINE)
    headings = [one or other for one, other in documented]
    assert sorted(headings) == sorted(set(headings))
    assert set(headings) == {at.full for at in website.homes(names).values()}
    for one in names:
        module = pages[website.page_of(one.module)]
        assert one.full in headings or f"| `{one.name}` |" in module, one.full


def test_a_constructor_that_two_modules_have_is_documented_where_users_look_first(
    website: ModuleType, pages: dict[str, str]
) -> None:
    assert 'heading: "zarrix.zeros"' in pages["api/zarrix.md"]
    assert "| `zeros` | [zarrix.zeros](zarrix.md#" in pages["api/zarrix-creation.md"]


def test_every_page_is_in_the_navigation_once(website: ModuleType, pages: dict[str, str]) -> None:
    sections = website.navigation(pages)
    assert next(iter(sections[0])) == "Start"
    with pytest.raises(SystemExit, match=r"lacks: \['new\.md'\]"):
        website.navigation(pages | {"new.md": "# New"})


def test_links_between_pages_lead_to_pages(pages: dict[str, str]) -> None:
    for name, text in pages.items():
        prose = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)
        for target in re.findall(r"(?<!!)\[[^\]]*\]\(([^)#\s]+)[^)]*\)", prose):
            if not re.match(r"\w+:", target):
                there = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
                assert there in pages, (name, target)


def test_a_link_to_a_file_that_the_site_lacks_becomes_text(website: ModuleType) -> None:
    text = "see [the licence](../LICENSE), [design.md](design.md#the-house) and [Zarr](https://zarr.dev)"
    assert website.copied(ROOT / "docs" / "stores.md", text) == (
        "see the licence, [zarrix: design](design.md#the-house) and [Zarr](https://zarr.dev)"
    )


def test_a_picture_follows_the_scheme_of_the_page(website: ModuleType) -> None:
    page = ROOT / "docs" / "howto" / "missing-chunks.md"
    there = "../images/viewer/missing"
    assert website.copied(page, f"![Chunks]({there}-light.png)") == (
        f"![Chunks]({there}-light.png#only-light)![Chunks]({there}-dark.png#only-dark)"
    )
    # One that has no other, and one that is meant to be dark, stay.
    for alone in ("![Film](../images/film-light.png)", f"![Dark]({there}-dark.png)"):
        assert website.copied(page, alone) == alone


def test_every_picture_of_the_site_is_a_file(pages: dict[str, str]) -> None:
    seen = 0
    for name, text in pages.items():
        prose = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)
        for target in re.findall(r"!\[[^\]]*\]\(([^)#\s]+)[^)]*\)", prose):
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            assert (ROOT / "docs" / there).is_file(), (name, target)
            seen += 1
    assert seen > 40
