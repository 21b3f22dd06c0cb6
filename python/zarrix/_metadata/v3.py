"""The v3 documents: ``zarr.json`` of arrays and groups.

The document of a new array has the order and spelling of zarr-python 3.4. It is then parsed like
any other, so that one function checks all documents. A document that contradicts itself is an error
that names the key, the value and the allowed values. After a change, the document that was read is
written back with that change: members that this version does not know, and other spellings of the
same data type or codec, are preserved.

An unknown extension is an error, unless the document says with ``"must_understand": false`` that it
may be ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from zarrix._codecs.chain import INDEX_CODECS, check_codecs
from zarrix._codecs.document import CodecDocument
from zarrix._codecs.lossless import check_domains
from zarrix._codecs.normalize import chain_documents, complete_chain, with_listed_orders
from zarrix._dtypes.v2 import is_zero, normalize_fill_value
from zarrix._dtypes.v3 import (
    as_dtype,
    data_type_of,
    decode_data_type,
    decode_fill,
    default_fill,
    encode_fill,
    same_bytes,
    usual_nan,
)
from zarrix._dtypes.variable import is_variable
from zarrix._errors import MetadataError, shorten
from zarrix._metadata.arguments import normalize_chunks, normalize_order, normalize_shape
from zarrix._metadata.array import ARRAY_ENCODERS, ARRAY_PARSERS, ArrayMetadata
from zarrix._metadata.checks import MAX_LENGTH, members_of
from zarrix._metadata.checks import lengths as _lengths
from zarrix._metadata.checks import wrong as _wrong
from zarrix._metadata.chunk_keys import key_encoding_document, parse_key_encoding
from zarrix._metadata.chunk_parts import ChunkGrid, ListedChunkGrid
from zarrix._metadata.grid_documents import (
    check_units,
    grid_document,
    has_lists,
    lists_of,
    parse_grid,
)
from zarrix._metadata.group import GROUP_ENCODERS, GROUP_PARSERS, GroupMetadata
from zarrix._metadata.guess import chunks_of_bytes, guess_shards
from zarrix._metadata.json import json_dumps
from zarrix._metadata.literals import DEFAULT
from zarrix._metadata.parsed_once import parsed_once
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.sizes import is_size, parse_size, size_text
from zarrix._stores.keys import ZARR_JSON

__all__ = [
    "array_document",
    "attributes_document",
    "group_document",
    "kind_and_members",
    "new_array",
    "new_group",
    "node_type",
    "parse_array",
    "parse_attributes",
    "parse_group",
]


_ARRAY_KEYS = (
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
)
_KNOWN_KEYS = {*_ARRAY_KEYS, "attributes", "dimension_names", "storage_transformers"}
_GROUP_KEYS = {"zarr_format", "node_type", "attributes", "consolidated_metadata"}
_MAX_AXES = 64


# New documents


def new_array(
    *,
    shape: Any,
    dtype: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    serializer: Any = "auto",
    compressors: Any = "auto",
    codecs: Any = None,
    fill_value: Any = DEFAULT,
    order: str | None = "C",
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    label: str = ZARR_JSON,
) -> ArrayMetadata:
    """The metadata of a new v3 array.

    Parameters
    ----------
    shape, dtype, chunks, shards, filters, serializer, compressors, fill_value, attributes,
    chunk_key_encoding, dimension_names
        As in ``zarrix.create_array``.
    codecs : iterable of codecs, optional
        The whole chain, instead of filters, serializer, compressors and shards.
    order : "C" or "F"
        "F" stores the axes of a chunk in reverse order, by a transpose codec.
    label : str
        Label of the new document, for messages.

    Raises
    ------
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.
    UnknownCodecError, BadCompressorError
        A codec is not a codec, is not available, or does not preserve the elements.
    """
    full = as_dtype(dtype)
    element = full if is_variable(full) else full.base.newbyteorder("=")
    lengths = normalize_shape(shape) + full.shape
    data_type = data_type_of(element)
    chunk_shape, shard, location = _partition(chunks, shards, lengths, element.itemsize)
    if codecs is not None:
        if shard is not None:
            raise ValueError(
                "shards= and codecs= exclude each other: put a ShardingCodec in codecs"
            )
        chain = complete_chain(codecs, element)
    else:
        chain = chain_documents(filters, serializer, compressors, element)
    chain = with_listed_orders(chain, len(lengths))
    if order is not None and normalize_order(order) == "F" and len(lengths) > 1:
        axes = list(reversed(range(len(lengths))))
        chain.insert(0, {"name": "transpose", "configuration": {"order": axes}})
    if shard is not None:
        inner = {
            "chunk_shape": list(chunk_shape),
            "codecs": chain,
            "index_codecs": INDEX_CODECS,
            "index_location": location,
        }
        chain = [{"name": "sharding_indexed", "configuration": inner}]
    document: dict[str, Any] = {
        "shape": list(lengths),
        "data_type": data_type,
        "chunk_grid": _grid_of(shard or chunk_shape),
        "chunk_key_encoding": key_encoding_document(chunk_key_encoding),
        "fill_value": encode_fill(_new_fill(fill_value, element), element),
        "codecs": chain,
        "attributes": dict(attributes or {}),
    }
    if dimension_names is not None:
        document["dimension_names"] = list(dimension_names)
    document.update(zarr_format=3, node_type="array", storage_transformers=[])
    # Through JSON and back, so that tuples and NumPy numbers become what a reader will see.
    metadata = parse_array(_dumps(document, label), label)
    check_domains(metadata.codecs, metadata.dtype)
    metadata.layout(new=True)
    return metadata


def _grid_of(chunk_shape: Any) -> dict[str, Any]:
    """The chunk grid; a rectilinear one if the chunks are listed."""
    if isinstance(chunk_shape, list):
        configuration = {"kind": "inline", "chunk_shapes": chunk_shape}
        return {"name": "rectilinear", "configuration": configuration}
    return {"name": "regular", "configuration": {"chunk_shape": list(chunk_shape)}}


def _new_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    if value is DEFAULT or value is None:
        return default_fill(dtype)
    if dtype.isbuiltin == 2 or (dtype.kind in "fc" and not isinstance(value, str)):
        # Only by NumPy's cast, which keeps the sign of a zero.
        cast = np.asarray(value).astype(dtype)[()]
        # A type without a zero casts it to NaN; its smallest value is used instead, as in
        # documents.
        if cast != cast and is_zero(value):
            return default_fill(dtype)
        return usual_nan(cast) if DIALECT.is_zarr3 and cast != cast else cast
    if dtype.names is not None and isinstance(value, Mapping):
        return decode_fill(dict(value), dtype, "fill_value")
    return normalize_fill_value(value, dtype)


def _partition(
    chunks: Any, shards: Any, shape: tuple[int, ...], itemsize: int
) -> tuple[Any, Any, str]:
    """Chunk shape, shard shape if there are shards, and the location of the shard index.

    Chunks or shards of different lengths along an axis are a list of lengths.
    """
    location: Any = "end"
    if isinstance(shards, Mapping):
        location = shards.get("index_location", location)
        location = getattr(location, "value", location)
        shards = shards["shape"]
    if isinstance(chunks, ChunkGrid):
        chunks = [*chunks.axes] if isinstance(chunks, ListedChunkGrid) else chunks.chunk_shape
    if has_lists(chunks):
        if shards is not None and shards is not False:
            raise ValueError(
                "chunks= lists lengths, but inner chunks of shards have one shape; list the "
                "lengths of the shards: chunks=(10, 10), shards=[[20, 30], 50]"
            )
        return lists_of(chunks, shape, None, "chunks"), None, location
    if has_lists(shards):
        if chunks is None or isinstance(chunks, (str, bool)):
            raise ValueError(f"shards= lists lengths; give chunks= as lengths, not {chunks!r}")
        inner = _at_least_one(normalize_chunks(chunks, shape, itemsize))
        return inner, lists_of(shards, shape, inner, "shards"), location
    wanted = parse_size(chunks, "chunks") if is_size(chunks) else None
    automatic = chunks is None or chunks is True or (isinstance(chunks, str) and chunks == "auto")
    shard: tuple[int, ...] | None = None
    if isinstance(shards, str):
        shard = ()
    elif shards is not None and shards is not False:
        shard = _at_least_one(normalize_chunks(shards, shape, itemsize))
    if wanted is not None:
        chunk = chunks_of_bytes(shard or shape, itemsize, wanted, divide=bool(shard))
    elif automatic and shard:
        chunk = chunks_of_bytes(shard, itemsize, 2**20, divide=True)
    else:
        chunk = _at_least_one(normalize_chunks(chunks, shape, itemsize)) if shape else ()
    if shard == () and shape:
        limit = _automatic_limit() if shards == "auto" else _limit_of(shards)
        shard = guess_shards(shape, chunk, itemsize, limit)
    return chunk, shard, location


def _automatic_limit() -> int | None:
    # zarr-python's name for what programs set around the creation of an array.
    given = config.get("array.target_shard_size_bytes")
    return None if given is None else parse_size(given, "array.target_shard_size_bytes")


def _limit_of(shards: str) -> int:
    if not is_size(shards):
        raise ValueError(
            f"shards={shorten(shards)}; expected lengths, 'auto', or a size such as '64 MiB'"
        )
    return parse_size(shards, "shards")


def _at_least_one(lengths: tuple[int, ...]) -> tuple[int, ...]:
    # v3 has no chunks of length zero, even if an axis is empty.
    return tuple([max(length, 1) for length in lengths])


def new_group(attributes: Mapping[str, Any] | None = None) -> GroupMetadata:
    """The metadata of a new v3 group."""
    # Through JSON, so that tuples become what a reader will see.
    return parse_group(group_document(GroupMetadata(attributes=dict(attributes or {}))))


# Documents that are stored


# Cached, because the same document may be opened many times.
_MOST_CACHED_BYTES = 2**14


@lru_cache(maxsize=256)
def _node_type_cached(document: bytes) -> str | None:
    """The node that a valid document describes; None for any other document."""
    try:
        members = json.loads(document)
    except (ValueError, RecursionError):
        return None
    kind = members.get("node_type") if isinstance(members, Mapping) else None
    return kind if kind in ("array", "group") else None


def node_type(document: Any, label: str) -> str:
    """The kind of node of a ``zarr.json``: ``"array"`` or ``"group"``."""
    return kind_and_members(document, label)[0]


def kind_and_members(document: Any, label: str) -> tuple[str, Mapping[str, Any] | None]:
    """The kind of node of a ``zarr.json``, and the parsed document if it was parsed for that."""
    if isinstance(document, bytes) and len(document) <= _MOST_CACHED_BYTES:
        known = _node_type_cached(document)
        if known is not None:
            return known, None
    members = members_of(document, label)
    kind = members.get("node_type")
    if kind not in ("array", "group"):
        raise _wrong(label, "node_type", kind, "'array' or 'group'")
    return str(kind), members


def _check_transformers(transformers: Any, label: str) -> None:
    if not transformers:
        return
    names = transformers
    if isinstance(transformers, list):
        names = [one.get("name") if isinstance(one, Mapping) else one for one in transformers]
    expected = "an empty list, because zarrix supports no storage transformers"
    raise _wrong(label, "storage_transformers", names, expected)


@parsed_once(ZARR_JSON)
def parse_array(document: Any, label: str = ZARR_JSON) -> ArrayMetadata:
    """The array that a ``zarr.json`` document describes.

    Parameters
    ----------
    document : bytes, str or Mapping
        A mapping is parsed JSON, as in consolidated metadata.
    label : str
        Label of the document, with which messages begin.

    Raises
    ------
    MetadataError
        It is not JSON, lacks a key, contradicts itself, or needs an unknown extension.
    UnknownCodecError
        A codec is not known.
    """
    members = members_of(document, label)
    missing = [key for key in _ARRAY_KEYS if key not in members]
    if missing:
        raise MetadataError(
            f"{label}: lacks the key {', '.join(map(repr, missing))}; a v3 array has "
            f"{', '.join(_ARRAY_KEYS)}"
        )
    _check_node(members, "array", _KNOWN_KEYS, label)
    _check_transformers(members.get("storage_transformers") or [], label)
    shape = _lengths(members["shape"], "shape", 0, label)
    dtype = decode_data_type(members["data_type"], f"{label}: key 'data_type'")
    codecs = tuple(check_codecs(members["codecs"], f"{label}: key 'codecs' is"))
    keys = parse_key_encoding(members["chunk_key_encoding"], label)
    chunk_shape, rectilinear = parse_grid(members["chunk_grid"], shape, label)
    metadata = ArrayMetadata(
        zarr_format=3,
        shape=shape,
        chunk_shape=chunk_shape,
        rectilinear=rectilinear,
        dtype=dtype,
        fill_value=decode_fill(members["fill_value"], dtype, f"{label}: key 'fill_value'"),
        codecs=tuple(map(CodecDocument, codecs)),
        key_encoding=keys[:2],
        key_suffix=keys.suffix,
        extra=members,
        where=label,
    )
    _check_names(members.get("dimension_names"), shape, label)
    if rectilinear is not None and metadata.shard_codec is not None:
        check_units(rectilinear, metadata.inner_chunk_shape, label)
    _check_size(metadata, label)
    return metadata


def _check_names(names: Any, shape: tuple[int, ...], label: str) -> None:
    if names is None:
        return
    valid = isinstance(names, list | tuple) and all(isinstance(one, str | None) for one in names)
    if not valid or len(names) != len(shape):
        expected = f"a list of {len(shape)} names, one per axis of the shape {list(shape)}, or null"
        raise _wrong(label, "dimension_names", names, expected)


def _check_size(metadata: ArrayMetadata, label: str) -> None:
    """The unit of decoding and indexing must fit into memory."""
    item, whole = metadata.dtype.itemsize, math.prod(metadata.chunk_shape)
    inner = math.prod(metadata.inner_chunk_shape)
    needed = max(inner * item, 16 * (whole // inner) if whole != inner else 0)
    if len(metadata.shape) > _MAX_AXES:
        raise _wrong(label, "shape", metadata.shape, f"at most {_MAX_AXES} axes")
    if needed > config.max_chunk_bytes or whole * item > MAX_LENGTH:
        raise _wrong(
            label,
            "chunk_grid.configuration.chunk_shape",
            metadata.chunk_shape,
            f"chunks of at most {size_text(config.max_chunk_bytes)} "
            f"(config.max_chunk_bytes), and one of {metadata.dtype} would need "
            f"{size_text(max(needed, whole * item))}",
        )


def array_document(metadata: ArrayMetadata) -> bytes:
    """The ``zarr.json`` of an array, as zarr-python 3 writes it."""
    if metadata._written:
        return metadata._written[0]
    members = {**metadata.extra, "shape": list(metadata.shape)}
    where, dtype = metadata.where, metadata.dtype
    if metadata.rectilinear is not None:
        members["chunk_grid"] = grid_document(metadata.rectilinear, members["chunk_grid"])
    elif 0 in members["chunk_grid"]["configuration"]["chunk_shape"]:
        # Read as another length, which the axis has when it is not empty any more.
        members["chunk_grid"] = _grid_of(metadata.chunk_shape)
    stored = decode_fill(members["fill_value"], dtype, f"{where}: key 'fill_value'")
    if not same_bytes(stored, metadata.fill_value, dtype):
        members["fill_value"] = encode_fill(metadata.fill_value, dtype)
    document = _dumps(members, where)
    metadata._written.append(document)
    return document


def parse_group(document: Any, label: str = ZARR_JSON) -> GroupMetadata:
    """The group that a ``zarr.json`` document describes; `MetadataError` if it is invalid."""
    members = members_of(document, label)
    for key in ("zarr_format", "node_type"):
        if key not in members:
            raise MetadataError(f"{label}: lacks the key {key!r}; a v3 group has it")
    _check_node(members, "group", _GROUP_KEYS, label)
    return GroupMetadata(dict(members.get("attributes", {})), extra=members)


def group_document(metadata: GroupMetadata) -> bytes:
    """The ``zarr.json`` of a group, as zarr-python 3 writes it."""
    new = {"attributes": {}, "zarr_format": 3, "node_type": "group"}
    members = {**(metadata.extra or new), "attributes": dict(metadata.attributes)}
    return _dumps(members, ZARR_JSON)


def parse_attributes(document: Any, label: str = ZARR_JSON) -> dict[str, Any]:
    """The attributes in a ``zarr.json``."""
    attributes = members_of(document, label).get("attributes", {})
    if not isinstance(attributes, Mapping):
        raise _wrong(label, "attributes", attributes, "an object")
    return dict(attributes)


def attributes_document(document: Any, attributes: Mapping[str, Any], label: str) -> bytes:
    """The document with other attributes, and otherwise unchanged."""
    members = dict(members_of(document, label))
    if "attributes" not in members:
        # In zarr-python's position: before the members that every node has.
        members = {"attributes": {}, **members}
    return _dumps({**members, "attributes": dict(attributes)}, label)


def _dumps(members: Mapping[str, Any], label: str) -> bytes:
    try:
        return json_dumps(members, indent=2, sort_keys=False)
    except (TypeError, ValueError, RecursionError) as error:
        for key, value in dict(members.get("attributes", {})).items():
            if not _is_json(value):
                raise TypeError(
                    f"{label}: attribute {key!r} is a {type(value).__name__} that cannot be "
                    f"written as JSON ({error}); use str, int, float, bool, None, lists or dicts"
                ) from None
        raise MetadataError(f"{label}: cannot be written as JSON ({error})") from None


def _is_json(value: Any) -> bool:
    try:
        json_dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _check_node(members: Mapping[str, Any], kind: str, known: Iterable[str], label: str) -> None:
    if members["zarr_format"] != 3 or isinstance(members["zarr_format"], bool):
        raise _wrong(label, "zarr_format", members["zarr_format"], "3")
    if members["node_type"] != kind:
        raise _wrong(label, "node_type", members["node_type"], repr(kind))
    attributes = members.get("attributes", {})
    if not isinstance(attributes, Mapping):
        raise _wrong(label, "attributes", attributes, "an object")
    for key, value in members.items():
        if key in known:
            continue
        if not isinstance(value, Mapping) or value.get("must_understand") is not False:
            raise MetadataError(
                f"{label}: key {key!r} is an extension that this version does not know, and the "
                "document does not say with 'must_understand': false that it may be ignored"
            )


ARRAY_ENCODERS[3] = array_document
ARRAY_PARSERS[3] = parse_array
GROUP_PARSERS[3] = parse_group
GROUP_ENCODERS[3] = group_document
