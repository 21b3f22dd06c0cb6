"""Every pixel of every kind equals what NumPy computes from the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import zarrix as zarr
from viewer.browser import painted
from viewer.browser.screen import Screen

HEIGHT, WIDTH = 60, 84
DTYPES = ("u1", "u2", "f2", "f4", "f8", "?", "i1", "i2", "i4", "u8")


def values(dtype: str, shape: tuple[int, ...], states: bool = True) -> Any:
    """Random values; floats have NaN and both infinities where `states`."""
    rng = np.random.default_rng(7)
    if dtype == "?":
        return rng.random(shape) < 0.5
    if dtype[0] in "iu":
        info = np.iinfo(dtype)
        # float32, in which wide integers are drawn, has these exactly.
        low, high = max(info.min, -(2**23)), min(info.max, 2**23)
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)
    found = rng.normal(0, 40, shape).astype(dtype)
    if states:
        flat = found.reshape(-1)
        flat[3::17], flat[5::31], flat[7::41] = np.nan, np.inf, -np.inf
    return found


def address(path: str, **options: Any) -> str:
    as_ = ";".join(f"{name}:{value}" for name, value in options.items())
    return urlencode({"path": path, "as": as_})


def group_of(arrays: dict[str, Any], chunks: tuple[int, int] = (20, 28)) -> Any:
    """A group in memory with these arrays; the third chunk of the second row is missing."""
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for path, data in arrays.items():
        lead = data.shape[: data.ndim - 2]
        array = group.create_array(
            path, shape=data.shape, chunks=(*lead, *chunks), dtype=data.dtype
        )
        for row in range(0, data.shape[-2], chunks[0]):
            for column in range(0, data.shape[-1], chunks[1]):
                if (row, column) != (chunks[0], 2 * chunks[1]):
                    box = (..., slice(row, row + chunks[0]), slice(column, column + chunks[1]))
                    array[box] = data[box]
    return group


def missing() -> Any:
    found = np.zeros((HEIGHT, WIDTH), bool)
    found[20:40, 56:84] = True
    return found


def check(screen: Screen, expected: Any, absent: Any = None) -> None:
    drawn = screen.drawn()
    shown = screen.plane(*expected.shape[:2])
    wanted = painted.hatched(expected, drawn.left, drawn.top, int(drawn.scale), absent)
    different = (shown != wanted).any(axis=-1)
    if different.any():
        found = np.unique(shown[different], axis=0)[:4].tolist()
        where = np.argwhere(different)[[0, -1]].tolist()
        now = screen.page.locator("canvas.lower").evaluate("canvas => ({...canvas.dataset})")
        raise AssertionError((np.count_nonzero(different), where, found, drawn, now))


def finite(data: Any) -> tuple[float, float]:
    """The range that the viewer chooses: from the least to the greatest finite value."""
    data = data.astype("f4")
    found = data[np.isfinite(data)]
    return float(found.min()), float(found.max())


@pytest.mark.parametrize("kind", ["gray", "depth", "labels", "mask", "rgb", "flow"])
def test_every_pixel_equals_numpy_of_each_dtype(
    kind: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    lead = {"rgb": (3,), "flow": (2,)}.get(kind, ())
    dtypes = [
        one for one in DTYPES if kind not in ("labels", "mask") or np.dtype(one).kind in "iub"
    ]
    if kind == "flow":
        dtypes = ["f2", "f4", "f8"]
    arrays = {
        f"of-{one.strip('?') or 'bool'}": values(one, (*lead, HEIGHT, WIDTH)) for one in dtypes
    }
    served = viewing(group_of(arrays))
    for path, data in arrays.items():
        low, high = finite(data)
        options: dict[str, Any] = {"kind": kind, "range": f"{low}:{high}"}
        if kind == "flow":
            options["range"] = "0:70"
        screen.open(served.address(address(path, **options)))
        if kind == "gray":
            expected = painted.gray(data, low, high)
        elif kind == "depth":
            expected = painted.gray(data, low, high, "turbo")
        elif kind == "labels":
            expected = painted.labels(data)
        elif kind == "mask":
            expected = painted.mask(data)
        elif kind == "rgb":
            expected = painted.rgb(data, low, high)
        else:
            expected = painted.flow(data, 70)
        check(screen, expected, missing())


def test_channels_equal_numpy_of_each_dtype(screen: Screen, viewing: Callable[..., Any]) -> None:
    """Colours and ranges are those of OME-Zarr's ``omero``."""
    looks = [(-10, 60, "ff8000"), (0, 90, "00ff40"), (3, 40, "2000ff"), (0, 50, "ff00ff")]
    described = [
        {"color": colour, "active": True, "window": {"start": low, "end": high}}
        for low, high, colour in looks
    ]
    arrays = {f"of-{one}": values(one, (4, HEIGHT, WIDTH)) for one in DTYPES if one != "?"}
    group = group_of(arrays)
    group.attrs["omero"] = {"channels": described}
    served = viewing(group)
    for path, data in arrays.items():
        screen.open(served.address(address(path, kind="channels", axes="1:2:0")))
        check(screen, painted.channels(data, looks), missing())


