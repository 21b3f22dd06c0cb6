"""Hostile names in every panel, servers that stop, windows that change, histories, and two tabs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen
from viewer.browser.test_compared import is_gray, put, scene
from viewer.browser.test_exported import exported
from viewer.browser.test_meaning import climate, wait_labels
from viewer.browser.test_planes import choose, expect, volume
from viewer.browser.test_right import image

SCRIPT = "<img src=x onerror=window.hurt=1>;:%3B</script><script>window.hurt=1</script>"
MARKED = f"\u202e{SCRIPT}"
HURT = """() => [window.hurt ?? null, ({}).polluted ?? null,
  document.querySelectorAll("img, iframe, object, embed").length]"""
# A server that is ended by force answers 500 or 503 to what it was asked, or not at all.
STOPPED = ("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET", "500", "503")


def hostile() -> Any:
    """Names, units, labels and attributes that are markup, wherever one can be."""
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    dims = [f"{SCRIPT}t", f"{SCRIPT}y", f"{SCRIPT}x"]
    attributes = {"units": SCRIPT, "long_name": SCRIPT, "__proto__": {"polluted": 1}}
    for name in (SCRIPT, MARKED):
        made = group.create_array(
            name, shape=(3, 20, 30), chunks=(1, 10, 15), dtype="i4", dimension_names=dims,
            attributes=attributes,
        )  # fmt: skip
        made[:] = np.arange(1800).reshape(3, 20, 30)
    for axis, length in zip(dims, (3, 20, 30), strict=True):
        labels = group.create_array(
            axis, shape=(length,), dtype="f8", dimension_names=[axis], attributes=attributes
        )
        labels[:] = np.arange(length)
    return group


def is_unhurt(screen: Screen) -> None:
    assert screen.page.evaluate(HURT) == [None, None, 0]


@pytest.mark.parametrize(
    "options",
    [
        "kind:gray;along:0:max",
        "kind:gray;chunks:ratio",
        "kind:gray;cross",
        "kind:gray;over:labels:0.5:1:{other}",
        "kind:gray;over:blink:0.5:1:{other}",
        "kind:gray;over:difference:0.5:1:{other}",
        f"kind:{SCRIPT};map:{SCRIPT};transform:{SCRIPT};field:{SCRIPT};range:1:x;axes:9:9:9",
    ],
)
def test_hostile_names_are_text_in_every_panel(
    options: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    other = urlencode({"": MARKED})[1:].replace("+", "%20")
    state = [
        ("path", SCRIPT), ("as", options.format(other=other)), ("pin", "0,3,4"), ("pin", "0,8,9"),
        ("line", "0,1,1,8,8"), ("sel", "1,2:9,3:9"), ("grid", "1"),
    ]  # fmt: skip
    screen.expected = ("400",)
    screen.open(viewing(hostile()).address(urlencode(state)))
    screen.wait_text(".series", "along")
    screen.page.locator("canvas.upper").first.hover()
    screen.wait_text("output.value", ":")
    screen.page.wait_for_timeout(400)
    is_unhurt(screen)
    assert SCRIPT in screen.text(".pane h2")
    # The address that the page writes shows the same again.
    again = screen.page.url
    screen.open("about:blank", panes=0)
    screen.open(again)
    screen.page.wait_for_timeout(400)
    assert screen.page.url == again
    is_unhurt(screen)


def test_hostile_channels_fields_and_labels_are_text(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    channels = [{"color": SCRIPT, "label": SCRIPT, "window": {"start": SCRIPT}}, {"label": 7}, None]
    image(group, np.arange(6000, dtype="u2").reshape(3, 40, 50), omero={"channels": channels})
    screen.open(viewing(group).address("path=0&as=kind:channels"))
    screen.page.wait_for_timeout(400)
    is_unhurt(screen)
    rows = np.zeros(5, [(f"a;b:{SCRIPT}", "u2"), ("%3B", "f4")])
    rows["%3B"] = 1.5
    table = zarr.open_group(zarr.MemoryStore(), mode="w")
    table.array("rows", rows)
    screen.open(viewing(table).address("path=rows"), panes=0)
    screen.wait_text(".cells thead", SCRIPT)
    screen.page.get_by_label("field").select_option("%3B")
    screen.wait_text(".cells tbody", "1.5")
    screen.wait(lambda: "field" in screen.page.url)
    screen.page.reload()
    screen.wait_text(".cells tbody", "1.5")
    assert screen.page.get_by_label("field").input_value() == "%3B"
    is_unhurt(screen)


def test_an_exported_page_of_hostile_names_is_text(browser: Any, tmp_path: Path) -> None:
    screen = Screen(browser)
    address = exported(tmp_path, hostile())
    screen.open(f"{address}#{urlencode({'path': MARKED, 'as': 'kind:gray'})}")
    screen.wait_text(".exported", "All arrays are in it.")
    is_unhurt(screen)
    assert all(url.startswith(("file:", "data:", "blob:")) for url in screen.requests)
    screen.requests.clear()
    screen.close()


@pytest.mark.parametrize("panel", ["series", "line", "labels", "chunks", "difference", "planes"])
def test_a_panel_goes_on_when_a_server_is_back(
    panel: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, found = scene()
    served = viewing(group)
    screen.expected = STOPPED
    screen.open(served.address("path=image&as=kind:gray"))
    compare = screen.page.get_by_label("Compare image with another array")
    screen.wait(lambda: compare.count() == 1)
    served.stop()
    canvas = screen.page.locator("canvas.upper")
    if panel == "series":
        canvas.click()
        wanted = ".series", "along t, from"
    elif panel == "line":
        canvas.hover()
        for key in ("l", *["ArrowRight"] * 5, "l"):
            canvas.press(key)
        wanted = ".profile", "values along the line"
    elif panel == "chunks":
        screen.page.get_by_label("By what chunks are coloured").select_option("bytes")
        wanted = ".quality", "stored bytes"
    elif panel == "planes":
        choose(screen, "planes:0")
        wanted = "header", "y"
    else:
        put(screen, {"labels": "labels of seg", "difference": "minus other"}[panel])
        wanted = ".over", {"labels": "seg", "difference": "other"}[panel]
    screen.wait_text(".notice", "The server does not answer")
    served.start()
    screen.wait(lambda: screen.page.get_by_text("The server does not answer").count() == 0)
    screen.wait_text(*wanted)
    screen.wait_drawn(3 if panel == "planes" else 1)
    if panel == "difference":
        difference = found["image"][0].astype("f4") - found["other"][0]
        screen.wait(lambda: is_gray(screen, difference, "coolwarm"))
    if panel == "planes":
        expect(screen, 0, found["image"][0])


@pytest.mark.parametrize("look", ["", ";cross", ";along:0:max", ";chunks:bytes"])
def test_a_window_that_changes_while_tiles_are_read_shows_the_right_picture(
    look: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    from playwright.sync_api import Error as PlaywrightError

    group, data = volume()
    held: list[Any] = []
    screen.page.route("**/api/*", lambda route: held.append(route))
    screen.page.goto(viewing(group).address(f"path=stack&as=kind:gray{look}&at=z=4"))

    def release() -> None:
        for route in held:
            with contextlib.suppress(PlaywrightError):
                route.continue_()
        held.clear()

    for width, height in ((390, 844), (1400, 300), (820, 600), (391, 400), (1200, 800)):
        screen.page.set_viewport_size({"width": width, "height": height})
        screen.page.wait_for_timeout(60)
        release()
    screen.page.unroute("**/api/*")
    release()
    screen.wait_drawn(1)
    drawn = screen.drawn()
    canvas = screen.page.locator("canvas.lower").first
    size = canvas.evaluate("c => [c.width, c.height, c.clientWidth, c.clientHeight]")
    assert size[:2] == size[2:]
    if "chunks" in look:
        return
    expect(screen, 0, data.max(axis=0) if "along" in look else data[4])
    assert drawn.scale >= 1


def test_the_back_button_goes_through_arrays_with_all_of_their_controls(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, _ = scene()
    served = viewing(group)
    screen.open(served.address("path=image&as=kind:gray"))
    page = screen.page
    put(screen, "labels of seg")
    page.get_by_label("Opacity of the labels").fill("0.2")
    page.get_by_label("map").select_option("magma")
    page.get_by_role("button", name="Chunk grid").click()
    page.get_by_label("Index of t as a number").fill("2")
    canvas = page.locator("canvas.upper")
    canvas.click(position={"x": 200, "y": 200})
    canvas.press("s")
    for key in ("l", *["ArrowRight"] * 5, "l"):
        canvas.press(key)
    screen.wait(
        lambda: all(part in page.url for part in ("over", "magma", "grid=1", "pin", "line"))
    )
    page.wait_for_timeout(400)
    first = page.url
    page.get_by_role("treeitem", name="other").click()
    screen.wait(lambda: page.locator(".pane h2").inner_text() == "other")
    page.get_by_label("By what chunks are coloured").select_option("bytes")
    screen.wait(lambda: "chunks" in page.url)
    page.wait_for_timeout(400)
    second = page.url
    for _ in range(3):
        page.go_back()
        screen.wait(lambda: page.locator(".pane h2").inner_text() == "image")
        screen.wait(lambda: page.locator(".over").count() == 1)
        page.wait_for_timeout(400)
        assert page.url == first
        assert page.get_by_label("map").input_value() == "magma"
        screen.wait_text(".profile", "values along the line")
        page.go_forward()
        screen.wait(lambda: page.locator(".pane h2").inner_text() == "other")
        page.wait_for_timeout(400)
        assert page.url == second


def test_a_kind_with_other_axes_forgets_places_of_the_plane_before(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    """A curve has no rows, where a region and a line could be."""
    frames = np.random.default_rng(0).integers(0, 256, (4, 30, 50), "u1")
    state = "path=&as=kind:gray&pin=0,20,40&line=0,5,10,25,45&sel=1,3:20,10:45"
    screen.open(viewing(zarr.array(frames, chunks=(1, 30, 50))).address(state))
    screen.wait_text(".series", "along")
    screen.wait_text(".region", "Region 17")
    screen.page.get_by_label("kind").select_option("line")
    screen.wait(lambda: screen.page.locator(".profile").count() == 0)
    assert screen.page.locator(".series").count() == 0
    assert screen.page.locator(".region").count() == 0
    screen.page.wait_for_timeout(500)
    assert screen.page.locator(".notice").count() == 0


def test_two_tabs_show_what_each_of_them_chose(screen: Screen, viewing: Callable[..., Any]) -> None:
    group, stored = climate()
    served = viewing(group)
    screen.open(served.address("path=t2m&as=raw:1&at=time=3"))
    wait_labels(screen, "1")
    other = screen.context.new_page()
    other.goto(served.address("path=t2m&as=raw:1&at=time=9"))
    second = Screen.__new__(Screen)
    second.page, second.errors, second.expected = other, screen.errors, ()
    second.context, second.requests = screen.context, screen.requests
    wait_labels(second, "1")
    for page in (other, screen.page):
        page.get_by_role("button", name="Play time").click()
    other.wait_for_timeout(700)
    for page in (other, screen.page):
        page.get_by_role("button", name="Stop time").click()
    for one, index in ((screen, 5), (second, 11)):
        one.page.bring_to_front()
        one.page.get_by_label("Index of time as a number").fill(str(index))
    for one, index in ((screen, 5), (second, 11)):
        one.page.bring_to_front()
        one.wait(lambda one=one, index=index: one.drawn().index.startswith(f"{index},"))
        one.wait_drawn()
        drawn = one.drawn()
        wanted = painted.gray(stored[index, ::-1], drawn.low, drawn.high)
        wanted = painted.hatched(wanted, drawn.left, drawn.top, int(drawn.scale))
        one.wait(lambda one=one, wanted=wanted: bool(np.array_equal(one.plane(36, 72), wanted)))
        one.wait(lambda one=one, index=index: f"time%3D{index}" in one.page.url)
    # The address of a tab has no token: a new tab asks for the whole one.
    screen.expected = ("401",)
    third = screen.context.new_page()
    third.goto(screen.page.url)
    third.wait_for_timeout(700)
    assert "Open the address that zarrix view has printed" in third.locator(".notice").inner_text()
