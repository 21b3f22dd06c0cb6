"""The contact sheet: one moment of the data set in three views, and crops as training sees them.

All pixels come from the stored arrays. Flow is drawn on the colour wheel (hue is direction, white
is rest), depth by a palette over its logarithm and lit from the upper left as if it were a relief.
Both are averaged among neighbours that differ by no more than a step of what is stored. The steps
would show as stripes and rings: things at rest move by whole pixels, and depth is float16.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Hue = tuple[int, int, int]

_WIDTH, _MARGIN, _GAP, _COLUMNS = 1960, 44, 16, 6
_PAPER, _INK, _FAINT = (17, 19, 25), (236, 237, 242), (140, 145, 160)
_FINER = 4  # text is drawn so many times as large: FreeType puts small digits at uneven distances
_DEPTH_STOPS = (
    (0.00, (252, 246, 190)),
    (0.18, (252, 178, 92)),
    (0.38, (226, 88, 74)),
    (0.58, (140, 44, 110)),
    (0.80, (62, 28, 104)),
    (1.00, (16, 14, 46)),
)


def flow_picture(flow: Floats, fastest: float) -> Bytes:
    """Flow as colour: the hue is where to, the saturation how far, up to ``fastest`` pixels.

    The saturation grows as the root of the speed, or slow motion would look like none.

    Parameters
    ----------
    flow : float32, (2, height, width)
    fastest : float

    Returns
    -------
    uint8, (height, width, 3)
    """
    right, down = flow
    hue = np.arctan2(down, right) / np.float32(2 * np.pi)
    strength = np.sqrt(np.clip(np.hypot(right, down) / np.float32(fastest), 0, 1))[..., None]
    thirds = np.array([0, -1 / 3, 1 / 3], np.float32)
    pure = 0.5 + 0.5 * np.cos(2 * np.pi * (hue[..., None] + thirds))
    colour = 1 - strength * (1 - pure ** np.float32(0.8)) - 0.10 * strength
    return np.asarray(255 * np.clip(colour, 0, 1), np.uint8)


def depth_picture(depth: Floats, nearest: float, farthest: float, relief: float = 0.0) -> Bytes:
    """Depth as a lit relief: near is bright, far is dark, and edges stand out.

    Parameters
    ----------
    depth : float32, (height, width)
    nearest, farthest : float
        The ends of the palette, in metres.
    relief : float
        How high the relief stands, in pixels from the farthest to the nearest; 0 is flat.

    Returns
    -------
    uint8, (height, width, 3)
    """
    low, high = math.log(nearest), math.log(farthest)
    distance = np.log(np.maximum(depth, 1e-3))
    if relief:
        for axis in (0, 1):
            distance = levelled(distance, 4 * 2.0**-11, 8, axis)
    level = (distance - low) / max(high - low, 1e-6)
    at = [stop for stop, _ in _DEPTH_STOPS]
    colour = np.stack(
        [np.interp(level, at, [c[channel] for _, c in _DEPTH_STOPS]) for channel in range(3)],
        axis=-1,
    )
    down, across = np.gradient(-level * relief)
    light = (1 + 0.5 * across + 0.6 * down) / np.sqrt(1 + across**2 + down**2)
    lit = colour * np.clip(0.42 + 0.58 * light, 0.25, 1.25)[..., None]
    return np.asarray(np.clip(lit, 0, 255), np.uint8)


def levelled(field: Floats, step: float, reach: int, axis: int) -> Floats:
    """The mean of each element and its neighbours that differ from it by at most ``step``.

    Parameters
    ----------
    field : float32, (..., height, width)
    step : float
        Edges that are higher stay sharp.
    reach : int
        How many neighbours before and behind are asked.
    axis : int
        Along which they lie.

    Returns
    -------
    float32, the shape of ``field``
    """
    lines = np.moveaxis(field, axis, 0)
    total, count = lines.copy(), np.ones(lines.shape, np.float32)
    for by in range(1, min(reach, len(lines) - 1) + 1):
        before, behind = lines[:-by], lines[by:]
        near = np.abs(behind - before) <= step
        total[:-by] += near * behind
        total[by:] += near * before
        count[:-by] += near
        count[by:] += near
    return np.asarray(np.moveaxis(total / count, 0, axis), np.float32)


def choose(crops: Sequence[tuple[int, int, int]], depth: Any, factor: int, size: int) -> list[int]:
    """The numbers of the crops that show most: near and far at once, and not the same things.

    Parameters
    ----------
    crops : sequence of (frame, top, left)
    depth : array of (frames, height, width)
        At 1/factor of the size that the crops are given in.
    factor, size : int
    """
    near = []
    for t, top, left in crops:
        rows = slice(top // factor, (top + size) // factor, 4)
        columns = slice(left // factor, (left + size) // factor, 4)
        near.append(float(np.std(np.log(depth[t, rows, columns].astype(np.float32)))))
    chosen: list[int] = []
    for spread in (0.7, 0.4, 0.0):
        for n in sorted(range(len(crops)), key=lambda n: -near[n]):
            apart = all(math.dist(crops[n][1:], crops[m][1:]) >= spread * size for m in chosen)
            if n not in chosen and apart and len(chosen) < _COLUMNS:
                chosen.append(n)
    return sorted(chosen, key=lambda n: crops[n])


def draw(
    root: Any, halves: str, crops: Sequence[tuple[int, int, int]], size: int, title: str, path: Path
) -> None:
    """Write the contact sheet of an opened data set as a PNG.

    Parameters
    ----------
    root : Group
    halves : str
        The group with rgb, flow and depth at half the size of ``gt``.
    crops : sequence of (frame, top, left)
        In pixels of ``gt``; the most telling ones are drawn.
    size : int
        The side of the crops.
    title : str
    path : Path
    """
    gt, half = root["gt"], root[halves]
    shown = [crops[n] for n in choose(crops, half["depth"], 2, size)]
    t = shown[0][0]
    whole = (half["flow"][t].astype(np.float32), half["depth"][t].astype(np.float32))
    palette = _Palette(
        fastest=float(np.percentile(np.hypot(*whole[0]), 99)) or 1.0,
        ends=(float(whole[1].min()), float(whole[1].max())),
        relief=2.0 * len(whole[1]),
    )
    views = [[half["rgb"][t].transpose(1, 2, 0), *palette.pictures(*whole)]]
    for t, top, left in shown:
        box = (slice(top // 2, (top + size) // 2), slice(left // 2, (left + size) // 2))
        flow = half["flow"][t, :, *box].astype(np.float32)
        depth = half["depth"][t, *box].astype(np.float32)
        rgb = gt[t, :, top : top + size, left : left + size].transpose(1, 2, 0)
        views.append([rgb, *palette.pictures(flow, depth)])
    sheet = _Sheet(whole_shape=whole[1].shape)
    sheet.text((_MARGIN, 34), "zarrix demo", 40, _INK)
    sheet.text((_MARGIN, 84), title, 20, _FAINT)
    for column, (view, name) in enumerate(
        zip(views[0], ("rgb, uint8", "flow, float16", "depth, float16"), strict=True)
    ):
        sheet.wide(column, view, name)
    for column, (crop, pictures) in enumerate(zip(shown, views[1:], strict=True)):
        for row, picture in enumerate(pictures):
            sheet.square(column, row, picture)
        sheet.caption(column, "frame {} at {}, {}".format(*crop))
    sheet.legend(palette.fastest, palette.ends)
    # Half the time of the default level, 6, and 1% more bytes.
    sheet.picture.save(path, format="PNG", compress_level=4)


@dataclass(frozen=True)
class _Palette:
    """The scales of all flow and depth of a sheet.

    fastest : float
        Pixels of ``gt`` at half its size.
    ends : tuple of float
        The nearest and the farthest depth.
    relief : float
    """

    fastest: float
    ends: tuple[float, float]
    relief: float

    def pictures(self, flow: Floats, depth: Floats) -> tuple[Bytes, Bytes]:
        # A whole pixel of ``gt`` is half a pixel here; a row's speed and the next one's differ by
        # a tenth of a pixel at most, so that a few rows have all the ways to round it.
        smooth = levelled(flow, 0.51, 14, axis=1)
        return (
            flow_picture(smooth, self.fastest),
            depth_picture(depth, *self.ends, self.relief),
        )


class _Sheet:
    """A page with three wide views on top and columns of three squares below."""

    def __init__(self, whole_shape: tuple[int, ...]) -> None:
        inner = _WIDTH - 2 * _MARGIN
        self._wide = (inner - 2 * _GAP) // 3
        self._high = round(self._wide * whole_shape[0] / whole_shape[1])
        self._side = (inner - (_COLUMNS - 1) * _GAP) // _COLUMNS
        self._top = 136
        self._grid = self._top + self._high + 46
        height = self._grid + 3 * (self._side + _GAP) + 20 + _MARGIN
        self.picture = Image.new("RGB", (_WIDTH, height), _PAPER)

    def text(
        self,
        at: tuple[int, int],
        line: str,
        size: int,
        ink: Hue,
        anchor: str = "la",
    ) -> None:
        font = ImageFont.load_default(_FINER * size)
        left, top, right, bottom = (int(edge) for edge in font.getbbox(line, anchor=anchor))
        # Whole pixels of the sheet around the origin of the text.
        left, top = left // _FINER - 1, top // _FINER - 1
        right, bottom = -(-right // _FINER) + 1, -(-bottom // _FINER) + 1
        fine = Image.new("L", (_FINER * (right - left), _FINER * (bottom - top)))
        origin = (-_FINER * left, -_FINER * top)
        ImageDraw.Draw(fine).text(origin, line, 255, font, anchor=anchor)
        mask = fine.reduce(_FINER)
        self.picture.paste(ink, (at[0] + left, at[1] + top), mask)

    def wide(self, column: int, view: Bytes, name: str) -> None:
        left = _MARGIN + column * (self._wide + _GAP)
        self._paste(view, (left, self._top), (self._wide, self._high))
        self.text((left, self._top + self._high + 8), name, 18, _FAINT)

    def square(self, column: int, row: int, view: Bytes) -> None:
        left = _MARGIN + column * (self._side + _GAP)
        self._paste(view, (left, self._grid + row * (self._side + _GAP)), (self._side, self._side))

    def caption(self, column: int, text: str) -> None:
        left = _MARGIN + column * (self._side + _GAP)
        self.text((left, self._grid + 3 * (self._side + _GAP) - 4), text, 18, _FAINT)

    def legend(self, fastest: float, ends: tuple[float, float]) -> None:
        """The colour wheel beside the name of the flow, the palette beside that of the depth."""
        reach = np.linspace(-1, 1, 4 * 26, dtype=np.float32)
        wheel = flow_picture(np.stack(np.meshgrid(reach, reach)), 1.0)
        inside = np.hypot(*np.meshgrid(reach, reach)) <= 1
        disc = Image.fromarray(wheel).resize((26, 26), Image.Resampling.LANCZOS)
        mask = Image.fromarray((255 * inside).astype(np.uint8)).resize((26, 26))
        below = self._top + self._high + 6
        right = _MARGIN + 2 * self._wide + _GAP
        self.picture.paste(disc, (right - 26, below), mask)
        self.text((right - 36, below + 2), f"up to {fastest:.0f} px", 18, _FAINT, "ra")

        ramp = np.geomspace(*ends, 160, dtype=np.float32)[None].repeat(12, 0)
        right = _MARGIN + 3 * self._wide + 2 * _GAP
        far = _metres(ends[1])
        start = right - 10 - round(ImageFont.load_default(18).getlength(far))
        flat = depth_picture(np.ascontiguousarray(ramp), *ends)
        self.text((right, below + 2), far, 18, _FAINT, "ra")
        self.picture.paste(Image.fromarray(flat), (start - 160, below + 7))
        self.text((start - 170, below + 2), _metres(ends[0]), 18, _FAINT, "ra")

    def _paste(self, view: Bytes, at: tuple[int, int], size: tuple[int, int]) -> None:
        view = np.ascontiguousarray(view)
        self.picture.paste(Image.fromarray(view).resize(size, Image.Resampling.LANCZOS), at)


def _metres(distance: float) -> str:
    return f"{distance / 1000:.0f} km" if distance >= 1000 else f"{distance:.0f} m"
