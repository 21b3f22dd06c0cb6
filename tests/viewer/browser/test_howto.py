"""The pictures of the how-tos, made from what the blocks of each page leave.

ZARRIX_WRITE_PICTURES=1 writes them to docs/images/howto. Without it, each one is made and thrown
away, because fonts differ between machines.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ci_tools import load
from optional import skipped_where_absent
from viewer.browser.howto import PICTURES, Notebook, Terminal, View
from viewer.browser.screen import Screen
from viewer.browser.test_pictures import smaller

DOCS = Path(__file__).parents[3] / "docs"
MOST_BYTES = 60_000
MONO = "'DejaVu Sans Mono', monospace"
COLOURS = {"light": ("#ffffff", "#1c2024"), "dark": ("#14171c", "#e4e7eb")}

LEAVE_OUT = """(folder) => {
  for (const one of document.querySelectorAll(".notice bdi"))
    one.textContent = one.textContent.replaceAll(folder, "");
}"""

pages = load("pages")


def names_of(page: str) -> dict[str, Any]:
    """What the blocks of a how-to define, and what its picture needs beside."""
    path = DOCS / "howto" / f"{page}.md"
    names: dict[str, Any] = {}
    with skipped_where_absent():
        pages.printed(path, pages.blocks(path.read_text(encoding="utf-8")), names)
        import zarrix as zarr

        names |= {"np": np, "zarr": zarr}
        exec(PICTURES[page].code, names)
    return names


def document(shot: Notebook | Terminal, names: dict[str, Any], scheme: str) -> str:
    """A page with what a notebook or a terminal shows."""
    found = eval(shot.show, names)
    if isinstance(shot, Terminal):
        body, width = f'<pre style="margin: 0; font: 14px {MONO}">{escape(found)}</pre>', 640
    else:
        objects = found if isinstance(found, tuple) else (found,)
        parts = [f"<div>{one._repr_html_()}</div>" for one in objects]
        body, width = "".join(parts).replace("<details>", "<details open>"), shot.width
    back, text = COLOURS[scheme]
    style = (
        f"background: {back}; color: {text}; font: 14px/1.5 system-ui, sans-serif; "
        f"display: flex; flex-direction: column; gap: 16px; padding: 14px 18px; width: {width}px; "
        "box-sizing: border-box"
    )
    main = f'<main style="{style}">{body}</main>'
    return f'<!DOCTYPE html><html><body style="margin: 0">{main}</body></html>'


def shown(browser: Any, shot: Notebook | Terminal, names: dict[str, Any], scheme: str) -> bytes:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1060, "height": 700})
    page = context.new_page()
    page.set_content(document(shot, names, scheme))
    picture: bytes = page.locator("main").screenshot()
    context.close()
    return picture


def viewed(browser: Any, shot: View, served: Any, scheme: str) -> bytes:
    width, height = shot.size
    screen = Screen(browser, color_scheme=scheme, viewport={"width": width, "height": 800})
    selector, text = shot.wait
    screen.page.goto(served.address(shot.fragment))
    screen.wait_text(selector, text)
    pane = screen.page.locator("section.pane")
    pane.evaluate(f"pane => pane.style.height = '{height}px'")
    # Messages name files as they were opened; where this test runs says nothing.
    screen.page.evaluate(LEAVE_OUT, f"{Path.cwd()}/")
    screen.page.wait_for_timeout(500)
    picture: bytes = pane.screenshot()
    screen.close()
    return picture


@pytest.mark.parametrize("page", PICTURES)
def test_the_picture_of_a_howto_can_be_made(
    page: str,
    browser: Any,
    viewing: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    monkeypatch.chdir(tmp_path)
    shot, names = PICTURES[page], names_of(page)
    served = viewing(eval(shot.serve, names)) if isinstance(shot, View) else None
    for scheme in COLOURS:
        if isinstance(shot, View):
            picture = viewed(browser, shot, served, scheme)
        else:
            picture = shown(browser, shot, names, scheme)
        small = smaller(picture, MOST_BYTES)
        assert len(small) <= MOST_BYTES
        # It has more than its background, which is that of the scheme.
        seen = np.asarray(images.open(io.BytesIO(picture)).convert("RGB"))
        backs = np.bincount(seen.reshape(-1, 3).mean(axis=1).astype(int), minlength=256)
        assert (backs[128:].sum() > backs[:128].sum()) == (scheme == "light") or "rgb" in str(shot)
        assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 8
        if os.environ.get("ZARRIX_WRITE_PICTURES"):
            folder = DOCS / "images" / "howto"
            folder.mkdir(exist_ok=True)
            (folder / f"{page}-{scheme}.png").write_bytes(small)
