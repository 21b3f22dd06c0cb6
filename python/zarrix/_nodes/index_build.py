"""Building an index of a hierarchy from its consolidated metadata, in bounded memory.

The document is read as a stream. Its entries are sorted by the element that they belong to, in
runs on the local disk, so that neither the document nor its entries are in memory at once.
"""

from __future__ import annotations

import gzip
import heapq
import itertools
import json
import marshal
import struct
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from zarrix._errors import ContainsGroupError
from zarrix._nodes.index_format import (
    BUCKETS,
    Head,
    array_document,
    bucket_key,
    bucket_of,
    group_document,
    is_group_document,
    line_of,
    packed,
    shard_key,
)
from zarrix._nodes.long_documents import Entries, entries_of
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, key_of

__all__ = ["build"]

# A group with more bytes of documents is stored in blocks of about this length.
_INLINE = 1 << 20
_BLOCK = 256 << 10
_PER_SHARD = 256
_RUN = 32 << 20
_ABSENT = 2**64 - 1
_CONSOLIDATED = "consolidated_metadata"


class _Record(NamedTuple):
    """A document of a node. ``number`` keeps the order of equal names: the last one counts."""

    bucket: int
    group: str
    path: str
    number: int
    name: str
    document: bytes


def build(store: Store, key: str, index: Store) -> int:
    """Write the index of a hierarchy into a store of its own; return how many nodes it has, or 0 if
    the document has no consolidated metadata.

    Parameters
    ----------
    store : Store
    key : str
        Of the consolidated metadata.
    index : Store
        What is in it is replaced element by element, and never used half.

    Raises
    ------
    ContainsGroupError
        Something else is stored in ``index``.
    MetadataError
        It is damaged, or changes again and again.
    """
    _refuse_others(index)
    with tempfile.TemporaryDirectory(prefix="zarrix-index-") as folder:
        runs = _Runs(folder)
        tag = entries_of(store, key, lambda entries: _sort(entries, key, runs))
        return 0 if tag is None else _Writer(index, tag, key).write(runs.merged())


def _refuse_others(index: Store) -> None:
    """Raise an error where something is stored that is not an index, or a part of one."""
    document = index._value(ZARR_JSON)
    if document is not None:
        is_ours = is_group_document(document)
    else:
        # The document of the index is written last.
        names = {*index.listdir("")}
        is_ours = names <= {"groups", "blocks"} and all(
            {*index.listdir(name)} <= {"c", ZARR_JSON} for name in names
        )
    if not is_ours:
        raise ContainsGroupError(
            f"{index!r} has something other than an index, which is kept; pass index=, an empty "
            "store, or remove it"
        )


def _sort(entries: Entries, key: str, runs: _Runs) -> bool:
    """Sort the entries of a document; return whether it has consolidated metadata."""
    runs.clear()
    is_v3 = key.rpartition("/")[2] == ZARR_JSON
    own: dict[str, Any] = {}
    is_consolidated = not is_v3
    for path, value, _ in entries:
        if isinstance(path, tuple):
            is_consolidated |= path[0] == _CONSOLIDATED and value is not None
            if len(path) == 1 and path[0] != _CONSOLIDATED:
                own[path[0]] = value
            continue
        is_consolidated = True
        node, name = (path, ZARR_JSON) if is_v3 else _split(path)
        if _is_path(node) and isinstance(value, dict):
            value.pop("consolidated_metadata", None)
            runs.add(node, name, _encoded(value))
    if is_v3:
        runs.add("", ZARR_JSON, _encoded(own))
    return is_consolidated


def _split(key: str) -> tuple[str, str]:
    node, _, name = key.rpartition("/")
    return node, name


def _encoded(document: Any) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _is_path(path: str) -> bool:
    """Whether a node can be at a path, which lookups may ask for."""
    return not path or all(name.strip(".") for name in path.split("/"))


