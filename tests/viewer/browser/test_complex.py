"""Complex numbers whose magnitudes are far apart, as those of spectra, are seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

HEIGHT, WIDTH = 60, 84


def spectrum() -> Any:
    """The spectrum of a picture: its largest magnitude is 10,000 times the median one."""
    rng = np.random.default_rng(5)
    picture = rng.integers(0, 256, (HEIGHT, WIDTH)) / 16 + 200
    found = np.fft.fftshift(np.fft.fft2(picture)).astype("c8")
    found[0, :3] = (0, complex(np.nan, 1), np.inf)
    return found


def group_of(**arrays: Any) -> Any:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for name, data in arrays.items():
        group.create_array(name, data=data, chunks=(20, 28), config={"write_empty_chunks": True})
    return group


def magnitudes(data: Any) -> Any:
    found = np.hypot(data.real.astype("f8"), data.imag.astype("f8"))
    return found[np.isfinite(found) & (found > 0)]


def options(screen: Screen) -> list[str]:
    # The address is written a moment after the picture.
    screen.page.wait_for_function("() => location.hash.includes('as=')")
    fragment = urlsplit(screen.page.url).fragment
    return parse_qs(fragment, keep_blank_values=True)["as"][0].split(";")


def shown_range(screen: Screen) -> tuple[float, float]:
    drawn = screen.drawn()
    return drawn.low, drawn.high


def check(screen: Screen, wanted: Any) -> None:
    drawn = screen.drawn()
    found = screen.plane(HEIGHT, WIDTH)
    expected = painted.hatched(wanted, drawn.left, drawn.top, int(drawn.scale))
    # A logarithm may round to the level beside.
    different = np.abs(found.astype(int) - expected.astype(int)).max(axis=-1)
    assert different.max() <= 2
    assert np.count_nonzero(different) <= found[..., 0].size / 1000


def test_a_spectrum_is_not_black(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = spectrum()
    served = viewing(group_of(spectrum=data))
    screen.open(served.address("path=spectrum"))
    known = magnitudes(data)
    low = np.percentile(known, 1, method="lower")
    high = np.percentile(known, 99, method="higher")
    assert shown_range(screen) == pytest.approx((low, high), rel=1e-6)
    low, high = shown_range(screen)
    check(screen, painted.complex_(data, high, low, "log"))
    assert np.median(screen.plane(HEIGHT, WIDTH)[..., :3].max(axis=-1)) > 90
    screen.wait(lambda: {"transform:log", "clip:1"} <= set(options(screen)))
    # On a linear scale up to the largest magnitude, as it was, nearly all of it is black.
    screen.page.locator("select", has_text="log").first.select_option("linear")
    screen.page.get_by_role("button", name="auto").click()
    largest = float(known.max())
    screen.wait(lambda: shown_range(screen) == pytest.approx((0, largest), rel=1e-6))
    assert np.median(screen.plane(HEIGHT, WIDTH)[..., :3].max(axis=-1)) < 5
    check(screen, painted.complex_(data, shown_range(screen)[1]))


def test_the_address_holds_the_scale_and_the_range(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = spectrum()
    served = viewing(group_of(spectrum=data))
    known = magnitudes(data)
    all_of_it = (known.min(), known.max())
    middle = tuple(
        np.percentile(known, [1, 99], method="lower")[at] if at == 0
        else np.percentile(known, 99, method="higher") for at in range(2)
    )  # fmt: skip
    for chosen, wanted in {
        "transform:linear": (0, known.max()),
        "transform:linear;clip:1": (0, middle[1]),
        "transform:log": all_of_it,
        "transform:log;clip:1": middle,
        "transform:log;range:2:900": (2, 900),
    }.items():
        screen.open(served.address(urlencode({"path": "spectrum", "as": chosen})))
        screen.wait(lambda wanted=wanted: shown_range(screen) == pytest.approx(wanted, rel=1e-6))
        low, high = shown_range(screen)
        scale = "log" if "log" in chosen else "linear"
        check(screen, painted.complex_(data, high, low, scale))
        # What the page writes into its address shows the same again.
        screen.wait(lambda chosen=chosen: set(chosen.split(";")) <= set(options(screen)))


def test_magnitudes_that_are_near_keep_their_scale(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    y, x = np.mgrid[-2 : 2 : HEIGHT * 1j, -2 : 2 : WIDTH * 1j]
    fields = {"field": (x + 1j * y).astype("c8"), "none": np.zeros((HEIGHT, WIDTH), "c8")}
    served = viewing(group_of(**fields))
    for name, data in fields.items():
        screen.open(served.address(f"path={name}"))
        largest = float(np.abs(data).max()) or 1
        assert shown_range(screen) == pytest.approx((0, largest), rel=1e-6)
        check(screen, painted.complex_(data, shown_range(screen)[1]))
        assert not [one for one in options(screen) if one.startswith(("transform", "clip"))]
    # Zeros alone have no logarithm, and are black.
    screen.open(served.address("path=none&as=transform:log"))
    assert not screen.plane(HEIGHT, WIDTH)[..., :3].any()


@pytest.mark.parametrize("width", [390, 820, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_disk_of_a_logarithmic_scale_says_both_ends(
    width: int, scheme: str, browser: Any, viewing: Callable[..., Any]
) -> None:
    served = viewing(group_of(spectrum=spectrum()))
    sizes = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    screen = Screen(browser, **sizes)
    screen.open(served.address("path=spectrum&as=transform:log;range:0.0123:45600"))
    screen.wait_text("figure.wheel figcaption", "0.0123 log")
    figure = screen.page.locator("figure.wheel")
    assert "on a logarithmic scale" in figure.get_attribute("aria-label")
    figure_box, save = figure.bounding_box(), screen.page.locator("select.save").bounding_box()
    assert figure_box["y"] + figure_box["height"] <= save["y"]
    lines = screen.page.locator("figure.wheel figcaption span").all()
    assert len(lines) == 2
    for line in lines:
        assert line.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert screen.page.evaluate("document.documentElement.scrollWidth") <= width
    screen.close()


def test_a_range_without_extremes_is_that_of_numpy(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    rng = np.random.default_rng(2)
    real = rng.normal(10, 2, (HEIGHT, WIDTH)).astype("f4")
    real[3, 5], real[7, 9], real[8, 8] = 1e6, -1e6, np.nan
    small = rng.integers(100, 120, (HEIGHT, WIDTH), dtype="u1")
    small[0, 0], small[1, 1] = 0, 255
    served = viewing(group_of(real=real, small=small))
    for name, data in {"real": real, "small": small}.items():
        screen.open(served.address(f"path={name}&as=kind:gray"))
        screen.page.get_by_label("1\u201399 %").check()
        known = data[np.isfinite(data)]
        low = np.percentile(known, 1, method="lower")
        high = np.percentile(known, 99, method="higher")
        screen.wait(
            lambda low=low, high=high: shown_range(screen) == pytest.approx((low, high), rel=1e-6)
        )
        check(screen, painted.gray(data, *shown_range(screen)))
        screen.wait(lambda: "clip:1" in options(screen))
        # A reload shows it again, and a range that is typed takes its place.
        screen.page.reload()
        screen.wait_drawn()
        assert shown_range(screen) == pytest.approx((low, high), rel=1e-6)
        assert screen.page.get_by_label("1\u201399 %").is_checked()
        screen.page.get_by_label("Highest value of the range").fill("500")
        screen.page.keyboard.press("Enter")
        screen.wait(lambda: shown_range(screen)[1] == 500)
        assert not screen.page.get_by_label("1\u201399 %").is_checked()
        screen.wait(lambda: "clip:1" not in options(screen))


def test_the_whole_range_of_bytes_and_of_each_frame_is_in_the_address(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = np.random.default_rng(4).integers(40, 90, (HEIGHT, WIDTH), dtype="u1")
    served = viewing(group_of(data=data))
    screen.open(served.address("path=data&as=kind:gray"))
    assert shown_range(screen) == (0, 255)
    screen.page.get_by_role("button", name="auto").click()
    wanted = (data.min(), data.max())
    screen.wait(lambda: shown_range(screen) == wanted)
    screen.page.get_by_label("each frame").check()
    screen.wait(lambda: "frames:1" in options(screen))
    screen.page.reload()
    screen.wait_drawn()
    assert shown_range(screen) == wanted
    assert screen.page.get_by_label("each frame").is_checked()
