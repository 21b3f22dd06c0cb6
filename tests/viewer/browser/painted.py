"""The colours of each kind, computed with NumPy: what the painter's pixels must equal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

MAPS = Path(__file__).parents[3] / "viewer" / "src" / "paint" / "hex.ts"
HATCHINGS = {
    "invalid": ((0x50, 0x50, 0x5A), (0x78, 0x78, 0x82), 1),
    "missing": ((0x2E, 0x26, 0x14), (0xC8, 0x91, 0x2A), -1),
}
WHEEL_SECTORS = (15, 6, 4, 11, 13, 6)


def colour_map(name: str) -> Any:
    """The 256 colours of a map."""
    if name == "gray":
        return np.repeat(np.arange(256, dtype="u1")[:, None], 3, axis=1)
    text = re.search(rf'^  {name}:\n((?:    "[0-9a-f]+"[ +,]*\n)+)', MAPS.read_text(), re.M)
    assert text is not None
    digits = "".join(re.findall(r'"([0-9a-f]+)"', text[1]))
    return np.frombuffer(bytes.fromhex(digits), "u1").reshape(256, 3)


def levels(values: Any, low: float, high: float, transform: str = "linear") -> tuple[Any, Any]:
    """The level of 0 to 255 of each value, and which values are valid."""
    values = values.astype("f4").astype("f8") if values.dtype.itemsize == 8 else values.astype("f8")
    valid = np.isfinite(values)
    change = {"linear": lambda v: v, "inverse": lambda v: 1 / v, "log": np.log}[transform]
    if transform != "linear":
        valid &= values > 0
        low, high = max(low, 2.0**-24), max(high, 2.0**-24)
    begin, end = change(np.float64(low)), change(np.float64(high))
    with np.errstate(all="ignore"):
        scaled = (change(np.where(valid, values, 1.0)) - begin) * (256 / (end - begin))
    return np.clip(np.floor(scaled), 0, 255).astype("u1"), valid


def gray(
    values: Any, low: float, high: float, name: str = "gray", transform: str = "linear"
) -> Any:
    """Pixels (y, x, RGBA) of a plane."""
    level, valid = levels(values, low, high, transform)
    return with_alpha(colour_map(name)[level], valid)


def rgb(values: Any, low: float, high: float) -> Any:
    """Pixels of values (c, y, x)."""
    level, valid = levels(values, low, high)
    return with_alpha(np.moveaxis(level, 0, -1), valid.all(axis=0))


def channels(values: Any, looks: list[Any]) -> Any:
    """Pixels of values (c, y, x): each colour times its level; sums stop at white."""
    total = np.zeros((*values.shape[1:], 3), "i8")
    every = np.ones(values.shape[1:], bool)
    for plane, (low, high, colour, *gamma) in zip(values, looks, strict=True):
        level, valid = levels(plane, low, high)
        if gamma:
            level = np.floor(255 * (level / 255) ** gamma[0] + 0.5).astype("u1")
        parts = np.frombuffer(bytes.fromhex(colour), "u1").astype("i8")
        total += (level[..., None].astype("i8") * parts + 127) // 255
        every &= valid
    return with_alpha(total.clip(0, 255).astype("u1"), every)


def with_alpha(colours: Any, valid: Any) -> Any:
    pixels = np.zeros((*colours.shape[:2], 4), "u1")
    pixels[..., :3] = colours
    pixels[..., 3] = 255
    pixels[~valid] = 0
    return pixels


def wheel() -> Any:
    """The 55 colours of the wheel, as torchvision has them."""
    parts = []
    for sector, count in enumerate(WHEEL_SECTORS):
        part = np.zeros((count, 3))
        ramp = np.floor(255 * np.arange(count) / count)
        whole, rising = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)][sector]
        part[:, whole] = 255
        part[:, rising] = ramp if sector % 2 == 0 else 255 - ramp
        parts.append(part)
    return np.concatenate(parts) / 255


def flow(values: Any, longest: float) -> Any:
    """Pixels of motions (2, y, x), in 255 steps of the longest one."""
    motions = values.astype("f8")
    valid = np.isfinite(motions).all(axis=0)
    steps = np.where(valid, motions, 0) * (127 / longest)
    over = np.maximum(np.abs(steps).max(axis=0), 127) / 127
    steps = steps * (127 / (over * 127))
    u, v = (np.floor(steps + 128.5) - 128) / 127
    radius = np.sqrt(u * u + v * v)[..., None]
    position = (np.arctan2(-v, -u) / np.pi + 1) / 2 * 54
    first = np.floor(position).astype(int)
    part = (position - first)[..., None]
    colours = wheel()
    colour = (1 - part) * colours[first % 55] + part * colours[(first + 1) % 55]
    # The longest motion seems longer by half of a step along each axis.
    inside = radius <= 1 + np.sqrt(0.5) / 127
    colour = np.where(inside, 1 - np.minimum(1, radius) * (1 - colour), colour * 0.75)
    return with_alpha(np.floor(255 * colour + 1e-6).astype("u1"), valid)


def hue(turns: Any) -> Any:
    """Colours in 0 to 255 of hues in 0 to 1."""
    parts = []
    for shift in (5, 3, 1):
        h = (shift + turns * 6) % 6
        parts.append(np.floor(255 * (1 - np.maximum(0, np.minimum(np.minimum(h, 4 - h), 1))) + 0.5))
    return np.stack(parts, axis=-1).astype(int)


def labels(values: Any) -> Any:
    """Pixels of labels: colours by a hash of 32 bits, black for 0."""
    wide = values.astype("i8" if values.dtype.kind == "i" else "u8").view("u8")
    low, high = wide & np.uint64(0xFFFFFFFF), wide >> np.uint64(32)
    label = low ^ (high * np.uint64(0x9E3779B1) & np.uint64(0xFFFFFFFF))
    label[(label == 0) & (wide != 0)] = 1
    mask = np.uint64(0xFFFFFFFF)
    found = label
    for _ in range(2):
        found = ((found ^ (found >> np.uint64(16))) * np.uint64(0x45D9F3B)) & mask
    index = ((found ^ (found >> np.uint64(16))) & np.uint64(1023)).astype(int)
    colour = hue((index * 619 % 1024) / 1024)
    shade = np.array([255, 200, 150])[index % 3][..., None]
    pale = np.array([0, 60, 90])[(index >> 2) % 3][..., None]
    pixels = np.floor(np.maximum(colour, pale) * shade / 255)
    pixels[label == 0] = 0
    return with_alpha(pixels.astype("u1"), np.ones(label.shape, bool))


def mask(values: Any) -> Any:
    """Pixels of a mask."""
    bright = (values != 0)[..., None]
    valid = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(values.shape, bool)
    return with_alpha(np.where(bright, (255, 205, 64), (26, 28, 44)).astype("u1"), valid)


def complex_(values: Any, largest: float, least: float = 0, transform: str = "linear") -> Any:
    """Pixels of complex numbers: phase as hue, magnitude as brightness."""
    real, imaginary = values.real.astype("f8"), values.imag.astype("f8")
    magnitude = np.sqrt(real * real + imaginary * imaginary)
    # A magnitude is computed in float64, and not rounded as values of float64 are.
    level, valid = levels(magnitude.astype("g"), least, largest, transform)
    level[magnitude == 0], valid[magnitude == 0] = 0, True
    larger = np.maximum(np.abs(real), np.abs(imaginary))
    unit = np.divide(128, larger, out=np.zeros_like(larger), where=larger > 0)
    with np.errstate(invalid="ignore"):
        x = np.floor(real * unit + 128.5) - 128
        y = np.floor(imaginary * unit + 128.5) - 128
    turn = np.arctan2(y, x) / (2 * np.pi)
    turn = np.where(valid, turn, 0)
    phase = np.floor((turn - np.floor(turn)) * 256 + 1e-9).astype(int) & 255
    colour = hue(np.arange(256) / 256)[phase]
    return with_alpha(((colour * level[..., None].astype(int) + 127) // 255).astype("u1"), valid)


def hatched(pixels: Any, left: int, top: int, scale: int, missing: Any = None) -> Any:
    """Elements as squares on the screen, hatched where they are not valid or missing."""
    large = np.repeat(np.repeat(pixels, scale, axis=0), scale, axis=1)
    y, x = np.mgrid[top : top + large.shape[0], left : left + large.shape[1]]
    absent = np.zeros(pixels.shape[:2], bool) if missing is None else missing
    absent = np.repeat(np.repeat(absent, scale, axis=0), scale, axis=1)
    for name, where in (("invalid", (large[..., 3] == 0) & ~absent), ("missing", absent)):
        one, two, direction = HATCHINGS[name]
        lines = ((x + direction * y) & 7) < 4
        colours = np.where(lines[..., None], one, two)
        large[where, :3] = colours[where]
        large[where, 3] = 255
    return large
