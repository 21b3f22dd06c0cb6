"""Reads and writes of a `Bound`. Each returns `DECLINED` where zarr-python has to do it.

So does every error of the engine. zarr-python then repeats the call and raises its own error: a
repeated read has no effect, and a repeated write stores the same elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._array.transfer import read_indexer, write_indexer
from zarrix._selection.fancy import Indexer
from zarrix.interop._bound import Bound
from zarrix.interop._elements import elements_of, flat_elements_of
from zarrix.interop._keys import Box, repeats

__all__ = ["DECLINED", "read_box", "read_selected", "write_box", "write_selected"]


class _Declined:
    """What a call returns that is left to zarr-python."""

    def __repr__(self) -> str:
        return "DECLINED"


DECLINED: Any = _Declined()


def read_box(bound: Bound, box: Box | None) -> Any:
    """The elements of a box as an array, which has no axes for a key of integers."""
    if box is None:
        return DECLINED
    axes, shape = box
    io: Any = bound.io
    found: Any = _engine.empty(shape, bound.stored, bound.order)
    try:
        io.read(axes, found)
    except Exception:
        return DECLINED
    return found if bound.dtype is bound.stored else found.astype(bound.dtype, copy=False)


def read_selected(bound: Bound, indexer: Indexer | None, out: Any = None) -> Any:
    """The elements of a selection as an array, or ``out``, which has its shape and dtype."""
    if indexer is None:
        return DECLINED
    io: Any = bound.io
    found: Any = out
    if out is None or bound.dtype is not bound.stored:
        # zarr-python reads points as a list of elements, which has no other order.
        order = "C" if indexer.coords else bound.order
        found = _engine.empty(indexer.shape, bound.stored, order)
    try:
        read_indexer(io, indexer, found)
    except Exception:
        return DECLINED
    if bound.dtype is bound.stored:
        return found
    if out is None:
        return found.astype(bound.dtype, copy=False)
    out[...] = found
    return out


def write_box(bound: Bound, box: Box | None, value: Any) -> Any:
    """Store the elements of a box."""
    return DECLINED if box is None else write_selected(bound, Indexer(*box), value)


def write_selected(bound: Bound, indexer: Indexer | None, value: Any, *, flat: bool = False) -> Any:
    """Store the elements of a selection; with ``flat`` the axes of the value do not matter."""
    if indexer is None or not bound.is_written or bound.store.read_only:
        return DECLINED
    if _awaits_repair(bound.metadata):
        return DECLINED
    shape = indexer.shape
    io: Any = bound.io
    try:
        if flat:
            count = indexer.coords[0].size
            elements = flat_elements_of(value, bound.dtype, count)
        else:
            elements = elements_of(value, bound.dtype, shape)
        if elements is None or (elements.shape and repeats(indexer, bound.shape)):
            return DECLINED
        elements = np.asarray(elements, bound.stored)
        fitted = np.broadcast_to(elements, shape) if not elements.shape else elements.reshape(shape)
        write_indexer(io, indexer, fitted, bound.fsync)
    except Exception:
        return DECLINED
    return None


def _awaits_repair(metadata: Any) -> bool:
    """Whether zarr-python stores a repaired document before it writes the first chunk."""
    return getattr(metadata, "_stored_document", None) is not None
