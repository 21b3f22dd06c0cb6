"""The pictures of the documentation, made from the demo's scene by the viewer itself.

ZARRIX_WRITE_PICTURES=1 writes them to docs/images/viewer. Without it, each view is made and thrown
away, because fonts differ between machines, and the stored ones are checked for size.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser.screen import Screen

PICTURES = Path(__file__).parents[3] / "docs" / "images" / "viewer"
MOST_BYTES = 150_000
FRAMES, HEIGHT, WIDTH = 6, 360, 640
NAMES = ("frames", "linked", "crop", "missing", "series", "crops", "chunks", "difference")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Frames of the demo, flow and depth at half their size, and an array that is incomplete."""
    from zarrix.cli._demo.scene import Scene

    path: Path = tmp_path_factory.mktemp("demo") / "demo.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=3)
    names = ["t", "c", "y", "x"]
    half = (HEIGHT // 2, WIDTH // 2)
    frames = group.create_array(
        "gt", shape=(FRAMES, 3, HEIGHT, WIDTH), chunks=(1, 3, 120, 160), dtype="u1",
        dimension_names=names, attributes={"camera": "left", "exposure_ms": 8},
    )  # fmt: skip
    rgb = group.create_array(
        "lr/rgb", shape=(FRAMES, 3, *half), chunks=(1, 3, *half), dtype="u1", dimension_names=names
    )
    flow = group.create_array(
        "lr/flow", shape=(FRAMES, 2, *half), chunks=(1, 2, *half), dtype="f2",
        dimension_names=names,
    )  # fmt: skip
    depth = group.create_array(
        "lr/depth", shape=(FRAMES, *half), chunks=(1, *half), dtype="f2",
        dimension_names=["t", "y", "x"],
    )  # fmt: skip
    shards = group.create_array(
        "upload", shape=(FRAMES, 3, HEIGHT, WIDTH), chunks=(1, 3, 60, 80), dtype="u1",
        shards=(1, 3, 120, 160), dimension_names=names,
    )  # fmt: skip
    scene = Scene(HEIGHT, WIDTH, 0)
    for t in range(FRAMES):
        frame = scene.frame(t)
        frames[t] = frame.rgb
        for array, part in zip((rgb, flow, depth), frame.reduced(2), strict=True):
            array[t] = part
    # A copy that was interrupted.
    shards[0, :, :240] = frames[0, :, :240]
    shards[0, :, 240:, :240] = frames[0, :, 240:, :240]
    group.create_array("t", shape=(FRAMES,), dtype="f4", chunks=(FRAMES,))[:] = (
        np.arange(FRAMES) / 25
    )
    return path


def address(*paths: str, **more: str) -> str:
    pairs = [pair for path in paths for pair in (("path", path), ("as", ""))]
    return urlencode([*pairs, *more.items()])


def view(screen: Screen, served: Any, name: str) -> None:
    """Brings the page to one of the views."""
    page = screen.page
    if name == "frames":
        screen.open(served.address(address("gt", at="t=2")))
        screen.wait_text("aside", "mean")
    if name == "linked":
        screen.open(
            served.address(address("gt", "lr/flow", "lr/depth", "lr/rgb", at="t=2")), panes=4
        )
        page.locator("canvas.upper").first.hover()
        screen.wait_text("output.value", "y=")
        screen.wait_text("aside", "mean")
    if name == "crop":
        screen.open(served.address(urlencode({"path": "lr/flow", "sel": "3,:,40:110,90:220"})))
        screen.wait_text(".region", "zarrix cat")
        screen.wait_text("aside", "mean")
    if name == "missing":
        screen.open(served.address(address("upload")))
        page.get_by_role("button", name="Chunk grid").click()
        page.locator("canvas.upper").hover()
        screen.wait_text("aside", "Chunk")
        screen.wait_text("aside", "mean")
    if name == "series":
        screen.open(served.address(address("lr/depth", at="t=2")))
        page.locator("canvas.upper").click()
        screen.wait_text(".series", "values along t")
        screen.wait_text("aside", "mean")
    if name == "chunks":
        screen.open(served.address(urlencode({"path": "upload", "as": "chunks:bytes"})))
        screen.wait_text(".quality", "chunks stored")
    if name == "difference":
        over = "over:difference:0.5:1:upload"
        screen.open(served.address(urlencode({"path": "gt", "as": over})))
        screen.wait(
            lambda: page.locator('canvas.lower[data-over="difference"][data-ready="1"]').count() > 0
        )
    if name == "crops":
        screen.open(served.address(address("gt", at="t=2")))
        screen.wait_text("aside", "mean")
        page.get_by_text("Crops of a loader").click()
        page.get_by_label("size", exact=True).fill("96")
        page.get_by_role("button", name="Read", exact=True).click()
        screen.wait_text(".sheet", "crops a second")
        page.get_by_text("Crops of a loader").scroll_into_view_if_needed()
        page.locator(".sheet canvas").scroll_into_view_if_needed()
    page.wait_for_timeout(300)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_a_picture_of_the_documentation_can_be_made(
    name: str,
    scheme: str,
    browser: Any,
    viewing: Callable[..., Any],
    demo: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The code of a region names the store as it was opened.
    monkeypatch.chdir(demo.parent)
    screen = Screen(
        browser, color_scheme=scheme, viewport={"width": 1120, "height": 660}, device_scale_factor=1
    )
    view(screen, viewing(demo.name), name)
    picture = screen.page.screenshot()
    screen.close()
    if os.environ.get("ZARRIX_WRITE_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        (PICTURES / f"{name}-{scheme}.png").write_bytes(smaller(picture))


def smaller(picture: bytes, most: int = MOST_BYTES) -> bytes:
    """The picture with as many colours as the bound of bytes allows."""
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    for colours in (256, 160, 96, 64, 32):
        found = io.BytesIO()
        image.open(io.BytesIO(picture)).convert("RGB").quantize(colours, dither=0).save(
            found, "PNG", optimize=True
        )
        if found.tell() <= most:
            break
    return found.getvalue()


def test_the_stored_pictures_are_small_and_complete() -> None:
    sizes = {path.name: path.stat().st_size for path in PICTURES.glob("*.png")}
    wanted = {f"{name}-{scheme}.png" for name in NAMES for scheme in ("light", "dark")}
    assert set(sizes) == wanted
    assert max(sizes.values()) <= MOST_BYTES
