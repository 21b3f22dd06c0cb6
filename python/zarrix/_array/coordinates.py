"""The coordinate of a dimension: a one-dimensional array of its name beside the others.

Its labels are kept, and used again as long as its stored values and its attributes are the same.
Where a store cannot tell that without reading them (a server), they are read again and compared.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.dimension_names import names_of
from zarrix._array.facts import ArrayFacts
from zarrix._array.transfer import read_selection
from zarrix._errors import LabelError
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Decoding, Labels, decoding_of
from zarrix._labels._long import LongAxis
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._runtime.system import on_fork
from zarrix._stores.base import Store
from zarrix._stores.generations import digest_at_once
from zarrix._stores.keys import key_of
from zarrix._stores.local import DirectoryStore

__all__ = ["axis_of", "sibling"]

_MOST_READ = 64 << 20
_MOST_KEPT = 128 << 20
# What is read at once of a chunk of a longer coordinate.
_PART_BYTES = 8 << 20
# The number of stored values of a coordinate that are looked at before each use.
_MOST_VALUES = 4096


class _Kept(NamedTuple):
    """The labels of a coordinate, and what tells whether they are still those that are stored."""

    axis: Axis
    decoding: Decoding
    digest: str | None
    stored: npt.NDArray[Any] | None

    @property
    def nbytes(self) -> int:
        return self.axis.values.nbytes + (0 if self.stored is None else self.stored.nbytes)


_kept: OrderedDict[tuple[Any, ...], _Kept] = OrderedDict()
_lock = threading.Lock()


def _free_lock() -> None:
    global _lock
    _lock = threading.Lock()


on_fork(after_in_child=_free_lock)


def sibling(array: ArrayFacts, name: str) -> ArrayFacts | None:
    """The array of that name in the group of ``array``; None if there is none."""
    location = array._location
    zarr_format = array._snapshot.metadata.zarr_format
    if "/" in name or not name:
        return None
    if location.path:
        path = key_of(location.path.rpartition("/")[0], name)
        there: Location | None = location.at(path, zarr_format)
    else:
        there = _beside(location.store, name)
    node = None if there is None else nodes.find(there.store, there.path, zarr_format)
    if there is None or node is None or node.kind != "array":
        return None
    options = array._options._replace(cast_to=None, is_view=False)
    return type(array)._at(there, node, options)


def _beside(store: Store, name: str) -> Location | None:
    """The location of an array beside one that is opened as the root of a store."""
    if isinstance(store, DirectoryStore):
        return Location(DirectoryStore(os.path.dirname(store._folder())), name)
    if store.is_remote:
        # Import time: most arrays with labels are in a group, or in files.
        from zarrix._stores.remote.store import RemoteStore

        if not isinstance(store, RemoteStore):
            return None
        above, slash, _ = store.url.rstrip("/").rpartition("/")
        if slash and not above.endswith("/"):
            return Location(store._at_url(above), name)
    return None


def axis_of(coordinate: ArrayFacts, name: str) -> Axis:
    """The labels of the dimension ``name``, whose coordinate is this array.

    Raises
    ------
    LabelError
        The array has not one axis, or its elements and attributes are not labels.
    """
    shape = coordinate.shape
    if len(shape) != 1:
        raise LabelError(
            f"the coordinate {name!r} has {len(shape)} axes; labels are those of a coordinate with "
            "one axis"
        )
    names = names_of(coordinate)
    if names and names[0] not in (None, name):
        raise LabelError(f"the array {name!r} is not a coordinate: its dimension is {names[0]!r}")
    metadata = coordinate._snapshot.metadata
    fill = metadata.fill_value if metadata.zarr_format == 2 and metadata.fill_value else None
    decoding = decoding_of(coordinate.dtype, coordinate.attrs, name, fill_value=fill)
    if coordinate.nbytes > _MOST_READ:
        return _long_axis(coordinate, name, decoding)
    return _kept_axis(coordinate, name, decoding)


def _long_axis(coordinate: ArrayFacts, name: str, decoding: Decoding) -> Axis:
    """The labels of a coordinate that is searched chunk by chunk."""
    chunk = coordinate._snapshot.metadata.inner_chunk_shape[0]
    part = max(1, min(chunk, _PART_BYTES // max(1, coordinate.itemsize)))

    def read(begin: int, end: int) -> Labels:
        return decoding.labels(read_selection(coordinate, slice(begin, end)), name)

    return LongAxis(name, coordinate.shape[0], part, read, decoding)


def _kept_axis(coordinate: ArrayFacts, name: str, decoding: Decoding) -> Axis:
    location = coordinate._location
    key = (location.chunks._engine.id, location.chunks.engine_path(location.path), name)
    with _lock:
        kept = _kept.get(key)
        if kept is not None:
            _kept.move_to_end(key)
    if kept is not None and kept.decoding != decoding:
        kept = None
    digest = digest_at_once(location.chunks, location.path, _MOST_VALUES)
    if kept is not None and kept.axis.length != coordinate.shape[0]:
        kept = None
    if kept is not None and digest is not None and digest == kept.digest:
        return kept.axis
    stored = read_selection(coordinate, ...)
    if kept is not None and kept.stored is not None and _are_equal(stored, kept.stored):
        axis = kept.axis
    else:
        axis = Axis(name, decoding.labels(stored, name), decoding)
    _keep(key, _Kept(axis, decoding, digest, stored if digest is None else None))
    return axis


def _are_equal(stored: npt.NDArray[Any], before: npt.NDArray[Any]) -> bool:
    if stored.dtype != before.dtype or stored.shape != before.shape:
        return False
    if stored.dtype.kind in "OT":
        return bool((stored == before).all())
    # As bytes: NaN is equal to itself.
    return bool((stored.view(np.uint8) == before.view(np.uint8)).all())


def _keep(key: tuple[Any, ...], entry: _Kept) -> None:
    with _lock:
        _kept[key] = entry
        _kept.move_to_end(key)
        total = sum(one.nbytes for one in _kept.values())
        while total > _MOST_KEPT and len(_kept) > 1:
            total -= _kept.popitem(last=False)[1].nbytes
