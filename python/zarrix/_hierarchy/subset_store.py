"""A subset as a read-only store: a hierarchy of its own, whose chunks are those of its source.

A chunk of the subset that is a whole chunk of the source has its stored bytes; all others are read
and encoded when they are asked for. So everything that takes a store takes a subset, and a copy of
aligned chunks decodes nothing.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.access import io_of, metadata_of
from zarrix._array.array import Array
from zarrix._array.create_array import create_array
from zarrix._array.dimension_names import names_of
from zarrix._array.kept_codecs import kept_codecs
from zarrix._array.lazy import LazyArray
from zarrix._array.stored import box_of, chunk_key
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZATTRS, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site

__all__ = ["SubsetStore"]

# Attributes that tell of all elements, of which some are left out.
_OF_ALL_ELEMENTS = ("actual_range", "zarrix_step")

Coords = tuple[int, ...]


class _Part(NamedTuple):
    """One array of a subset.

    Attributes
    ----------
    view : LazyArray
    metadata : ArrayMetadata
        Of the subset.
    has_same_chunks : bool
        Whether a chunk may be one of the source: no axis is dropped or permuted, and all steps
        are 1.
    """

    view: LazyArray
    metadata: ArrayMetadata
    has_same_chunks: bool

    def region(self, coords: Coords) -> tuple[slice, ...]:
        """The elements of a chunk in the view."""
        ends = zip(self.metadata.grid, coords, self.metadata.shape, strict=True)
        return tuple(
            slice(axis.chunk(number).begin, min(axis.chunk(number).end, size))
            for axis, number, size in ends
        )

    def source_chunk(self, coords: Coords) -> Coords | None:
        """The chunk of the source that has the same elements; None if there is none."""
        if not self.has_same_chunks:
            return None
        source = metadata_of(_array_of(self.view))
        found = []
        for axis, theirs, number, size, whole, selected in zip(
            *(self.metadata.grid, source.grid, coords, self.metadata.shape, source.shape),
            self.view._axes,
            strict=True,
        ):
            assert isinstance(selected, tuple)
            mine, start = axis.chunk(number), selected[0]
            begin, end = start + mine.begin, start + min(mine.end, size)
            chunk = theirs.find(begin)
            is_whole = chunk.begin == begin and min(chunk.end, whole) == end
            if not is_whole or chunk.end - chunk.begin != mine.end - mine.begin:
                return None
            found.append(chunk.chunk)
        return tuple(found)

    def below(self, coords: Coords) -> Iterator[Coords]:
        """The chunks of the source that a chunk may have elements of."""
        view = self.view[self.region(coords)] if coords else self.view
        axes = [
            (int(one.min()), 1, int(one.max() - one.min()) + 1)
            if isinstance(one, np.ndarray)
            else one
            for one in view._axes
        ]
        box = box_of(metadata_of(_array_of(view)).grid, axes)
        return itertools.product(*(range(begin, end) for begin, end in box))

    def key(self, coords: Coords) -> str:
        """The key of a chunk of the source."""
        array = _array_of(self.view)
        return key_of(array._location.path, chunk_key(metadata_of(array), coords))

    @property
    def grid(self) -> Coords:
        """The number of chunks along each axis."""
        shape = self.metadata.shape
        return tuple(a.count(n) for a, n in zip(self.metadata.grid, shape, strict=True))


class SubsetStore(PythonStore):
    """The keys of a hierarchy that has the arrays of a subset.

    Parameters
    ----------
    views : mapping of str to LazyArray
        By name; the empty name for an array at the root, which is then the only one.
    attributes : mapping
        Of the group.
    is_rectilinear : bool
        Whether the first and the last chunk along an axis are cut, so that all others are those of
        the source.

    Attributes
    ----------
    kept, encoded : int
        How many chunks were asked for that are given as they are stored, and how many were encoded
        anew.
    """

    _writeable = _erasable = False
    _has_origins = True

    def __init__(
        self,
        views: Mapping[str, LazyArray],
        attributes: Mapping[str, Any] | None = None,
        *,
        is_rectilinear: bool = False,
    ) -> None:
        self._made_of = (dict(views), attributes, is_rectilinear)
        self.kept = self.encoded = 0
        self._counting = threading.Lock()
        self.documents: dict[str, bytes] = {}
        self._parts: dict[str, _Part] = {}
        zarr_format = 3
        for name, view in views.items():
            part, documents = _part_of(view, is_rectilinear)
            self._parts[name] = part
            zarr_format = part.metadata.zarr_format
            self.documents |= {key_of(name, key): value for key, value in documents.items()}
        if "" not in views:
            self.documents |= _group_documents(zarr_format, attributes or {})
        self._patterns = {name: _pattern(one.metadata) for name, one in self._parts.items()}

    def _chunk(self, key: str) -> tuple[_Part, Coords] | None:
        """The array of a chunk's key, and the coordinates of the chunk."""
        name, _, below = ("", "", key) if "" in self._parts else key.partition("/")
        part = self._parts.get(name)
        found = None if part is None else self._patterns[name].fullmatch(below)
        if part is None or found is None:
            return None
        ndim = len(part.metadata.shape)
        coords = tuple(map(int, re.findall(r"\d+", found[1]))) if ndim else ()
        if len(coords) != ndim or any(i >= n for i, n in zip(coords, part.grid, strict=True)):
            return None
        return (part, coords) if chunk_key(part.metadata, coords) == below else None

    def _read(self, key: str) -> bytes | None:
        if key in self.documents:
            return self.documents[key]
        found = self._chunk(key)
        if found is None:
            return None
        part, coords = found
        theirs = part.source_chunk(coords)
        location = part.view._array._location
        if theirs is None:
            engine, path = location.chunks._engine, location.chunks.engine_path
            if not any(engine.size(path(part.key(one))) is not None for one in part.below(coords)):
                return None
            value = _encoded(part, coords)
            with self._counting:
                self.encoded += 1
            return value
        stored: Any = location.chunks._value(part.key(theirs))
        with self._counting:
            self.kept += stored is not None
        return None if stored is None else bytes(stored)

    def _origin_of(self, key: str) -> tuple[Store, str] | None:
        found = None if key in self.documents else self._chunk(key)
        theirs = None if found is None else found[0].source_chunk(found[1])
        if found is None or theirs is None:
            return None
        with self._counting:
            self.kept += 1
        return found[0].view._array._location.chunks, found[0].key(theirs)

    def shown_ranges(self) -> str:
        """The ranges of indices that are taken of each array, for people."""
        shown = []
        for name, part in self._parts.items():
            axes = [
                f"{one[0]}:{one[0] + one[2]}" if isinstance(one, tuple) else "..."
                for one in part.view._axes
            ]
            shown.append(f"{name or '/'}[{','.join(axes)}]")
        return ", ".join(shown)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._forbid_changes()

    def _drop(self, key: str, fsync: bool) -> bool:
        self._forbid_changes()
        return False

    def _list(self, prefix: str) -> list[str]:
        return [*self._names(prefix)]

    def _names(self, prefix: str) -> Iterator[str]:
        start = f"{prefix}/" if prefix else ""
        yield from (key for key in self.documents if key.startswith(start))
        for name, part in self._parts.items():
            if name and not f"{name}/".startswith(start) and not start.startswith(f"{name}/"):
                continue
            stored = {tuple(one) for _, one in io_of(_array_of(part.view)).stored_chunks()}
            for coords in itertools.product(*map(range, part.grid)):
                theirs = part.source_chunk(coords)
                if any(
                    one in stored for one in (part.below(coords) if theirs is None else [theirs])
                ):
                    key = key_of(name, chunk_key(part.metadata, coords))
                    if key.startswith(start):
                        yield key

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        if prefix or "" in self._parts:
            return super()._list_dir(prefix)
        # Without a look at the chunks.
        names = [key for key in self.documents if "/" not in key]
        return names, sorted(self._parts)

    def _sites(self, path: str) -> list[Site]:
        found: list[Site] = []
        for part in self._parts.values():
            location = part.view._array._location
            for store in {id(one): one for one in (location.store, location.chunks)}.values():
                found += store._sites(location.path)
        return found or super()._sites(path)

    def _label(self) -> str:
        return f"of {next(iter(self._parts.values())).view!r}" if self._parts else "of nothing"

    def __reduce__(self) -> Any:
        return _made, self._made_of


