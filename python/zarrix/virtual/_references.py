"""`references`: the chunks of virtual arrays as references that kerchunk and fsspec define.

A reference names bytes, and changes none. So a chunk of a piece has to be a chunk of the whole,
with the same codecs; everything else is an error that names the piece.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from zarrix._array.access import io_of, location_of, metadata_of
from zarrix._array.array import Array
from zarrix._array.boxes import MOST_AT_ONCE
from zarrix._array.create_array import create_array
from zarrix._array.dimension_names import names_of
from zarrix._errors import ConversionError, MetadataError, PieceNotFoundError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_loads
from zarrix._metadata.translate import parsed, to_3
from zarrix._nodes.nodes import array_document
from zarrix._runtime.new_files import whole_file
from zarrix._runtime.signatures import takes
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, key_of
from zarrix._stores.local import DirectoryStore
from zarrix._stores.memory import MemoryStore
from zarrix._stores.reference.store import ReferenceStore
from zarrix._stores.remote.store import RemoteStore
from zarrix.convert._cf import in_v3, shown
from zarrix.convert._file_store import FileStore
from zarrix.virtual._files import RemoteFile
from zarrix.virtual._open import store_of
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import Table
from zarrix.virtual._target import require_free

__all__ = ["references"]

_NOT_KEPT = {"scale", "offset", "nan", "dtype", "step"}

# A reference: text, or a URL with an offset and a length.
Reference = str | list[Any]


@takes()
def references(
    node: Array | Group, path: str | os.PathLike[str], *, overwrite: bool = False
) -> None:
    """Write the chunks of a virtual array or group as kerchunk's references, for other programs.

    fsspec's file system of references, zarr-python, xarray and `zarrix.open` read the same elements
    as this array has, or the call is an error: pieces need the same codecs, their chunks have to be
    chunks of the whole, and elements that are cast or decoded have no bytes to refer to. Documents
    are v2 if all pieces are v2 or files, and v3 otherwise; pieces of other chunk lengths along an
    axis make a rectilinear grid, which is v3.

    Parameters
    ----------
    node : Array or Group
        A virtual one, as a whole.
    path : str or Path
        A file whose name ends in ``.json``.
    overwrite : bool
        Replace a file of references that is there.

    Raises
    ------
    ConversionError
        The references would not be exact; the message names the piece and says why.
    VirtualError
        ``path`` is another file than one of references.
    OverlapError
        ``path`` is a piece, or is inside of one.
    PieceNotFoundError
        A piece is gone, and may not be.
    FileExistsError
        The file exists, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> for day in range(2):
    ...     _ = zarr.create_array(f"day{day}.zarr", data=[day] * 4, chunks=(2,))
    >>> virtual.references(virtual.concat("day*.zarr"), "days.json")
    >>> zarr.open("days.json", mode="r")[2:6]
    array([0, 0, 1, 1])
    """
    store, target = store_of(node), os.fspath(path)
    if not target.endswith(".json"):
        raise ConversionError(f"{target!r} is a file of references, whose name ends in .json")
    try:
        refs = _Export(store, 2).references()
    except _NotOfVersion2:
        refs = _Export(store, 3).references()
    document = {"version": 1, "refs": refs}
    # The documents are those that readers will parse.
    made: Any = open_node(ReferenceStore(document), mode="r")
    for array in [made] if isinstance(made, Array) else [one for _, one in made.arrays()]:
        metadata_of(array)
    if overwrite:
        require_free(store, target, "a file of references")
    with whole_file(target, overwrite=overwrite) as file:
        file.write(json.dumps(document).encode())


class _NotOfVersion2(Exception):
    """The references need documents of v3."""


class _Export:
    """The references to one virtual array or group, with documents of one version."""

    def __init__(self, store: VirtualStore, zarr_format: Literal[2, 3]) -> None:
        self._store, self._format = store, zarr_format

    def references(self) -> dict[str, Reference]:
        """All keys, and what is stored under each."""
        refs: dict[str, Reference] = {}
        names = [key.rpartition(ZARR_JSON)[0].rstrip("/") for key in self._store.stored_values]
        documents = {name for name in names if key_of(name, ZARR_JSON) in self._store.stored_values}
        for name in sorted(documents):
            node: Any = open_node(self._store, mode="r", path=name or None)
            if isinstance(node, Group):
                refs |= self._group(name, node.attrs.asdict())
            elif name in self._store.tables:
                refs |= _Pieces(self._store, node, self._format).references()
            else:
                refs |= self._inline(name, node)
        return refs

    def _group(self, name: str, attributes: Mapping[str, Any]) -> dict[str, Reference]:
        if self._format == 3:
            group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
            return {key_of(name, ZARR_JSON): json.dumps(group)}
        found: dict[str, Reference] = {key_of(name, ZGROUP): '{"zarr_format": 2}'}
        if attributes:
            found[key_of(name, ZATTRS)] = json.dumps(attributes)
        return found

    def _inline(self, name: str, array: Array) -> dict[str, Reference]:
        """An array whose elements are in the list: its chunks are in the references."""
        stored = MemoryStore()
        names = names_of(array)
        made = create_array(
            stored,
            name=name or None,
            shape=array.shape,
            dtype=array.dtype,
            chunks=tuple(max(1, length) for length in array.shape),
            zarr_format=self._format,
            # Nothing is missing, and readers of v2 take a fill value for missing values.
            fill_value=None if self._format == 2 else array.fill_value,
            compressors=None if array.dtype.kind not in "OT" else "auto",
            attributes=_attributes(array, self._format),
            dimension_names=list(names) if names and self._format == 3 else None,
        )
        made[...] = array[...]
        below = f"{name}/" if name else ""
        return {key: _inlined(stored[key]) for key in stored if key.startswith(below)}


class _Pieces:
    """The references to the chunks of one virtual array."""

    def __init__(self, store: VirtualStore, array: Array, zarr_format: Literal[2, 3]) -> None:
        self._array, self._opener, self._format = array, store.opener, zarr_format
        self._table: Table = store.tables[array.path]
        self._first: tuple[ArrayMetadata, str] | None = None
        # Along each axis, the lengths of chunks by where they begin.
        self._lengths: list[dict[int, int]] = [{} for _ in array.shape]
        # By the position of the first element of a chunk.
        self._parts: list[tuple[tuple[int, ...], Reference]] = []

    def references(self) -> dict[str, Reference]:
        """The documents of the array, and its chunks."""
        for begin in range(0, len(self._table), MOST_AT_ONCE):
            some = range(begin, min(begin + MOST_AT_ONCE, len(self._table)))
            places = [(self._table.sources[n], self._table.paths[n]) for n in some]
            checks = [self._table.checks[n] for n in some]
            arrays = self._opener.arrays(places, checks)
            for number, piece in zip(some, arrays, strict=True):
                self._add(number, piece)
        if self._first is None:
            raise ConversionError(f"{self._array!r} has no pieces, and so nothing to refer to")
        starts, document = self._documents()
        name, refs = self._array.path, dict(document)
        for corner, reference in self._parts:
            coords = [
                int(np.searchsorted(axis, at)) for axis, at in zip(starts, corner, strict=True)
            ]
            refs[self._key(name, coords)] = reference
        return refs

    def _key(self, name: str, coords: Sequence[int]) -> str:
        parts = [*map(str, coords)]
        if self._format == 2:
            return key_of(name, ".".join(parts) or "0")
        return key_of(name, "/".join(["c", *parts]))

    def _add(self, number: int, piece: Array | None) -> None:
        row = self._table.row(number)
        told = self._opener.told(row.source, row.path)
        if piece is None:
            if not row.more.get("fill"):
                raise PieceNotFoundError(f"the piece {told} is gone")
            return
        changed = sorted(_NOT_KEPT & row.more.keys())
        if changed:
            raise ConversionError(
                f"{told} has no references, because its elements are not those of the whole as "
                f"they are stored ({', '.join(changed)})"
            )
        metadata = self._same_codecs(piece, told)
        axes = tuple(row.more.get("axes", range(piece.ndim)))
        if None in axes or list(axes) != sorted(axes):
            raise ConversionError(
                f"{told} has no references, because it lies along the axes {list(axes)} of "
                "the whole"
            )
        if piece.ndim != len(row.shape) and metadata.codecs[0]["name"] != "bytes":
            raise ConversionError(
                f"{told} has no references, because the codec {metadata.codecs[0]['name']!r} "
                "depends on the number of axes, and a stack has one more"
            )
        self._place(piece, axes, row, told)

    def _same_codecs(self, piece: Array, owner: str) -> ArrayMetadata:
        """The metadata of a piece in the format of the references."""
        metadata = metadata_of(piece)
        if metadata.zarr_format != self._format:
            if self._format == 2:
                raise _NotOfVersion2
            try:
                metadata = parsed(to_3(metadata), 3)
            except MetadataError as error:
                raise ConversionError(
                    f"{owner} is v2 beside pieces of v3, and v3 cannot have it: {error}"
                ) from None
        if metadata.rectilinear is not None:
            raise ConversionError(f"{owner} has no references: its chunks differ in length")
        if self._first is None:
            self._first = metadata, owner
            return metadata
        first, first_name = self._first
        mine, theirs = _encoding(first), _encoding(metadata)
        for member in sorted({*mine, *theirs}):
            if mine.get(member) != theirs.get(member):
                raise ConversionError(
                    f"{owner} has {member} {json.dumps(theirs.get(member))}, and {first_name} "
                    f"{json.dumps(mine.get(member))}; one array has the same for all of its chunks"
                )
        return metadata

    def _place(self, piece: Array, axes: tuple[int, ...], row: Any, owner: str) -> None:
        metadata = metadata_of(piece)
        origin = row.more.get("from", (0,) * piece.ndim)
        first: list[int] = []
        counts: list[int] = []
        own = dict(zip(axes, range(piece.ndim), strict=True))
        for axis, (start, length) in enumerate(zip(row.start, row.shape, strict=True)):
            at = own.get(axis)
            chunk = 1 if at is None else metadata.chunk_shape[at]
            begin = 0 if at is None else origin[at]
            ends_whole = start + length == self._array.shape[axis]
            if begin % chunk or ((begin + length) % chunk and not ends_whole):
                where = "begins" if begin % chunk else "ends"
                raise ConversionError(
                    f"{owner} has no references, because it {where} inside of a chunk of {chunk} "
                    f"elements along axis {axis} of the whole"
                )
            count = -(-length // chunk)
            for number in range(count):
                known = self._lengths[axis].setdefault(start + number * chunk, chunk)
                if known != chunk:
                    raise ConversionError(
                        f"{owner} has chunks of {chunk} elements along axis {axis}, where another "
                        f"piece has chunks of {known}"
                    )
            if at is not None:
                first.append(begin // chunk)
                counts.append(count)
        for coords, reference in _stored(piece, first, counts, owner):
            corner = list(row.start)
            for axis, n, begin, length in zip(
                axes, coords, first, metadata.chunk_shape, strict=True
            ):
                corner[axis] += (n - begin) * length
            self._parts.append((tuple(corner), reference))

    def _documents(self) -> tuple[list[list[int]], dict[str, Reference]]:
        """Where chunks begin along each axis, and the documents of the array."""
        assert self._first is not None
        metadata, told = self._first
        lengths = [
            _filled(found, size, axis)
            for axis, (found, size) in enumerate(zip(self._lengths, self._array.shape, strict=True))
        ]
        if self._table.index.covered != int(np.prod(self._array.shape, dtype=object)):
            self._require_fill(metadata, told)
        regular = [found[0] if {*found[:-1]} <= {found[0]} else 0 for found in lengths]
        is_regular = all(
            length and found[-1] <= length for length, found in zip(regular, lengths, strict=True)
        )
        if not is_regular and self._format == 2:
            raise _NotOfVersion2
        document: dict[str, Any] = dict(json_loads(array_document(metadata)))
        document["shape"] = list(self._array.shape)
        refs: dict[str, Reference] = {}
        name, attributes = self._array.path, _attributes(self._array, self._format)
        if self._format == 2:
            document |= {"chunks": regular, "dimension_separator": "."}
            refs[key_of(name, ZARRAY)] = json.dumps(document)
            if attributes:
                refs[key_of(name, ZATTRS)] = json.dumps(attributes)
        else:
            document |= {
                "chunk_grid": _regular(regular) if is_regular else _rectilinear(lengths),
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
                "attributes": attributes,
                "dimension_names": [*names_of(self._array)] or [None] * len(lengths),
            }
            refs[key_of(name, ZARR_JSON)] = json.dumps(document)
        starts = [[0, *itertools.accumulate(found[:-1])] for found in lengths]
        return starts, refs

    def _require_fill(self, metadata: ArrayMetadata, owner: str) -> None:
        mine, theirs = self._array.fill_value, metadata.fill_value
        if theirs is None or not np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fc"):
            raise ConversionError(
                f"holes read as {mine!r} here, and missing chunks of {owner} as {theirs!r}; "
                "references have one fill value"
            )


def _encoding(metadata: ArrayMetadata) -> dict[str, Any]:
    """What all chunks of an array have in common: the document without what may differ."""
    document = json_loads(array_document(metadata))
    differing = ("shape", "chunks", "chunk_grid", "chunk_key_encoding", "dimension_separator")
    return {
        name: value
        for name, value in document.items()
        if name not in (*differing, "attributes", "dimension_names")
    }


def _filled(begun: Mapping[int, int], size: int, axis: int) -> list[int]:
    """The lengths of all chunks along an axis, also where no piece is."""
    lengths: list[int] = []
    usual = max(begun.values())
    at = 0
    for start in [*sorted(begun), size]:
        if start < at and start != size:
            raise ConversionError(f"chunks of pieces overlap at index {start} along axis {axis}")
        whole, rest = divmod(max(0, start - at), usual)
        lengths += [usual] * whole + [rest] * bool(rest)
        length = begun.get(start, 0)
        lengths += [length] * bool(length)
        at = start + length
    return lengths


def _regular(chunks: Sequence[int]) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": [*chunks]}}


def _rectilinear(lengths: Sequence[Sequence[int]]) -> dict[str, Any]:
    runs = [[[n, len([*same])] for n, same in itertools.groupby(axis)] for axis in lengths]
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": runs}}


def _attributes(array: Array, zarr_format: int) -> dict[str, Any]:
    attributes = shown(array)
    if zarr_format == 3:
        return in_v3(attributes, array.dtype)
    names = names_of(array)
    return {**attributes, "_ARRAY_DIMENSIONS": [*names]} if names else attributes


def _inlined(value: bytes) -> str:
    try:
        text = value.decode("ascii")
    except UnicodeDecodeError:
        text = ""
    is_text = text.lstrip().startswith("{")
    return text if is_text else f"base64:{base64.b64encode(value).decode()}"


def _stored(
    piece: Array, first: Sequence[int], counts: Sequence[int], owner: str
) -> Iterator[tuple[tuple[int, ...], Reference]]:
    """The chunks of a part of the grid of a piece that are stored, and where."""
    store = location_of(piece).store
    if isinstance(store, FileStore):
        grid = itertools.product(*(range(at, at + n) for at, n in zip(first, counts, strict=True)))
        yield from _of_file(store, piece, grid, owner)
        return
    for key, coords in io_of(piece).stored_chunks():
        inside = zip(coords, first, counts, strict=True)
        if all(0 <= n - at < count for n, at, count in inside):
            yield tuple(coords), _of_value(store, key, owner)


def _of_file(
    store: FileStore, piece: Array, grid: Iterator[tuple[int, ...]], owner: str
) -> Iterator[tuple[tuple[int, ...], Reference]]:
    _, found = store._arrays[piece.path]
    if found.encoded is None:
        raise ConversionError(f"{owner} has no references, because {found.why_decoded}")
    path = os.fspath(found.encoded.file.path.absolute())
    file = store.url if isinstance(store, RemoteFile) else path
    for coords in grid:
        part = found.encoded.find(coords)
        if part is not None and part.value is None:
            found.encoded.file.require(part.offset, part.length)
            yield coords, [file, part.offset, part.length]
            continue
        value = part.value if part is not None else None
        if value is None:
            name = ".".join(map(str, coords)) or "0"
            value = store.get(key_of(piece.path, name))
        if value is not None:
            yield coords, f"base64:{base64.b64encode(value).decode()}"


def _of_value(store: Store, key: str, owner: str) -> Reference:
    if isinstance(store, RemoteStore):
        return [f"{store.url.rstrip('/')}/{key}"]
    if isinstance(store, DirectoryStore) and isinstance(store.path, str):
        return [os.path.join(os.path.abspath(store.path), key)]
    if isinstance(store, ReferenceStore):
        found = store._references.find(key)
        if isinstance(found, tuple):
            url, offset, length = found
            return [url] if length is None else [url, offset, length]
        if found is not None:
            return f"base64:{base64.b64encode(found).decode()}"
    raise ConversionError(
        f"{owner} has no references, because its chunks are neither files, nor parts of a file, "
        "nor on a server"
    )
