"""What the tests do with a page, and what they see of it."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np

# An end of waiting on a loaded machine; no test passes because of it.
PATIENCE_S = 60

PIXELS = """([selector, box, pane]) => {
  const canvas = document.querySelectorAll(selector)[pane];
  const [left, top, width, height] = box ?? [0, 0, canvas.width, canvas.height];
  const { data } = canvas.getContext("2d").getImageData(left, top, width, height);
  let text = "";
  for (let at = 0; at < data.length; at += 32768)
    text += String.fromCharCode(...data.subarray(at, at + 32768));
  return [width, height, btoa(text)];
}"""


@dataclass(frozen=True)
class Drawn:
    """Where a plane lies on its canvas, in pixels: an element is ``scale`` by ``tall`` of them."""

    scale: float
    tall: float
    left: int
    top: int
    index: str
    low: float
    high: float


class Screen:
    """A page of a browser, whose errors and requests are collected."""

    def __init__(self, browser: Any, **options: Any) -> None:
        options = {"viewport": {"width": 1200, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        # Failures of requests that a test causes on purpose.
        self.expected: tuple[str, ...] = ()
        self.page.on("pageerror", lambda error: self.errors.append(f"error of the page: {error}"))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: Any) -> None:
        if message.type == "error" or "Content Security Policy" in message.text:
            self.errors.append(message.text)

    def close(self) -> None:
        """Ends the page, and fails if it had an error or asked another machine."""
        self.context.close()
        foreign = [url for url in self.requests if not _loopback(url)]
        assert not foreign, foreign
        errors = [text for text in self.errors if not any(known in text for known in self.expected)]
        assert not errors, errors

    def open(self, address: str, *, panes: int = 1) -> None:
        """Shows an address; waits until its pictures are complete."""
        # Pictures that are there now belong to the address before.
        if self.page.url != "about:blank":
            self.page.evaluate(
                "for (const one of document.querySelectorAll('canvas.lower')) one.dataset.old = 1"
            )
        self.page.goto(address)
        self.wait_drawn(panes)

    def wait_drawn(self, panes: int = 1) -> None:
        self.wait(
            lambda: (
                self.page.evaluate(
                    "document.querySelectorAll('canvas.lower:not([data-old])"
                    '[data-ready="1"][data-stored="1"]\').length'
                )
                == panes
            )
        )

    def wait(self, ready: Callable[[], bool]) -> None:
        """Waits for a condition. Playwright evaluates text for it, which the policy refuses."""
        end = time.monotonic() + PATIENCE_S
        while not ready():
            assert time.monotonic() < end, self._state()
            self.page.wait_for_timeout(20)

    def _state(self) -> str:
        canvases = self.page.evaluate(
            "[...document.querySelectorAll('canvas.lower')].map((one) => ({...one.dataset}))"
        )
        notices = self.page.locator(".notice").all_inner_texts()
        return f"not within {PATIENCE_S} s: {canvases}, {notices}, {self.errors}"

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).first.inner_text())

    def wait_text(self, selector: str, part: str) -> None:
        self.wait(lambda: self.page.locator(selector).count() > 0 and part in self.text(selector))

    def drawn(self, pane: int = 0) -> Drawn:
        data = (
            self.page.locator("canvas.lower").nth(pane).evaluate("canvas => ({...canvas.dataset})")
        )
        low, high = map(float, data["range"].split(","))
        scale, tall = float(data["scale"]), float(data["tall"])
        return Drawn(scale, tall, int(data["left"]), int(data["top"]), data["index"], low, high)

    def pixels(
        self, selector: str = "canvas.lower", box: list[int] | None = None, pane: int = 0
    ) -> Any:
        """The pixels of a canvas: height, width, (R, G, B, A)."""
        width, height, text = self.page.evaluate(PIXELS, [selector, box, pane])
        return np.frombuffer(base64.b64decode(text), "u1").reshape(height, width, 4)

    def plane(self, height: int, width: int, pane: int = 0) -> Any:
        """The pixels of a pane's plane, which is seen whole, at a whole scale."""
        drawn = self.drawn(pane)
        assert drawn.scale == int(drawn.scale), drawn
        scale = int(drawn.scale)
        assert min(drawn.left, drawn.top) >= 0, drawn
        box = [drawn.left, drawn.top, width * scale, height * scale]
        return self.pixels(box=box, pane=pane)


def _loopback(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("blob", "data") or parts.hostname in ("127.0.0.1", "localhost", "::1")
