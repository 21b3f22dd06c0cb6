"""Each view and each of its controls: axe finds no barrier, and Tab reaches all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser.screen import Screen
from viewer.browser.test_compared import put, scene
from viewer.browser.test_exported import exported
from viewer.browser.test_meaning import climate, wait_labels
from viewer.browser.test_planes import choose, volume
from viewer.browser.test_right import image

# What a person can use, apart from the tree, whose rows the arrow keys reach.
USED = """() => [...document.querySelectorAll("button, input, select, summary, [tabindex='0']")]
  .filter((one) => !one.disabled && !one.closest("[role=tree]") && one.checkVisibility())
  .map((one, at) => (one.dataset.reached ??= String(at)))"""
FOCUSED = "document.activeElement.dataset.reached ?? null"
# Controls of facts of another pane were made anew when it had the focus.
NAMES = """(missed) => missed
  .map((at) => document.querySelector(`[data-reached="${at}"]`)?.outerHTML)
  .filter(Boolean)"""


def planes(screen: Screen, viewing: Callable[..., Any]) -> None:
    screen.open(viewing(volume()[0]).address("path=stack"))
    choose(screen, "planes:0")
    screen.wait_drawn(3)


def projection(screen: Screen, viewing: Callable[..., Any]) -> None:
    screen.open(viewing(volume()[0]).address("path=stack&as=along:0:mean"))
    screen.wait_text(".quality", "mean along z")


def second(label: str) -> Callable[..., None]:
    def show(screen: Screen, viewing: Callable[..., Any]) -> None:
        screen.open(viewing(scene()[0]).address("path=image&as=kind:gray"))
        put(screen, label)
        screen.wait(lambda: screen.page.locator(".over").count() == 1)

    return show


def meaning(screen: Screen, viewing: Callable[..., Any]) -> None:
    """Series that stay, a line, coast lines, dates and raw values."""
    state = "path=t2m&as=map:viridis&pin=0,5,20&pin=0,25,15&line=0,8,10,8,30&sel=3,4:9,5:20"
    screen.open(viewing(climate()[0]).address(state))
    wait_labels(screen, "1")
    screen.wait_text(".series", "along time")
    screen.wait_text(".profile", "values along the line")
    screen.wait(lambda: screen.page.locator(".plot canvas").count() == 2)


def refused_label(screen: Screen, viewing: Callable[..., Any]) -> None:
    screen.expected = ("400",)
    screen.open(viewing(climate()[0]).address("path=t2m"))
    screen.wait_text(".coordinate", "2019-12-15")
    place = screen.page.get_by_label("Label of time")
    place.fill("2020-02-31")
    place.press("Enter")
    screen.wait_text(".slider .notice", "2020-02-31")


def channels(screen: Screen, viewing: Callable[..., Any]) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    data = np.random.default_rng(0).integers(0, 4000, (3, 40, 50), "u2")
    image(group, data, omero={"channels": [{"color": "00ff00", "label": "a"}] * 3})
    screen.open(viewing(group).address("path=0"))
    screen.wait_text("aside", "mean")


def chunks(screen: Screen, viewing: Callable[..., Any]) -> None:
    array = zarr.create_array(
        zarr.MemoryStore(), shape=(40, 60), chunks=(5, 5), shards=(20, 20), dtype="u2"
    )
    array[:30] = np.arange(1800).reshape(30, 60)
    screen.open(viewing(array).address("path=&as=kind:gray;chunks:bytes&grid=1"))
    screen.wait_text(".quality", "stored bytes")
    screen.page.locator("canvas.upper").hover()
    screen.wait_text("aside", "Chunk")


def damage(screen: Screen, viewing: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "damaged.zarr"
    array = zarr.open(path, mode="w", shape=(40, 60), chunks=(10, 10), dtype="u1", zarr_format=3)
    array[:] = 3
    (path / "c" / "1" / "2").write_bytes(b"damaged")
    screen.open(viewing(path).address())
    screen.expected = ("422",)
    screen.page.get_by_role("button", name="Verify every chunk").click()
    screen.wait_text(".broken", "c/1/2")
    screen.page.get_by_text("Crops of a loader").click()
    screen.wait(lambda: screen.page.locator(".sheet input").count() > 0)


def nothing(screen: Screen, viewing: Callable[..., Any]) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("none", shape=(3, 0, 6), dtype="f4")
    screen.page.goto(viewing(group).address("path=none&as=kind:gray"))
    screen.wait_text(".quality", "the array has no element")


def curve(screen: Screen, viewing: Callable[..., Any]) -> None:
    screen.open(viewing(zarr.array(np.sin(np.arange(9000.0)))).address("path="), panes=0)
    screen.page.get_by_role("button", name="Zoom in").click()
    screen.wait_text(".frame.curve", "from index")


def fields(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = np.zeros(120, [("n", "u2"), ("v", "f4")])
    group = zarr.open_group(zarr.MemoryStore(), mode="w")
    group.array("rows", data)
    screen.open(viewing(group).address("path=rows"), panes=0)
    screen.wait(lambda: screen.page.locator("td").count() > 50)


def text(screen: Screen, viewing: Callable[..., Any]) -> None:
    array = zarr.create_array(zarr.MemoryStore(), shape=(80, 30), dtype=str, chunks=(80, 30))
    array[:] = "a word"
    screen.open(viewing(array).address("path="), panes=0)
    screen.wait(lambda: screen.page.locator("td").count() > 50)


def page(screen: Screen, viewing: Callable[..., Any], tmp_path: Path) -> None:
    """A page without a server."""
    screen.open(f"{exported(tmp_path, climate()[0])}#path=t2m&as=map:viridis&pin=0,5,20")
    wait_labels(screen, "1")
    screen.wait_text(".series", "along time")


VIEWS: dict[str, Callable[..., None]] = {
    "three planes": planes,
    "a projection": projection,
    "labels": second("labels of seg"),
    "turns": second("take turns with other"),
    "a difference": second("minus other"),
    "series, a line and a region": meaning,
    "a label that is refused": refused_label,
    "channels": channels,
    "a map of chunks": chunks,
    "damage and crops": damage,
    "no element": nothing,
    "a curve": curve,
    "fields": fields,
    "text": text,
    "an exported page": page,
}


def opened(name: str, screen: Screen, viewing: Callable[..., Any], tmp_path: Path) -> None:
    show = VIEWS[name]
    more = (tmp_path,) if show in (damage, page) else ()
    show(screen, viewing, *more)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", VIEWS)
def test_axe_finds_no_barrier_in_any_view(
    name: str, scheme: str, browser: Any, viewing: Callable[..., Any], axe: str, tmp_path: Path
) -> None:
    screen = Screen(browser, color_scheme=scheme, viewport={"width": 1300, "height": 900})
    opened(name, screen, viewing, tmp_path)
    screen.page.evaluate(axe)
    found = screen.page.evaluate("axe.run()")
    problems = [
        (one["id"], one["impact"], [node["target"] for node in one["nodes"]][:3])
        for one in found["violations"]
    ]
    assert not problems, problems
    assert len(found["passes"]) > 15
    # The file of the page itself is not another machine.
    screen.requests = [url for url in screen.requests if not url.startswith("file:")]
    screen.close()


@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize("name", VIEWS)
def test_tab_reaches_every_control(
    name: str, width: int, browser: Any, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    # What a narrow window shows only when a button is pressed is opened by another test.
    if width == 390 and name in ("series, a line and a region", "damage and crops", "channels",
                                 "a map of chunks", "an exported page"):  # fmt: skip
        pytest.skip("the panel of facts is closed in a narrow window")
    screen = Screen(browser, viewport={"width": width, "height": 900})
    opened(name, screen, viewing, tmp_path)
    screen.page.wait_for_timeout(700)
    wanted = set(screen.page.evaluate(USED))
    reached = set()
    for _ in range(2 * len(wanted) + 20):
        screen.page.keyboard.press("Tab")
        reached.add(screen.page.evaluate(FOCUSED))
        if wanted <= reached:
            break
    assert screen.page.evaluate(NAMES, sorted(wanted - reached)) == []
    assert len(wanted) > 8
    screen.requests = [url for url in screen.requests if not url.startswith("file:")]
    screen.close()


def test_keys_alone_choose_planes_and_compare_and_draw(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    """The choices of each select answer to the keyboard."""
    screen.open(viewing(scene()[0]).address("path=image&as=kind:gray"))
    page = screen.page
    compare = page.get_by_label("Compare image with another array")
    screen.wait(lambda: compare.count() == 1)
    compare.focus()
    page.keyboard.type("minus")
    screen.wait_text(".quality", "image minus other")
    page.get_by_label("Remove other from the picture").focus()
    page.keyboard.press("Enter")
    screen.wait(lambda: page.locator(".over").count() == 0)
    depth = page.get_by_label("What is shown along the other axes")
    depth.focus()
    page.keyboard.type("max")
    screen.wait_text(".quality", "largest along t")
    depth.focus()
    page.keyboard.press("Home")
    screen.wait(lambda: "along" not in page.url)
    by_chunk = page.get_by_label("By what chunks are coloured")
    by_chunk.focus()
    page.keyboard.type("ratio")
    screen.wait_text(".quality", "decoded bytes for each stored one")
