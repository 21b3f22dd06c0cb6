"""The v2 documents: ``.zarray``, ``.zgroup`` and ``.zattrs``.

We write the same bytes as zarr 2.18 for the same array, with two exceptions for TensorStore, which
make no difference to other readers: ``"checksum": false`` of zstd is left out, and fill values of
bytes have their full length. We read everything that 2.18 reads, including old documents. A
document that contradicts itself is an error that names the key, the value and the allowed values;
it is raised here, so that later code need not check. Members that this version does not know are
kept and written back.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._codecs.lossless import check_domains
from zarrix._codecs.numcodecs import codec_config, normalize_compressor, normalize_filters
from zarrix._codecs.objects import OBJECT_CODECS
from zarrix._dtypes.v2 import (
    decode_dtype,
    decode_fill_value,
    decode_object_fill,
    encode_dtype,
    encode_fill_value,
    encode_object_fill,
    is_zero,
    normalize_fill_value,
)
from zarrix._dtypes.v3 import default_fill
from zarrix._dtypes.variable import STRING, is_variable
from zarrix._errors import MetadataError, shorten
from zarrix._metadata.arguments import (
    normalize_chunks,
    normalize_dtype,
    normalize_order,
    normalize_shape,
)
from zarrix._metadata.array import ARRAY_ENCODERS, ARRAY_PARSERS, ArrayMetadata
from zarrix._metadata.checks import members_of
from zarrix._metadata.group import GROUP_ENCODERS, GROUP_PARSERS, GroupMetadata
from zarrix._metadata.json import json_dumps
from zarrix._metadata.literals import DEFAULT
from zarrix._metadata.parsed_once import parsed_once
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.sizes import size_text
from zarrix._stores.keys import ZARRAY, ZATTRS, ZGROUP
from zarrix._stores.path import normalize_dimension_separator

__all__ = [
    "array_document",
    "attributes_document",
    "group_document",
    "new_array",
    "parse_array",
    "parse_attributes",
    "parse_group",
]

_ARRAY_KEYS = (
    "zarr_format",
    "shape",
    "chunks",
    "dtype",
    "compressor",
    "fill_value",
    "order",
    "filters",
)
_MAX_AXES = 64
_EMPTY: dict[str, str | bytes] = {"vlen-utf8": "", "vlen-bytes": b""}
_MAX_LENGTH = 2**63 - 1


def new_array(
    *,
    shape: Any,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = None,
    order: str = "C",
    filters: Any = None,
    object_codec: Any = None,
    dimension_separator: str | None = None,
    label: str = ZARRAY,
) -> ArrayMetadata:
    """The metadata that zarr 2.18's ``init_array`` would store for these arguments.

    The axes of a dtype with a shape are appended to ``shape``. An array without axes is not
    compressed, except under `zarrix.as_zarr`.

    Parameters
    ----------
    shape, chunks, dtype, compressor, fill_value, order, filters, dimension_separator
        As in ``zarrix.create``; ``compressor`` and ``filters`` as in
        `zarrix._codecs.numcodecs`.
    object_codec : codec, optional
        The codec of variable-length elements; the first of the filters.
    label : str
        Label of the new document, for messages.

    Raises
    ------
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.
    UnknownCodecError, BadCompressorError
        A codec is not a codec, is not available, or does not preserve the elements.
    """
    full_dtype, object_codec = normalize_dtype(dtype, object_codec)
    element = full_dtype.base
    codecs = _with_object_codec(element, object_codec, normalize_filters(filters))
    lengths = normalize_shape(shape) + full_dtype.shape
    chunk_shape = normalize_chunks(chunks, lengths, element.itemsize)
    last = normalize_compressor(compressor) if lengths or DIALECT.is_zarr3 else None
    fill_value, order = _new_fill(fill_value, element, codecs), normalize_order(order)
    separator = normalize_dimension_separator(dimension_separator)
    _check_chunks(lengths, chunk_shape, element, label)
    element = _text_dtype(element, codecs)
    metadata = ArrayMetadata(
        zarr_format=2,
        shape=lengths,
        chunk_shape=chunk_shape,
        dtype=element,
        fill_value=fill_value,
        codecs=_chain(order, len(lengths), codecs, last),
        key_encoding=("v2", separator),
        has_compressor=last is not None,
        extra={},
        where=label,
    )
    encode_dtype(element)
    check_domains(metadata.codecs, element)
    # Naming the codec pickle is harmless; the array checks later whether it may be used.
    metadata.layout(allow_pickle=True, new=True)
    return metadata


def _text_dtype(dtype: np.dtype[Any], filters: Sequence[Mapping[str, Any]] | None) -> np.dtype[Any]:
    """The dtype of text: objects as in zarr 2.18, or NumPy strings where zarr-python 3 is meant."""
    is_text = dtype.kind == "O" and filters and filters[0]["id"] == "vlen-utf8"
    return STRING if is_text and DIALECT.is_zarr3 else dtype


def _new_fill(value: Any, dtype: np.dtype[Any], filters: tuple[dict[str, Any], ...] | None) -> Any:
    """The fill value of a new array. Zero is the empty element of text and of bytes, which other
    readers would show as the text "0".
    """
    if is_variable(dtype) and filters and (value is DEFAULT or is_zero(value)):
        return _EMPTY.get(filters[0]["id"], 0)
    if value is DEFAULT:
        return default_fill(dtype) if dtype.kind in "mM" else normalize_fill_value(0, dtype)
    return normalize_fill_value(value, dtype)


def _with_object_codec(
    dtype: np.dtype[Any], object_codec: Any, filters: tuple[dict[str, Any], ...] | None
) -> tuple[dict[str, Any], ...] | None:
    """The filters; the first of them encodes variable-length elements."""
    if not is_variable(dtype):
        if object_codec is not None:
            warnings.warn("an object_codec is only needed for object arrays", stacklevel=2)
        return filters
    if filters and filters[0]["id"] in OBJECT_CODECS:
        # Filters of another array begin with its object codec.
        first = filters[0]["id"]
        given = None if object_codec is None else codec_config(object_codec, "object_codec")["id"]
        if given not in (None, first) and (given, first) != ("vlen-utf8", "categorize"):
            raise MetadataError(
                f"filters begin with {first!r}, but the object codec of this dtype is "
                f"{given!r}; leave one of them out"
            )
        return filters
    if object_codec is None:
        raise MetadataError(
            f"dtype {dtype}: missing object_codec for object array; pass object_codec= with one of "
            f"{', '.join(OBJECT_CODECS)}, or dtype=str for text and dtype=bytes for bytes"
        )
    return (codec_config(object_codec, "object_codec"), *(filters or ()))


@parsed_once(ZARRAY)
def parse_array(
    document: Any, label: str = ZARRAY, *, default_separator: str | None = None
) -> ArrayMetadata:
    """The array that a ``.zarray`` document describes.

    Parameters
    ----------
    document : bytes, str or Mapping
        A mapping is parsed JSON, as in consolidated metadata.
    label : str
        Label of the document, with which messages begin.
    default_separator : "/", "." or None
        Separator of chunk keys if the document names none; 2.18 takes it from the store.

    Raises
    ------
    MetadataError
        It is not JSON, lacks a key, or contradicts itself.
    """
    members = members_of(document, label)
    missing = [key for key in _ARRAY_KEYS if key not in members]
    if missing:
        raise MetadataError(
            f"{label}: lacks the key {', '.join(map(repr, missing))}; a v2 array has "
            f"{', '.join(_ARRAY_KEYS)}"
        )
    _check_format(members, label)
    shape = _lengths(members["shape"], "shape", label)
    chunk_shape = _lengths(members["chunks"], "chunks", label)
    dtype = decode_dtype(members["dtype"], f"{label}: key 'dtype'")
    separator = members.get("dimension_separator")
    if separator not in (None, ".", "/"):
        raise _wrong(label, "dimension_separator", separator, "'.' or '/'")
    order = members["order"]
    if order not in ("C", "F"):
        raise _wrong(label, "order", order, "'C' or 'F'")
    filters = _codec_list(members["filters"], label)
    fill_value = decode_fill_value(members["fill_value"], dtype, f"{label}: key 'fill_value'")
    if is_variable(dtype):
        if not filters or filters[0]["id"] not in OBJECT_CODECS:
            allowed = f"a list that begins with an object codec: {', '.join(OBJECT_CODECS)}"
            raise _wrong(label, "filters", members["filters"], allowed)
        fill_value = decode_object_fill(fill_value, filters[0])
        dtype = _text_dtype(dtype, filters)
    compressor = _codec(members["compressor"], "compressor", label)
    known = {*_ARRAY_KEYS, "dimension_separator"}
    _check_chunks(shape, chunk_shape, dtype, label)
    return ArrayMetadata(
        zarr_format=2,
        shape=shape,
        chunk_shape=chunk_shape,
        dtype=dtype,
        fill_value=fill_value,
        codecs=_chain(order, len(shape), filters, compressor),
        key_encoding=("v2", separator or default_separator),
        has_compressor=compressor is not None,
        extra={key: value for key, value in members.items() if key not in known},
        where=label,
    )


def array_document(metadata: ArrayMetadata) -> bytes:
    """The ``.zarray`` document of an array."""
    filters = metadata.filter_configs
    fill_value = encode_fill_value(metadata.fill_value, metadata.dtype)
    if is_variable(metadata.dtype):
        fill_value = encode_object_fill(fill_value, filters[0]["id"] if filters else None)
    members: dict[str, Any] = {
        **metadata.extra,
        "zarr_format": 2,
        "shape": metadata.shape,
        "chunks": metadata.chunk_shape,
        "dtype": encode_dtype(metadata.dtype),
        "compressor": metadata.compressor_config and _spelled(metadata.compressor_config),
        "fill_value": fill_value,
        "order": metadata.order,
        "filters": None if filters is None else [_spelled(codec) for codec in filters],
    }
    # zarr 2.18 does not write the one of its default; zarr-python 3 does.
    separator = metadata.key_encoding[1] or ("." if DIALECT.is_zarr3 else None)
    if separator is not None:
        members["dimension_separator"] = separator
    return json_dumps(members)


def _spelled(codec: Mapping[str, Any]) -> Mapping[str, Any]:
    if codec["id"] == "zstd" and codec.get("checksum") is False:
        return {key: value for key, value in codec.items() if key != "checksum"}
    return codec


def parse_group(document: Any, label: str = ZGROUP) -> GroupMetadata:
    """The group that a ``.zgroup`` document describes; `MetadataError` if it is invalid."""
    members = members_of(document, label)
    if "zarr_format" not in members:
        raise MetadataError(f"{label}: lacks the key 'zarr_format'; a v2 group has it")
    _check_format(members, label)
    extra = {key: value for key, value in members.items() if key != "zarr_format"}
    return GroupMetadata(zarr_format=2, extra=extra)


def group_document(metadata: GroupMetadata | None = None) -> bytes:
    """The ``.zgroup`` document of a group, as zarr 2.18 writes it."""
    return json_dumps({**(metadata.extra if metadata else {}), "zarr_format": 2})


def parse_attributes(document: Any, label: str = ZATTRS) -> dict[str, Any]:
    """The attributes in a ``.zattrs`` document; `MetadataError` if it is not a JSON object."""
    return dict(members_of(document, label))


def attributes_document(attributes: Mapping[Any, Any], label: str = ZATTRS) -> bytes:
    """The ``.zattrs`` document of attributes, as zarr 2.18 writes it.

    Keys that are not strings become strings, with a ``DeprecationWarning`` as in 2.18.

    Raises
    ------
    TypeError
        JSON cannot represent a value; the message names its key.
    """
    if not all(isinstance(key, str) for key in attributes):
        warnings.warn(
            "attribute keys that are not strings are stored as strings",
            DeprecationWarning,
            stacklevel=3,
        )
        attributes = {str(key): value for key, value in attributes.items()}
    try:
        return json_dumps(attributes)
    except (TypeError, ValueError, RecursionError) as error:
        for key, value in attributes.items():
            try:
                json_dumps(value)
            except (TypeError, ValueError, RecursionError):
                raise TypeError(
                    f"{label}: attribute {key!r} is a {type(value).__name__} that cannot be "
                    f"written as JSON ({error}); use str, int, float, bool, None, lists or dicts"
                ) from None
        raise


def _chain(
    order: str,
    axes: int,
    filters: tuple[Mapping[str, Any], ...] | None,
    compressor: Mapping[str, Any] | None,
) -> tuple[Mapping[str, Any], ...]:
    """The codec chain of an array, as a document of v3 has it."""
    codecs: list[Mapping[str, Any]] = []
    if order == "F":
        reverse = list(reversed(range(axes)))
        codecs.append({"name": "transpose", "configuration": {"order": reverse}})
    codecs.append({"name": "bytes"})
    for codec in (*(filters or ()), *((compressor,) if compressor else ())):
        configuration = {key: value for key, value in codec.items() if key != "id"}
        codecs.append({"name": f"numcodecs.{codec['id']}", "configuration": configuration})
    return tuple(codecs)


def _check_chunks(
    shape: tuple[int, ...], chunk_shape: tuple[int, ...], dtype: np.dtype[Any], label: str
) -> None:
    if len(shape) > _MAX_AXES:
        raise _wrong(label, "shape", shape, f"at most {_MAX_AXES} axes")
    if len(chunk_shape) != len(shape):
        raise _wrong(label, "chunks", chunk_shape, f"one length per axis of the shape {shape}")
    for axis, (size, length) in enumerate(zip(shape, chunk_shape, strict=True)):
        if length == 0 and size > 0:
            raise _wrong(
                label, "chunks", chunk_shape, f"at least 1 on axis {axis}, which has length {size}"
            )
    chunk_bytes = math.prod(max(length, 1) for length in chunk_shape) * dtype.itemsize
    if chunk_bytes > config.max_chunk_bytes:
        raise _wrong(
            label,
            "chunks",
            chunk_shape,
            f"chunks of at most {size_text(config.max_chunk_bytes)} "
            f"(config.max_chunk_bytes), and one of {dtype} would have "
            f"{size_text(chunk_bytes)}",
        )


def _check_format(members: Mapping[str, Any], label: str) -> None:
    if members["zarr_format"] != 2 or isinstance(members["zarr_format"], bool):
        raise _wrong(label, "zarr_format", members["zarr_format"], "2")


def _lengths(value: Any, key: str, label: str) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)):
        raise _wrong(label, key, value, "a list of whole numbers, one per axis")
    for length in value:
        if type(length) is not int or not 0 <= length <= _MAX_LENGTH:
            raise _wrong(label, key, value, "whole numbers from 0 to 2**63-1")
    return tuple(value)


def _codec_list(value: Any, label: str) -> tuple[Mapping[str, Any], ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _wrong(label, "filters", value, "a list of codecs or null")
    return tuple(codec for one in value if (codec := _codec(one, "filters", label)))


def _codec(value: Any, key: str, label: str) -> Mapping[str, Any] | None:
    if value is None and key == "compressor":
        return None
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise _wrong(label, key, value, "an object with the codec's name under 'id', or null")
    return value


def _wrong(label: str, key: str, value: Any, allowed: str) -> MetadataError:
    return MetadataError(f"{label}: key {key!r} is {shorten(value)}; allowed: {allowed}")


ARRAY_ENCODERS[2] = array_document
ARRAY_PARSERS[2] = parse_array
GROUP_PARSERS[2] = parse_group
GROUP_ENCODERS[2] = group_document
