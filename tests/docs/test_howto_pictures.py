"""Each how-to that has something to see shows it, and the others are named here with the reason."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
IMAGES = DOCS / "images" / "howto"
PAGES = {page.stem: page for page in sorted((DOCS / "howto").glob("*.md"))}
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
MOST_BYTES, MOST_TOGETHER = 60_000, 1_500_000

# How-tos without a picture, and why they have none.
LEFT_OUT = {
    "append": "its result is a longer shape, which it prints",
    "async-code": "it is about how calls are made",
    "change-the-format": "the chunks and their values stay as they are",
    "choose-a-compressor": "its result is an order of sizes, which it prints",
    "dates": "its result is a list of dates, which it prints",
    "limit-threads-and-memory": "it is about settings",
    "open-faster-on-s3": "it is about requests, which it counts",
    "rename-and-delete": "its result is a tree, which it prints",
    "resume-a-copy": "a copy is not visible before it is complete",
    "store-frames-as-they-arrive": "frames look as they do in any array",
    "strings": "its result is text, which it prints",
    "use-s3": "it is about credentials",
    "write-a-codec": "it is about a class",
    "write-a-store": "it is about a class",
    "zip-archives": "an array looks the same in an archive",
}


def pictures(page: Path) -> list[tuple[str, str]]:
    return PICTURE.findall(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_a_howto_has_a_picture_or_a_reason(name: str) -> None:
    assert bool(pictures(PAGES[name])) != (name in LEFT_OUT)


def test_reasons_are_of_pages() -> None:
    assert set(LEFT_OUT) <= set(PAGES)


@pytest.mark.parametrize("name", sorted(set(PAGES) - set(LEFT_OUT)))
def test_a_picture_says_what_it_shows_and_is_small(name: str) -> None:
    for alt, target in pictures(PAGES[name]):
        assert len(alt.split()) >= 4, alt
        light = (PAGES[name].parent / target).resolve()
        assert light.name.endswith("-light.png")
        for path in (light, light.with_name(light.name.replace("-light.", "-dark."))):
            assert path.is_file(), path
            if path.parent == IMAGES:
                assert path.stat().st_size <= MOST_BYTES


def test_no_picture_of_a_howto_is_left_over() -> None:
    shown = {
        name for name, page in PAGES.items() for _, target in pictures(page) if "/howto/" in target
    }
    made = {f"{name}-{scheme}.png" for name in shown for scheme in ("light", "dark")}
    stored = {path.name: path.stat().st_size for path in IMAGES.iterdir()}
    assert set(stored) == made
    assert sum(stored.values()) <= MOST_TOGETHER
