"""What was mended after looking at pictures of the viewer: what was cut, covered, or not there."""

from __future__ import annotations

import io
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
from viewer.browser.test_meaning import climate, wait_labels
from viewer.browser.test_planes import choose, volume
from viewer.browser.test_right import image

# Controls whose text is wider than they are: a copy without a bound is as wide as its text.
CUT = """() => {
  const cut = [];
  const chosen = "select:not(.save, .beside, [aria-label^=Compare])";
  for (const one of document.querySelectorAll(chosen)) {
    const text = one.selectedOptions[0]?.text ?? "";
    const copy = document.createElement("select");
    copy.style.maxWidth = "none";
    copy.append(new Option(text));
    one.after(copy);
    if (copy.offsetWidth > one.offsetWidth) cut.push(`${text} ${one.offsetWidth}`);
    copy.remove();
  }
  for (const one of document.querySelectorAll("input[type=number]"))
    if (one.scrollWidth > one.clientWidth) cut.push(`${one.value} ${one.clientWidth}`);
  return cut;
}"""


def group_of(name: str, data: Any, **options: Any) -> Any:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array(name, shape=data.shape, dtype=data.dtype, **options)[...] = data
    return group


def sized(browser: Any, width: int, scheme: str = "light") -> Screen:
    return Screen(browser, viewport={"width": width, "height": 800}, color_scheme=scheme)


def covers(screen: Screen, above: str, below: str) -> bool:
    """Whether one element lies above a part of another one."""
    one, two = (screen.page.locator(selector).first.bounding_box() for selector in (above, below))
    assert one is not None
    assert two is not None
    return bool(
        one["x"] < two["x"] + two["width"]
        and two["x"] < one["x"] + one["width"]
        and one["y"] < two["y"] + two["height"]
        and two["y"] < one["y"] + one["height"]
    )


