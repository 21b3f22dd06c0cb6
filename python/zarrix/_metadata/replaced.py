"""Whether the array at a place is still the one that was opened there.

Attributes and the shape of an array may change while it is open, and so may the spelling of its
metadata. Another dtype, chunk grid, codec, fill value or chunk key encoding means other chunks:
what an open array would write there, nothing could read. The engine asks when it finds other
metadata under the lock of a chunk, or while it looks for the reason why a chunk does not decode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from zarrix._dtypes.v2 import fill_value_bytes
from zarrix._errors import ArrayReplacedError, MetadataError, shorten
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._stores.keys import ZARRAY

__all__ = ["judge_of"]


def judge_of(opened: bytes, where: str, separator: str | None) -> Callable[[bytes], None]:
    """What raises `ArrayReplacedError` for metadata with other chunks than ``opened`` describes.

    Parameters
    ----------
    opened : bytes
        The metadata by which the array was opened.
    where : str
        Where it is stored, for messages; its name decides the format.
    separator : str or None
        What the store puts between the numbers of a chunk key by default.
    """
    return partial(_judge, opened, where, separator)


def _judge(opened: bytes, where: str, separator: str | None, stored: bytes) -> None:
    try:
        new = _parse(stored, where, separator)
    except MetadataError:
        # Half-written by a program that does not replace files atomically: it says nothing yet.
        return
    old = _parse(opened, where, separator)
    for what, read in _SAME.items():
        before, now = read(old, new), read(new, old)
        if before != now:
            raise ArrayReplacedError(
                f"{where} describes another array than the one that was opened: {what} was "
                f"{shorten(before)} and is {shorten(now)}; open the array again"
            )


def _parse(document: bytes, where: str, separator: str | None) -> ArrayMetadata:
    if where.endswith(ZARRAY):
        return v2.parse_array(document, where, default_separator=separator)
    return v3.parse_array(document, where)


def _grid(metadata: ArrayMetadata, other: ArrayMetadata) -> Any:
    """The chunks, of a rectilinear grid as far as both reach: such a grid grows with its array."""
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
    """The codec with its defaults: another library may have written them out, or left them out."""
    # Imported here: an array is opened by every program, and hardly ever replaced.
    from zarrix._codecs.classes import codec_from_dict

    document = codec_from_dict(codec).to_dict()
    options = dict(document.get("configuration", {}))
    if document["name"] == "bytes":
        options.setdefault("endian", "little")
    for chain in ("codecs", "index_codecs"):
        if isinstance(options.get(chain), list):
            options[chain] = [_spelled_out(one) for one in options[chain]]
    return {"name": document["name"], **options}


# What makes chunks what they are. Each is read of one array with a look at the other.
_SAME: dict[str, Callable[[ArrayMetadata, ArrayMetadata], Any]] = {
    "the number of axes": lambda array, _: array.ndim,
    "the dtype": lambda array, _: array.dtype,
    "the chunk grid": _grid,
    "the codec chain": lambda array, _: [_spelled_out(codec) for codec in array.codecs],
    # As bytes, because NaN is not equal to itself.
    "the fill value": lambda array, _: fill_value_bytes(array.fill_value, array.dtype),
    "the chunk key encoding": lambda array, _: (
        array.key_encoding[0],
        array.dimension_separator,
        array.key_suffix,
    ),
}
