"""From pieces and their boxes to one virtual array: its metadata, and its list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._array.create_array import create_array
from zarrix._errors import VirtualError
from zarrix._stores.keys import ZARR_JSON
from zarrix._stores.memory import MemoryStore
from zarrix.convert._cf import in_v3
from zarrix.virtual._given import Given, Sources
from zarrix.virtual._keywords import check_reading
from zarrix.virtual._rules import check_meaning, decoded_dtype, decoding, kept_attributes
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import NOTHING_MORE, Row, Table

__all__ = ["Making", "Whole", "document_of", "inlined"]


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
    # Text and bytes have a codec of their own.
    store = _created(whole, None if whole.dtype.kind not in "OT" else "auto")
    return bytes(store[ZARR_JSON])


def inlined(whole: Whole, values: Any) -> dict[str, bytes]:
    """The stored values of an array whose elements are in the list itself: one chunk."""
    whole.chunks = tuple(max(1, length) for length in whole.shape)
    return dict(_created(whole, "auto", values))


def _created(whole: Whole, compressors: Any, values: Any = None) -> MemoryStore:
    store = MemoryStore()
    array = create_array(
        store,
        shape=whole.shape,
        dtype=whole.dtype,
        chunks=whole.chunks,
        fill_value=whole.fill_value,
        zarr_format=3,
        attributes=in_v3(whole.attributes, whole.dtype),
        dimension_names=list(whole.names) if whole.names else None,
        compressors=compressors,
    )
    if values is not None:
        array[...] = values
    return store


@dataclass
class Making:
    """What the pieces of a call have in common, and how their rows are made.

    pieces : Sources
    dtype : dtype
        Of the whole.
    decode : {'cf'} or None
    missing : {'error', 'fill'}
    """

    pieces: Sources
    dtype: np.dtype[Any]
    decode: str | None = None
    missing: str = "error"

    @classmethod
    def of(
        cls, pieces: Sources, arrays: Sequence[Given], dtype: Any, decode: str | None, missing: str
    ) -> Making:
        """After the pieces were seen to fit.

        Raises
        ------
        VirtualError
            Their dtypes, or what their elements mean, differ.
        """
        check_reading(decode, missing)
        check_meaning(arrays, decode)
        if decode is None:
            return cls(pieces, common_dtype(arrays, dtype), None, missing)
        found = decoded_dtype(arrays) if dtype is None else np.dtype(dtype)
        if found.kind != "f":
            raise VirtualError(f"decoded elements are floats, which dtype={found} cannot hold")
        return cls(pieces, found, decode, missing)

    def rows(self, piece: Given, start: Sequence[int], axes: Sequence[int]) -> list[Row]:
        """The rows of a piece that lies at ``start`` of the whole; ``axes`` has the axis of the
        whole for each axis of the piece. A virtual array is replaced by its own pieces.
        """
        shape = [1] * len(start)
        for axis, length in zip(axes, piece.shape, strict=True):
            shape[axis] = length
        if piece.table is not None:
            return self._inner_rows(piece, piece.table, start, shape, axes)
        more: dict[str, Any] = {}
        along = [None if axis is None else axes[axis] for axis in piece.axes]
        if along != list(range(len(shape))):
            more["axes"] = along
        if any(piece.origin):
            more["from"] = list(piece.origin)
        if any(one != 1 for one in piece.step):
            more["step"] = list(piece.step)
        if piece.dtype != self.dtype:
            more["dtype"] = piece.dtype.str
        if self.decode:
            more |= decoding(piece)
        if self.missing == "fill":
            more["fill"] = True
        corner, lengths = tuple(start), tuple(shape)
        return [Row(piece.source, piece.path, corner, lengths, piece.check, more or NOTHING_MORE)]

    def _inner_rows(
        self,
        piece: Given,
        table: Table,
        start: Sequence[int],
        shape: Sequence[int],
        axes: Sequence[int],
    ) -> list[Row]:
        store = piece.store
        assert store is not None
        if self.decode or piece.dtype != self.dtype:
            raise VirtualError(
                f"{piece.told} is a virtual array, and its elements cannot be cast or decoded; "
                "make it of its pieces with dtype= or decode="
            )
        ndim, new = len(start), []
        for row in table.rows():
            corner, lengths = list(start), [1] * ndim
            for axis, first, length in zip(axes, row.start, row.shape, strict=True):
                corner[axis], lengths[axis] = start[axis] + first, length
            more = dict(row.more)
            inner = more.get("axes")
            if inner is not None or list(axes) != list(range(ndim)):
                count = len(row.shape)
                inner = range(count) if inner is None else inner
                more["axes"] = [None if axis is None else axes[axis] for axis in inner]
            if self.missing == "fill":
                more["fill"] = True
            number = self.pieces.adopted(store, row.source)
            kept = more or NOTHING_MORE
            new.append(Row(number, row.path, tuple(corner), tuple(lengths), row.check, kept))
        return new

    def whole(self, arrays: Sequence[Given], shape: Sequence[int], axes: Sequence[int]) -> Whole:
        """The whole of pieces that lie along ``axes``, with what it has from the first of them."""
        first = arrays[0]
        names: list[str | None] = [None] * len(shape)
        for axis, name in zip(axes, first.names, strict=False):
            names[axis] = name
        return Whole(
            tuple(shape),
            self.dtype,
            np.nan if self.decode else first.metadata.fill_value,
            largest_chunks(arrays, axes, len(shape)),
            kept_attributes(arrays, self.decode),
            names if any(names) else (),
        )

    def array(self, whole: Whole, rows: Sequence[Row]) -> Array:
        """The virtual array of some rows."""
        table = Table.of(whole.shape, rows)
        store = VirtualStore({ZARR_JSON: document_of(whole)}, {"": table}, self.pieces.opener)
        return Array(store, read_only=True)


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
