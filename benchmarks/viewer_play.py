"""The viewer in a real browser: frames a second of play and of a dragged range, at 1080p.

    python -m benchmarks.viewer_play [--seconds 6] [--rounds 3]

It makes 24 frames of 1080p, RGB and optical flow (float16), shows each in Chromium through
``zarrix view``, and reads what the page counts. It needs playwright and Debian's Chromium.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.viewer import View

FRAMES, HEIGHT, WIDTH = 24, 1080, 1920
# What is wanted: more than the bar of 25, so that the page is never idle.
WANTED = 60
DRAG = """(seconds) => new Promise((resolve) => {
  const slider = document.querySelector('.range-sliders input');
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const canvas = document.querySelector('canvas.lower');
  let drawn = 0, step = 0;
  const seen = new MutationObserver(() => drawn++);
  seen.observe(canvas, { attributeFilter: ['data-drawn'] });
  const begun = performance.now();
  const move = () => {
    const elapsed = performance.now() - begun;
    if (elapsed > seconds * 1000) {
      seen.disconnect();
      return resolve(drawn * 1000 / elapsed);
    }
    slider.value = String(low + (high - low) * 0.4 * ((step++ % 40) / 40));
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(move);
  };
  requestAnimationFrame(move);
})"""


def make(path: Path) -> None:
    """Frames whose content moves, and their flow."""
    import numpy as np
    import zarrix

    group = zarrix.open_group(path, mode="w", zarr_format=3)
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype("f4")
    noise = np.random.default_rng(0).normal(0, 3, (3, HEIGHT, WIDTH)).astype("f4")
    kinds = {"rgb": ((3,), "u1"), "flow": ((2,), "f2")}
    arrays = {
        name: group.create_array(
            name,
            shape=(FRAMES, *axis, HEIGHT, WIDTH),
            dtype=dtype,
            chunks=(1, *axis, 360, 640),
            dimension_names=("t", "c", "y", "x"),
        )
        for name, (axis, dtype) in kinds.items()
    }
    for t in range(FRAMES):
        waves = [
            128 + 60 * np.sin((x + 9 * t) / (40 + 20 * c)) + 40 * np.cos(y / 60) for c in (0, 1, 2)
        ]
        arrays["rgb"][t] = (np.stack(waves) + noise).clip(0, 255).astype("u1")
        flow = np.stack([4 * np.sin((y + 5 * t) / 90), 3 * np.cos((x - 7 * t) / 120)])
        arrays["flow"][t] = flow.astype("f2")


def wait_drawn(page: Any) -> None:
    """Wait until the picture is complete; the page's policy refuses evaluated conditions."""
    for _ in range(1500):
        done = page.evaluate("document.querySelectorAll('canvas.lower[data-ready=\"1\"]').length")
        if done:
            return
        page.wait_for_timeout(20)
    raise SystemExit("no picture within 30 s")


def played(page: Any, seconds: float) -> float:
    """Frames a second that are shown."""
    page.get_by_role("spinbutton", name="frames a second").fill(str(WANTED))
    page.get_by_role("button", name="Play t").click()
    page.wait_for_timeout(seconds * 1000)
    text = page.locator("output.rate").inner_text()
    page.get_by_role("button", name="Stop t").click()
    return float(text.split()[0])


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "play.zarr"
        make(path)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        view = View(str(path))
        found: dict[tuple[str, str], list[float]] = {}
        for _ in range(options.rounds):
            for name in ("rgb", "flow"):
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
                page.goto(f"http://127.0.0.1:{view.port}/#token={view.token}&path={name}&as=")
                wait_drawn(page)
                found.setdefault((name, "play"), []).append(played(page, options.seconds))
                wait_drawn(page)
                page.wait_for_timeout(1000)
                rate = page.evaluate(DRAG, options.seconds)
                found.setdefault((name, "range drag"), []).append(rate)
                page.close()
        view.close()
        browser.close()
    print(f"CPUs {os.cpu_count()}, load {os.getloadavg()[0]:.1f}; frames a second, least to most")
    for (name, what), rates in found.items():
        print(f"{name:<6} {what:<11} {min(rates):6.1f} {max(rates):6.1f}")


if __name__ == "__main__":
    main()
