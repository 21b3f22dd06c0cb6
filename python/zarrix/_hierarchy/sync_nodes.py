"""The node that a key of a side belongs to."""

from __future__ import annotations

import re
from typing import NamedTuple

from zarrix._errors import MetadataError
from zarrix._hierarchy.sync_sides import Side
from zarrix._metadata import v3
from zarrix._nodes.nodes import find, place
from zarrix._stores.keys import ARRAY_DOCUMENT, DOCUMENTS, ZATTRS, ZMETADATA, key_of

__all__ = ["NodesOf", "is_of_zarr"]

_CHUNK = re.compile(r"(?:c[./])?\d+(?:[./]\d+)*|c")
# With the suffix that some arrays of v3 give their chunk keys.
_MAY_BE_CHUNK = re.compile(r"(?:(?:c[./])?\d+(?:[./]\d+)*|c)(?:\.[^/]*)?")
_MOST_REMEMBERED = 64


def is_of_zarr(key: str) -> bool:
    """Whether a key has the name of a document, or that of a chunk."""
    name = key.rpartition("/")[2]
    return name in DOCUMENTS or _CHUNK.fullmatch(name) is not None


class _Found(NamedTuple):
    """A node: its format, its kind, and what ends the keys of its chunks."""

    zarr_format: int
    kind: str
    suffix: str


class NodesOf:
    """Finds the nodes of a side, and remembers the last ones.

    Parameters
    ----------
    side : Side
    """

    def __init__(self, side: Side) -> None:
        self._side = side
        self._found: dict[str, _Found | None] = {}

    def array_document(self, key: str) -> str | None:
        """The key of the document of the array that ``key`` is a chunk of, if there is one."""
        names = key.split("/")
        for depth in range(len(names)):
            rest = "/".join(names[depth:])
            if not _MAY_BE_CHUNK.fullmatch(rest):
                continue
            folder = "/".join(names[:depth])
            node = self._at(folder)
            if node is not None and node.kind == "array" and rest.endswith(node.suffix):
                is_chunk = _CHUNK.fullmatch(rest.removesuffix(node.suffix))
                return key_of(folder, ARRAY_DOCUMENT[node.zarr_format]) if is_chunk else None
        return None

    def owns(self, key: str) -> bool:
        """Whether a node of this side would have a value under ``key``, which it does not have.

        A chunk that is missing has the fill value, and attributes that are missing are none: what
        is left of them elsewhere is a part of an older version.
        """
        folder, _, name = key.rpartition("/")
        if name in (ZATTRS, ZMETADATA):
            node = self._at(folder)
            return node is not None and node.zarr_format == 2
        return name not in DOCUMENTS and self.array_document(key) is not None

    def _at(self, folder: str) -> _Found | None:
        found = self._found
        if folder in found:
            return found[folder]
        # Other threads may look, too.
        if len(found) >= _MOST_REMEMBERED:
            self._found = found = {}
        found[folder] = node = self._look(folder)
        return node

    def _look(self, folder: str) -> _Found | None:
        store, path = self._side.store, key_of(self._side.path, folder).rstrip("/")
        try:
            node = find(store, path)
            if node is None:
                return None
            suffix = ""
            if node.zarr_format == 3 and node.kind == "array":
                suffix = v3.parse_array(node.document, place(store, path)).key_suffix
            return _Found(node.zarr_format, node.kind, suffix)
        except MetadataError:
            return None