def _made(views: Any, attributes: Any, is_rectilinear: bool) -> SubsetStore:
    return SubsetStore(views, attributes, is_rectilinear=is_rectilinear)


def _part_of(view: LazyArray, is_rectilinear: bool) -> tuple[_Part, dict[str, bytes]]:
    """What a store needs of an array, and its documents."""
    array = view._array
    assert isinstance(array, Array)
    source, shape = metadata_of(array), view.shape
    has_same_chunks = view._order == tuple(range(array.ndim)) and all(
        isinstance(one, tuple) and (one[1] == 1 or one[2] < 2) for one in view._axes
    )
    starts = [one[0] for one in view._axes if isinstance(one, tuple)]
    is_moved = source.rectilinear is not None and any(starts)
    if not has_same_chunks or is_moved:
        metadata, has_same_chunks = _with_new_chunks(array, view), False
    else:
        metadata = source.with_shape(shape)
    document = dict(json_loads(nodes.array_document(metadata)))
    grids = _cut_grids(source, starts, shape) if is_rectilinear and has_same_chunks else None
    if grids is not None:
        document["chunk_grid"] = {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": [one.document() for one in grids]},
        }
    is_whole = shape == source.shape
    attributes = {
        key: value
        for key, value in array.attrs.asdict().items()
        if is_whole or key not in _OF_ALL_ELEMENTS
    }
    names = names_of(array)
    if names and len(shape) < array.ndim:
        names = [names[axis] for axis in view._order if axis is not None]
    documents = _documents(document, metadata, attributes, names)
    key = metadata.document_name
    metadata = ArrayMetadata.from_dict(json_loads(documents[key]))
    return _Part(view, metadata, has_same_chunks), documents


