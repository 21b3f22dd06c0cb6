"""Names of ``zarr.codecs.cast_value``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from zarrix._codecs.classes import CastValue

__all__ = ["CastValue", "ScalarMap", "parse_scalar_map"]


class ScalarMap(TypedDict, total=False):
    """Values that are stored as other values, by direction."""

    encode: dict[Any, Any]
    decode: dict[Any, Any]


def parse_scalar_map(obj: Any) -> ScalarMap:
    """The mappings of a document, which has pairs, as dicts."""
    found: Any = {}
    for direction in ("encode", "decode"):
        pairs = obj.get(direction)
        if pairs is not None:
            items = pairs.items() if isinstance(pairs, Mapping) else pairs
            found[direction] = dict(items)
    result: ScalarMap = found
    return result
