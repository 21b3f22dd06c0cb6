"""Pictures of data that are easily drawn wrong: sparse, damaged, far from zero, many channels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen


def shown(screen: Screen, height: int, width: int) -> Any:
    """One pixel of each element."""
    scale = int(screen.drawn().scale)
    return screen.plane(height, width)[scale // 2 :: scale, scale // 2 :: scale, :3]


def image(group: Any, data: Any, **omero: Any) -> Any:
    """An image of OME-Zarr in a group."""
    axes = [{"name": "c", "type": "channel"}, {"name": "y"}, {"name": "x"}]
    found = group.create_array(
        "0", shape=data.shape, chunks=(1, 32, 32), dtype=data.dtype, dimension_names=list("cyx")
    )
    found[:] = data
    group.attrs["ome"] = {
        "version": "0.5",
        "multiscales": [{"axes": axes, "datasets": [{"path": "0"}]}],
        **omero,
    }
    return found


def test_three_channels_are_drawn_as_omero_says(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(100, 2000, (3, 40, 50), "u2")
    looks = [(100, 900, "ff00ff"), (0, 2000, "00ff00"), (500, 1500, "0000ff")]
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    described = [
        {"color": colour, "label": f"dye {at}", "window": {"start": low, "end": high}}
        for at, (low, high, colour) in enumerate(looks)
    ]
    image(group, data, omero={"channels": described})
    screen.open(viewing(group).address("path=0"))
    expected = painted.channels(data, looks)[..., :3]
    assert np.array_equal(shown(screen, 40, 50), expected)


def test_channels_without_omero_have_their_own_ranges(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(0)
    data = np.stack([rng.integers(100 * at, 300 + 200 * at, (40, 50), "u2") for at in range(5)])
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    image(group, data)
    screen.open(viewing(group).address("path=0"))
    colours = ("ff0000", "00ff00", "0000ff", "ffffff", "ff00ff")
    looks = [(int(one.min()), int(one.max()), colour)
             for one, colour in zip(data, colours, strict=True)]  # fmt: skip
    assert np.array_equal(shown(screen, 40, 50), painted.channels(data, looks)[..., :3])


def test_only_the_damaged_chunk_is_hatched(
    screen: Screen, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "damaged.zarr"
    data = (np.arange(40 * 60) % 251).astype("u1").reshape(40, 60)
    array = zarr.open(path, mode="w", shape=data.shape, chunks=(10, 10), dtype="u1", zarr_format=3)
    array[:] = data
    (path / "c" / "1" / "2").write_bytes(b"damaged")
    screen.open(viewing(path).address())
    screen.wait_text(".pane > .notice", "c/1/2")
    screen.wait_text("aside", "100 in damaged chunks")
    found = shown(screen, 40, 60)
    sound = np.ones(data.shape, bool)
    sound[10:20, 20:30] = False
    expected = painted.gray(data, 0, 255)[..., :3]
    assert np.array_equal(found[sound], expected[sound])
    assert set(map(tuple, found[~sound].tolist())) <= {(0x3C, 0x0F, 0x14), (0xD2, 0x32, 0x3C)}


def test_the_overview_of_a_sparse_plane_shows_its_stored_blocks(
    screen: Screen, viewing: Callable[..., Any], tmp_path: Path
) -> None:
    # Each chunk decodes to 1 MiB: a plane of 100 x 100 of them is beyond one request.
    array = zarr.open(
        tmp_path / "sparse.zarr",
        mode="w",
        shape=(100_000, 100_000),
        chunks=(1000, 1000),
        dtype="u1",
    )
    for row, column, value in ((13, 57, 40), (72, 8, 200), (99, 99, 120)):
        array[row * 1000 : (row + 1) * 1000, column * 1000 : (column + 1) * 1000] = value
    screen.open(viewing(tmp_path / "sparse.zarr").address("path=&as=kind:gray"))
    screen.wait_text(".quality", "coarse")
    drawn = screen.drawn()
    pixels = screen.pixels()
    for row, column, value in ((13, 57, 40), (72, 8, 200), (99, 99, 120)):
        y = drawn.top + int((row + 0.5) * 1000 * drawn.scale)
        x = drawn.left + int((column + 0.5) * 1000 * drawn.scale)
        assert pixels[y, x, 0] == value
    screen.wait_text("aside", "40 to 200")


def test_identifiers_beyond_float32_are_told_apart(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(0)
    data = 2**60 + rng.integers(0, 200, (80, 40), "i8")
    data[:, :20] += 1000
    screen.open(viewing(zarr.array(data, chunks=(40, 20))).address("path=&as=kind:gray"))
    above = (data - data.min()).astype("f4")
    expected = painted.gray(above, float(above.min()), float(above.max()))[..., :3]
    assert np.array_equal(shown(screen, 80, 40), expected)
    screen.wait_text(".quality", "numbers are above 11529215046068")


def test_a_plane_of_dates_is_drawn_and_a_line_of_them_is_a_table(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    days = np.datetime64("2020-01-01") + np.arange(1200).reshape(30, 40).astype("m8[D]")
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for name, data in (("plane", days), ("line", days[0])):
        made = group.create_array(name, shape=data.shape, dtype="M8[D]", chunks=data.shape)
        made[:] = data
    served = viewing(group)
    screen.open(served.address(urlencode({"path": "plane", "as": "kind:gray"})))
    expected = painted.gray(np.arange(1200, dtype="f4").reshape(30, 40), 0, 1199)[..., :3]
    assert np.array_equal(shown(screen, 30, 40), expected)
    assert screen.page.locator("aside .notice").count() == 0
    screen.open(served.address("path=line"), panes=0)
    screen.wait_text(".cells table", "2020-02-09")
    assert screen.page.locator(".notice").count() == 0


def test_a_structure_has_a_column_for_each_field_and_a_group_counts_its_members(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = np.array([(1, 2.5, b"a"), (3, -1, b"b")], [("n", "u2"), ("v", "f4"), ("s", "S1")])
    group = zarr.open_group(zarr.MemoryStore(), mode="w")
    group.array("rows", data)
    group.create_group("inner").create_array("a", shape=(2, 2), dtype="u1")
    served = viewing(group)
    screen.open(served.address("path=rows"), panes=0)
    screen.wait_text(".cells table", "b'b'")
    assert screen.page.locator(".cells thead th").all_inner_texts() == ["n", "v", "s"]
    cells = screen.page.locator(".cells tbody td").all_inner_texts()
    assert cells == ["1", "2.5", "b'a'", "3", "-1.0", "b'b'"]
    screen.page.get_by_role("treeitem", name="inner").click()
    screen.wait_text("aside", "members")
    assert "undefined" not in screen.text("aside")


def test_gamma_range_and_histogram_of_a_channel_are_in_the_address(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 4000, (2, 40, 50), "u2")
    data[1] //= 4
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    image(group, data)
    screen.open(viewing(group).address("path=0"))
    page = screen.page
    page.get_by_label("Gamma of channel 0").fill("0.5")
    page.get_by_label("Highest value of channel 0").fill("3000")
    page.keyboard.press("Tab")
    low = [int(one.min()) for one in data]
    looks: list[Any] = [(low[0], 3000, "ff0000", 0.5), (low[1], int(data[1].max()), "00ff00")]
    wanted = painted.channels(data, looks)[..., :3]
    screen.wait(lambda: bool(np.array_equal(shown(screen, 40, 50), wanted)))
    screen.wait_text("aside", f"to {data[0].max():,}, mean")
    page.get_by_label("Channel of the histogram").select_option("1")
    screen.wait_text("aside", f"to {data[1].max():,}, mean")
    page.get_by_role("button", name="Chunk grid").click()
    screen.wait(lambda: "grid=1" in page.url and "channel" in page.url)
    page.reload()
    screen.wait_drawn()
    assert np.array_equal(shown(screen, 40, 50), wanted)
    assert page.get_by_role("button", name="Chunk grid").get_attribute("aria-pressed") == "true"
