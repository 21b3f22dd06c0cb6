"""Coast lines lie where land ends, whichever way latitudes and longitudes run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser.screen import Screen
from viewer.browser.test_meaning import wait_labels

# Latitude and longitude of places on a coast, and of places more than six degrees away from one.
COASTS = {
    "Cape Agulhas": (-34.8, 20.0),
    "Cape Horn": (-55.5, -69.0),
    "Lisbon": (38.7, -9.4),
    "Cape York": (-10.9, 142.5),
    "Dakar": (14.7, -17.4),
    "Cape Comorin": (8.1, 77.5),
    "Los Angeles": (34.0, -118.5),
}
INLAND_OR_SEA = {
    "Sahara": (22.0, 8.0),
    "Atlantic": (-10.0, -25.0),
    "Pacific": (-10.0, -120.0),
    "Siberia": (60.0, 100.0),
    "Amazon": (-8.0, -60.0),
}


def world(lat: Any, lon: Any) -> Any:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for name, labels, unit in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
        group.create_array(name, shape=labels.shape, dtype="f8", dimension_names=[name],
                           attributes={"units": unit})[:] = labels  # fmt: skip
    group.create_array("sst", shape=(len(lat), len(lon)), chunks=(45, 90), dtype="u1",
                       dimension_names=["lat", "lon"])[:] = 100  # fmt: skip
    return group


def is_near(screen: Screen, lat: Any, lon: Any, place: tuple[float, float], by: float) -> bool:
    """Whether a white line passes within so many degrees of a place."""
    drawn = screen.drawn()
    upper = screen.pixels("canvas.upper")
    white = (upper[..., :3] > 200).all(axis=-1) & (upper[..., 3] > 100)
    row = int(np.abs(lat - place[0]).argmin())
    column = int(np.abs((lon - place[1] + 180) % 360 - 180).argmin())
    far_y = by * drawn.scale / abs(np.gradient(lat)[row])
    far_x = by * drawn.scale / abs(lon[1] - lon[0])
    row = len(lat) - 1 - row if lat[0] < lat[-1] else row
    y, x = drawn.top + (row + 0.5) * drawn.scale, drawn.left + (column + 0.5) * drawn.scale
    rows = slice(max(0, int(y - far_y)), int(y + far_y) + 1)
    columns = slice(max(0, int(x - far_x)), int(x + far_x) + 1)
    part = white[rows, columns]
    return bool(part.any())


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        (np.arange(-89.5, 90), np.arange(-179.5, 180)),
        (np.arange(89.5, -90, -1), np.arange(0.5, 360)),
        # Labels that are not even.
        (np.degrees(np.arcsin(np.linspace(-0.999, 0.999, 181))), np.arange(0.0, 360)),
    ],
)
def test_coast_lines_are_where_land_ends(
    lat: Any, lon: Any, browser: Any, viewing: Callable[..., Any]
) -> None:
    screen = Screen(browser, viewport={"width": 1400, "height": 900})
    screen.open(viewing(world(lat, lon)).address("path=sst&as=kind:gray"))
    wait_labels(screen, "1" if lat[0] < lat[-1] else "0")
    screen.wait(lambda: is_near(screen, lat, lon, COASTS["Dakar"], 3))
    for name, place in COASTS.items():
        assert is_near(screen, lat, lon, place, 3), name
    for name, place in INLAND_OR_SEA.items():
        assert not is_near(screen, lat, lon, place, 4), name
    screen.page.get_by_label("coast").uncheck()
    screen.wait(lambda: not is_near(screen, lat, lon, COASTS["Dakar"], 3))
    screen.wait(lambda: "coast%3A0" in screen.page.url)
    screen.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820])
def test_a_part_of_the_world_has_its_coast(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    lat, lon = np.arange(-40, -20, 0.5), np.arange(5, 35, 0.5)
    options = {"viewport": {"width": width, "height": 700}, "color_scheme": scheme}
    screen = Screen(browser, **options)
    screen.open(viewing(world(lat, lon)).address("path=sst&as=kind:gray"))
    wait_labels(screen, "1")
    screen.wait(lambda: is_near(screen, lat, lon, COASTS["Cape Agulhas"], 1))
    assert not is_near(screen, lat, lon, (-38, 10), 1.5)
    # Nothing is drawn outside of the plane.
    drawn = screen.drawn()
    upper = screen.pixels("canvas.upper")
    inside = np.zeros(upper.shape[:2], bool)
    height, across = round(len(lat) * drawn.scale), round(len(lon) * drawn.scale)
    inside[drawn.top : drawn.top + height + 1, drawn.left : drawn.left + across + 1] = True
    assert not upper[~inside].any()
    screen.close()
