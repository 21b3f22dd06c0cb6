"""Three planes through a point, and projections along an axis."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

DEPTH, HEIGHT, WIDTH = 12, 30, 40


def volume() -> tuple[Any, Any]:
    """A group with an array of three axes, and its values."""
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    data = np.random.default_rng(3).integers(0, 3000, (DEPTH, HEIGHT, WIDTH), "u2")
    made = group.create_array(
        "stack", shape=data.shape, chunks=(4, 10, 20), dtype="u2", dimension_names=list("zyx")
    )
    made[:] = data
    return group, data


def expect(screen: Screen, pane: int, values: Any) -> None:
    def is_right() -> bool:
        drawn = screen.drawn(pane)
        wanted = painted.hatched(
            painted.gray(values, drawn.low, drawn.high), drawn.left, drawn.top, int(drawn.scale)
        )
        return bool(np.array_equal(screen.plane(*values.shape, pane), wanted))

    screen.wait(is_right)


def choose(screen: Screen, choice: str) -> None:
    screen.page.get_by_label("What is shown along the other axes").first.select_option(choice)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_three_planes_go_through_one_point(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, data = volume()
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(viewing(group).address("path=stack&at=z=5"))
    choose(screen, "planes:0")
    screen.wait_drawn(3)
    expect(screen, 0, data[5])
    expect(screen, 1, data[:, :, WIDTH // 2].T)
    expect(screen, 2, data[:, HEIGHT // 2])
    # An element is as large in each of them.
    assert len({screen.drawn(pane).scale for pane in range(3)}) == 1
    # A click in the first plane moves the other two, and one in the third the first.
    drawn = screen.drawn(0)
    screen.page.locator("canvas.upper").nth(0).click(
        position={"x": drawn.left + 7.5 * drawn.scale, "y": drawn.top + 21.5 * drawn.scale}
    )
    expect(screen, 1, data[:, :, 7].T)
    expect(screen, 2, data[:, 21])
    drawn = screen.drawn(2)
    screen.page.locator("canvas.upper").nth(2).click(
        position={"x": drawn.left + 30.5 * drawn.scale, "y": drawn.top + 2.5 * drawn.scale}
    )
    expect(screen, 0, data[2])
    expect(screen, 1, data[:, :, 30].T)
    # The cross is at the element in each plane.
    planes = [(HEIGHT, WIDTH), (HEIGHT, DEPTH), (DEPTH, WIDTH)]
    for pane, (row, column) in enumerate([(21, 30), (21, 2), (2, 30)]):
        drawn = screen.drawn(pane)
        x, y = (
            int(begin + (element + 0.5) * drawn.scale)
            for begin, element in ((drawn.left, column), (drawn.top, row))
        )
        upper = screen.pixels("canvas.upper", pane=pane)
        yellow = (upper == [255, 214, 10, 255]).all(axis=-1)
        # At the end of each line that is farther away, where the cursor does not hide it.
        far_y, far_x = (
            begin + (int(length * drawn.scale) - 2 if element < length / 2 else 1)
            for begin, element, length in zip(
                (drawn.top, drawn.left), (row, column), planes[pane], strict=True
            )
        )
        assert yellow[far_y, x], pane
        assert yellow[y, far_x], pane
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    # The address holds all of it, and one plane comes back.
    screen.wait(lambda: screen.page.url.count("cross") == 3)
    screen.wait(lambda: screen.page.url.endswith("at=z%3D2&at=y%3D21&at=x%3D30"))
    again = screen.page.url
    screen.open("about:blank", panes=0)
    screen.open(again, panes=3)
    expect(screen, 1, data[:, :, 30].T)
    choose(screen, "")
    screen.wait_drawn(1)
    expect(screen, 0, data[2])
    screen.close()


@pytest.mark.parametrize("how", ["max", "min", "mean"])
def test_a_projection_equals_numpy_and_says_its_value(
    how: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, data = volume()
    screen.open(viewing(group).address("path=stack"))
    choose(screen, f"{how}:0")
    screen.wait_text(".quality", "along z")
    expected = getattr(np, how)(data, axis=0)
    expect(screen, 0, expected)
    assert screen.page.get_by_label("Index of z", exact=True).count() == 0
    drawn = screen.drawn()
    screen.page.locator("canvas.upper").hover(
        position={"x": drawn.left + 9.5 * drawn.scale, "y": drawn.top + 4.5 * drawn.scale}
    )
    screen.wait_text("output.value", f"y=4 x=9: {expected[4, 9]:.10g}"[:18])
    screen.wait(lambda: f"along%3A0%3A{how}" in screen.page.url)


def test_planes_that_are_passed_by_are_not_read(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, data = volume()
    screen.open(viewing(group).address("path=stack"))
    choose(screen, "planes:0")
    screen.wait_drawn(3)
    # Optional package: playwright, which the fixture has.
    from playwright.sync_api import Error as PlaywrightError

    failed: list[str] = []
    held: list[Any] = []
    screen.page.on("requestfailed", lambda request: failed.append(request.url))
    # Requests of tiles wait, as those of a slow store do.
    screen.page.route("**/api/tile*", lambda route: held.append(route))
    slider = screen.page.get_by_label("Index of x as a number")
    slider.fill("33")
    screen.wait(lambda: len(held) > 0)
    slider.fill("2")
    screen.wait(lambda: len(failed) > 0)
    assert all("%2C33" in url for url in failed), failed
    for route in held:
        # Those that were taken back are over.
        with contextlib.suppress(PlaywrightError):
            route.continue_()
    screen.page.unroute("**/api/tile*")
    expect(screen, 1, data[:, :, 2].T)


@pytest.mark.parametrize("look", ["kind:gray", "kind:gray;along:0:max", "kind:gray;chunks:bytes"])
@pytest.mark.parametrize("shape", [(0, 5, 6), (3, 0, 6)])
def test_an_array_without_an_element_says_so(
    shape: tuple[int, ...], look: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("none", shape=shape, dtype="f4")
    screen.page.goto(viewing(group).address(f"path=none&as={look}"))
    screen.wait_text(".quality", "the array has no element")
    # Facts are asked for after the picture.
    screen.page.wait_for_timeout(600)
    assert screen.page.locator(".notice").count() == 0


def test_a_volume_of_nothing_but_nan_is_hatched_along_its_depth(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    made = group.create_array("nan", shape=(4, 20, 30), dtype="f4", dimension_names=list("zyx"))
    made[:] = np.nan
    screen.open(viewing(group).address("path=nan&as=kind:gray;along:0:max"))
    screen.wait_text(".quality", "largest along z")
    drawn = screen.drawn()
    nothing = painted.with_alpha(np.zeros((20, 30, 3), "u1"), np.zeros((20, 30), bool))
    wanted = painted.hatched(nothing, drawn.left, drawn.top, int(drawn.scale))
    screen.wait(lambda: bool(np.array_equal(screen.plane(20, 30), wanted)))


def test_a_projection_goes_on_when_a_server_is_back(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, data = volume()
    served = viewing(group)
    # What it was asked before it stopped may be answered by 503, or not at all.
    stopped = ("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "503")
    screen.expected = stopped
    screen.open(served.address("path=stack"))
    served.stop()
    choose(screen, "max:0")
    screen.wait_text(".notice", "The server does not answer")
    served.start()
    expect(screen, 0, data.max(axis=0))
    assert "along z" in screen.text(".quality")
