"""The drawing of an array and its chunks, as SVG.

The drawing has its own style, in ``currentColor`` with opacities, so that it suits light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from zarrix._errors import shorten
from zarrix._metadata.chunk_grid import AxisGrid

__all__ = ["Axis", "grid_svg"]

_SIDE = 140.0
_SMALLEST_SIDE = 16.0
# The third axis points backwards, at 45 degrees and at this part of its length.
_FORESHORTENED = 0.35
_MOST_LINES = 24
_MOST_BARS = 4
_LONGEST_NAME = 14
_LETTER = 6.2
_LINE = 14.0


@dataclass(frozen=True)
class Axis:
    """One axis: its name, its length, and its chunks; with shards, their inner chunks too."""

    name: str
    size: int
    chunks: AxisGrid
    inner: AxisGrid | None = None

    @property
    def label(self) -> str:
        name = (
            self.name if len(self.name) <= _LONGEST_NAME else f"{self.name[: _LONGEST_NAME - 1]}…"
        )
        return f"{name} {self.size}".strip()

    def boundaries(self) -> list[float]:
        """Where chunks meet, as fractions of the axis; only some if there are many."""
        count = self.chunks.count(self.size) - 1
        step = -(-count // _MOST_LINES) or 1
        return [self.chunks.chunk(k).begin / self.size for k in range(step, count + 1, step)]

    def inner_boundaries(self) -> list[float]:
        """Where inner chunks of the first shard meet, as fractions of the axis."""
        if self.inner is None:
            return []
        end = min(self.chunks.chunk(0).end, self.size)
        count = self.inner.count(end) - 1
        step = -(-count // _MOST_LINES) or 1
        return [self.inner.chunk(k).begin / self.size for k in range(step, count + 1, step)]


def grid_svg(axes: Sequence[Axis]) -> str:
    """The last three axes as a box in proportion, with a line where chunks meet.

    Shards have bold lines, and the first of them has its inner chunks. Each further axis is a bar.
    An array without elements has no drawing.
    """
    if any(axis.size == 0 for axis in axes):
        return ""
    single = Axis("", 1, AxisGrid(even=1))
    depth, rows, columns = (single, single, single, *axes)[-3:]
    longest = max(axis.size for axis in (depth, rows, columns))
    width, height, length = (
        max(_SIDE * axis.size / longest, _SMALLEST_SIDE) for axis in (columns, rows, depth)
    )
    shift = length * _FORESHORTENED if len(axes) > 2 else 0.0
    left, top = 1.0, shift + (_LINE if len(axes) > 2 else 1.0)

    faces = [f"M{left:.1f} {top:.1f}v{height:.1f}h{width:.1f}v{-height:.1f}z"]
    if shift:
        away, near = f"l{shift:.1f} {-shift:.1f}", f"l{-shift:.1f} {shift:.1f}z"
        faces.append(f"M{left:.1f} {top:.1f}{away}h{width:.1f}{near}")
        faces.append(f"M{left + width:.1f} {top:.1f}{away}v{height:.1f}{near}")
    back = f"l{shift:.1f} {-shift:.1f}" if shift else ""
    lines = [f"M{left:.1f} {top + height * at:.1f}h{width:.1f}{back}" for at in rows.boundaries()]
    lines += [
        f"M{left + width * at:.1f} {top + height:.1f}v{-height:.1f}{back}"
        for at in columns.boundaries()
    ]
    if shift:
        lines += [
            f"M{left + shift * at:.1f} {top - shift * at:.1f}h{width:.1f}v{height:.1f}"
            for at in depth.boundaries()
        ]
    sharded = any(axis.inner is not None for axis in axes)
    paths = "".join(_path(face, 1.0, ' fill="currentColor" fill-opacity="0.06"') for face in faces)
    paths += _path("".join(lines), 1.6 if sharded else 0.7)
    if sharded:
        paths += _path(_inner_lines(rows, columns, left, top, width, height), 0.5)

    right, bottom = left + width + shift, top + height
    texts = _labels(axes, left, top, width, height, shift)
    bars, bottom = _bars(axes[:-3], left, bottom + (_LINE if axes else 0) + 2)
    widest = max((len(axis.label) for axis in axes), default=0) * _LETTER
    return _document(axes, right + widest + 8, bottom + 4, f"{paths}{''.join(texts)}{bars}")


def _path(data: str, width: float, more: str = "") -> str:
    return f'<path d="{data}" stroke-width="{width}" stroke-opacity="0.6"{more}/>' if data else ""


def _inner_lines(
    rows: Axis, columns: Axis, left: float, top: float, width: float, height: float
) -> str:
    """The inner chunks of the first shard, on the front of the box."""
    end = [min(one.chunks.chunk(0).end, one.size) / one.size for one in (rows, columns)]
    lines = [
        f"M{left:.1f} {top + height * at:.1f}h{width * end[1]:.1f}"
        for at in rows.inner_boundaries()
    ]
    lines += [
        f"M{left + width * at:.1f} {top:.1f}v{height * end[0]:.1f}"
        for at in columns.inner_boundaries()
    ]
    return "".join(lines)


def _labels(
    axes: Sequence[Axis], left: float, top: float, width: float, height: float, shift: float
) -> list[str]:
    """Name and length of the last three axes, beside their edges."""
    places = [
        (left + width / 2, top + height + 11, "middle"),
        (left + width + shift + 4, top - shift + height / 2 + 4, "start"),
        (left, top - shift - 3, "start"),
    ]
    return [_text(axis, *place) for axis, place in zip(reversed(axes), places, strict=False)]


def _text(axis: Axis, x: float, y: float, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" stroke="none" fill="currentColor">'
        f"{escape(axis.label)}</text>"
    )


def _bars(axes: Sequence[Axis], left: float, top: float) -> tuple[str, float]:
    """A bar for each axis before the last three, and where the last bar ends."""
    drawn = ""
    for axis in axes[:_MOST_BARS]:
        lines = "".join(f"M{left + _SIDE * at:.1f} {top:.1f}v8" for at in axis.boundaries())
        drawn += f'<rect x="{left:.1f}" y="{top:.1f}" width="{_SIDE:.1f}" height="8"/>'
        drawn += _path(lines, 0.7) + _text(axis, left + _SIDE + 4, top + 8, "start")
        top += _LINE
    return drawn, top


def _document(axes: Sequence[Axis], width: float, height: float, drawn: str) -> str:
    shape = tuple(axis.size for axis in axes)
    parts = [f"shape {shorten(shape)}", f"chunks {_lengths([a.inner or a.chunks for a in axes])}"]
    if any(axis.inner is not None for axis in axes):
        parts.append(f"shards {_lengths([axis.chunks for axis in axes])}")
    label = escape(", ".join(parts))
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" role="img" aria-label="{label}" '
        # Beside a table that is wider than a notebook, it keeps its width.
        'style="flex: none" fill="none" stroke="currentColor" font-size="11">'
        f"<title>{label}</title>{drawn}</svg>"
    )


def _lengths(grid: Sequence[AxisGrid]) -> str:
    lengths = [axis.document() for axis in grid]
    return shorten(tuple(lengths) if all(axis.even for axis in grid) else lengths)
