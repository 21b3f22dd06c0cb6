"""Chunks in colours: by their stored bytes, their ratio, and when they were written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen
from viewer.test_chunk_map import COLUMNS, ROWS, files


def coloured(screen: Screen, values: Any) -> bool:
    """Whether a corner of each chunk has its colour, or the hatching of missing ones."""
    drawn = screen.drawn()
    scale = int(drawn.scale)
    shown = screen.plane(37, 30)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    colours = painted.colour_map("viridis")
    for row in range(ROWS):
        for column in range(COLUMNS):
            pixel = shown[row * 10 * scale + 2, column * 10 * scale + 2, :3].tolist()
            value = values[row, column]
            level = 0 if np.isnan(value) else min(255, int((value - low) / (high - low) * 256))
            known = [list(one) for one in painted.HATCHINGS["missing"][:2]]
            wanted = known if np.isnan(value) else [colours[level].tolist()]
            if pixel not in wanted:
                return False
    return (drawn.low, drawn.high) == pytest.approx((low, high))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_chunks_have_the_colours_of_their_numbers(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    sizes = files(tmp_path / "z.zarr")
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(
        viewing(zarr.open(str(tmp_path / "z.zarr"), mode="r")).address(
            "path=&as=kind:gray&at=axis 0=1"
        )
    )
    box = screen.page.get_by_label("By what chunks are coloured")
    box.select_option("bytes")
    screen.wait(lambda: coloured(screen, sizes[1]))
    screen.wait_text(".quality", "11 of 12 chunks stored")
    box.select_option("ratio")
    screen.wait(lambda: coloured(screen, 200 / sizes[1]))
    drawn = screen.drawn()
    screen.page.locator("canvas.upper").hover(
        position={"x": drawn.left + 12.5 * drawn.scale, "y": drawn.top + 15.5 * drawn.scale}
    )
    screen.wait_text("output.value", f"chunk 1.1.1, ratio {200 / sizes[1, 1, 1]:.3g}")
    box.select_option("age")
    times = 1_000_100 + 10.0 * np.arange(ROWS)[:, None] + np.arange(COLUMNS)
    times[1, 2] = np.nan
    screen.wait(lambda: coloured(screen, times))
    screen.wait_text(".quality", "1970-01-12 13:48")
    screen.wait(lambda: "chunks%3Aage" in screen.page.url)
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    box.select_option("")
    screen.wait(lambda: screen.page.locator('canvas.lower[data-chunks=""]').count() == 1)
    screen.close()


def test_what_is_not_known_is_said(screen: Screen, viewing: Callable[..., Any]) -> None:
    screen.expected = ("400",)
    array = zarr.ones((8, 8), chunks=(4, 4), dtype="u1")
    screen.open(viewing(array).address("path=&as=kind:gray"))
    screen.page.get_by_label("By what chunks are coloured").select_option("age")
    screen.wait_text(".quality", "only files of this machine")
