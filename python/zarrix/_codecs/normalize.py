"""v3 codec chains from what users pass: objects, dicts, names, codecs of numcodecs.

A codec in any of these forms becomes its document, completed with values that depend on its input:
the item size and shuffle of Blosc, the data type of a filter. This includes codecs inside shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zarrix._codecs.chain import ARRAY_TO_ARRAY, INDEX_CODECS, dtype_after, has_order, split_chain
from zarrix._codecs.python_codecs import codec_config
from zarrix._dtypes.variable import SERIALIZERS, data_type_name, is_variable
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
_TAKE_DTYPE = {
    "numcodecs.fixedscaleoffset": "dtype",
    "numcodecs.quantize": "dtype",
    "numcodecs.delta": "dtype",
    "numcodecs.astype": "decode_dtype",
}
"""Filters with a data type, and the key that names it."""


def as_codec_document(codec: Any) -> dict[str, Any]:
    """The document of a codec in any form that users pass, those of numcodecs included.

    Raises
    ------
    BadCompressorError, UnknownCodecError
        It is not a codec, or is not available.
    """
    if isinstance(codec, str):
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
    if codec_id == "blosc":
        # -1 means the same as no shuffle in v3.
        shuffle = config.pop("shuffle")
        if shuffle != -1:
            config["shuffle"] = ("noshuffle", "shuffle", "bitshuffle")[shuffle]
        return {"name": "blosc", "configuration": config}
    if codec_id in ("zstd", "gzip"):
        if codec_id == "gzip" and config.get("level") == -1:
            config["level"] = 6  # zlib's default, for which v3 has no value
        return {"name": codec_id, "configuration": config}
    if codec_id == "crc32c" and config.get("location") in (None, "end"):
        return {"name": "crc32c"}
    return {"name": f"numcodecs.{codec_id}", "configuration": config}


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
    if name == "blosc":
        return {"name": name, "configuration": _complete_blosc(configuration, dtype)}
    if name == "zstd":
        return {"name": name, "configuration": {"level": 0, "checksum": False, **configuration}}
    if name == "gzip":
        return {"name": name, "configuration": {"level": 5, **configuration}}
    if name == "sharding_indexed":
        return {"name": name, "configuration": _complete_shard(configuration, dtype)}
    if name == "bytes" and not has_order(dtype):
        # Elements of one byte have no byte order to name.
        return {"name": name}
    if name == "numcodecs.shuffle" and configuration.get("elementsize") is None:
        return {"name": name, "configuration": {"elementsize": dtype.itemsize}}
    key = _TAKE_DTYPE.get(name)
    if key is not None and configuration.get(key) is None:
        return {"name": name, "configuration": {**configuration, key: str(dtype)}}
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


def _item_bytes(dtype: np.dtype[Any]) -> int:
    """Bytes of an element for bytes-to-bytes codecs; 1 for variable-length elements."""
    return 1 if is_variable(dtype) else dtype.itemsize


def _complete_blosc(given: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    shuffle = given.get("shuffle")
    if shuffle is None:
        shuffle = "bitshuffle" if _item_bytes(dtype) == 1 else "shuffle"
    return {
        "typesize": given.get("typesize") or _item_bytes(dtype),
        "cname": given.get("cname", "zstd"),
        "clevel": given.get("clevel", 5),
        "shuffle": shuffle,
        "blocksize": given.get("blocksize", 0),
    }


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
    if name == "blosc":
        configuration.pop("typesize", None)
        shuffles = ("noshuffle", "shuffle", "bitshuffle")
        shuffle = configuration.get("shuffle", "noshuffle")
        if shuffle in shuffles:
            configuration["shuffle"] = shuffles.index(shuffle)
    elif name not in ("zstd", "gzip", "crc32c") and not name.startswith("numcodecs."):
        return None
    return {"id": name.removeprefix("numcodecs."), **configuration}


def chain_documents(
    filters: Any, serializer: Any, compressors: Any, dtype: np.dtype[Any]
) -> list[dict[str, Any]]:
    """The chain that ``filters=``, ``serializer=`` and ``compressors=`` mean for a dtype.

    Codecs of numcodecs that work on bytes may be among the filters, as in v2; they follow
    the serializer.

    Parameters
    ----------
    filters, compressors : codec, iterable of codecs, "auto" or None
        By default there are no filters, and the compressor is zstd with a checksum.
    serializer : codec, "auto" or None
    """
    chain = complete_chain(_listed(filters, [], "filters"), dtype)
    for codec in chain:
        if codec["name"] in ARRAY_TO_ARRAY:
            dtype = dtype_after(codec, dtype)
    default = [{"name": "zstd", "configuration": {"level": 0, "checksum": True}}]
    packers = [codec_document(one, dtype) for one in _listed(compressors, default, "compressors")]
    for document in packers:
        if document["name"] in ARRAY_TO_ARRAY:
            raise BadCompressorError(
                f"compressors: {document['name']!r} works on arrays; pass it in filters="
            )
    arrays, middle, binary = split_chain([*chain, *packers])
    if serializer is None or (isinstance(serializer, str) and serializer == "auto"):
        serializers = middle or [codec_document(_default_serializer(dtype), dtype)]
    else:
        serializers = [codec_document(serializer, dtype), *middle]
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
