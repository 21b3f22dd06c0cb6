"""v3 codec chains from what users pass: objects, dicts, names, codecs of numcodecs.

A codec in any of these forms becomes its document, completed with values that depend on its input:
the item size and shuffle of Blosc, the data type of a filter. This includes codecs inside shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zarrix._codecs.chain import INDEX_CODECS, split_chain
from zarrix._codecs.images import chain_end, is_image, spelled
from zarrix._codecs.native import dtype_after
from zarrix._codecs.numcodecs import codec_config
from zarrix._codecs.table import ARRAY_TO_ARRAY, BY_ID, BY_NAME, REGISTERED
from zarrix._dtypes.byte_order import has_order
from zarrix._dtypes.variable import SERIALIZERS, data_type_name
from zarrix._errors import BadCompressorError

__all__ = [
    "as_codec_document",
    "chain_documents",
    "codec_document",
    "complete_chain",
    "numcodecs_config",
    "with_listed_orders",
]

_INDEX: np.dtype[Any] = np.dtype("u8")


def as_codec_document(codec: Any) -> dict[str, Any]:
    """The document of a codec in any form that users pass, those of numcodecs included.

    Raises
    ------
    BadCompressorError, UnknownCodecError
        It is not a codec, or is not available.
    """
    if isinstance(codec, str):
        if spelled(codec) is not None:
            return _from_numcodecs(codec_config(codec, "codec"))
        return {"name": codec}
    if hasattr(codec, "get_config") or (isinstance(codec, Mapping) and "id" in codec):
        return _from_numcodecs(codec_config(codec, "codec"))
    if isinstance(codec, Mapping) and isinstance(codec.get("name"), str):
        return dict(codec)
    to_dict = getattr(codec, "to_dict", None)
    if to_dict is not None and not isinstance(codec, type):
        document = dict(to_dict())
        if isinstance(document.get("name"), str):
            return document
    raise BadCompressorError(
        f"{codec!r} ({type(codec).__name__}) is not a v3 codec; expected for example "
        "zarrix.codecs.ZstdCodec(), or a dict with 'name' and 'configuration'"
    )


def _from_numcodecs(config: dict[str, Any]) -> dict[str, Any]:
    codec_id = config.pop("id")
    row = BY_ID.get(codec_id)
    configuration = None if row is None or row.to_v3 is None else row.to_v3(config)
    if row is None or configuration is None:
        return {"name": f"numcodecs.{codec_id}", "configuration": config}
    document = {"name": row.name}
    return {**document, "configuration": configuration} if configuration else document


def codec_document(codec: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The document of a codec in any form that users pass, completed from the dtype.

    Objects and configurations of numcodecs become the equivalent v3 codec, or ``numcodecs.<id>``.

    Raises
    ------
    BadCompressorError, UnknownCodecError
        It is not a codec, or is not available.
    """
    document = as_codec_document(codec)
    name, configuration = document["name"], dict(document.get("configuration", {}))
    if name == "sharding_indexed":
        return {"name": name, "configuration": _complete_shard(configuration, dtype)}
    if name == "bytes":
        # Elements of one byte have no byte order to name, and those of others need one.
        ordered = {"endian": "little", **configuration} if has_order(dtype) else None
        return {"name": name, "configuration": ordered} if ordered else {"name": name}
    row = BY_NAME.get(name)
    if row is None or name != row.document_name:
        return document
    if row.complete is not None:
        return {"name": name, "configuration": row.complete(configuration, dtype)}
    if row.defaults:
        return {"name": name, "configuration": {**row.defaults, **configuration}}
    if row.dtype_key and configuration.get(row.dtype_key) is None:
        return {"name": name, "configuration": {**configuration, row.dtype_key: str(dtype)}}
    return document


def complete_chain(codecs: Iterable[Any], dtype: np.dtype[Any]) -> list[dict[str, Any]]:
    """The documents of a chain, each completed from its input dtype."""
    chain = []
    for codec in codecs:
        document = codec_document(codec, dtype)
        if document["name"] in ARRAY_TO_ARRAY:
            dtype = dtype_after(document, dtype)
        chain.append(document)
    return chain