def _documents(
    document: dict[str, Any], metadata: ArrayMetadata, attributes: dict[str, Any], names: Any
) -> dict[str, bytes]:
    if "_ARRAY_DIMENSIONS" in attributes:
        attributes["_ARRAY_DIMENSIONS"] = list(names)
    if metadata.zarr_format == 2:
        shown = {ZATTRS: json_dumps(attributes)} if attributes else {}
        return {metadata.document_name: json_dumps(document), **shown}
    document["attributes"] = attributes
    if "dimension_names" in document:
        document["dimension_names"] = list(names)
    return {metadata.document_name: json_dumps(document)}


def _with_new_chunks(array: Array, view: LazyArray) -> ArrayMetadata:
    """The metadata of a view whose chunks are not those of its array."""
    source = metadata_of(array)
    chunks = tuple(
        max(1, min(source.inner_chunk_shape[axis], size)) if axis is not None else 1
        for axis, size in zip(view._order, view.shape, strict=True)
    )
    named = names_of(array)
    options: dict[str, Any] = kept_codecs(array, source.zarr_format, source.dtype, view.ndim)
    if source.zarr_format == 3 and named:
        options["dimension_names"] = [None if k is None else named[k] for k in view._order]
    made = create_array(
        MemoryStore(),
        shape=view.shape,
        chunks=chunks,
        dtype=source.dtype,
        fill_value=source.fill_value,
        zarr_format=source.zarr_format,
        **options,
    )
    return metadata_of(made)


def _cut_grids(
    source: ArrayMetadata, starts: list[int], shape: tuple[int, ...]
) -> list[AxisGrid] | None:
    """The chunks of the source, the first and the last cut; None in v2 and for shards."""
    if source.zarr_format == 2 or source.shard_codec is not None or not shape:
        return None
    grids = []
    for axis, start, size, whole in zip(source.grid, starts, shape, source.shape, strict=True):
        first, stop = axis.find(start), start + size
        runs = [(first.end - start, 1)]
        last = axis.find(max(start, stop - 1))
        if last.chunk > first.chunk:
            # A chunk that reaches beyond the array is not cut there.
            end = last.end if stop == whole else stop
            length = last.end - last.begin
            runs += [(length, last.chunk - first.chunk - 1), (end - last.begin, 1)]
        elif stop != whole or start != first.begin:
            runs = [(max(1, size), 1)]
        grids.append(AxisGrid(runs=tuple(one for one in runs if one[1])))
    return grids


def _encoded(part: _Part, coords: Coords) -> bytes:
    """A chunk that the source does not have, encoded."""
    region = part.region(coords)
    lengths = [axis.chunk(n) for axis, n in zip(part.metadata.grid, coords, strict=True)]
    document = dict(json_loads(nodes.array_document(part.metadata)))
    document["shape"] = [one.stop - one.start for one in region]
    if part.metadata.zarr_format == 3:
        shape = [one.end - one.begin for one in lengths]
        document["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": shape}}
    values = MemoryStore({part.metadata.document_name: json_dumps(document)})
    scratch = Array(values, write_empty_chunks=True)
    scratch[...] = part.view[region].result() if region else part.view.result()
    key = chunk_key(metadata_of(scratch), (0,) * len(region))
    return bytes(values[key])


def _group_documents(zarr_format: Any, attributes: Mapping[str, Any]) -> dict[str, bytes]:
    root = GroupMetadata(zarr_format=zarr_format)
    document = dict(json_loads(nodes.group_document(root)))
    if zarr_format == 2:
        shown = {ZATTRS: json_dumps(dict(attributes))} if attributes else {}
        return {root.document_name: json_dumps(document), **shown}
    return {ZARR_JSON: json_dumps({**document, "attributes": dict(attributes)})}


def _pattern(metadata: ArrayMetadata) -> re.Pattern[str]:
    """The keys of chunks, whose coordinates are the first group."""
    suffix = re.escape(metadata.key_suffix)
    return re.compile(rf"(?:c[/.]?)?((?:\d{{1,19}}[/.]?)*){suffix}")


def _array_of(view: Any) -> Array:
    """The array of a lazy view."""
    array: Array = view._array
    return array
