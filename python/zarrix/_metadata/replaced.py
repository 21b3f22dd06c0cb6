"""Whether the array at a path is still the one that was opened there.

Attributes, the shape, and the spelling of the metadata may change while an array is open. Another
dtype, chunk grid, codec or fill value means other chunks, and no reader could decode the chunks of
the open handle. Another chunk key encoding alone is that of a commit, which the handle can follow.
The engine asks when it finds other metadata under the lock of
a chunk, or when a chunk does not decode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zarrix._dtypes.v2 import fill_value_bytes
from zarrix._errors import ArrayReplacedError, ChunksMovedError, MetadataError, shorten
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._stores.keys import ZARRAY

__all__ = ["judge_replaced"]


def judge_replaced(opened: bytes, label: str, separator: str | None, stored: bytes) -> None:
    """Raise `ArrayReplacedError` if the chunks of ``stored`` differ from those of ``opened``.

    Parameters
    ----------
    opened : bytes
        The metadata by which the array was opened.
    label : str
        Label of the metadata document, for messages; its name determines the format.
    separator : str or None
        The default separator of chunk keys in the store.
    stored : bytes
        The metadata that is stored now.
    """
    try:
        new = _parse(stored, label, separator)
    except MetadataError:
        # Written partly by a program that does not replace files atomically; ignored for now.
        return
    old = _parse(opened, label, separator)
    for what, read in _SAME.items():
        before, now = read(old, new), read(new, old)
        if before != now and what == _KEYS and old.key_suffix == new.key_suffix:
            raise ChunksMovedError(
                f"{label} has other chunk keys than when the array was opened: a commit has "
                "replaced its content; open the array, or the group that it was reached from, again"
            )
        if before != now:
            raise ArrayReplacedError(
                f"{label} describes another array than the one that was opened: {what} was "
                f"{shorten(before)} and is {shorten(now)}; open the array again"
            )


def _parse(document: bytes, label: str, separator: str | None) -> ArrayMetadata:
    if label.endswith(ZARRAY):
        return v2.parse_array(document, label, default_separator=separator)
    return v3.parse_array(document, label)


def _grid(metadata: ArrayMetadata, other: ArrayMetadata) -> Any:
    """The chunks; in a rectilinear grid, which grows with its array, as far as both grids reach."""
    if metadata.rectilinear is None or other.rectilinear is None:
        return metadata.rectilinear or metadata.chunk_shape
    pairs = zip(metadata.rectilinear, other.rectilinear, strict=True)
    return tuple(_runs(mine, min(mine.end or 0, theirs.end or 0)) for mine, theirs in pairs)


def _runs(axis: AxisGrid, end: int) -> Any:
    if axis.even:
        return axis.even
    begin, runs = 0, []
    for length, count in axis.runs:
        inside = min(count, -(-(end - begin) // length))
        if inside > 0:
            runs.append((length, inside))
        begin += length * count
    return runs


def _spelled_out(codec: Mapping[str, Any]) -> dict[str, Any]:
    """The codec with its defaults, which another library may have written or left out."""
    # Imported here, because every program opens arrays, and few replace them.
    from zarrix._codecs.classes import codec_from_dict

    document = codec_from_dict(codec).to_dict()
    options = dict(document.get("configuration", {}))
    if document["name"] == "bytes":
        options.setdefault("endian", "little")
    for chain in ("codecs", "index_codecs"):
        if isinstance(options.get(chain), list):
            options[chain] = [_spelled_out(one) for one in options[chain]]
    return {"name": document["name"], **options}


_KEYS = "the chunk key encoding"
# The values that determine chunks, and last where those are. Each is taken from one array, with
# respect to the other.
_SAME: dict[str, Callable[[ArrayMetadata, ArrayMetadata], Any]] = {
    "the number of axes": lambda array, _: array.ndim,
    "the dtype": lambda array, _: array.dtype,
    "the chunk grid": _grid,
    "the codec chain": lambda array, other: (
        array.codecs
        if array.codecs == other.codecs
        else [_spelled_out(codec) for codec in array.codecs]
    ),
    # As bytes, because NaN is not equal to itself.
    "the fill value": lambda array, _: fill_value_bytes(array.fill_value, array.dtype),
    _KEYS: lambda array, _: (
        array.key_encoding[0],
        array.dimension_separator,
        array.key_suffix,
    ),
}