def with_listed_orders(chain: Iterable[Mapping[str, Any]], axes: int) -> list[dict[str, Any]]:
    """The chain with axes instead of the orders "C" and "F" of a draft of the specification."""
    listed: list[dict[str, Any]] = []
    for codec in chain:
        given = codec.get("configuration", {})
        if codec["name"] == "transpose" and given.get("order") in ("C", "F"):
            order = list(range(axes))
            order = order if given["order"] == "C" else order[::-1]
            listed.append({**codec, "configuration": {**given, "order": order}})
        elif codec["name"] == "sharding_indexed" and isinstance(given.get("codecs"), list):
            inner = with_listed_orders(given["codecs"], axes)
            listed.append({**codec, "configuration": {**given, "codecs": inner}})
        else:
            listed.append(dict(codec))
    return listed


def _complete_shard(given: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    # A value that is not a list is kept; the reader of the document raises the error.
    codecs, index = given.get("codecs"), given.get("index_codecs", INDEX_CODECS)
    if isinstance(codecs, (list, tuple)):
        codecs = complete_chain(codecs, dtype)
    if isinstance(index, (list, tuple)):
        index = complete_chain(index, _INDEX)
    return {**given, "codecs": codecs, "index_codecs": index}


def numcodecs_config(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The configuration of the same codec in numcodecs; None if numcodecs has no such codec."""
    name, configuration = document["name"], dict(document.get("configuration", {}))
    if name.startswith("numcodecs."):
        return {"id": name.removeprefix("numcodecs."), **configuration}
    row = REGISTERED.get(name)
    if row is None or row.to_numcodecs is None:
        return None
    return {"id": row.codec_id, **row.to_numcodecs(configuration)}


def chain_documents(
    filters: Any, serializer: Any, compressors: Any, dtype: np.dtype[Any]
) -> list[dict[str, Any]]:
    """The chain that ``filters=``, ``serializer=`` and ``compressors=`` mean for a dtype.

    Codecs of numcodecs that work on bytes may be among the filters, as in v2; they follow
    the serializer.

    Parameters
    ----------
    filters, compressors : codec, iterable of codecs, "auto" or None
        By default there are no filters, and the compressor is zstd with a checksum; after a codec
        of images it is a checksum alone, and so if that codec is named as a compressor.
    serializer : codec, "auto" or None
    """
    chain = complete_chain(_listed(filters, [], "filters"), dtype)
    for codec in chain:
        if codec["name"] in ARRAY_TO_ARRAY:
            dtype = dtype_after(codec, dtype)
    named = None
    if not (serializer is None or (isinstance(serializer, str) and serializer == "auto")):
        named = codec_document(serializer, dtype)
    default = chain_end("" if named is None else named["name"])
    packers = [codec_document(one, dtype) for one in _listed(compressors, default, "compressors")]
    for document in packers:
        if document["name"] in ARRAY_TO_ARRAY:
            raise BadCompressorError(
                f"compressors: {document['name']!r} works on arrays; pass it in filters="
            )
    arrays, middle, binary = split_chain([*chain, *packers])
    if named is not None:
        serializers = [named, *middle]
    else:
        serializers = middle or [codec_document(_default_serializer(dtype), dtype)]
        if middle and is_image(middle[0]["name"]) and not binary:
            binary = chain_end(middle[0]["name"])
    if len(serializers) > 1:
        names = ", ".join(one["name"] for one in serializers)
        raise BadCompressorError(f"one codec turns the array into bytes, not several: {names}")
    return [*arrays, *serializers, *binary]


def _default_serializer(dtype: np.dtype[Any]) -> dict[str, Any]:
    variable = SERIALIZERS.get(data_type_name(dtype) or "")
    if variable is not None:
        return {"name": variable, "configuration": {}}
    return {"name": "bytes", "configuration": {"endian": "little"}}


def _listed(value: Any, default: list[Any], argument: str) -> list[Any]:
    if isinstance(value, str) and value in ("auto", "default"):
        return default
    if value is None or value is False or (isinstance(value, str) and value == "none"):
        return []
    if isinstance(value, (str, Mapping)) or hasattr(value, "to_dict"):
        return [value]
    if hasattr(value, "get_config"):
        return [value]
    if not isinstance(value, Iterable):
        raise BadCompressorError(f"{argument}={value!r} is neither a codec nor a list of codecs")
    return list(value)
