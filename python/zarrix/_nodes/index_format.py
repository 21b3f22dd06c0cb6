"""The format of an index of a hierarchy: which node is where, and how its documents are stored.

An index is a v3 group of two arrays of variable-length bytes, compressed with gzip. Element n of
``groups`` has the members of all groups whose path has the hash n: a line of JSON that says what
the element is of, and a line for each member, with its path and its documents, in the order of
names. The members of a large group are in elements of ``blocks``, which lie in shards; ``groups``
then has the first name of each block, and where its bytes are. So one request finds the members of
a group, and a second one those of a large group. Every element names the tag of the consolidated
metadata that it was made of: an index of several builds, or of another state, is found out by each
element itself.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from zarrix._errors import MetadataError
from zarrix._runtime.config import config

__all__ = [
    "BUCKETS",
    "Element",
    "Head",
    "array_document",
    "bucket_key",
    "bucket_of",
    "documents_of",
    "element_of",
    "group_document",
    "is_group_document",
    "line_of",
    "names_of",
    "packed",
    "shard_key",
]

VERSION = 1
BUCKETS = 256
# Before the value of the one element of a chunk: the number of elements, and its length.
_LENGTHS = struct.Struct("<II")
_GZIP = 31
_DAMAGE = (ValueError, TypeError, AttributeError, RecursionError, zlib.error, struct.error)


class Head(NamedTuple):
    """The first line of an element.

    Attributes
    ----------
    tag : str
        Length and tag of the consolidated metadata.
    key : str
        Of the consolidated metadata.
    own : int or str
        The number of the element of ``groups``; the group of a block.
    blocks : dict of str to list
        By path, the blocks of large groups, in order: the path of the first member, the number of
        the shard, offset and length.
    """

    tag: str
    key: str
    own: int | str
    blocks: Mapping[str, Sequence[Any]]

    def encoded(self) -> bytes:
        """The line."""
        return json.dumps([VERSION, *self]).encode()


class Element(NamedTuple):
    """An element of an index: its head, and the encoded documents of nodes by path."""

    head: Head
    documents: dict[str, bytes]


def bucket_of(path: str) -> int:
    """The element of ``groups`` that has the members of the group at ``path``."""
    return zlib.crc32(path.encode("utf-8", "surrogatepass")) % BUCKETS


def bucket_key(number: int) -> str:
    """The key of an element of ``groups``, in the index."""
    return f"groups/c/{number}"


def shard_key(number: int) -> str:
    """The key of a shard of ``blocks``."""
    return f"blocks/c/{number}"


def line_of(path: str, documents: Mapping[str, bytes]) -> bytes:
    """The line of a node: its path and its encoded documents by name."""
    inside = (json.dumps(name).encode() + b":" + one for name, one in documents.items())
    return json.dumps(path).encode() + b"\t{" + b",".join(inside) + b"}"


def _split(line: bytes) -> tuple[str, bytes]:
    """The path in a line, and the encoded documents."""
    path, _, documents = line.partition(b"\t")
    found = json.loads(path)
    if not isinstance(found, str):
        raise ValueError(f"{found!r} is not a path")
    return found, documents


def packed(head: Head, lines: Iterable[bytes]) -> bytes:
    """An element as a chunk: encoded by ``vlen-bytes`` and ``gzip``."""
    text = b"\n".join([head.encoded(), *lines])
    # No time in the header: equal elements are equal bytes.
    pack = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return pack.compress(_LENGTHS.pack(1, len(text)) + text) + pack.flush()


def element_of(chunk: bytes, own: int | str, label: str) -> Element:
    """The element of a chunk, which must be that of a group or bucket.

    Raises
    ------
    MetadataError
        It is damaged, longer than ``config.max_document_bytes``, of another version of the format,
        or another element.
    """
    try:
        head, *lines = _text(chunk).split(b"\n")
        version, *members = json.loads(head)
        found = Head(*members)
        documents = dict(map(_split, lines))
        is_own = version == VERSION and found.own == own and isinstance(found.tag, str)
        is_own = is_own and all(map(_are_blocks, found.blocks.values()))
    except _DAMAGE as error:
        raise MetadataError(f"{label}: not an element of an index ({error})") from None
    if not is_own:
        raise MetadataError(f"{label}: not the element {own!r} of an index of version {VERSION}")
    return Element(found, documents)


def _are_blocks(rows: Any) -> bool:
    """Whether a claim about the blocks of a group can be true."""
    firsts = [first for first, *_ in rows]
    numbers = [number for _, *row in rows for number in row]
    is_valid = all(len(row) == 4 for row in rows) and all(isinstance(one, str) for one in firsts)
    is_valid = is_valid and all(type(one) is int and 0 <= one < 2**62 for one in numbers)
    lengths = [row[3] for row in rows] if is_valid else []
    return is_valid and firsts == sorted(firsts) and all(0 < n <= _most() for n in lengths)


def _most() -> int:
    return config.max_document_bytes


def _text(chunk: bytes) -> bytes:
    most = _most()
    unpack = zlib.decompressobj(_GZIP)
    data = unpack.decompress(chunk, most + _LENGTHS.size)
    if not unpack.eof:
        raise ValueError(f"cut, or more than {most} bytes (config.max_document_bytes)")
    count, length = _LENGTHS.unpack_from(data)
    if count != 1 or length != len(data) - _LENGTHS.size:
        raise ValueError("its lengths are wrong")
    return data[_LENGTHS.size :]


def names_of(element: Element, group: str) -> list[str]:
    """The names of the members of a group that are in an element, in order."""
    start = len(group) + 1 if group else 0
    found = (path for path in element.documents if path.rpartition("/")[0] == group)
    return [path[start:] for path in found if path]


def documents_of(encoded: bytes) -> dict[str, Any] | None:
    """The documents of a node by name; None if they are damaged."""
    try:
        found = json.loads(encoded)
    except (ValueError, RecursionError):
        return None
    is_valid = isinstance(found, dict) and all(isinstance(one, dict) for one in found.values())
    return found if is_valid else None


def array_document(length: int, per_shard: int) -> bytes:
    """The document of one of the two arrays, whose chunks are one element each."""
    codecs: list[Any] = [
        {"name": "vlen-bytes"},
        {"name": "gzip", "configuration": {"level": 6}},
    ]
    if per_shard > 1:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}]
        shard = {
            "chunk_shape": [1], "codecs": codecs, "index_codecs": index, "index_location": "end",
        }  # fmt: skip
        codecs = [{"name": "sharding_indexed", "configuration": shard}]
    grid = {"name": "regular", "configuration": {"chunk_shape": [per_shard]}}
    keys = {"name": "default", "configuration": {"separator": "/"}}
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [length],
        "data_type": "variable_length_bytes", "chunk_grid": grid, "chunk_key_encoding": keys,
        "fill_value": "", "codecs": codecs, "attributes": {},
    }  # fmt: skip
    return json.dumps(document, indent=2).encode()


def group_document(tag: str, nodes: int) -> bytes:
    """The document of the index."""
    attributes = {"zarrix_index": {"version": VERSION, "tag": tag, "nodes": nodes}}
    return json.dumps(
        {"zarr_format": 3, "node_type": "group", "attributes": attributes}, indent=2
    ).encode()


def is_group_document(document: bytes) -> bool:
    """Whether a document is that of an index, of any version."""
    try:
        return "zarrix_index" in json.loads(document)["attributes"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return False
