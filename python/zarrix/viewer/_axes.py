"""The axes of an array: their names, their units, and which of them make a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._array.dimension_names import names_of
from zarrix.viewer._ome import multiscale_of

__all__ = ["Plane", "dims_of", "plane_of", "units_of"]

_ROWS = frozenset({"y", "lat", "latitude", "row", "rows", "height", "h", "northing"})
_COLUMNS = frozenset({"x", "lon", "long", "longitude", "col", "cols", "column", "width", "w",
                      "easting"})  # fmt: skip
_CHANNELS = frozenset({"c", "ch", "channel", "channels", "band", "bands", "rgb", "rgba",
                       "component", "components", "uv"})  # fmt: skip
_LONGEST = 200
# An unnamed axis of at most so many elements may count the numbers of a pixel.
_FEW = 4


@dataclass(frozen=True)
class Plane:
    """The axes that a picture has: rows, columns, and channels if there are any."""

    y: int
    x: int
    c: int | None = None

    def document(self) -> dict[str, int]:
        """The axes by name, without those that are absent."""
        found = {"y": self.y, "x": self.x}
        return found if self.c is None else {**found, "c": self.c}


def _ome_axes(group: Any, ndim: int) -> list[dict[str, Any]] | None:
    """The axes of a multiscale image; version 0.3 has names alone."""
    multiscale = None if group is None else multiscale_of(group.attrs.asdict())
    axes = None if multiscale is None else multiscale.get("axes")
    if not isinstance(axes, list) or len(axes) != ndim:
        return None
    return [one if isinstance(one, dict) else {"name": one} for one in axes]


def dims_of(array: Any, parent: Any) -> list[str | None]:
    """The name of each axis, from the array or from the OME-Zarr image that it belongs to."""
    names = list(names_of(array)) or [None] * array.ndim
    axes = _ome_axes(parent, array.ndim)
    if axes is not None and not any(names):
        names = [one.get("name") for one in axes]
    return [_shown(one) for one in names]


def units_of(array: Any, parent: Any) -> list[str | None]:
    """The unit of each axis, where OME-Zarr says it."""
    axes = _ome_axes(parent, array.ndim)
    found = [one.get("unit") for one in axes] if axes is not None else [None] * array.ndim
    return [_shown(one) for one in found]


def _shown(name: Any) -> str | None:
    """A name or a unit; None for anything else, and for what no axis is called."""
    return name if isinstance(name, str) and len(name) <= _LONGEST else None


def plane_of(shape: Sequence[int], dims: Sequence[str | None]) -> Plane | None:
    """Rows, columns and channels; None with fewer than two axes.

    Names decide. Without them the last two axes are rows and columns, unless the last one counts
    the few numbers of a pixel.
    """
    ndim = len(shape)
    if ndim < 2:
        return None
    names = [(name or "").casefold() for name in dims]
    c = next((i for i, name in enumerate(names) if name in _CHANNELS), None)
    y = next((i for i, name in enumerate(names) if name in _ROWS), None)
    x = next((i for i, name in enumerate(names) if name in _COLUMNS), None)
    if y is not None and x is not None:
        return Plane(y, x, c)
    is_unnamed = not any(names)
    if c is None and is_unnamed and ndim >= 3:
        c = _unnamed_channels(shape)
    rest = [axis for axis in range(ndim) if axis != c]
    if len(rest) < 2:
        return None
    return Plane(rest[-2], rest[-1], c)


def _unnamed_channels(shape: Sequence[int]) -> int | None:
    """The axis of the numbers of a pixel: the last one, or the third from the end."""
    rows, columns, last = shape[-3:]
    if 2 <= last <= _FEW < min(rows, columns):
        return len(shape) - 1
    if 2 <= rows <= _FEW < min(columns, last):
        return len(shape) - 3
    return None
