"""OME-Zarr metadata of a pyramid: axes, and the coordinates of each level.

References
----------
OME-Zarr specification 0.4 and 0.5, "multiscales".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Multiscale", "check_axes", "default_axes"]

_TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
_NAMES = "tczyx"
_SPACE = "zyx"


def default_axes(ndim: int, names: Sequence[str | None] | None) -> tuple[str, ...]:
    """The names of the axes: those of the array, else the last ones of ``tczyx``."""
    if names is not None and len(names) == ndim and all(names):
        return tuple(str(name) for name in names)
    return tuple(_NAMES[-ndim:]) if ndim <= len(_NAMES) else tuple(f"d{i}" for i in range(ndim))


def check_axes(axes: Sequence[str]) -> None:
    """Raise an error for axes that OME-Zarr does not allow."""
    space = [name for name in axes if name in _SPACE]
    others = [name for name in axes if name not in _SPACE]
    in_order = list(axes) == others + space and len(set(axes)) == len(axes)
    one_more = len(others) - (others[:1] == ["t"]) <= 1 and "t" not in others[1:]
    if not (in_order and 2 <= len(space) <= 3 and one_more):
        raise ValueError(
            f"axes={''.join(axes)!r} are not those of an OME-Zarr image, which has two or three of "
            "'zyx' after a time 't' and a channel 'c' or another axis; pass axes=, or ome=False"
        )


@dataclass(frozen=True)
class Multiscale:
    """A pyramid, as OME-Zarr describes it.

    Attributes
    ----------
    name : str
    axes : sequence of str
    factors : sequence of int
        By how much each axis shrinks from level to level.
    method : str
    scale : mapping of str to float
        The distances of elements of level 0 along axes.
    units : mapping of str to str
    """

    name: str
    axes: Sequence[str]
    factors: Sequence[int]
    method: str
    scale: Mapping[str, float]
    units: Mapping[str, str]

    def attributes(self, version: str, paths: Sequence[str]) -> dict[str, Any]:
        """The attributes of the group of levels."""
        multiscale: dict[str, Any] = {
            "name": self.name,
            "axes": [_axis(axis, self.units) for axis in self.axes],
            "datasets": [self._dataset(level, path) for level, path in enumerate(paths)],
            "type": self.method,
        }
        if version == "0.4":
            return {"multiscales": [{"version": "0.4", **multiscale}]}
        return {"ome": {"version": version, "multiscales": [multiscale]}}

    def _dataset(self, level: int, path: str) -> dict[str, Any]:
        """A level, and where its elements lie.

        An element of level n covers ``factor ** n`` elements of level 0 along an axis. Its centre
        is the centre of these, except with "nearest", which takes the first one.
        """
        lengths = [factor**level for factor in self.factors]
        steps = [float(self.scale.get(axis, 1.0)) for axis in self.axes]
        moves: list[dict[str, Any]] = [
            {"type": "scale", "scale": [n * step for n, step in zip(lengths, steps, strict=True)]}
        ]
        if level and self.method != "nearest":
            centre = [(n - 1) / 2 * step for n, step in zip(lengths, steps, strict=True)]
            moves.append({"type": "translation", "translation": centre})
        return {"path": path, "coordinateTransformations": moves}


def _axis(name: str, units: Mapping[str, str]) -> dict[str, str]:
    axis = {"name": name, "type": _TYPES[name]} if name in _TYPES else {"name": name}
    return {**axis, "unit": units[name]} if name in units else axis
