"""A plane of an array as a picture of RGB, for terminals and PNG files.

The browser paints by itself, exactly. Here a plane is thinned out to the size that is asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarrix.viewer._answers import Refused
from zarrix.viewer._axes import dims_of, plane_of
from zarrix.viewer._colours import colour_map, flow_colours
from zarrix.viewer._cost import check_cost
from zarrix.viewer._guess import guess
from zarrix.viewer._parameters import Selected
from zarrix.viewer._smaller import smaller, step_of
from zarrix.viewer._tile_types import as_labels, tile_type

__all__ = ["KINDS", "Picture", "picture_of"]

KINDS = ("rgb", "gray", "flow", "depth", "labels", "mask", "complex")
_INVALID = (128, 0, 128)


@dataclass(frozen=True)
class Picture:
    """A picture, and what it shows.

    Attributes
    ----------
    image : ndarray of uint8, shape (height, width, 3)
    kind : str
    range : tuple of float or None
        The values of the ends of the colours.
    selection : str
        What was read, as text.
    """

    image: Any
    kind: str
    range: tuple[float, float] | None
    selection: str


def picture_of(
    node: Any,
    path: str,
    selection: str = "",
    *,
    kind: str | None = None,
    range: tuple[float, float] | None = None,
    size: tuple[int, int] = (1080, 1920),
) -> Picture:
    """A picture of a plane, which is the first one where the selection leaves several.

    Parameters
    ----------
    node : Array
    path : str
        By whose name the kind is guessed.
    selection : str
    kind : str, optional
        One of `KINDS`; a guess if omitted.
    range : tuple of float, optional
        The ends of the colours; the extremes of the plane if omitted.
    size : tuple of int
        The most rows and columns; every n-th element is taken, of JPEG chunks in the smallest
        size that has them.

    Raises
    ------
    Refused
        The array has no plane or no numbers, or its chunks are too large.
    """
    if tile_type(node.dtype) is None:
        raise Refused(400, f"values of {node.dtype} are not a picture; 'zarrix cat' prints them")
    dims = dims_of(node, None)
    selected = Selected(selection, node)
    plane = plane_of(node.shape, dims)
    guessed = guess(path, node.shape, node.dtype, dims)
    kind = kind or (guessed.kind if guessed.kind in KINDS else "gray")
    shown = [] if plane is None else [plane.y, plane.x]
    if kind in ("rgb", "flow") and plane is not None and plane.c is not None:
        shown.append(plane.c)
    axes: list[Any] = [
        one if isinstance(one, int) or axis in shown else one[0]
        for axis, one in enumerate(selected.axes)
    ]
    ranges = [axis for axis in shown[:2] if not isinstance(axes[axis], int) and axes[axis][2]]
    if plane is None or len(ranges) < 2:
        raise Refused(400, f"a picture has rows and columns, and this selection has not: {dims}")
    by = max(math.ceil(axes[axis][2] / most) for axis, most in zip(ranges, size, strict=True))
    by = step_of(node, by)
    for axis in ranges:
        start, step, count = axes[axis]
        axes[axis] = (start, step * by, -(-count // by))
    check_cost(node, axes)
    source, places = smaller(node, axes, ranges) or (node, axes)
    values = np.asarray(source[tuple(_key(one) for one in places)])
    kept = [axis for axis in sorted(shown) if not isinstance(axes[axis], int)]
    values = values.transpose([kept.index(axis) for axis in shown if axis in kept])
    image, ends = _painted(values, kind, range or guessed.range)
    return Picture(image, kind, ends, ",".join(_text(one) for one in axes))


def _key(axis: Any) -> Any:
    if isinstance(axis, int):
        return axis
    start, step, count = axis
    stop = start + step * count
    return slice(start, stop if stop >= 0 else None, step)


def _text(axis: Any) -> str:
    if isinstance(axis, int):
        return str(axis)
    start, step, count = axis
    stop = start + step * count
    return f"{start}:{stop if stop >= 0 else ''}" + ("" if step == 1 else f":{step}")


def _painted(values: Any, kind: str, ends: Any) -> tuple[Any, Any]:
    """The colours of a plane (rows, columns, numbers of a pixel), and the ends of their range."""
    if kind == "labels" and values.dtype.kind in "biu":
        return _of_labels(as_labels(values)), None
    numbers = _real(values)
    is_deep = numbers.ndim == 3
    if kind == "flow" and is_deep and numbers.shape[2] == 2:
        return _of_flow(numbers, ends)
    if is_deep and kind != "rgb":
        numbers = numbers[..., 0]
    ends = ends or _extremes(numbers)
    return _of_levels(numbers, kind, ends), ends


def _real(values: Any) -> Any:
    """Elements as float64: complex ones by their magnitude, times by their count."""
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind == "c":
            values = np.abs(values)
        elif values.dtype.kind in "mM":
            values = values.astype("i8")
        return values.astype("f8")


def _extremes(numbers: Any) -> tuple[float, float]:
    """The smallest and the largest finite number."""
    known = numbers[np.isfinite(numbers)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)


def _of_flow(numbers: Any, ends: Any) -> tuple[Any, tuple[float, float]]:
    """Motions by `flow_colours`, with the longest one or the given end as the full colour."""
    reach = np.hypot(numbers[..., 0], numbers[..., 1])
    is_finite = np.isfinite(reach)
    largest = float(ends[1]) if ends else float(reach[is_finite].max(initial=0)) or 1.0
    motion = np.nan_to_num(numbers)
    image = flow_colours(motion[..., 0], motion[..., 1], largest)
    return _marked(image, is_finite), (0.0, largest)


def _of_levels(numbers: Any, kind: str, ends: tuple[float, float]) -> Any:
    """Numbers between two ends by a colour map, or as red, green and blue."""
    low, high = ends
    is_finite = np.isfinite(numbers)
    scaled = (np.nan_to_num(numbers) - low) / ((high - low) or 1.0)
    level = np.clip(np.floor(scaled * 255 + 0.5), 0, 255).astype(np.uint8)
    if level.ndim == 3 and level.shape[2] >= 3:
        return _marked(level[..., :3], is_finite[..., :3].all(axis=-1))
    if level.ndim == 3:
        level, is_finite = level[..., 0], is_finite[..., 0]
    name = {"depth": "turbo", "gray": "viridis"}.get(kind, "gray")
    return _marked(colour_map(name)[level], is_finite)


def _marked(image: Any, finite: Any) -> Any:
    """The picture with one colour where values are not finite."""
    image = np.array(image)
    image[~finite] = _INVALID
    return image


def _of_labels(labels: Any) -> Any:
    """Colours that differ for near labels; 0 is black."""
    mixed = labels.astype("u8") * np.uint64(0x9E3779B97F4A7C15)
    channels = [(mixed >> np.uint64(shift)).astype("u1") // 2 + 96 for shift in (56, 40, 24)]
    image = np.stack(channels, axis=-1).astype(np.uint8)
    image[labels == 0] = 0
    return image
