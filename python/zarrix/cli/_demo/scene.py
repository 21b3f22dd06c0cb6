"""A moving picture made of numbers: what the demo stores, at any size, without a download.

Noise would not compress and flat colours would compress to nothing, and a codec that is timed on
either says little about pictures. This scene has the properties of photographs: texture whose
amplitude falls as one over its frequency, shading, hard edges, haze, and a trace of sensor noise. A
camera flies past mountains, a valley and hot-air balloons; everything moves by its distance.

The pictures are a pure function of the seed and the frame number, so any frame can be made again.
Everything at rest in the world moves by whole pixels, and the flow has their number: frame t
shifted by its flow is frame t + 1, except for the noise and for what comes into view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Hue = tuple[int, int, int]

_HORIZON = 0.50  # of the height of the picture, from the top
_FOCAL = 1.2  # of the height of the picture
_CAMERA_M = 12.0  # above the valley
_SPEED_M = 0.45  # sideways, in each frame
_PAN = 0.0018  # of the height of the picture, in each frame, for everything alike
_VALLEY_M = 700.0  # where the valley ends and the mountains begin
_SKY_M = 20000.0
_ENVELOPE_M = 8.5  # the radius of every balloon
_NOISE = 1.4  # grey levels, standard deviation
_HAZE = (214, 190, 186)


class Frame(NamedTuple):
    """One moment of the scene, channels first.

    rgb : uint8, (3, height, width)
    flow : float16, (2, height, width)
        Where each pixel goes until the next frame: right, then down, in pixels.
    depth : float16, (height, width)
        Distance from the camera in metres.
    """

    rgb: Bytes
    flow: NDArray[np.float16]
    depth: NDArray[np.float16]

    def reduced(self, factor: int) -> Frame:
        """The frame at 1/factor of its size: colours are averaged, flow and depth sampled.

        The average of a near and a far distance is a distance at which nothing is.
        """
        height, width = (n // factor for n in self.depth.shape)
        total = np.zeros((3, height, width), np.uint16)
        for dy in range(factor):
            for dx in range(factor):
                total += self.rgb[:, dy : height * factor : factor, dx : width * factor : factor]
        here = slice(factor // 2, None, factor)
        return Frame(
            ((total + factor * factor // 2) // (factor * factor)).astype(np.uint8),
            self.flow[:, here, here][:, :height, :width] / np.float16(factor),
            self.depth[here, here][:height, :width].copy(),
        )


class _Panel(NamedTuple):
    """A picture that stands upright in the world at one distance, and repeats sideways."""

    rgb: Bytes  # (3, rows, period)
    seen: NDArray[np.bool_]  # (rows, period), where it hides what is behind it
    top: int
    depth: float


@dataclass(frozen=True)
class _Balloon:
    """A turning, two-coloured envelope and its basket. Lengths are in pixels, angles in radians."""

    start: tuple[float, float]
    velocity: float
    bob: tuple[float, float]  # amplitude, phase
    radius: float
    depth: float
    turn: float  # in each frame
    gores: int
    colours: tuple[Hue, Hue]

    def centre(self, t: float, width: int) -> tuple[float, float]:
        """Its position in frame t; it leaves on one side and comes back, outside the picture,
        on the other.
        """
        span = width + 4 * self.radius
        x = (self.start[0] + self.velocity * t + 2 * self.radius) % span - 2 * self.radius
        return x, self.start[1] + self.bob[0] * float(np.sin(0.21 * t + self.bob[1]))

    def paint(self, side: Floats, down: Floats, girth: Floats, t: int) -> Floats:
        """The colours of the envelope in frame t.

        ``side`` runs from -1 at the left rim to 1 at the right; ``down`` and ``girth`` in radii.
        """
        angle = np.arcsin(side) + np.float32(self.turn * t)
        gore = angle * np.float32(self.gores / (2 * np.pi))
        stripe = (np.floor(gore) % 2 == 0) ^ (np.abs(down + 0.05) < 0.13)
        seam = 1 - 0.22 * np.exp(-400 * (((gore % 1) - 0.5) ** 2 - 0.25) ** 2)
        front = np.sqrt(1 - side * side)
        light = (0.62 - 0.40 * side * girth - 0.22 * down + 0.34 * front * girth) * seam
        one, two = (np.array(c, np.float32)[:, None, None] for c in self.colours)
        colour: Floats = np.where(stripe, one, two) * np.clip(light, 0.22, 1.08)
        return colour


def _relief(
    shape: tuple[int, int], falloff: float, rng: np.random.Generator, stretch: float = 1.0
) -> Floats:
    """A random field that repeats on all sides, of mean 0 and deviation 1.

    Its amplitude falls as ``frequency ** -falloff``, and ``stretch`` > 1 draws it out sideways.
    """
    height, width = shape
    down = np.fft.fftfreq(height, 1 / height).astype(np.float32)[:, None]
    across = np.fft.rfftfreq(width, 1 / width).astype(np.float32) * (stretch * height / width)
    power = down * down + across * across
    power[0, 0] = np.inf
    spectrum = np.empty(power.shape, np.complex64)
    spectrum.real = rng.standard_normal(power.shape, np.float32)
    spectrum.imag = rng.standard_normal(power.shape, np.float32)
    spectrum *= power ** np.float32(-falloff / 2)
    field: Floats = np.fft.irfft2(spectrum, shape).astype(np.float32)
    field /= field.std()
    return field


def _painted(colour: Floats) -> Bytes:
    """Colours as bytes, with room at both ends for the noise that is added later."""
    return np.clip(colour, 12, 243).astype(np.uint8)


def _gradient(level: Floats, stops: Sequence[float], hues: Sequence[Hue]) -> Floats:
    """The colour of each level, (3, ...), between the hues at the stops."""
    return np.stack(
        [np.interp(level, stops, [hue[channel] for hue in hues]) for channel in range(3)],
        dtype=np.float32,
        casting="same_kind",
    )


def _hazed(colour: Floats, haze: Floats | np.float32) -> Floats:
    """``colour`` (3, ...) seen through ``haze`` between 0 (clear) and 1."""
    air = np.array(_HAZE, np.float32).reshape((3,) + (1,) * (colour.ndim - 1))
    return colour + haze * (air - colour)


class Scene:
    """The moving picture of one seed; `frame` may be called for any frame number, in any order.

    Parameters
    ----------
    height, width : int
        Of the picture, in pixels.
    seed : int
        Another seed gives other mountains, balloons and noise.
    """

    def __init__(self, height: int, width: int, seed: int = 0) -> None:
        self.height, self.width, self.seed = height, width, seed
        rng = np.random.default_rng(seed)
        self._period = width + width // 4
        self._horizon = round(_HORIZON * height)
        self._focal = _FOCAL * height
        self._valley = self._row_at(_VALLEY_M)
        relief = _relief((height, self._period), 2.1, rng)
        self._back = [self._sky(rng)]
        self._back += [
            self._ridge(relief, depth, rise, hue, rng)
            for depth, rise, hue in (
                (9000.0, 0.33, (126, 132, 176)),
                (4000.0, 0.22, (92, 104, 146)),
                (1800.0, 0.15, (62, 84, 104)),
                (900.0, 0.08, (52, 82, 74)),
            )
        ]
        self._meadow = _relief((2048, 2048), 1.25, rng)
        self._ramp = self._meadow_colours()
        self._trees = [
            self._forest(relief, depth, count, rng)
            for depth, count in ((420.0, 90), (240.0, 44), (130.0, 18))
        ]
        self._balloons = self._fleet(rng)
        self._grain = np.clip(
            np.rint(_NOISE * rng.standard_normal((height + 256, width + 256), np.float32)), -9, 9
        ).astype(np.int8)

    def frame(self, t: int) -> Frame:
        """The scene in frame ``t``."""
        shape = (self.height, self.width)
        frame = Frame(
            np.empty((3, *shape), np.uint8),
            np.zeros((2, *shape), np.float16),
            np.empty(shape, np.float16),
        )
        for panel in self._back:
            self._draw_panel(frame, panel, t)
        self._draw_meadow(frame, t)
        nearer = [(b.depth, b) for b in self._balloons] + [(p.depth, p) for p in self._trees]
        for _, thing in sorted(nearer, key=lambda pair: -pair[0]):
            if isinstance(thing, _Panel):
                self._draw_panel(frame, thing, t)
            else:
                self._draw_balloon(frame, thing, t)
        self._add_grain(frame.rgb, t)
        return frame

    # Objects at rest move across the picture depending only on their distance.

    def _row_at(self, depth: float) -> int:
        """The row of the picture in which the ground is ``depth`` metres away."""
        return self._horizon + round(self._focal * _CAMERA_M / depth)

    def _speed(self, depth: float) -> float:
        """Pixels in each frame."""
        return _PAN * self.height + self._focal * _SPEED_M / depth

    def _shift(self, depth: float, t: int) -> int:
        """Pixels that something at rest, ``depth`` metres away, has moved left by frame ``t``."""
        return round(self._speed(depth) * t)

    # Painted once.

    def _sky(self, rng: np.random.Generator) -> _Panel:
        rows = self._valley
        up = np.linspace(1, 0, rows, dtype=np.float32)[:, None]
        stops = (0.0, 0.25, 0.6, 1.0)
        hues = ((243, 206, 160), (232, 190, 176), (142, 160, 204), (64, 98, 164))
        blue = _gradient(up, stops, hues)
        cloud = _relief((self.height, self._period), 1.75, rng, stretch=3.0)[:rows]
        cover = np.clip((cloud + 0.25) * 0.5, 0, 0.85) * np.clip(1.5 * up, 0.25, 1)
        lit = np.array([[[246]], [[226]], [[214]]], np.float32) - 26 * np.clip(cloud - 1, 0, 2)
        x = np.arange(self._period, dtype=np.float32) / self.height
        glow = np.exp(-(((x - 1.25) / 0.42) ** 2) - ((up - 0.12) / 0.3) ** 2)
        colour = blue + cover * (lit - blue)
        colour += glow * np.array([[[60]], [[38]], [[4]]], np.float32)
        return _Panel(_painted(colour), np.ones(cloud.shape, np.bool_), 0, _SKY_M)

    def _ridge(
        self,
        relief: Floats,
        depth: float,
        rise: float,
        hue: Hue,
        rng: np.random.Generator,
    ) -> _Panel:
        line = _relief((1, self._period), 1.25, rng)[0]
        crest = self._horizon - rise * self.height * (0.55 + 0.24 * line)
        top = max(0, int(crest.min()))
        rows = np.arange(top, self._valley, dtype=np.float32)[:, None]
        rock = np.roll(relief, int(rng.integers(self._period)), axis=1)[: len(rows)]
        slope = np.diff(rock, axis=1, append=rock[:, :1]) + np.diff(rock, axis=0, prepend=rock[:1])
        light = np.clip(0.80 + 0.20 * slope / slope.std(), 0.3, 1.5)
        below = (rows - crest) / (rise * self.height)
        colour = np.array(hue, np.float32)[:, None, None] * light
        if rise > 0.3:  # the highest carry snow
            snow = np.clip(4 * (0.24 - below + 0.12 * rock), 0, 1)
            white = np.array([[[222]], [[214]], [[224]]], np.float32) * (0.55 + 0.45 * light)
            colour += snow * (white - colour)
        colour = _hazed(colour, np.clip(0.18 + 0.62 * below, 0, 0.92))
        return _Panel(_painted(colour), rows >= crest, top, depth)

    def _forest(self, relief: Floats, depth: float, count: int, rng: np.random.Generator) -> _Panel:
        metre = self._focal / depth
        tallest = round(19 * metre)
        foot = self._row_at(depth)
        panel = _Panel(
            np.zeros((3, tallest, self._period), np.uint8),
            np.zeros((tallest, self._period), np.bool_),
            foot - tallest,
            depth,
        )
        haze = np.float32(min(0.75, depth / 700))
        needles = np.diff(relief[: tallest + 1], axis=0)
        needles /= needles.std()
        groves = rng.integers(0, self._period, max(3, count // 9))
        for _ in range(count):
            tall = max(6, round(metre * rng.uniform(9, 19)))
            half = max(2, round(tall * rng.uniform(0.15, 0.21)))
            middle = int(rng.choice(groves) + rng.normal() * 14 * metre)
            down = np.linspace(0, 1, tall, dtype=np.float32)[:, None]
            aside = np.linspace(-1, 1, 2 * half + 1, dtype=np.float32)
            tier = (down * 8) % 1
            columns = (middle + np.arange(-half, half + 1)) % self._period
            rough = needles[:tall, columns]
            spread = down * (0.62 + 0.38 * tier) * (1 + 0.10 * rough)
            shape = (np.abs(aside) < spread) & ((down < 0.94) | (np.abs(aside) < 0.08))
            light = 0.78 - 0.28 * aside / np.maximum(spread, 0.05) - 0.25 * tier + 0.16 * rough
            light = np.clip(light, 0.25, 1.5)
            hue = np.array([46, 74, 44], np.float32) * rng.uniform(0.85, 1.25)
            colour = _painted(_hazed(hue[:, None, None] * light, haze))
            rows = slice(tallest - tall, tallest)
            panel.rgb[:, rows, columns] = np.where(shape, colour, panel.rgb[:, rows, columns])
            panel.seen[rows, columns] |= shape
        return panel

    def _meadow_colours(self) -> Bytes:
        """The colour of each of 256 brightnesses in each row of the ground, (3, rows * 256)."""
        level = np.arange(256, dtype=np.float32)
        stops = (0, 70, 120, 165, 210, 255)
        hues = (
            (40, 62, 34),
            (74, 98, 44),
            (118, 128, 58),
            (168, 152, 76),
            (206, 178, 98),
            (232, 208, 140),
        )
        ramp = _gradient(level, stops, hues)
        rows = np.arange(self._valley, self.height, dtype=np.float32)
        depth = self._focal * _CAMERA_M / (rows - self._horizon)
        haze = np.clip(depth / _VALLEY_M, 0, 1)[:, None] ** np.float32(0.8) * np.float32(0.8)
        return _painted(_hazed(ramp[:, None, :], haze)).reshape(3, -1)

    def _fleet(self, rng: np.random.Generator) -> list[_Balloon]:
        paints = (
            ((222, 62, 50), (240, 214, 150)),
            ((38, 92, 150), (236, 232, 220)),
            ((236, 160, 44), (150, 44, 60)),
            ((44, 132, 116), (238, 226, 180)),
            ((120, 62, 140), (240, 170, 120)),
            ((226, 100, 56), (58, 66, 110)),
            ((200, 52, 96), (244, 220, 210)),
        )
        balloons = []
        for n, (at, colours) in enumerate(zip(rng.permutation(len(paints)), paints, strict=True)):
            depth = 46 * 1.45**n
            wind = float(rng.uniform(-0.3, 1.3))
            balloons.append(
                _Balloon(
                    start=(
                        self.width * (at + float(rng.uniform(0.25, 0.75))) / len(paints),
                        self.height * float(rng.uniform(0.16, 0.30) + 0.02 * n),
                    ),
                    velocity=wind * self._focal / depth - self._speed(depth),
                    bob=(self.height * 0.03, float(rng.uniform(0, 6.28))),
                    radius=_ENVELOPE_M * self._focal / depth,
                    depth=depth,
                    turn=float(rng.choice((-1, 1)) * rng.uniform(0.02, 0.06)),
                    gores=int(rng.choice((8, 12, 16))),
                    colours=colours,
                )
            )
        return balloons

    # Drawn in each frame.

    def _pieces(self, shift: int) -> Iterator[tuple[slice, slice]]:
        """The parts of the picture and of a panel that fall on each other after ``shift``."""
        at = 0
        while at < self.width:
            source = (shift + at) % self._period
            count = min(self.width - at, self._period - source)
            yield slice(at, at + count), slice(source, source + count)
            at += count

    def _draw_panel(self, frame: Frame, panel: _Panel, t: int) -> None:
        shift = self._shift(panel.depth, t)
        step = shift - self._shift(panel.depth, t + 1)
        rows = slice(panel.top, panel.top + len(panel.seen))
        for here, there in self._pieces(shift):
            seen = panel.seen[:, there]
            np.copyto(frame.rgb[:, rows, here], panel.rgb[:, :, there], where=seen)
            np.copyto(frame.flow[0, rows, here], np.float16(step), where=seen)
            np.copyto(frame.depth[rows, here], np.float16(panel.depth), where=seen)

    def _draw_meadow(self, frame: Frame, t: int) -> None:
        """The ground, row by row: each row has its own distance."""
        rows = np.arange(self._valley, self.height)
        depth = self._focal * _CAMERA_M / (rows - self._horizon)
        shift = np.array([self._shift(d, t) for d in depth])
        step = shift - [self._shift(d, t + 1) for d in depth]
        across = (np.arange(self.width) - self.width // 2)[None, :] + shift[:, None]
        across_m = across.astype(np.float32) * (depth / self._focal).astype(np.float32)[:, None]
        coarse = self._ground(across_m, depth, 2.6)
        fine = self._ground(across_m, depth, 47.0)
        fade = np.clip(30 / depth, 0.12, 1).astype(np.float32)[:, None]
        level = np.clip(132 + 38 * coarse + 34 * fade * fine, 0, 255).astype(np.int32)
        level += (np.arange(len(rows), dtype=np.int32) * 256)[:, None]
        np.take(self._ramp, level, axis=1, out=frame.rgb[:, self._valley :], mode="clip")
        frame.flow[0, self._valley :] = step[:, None]
        frame.flow[1, self._valley :] = 0
        frame.depth[self._valley :] = depth[:, None]

    def _ground(self, across_m: Floats, depth: NDArray[np.float64], per_metre: float) -> Floats:
        """The texture of the ground at each pixel, ``per_metre`` of its samples to the metre."""
        size = len(self._meadow)  # a power of two: the mask is the remainder
        column = np.floor(across_m * np.float32(per_metre)).astype(np.int32) & (size - 1)
        row = np.floor(depth * per_metre).astype(np.int32) & (size - 1)
        texture: Floats = self._meadow.ravel().take(row[:, None] * size + column, mode="clip")
        return texture

    def _draw_balloon(self, frame: Frame, balloon: _Balloon, t: int) -> None:
        (x, y), (next_x, next_y) = (balloon.centre(s, self.width) for s in (t, t + 1))
        r = balloon.radius
        left, right = max(0, int(x - r)), min(self.width, int(x + r) + 2)
        top, bottom = max(0, int(y - r)), min(self.height, int(y + 1.95 * r) + 2)
        if left >= right or top >= bottom:
            return
        across = (np.arange(left, right, dtype=np.float32) - np.float32(x)) / np.float32(r)
        down = ((np.arange(top, bottom, dtype=np.float32) - np.float32(y)) / np.float32(r))[:, None]
        # A ball whose lower part runs straight into a narrow mouth.
        ball = np.sqrt(np.clip(1 - down * down, 0, 1))
        girth = np.where(down < 0.5, ball, np.clip(0.866 - 0.72 * (down - 0.5), 0.12, 1))
        envelope = (np.abs(across) < girth) & (down < 1.45)
        side = np.clip(across / np.maximum(girth, 1e-3), -1, 1)
        bulge = np.where(envelope, girth * np.sqrt(1 - side * side), 0)

        colour = balloon.paint(side, down, girth, t)
        basket = (np.abs(across) < 0.13) & (down > 1.70) & (down < 1.92)
        colour = np.where(basket, np.array([[[92]], [[62]], [[40]]]) * (1 - 1.5 * across), colour)
        ropes = (np.abs(np.abs(across) - 0.12) < 0.012) & (down >= 1.45) & (down <= 1.70)
        colour = np.where(ropes, 40, colour).astype(np.float32)
        haze = np.float32(min(0.55, balloon.depth / 900))
        # The envelope turns as it flies: its front goes sideways, its rim hardly at all.
        turned = np.sin(np.arcsin(side) - np.float32(balloon.turn)) - side
        drift = next_x - x + np.where(envelope, girth * turned, 0) * r

        here = (slice(top, bottom), slice(left, right))
        seen = envelope | basket | ropes
        np.copyto(frame.rgb[:, *here], _painted(_hazed(colour, haze)), where=seen)
        np.copyto(frame.flow[0, *here], drift.astype(np.float16), where=seen)
        np.copyto(frame.flow[1, *here], np.float16(next_y - y), where=seen)
        nearest = balloon.depth - bulge * _ENVELOPE_M
        np.copyto(frame.depth[here], nearest.astype(np.float16), where=seen)

    def _add_grain(self, rgb: Bytes, t: int) -> None:
        """Noise that no two frames or channels share: one field, read from random places."""
        rng = np.random.default_rng((self.seed, t))
        for channel in rgb:
            top, left = rng.integers(0, 257, 2)
            grain = self._grain[top : top + self.height, left : left + self.width]
            # Bytes wrap, and `_painted` keeps every colour far enough from both ends.
            channel += grain.view(np.uint8)
