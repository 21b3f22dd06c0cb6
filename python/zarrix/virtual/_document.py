"""The list of a virtual array or group as a JSON document; nothing in it is trusted.

One line for each source and each piece, and no spaces: 100,000 pieces are about 5 MiB.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from zarrix._array.stored import chunk_key
from zarrix._errors import CorruptStoreError, MetadataError, shorten
from zarrix._metadata import v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_loads
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix._stores.path import normalize_storage_path
from zarrix.virtual._overlap import first_overlap
from zarrix.virtual._table import NOTHING_MORE, Source, SourceRows, Table

__all__ = ["Parsed", "parsed", "written"]

_INT64 = 2**63
_MEMBERS = frozenset(("from", "step", "axes", "dtype", "scale", "offset", "nan", "fill"))

Parsed = tuple[SourceRows, dict[str, bytes], dict[str, Table]]
"""Sources, stored values by key, and pieces by the path of their array."""


def written(
    sources: Iterable[Source], values: Mapping[str, bytes], tables: Mapping[str, Table]
) -> bytes:
    """The document of a list."""
    lines = ['{"zarrix_virtual":1,', '"sources":[']
    lines += _rows(list(one) for one in sources)
    lines += ["],", '"nodes":{']
    found = [_node(key, document, values, tables) for key, document in _documents(values)]
    lines.append(",\n".join(found))
    lines.append("}}")
    return "\n".join([*lines, ""]).encode()


def _documents(values: Mapping[str, bytes]) -> list[tuple[str, bytes]]:
    names = sorted(key for key in values if key.rpartition("/")[2] == ZARR_JSON)
    return [(name.removesuffix(ZARR_JSON).rstrip("/"), values[name]) for name in names]


def _node(
    path: str, document: bytes, values: Mapping[str, bytes], tables: Mapping[str, Table]
) -> str:
    stored = json.loads(document)
    if stored["node_type"] == "group":
        kept: dict[str, Any] = {"kind": "group", "attributes": stored.get("attributes", {})}
        return f"{_dumped(path)}:{_dumped(kept)}"
    begin = f'{_dumped(path)}:{{"kind":"array","document":{_dumped(stored)},'
    if path in tables:
        table = tables[path]
        lines = _rows(
            [row.source, row.path, row.start, row.shape, row.check, row.more]
            for row in table.rows()
        )
        return "\n".join([f'{begin}"pieces":[', *lines, "]}"])
    value = values.get(_only_key(path, stored), b"")
    return f'{begin}"inline":{_dumped(base64.b64encode(value).decode())}}}'


def _rows(rows: Iterable[list[Any]]) -> list[str]:
    lines = [_dumped(row) for row in rows]
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


def _dumped(value: Any) -> str:
    # Attributes may be NaN, as in other documents of Zarr.
    return json.dumps(value, separators=(",", ":"))


def _only_key(path: str, document: Mapping[str, Any]) -> str:
    metadata = v3.parse_array(_dumped(document).encode(), path)
    return key_of(path, chunk_key(metadata, (0,) * len(metadata.shape)))


# Reading


class _Reader:
    """One document, with the name that errors give it."""

    def __init__(self, label: str) -> None:
        self.label = label

    def refuse(self, why: str) -> NoReturn:
        raise CorruptStoreError(f"{self.label} is not a list of a virtual array: {why}")

    def sources(self, value: Any) -> SourceRows:
        if not isinstance(value, list):
            self.refuse("'sources' is not a list")
        if not _are_lists(value, 3):
            self.refuse("a source is not [location, format, check]")
        # By columns: a list may have a source for each of 100,000 pieces.
        locations, formats, checks = [*zip(*value, strict=True)] or ((), (), ())
        if not set(map(type, locations)) <= {str} or not all(locations):
            self.refuse("the location of a source is not a path or a URL")
        if not set(map(type, formats)) <= {str} or not set(map(type, checks)) <= {str, type(None)}:
            self.refuse("a source is not [location, format, check]")
        return SourceRows(value)

    def table(self, rows: Any, shape: tuple[int, ...], sources: int) -> Table:
        if not isinstance(rows, list) or not _are_lists(rows, 6):
            self.refuse("a piece is not [source, path, start, shape, check, more]")
        columns = [list(one) for one in zip(*rows, strict=True)] or [[] for _ in range(6)]
        numbers, paths, starts, shapes, checks, more = columns
        if not set(map(type, numbers)) <= {int} or (
            numbers and not 0 <= min(numbers) <= max(numbers) < sources
        ):
            self.refuse("a piece names a source that is not in 'sources'")
        if not set(map(type, paths)) <= {str}:
            self.refuse("the path of a piece is not a text")
        known = {path: self._path(path) for path in set(paths)}
        paths = [*map(known.__getitem__, paths)]
        if not set(map(type, checks)) <= {str, type(None)}:
            self.refuse("the check of a piece is not a text")
        corners = [self._corners(one, len(shape)) for one in (starts, shapes)]
        ends = corners[0] + corners[1]
        if len(rows) and ((corners[0] < 0) | (corners[1] < 0) | (ends > np.array(shape))).any():
            self.refuse(f"a piece does not lie in the shape {shape}")
        kept = [NOTHING_MORE] * len(rows)
        if any(more) or not set(map(type, more)) <= {dict}:
            kept = [NOTHING_MORE if one == {} else self._more(one, len(shape)) for one in more]
        if first_overlap(corners[0], ends) is not None:
            self.refuse("two pieces overlap")
        return Table(shape, (numbers, paths, *corners, checks, kept))

    def _path(self, path: str) -> str:
        try:
            return normalize_storage_path(path)
        except ValueError as error:
            self.refuse(str(error))

    def _corners(self, rows: list[Any], ndim: int) -> Any:
        numbers = [*chain.from_iterable(rows)] if _are_lists(rows, ndim) else [None]
        if not set(map(type, numbers)) <= {int}:
            self.refuse(f"starts and shapes of pieces are {ndim} integers of 64 bits each")
        try:
            found = np.fromiter(numbers, np.int64, len(numbers))
        except OverflowError:
            self.refuse(f"starts and shapes of pieces are {ndim} integers of 64 bits each")
        return found.reshape(len(rows), ndim)

    def _more(self, more: Any, ndim: int) -> Mapping[str, Any]:
        if not isinstance(more, dict) or not more.keys() <= _MEMBERS:
            self.refuse(f"a piece has {shorten(more)}; known are {', '.join(sorted(_MEMBERS))}")
        for name in ("from", "step"):
            value = more.get(name, [])
            if not isinstance(value, list) or not all(map(_is_int, value)):
                self.refuse(f"{name!r} of a piece is {shorten(value)}")
        axes = more.get("axes", [])
        if not isinstance(axes, list) or not all(
            one is None or (_is_int(one) and 0 <= one < ndim) for one in axes
        ):
            self.refuse(f"'axes' of a piece is {shorten(axes)}")
        numbers = [*(more[name] for name in ("scale", "offset") if name in more)]
        nan = more.get("nan", [])
        if not isinstance(nan, list) or not all(map(_is_number, [*numbers, *nan])):
            self.refuse(f"a piece has {shorten(more)}, whose numbers are not finite")
        if not isinstance(more.get("fill", True), bool):
            self.refuse(f"'fill' of a piece is {shorten(more['fill'])}")
        if "dtype" in more:
            self._dtype(more["dtype"])
        return more

    def _dtype(self, name: Any) -> None:
        try:
            found = np.dtype(name) if isinstance(name, str) and len(name) < 64 else None
        except TypeError:
            found = None
        if found is None or found.hasobject:
            self.refuse(f"'dtype' of a piece is {shorten(name)}")


def _are_lists(values: list[Any], length: int) -> bool:
    return set(map(type, values)) <= {list} and set(map(len, values)) <= {length}


def _is_int(value: Any) -> bool:
    return type(value) is int and -_INT64 <= value < _INT64


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < float("inf")


def parsed(text: bytes, label: str) -> Parsed:
    """What a document says.

    Raises
    ------
    CorruptStoreError
        It says something that no list says.
    """
    reader = _Reader(label)
    try:
        document = json_loads(text, label)
    except MetadataError as error:
        raise CorruptStoreError(str(error)) from None
    if not isinstance(document, dict) or document.get("zarrix_virtual") != 1:
        reader.refuse("'zarrix_virtual' is not 1")
    sources = reader.sources(document.get("sources"))
    found = document.get("nodes")
    if not isinstance(found, dict) or "" not in found:
        reader.refuse("'nodes' has no root")
    values: dict[str, bytes] = {}
    tables: dict[str, Table] = {}
    for path, node in found.items():
        if reader._path(path) != path or not isinstance(node, dict):
            reader.refuse(f"{shorten(path)} is not the path of a node")
        if node.get("kind") == "group":
            _add_group(reader, path, node, values)
        else:
            _add_array(reader, path, node, len(sources), (values, tables))
    return sources, values, tables


def _add_group(reader: _Reader, path: str, node: Any, values: dict[str, bytes]) -> None:
    attributes = node.get("attributes", {})
    if not isinstance(attributes, dict):
        reader.refuse(f"the attributes of {path!r} are not an object")
    group = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    values[key_of(path, ZARR_JSON)] = _dumped(group).encode()


def _add_array(
    reader: _Reader,
    path: str,
    node: Any,
    sources: int,
    result: tuple[dict[str, bytes], dict[str, Table]],
) -> None:
    values, tables = result
    if node.get("kind") != "array" or ("pieces" in node) == ("inline" in node):
        reader.refuse(f"{path!r} is neither a group, nor an array with pieces or inline elements")
    try:
        text = _dumped(node.get("document")).encode()
        metadata: ArrayMetadata = v3.parse_array(text, f"{reader.label}, {path or '/'}")
    except (MetadataError, ValueError) as error:
        reader.refuse(str(error))
    values[key_of(path, ZARR_JSON)] = text
    if "pieces" in node:
        tables[path] = reader.table(node["pieces"], metadata.shape, sources)
        return
    try:
        value = base64.b64decode(node["inline"], validate=True)
    except (ValueError, TypeError):
        reader.refuse(f"the inline elements of {path!r} are not base64")
    if value:
        values[_only_key(path, node["document"])] = value
