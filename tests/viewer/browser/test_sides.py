"""Elements of three planes as long as they are, and the disk of the colours of phases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen
from viewer.browser.test_planes import choose, volume


def microscope(steps: list[float], units: tuple[str | None, ...] = ("micrometer",) * 3) -> Any:
    """A stack whose voxels have these sides, by OME-Zarr, and its values."""
    group, data = volume()
    axes = [
        {"name": name, "type": "space", **({"unit": unit} if unit else {})}
        for name, unit in zip("zyx", units, strict=True)
    ]
    scale = [{"type": "scale", "scale": steps}]
    datasets = [{"path": "stack", "coordinateTransformations": scale}]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    return group, data


def coordinates(**axes: tuple[float, str | None]) -> Any:
    """A stack whose axes have coordinate arrays: the step and the unit of each."""
    group, data = volume()
    for name, (step, unit) in axes.items():
        length = data.shape["zyx".index(name)]
        made = group.create_array(name, shape=(length,), dtype="f8", dimension_names=[name])
        made[:] = 7 - np.arange(length) * step
        if unit is not None:
            made.attrs["units"] = unit
    return group, data


def sides(screen: Screen) -> list[tuple[float, float]]:
    """Pixels of a column and of a row of each plane: x of y, z of y, x of z."""
    drawn = map(screen.drawn, range(3))
    return [(one.scale, one.tall) for one in drawn]


def is_painted(screen: Screen, pane: int, values: Any) -> bool:
    """Whether a plane has these values, each as a rectangle."""
    drawn = screen.drawn(pane)
    wanted = painted.gray(values, drawn.low, drawn.high)
    wanted = wanted.repeat(int(drawn.tall), axis=0).repeat(int(drawn.scale), axis=1)
    box = [drawn.left, drawn.top, wanted.shape[1], wanted.shape[0]]
    return bool(np.array_equal(screen.pixels(box=box, pane=pane), wanted))


def three(screen: Screen, served: Any) -> None:
    screen.open(served.address("path=stack&at=z=5"))
    choose(screen, "planes:0")
    screen.wait_drawn(3)
    screen.wait(lambda: screen.page.locator("canvas.lower[data-labelled='1']").count() == 3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_planes_have_the_proportions_of_their_voxels(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, data = microscope([1.5, 0.5, 0.5])
    options = {"viewport": {"width": width, "height": 1200}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    three(screen, viewing(group))
    unit = screen.drawn(0).scale
    screen.wait(lambda: sides(screen) == [(unit, unit), (3 * unit, unit), (unit, 3 * unit)])
    planes = [data[5], data[:, :, 20].T, data[:, 15]]
    for pane, values in enumerate(planes):
        screen.wait(lambda pane=pane, values=values: is_painted(screen, pane, values))
    screen.wait_text(".quality", "elements of z 3 : y 1 : x 1")
    # Each plane fits, and nothing wider than the window.
    for pane, values in enumerate(planes):
        drawn = screen.drawn(pane)
        canvas = screen.pixels(pane=pane).shape
        assert min(drawn.left, drawn.top) >= 0
        assert drawn.left + values.shape[1] * drawn.scale <= canvas[1]
        assert drawn.top + values.shape[0] * drawn.tall <= canvas[0]
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    # A click finds the element that is drawn there.
    drawn = screen.drawn(2)
    screen.page.locator("canvas.upper").nth(2).click(
        position={"x": drawn.left + 30.5 * drawn.scale, "y": drawn.top + 8.9 * drawn.tall}
    )
    screen.wait(lambda: is_painted(screen, 0, data[8]))
    screen.wait(lambda: is_painted(screen, 1, data[:, :, 30].T))
    screen.close()


def test_a_zoom_keeps_the_proportions(screen: Screen, viewing: Callable[..., Any]) -> None:
    group, _ = microscope([1.5, 0.5, 0.5])
    three(screen, viewing(group))
    before = sides(screen)[2]
    screen.page.locator("canvas.upper").nth(2).hover()
    screen.page.mouse.wheel(0, -240)
    screen.wait(lambda: sides(screen)[2] != before)
    wide, high = sides(screen)[2]
    assert (wide, high) == pytest.approx((2 * before[0], 6 * before[0]))
    # What lies under the pointer stays there, and a movement by the mouse moves as far.
    first = screen.drawn(2)
    screen.page.keyboard.down("Shift")
    screen.page.mouse.down()
    box = screen.page.locator("canvas.upper").nth(2).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    screen.page.mouse.move(x + 20, y + 10)
    screen.page.mouse.up()
    screen.page.keyboard.up("Shift")
    screen.wait(lambda: screen.drawn(2).top != first.top)
    moved = screen.drawn(2)
    assert abs(moved.left - first.left - 20) <= 1
    assert abs(moved.top - first.top - 10) <= 1


@pytest.mark.parametrize(
    ("made", "ratio"),
    [
        (lambda: microscope([2, 1, 1], (None, None, None)), 2),
        (lambda: microscope([0.002, 1, 1], ("millimeter", "micrometer", "micrometer")), 2),
        (lambda: microscope([2, 1, 1], ("second", "micrometer", "micrometer")), 1),
        (lambda: microscope([400, 1, 1]), 1),
        (lambda: coordinates(z=(0.1, "km"), y=(50.0, "m"), x=(50.0, "m")), 2),
        (lambda: coordinates(z=(2.0, "days since 2020-01-01"), y=(1.0, "m"), x=(1.0, "m")), 1),
        (lambda: coordinates(z=(2.0, None), y=(1.0, None), x=(1.0, None)), 1),
        (lambda: coordinates(y=(1.0, "m"), x=(2.0, "m")), 1),
    ],
    ids=["pixels", "mm", "time", "hairline", "km", "days", "no unit", "one unknown"],
)
def test_only_lengths_that_can_be_compared_change_a_plane(
    made: Callable[[], Any], ratio: int, screen: Screen, viewing: Callable[..., Any]
) -> None:
    group, _ = made()
    three(screen, viewing(group))
    screen.wait(lambda: sides(screen)[2] == (sides(screen)[0][0], ratio * sides(screen)[0][0]))
    assert screen.drawn(0).scale == screen.drawn(0).tall
    assert ("elements of" in screen.page.locator("body").inner_text()) == (ratio > 1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1400])
def test_a_disk_says_what_the_colours_of_complex_numbers_mean(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    options = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    y, x = np.mgrid[-2:2:40j, -2:2:60j]
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    made = group.create_array("field", shape=x.shape, dtype="c8")
    made[:] = x + 1j * y
    screen.open(viewing(group).address("path=field&as=range:0:5"))
    figure = screen.page.locator("figure.wheel")
    screen.wait_text("figure.wheel figcaption", "|z| ≤ 5")
    assert "phase is the hue" in figure.get_attribute("aria-label")
    disk = screen.pixels("figure.wheel canvas")
    side = disk.shape[0]
    # The middles of the pixels of a disk, with imaginary parts upwards.
    at = (np.arange(side) + 0.5 - side / 2) / (side / 2)
    numbers = at[None, :] - 1j * at[:, None]
    wanted = painted.complex_(numbers.astype("c8"), 1)
    wanted[np.abs(numbers) > 1] = 0
    assert np.array_equal(disk, wanted)
    # It covers neither the picture nor the menu below it, and lies in the window.
    legend, plane, save = (
        one.bounding_box()
        for one in (figure, screen.page.locator(".plane"), screen.page.locator("select.save"))
    )
    assert legend["x"] >= plane["x"] + plane["width"]
    assert legend["x"] + legend["width"] <= width
    assert legend["y"] + legend["height"] <= save["y"]
    screen.close()


def test_a_kept_picture_has_the_disk(screen: Screen, viewing: Callable[..., Any]) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    made = group.create_array("field", shape=(20, 30), dtype="c8")
    made[:] = 1 + 1j
    screen.open(viewing(group).address("path=field"))
    with screen.page.expect_download() as waited:
        screen.page.locator("select.save").select_option("png")
    # Optional package: Pillow, an independent reader of the picture.
    images = pytest.importorskip("PIL.Image")
    kept = np.asarray(images.open(waited.value.path()).convert("RGBA"))
    disk = screen.pixels("figure.wheel canvas")
    side = disk.shape[0]
    # The middle of the disk, which has neither edge nor background.
    part = slice(side // 4, 3 * side // 4)
    inner = disk[part, part]
    windows = np.lib.stride_tricks.sliding_window_view(kept[:, -80:], inner.shape)
    assert (windows[:, :, 0] == inner).all(axis=(2, 3, 4)).any()
