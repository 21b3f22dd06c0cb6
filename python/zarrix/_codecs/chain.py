"""v3 codec chains: their parts, and what follows from them without binding them.

A chain is a list of array-to-array codecs, one array-to-bytes codec, and bytes-to-bytes codecs; the
array-to-bytes codec may be a shard with chains of its own. The filters and the compressor of v2 are
members ``numcodecs.<id>`` of such a chain. `zarrix._codecs.normalize` makes chains from what users
pass, `zarrix._codecs.bind` turns them into the configuration of the engine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from zarrix._codecs.table import ARRAY_TO_ARRAY, ARRAY_TO_BYTES, ELEMENTWISE
from zarrix._errors import MetadataError, shorten

__all__ = [
    "INDEX_CODECS",
    "check_codecs",
    "permutation",
    "reshaped",
    "split_chain",
    "stored_order",
]

Config = Mapping[str, Any]

INDEX_CODECS: list[dict[str, Any]] = [
    {"name": "bytes", "configuration": {"endian": "little"}},
    {"name": "crc32c"},
]
"""The default codecs of a shard index."""


def split_chain(
    chain: Iterable[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The codecs of a chain by kind: array to array, array to bytes, bytes to bytes."""
    arrays, middle, binary = [], [], []
    for codec in chain:
        if codec["name"] in ARRAY_TO_ARRAY:
            arrays.append(codec)
        elif codec["name"] in ARRAY_TO_BYTES:
            middle.append(codec)
        else:
            binary.append(codec)
    return arrays, middle, binary


def stored_order(codecs: Iterable[Config], axes: int, label: str) -> tuple[int, ...]:
    """The order in which the axes of an array are stored, from the transpositions of a chain.

    After a codec that gives a chunk another shape, its axes are no longer those of the array.
    """
    order = tuple(range(axes))
    for codec in codecs:
        if codec["name"] == "transpose":
            order = tuple(order[axis] for axis in permutation(codec, axes, label))
        elif codec["name"] in ARRAY_TO_ARRAY and codec["name"] not in ELEMENTWISE:
            break
    return order


def permutation(codec: Config, axes: int, label: str) -> tuple[int, ...]:
    order = codec.get("configuration", {}).get("order")
    if order in ("C", "F"):
        # Drafts of the specification had names for two of the orders.
        return tuple(range(axes)) if order == "C" else tuple(reversed(range(axes)))
    if not isinstance(order, list) or any(type(axis) is not int for axis in order):
        raise MetadataError(
            f"{label}: codec 'transpose' has the order {shorten(order)}, which is not a list"
        )
    if sorted(order) != list(range(axes)):
        raise MetadataError(
            f"{label}: codec 'transpose' has the order {order}; expected each of the {axes} axes "
            "once"
        )
    return tuple(order)


def reshaped(given: Any, shape: tuple[int, ...], label: str) -> tuple[int, ...]:
    """The shape that a 'reshape' codec gives a chunk of ``shape``.

    References
    ----------
    Registry of Zarr extensions, codec ``reshape``.
    """
    fault = f"{label}: reshape has the 'shape' {shorten(given)}"
    if not isinstance(given, list) or not all(_is_extent(one, len(shape)) for one in given):
        raise MetadataError(
            f"{fault}; expected a list of lengths of at least 1, lists of axes below {len(shape)}, "
            "and at most one -1"
        )
    lengths = [math.prod(shape[a] for a in one) if isinstance(one, list) else one for one in given]
    named = [axis for one in given if isinstance(one, list) for axis in one]
    if named != sorted(set(named)) or lengths.count(-1) > 1:
        raise MetadataError(f"{fault}; its axes have to ascend, and -1 to be there once at most")
    known = math.prod(length for length in lengths if length != -1)
    lengths = [math.prod(shape) // known if length == -1 else length for length in lengths]
    if math.prod(lengths) != math.prod(shape):
        raise MetadataError(f"{fault}, which a chunk of {list(shape)} does not fit into")
    for position, one in enumerate(given):
        if isinstance(one, list) and one:
            before, behind = math.prod(lengths[:position]), math.prod(lengths[position + 1 :])
            outside = (math.prod(shape[: one[0]]), math.prod(shape[one[-1] + 1 :]))
            if (before, behind) != outside:
                raise MetadataError(
                    f"{fault}; the axes {one} of a chunk of {list(shape)} are not axis {position} "
                    "of the new shape"
                )
    return tuple(lengths)


def _is_extent(value: Any, axes: int) -> bool:
    if isinstance(value, list):
        return all(type(axis) is int and 0 <= axis < axes for axis in value)
    return type(value) is int and (value > 0 or value == -1)


def check_codecs(value: Any, what: str) -> list[Config]:
    """Return ``value`` if it is a list of codec documents; ``what`` begins the error message.

    Bare names, which the specification allows for codecs without a configuration, become objects.
    """
    if not isinstance(value, list) or not value:
        raise MetadataError(f"{what} {shorten(value)}; expected a list of codecs")
    codecs: list[Config] = []
    for one in value:
        codec = {"name": one} if isinstance(one, str) else one
        valid = isinstance(codec, Mapping) and isinstance(codec.get("name"), str)
        if not valid or not isinstance(codec.get("configuration", {}), Mapping):
            raise MetadataError(
                f"{what} with {shorten(one)}; expected an object with 'name' and 'configuration'"
            )
        codecs.append(codec)
    return codecs
