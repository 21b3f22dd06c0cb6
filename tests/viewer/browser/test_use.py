"""What a person does: choose, slide, play, zoom, outline, copy; also by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

FRAMES, HEIGHT, WIDTH = 9, 48, 64


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Frames, their flow at half the resolution, and the times of the frames."""
    path: Path = tmp_path_factory.mktemp("scene") / "scene.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=3)
    rng = np.random.default_rng(1)
    names = ["t", "c", "y", "x"]
    frames = group.create_array(
        "frames", shape=(FRAMES, 3, HEIGHT, WIDTH), chunks=(1, 3, 16, 32), dtype="u1",
        dimension_names=names, attributes={"camera": "left"},
    )  # fmt: skip
    frames[:] = rng.integers(0, 256, frames.shape, "u1")
    flow = group.create_array(
        "flow", shape=(FRAMES, 2, HEIGHT // 2, WIDTH // 2), chunks=(1, 2, 16, 16), dtype="f2",
        dimension_names=names,
    )  # fmt: skip
    flow[:] = rng.normal(0, 2, flow.shape).astype("f2")
    times = group.create_array("t", shape=(FRAMES,), dtype="f8", chunks=(4,))
    times[:] = np.arange(FRAMES) * 0.25
    group.create_array("line", shape=(5000,), dtype="f4", chunks=(1000,))[:] = np.sin(
        np.arange(5000) / 100
    )
    return path


def show(screen: Screen, served: Any, *paths: str, at: int = 0) -> None:
    pairs = [pair for path in paths for pair in (("path", path), ("as", ""))]
    screen.open(served.address(urlencode([*pairs, ("at", f"t={at}")])), panes=len(paths))


def frame_on_screen(screen: Screen, path: Path) -> None:
    """The first pane shows the frame of the index that it names."""
    index = int(screen.drawn().index.split(",")[0])
    data = zarr.open(path, mode="r")["frames"][index]
    drawn = screen.drawn()
    shown = screen.plane(HEIGHT, WIDTH)
    wanted = painted.hatched(painted.rgb(data, 0, 255), drawn.left, drawn.top, int(drawn.scale))
    assert np.array_equal(shown, wanted)


def canvas(screen: Screen, pane: int = 0) -> Any:
    return screen.page.locator("canvas.upper").nth(pane)


def place(screen: Screen, row: float, column: float) -> dict[str, float]:
    """The position on the canvas of an element's middle."""
    drawn = screen.drawn()
    return {
        "x": drawn.left + (column + 0.5) * drawn.scale,
        "y": drawn.top + (row + 0.5) * drawn.scale,
    }


def test_a_slider_is_named_by_its_dimension_and_shows_its_coordinate(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames")
    frame_on_screen(screen, scene)
    slider = screen.page.get_by_role("slider", name="Index of t")
    slider.fill("6")
    screen.wait(lambda: screen.drawn().index == "6,0,0,0")
    screen.wait_drawn()
    frame_on_screen(screen, scene)
    screen.wait_text(".coordinate", "1.5")
    screen.wait(lambda: "at=t%3D6" in screen.page.url)


def test_play_shows_every_frame_in_order(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames", "flow")
    screen.page.evaluate("""() => {
      window.seen = [];
      for (const canvas of document.querySelectorAll("canvas.lower")) {
        const seen = [];
        window.seen.push(seen);
        new MutationObserver(() => {
          if (canvas.dataset.ready === "1") seen.push(Number(canvas.dataset.index.split(",")[0]));
        }).observe(canvas, { attributeFilter: ["data-drawn"] });
      }
    }""")
    screen.page.get_by_role("spinbutton", name="frames a second").fill("30")
    screen.page.get_by_role("button", name="Play t").click()
    screen.wait(lambda: min(screen.page.evaluate("seen.map(one => new Set(one).size)")) == FRAMES)
    screen.page.get_by_role("button", name="Stop t").click()
    for seen in screen.page.evaluate("seen"):
        steps = {(after - before) % FRAMES for before, after in pairwise(seen)}
        assert steps <= {0, 1}, seen
    screen.wait_drawn(2)
    assert screen.drawn(0).index.split(",")[0] == screen.drawn(1).index.split(",")[0]
    frame_on_screen_of_two(screen, scene)


def frame_on_screen_of_two(screen: Screen, path: Path) -> None:
    index = int(screen.drawn().index.split(",")[0])
    data = zarr.open(path, mode="r")["frames"][index]
    drawn = screen.drawn()
    wanted = painted.hatched(painted.rgb(data, 0, 255), drawn.left, drawn.top, int(drawn.scale))
    screen.wait(lambda: bool(np.array_equal(screen.plane(HEIGHT, WIDTH), wanted)))


def test_linked_panes_have_one_view_and_one_cursor(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames", "flow")
    before = [screen.drawn(pane).scale for pane in (0, 1)]
    canvas(screen).hover(position=place(screen, 10, 20))
    screen.wait_text("output.value", "y=10 x=20")
    screen.page.mouse.wheel(0, -240)
    screen.wait(lambda: screen.drawn(0).scale != before[0] and screen.drawn(1).scale != before[1])
    one, two = screen.drawn(0), screen.drawn(1)
    # The flow has half of the resolution: its elements are twice as large.
    assert two.scale == pytest.approx(2 * one.scale)
    assert centre(screen, 1) == pytest.approx(centre(screen, 0), abs=0.02)
    # The element under the pointer stays there.
    canvas(screen).hover(position=place(screen, 11, 21))
    screen.wait_text("output.value", "y=11 x=21")


def centre(screen: Screen, pane: int) -> list[float]:
    """What is in the middle of a canvas, in fractions of the frame."""
    drawn = screen.drawn(pane)
    width, height = screen.page.locator("canvas.lower").nth(pane).evaluate(
        "canvas => [canvas.width, canvas.height]"
    )  # fmt: skip
    side = drawn.scale * WIDTH / (pane + 1), drawn.scale * HEIGHT / (pane + 1)
    return [(width / 2 - drawn.left) / side[0], (height / 2 - drawn.top) / side[1]]


def test_the_value_under_the_cursor_is_the_stored_one(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames", at=3)
    red, green, blue = zarr.open(scene, mode="r")["frames"][3, :, 31, 40].tolist()
    canvas(screen).hover(position=place(screen, 31, 40))
    screen.wait_text("output.value", f"y=31 x=40: ({red}, {green}, {blue}), chunk 3.0.1.1")


def test_the_python_of_a_region_reads_the_same_bytes(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames", at=5)
    begin, end = place(screen, 4, 7), place(screen, 19, 39)
    box = canvas(screen).bounding_box()
    screen.page.mouse.move(box["x"] + begin["x"], box["y"] + begin["y"])
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + end["x"], box["y"] + end["y"], steps=4)
    screen.page.mouse.up()
    screen.wait_text(".region .sel", "5,:,4:20,7:40")
    # While the mouse moves, the code is that of a smaller region.
    code = screen.page.get_by_label("Python", exact=True)
    screen.wait(lambda: code.count() > 0 and "7:40" in code.inner_text())
    names: dict[str, Any] = {}
    exec(code.inner_text(), names)
    expected = zarr.open(scene, mode="r")["frames"][5, :, 4:20, 7:40]
    assert np.array_equal(names["roi"], expected)
    screen.wait_text(".region-stats", f"{expected.size:,} values, {expected.min()} to")
    # The drawn region has the same pixels as the bytes that the code reads.
    drawn = screen.drawn()
    scale = int(drawn.scale)
    shown = screen.plane(HEIGHT, WIDTH)[::scale, ::scale][4:20, 7:40, :3]
    assert np.array_equal(shown, np.moveaxis(names["roi"], 0, -1))
    link = screen.page.get_by_label("Address", exact=True).inner_text()
    assert "token" not in link
    assert "sel=5%2C%3A%2C4%3A20%2C7%3A40" in link
    command = screen.page.get_by_label("Command line", exact=True).inner_text()
    assert re.fullmatch(r"zarrix cat .*frames.* -s 5,0:3,4:20,7:40 .*", command)


def test_an_address_shows_what_was_copied(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    served = viewing(scene)
    query = urlencode({"path": "frames", "sel": "5,:,4:20,7:40"})
    screen.open(served.address(query))
    assert screen.drawn().index == "5,0,0,0"
    screen.wait_text(".region .sel", "5,:,4:20,7:40")
    # A reload needs no token in the address: the tab has it.
    assert "token" not in screen.page.url
    screen.page.reload()
    screen.wait_drawn()
    screen.wait_text(".region .sel", "5,:,4:20,7:40")


def test_a_click_shows_the_series_through_an_element(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames")
    canvas(screen).click(position=place(screen, 8, 9))
    series = zarr.open(scene, mode="r")["frames"][:, 0, 8, 9]
    wanted = f"{FRAMES} values along t, from {series.min()} to {series.max()}"
    screen.wait_text(".series", wanted)
    # The text is shown before the effect that draws the plot has run.
    screen.wait(lambda: screen.page.locator(".series canvas").count() == 1)
    screen.page.get_by_role("button", name="Close series").click()
    assert screen.page.locator(".series").count() == 0


def test_an_array_of_one_axis_is_a_curve(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    screen.open(viewing(scene).address("path=line"), panes=0)
    screen.wait_text(".frame.curve", "5000 values along axis 0, from -0.99")


def test_the_keyboard_alone_is_enough(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames")
    keyboard = screen.page.keyboard

    def focused() -> str:
        return str(screen.page.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"
        ))  # fmt: skip

    def tab_to(part: str) -> None:
        for _ in range(60):
            if part in focused():
                return
            keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {part!r}")

    # The tree: down to the flow, which Shift and Enter opens beside.
    keyboard.press("/")
    screen.wait(lambda: "Filter" in focused())
    keyboard.press("Tab")
    keyboard.press("Home")
    screen.wait(lambda: "flow" in focused())
    keyboard.press("Shift+Enter")
    screen.wait_drawn(2)
    # The picture: the cursor, a region, the series.
    tab_to("Picture of frames")
    for key in ("ArrowRight", "ArrowDown", "r", *["ArrowRight"] * 4, *["ArrowDown"] * 2, "r"):
        keyboard.press(key)
    screen.wait_text(".region h3", "Region 3 \u00d7 5")
    screen.wait_text(".spoken", "y=")
    keyboard.press("Enter")
    screen.wait_text(".series", "values along t")
    keyboard.press("Escape")
    screen.wait(lambda: screen.page.locator(".region").count() == 0)
    before = screen.drawn().scale
    keyboard.press("+")
    screen.wait(lambda: screen.drawn().scale > before)
    keyboard.press("0")
    screen.wait(lambda: screen.drawn().scale == before)
    # Time, and the keys themselves.
    keyboard.press("]")
    screen.wait(lambda: screen.drawn().index.startswith("1,"))
    keyboard.press("[")
    screen.wait(lambda: screen.drawn().index.startswith("0,"))
    tab_to("Play t")
    keyboard.press("Enter")
    screen.wait(lambda: "Stop t" in focused())
    keyboard.press("p")
    screen.wait(lambda: "Play t" in focused())
    keyboard.press("?")
    screen.wait(lambda: screen.page.get_by_role("dialog").count() == 1)
    keyboard.press("Escape")
    screen.wait(lambda: screen.page.get_by_role("dialog").count() == 0)


def test_the_kind_and_the_range_can_be_changed(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames")
    screen.page.get_by_label("kind").select_option("gray")
    screen.page.get_by_label("map").select_option("viridis")
    screen.page.get_by_label("Lowest value of the range").fill("50")
    screen.page.get_by_label("Highest value of the range").fill("200")
    screen.page.keyboard.press("Tab")
    screen.wait(lambda: (screen.drawn().low, screen.drawn().high) == (50, 200))
    data = zarr.open(scene, mode="r")["frames"][0, 0]
    drawn = screen.drawn()
    colours = painted.gray(data, 50, 200, "viridis")
    wanted = painted.hatched(colours, drawn.left, drawn.top, int(drawn.scale))
    screen.wait(lambda: bool(np.array_equal(screen.plane(HEIGHT, WIDTH), wanted)))


def test_verification_marks_what_does_not_decode(
    screen: Screen, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "damaged.zarr"
    array = zarr.open(path, mode="w", shape=(40, 40), chunks=(20, 20), dtype="u1", zarr_format=3)
    array[:] = np.arange(1600, dtype="u2").reshape(40, 40) % 250
    stored = path / "c" / "1" / "0"
    content = bytearray(stored.read_bytes())
    content[len(content) // 2] ^= 0xFF
    stored.write_bytes(content)
    screen.expected = ("422",)
    screen.page.goto(viewing(path).address())
    screen.page.get_by_role("button", name="Verify every chunk").click()
    screen.wait_text(".health", "1 broken")
    screen.wait_text(".broken", "c/1/0")


def test_a_part_of_a_curve_is_read_again_down_to_its_samples(
    screen: Screen, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    data = np.zeros(1_000_000, "f4")
    data[654_321] = 7
    zarr.save_array(str(tmp_path / "long.zarr"), data)
    screen.open(viewing(tmp_path / "long.zarr").address(), panes=0)
    screen.wait_text(".frame.curve", "1000000 values along axis 0, from 0 to 7")
    asked = len(screen.requests)
    plot = screen.page.locator(".frame.curve .u-over")
    box = plot.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    screen.page.mouse.move(box["x"] + 0.65 * box["width"], middle)
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + 0.66 * box["width"], middle, steps=4)
    screen.page.mouse.up()
    screen.wait_text(".frame.curve", "from index 6")
    assert any("begin=6" in url for url in screen.requests[asked:])
    for _ in range(8):
        before = screen.text(".frame.curve .quiet >> nth=1")
        screen.page.get_by_role("button", name="Zoom in").click()
        screen.wait(lambda was=before: screen.text(".frame.curve .quiet >> nth=1") != was)
    assert "smallest and largest" not in screen.text(".frame.curve")
    screen.page.locator(".frame.curve .u-over").hover()
    screen.wait_text(".frame.curve output", ": 0")
    screen.page.get_by_role("button", name="Whole curve").click()
    screen.wait_text(".frame.curve", "1000000 values along axis 0, from 0 to 7")


def test_the_back_button_returns_to_the_array_before(
    screen: Screen, viewing: Callable[..., Any], scene: Path
) -> None:
    show(screen, viewing(scene), "frames", at=3)
    screen.page.get_by_role("treeitem", name="flow").click()
    screen.wait(lambda: "path=flow" in screen.page.url)
    screen.page.get_by_label("kind").select_option("gray")
    screen.wait(lambda: "kind%3Agray" in screen.page.url)
    screen.page.go_back()
    screen.wait(lambda: screen.page.get_by_label("kind").input_value() == "flow")
    screen.page.go_back()
    screen.wait(lambda: screen.page.locator(".pane h2").inner_text() == "frames")
    screen.wait(lambda: screen.drawn().index.startswith("3,"))
    screen.page.go_forward()
    screen.wait(lambda: screen.page.locator(".pane h2").inner_text() == "flow")


@pytest.mark.parametrize("width", [390, 820, 1400])
def test_pictures_and_panels_fit_any_window(
    width: int, browser: Any, viewing: Callable[..., Any], scene: Path
) -> None:
    screen = Screen(browser, viewport={"width": width, "height": 760})
    show(screen, viewing(scene), "frames")
    page = screen.page

    def side(selector: str) -> float:
        box = page.locator(selector).first.bounding_box()
        return 0 if box is None else box["width"]

    for pressed in (False, True):
        for name in ("Tree", "Facts"):
            button = page.get_by_role("button", name=name, exact=True)
            if (button.get_attribute("aria-pressed") == "true") != pressed:
                button.click()
            selector = "nav.tree" if name == "Tree" else "aside.side"
            screen.wait(lambda at=selector, to=pressed: (page.locator(at).count() > 0) == to)
            if pressed:
                assert 150 < side(selector) <= width
                assert page.locator(selector).get_by_text("flow" if name == "Tree" else "uint8")
        least = 0.95 * width if not pressed or width < 900 else width - 250 - 330 - 5
        assert side(".frame") >= least
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    screen.close()