class _Runs:
    """Records that are sorted in runs on the disk."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.clear()

    def clear(self) -> None:
        """Begin again."""
        self._files: list[str] = []
        self._records: list[_Record] = []
        self._bytes, self._number = 0, 0

    def add(self, path: str, name: str, document: bytes) -> None:
        """Add a document of a node."""
        group = path.rpartition("/")[0]
        self._number += 1
        self._records.append(_Record(bucket_of(group), group, path, self._number, name, document))
        self._bytes += len(document) + len(path) * 2 + 300
        if self._bytes > _RUN:
            self._spill()

    def _spill(self) -> None:
        self._records.sort()
        file = f"{self._folder}/{len(self._files)}"
        with gzip.open(file, "wb", compresslevel=1) as opened:
            for record in self._records:
                opened.write(marshal.dumps(tuple(record)))
        self._files.append(file)
        self._records, self._bytes = [], 0

    def merged(self) -> Iterator[_Record]:
        """All records in order."""
        self._records.sort()
        return heapq.merge(self._records, *map(_read, self._files))


def _read(file: str) -> Iterator[_Record]:
    with gzip.open(file, "rb") as opened:
        while True:
            try:
                yield _Record(*marshal.load(opened))
            except EOFError:
                return


class _Writer:
    """Writes the elements of an index, one after the other."""

    def __init__(self, index: Store, tag: str, key: str) -> None:
        self._index, self._tag, self._key = index, tag, key
        self._chunks: list[bytes] = []
        self._nodes, self._blocks = 0, 0

    def write(self, records: Iterator[_Record]) -> int:
        """Write everything; return the number of nodes."""
        done = 0
        for bucket, own in itertools.groupby(records, key=lambda one: one.bucket):
            for empty in range(done, bucket):
                self._bucket(empty, iter(()))
            self._bucket(bucket, own)
            done = bucket + 1
        for empty in range(done, BUCKETS):
            self._bucket(empty, iter(()))
        self._end_shard()
        length = max(self._blocks, 1)
        index = self._index
        index[key_of("groups", ZARR_JSON)] = array_document(BUCKETS, 1)
        index[key_of("blocks", ZARR_JSON)] = array_document(length, _PER_SHARD)
        index[ZARR_JSON] = group_document(self._tag, self._nodes)
        return self._nodes

    def _bucket(self, number: int, records: Iterator[_Record]) -> None:
        lines: list[bytes] = []
        large: dict[str, list[Any]] = {}
        for group, own in itertools.groupby(records, key=lambda one: one.group):
            members = self._lines(own)
            first = list(_until(members, _INLINE))
            following = next(members, None)
            if following is None:
                lines += [line for _, line in first]
            else:
                rest = itertools.chain(first, [following], members)
                large[group] = list(self._in_blocks(group, rest))
        head = Head(self._tag, self._key, number, large)
        self._index[bucket_key(number)] = packed(head, lines)

    def _lines(self, records: Iterator[_Record]) -> Iterator[tuple[str, bytes]]:
        for path, own in itertools.groupby(records, key=lambda one: one.path):
            documents = {one.name: one.document for one in own}
            self._nodes += 1
            yield path, line_of(path, documents)

    def _in_blocks(self, group: str, members: Iterator[tuple[str, bytes]]) -> Iterator[list[Any]]:
        for first, line in members:
            block = [line, *(one for _, one in _until(members, _BLOCK))]
            head = Head(self._tag, self._key, group, {})
            chunk = packed(head, block)
            offset = sum(map(len, self._chunks))
            yield [first, self._blocks // _PER_SHARD, offset, len(chunk)]
            self._chunks.append(chunk)
            self._blocks += 1
            if len(self._chunks) == _PER_SHARD:
                self._end_shard()

    def _end_shard(self) -> None:
        if not self._chunks:
            return
        places = [_ABSENT] * (2 * _PER_SHARD)
        offset = 0
        for number, chunk in enumerate(self._chunks):
            places[2 * number : 2 * number + 2] = offset, len(chunk)
            offset += len(chunk)
        table = struct.pack(f"<{len(places)}Q", *places)
        number = (self._blocks - 1) // _PER_SHARD
        self._index[shard_key(number)] = b"".join([*self._chunks, table])
        self._chunks = []


def _until(members: Iterator[tuple[str, bytes]], limit: int) -> Iterator[tuple[str, bytes]]:
    """The next members, until they have ``limit`` bytes."""
    used = 0
    while used < limit:
        one = next(members, None)
        if one is None:
            return
        used += len(one[1])
        yield one
