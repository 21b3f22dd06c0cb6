"""What the numbers mean: unpacked values, degrees, dates and micrometres, north at the top."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

TIMES, ROWS, COLUMNS = 24, 36, 72


def climate() -> tuple[Any, Any]:
    """Packed temperatures of a calendar of 360 days, and the stored numbers."""
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    lat, lon = np.linspace(-87.5, 87.5, ROWS), np.arange(0, 360, 5.0)
    for name, labels, attributes in (
        ("lat", lat, {"units": "degrees_north"}),
        ("lon", lon, {"units": "degrees_east"}),
        ("time", np.arange(TIMES) * 30, {"units": "days since 2019-12-15", "calendar": "360_day"}),
    ):
        made = group.create_array(
            name, shape=labels.shape, dtype=labels.dtype, chunks=labels.shape,
            dimension_names=[name], attributes=attributes,
        )  # fmt: skip
        made[:] = labels
    stored = np.random.default_rng(0).integers(-2000, 2500, (TIMES, ROWS, COLUMNS), "i2")
    stored[:, 10:14, 20:30] = -32767
    packed = group.create_array(
        "t2m", shape=stored.shape, dtype="i2", chunks=(1, 18, 36),
        dimension_names=["time", "lat", "lon"],
        attributes={
            "units": "K", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32767,
        },
    )  # fmt: skip
    packed[:] = stored
    return group, stored


def wait_labels(screen: Screen, flipped: str) -> None:
    screen.wait(
        lambda: (
            screen.page.locator(
                f'canvas.lower[data-labelled="1"][data-flipped="{flipped}"][data-ready="1"]'
            ).count()
            == 1
        )
    )


def expect(screen: Screen, colours: Any) -> None:
    drawn = screen.drawn()
    wanted = painted.hatched(colours, drawn.left, drawn.top, int(drawn.scale))
    screen.wait(lambda: bool(np.array_equal(screen.plane(ROWS, COLUMNS), wanted)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_packed_values_are_drawn_as_what_they_mean_with_north_at_the_top(
    scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    group, stored = climate()
    screen = Screen(browser, color_scheme=scheme)
    screen.open(viewing(group).address("path=t2m&as=map:viridis"))
    wait_labels(screen, "1")
    values = np.where(stored[0] == -32767, np.nan, stored[0] * 0.01 + 273.15)
    low, high = float(np.nanmin(values.astype("f4"))), float(np.nanmax(values.astype("f4")))
    assert (screen.drawn().low, screen.drawn().high) == pytest.approx((low, high))
    colours = painted.gray(values[::-1], screen.drawn().low, screen.drawn().high, "viridis")
    expect(screen, colours)
    # The element in the tenth row from below, and one that is missing.
    drawn = screen.drawn()

    def point(row: int, column: int) -> None:
        screen.page.locator("canvas.upper").hover(
            position={
                "x": drawn.left + (column + 0.5) * drawn.scale,
                "y": drawn.top + (ROWS - row - 0.5) * drawn.scale,
            }
        )

    point(9, 40)
    screen.wait_text("output.value", "lat 42.5°S [9] lon 200°E [40]")
    screen.wait_text("output.value", f"{values[9, 40]:.7g} K (stored {stored[0, 9, 40]})")
    point(11, 21)
    screen.wait_text("output.value", "missing (stored -32767)")
    screen.wait_text("aside", f"{np.isnan(values).sum()} NaN")
    # The bar of colours: its ends are the colours of the range.
    around = screen.pixels("canvas.around")
    bar = around[:, 62 + screen.pixels().shape[1] + 17, :3]
    highest, lowest = painted.colour_map("viridis")[[255, 0]]
    assert (bar == highest).all(axis=-1).any()
    assert (bar == lowest).all(axis=-1).any()
    # What is stored.
    screen.page.get_by_label("raw values").check()
    screen.wait(lambda: screen.drawn().low == -32767)
    raw = painted.gray(stored[0, ::-1], -32767, float(stored[0].max()), "viridis")
    expect(screen, raw)
    screen.page.get_by_label("flipped").uncheck()
    expect(screen, raw[::-1])
    screen.wait(lambda: "raw%3A1" in screen.page.url and "upright%3A1" in screen.page.url)
    screen.close()


def test_a_label_that_is_typed_moves_a_slider(screen: Screen, viewing: Callable[..., Any]) -> None:
    group, _ = climate()
    screen.open(viewing(group).address("path=t2m"))
    screen.wait_text(".coordinate", "2019-12-15")
    place = screen.page.get_by_label("Label of time")
    place.fill("2020-06")
    place.press("Enter")
    screen.wait(lambda: screen.drawn().index.startswith("6,"))
    screen.wait_text(".coordinate", "2020-06-15")
    screen.expected = ("400",)
    place.fill("2020-02-31")
    place.press("Enter")
    screen.wait_text(".slider .notice", "2020-02-31")


def test_scales_of_ome_zarr_are_micrometres(screen: Screen, viewing: Callable[..., Any]) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    made = group.create_array("0", shape=(300, 400), dtype="u1", chunks=(100, 100))
    made[:] = 7
    space = {"type": "space", "unit": "micrometer"}
    scale = [
        {"type": "scale", "scale": [0.5, 0.25]},
        {"type": "translation", "translation": [10, 0]},
    ]
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [{
            "axes": [{"name": "y", **space}, {"name": "x", **space}],
            "datasets": [{"path": "0", "coordinateTransformations": scale}],
        }],
    }  # fmt: skip
    screen.open(viewing(group).address("path=0"))
    wait_labels(screen, "0")
    drawn = screen.drawn()
    screen.page.locator("canvas.upper").hover(
        position={"x": drawn.left + 40.5 * drawn.scale, "y": drawn.top + 20.5 * drawn.scale}
    )
    screen.wait_text("output.value", "y 20 µm [20] x 10 µm [40]: 7")
    # A white bar of 20 micrometres, 80 elements long, in the corner of the plane.
    upper = screen.pixels("canvas.upper")
    row = upper[drawn.top + int(300 * drawn.scale) - 14]
    white = np.flatnonzero((row == 255).all(axis=-1))
    assert len(white) == round(80 * drawn.scale)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_saved_with_its_axes_and_the_numbers_as_files(
    scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    group, stored = climate()
    screen = Screen(browser, color_scheme=scheme)
    screen.open(viewing(group).address("path=t2m&as=map:viridis;coast:0&at=time=3"))
    wait_labels(screen, "1")
    lower, around = screen.pixels(), screen.pixels("canvas.around")

    def saved(choice: str) -> bytes:
        with screen.page.expect_download() as found:
            screen.page.get_by_label("Save t2m").select_option(choice)
        assert found.value.suggested_filename == f"t2m.{choice}"
        return Path(found.value.path()).read_bytes()

    with image.open(io.BytesIO(saved("png"))) as opened:
        picture = np.asarray(opened.convert("RGBA"))
    height, width = lower.shape[:2]
    assert picture.shape[:2] == (around.shape[0] + 24, around.shape[1])
    plane = picture[30 : 30 + height, 62 : 62 + width]
    opaque = lower[..., 3] == 255
    assert np.array_equal(plane[opaque], lower[opaque])
    drawn = screen.drawn()
    below = 30 + drawn.top + int(ROWS * drawn.scale)
    # The title, ticks below and at the left, and the bar of colours at the right.
    back = picture[0, 0]
    for part in (
        picture[:24],
        picture[below + 1 : below + 30],
        picture[30:, :62],
        picture[30:, 62 + width :],
    ):
        assert (part != back).any(axis=-1).any()
    values = np.load(io.BytesIO(saved("npy")))
    expected = np.where(stored[3] == -32767, np.nan, stored[3] * 0.01 + 273.15)
    assert np.array_equal(values, expected, equal_nan=True)
    rows = saved("csv").decode().split()
    assert np.array_equal(np.loadtxt(rows, delimiter=","), expected, equal_nan=True)
    # Coast lines that are seen are in the picture.
    screen.page.get_by_label("coast").check()
    with image.open(io.BytesIO(saved("png"))) as opened:
        lined = np.asarray(opened.convert("RGBA"))
    changed = (lined != picture).any(axis=-1)
    assert changed[30 : 30 + height, 62 : 62 + width].any()
    changed[30 : 30 + height, 62 : 62 + width] = False
    assert not changed.any()
    screen.close()