@pytest.mark.parametrize("name", ["viridis", "magma", "cividis", "turbo", "coolwarm"])
@pytest.mark.parametrize("transform", ["linear", "inverse", "log"])
def test_colour_maps_and_scales_equal_numpy(
    name: str, transform: str, screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = values("f2", (HEIGHT, WIDTH))
    served = viewing(group_of({"a": data}))
    screen.open(
        served.address(address("a", kind="gray", map=name, transform=transform, range="0.5:60"))
    )
    check(screen, painted.gray(data, 0.5, 60, name, transform), missing())


def test_complex_numbers_equal_numpy(screen: Screen, viewing: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(0, 5, (HEIGHT, WIDTH)) + 1j * rng.normal(0, 5, (HEIGHT, WIDTH))
    data[0, :4] = (0, 3, -3j, complex(np.nan, 1))
    served = viewing(group_of({"a": data.astype("c8")}))
    screen.open(served.address(address("a", kind="complex", range="0:12")))
    check(screen, painted.complex_(data.astype("c8"), 12), missing())


def test_all_values_of_float16_equal_numpy(screen: Screen, viewing: Callable[..., Any]) -> None:
    data = np.arange(65536, dtype="u2").view("f2").reshape(256, 256)
    served = viewing(zarr.array(data, chunks=(100, 100)))
    screen.open(served.address(address("", kind="gray", range="-65504:65504", map="viridis")))
    check(screen, painted.gray(data, -65504, 65504, "viridis"))


def test_interleaved_and_transposed_planes_equal_numpy(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = values("u1", (3, HEIGHT, WIDTH))
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.array("interleaved", data.transpose(1, 2, 0), chunks=(20, 28, 3))
    group.array("transposed", data[0].T, chunks=(20, 28))
    served = viewing(group)
    screen.open(served.address(address("interleaved", kind="rgb", axes="0:1:2")))
    check(screen, painted.rgb(data, 0, 255))
    screen.open(served.address(address("transposed", kind="gray", axes="1:0:")))
    check(screen, painted.gray(data[0], 0, 255))


def test_a_missing_chunk_shows_its_fill_value_where_hatching_is_off(
    screen: Screen, viewing: Callable[..., Any]
) -> None:
    data = np.full((HEIGHT, WIDTH), 200, "u1")
    served = viewing(group_of({"a": data}))
    screen.open(served.address(address("a", kind="gray")))
    check(screen, painted.gray(data, 0, 255), missing())
    screen.page.get_by_role("button", name="Missing").click()
    data[missing()] = 0
    expected = painted.gray(data, 0, 255)
    screen.wait(lambda: bool((screen.plane(HEIGHT, WIDTH)[..., 0].min()) == 0))
    check(screen, expected)
