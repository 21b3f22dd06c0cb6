"""What pieces must have in common, and the CF conventions by which their elements are decoded."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._errors import VirtualError
from zarrix.virtual._given import Given

__all__ = ["check_meaning", "decoded_dtype", "decoding", "is_packed", "is_same", "kept_attributes"]

# Attributes that say what elements mean; values of different meanings are never put together.
_PACKING = ("scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned")
_MEANING = (
    "units",
    "calendar",
    "flag_values",
    "flag_masks",
    "flag_meanings",
    "grid_mapping",
    "cell_methods",
)


def check_meaning(pieces: Sequence[Given], decode: str | None) -> None:
    """Raise an error if the elements of two pieces do not mean the same.

    Raises
    ------
    VirtualError
        It names both pieces, and both values.
    """
    names = _MEANING if decode else (*_MEANING, *_PACKING)
    first = pieces[0]
    for other in pieces[1:]:
        for name in names:
            mine, theirs = first.attributes.get(name), other.attributes.get(name)
            if is_same(mine, theirs) or (_is_nan(mine) and _is_nan(theirs)):
                continue
            advice = "; decode='cf' decodes each piece by its own" if name in _PACKING else ""
            raise VirtualError(
                f"the attribute {name!r} is {mine!r} in {first.told}, and {theirs!r} in "
                f"{other.told}{advice}"
            )


def _is_nan(value: Any) -> bool:
    """Whether a fill value is NaN, which is missing also where no attribute says so."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_same(mine: Any, theirs: Any) -> bool:
    """Whether two values of attributes are equal; NaN is equal to itself.

    Examples
    --------
    >>> is_same(float("nan"), float("nan")), is_same([1], [1.0]), is_same(1, None)
    (True, True, False)
    """
    if isinstance(mine, list) and isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(is_same, mine, theirs))
    if isinstance(mine, float) and isinstance(theirs, float) and math.isnan(mine):
        return math.isnan(theirs)
    return bool(mine == theirs)


def kept_attributes(pieces: Sequence[Given], decode: str | None) -> Mapping[str, Any]:
    """The attributes of the whole: those of the first piece, without what was decoded."""
    dropped = _PACKING if decode else ()
    return {name: one for name, one in pieces[0].attributes.items() if name not in dropped}


def is_packed(piece: Given) -> bool:
    """Whether the elements of a piece are numbers that ``decode="cf"`` would change."""
    return piece.dtype.kind in "iuf" and any(name in piece.attributes for name in _PACKING)


def decoding(piece: Given) -> dict[str, Any]:
    """How the elements of a piece are decoded, as members of its row."""
    attributes = piece.attributes
    if attributes.get("_Unsigned") is not None:
        raise VirtualError(
            f"{piece.told} has the attribute '_Unsigned', which decode= does not know"
        )
    if piece.dtype.kind not in "iuf":
        raise VirtualError(f"{piece.told} has dtype {piece.dtype}; decode='cf' is for numbers")
    found: dict[str, Any] = {}
    for name, key, default in (("scale_factor", "scale", 1.0), ("add_offset", "offset", 0.0)):
        value = attributes.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise VirtualError(f"the attribute {name!r} of {piece.told} is {value!r}, not a number")
        if value != default:
            found[key] = float(value)
    fills = [*_numbers(attributes.get("_FillValue")), *_numbers(attributes.get("missing_value"))]
    if piece.metadata.zarr_format == 2 and piece.metadata.fill_value is not None:
        fills.append(piece.metadata.fill_value.item())
    fills = [one for one in dict.fromkeys(fills) if one == one]
    if fills:
        found["nan"] = fills
    return found


def _numbers(value: Any) -> Iterable[Any]:
    """The numbers of an attribute with a fill value, which xarray writes as base64 in v3."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and len(one) == 12:
            yield struct.unpack("<d", base64.b64decode(one))[0]
        elif isinstance(one, int | float) and not isinstance(one, bool):
            yield one


def decoded_dtype(pieces: Sequence[Given]) -> np.dtype[Any]:
    """The dtype of decoded elements, as xarray chooses it: one that holds those of all pieces."""
    found: np.dtype[Any] = np.dtype("f4")
    for one in pieces:
        has_offset = "add_offset" in one.attributes
        is_small = one.dtype.itemsize <= (4 if one.dtype.kind == "f" else 2)
        if not is_small or (has_offset and one.dtype.kind != "f"):
            found = np.dtype("f8")
    return found
