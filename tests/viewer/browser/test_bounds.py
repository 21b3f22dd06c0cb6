"""Large trees and planes, servers that end, hostile names, and people who use other means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import zarrix as zarr
from servers import KEY, SECRET, Running, new_bucket
from viewer.browser import painted
from viewer.browser.screen import Screen
from viewer.browser.test_pixels import group_of


def plane(screen: Screen, data: Any) -> None:
    """The first pane shows this plane of bytes in gray."""
    drawn = screen.drawn()
    wanted = painted.hatched(painted.gray(data, 0, 255), drawn.left, drawn.top, int(drawn.scale))
    assert np.array_equal(screen.plane(*data.shape), wanted)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barrier(
    browser: Any, viewing: Callable[..., Any], axe: str, scheme: str
) -> None:
    rng = np.random.default_rng(0)
    group = group_of(
        {
            "frames": rng.integers(0, 256, (4, 3, 60, 84), "u1"),
            "flow": rng.normal(0, 3, (4, 2, 60, 84)).astype("f2"),
            "table": rng.integers(0, 9, (60, 84)),
        }
    )
    group.attrs.put({"made": {"by": ["one", "two"]}})
    served = viewing(group)
    screen = Screen(browser, color_scheme=scheme)
    pairs = [("path", "frames"), ("as", ""), ("path", "flow"), ("as", ""), ("sel", "1,:,2:9,3:9")]
    screen.open(served.address(urlencode(pairs)), panes=2)
    screen.wait_text(".region-stats", "126 values")
    for step in ("shown", "help", "table"):
        if step == "help":
            screen.page.get_by_role("button", name="Keys").click()
        if step == "table":
            screen.page.keyboard.press("Escape")
            screen.page.goto(served.address(urlencode({"path": "table", "as": "kind:table"})))
            screen.wait(lambda: screen.page.locator("td").count() > 100)
        # Through the protocol of the browser, which the page's policy does not concern.
        screen.page.evaluate(axe)
        found = screen.page.evaluate("axe.run()")
        problems = [
            (one["id"], one["impact"], [node["target"] for node in one["nodes"]][:3])
            for one in found["violations"]
        ]
        assert not problems, (step, problems)
        assert len(found["passes"]) > 15
    screen.close()


def test_a_tree_of_ten_thousand_arrays_is_listed_in_pages(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    store = zarr.MemoryStore()
    group = zarr.open_group(store, mode="w", zarr_format=3)
    group.create_array("a00000", shape=(64, 64), chunks=(64, 64), dtype="u1")
    document = store["a00000/zarr.json"]
    for number in range(1, 10_000):
        store[f"a{number:05}/zarr.json"] = document
    screen.open(viewing(group).address("path=a00000"))
    tree = screen.page.get_by_role("tree", name="Arrays and groups")
    screen.wait(lambda: tree.get_by_role("treeitem").count() > 10)
    # Only what is seen is in the page, and read.
    assert tree.get_by_role("treeitem").count() < 100
    assert sum("api/tree" in url for url in screen.requests) <= 2
    assert tree.get_by_role("treeitem").first.get_attribute("aria-setsize") == "10000"
    tree.get_by_role("treeitem").first.focus()
    screen.page.keyboard.press("End")
    screen.wait(lambda: tree.get_by_text("a09999", exact=True).count() == 1)
    assert sum("api/tree" in url for url in screen.requests) <= 3
    screen.page.get_by_role("searchbox").fill("a0777")
    screen.wait(lambda: tree.get_by_role("treeitem").count() == 10)
    tree.get_by_text("a07773", exact=True).click()
    screen.wait(lambda: "path=a07773" in screen.page.url)


def test_a_plane_of_ten_thousand_million_elements_is_seen_whole_and_in_detail(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    side = 100_000
    array = zarr.open_array(
        zarr.MemoryStore(), mode="w", shape=(side, side), chunks=(512, 512), dtype="u1",
        zarr_format=3,
    )  # fmt: skip
    corner = np.random.default_rng(2).integers(1, 256, (1024, 1024), "u1")
    array[50_176:51_200, 50_176:51_200] = corner
    screen.open(viewing(array).address())
    tiles = [url for url in screen.requests if "api/tile" in url]
    assert not tiles
    assert any("api/overview" in url for url in screen.requests)
    screen.wait_text(".quality", "element")
    # One element for each pixel of the screen, in the middle of what was written.
    centre = (50_176 + 512) / side
    screen.open(screen.page.url.partition("#")[0] + f"#path=&as=&view={centre},{centre},{side}")
    drawn = screen.drawn()
    assert drawn.scale == 1
    shown = screen.pixels()
    first_row, first_column = -drawn.top - 50_176, -drawn.left - 50_176
    height, width = shown.shape[:2]
    seen = corner[first_row : first_row + height, first_column : first_column + width]
    assert np.array_equal(shown[..., 0], seen)


def test_pyramid_levels_are_used_where_they_have_enough_detail(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    sides = (4096, 2048, 1024, 512)
    for level, side in enumerate(sides):
        array = group.create_array(str(level), shape=(side, side), chunks=(256, 256), dtype="u1")
        array[:] = 50 * (level + 1)
    axes = [{"name": name, "type": "space"} for name in "yx"]
    scales = [[{"type": "scale", "scale": [4096 / side] * 2}] for side in sides]
    datasets = [
        {"path": str(level), "coordinateTransformations": scale}
        for level, scale in enumerate(scales)
    ]
    group.attrs["ome"] = {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}
    screen.open(viewing(group).address("path=0"))
    assert 0.1 < screen.drawn().scale < 0.25
    middle = screen.pixels()[400, 300]
    assert middle[0] in (150, 200), middle
    assert not any("api/tile?path=0&" in url for url in screen.requests)
    screen.open(screen.page.url.partition("#")[0] + "#path=0&as=&view=0.5,0.5,4096")
    assert screen.pixels()[300, 300].tolist() == [50, 50, 50, 255]


def test_the_viewer_goes_on_when_a_killed_server_is_back(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = np.random.default_rng(5).integers(0, 256, (3, 60, 84), "u1")
    served = viewing(group_of({"a": data}))
    # A request that is under way when the server ends is answered by 503.
    screen.expected = (
        *("ERR_CONNECTION_REFUSED", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"),
        "503 (Service Unavailable)",
    )
    screen.open(served.address("path=a&as=kind:gray"))
    served.stop()
    slider = screen.page.get_by_role("slider", name="Index of axis 0")
    slider.fill("2")
    screen.wait_text(".notice", "The server does not answer")
    served.start()
    screen.wait(lambda: screen.page.locator(".notice").count() == 0)
    screen.wait(lambda: screen.drawn().index.startswith("2,"))
    screen.wait_drawn()
    data[:, 20:40, 56:84] = 0
    screen.page.get_by_role("button", name="Missing").click()
    screen.wait(lambda: int(screen.plane(60, 84)[..., 0].min()) == 0)
    plane(screen, data[2])


def test_hostile_names_and_attributes_are_text(screen: Screen, viewing: Callable[..., Any]) -> None:
    script = "<img src=x onerror=window.hurt=1>"
    right_to_left = "\u202egnp.exe"
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    array = group.create_array(
        script, shape=(2, 8, 8), chunks=(1, 8, 8), dtype="u1",
        dimension_names=["<b>t</b>", "y", "x"],
        attributes={script: script, right_to_left: "\u202eabc", "large": "x" * 2**20,
                    "__proto__": {"polluted": 1}},
    )  # fmt: skip
    array[:] = 7
    group.create_array(right_to_left, shape=(8, 8), chunks=(8, 8), dtype="u1")[:] = 1
    served = viewing(group)
    screen.open(served.address(urlencode({"path": script})))
    assert screen.page.locator("h2").inner_text() == script
    assert screen.page.locator(".dimension").inner_text() == "<b>t</b>"
    screen.wait(lambda: screen.page.get_by_role("treeitem").count() == 2)
    # Each name is apart, so that marks of direction do not reach other text.
    assert screen.page.locator('[role="treeitem"] bdi').count() == 2
    assert screen.page.evaluate("window.hurt ?? ({}).polluted ?? null") is None
    assert screen.page.locator("img, b, iframe").count() == 0


def test_a_foreign_token_is_refused_with_a_sentence(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    served = viewing(zarr.zeros((4, 4), dtype="u1"))
    screen.expected = ("401",)
    screen.page.goto(f"http://127.0.0.1:{served.port}/#token=guessed")
    screen.wait_text(".notice", "Open the address that zarrix view has printed")


def test_nothing_moves_where_a_person_wants_less_motion(
    browser: Any, viewing: Callable[..., Any]
) -> None:
    screen = Screen(browser, reduced_motion="reduce")
    screen.open(viewing(zarr.zeros((5, 64, 64), dtype="u1", chunks=(1, 64, 64))).address())
    assert screen.page.get_by_role("spinbutton", name="frames a second").input_value() == "2"
    moving = "[...document.querySelectorAll('*')].filter(one => one.getAnimations().length).length"
    assert screen.page.evaluate(moving) == 0
    screen.close()


def test_an_array_on_s3_is_shown(
    screen: Screen,
    viewing: Callable[..., Any],
    serve: Callable[[str], Running],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = serve("moto")
    bucket = new_bucket(server, "viewer")
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    data = np.random.default_rng(8).integers(0, 256, (60, 84), "u1")
    group = zarr.open_group(f"{bucket}/x.zarr", mode="w", zarr_format=3)
    group.array("a", data, chunks=(20, 28))
    screen.open(viewing(f"{bucket}/x.zarr").address("path=a&as=kind:gray"))
    plane(screen, data)
