"""Two arrays in one picture: labels above an image, turns, and their difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

HEIGHT, WIDTH = 30, 40


def scene() -> tuple[Any, dict[str, Any]]:
    """A group with two images and labels of three discs, and their values."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    labels = np.zeros((3, HEIGHT, WIDTH), "i4")
    for label, row, column in ((1, 8, 9), (70000, 20, 15), (-3, 15, 30)):
        labels[:, (y - row) ** 2 + (x - column) ** 2 < 36] = label
    image = rng.integers(0, 250, labels.shape, "u1")
    other = image.astype("f4") + rng.normal(0, 4, labels.shape).astype("f4")
    other[0, 3, 3] = np.nan
    found = {"image": image, "other": other, "seg": labels}
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for name, data in found.items():
        group.create_array(name, shape=data.shape, dtype=data.dtype, chunks=(1, 10, 20),
                           dimension_names=list("tyx"))[:] = data  # fmt: skip
    return group, found


def put(screen: Screen, label: str) -> None:
    box = screen.page.get_by_label("Compare image with another array")
    screen.wait(lambda: box.count() == 1)
    box.select_option(label=label)


def labelled(screen: Screen, found: dict[str, Any], opacity: float, outlines: bool) -> bool:
    """Whether the screen has the image with its labels above."""
    drawn = screen.drawn()
    scale = int(drawn.scale)
    below = painted.gray(found["image"][0], drawn.low, drawn.high)[..., :3].astype("f8")
    labels = found["seg"][0]
    above = painted.labels(labels)[..., :3].astype("f8")
    part = np.where(labels == 0, 0.0, round(opacity * 255) / 255)
    if outlines:
        part[edges(labels)] = 1
    wanted = below * (1 - part[..., None]) + above * part[..., None]
    shown = screen.plane(HEIGHT, WIDTH)[scale // 2 :: scale, scale // 2 :: scale, :3]
    return bool((np.abs(shown - wanted) <= 2).all())


def edges(labels: Any) -> Any:
    """The edges of a plane that is one tile, as this small one is."""
    found = np.zeros(labels.shape, bool)
    for axis in (0, 1):
        for shift in (1, -1):
            moved = np.roll(labels, shift, axis)
            beside = moved != labels
            ends = [slice(None)] * 2
            ends[axis] = slice(0, 1) if shift == 1 else slice(-1, None)
            beside[tuple(ends)] = False
            found |= beside
    return found & (labels != 0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_labels_lie_above_an_image(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, found = scene()
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(viewing(group).address("path=image&as=kind:gray"))
    put(screen, "labels of seg")
    screen.wait(lambda: labelled(screen, found, 0.5, outlines=True))
    screen.page.get_by_label("Opacity of the labels").fill("0.2")
    screen.page.get_by_label("outlines").uncheck()
    screen.wait(lambda: labelled(screen, found, 0.2, outlines=False))
    drawn = screen.drawn()
    screen.page.locator("canvas.upper").hover(
        position={"x": drawn.left + 30.5 * drawn.scale, "y": drawn.top + 15.5 * drawn.scale}
    )
    screen.wait_text("output.value", f": {found['image'][0, 15, 30]}, chunk 0.1.1; seg: -3")
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.wait(lambda: "over%3Alabels%3A0.2%3A0%3Aseg" in screen.page.url)
    again = screen.page.url
    screen.open("about:blank", panes=0)
    screen.open(again)
    screen.wait(lambda: labelled(screen, found, 0.2, outlines=False))
    screen.page.get_by_label("Remove seg from the picture").click()
    screen.wait(lambda: not labelled(screen, found, 0.2, outlines=False))
    screen.close()


def is_gray(screen: Screen, values: Any, name: str = "gray") -> bool:
    drawn = screen.drawn()
    wanted = painted.gray(values, drawn.low, drawn.high, name)
    wanted = painted.hatched(wanted, drawn.left, drawn.top, int(drawn.scale))
    return bool(np.array_equal(screen.plane(HEIGHT, WIDTH), wanted))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_difference_of_two_arrays_is_that_of_numpy(
    scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, found = scene()
    screen = Screen(browser, color_scheme=scheme)
    screen.open(viewing(group).address("path=image&as=kind:gray&at=t=1"))
    put(screen, "minus other")
    difference = found["image"][1].astype("f4") - found["other"][1]
    screen.wait_text(".quality", "minus other")
    far = float(np.abs(difference).max())
    screen.wait(lambda: screen.drawn().high == far and screen.drawn().low == -far)
    screen.wait(lambda: is_gray(screen, difference, "coolwarm"))
    # Where a value of one of the two is missing, so is the difference.
    screen.page.get_by_label("Index of t as a number").fill("0")
    screen.wait(lambda: is_gray(screen, found["image"][0] - found["other"][0], "coolwarm"))
    screen.page.get_by_label("Remove other from the picture").click()
    screen.wait(lambda: is_gray(screen, found["image"][0]))
    screen.close()


def test_two_arrays_take_turns(screen: Screen, viewing: Callable[..., Any]) -> None:
    group, found = scene()
    screen.open(viewing(group).address("path=image&as=kind:gray;range:0:250&at=t=2"))
    put(screen, "take turns with other")
    for name in ("other", "image", "other"):
        screen.wait(partial(is_gray, screen, found[name][2]))
    screen.page.get_by_label("by itself").uncheck()
    before = screen.page.locator("canvas.lower").get_attribute("data-second")
    screen.page.wait_for_timeout(1600)
    assert screen.page.locator("canvas.lower").get_attribute("data-second") == before
    screen.page.get_by_role("button", name="other one").click()
    shown = "image" if before == "1" else "other"
    screen.wait(lambda: is_gray(screen, found[shown][2]))


def test_nothing_takes_turns_by_itself_where_a_person_wants_less_motion(
    browser: Any, viewing: Callable[..., Any]
) -> None:
    group, _ = scene()
    screen = Screen(browser, reduced_motion="reduce")
    screen.open(viewing(group).address("path=image&as=kind:gray"))
    put(screen, "take turns with other")
    screen.wait(lambda: screen.page.get_by_label("by itself").count() == 1)
    screen.page.wait_for_timeout(1500)
    assert screen.page.locator("canvas.lower").get_attribute("data-second") == "0"
    screen.close()
