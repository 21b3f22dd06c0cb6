"""What OME-Zarr says of an image, in the attributes of its group.

Version 0.5 has a member ``ome``; before it, its members were attributes themselves. Everything here
is written by others: what has another form than the specification says is as if it were absent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["channels_of", "has_ome", "multiscale_of", "scales_of"]

_MAX_CHANNELS = 64


def _ome_of(attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    ome = attributes.get("ome")
    return ome if isinstance(ome, dict) else attributes


def has_ome(attributes: Mapping[str, Any]) -> bool:
    """Whether anything of OME-Zarr is there: an image, a plate, labels."""
    ome = _ome_of(attributes)
    return "multiscales" in attributes or (ome is not attributes and bool(ome))


def multiscale_of(attributes: Mapping[str, Any]) -> dict[str, Any] | None:
    """The first multiscale image."""
    multiscales = _ome_of(attributes).get("multiscales")
    if isinstance(multiscales, list) and multiscales and isinstance(multiscales[0], dict):
        return multiscales[0]
    return None


def scales_of(
    attributes: Mapping[str, Any], name: str, ndim: int
) -> list[tuple[float, float]] | None:
    """The step and the begin of each axis of the level ``name``; None if they are not said."""
    multiscale = multiscale_of(attributes) or {}
    datasets = multiscale.get("datasets")
    listed = datasets if isinstance(datasets, list) else []
    level: Any = next(
        (one for one in listed if isinstance(one, dict) and one.get("path") == name), {}
    )
    steps, begins, is_scaled = [1.0] * ndim, [0.0] * ndim, False
    for described in (level, multiscale):
        transforms = described.get("coordinateTransformations")
        for one in transforms if isinstance(transforms, list) else []:
            kind = one.get("type") if isinstance(one, dict) else None
            numbers: Any = one.get(kind) if kind in ("scale", "translation") else None
            if not _are_numbers(numbers, ndim):
                continue
            if kind == "scale":
                steps = [a * b for a, b in zip(steps, numbers, strict=True)]
                begins = [a * b for a, b in zip(begins, numbers, strict=True)]
                is_scaled = True
            else:
                begins = [a + b for a, b in zip(begins, numbers, strict=True)]
    return list(zip(steps, begins, strict=True)) if is_scaled else None


def _are_numbers(listed: Any, count: int) -> bool:
    if not isinstance(listed, list) or len(listed) != count:
        return False
    return all(isinstance(one, int | float) and math.isfinite(one) for one in listed)


def channels_of(attributes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The channels that ``omero`` describes: name, colour and range of each."""
    omero = _ome_of(attributes).get("omero")
    listed = omero.get("channels") if isinstance(omero, dict) else None
    if not isinstance(listed, list):
        return None
    return [_channel(item if isinstance(item, dict) else {}) for item in listed[:_MAX_CHANNELS]]


def _channel(described: Mapping[str, Any]) -> dict[str, Any]:
    window = described.get("window")
    window = window if isinstance(window, dict) else {}
    ends = [window.get("start"), window.get("end")]
    colour = str(described.get("color", ""))
    is_hex = len(colour) == 6 and all(c in "0123456789abcdefABCDEF" for c in colour)
    return {
        "name": str(described.get("label", ""))[:200],
        "color": f"#{colour.lower()}" if is_hex else None,
        "range": ends if all(isinstance(end, int | float) for end in ends) else None,
        "active": bool(described.get("active", True)),
    }