@pytest.mark.parametrize("width", [390, 820, 1400])
@pytest.mark.parametrize("low", [-2.994321e-7, 1234.567, 0])
def test_no_number_and_no_choice_is_cut(
    low: float, width: int, browser: Any, viewing: Callable[..., Any]
) -> None:
    # Cut at its end, -2.994e-7 reads as -2.994.
    data = low + np.linspace(0, 1.5e-6, 600).reshape(3, 10, 20)
    group = group_of("height", data, chunks=(1, 5, 10), dimension_names=["a long time", "y", "x"])
    screen = sized(browser, width)
    screen.open(viewing(group).address("path=height&as=map:coolwarm"))
    assert screen.page.evaluate(CUT) == []
    choose(screen, "mean:0")
    screen.wait_text(".quality", "mean along")
    assert screen.page.evaluate(CUT) == []
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_a_message_hides_neither_the_picture_nor_its_controls(
    width: int, browser: Any, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "damaged.zarr"
    array = zarr.open(path, mode="w", shape=(40, 60), chunks=(10, 10), dtype="u1", zarr_format=3)
    array[:] = 3
    (path / "c" / "1" / "2").write_bytes(b"damaged")
    screen = sized(browser, width)
    screen.open(viewing(path).address())
    screen.wait_text(".pane > .notice", "c/1/2")
    for below in (".save", "canvas.lower", "canvas.around", "output.value"):
        assert not covers(screen, ".pane > .notice", below), below
    screen.close()


@pytest.mark.parametrize("size", [(20_000, 12), (12, 20_000)])
def test_a_long_plane_is_seen_from_its_begin_and_can_be_moved(
    size: tuple[int, int], screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 256, size, "u1")
    group = group_of("long", data, chunks=tuple(min(500, n) for n in size))
    screen.open(viewing(group).address("path=long&as=kind:gray"))
    drawn = screen.drawn()
    assert drawn.scale == 1
    assert min(drawn.top, drawn.left) == 0
    screen.wait_text(".quality", "the first part of a long plane")
    shown = screen.pixels()
    rows, columns = (min(n, length) for n, length in zip(size, shown.shape, strict=False))
    part = shown[drawn.top : drawn.top + rows, drawn.left : drawn.left + columns]
    assert np.array_equal(part[..., 0], data[:rows, :columns])
    # A movement begins where the picture is.
    before = (drawn.top, drawn.left)
    screen.page.locator("canvas.upper").focus()
    screen.page.keyboard.press("Shift+ArrowDown")
    screen.page.keyboard.press("Shift+ArrowRight")
    moved = (before[0] - 40, before[1] - 40)
    screen.wait(lambda: (screen.drawn().top, screen.drawn().left) == moved)
    screen.page.get_by_role("button", name="Fit").click()
    screen.wait(lambda: (screen.drawn().top, screen.drawn().left) == before)


def test_a_scale_bar_is_shorter_than_its_plane_and_lies_in_it(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, _ = volume()
    space = {"type": "space", "unit": "micrometer"}
    scale = [{"type": "scale", "scale": [2, 0.5, 0.5]}]
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [{
            "axes": [{"name": name, **space} for name in "zyx"],
            "datasets": [{"path": "stack", "coordinateTransformations": scale}],
        }],
    }  # fmt: skip
    screen.open(viewing(group).address("path=stack"))
    wait_labels(screen, "0")
    choose(screen, "planes:0")
    screen.wait_drawn(3)
    # Once the labels are known, a step of z is as long as four of y and x.
    screen.wait(lambda: [screen.drawn(pane).tall for pane in range(3)] == [
        screen.drawn(0).scale, screen.drawn(0).scale, 4 * screen.drawn(0).scale
    ])  # fmt: skip
    planes = [(30, 40), (30, 12), (12, 40)]
    seen = 0
    for pane, (height, width) in enumerate(planes):
        drawn = screen.drawn(pane)
        upper = screen.pixels("canvas.upper", pane=pane)
        outside = np.ones(upper.shape[:2], bool)
        rows = slice(drawn.top, drawn.top + int(height * drawn.tall))
        columns = slice(drawn.left, drawn.left + int(width * drawn.scale))
        outside[rows, columns] = False
        # Only the cross may reach a pixel beyond.
        assert (upper[..., 3] > 0)[outside].sum() < 20, pane
        seen += bool((upper[rows, columns, :3] == 255).all(axis=-1).sum() > 60)
    assert seen >= 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_place_of_a_fourth_plane_looks_like_the_page(
    scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    image_of = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    screen = sized(browser, 1400, scheme)
    group, _ = volume()
    screen.open(viewing(group).address("path=stack"))
    choose(screen, "planes:0")
    screen.wait_drawn(3)
    box = screen.page.locator("main.panes").bounding_box()
    assert box is not None
    picture = np.asarray(image_of.open(io.BytesIO(screen.page.screenshot())).convert("RGB"))
    corner = picture[int(box["y"] + box["height"]) - 9, int(box["x"] + box["width"]) - 9]
    wanted = (255, 255, 255) if scheme == "light" else (0x14, 0x17, 0x1C)
    assert tuple(corner) == wanted
    screen.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_controls_of_channels_are_apart_and_stay_together(
    width: int, browser: Any, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    names = ["DAPI", "a name that is rather long, as those of antibodies are", "c"]
    image(
        group, np.random.default_rng(0).integers(0, 9999, (3, 40, 50), "u2"),
        omero={"channels": [{"color": "00ff00", "label": name} for name in names]},
    )  # fmt: skip
    screen = sized(browser, width)
    screen.open(viewing(group).address("path=0"))
    for channel in screen.page.locator(".channel").all():
        boxes = [one.bounding_box() for one in channel.locator("> *").all()]
        for one, two in pairwise(boxes):
            assert one is not None
            assert two is not None
            beside = abs(one["y"] + one["height"] / 2 - two["y"] - two["height"] / 2) < 8
            assert not beside or two["x"] - one["x"] - one["width"] >= 2
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.close()


@pytest.mark.parametrize("width", [390, 1400])
def test_an_array_with_a_long_name_still_says_its_shape(
    width: int, browser: Any, viewing: Callable[..., Any]
) -> None:
    name = "a-plate-with-a-name-that-has-no-end_" * 6
    data = np.ones((2, 20, 30), "u1")
    screen = sized(browser, width)
    screen.open(viewing(group_of(name, data)).address(urlencode({"path": name})))
    box = screen.page.locator(".pane .facts").bounding_box()
    assert box is not None
    assert box["width"] > 120
    assert box["x"] + box["width"] <= width
    assert "2 \u00d7 20 \u00d7 30 uint8" in screen.text(".pane .facts")
    screen.close()


def test_the_numbers_beside_a_curve_are_whole(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = np.linspace(-3e6, 3e6, 4000)
    screen.open(viewing(group_of("curve", data)).address("path=curve"), panes=0)
    screen.wait(lambda: screen.page.locator(".frame.curve canvas").count() == 1)

    def left() -> Any:
        return screen.pixels(".frame.curve canvas")[:, :60, 3]

    screen.wait(lambda: bool(left().any()))
    assert not left()[:, :2].any()


@pytest.mark.parametrize("width", [390, 820])
def test_the_first_and_the_last_tick_of_a_curve_are_whole(
    width: int, browser: Any, viewing: Callable[..., Any]
) -> None:
    group = group_of("depth", np.arange(5.0), dimension_names=["time"])
    time = group.create_array("time", data=np.arange(5), dimension_names=["time"])
    time.attrs["units"] = "days since 2020-01-01"
    screen = sized(browser, width)
    screen.open(viewing(group).address("path=depth"), panes=0)
    screen.wait(lambda: screen.page.locator(".frame.curve canvas").count() == 1)

    def ticks() -> Any:
        return screen.pixels(".frame.curve canvas")[-16:, :, 3]

    screen.wait(lambda: bool(ticks().any()))
    assert not ticks()[:, :1].any()
    assert not ticks()[:, -1:].any()
    screen.close()


def test_a_long_series_has_dates_and_its_unit(screen: Screen, viewing: Callable[..., Any]) -> None:
    size = 1_000_000
    group = group_of(
        "signal", np.sin(np.arange(size) / 30_000).astype("f4"), chunks=(50_000,),
        dimension_names=["time"], attributes={"units": "mV"},
    )  # fmt: skip
    time = group.create_array(
        "time", data=np.arange(size), chunks=(50_000,), dimension_names=["time"]
    )
    time.attrs["units"] = "seconds since 2024-02-28T23:59:00"
    screen.open(viewing(group).address("path=signal"), panes=0)
    screen.wait_text(".frame.curve", "1 mV")
    canvas = screen.page.locator(".frame.curve .u-over")
    for part in (0.2, 0.5, 0.83):
        # The curve is drawn again when its labels are known.
        screen.wait(lambda: canvas.bounding_box() is not None)
        canvas.hover(position={"x": canvas.evaluate("one => one.clientWidth") * part, "y": 50})
        screen.wait_text(".frame.curve output.value", " to 2024-03-0")
        text = screen.text(".frame.curve output.value").removeprefix("time ")
        date, index = text.split(" ")[0], int(text.split("[")[1].split("]")[0])
        wanted = np.datetime64("2024-02-28T23:59:00") + np.timedelta64(index, "s")
        assert np.datetime64(date) == wanted
        assert abs(index - part * size) < size / 100


def test_ticks_of_a_narrow_range_are_different(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = np.linspace(427_600, 427_980, 600).reshape(20, 30)
    texts = """() => {
      window.texts = [];
      const before = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
        if (this.canvas.matches(".around")) window.texts.push(text);
        return before.call(this, text, ...rest);
      };
    }"""
    screen.page.add_init_script(f"({texts})()")
    screen.open(viewing(group_of("a", data)).address("path=a&as=kind:gray"))
    screen.wait(lambda: screen.page.evaluate("texts.filter((one) => /^427/.test(one)).length") > 5)
    # Those of the last picture, from the lowest value on.
    shown = [float(one) for one in screen.page.evaluate("texts") if one.startswith("427")]
    last = shown[len(shown) - shown[::-1].index(min(shown)) - 1 :]
    assert len(last) > 5
    assert len(set(last)) == len(last)
    assert np.allclose(np.diff(last), last[1] - last[0])


def test_a_click_in_a_narrow_window_says_where_its_series_is(
    browser: Any, viewing: Callable[..., Any]
) -> None:
    screen = sized(browser, 390)
    data = np.arange(2400.0).reshape(4, 20, 30)
    group = group_of("a", data, dimension_names=["t", "y", "x"])
    screen.open(viewing(group).address("path=a"))
    button = screen.page.get_by_role("button", name="Facts")
    assert button.inner_text() == "Facts"
    screen.page.locator("canvas.upper").click()
    screen.wait(lambda: button.inner_text() == "Facts \u2022")
    button.click()
    screen.wait_text(".series", "values along t")
    assert button.inner_text() == "Facts"
    screen.close()


def test_text_of_two_axes_is_a_table(screen: Screen, viewing: Callable[..., Any]) -> None:
    words = np.array([["a", "<b>b</b>", ""], ["\u05e9\u05dc", "e\nf", "g"]], dtype=object)
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("words", shape=words.shape, dtype=str, chunks=(1, 3))[...] = words
    screen.open(viewing(group).address("path=words"), panes=0)
    screen.wait(lambda: screen.page.locator(".cells tbody td").count() == 6)
    shown = screen.page.locator(".cells tbody td bdi").evaluate_all(
        "cells => cells.map((one) => one.textContent)"
    )
    assert [one.strip("'\"").replace("\\n", "\n") for one in shown] == words.ravel().tolist()


def test_an_array_without_an_element_has_no_axes(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("none", shape=(3, 0, 6), dtype="f4")
    screen.page.goto(viewing(group).address("path=none&as=kind:gray"))
    screen.wait_text(".quality", "the array has no element")
    screen.page.wait_for_timeout(300)
    assert not screen.pixels("canvas.around")[..., 3].any()


def test_a_tick_is_apart_from_its_number(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = np.linspace(-120, 120, 600, dtype="f4").reshape(20, 30)
    screen.open(viewing(group_of("a", data)).address("path=a&as=kind:gray"))
    screen.wait(lambda: bool(screen.pixels("canvas.around")[..., 3].any()))
    around, wide = screen.pixels("canvas.around")[..., 3], screen.pixels().shape[1]
    right = 62 + wide + 10 + 14
    assert around[30:, right + 1].any()
    assert around[30:, right + 7 : right + 12].any()
    # Of -120, "- -120" would be read as two signs.
    assert not around[30:, right + 4 : right + 6].any()


def test_the_longest_motion_is_not_beyond_itself(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    y, x = np.mgrid[-1:1:24j, -1:1:32j]
    motions = np.stack([-y, x]).astype("f4") * 9
    screen.open(viewing(group_of("flow", motions)).address("path=flow&as=kind:flow"))
    scale = int(screen.drawn().scale)
    shown = screen.plane(24, 32)[scale // 2 :: scale, scale // 2 :: scale, :3]
    assert np.array_equal(shown, painted.flow(motions, screen.drawn().high)[..., :3])
    # A corner is as bright as what is beside it.
    assert shown[0, 0].max() == 255
    assert shown[-1, -1].max() == 255


def test_the_colours_of_ages_are_explained_and_dates_are_named_in_the_tree(
    screen: Screen, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    array = zarr.open(tmp_path / "d.zarr", mode="w", shape=(8, 8), chunks=(4, 4), dtype="M8[ms]")
    array[:] = np.datetime64("2020-01-01", "ms")
    screen.open(viewing(tmp_path / "d.zarr").address("path=&as=kind:gray;chunks:age"), panes=0)
    screen.wait_text(".quality", "(dark) to")
    assert "(bright); 4 of 4 chunks stored" in screen.text(".quality")
    screen.wait_text('[role="treeitem"] .facts', "datetime64[ms]")
    # An array at the root has the name of its store.
    screen.wait_text("aside h3 bdi", "d.zarr")


def test_a_projected_axis_is_not_said_to_be_shown(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, _ = climate()
    screen.open(viewing(group).address("path=t2m"))
    choose(screen, "max:0")
    screen.wait_text(".quality", "largest along time")
    screen.wait_text("footer.sliders", "All other axes are shown.")
