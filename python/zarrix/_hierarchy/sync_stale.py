"""Keys of a destination that would make a node of the source read otherwise than the source."""

from __future__ import annotations

import re

from zarrix._errors import MetadataError
from zarrix._hierarchy.sync_sides import Side
from zarrix._metadata import v3
from zarrix._nodes.nodes import find, place
from zarrix._stores.keys import DOCUMENTS, ZATTRS, ZMETADATA, key_of

__all__ = ["Stale"]

_CHUNK = re.compile(r"(?:c[./])?\d+(?:[./]\d+)*|c")
# With the suffix that some arrays of v3 give their chunk keys.
_MAY_BE_CHUNK = re.compile(r"(?:(?:c[./])?\d+(?:[./]\d+)*|c)(?:\.[^/]*)?")
_MOST_REMEMBERED = 64


class Stale:
    """Tells stale keys, which go even if nothing is to be deleted.

    A chunk that the source lacks has the fill value there, and attributes that it lacks are none:
    what is left of them in the destination is a part of an older version.

    Parameters
    ----------
    source : Side
    """

    def __init__(self, source: Side) -> None:
        self._source = source
        self._nodes: dict[str, str | None] = {}

    def has(self, key: str) -> bool:
        """Whether a key that the source does not have belongs to a node that it has."""
        folder, _, name = key.rpartition("/")
        if name in (ZATTRS, ZMETADATA):
            return self._suffix(folder, name) is not None
        if name in DOCUMENTS:
            return False
        names = key.split("/")
        for depth in range(len(names)):
            rest = "/".join(names[depth:])
            if not _MAY_BE_CHUNK.fullmatch(rest):
                continue
            suffix = self._suffix("/".join(names[:depth]), "")
            if suffix is not None and rest.endswith(suffix):
                return _CHUNK.fullmatch(rest.removesuffix(suffix)) is not None
        return False

    def _suffix(self, folder: str, document: str) -> str | None:
        """What ends the keys of chunks of the array at a folder; None if there is no array.

        For a ``document`` of any node of v2: not None if there is one.
        """
        known = f"{folder}/{document}"
        if known not in self._nodes:
            if len(self._nodes) >= _MOST_REMEMBERED:
                self._nodes.clear()
            self._nodes[known] = self._look(folder, any_of_v2=bool(document))
        return self._nodes[known]

    def _look(self, folder: str, *, any_of_v2: bool) -> str | None:
        store, path = self._source.store, key_of(self._source.path, folder).rstrip("/")
        try:
            node = find(store, path)
        except MetadataError:
            node = None
        if node is None:
            return None
        if any_of_v2:
            return "" if node.zarr_format == 2 else None
        if node.kind != "array":
            return None
        if node.zarr_format == 2:
            return ""
        try:
            return v3.parse_array(node.document, place(store, path)).key_suffix
        except MetadataError:
            return None
