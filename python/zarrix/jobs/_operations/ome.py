"""OME-Zarr metadata of a pyramid: axes, and the coordinates of each level.

References
----------
OME-Zarr specification 0.4 and 0.5, "multiscales".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["attributes_of", "check_axes", "default_axes"]

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


def attributes_of(
    version: str,
    *,
    name: str,
    axes: Sequence[str],
    paths: Sequence[str],
    factors: Sequence[int],
    method: str,
    scale: Mapping[str, float],
    units: Mapping[str, str],
) -> dict[str, Any]:
    """The attributes of the group.

    An element of level n covers ``factor ** n`` elements of level 0 along an axis. Its centre is
    the centre of these, except with "nearest", which takes the first one.
    """
    datasets = []
    for level, path in enumerate(paths):
        lengths = [factor**level for factor in factors]
        steps = [float(scale.get(axis, 1.0)) for axis in axes]
        moves: list[dict[str, Any]] = [
            {"type": "scale", "scale": [n * step for n, step in zip(lengths, steps, strict=True)]}
        ]
        if level and method != "nearest":
            centre = [(n - 1) / 2 * step for n, step in zip(lengths, steps, strict=True)]
            moves.append({"type": "translation", "translation": centre})
        datasets.append({"path": path, "coordinateTransformations": moves})
    multiscale: dict[str, Any] = {
        "name": name,
        "axes": [_axis(axis, units) for axis in axes],
        "datasets": datasets,
        "type": method,
    }
    if version == "0.4":
        return {"multiscales": [{"version": "0.4", **multiscale}]}
    return {"ome": {"version": version, "multiscales": [multiscale]}}


def _axis(name: str, units: Mapping[str, str]) -> dict[str, str]:
    axis = {"name": name, "type": _TYPES[name]} if name in _TYPES else {"name": name}
    return {**axis, "unit": units[name]} if name in units else axis
