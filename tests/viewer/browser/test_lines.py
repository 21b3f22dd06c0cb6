"""Series that stay, with dates, and the values along a line that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from viewer.browser.screen import Screen
from viewer.browser.test_meaning import climate, wait_labels

COLOURS = ((0xD9, 0x82, 0x00), (0x2F, 0x8F, 0xD0))


def position(screen: Screen, row: float, column: float, height: int = 0) -> dict[str, float]:
    """Where an element is on the canvas; of a plane of `height` rows with the first one below."""
    drawn = screen.drawn()
    row = height - row - 1 if height else row
    return {
        "x": drawn.left + (column + 0.5) * drawn.scale,
        "y": drawn.top + (row + 0.5) * drawn.scale,
    }


def has_colour(pixels: Any, colour: tuple[int, ...]) -> bool:
    return bool((np.abs(pixels[..., :3].astype(int) - colour).max(axis=-1) <= 2).any())


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_series_of_several_places_stay_and_have_dates(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, stored = climate()
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(viewing(group).address("path=t2m"))
    wait_labels(screen, "1")
    values = np.where(stored == -32767, np.nan, stored * 0.01 + 273.15)
    page = screen.page
    canvas = page.locator("canvas.upper")
    canvas.click(position=position(screen, 5, 20, 36))
    canvas.press("s")
    canvas.click(position=position(screen, 25, 15, 36))
    if width < 900:
        page.get_by_role("button", name="Facts").click()
    screen.wait_text(".series", "lat 37.5°N [25] lon 75°E [15]")
    assert page.locator(".pins li").count() == 2
    # The middle of the plot is the middle of the calendar, and both values are there.
    screen.wait(lambda: page.locator(".series .u-over").count() == 1)
    page.locator(".series .u-over").hover()
    screen.wait_text(".series output", "2020-")
    text = screen.text(".series output")
    at = int(text.split("[")[1].split("]")[0])
    # The first label is 2019-12-15, and months have 30 days.
    year, month = divmod(2019 * 12 + 11 + at, 12)
    assert text.startswith(f"{year}-{month + 1:02d}-15 [{at}]: ")
    for row, column in ((5, 20), (25, 15)):
        assert f"[{column}]: {values[at, row, column]:.9g}" in text, text
    plot = screen.pixels(".series canvas")
    rings = screen.pixels("canvas.upper")
    for colour in COLOURS:
        assert has_colour(plot, colour)
        assert has_colour(rings, colour)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screen.wait(lambda: "pin=0%2C5%2C20" in page.url)
    page.get_by_label("Remove series 1").click()
    screen.wait(lambda: page.locator(".pins li").count() == 0)
    screen.wait_text(".series", "lat 37.5°N [25]")
    screen.close()


@pytest.mark.parametrize("by", ["mouse", "keys"])
def test_the_values_along_a_line_are_shown(
    by: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, stored = climate()
    served = viewing(group)
    screen.open(served.address("path=t2m&as=raw:1&at=time=3"))
    wait_labels(screen, "1")
    page = screen.page
    canvas = page.locator("canvas.upper")
    begin, end = position(screen, 8, 10, 36), position(screen, 8, 30, 36)
    if by == "mouse":
        page.get_by_role("button", name="Line").click()
        box = canvas.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + begin["x"], box["y"] + begin["y"])
        page.mouse.down()
        page.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=5)
        page.mouse.up()
    else:
        canvas.hover(position=begin)
        canvas.press("l")
        for _ in range(20):
            canvas.press("ArrowRight")
        canvas.press("l")
    found = stored[3, 8, 10:31]
    wanted = f"21 values along the line, from {found.min()} to {found.max()}"
    screen.wait_text(".profile", wanted)
    assert has_colour(screen.pixels("canvas.upper"), (0x4C, 0xC9, 0xF0))
    screen.wait(lambda: "line=0%2C8%2C10%2C8%2C30" in page.url)
    again = page.url
    screen.open("about:blank", panes=0)
    screen.open(again)
    screen.wait_text(".profile", wanted)
    page.get_by_role("button", name="Remove line").click()
    screen.wait(lambda: page.locator(".profile").count() == 0)
