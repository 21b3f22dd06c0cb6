"""Conventions that a node follows, in a word each: from its metadata alone."""

from __future__ import annotations

from typing import Any

from zarrix.viewer._ome import has_ome

__all__ = ["badges_of"]

_CF = frozenset({"standard_name", "units", "axis", "calendar", "grid_mapping", "coordinates"})


def badges_of(node: Any) -> list[str]:
    """OME, CF, GeoZarr, shards, refs: what fits."""
    attributes = node.attrs.asdict()
    badges = []
    if has_ome(attributes):
        badges.append("OME")
    if "Conventions" in attributes or _CF & attributes.keys():
        badges.append("CF")
    if any(str(name).startswith(("geo", "proj:", "spatial:")) for name in attributes):
        badges.append("Geo")
    metadata = getattr(node, "_metadata", None)
    if getattr(metadata, "shard_codec", None) is not None:
        badges.append("shards")
    if "Reference" in type(node.store).__name__:
        badges.append("refs")
    return badges
