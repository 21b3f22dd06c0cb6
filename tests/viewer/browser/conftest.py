"""A real browser, and the viewer's server in a thread.

Debian's Chromium, driven through playwright, whose own browsers are not needed. Where either is
missing, these tests are skipped and say so. Every page is watched: an error of the page, a
refusal of its content policy, or a request that leaves this machine fails the test.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from viewer.browser.screen import Screen

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
TOKEN = "a-token-of-the-browser-tests-" + "0" * 14


def chromium() -> str | None:
    """The path of Chromium; ZARRIX_CHROMIUM names another one."""
    return os.environ.get("ZARRIX_CHROMIUM") or next(
        filter(None, map(shutil.which, CHROMIUM)), None
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, for one module: beside playwright's loop, asyncio.run fails."""
    sync_api = pytest.importorskip(
        "playwright.sync_api",
        reason="playwright is not installed: pip install zarrix[test-browser]",
    )
    pytest.importorskip("uvicorn", reason="uvicorn is not installed: pip install zarrix[view]")
    path = chromium()
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path,
            # Pictures must not depend on a GPU: without this, Chromium draws with SwiftShader.
            args=["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer"],
        )
        yield found
        found.close()


class Served:
    """The viewer of some roots, on a free port, or again on the same one."""

    def __init__(self, *roots: Any) -> None:
        self.roots = roots
        self.port = 0
        self.start()

    def start(self) -> None:
        from zarrix import viewer
        from zarrix.viewer._server import listen, server_of

        self.socket = listen("127.0.0.1", self.port)
        self.port = self.socket.getsockname()[1]
        self.server = server_of(viewer.app(*self.roots, token=TOKEN))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self.server.force_exit = True
        self.thread.join(30)
        self.socket.close()
        assert not self.thread.is_alive()

    def address(self, fragment: str = "") -> str:
        return f"http://127.0.0.1:{self.port}/#token={TOKEN}" + (fragment and f"&{fragment}")


@pytest.fixture
def viewing() -> Iterator[Callable[..., Served]]:
    """Starts the viewer of an array, a group or a path."""
    started: list[Served] = []

    def start(*roots: Any) -> Served:
        started.append(Served(*roots))
        return started[-1]

    yield start
    for served in started:
        served.stop()


@pytest.fixture
def screen(browser: Any, viewing: Any) -> Iterator[Screen]:
    """A page that is watched. It ends before its server."""
    screen = Screen(browser)
    yield screen
    screen.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core, which npm installs for the build of the front end."""
    path = Path(__file__).parents[3] / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists():
        pytest.skip("axe-core is not installed: npm ci in the folder viewer")
    return path.read_text()
