"""A page that was exported shows from its file what the server showed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen
from viewer.browser.test_meaning import COLUMNS, ROWS, climate, wait_labels
from zarrix.viewer._app import root_of
from zarrix.viewer._page import page_of
from zarrix.viewer._roots import Roots


def exported(folder: Path, node: Any, most_bytes: int = 2**24) -> str:
    """The address of a page in a folder."""
    file = folder / "page.html"
    file.write_text(page_of(Roots([root_of(node)]), most_bytes).html, encoding="utf-8")
    return file.as_uri()


@pytest.fixture
def alone(browser: Any, viewing: Any) -> Any:
    """A page that asks nothing but its own file."""
    screen = Screen(browser)
    yield screen
    files = [url for url in screen.requests if url.startswith("file:")]
    others = [url for url in screen.requests if not url.startswith(("file:", "data:", "blob:"))]
    screen.requests.clear()
    screen.close()
    assert files
    assert not others


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_an_exported_page_shows_the_same_pixels(
    width: int, scheme: str, browser: Any, tmp_path: Path
) -> None:
    group, stored = climate()
    address = exported(tmp_path, group)
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(f"{address}#path=t2m&as=map:viridis&at=time=5")
    wait_labels(screen, "1")
    values = np.where(stored[5] == -32767, np.nan, stored[5] * 0.01 + 273.15)
    drawn = screen.drawn()
    wanted = painted.gray(values[::-1], drawn.low, drawn.high, "viridis")
    wanted = painted.hatched(wanted, drawn.left, drawn.top, int(drawn.scale))
    assert np.array_equal(screen.plane(ROWS, COLUMNS), wanted)
    assert drawn.low == pytest.approx(np.nanmin(values), rel=1e-6)
    screen.wait_text(".exported", "All arrays are in it.")
    screen.page.locator("canvas.upper").click(
        position={"x": drawn.left + 40.5 * drawn.scale, "y": drawn.top + 26.5 * drawn.scale}
    )
    screen.wait_text("output.value", f"lat 42.5°S [9] lon 200°E [40]: {values[9, 40]:.7g} K")
    if width < 900:
        screen.page.get_by_role("button", name="Facts").click()
    screen.wait_text(".series", "24 values along time")
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.requests.clear()
    screen.close()


def test_planes_projections_lines_and_statistics_need_no_server(
    alone: Screen, tmp_path: Path
) -> None:
    data = np.random.default_rng(0).integers(0, 1000, (6, 20, 30), "u2")
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    made = group.create_array("stack", shape=data.shape, chunks=(2, 10, 15), dtype="u2",
                              dimension_names=list("zyx"))  # fmt: skip
    made[:, :10] = data[:, :10]
    data[:, 10:] = 0
    alone.open(f"{exported(tmp_path, group)}#path=stack&line=0,3,2,3,9")
    page = alone.page
    found = data[0, 3, 2:10]
    alone.wait_text(".profile", f"8 values along the line, from {found.min()} to {found.max()}")
    alone.wait_text("aside", f"mean {data[0].mean():.6g}"[:10])
    # Missing chunks are hatched here, too.
    drawn = alone.drawn()
    shown = alone.plane(20, 30)
    corner = shown[-3, 3, :3].tolist()
    assert corner in [list(one) for one in painted.HATCHINGS["missing"][:2]]
    depth = page.get_by_label("What is shown along the other axes")
    depth.first.select_option("max:0")
    best = data.max(axis=0)
    alone.wait(lambda: alone.drawn().high == best.max())
    scale = int(alone.drawn().scale)
    shown = alone.plane(20, 30)[scale // 2 :: scale, scale // 2 :: scale]
    wanted = painted.gray(best, alone.drawn().low, alone.drawn().high)
    assert np.array_equal(shown[:10], wanted[:10])
    depth.first.select_option("planes:0")
    alone.wait_drawn(3)
    assert drawn.scale > 0


def test_what_was_left_out_is_said(alone: Screen, tmp_path: Path) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("small", shape=(20, 30), dtype="u1")[:] = 7
    group.create_array("<i>large", shape=(900, 900), dtype="u1")
    alone.open(f"{exported(tmp_path, group, 10_000)}#path=small&as=kind:gray")
    alone.wait_text(".exported", "Left out: <i>large.")
    alone.page.get_by_role("treeitem", name="<i>large").click()
    alone.wait_text(".notice", "left out when the page was exported")
