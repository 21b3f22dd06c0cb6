"""From pieces and their boxes to one virtual array: its metadata, and its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._array.create_array import create_array
from zarrix._errors import VirtualError
from zarrix._metadata.json import json_dumps
from zarrix._stores.memory import MemoryStore
from zarrix.virtual._given import Given
from zarrix.virtual._table import NOTHING_MORE, Row

__all__ = ["Whole", "common_dtype", "document_of", "largest_chunks", "row_of"]


@dataclass
class Whole:
    """What a virtual array is, apart from its pieces."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill_value: Any
    chunks: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)
    names: Sequence[str | None] = ()


def document_of(whole: Whole) -> bytes:
    """The ``zarr.json`` of a virtual array."""
    store = MemoryStore()
    # Text and bytes have a codec of their own.
    compressors = None if whole.dtype.kind not in "OT" else "auto"
    create_array(
        store,
        shape=whole.shape,
        dtype=whole.dtype,
        chunks=whole.chunks,
        fill_value=whole.fill_value,
        zarr_format=3,
        attributes={k: v for k, v in whole.attributes.items() if k != "_ARRAY_DIMENSIONS"},
        dimension_names=list(whole.names) if whole.names else None,
        compressors=compressors,
    )
    return bytes(store["zarr.json"])


def row_of(
    piece: Given,
    start: Sequence[int],
    shape: Sequence[int],
    dtype: np.dtype[Any],
    axes: Sequence[int],
    **more: Any,
) -> Row:
    """The row of a piece that lies at ``start``; ``axes`` has the axis of the whole for each axis
    of the piece.
    """
    along = [None if axis is None else axes[axis] for axis in piece.axes]
    if along != list(range(len(shape))):
        more["axes"] = along
    if any(piece.origin):
        more["from"] = list(piece.origin)
    if any(one != 1 for one in piece.step):
        more["step"] = list(piece.step)
    if piece.dtype != dtype:
        more["dtype"] = piece.dtype.str
    return Row(
        piece.source,
        piece.path,
        tuple(start),
        tuple(shape),
        piece.check,
        json_ready(more) if more else NOTHING_MORE,
    )


def json_ready(more: Mapping[str, Any]) -> Mapping[str, Any]:
    """``more``, after it was seen that it can be stored."""
    json_dumps(dict(more))
    return dict(more)


def common_dtype(pieces: Sequence[Given], dtype: Any) -> np.dtype[Any]:
    """The dtype of the whole: that of all pieces, or one that all of them can be cast to safely."""
    if dtype is None:
        first = pieces[0]
        for one in pieces:
            if one.dtype != first.dtype:
                raise VirtualError(
                    f"{first.told} has dtype {first.dtype}, and {one.told} has {one.dtype}; dtype= "
                    "casts them to one that keeps all values"
                )
        common: np.dtype[Any] = first.dtype
        return common
    wanted: np.dtype[Any] = np.dtype(dtype).newbyteorder("=")
    for one in pieces:
        if one.dtype.hasobject or not np.can_cast(one.dtype, wanted, "safe"):
            raise VirtualError(
                f"{one.told} has dtype {one.dtype}, which cannot be cast to {wanted} without loss"
            )
    return wanted


def largest_chunks(pieces: Iterable[Given], axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    """The chunks of a virtual array: along each axis the longest chunk of a piece, which lies along
    ``axes``. They are a hint for dask and jobs, and regular, so that every caller can use them.
    """
    chunks = [1] * ndim
    for one in pieces:
        for axis, length in zip(axes, one.chunks, strict=True):
            chunks[axis] = max(chunks[axis], length)
    return tuple(chunks)
