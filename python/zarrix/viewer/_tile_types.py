"""Values as a browser takes them: octets of one of seven types, and never a picture.

Types that a browser has are sent as they are stored. Others become float32, which is enough to
draw; the exact value under the cursor is text (`zarrix.viewer._text`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

__all__ = ["Origin", "as_labels", "as_tile", "components_of", "tile_type"]

_AS_STORED = frozenset({"u1", "i1", "u2", "i2", "f2", "f4"})
# Types of ml_dtypes, which NumPy counts among the void ones.
_ML = ("bfloat16", "float8", "float6", "float4", "int4", "uint4", "int2", "uint2")

# Numbers that differ by less than this part of the largest one are sent as differences: float32 has
# too few levels between them.
_NEAR = 2.0**-14
# Whole numbers up to here are numbers of float32.
_EXACT = 2**24

# An odd number near 2**32 divided by the golden ratio: it spreads the high bits.
_GOLDEN = 0x9E3779B1


def tile_type(dtype: np.dtype[Any]) -> str | None:
    """The type of tiles of a dtype; None for text, objects and structures.

    Examples
    --------
    >>> [tile_type(np.dtype(one)) for one in ("u1", ">i2", "f2", "f8", "c16", "?", "U3")]
    ['u1', 'i2', 'f2', 'f4', 'f4', 'u1', None]
    """
    name = f"{dtype.kind}{dtype.itemsize}"
    if name in _AS_STORED:
        return name
    if dtype.kind == "b":
        return "u1"
    if dtype.kind in "iufcmM" or dtype.name.startswith(_ML):
        return "f4"
    return None


def components_of(dtype: np.dtype[Any]) -> int:
    """Numbers in an element of a tile: two of a complex one."""
    return 2 if dtype.kind == "c" else 1


class Origin(NamedTuple):
    """What the numbers of a tile are differences from.

    Attributes
    ----------
    text : str
        As people write it.
    number : int or float
        As it is stored: the difference of two origins is that of their tiles.
    """

    text: str
    number: int | float


def as_tile(values: Any, known: Any = None) -> tuple[Any, Origin | None]:
    """The values in their tile type, in C order and little-endian; and their origin.

    Complex values have a last axis of real and imaginary part. Times are the difference from the
    first one that is not NaT. Numbers of 32 and 64 bits that are near each other and far from 0 are
    the difference from the least one: identifiers, times as numbers, and the like. ``known`` says
    which elements were read.
    """
    dtype = values.dtype
    kind = tile_type(dtype)
    if kind is None:
        raise TypeError(f"values of {dtype} are not numbers")
    origin = None
    # Values beyond float32 become infinite, as they are drawn.
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.kind in "mM":
            values, origin = _since_first(values)
        elif dtype.kind == "c":
            parts = np.ascontiguousarray(values).astype("c8", copy=False)
            values = parts.view("f4").reshape(*values.shape, 2)
        elif (dtype.kind in "iu" and kind == "f4") or (dtype.kind == "f" and dtype.itemsize == 8):
            values, origin = _since_least(values, known)
        found = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    # A scalar becomes one element.
    return found.reshape(values.shape), origin


def _since_first(values: Any) -> tuple[Any, Origin]:
    missing = np.isnat(values)
    known = values[~missing]
    first = known.flat[0] if known.size else np.zeros((), values.dtype)[()]
    found = (values - first).astype("i8").astype("f4")
    found[missing] = np.nan
    return found, Origin(str(first), int(first.astype("i8")))


def _since_least(values: Any, known: Any) -> tuple[Any, Origin | None]:
    """The values, as differences from the least one if float32 cannot tell them apart."""
    finite = values if known is None else values[known]
    finite = finite[np.isfinite(finite)] if values.dtype.kind == "f" else finite
    if not finite.size:
        return values, None
    low, high = finite.min().item(), finite.max().item()
    largest = max(abs(low), abs(high))
    is_exact = values.dtype.kind != "f" and largest <= _EXACT
    if is_exact or high - low >= largest * _NEAR or (values.dtype.kind == "f" and low == high):
        return values, None
    # Differences of unsigned and signed numbers wrap around to the right ones.
    wide = values if values.dtype.kind == "f" else values.astype("u8")
    least = low if values.dtype.kind == "f" else np.uint64(low % 2**64)
    return wide - least, Origin(str(low), low)


def as_labels(values: Any) -> Any:
    """Whole numbers as 32 bits that differ where numbers of 32 bits do; only 0 is 0.

    Examples
    --------
    >>> as_labels(np.array([0, 1, 2**32 + 1, 7]))
    array([         0,          1, 2654435760,          7], dtype=uint32)
    """
    if values.dtype.kind not in "biu":
        raise TypeError(f"values of {values.dtype} are not labels")
    if values.dtype.kind != "i" and values.dtype.itemsize < 8:
        return np.ascontiguousarray(values.astype("<u4"))
    # Sign-extended, so that -1 is one label in all types.
    bits = np.ascontiguousarray(values.astype("<i8" if values.dtype.kind == "i" else "<u8"))
    halves = bits.view("<u4").reshape(*values.shape, 2)
    found = halves[..., 0] ^ (halves[..., 1] * np.uint32(_GOLDEN))
    found = np.where((found == 0) & (bits != 0), np.uint32(1), found)
    return np.ascontiguousarray(found, "<u4")
