"""The metadata of an array in the other format, for the same chunks.

Metadata that the other format cannot represent is a `MetadataError`. Only the fill value of text
and bytes is approximated: 2.18 writes a 0 there, which is not a text, and which no element of a
stored chunk equals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from zarrix._codecs import blosc
from zarrix._codecs.chain import split_chain, stored_order
from zarrix._codecs.encodable import encodable_config, encodable_document
from zarrix._codecs.normalize import numcodecs_config
from zarrix._codecs.numcodecs import codec_config
from zarrix._dtypes.v2 import encode_dtype, encode_fill_value, encode_object_fill
from zarrix._dtypes.v3 import data_type_of, encode_fill, same_bytes
from zarrix._dtypes.variable import OBJECT, SERIALIZERS, VARIABLE_TYPES, data_type_name, is_variable
from zarrix._errors import MetadataError
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_dumps
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS

__all__ = ["parsed", "same_fill", "to_2", "to_3", "zattrs"]

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_TYPES = ("dtype", "astype", "encode_dtype", "decode_dtype")
"""Keys of filters for their input and output data types."""

_EMPTY = {"vlen-utf8": "", "vlen-bytes": b""}


def same_fill(old: Any, new: Any, dtype: np.dtype[Any]) -> bool:
    """Whether both fill values are equal to the bit."""
    if is_variable(dtype):
        return bool(old == new) or (old in (0, None) and not isinstance(old, str | bytes))
    if old is None:
        return True
    native = dtype.newbyteorder("=")
    return new is not None and same_bytes(np.array(old, dtype).astype(native), new, native)


def parsed(documents: Mapping[str, bytes], to: int) -> ArrayMetadata:
    """The array that the documents describe."""
    if to == 3:
        return v3.parse_array(documents[ZARR_JSON], f"the new {ZARR_JSON}")
    return v2.parse_array(documents[ZARRAY], f"the new {ZARRAY}")


def zattrs(attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """The v2 document of the attributes, if there are any."""
    return {ZATTRS: v2.attributes_document(attributes)} if attributes else {}


def to_3(array: ArrayMetadata) -> dict[str, bytes]:
    """The documents of a v2 array in v3."""
    unknown = sorted(array.extra)
    if unknown:
        raise MetadataError(f"its document has the key {unknown[0]!r}, which v3 does not have")
    attributes = array.attributes
    names = attributes.get(_DIMENSIONS)
    named = isinstance(names, list) and len(names) == len(array.shape)
    data_type, fill, codecs = _elements_of_3(array)
    document: dict[str, Any] = {
        "shape": list(array.shape),
        "data_type": data_type,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(n, 1) for n in array.chunk_shape]},
        },
        "chunk_key_encoding": {
            "name": "v2",
            "configuration": {"separator": array.dimension_separator},
        },
        "fill_value": fill,
        "codecs": codecs,
        "attributes": attributes,
    }
    if named:
        # v3 has a member for what xarray stores in an attribute in v2.
        del attributes[_DIMENSIONS]
        document["dimension_names"] = names
    document.update(zarr_format=3, node_type="array", storage_transformers=[])
    return {ZARR_JSON: json_dumps(document, indent=2, sort_keys=False)}


def _elements_of_3(array: ArrayMetadata) -> tuple[Any, Any, list[dict[str, Any]]]:
    """Data type, fill value and codec chain."""
    dtype, chain = array.dtype, []
    if array.order == "F" and len(array.shape) > 1:
        axes = list(reversed(range(len(array.shape))))
        chain.append({"name": "transpose", "configuration": {"order": axes}})
    filters = list(array.filter_configs or ())
    objects = _object_codec(array) if is_variable(array.dtype) else None
    if objects:
        # The input of compressors is bytes.
        dtype = np.dtype("u1")
    for config in filters[1:] if objects else filters:
        codec, dtype = _filter_of_3(config, dtype)
        chain.append(codec)
    if array.compressor_config is not None:
        before = dtype if array.filter_configs else array.dtype
        chain.append(_packer_of_3(array.compressor_config, before))
    arrays, middle, binary = split_chain(chain)
    if len(middle) > 1 or (middle and objects) or chain != [*arrays, *middle, *binary]:
        raise MetadataError("a filter on elements follows one on bytes, which v3 forbids")
    data_type, fill, serializer = _variable_of_3(array, objects) if objects else _sized_of_3(array)
    if objects is None:
        # In v2, a compressor of elements, such as pcodec, is both in one.
        serializer = middle[0] if middle else _bytes_codec(dtype)
    return data_type, fill, [*arrays, serializer, *binary]


def _sized_of_3(array: ArrayMetadata) -> tuple[Any, Any, dict[str, Any]]:
    """Data type and fill value of fixed-size elements."""
    native = array.dtype.newbyteorder("=")
    fill: Any = np.zeros((), array.dtype)
    if array.fill_value is not None:
        fill = np.array(array.fill_value, array.dtype)
    return data_type_of(native), encode_fill(fill.astype(native)[()], native), {}


def _object_codec(array: ArrayMetadata) -> str:
    """The object codec of objects for which v3 has a data type."""
    codec_id = str((array.filter_configs or ({"id": None},))[0]["id"])
    if codec_id not in _EMPTY:
        raise MetadataError(f"v3 has no data type for objects of the codec {codec_id!r}")
    return codec_id


def _variable_of_3(array: ArrayMetadata, codec_id: str) -> tuple[Any, Any, dict[str, Any]]:
    """Data type, fill value and serializer of text or bytes."""
    data_type = next(name for name, one in SERIALIZERS.items() if one == codec_id)
    empty = _EMPTY[codec_id]
    fill = empty if array.fill_value in (0, None) else array.fill_value
    if type(fill) is not type(empty):
        raise MetadataError(f"v3 cannot represent its fill value, {fill!r}")
    return (
        data_type,
        encode_fill(fill, VARIABLE_TYPES[data_type]),
        {"name": codec_id, "configuration": {}},
    )


def _bytes_codec(dtype: np.dtype[Any]) -> dict[str, Any]:
    orders = set(_orders(dtype))
    if len(orders) > 1:
        raise MetadataError(f"dtype {dtype} has fields in both byte orders")
    if not orders:
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": orders.pop()}}


def _orders(dtype: np.dtype[Any]) -> Iterator[str]:
    if dtype.names is not None:
        for name in dtype.names:
            yield from _orders(dtype[name])
    elif dtype.byteorder != "|":
        yield "big" if dtype.str[0] == ">" else "little"


def _filter_of_3(
    config: Mapping[str, Any], dtype: np.dtype[Any]
) -> tuple[dict[str, Any], np.dtype[Any]]:
    """A v2 filter as a v3 codec, and its output dtype."""
    given = {key: value for key, value in config.items() if key != "id"}
    after = dtype
    for key in _TYPES:
        if given.get(key) is not None:
            after = np.dtype(given[key]) if key in ("dtype", "astype", "encode_dtype") else after
            given[key] = np.dtype(given[key]).newbyteorder("=").str
    codec = {"name": f"numcodecs.{config['id']}", "configuration": given}
    if split_chain([codec])[0]:
        return codec, np.dtype("u1") if config["id"] == "packbits" else after
    return codec, dtype


def _packer_of_3(config: Mapping[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    given = {key: value for key, value in config.items() if key != "id"}
    return encodable_document(_renamed_packer(config, given, dtype))


def _renamed_packer(
    config: Mapping[str, Any], given: dict[str, Any], dtype: np.dtype[Any]
) -> dict[str, Any]:
    if config["id"] == "blosc":
        shuffle = blosc.shuffle_number(given, dtype)
        if 0 <= shuffle < len(blosc.SHUFFLES):
            given["shuffle"] = blosc.SHUFFLES[shuffle]
        return {"name": "blosc", "configuration": {"typesize": dtype.itemsize, **given}}
    if config["id"] in ("zstd", "gzip"):
        usual = {"level": 0, "checksum": False} if config["id"] == "zstd" else {"level": 1}
        return {"name": config["id"], "configuration": {**usual, **given}}
    return {"name": f"numcodecs.{config['id']}", "configuration": given}


def to_2(array: ArrayMetadata) -> dict[str, bytes]:
    """The documents of a v3 array in v2.

    It ignores the chunk keys. For an array with shards it describes the inner chunks, which the
    caller has to extract from the shards.
    """
    _check_expressible(array)
    shard = array.shard_codec
    codecs = array.codecs if shard is None else (*_before_shard(array), *shard["codecs"])
    arrays, middle, binary = split_chain(dict(codec) for codec in codecs)
    objects = SERIALIZERS.get(data_type_name(array.dtype) or "")
    if not middle:
        raise MetadataError(
            f"{array.where}: key 'codecs' has no codec that turns the array into bytes, such as "
            "'bytes'"
        )
    serializer = middle[0]["name"].removeprefix("numcodecs.")
    if serializer not in (objects or "bytes", "pcodec"):
        raise MetadataError(f"v2 has no {middle[0]['name']!r}")
    order, chain = _order_of_2(array, codecs, arrays)
    big = middle[0].get("configuration", {}).get("endian") == "big"
    dtype = array.dtype.newbyteorder(">") if big else array.dtype
    fill = encode_fill_value(array.fill_value, array.dtype) if objects is None else None
    if objects is not None:
        dtype, fill = OBJECT, encode_object_fill(array.fill_value, objects)
        chain.insert(0, {"name": f"numcodecs.{objects}", "configuration": {}})
    if serializer == "pcodec":
        binary.insert(0, {**middle[0], "name": "numcodecs.pcodec"})
    configs = [_config_of_2(codec, big) for codec in (*chain, *binary)]
    compressor = configs.pop() if binary else None
    attributes = array.attributes
    if array.zarr_format == 3 and array.dimension_names is not None:
        attributes[_DIMENSIONS] = list(array.dimension_names)
    members = {
        "zarr_format": 2,
        "shape": array.shape,
        "chunks": array.inner_chunk_shape,
        "dtype": encode_dtype(dtype),
        "compressor": compressor,
        "fill_value": fill,
        "order": order,
        "filters": configs or None,
        "dimension_separator": array.dimension_separator,
    }
    return {ZARRAY: json_dumps(members), **zattrs(attributes)}


def _check_expressible(array: ArrayMetadata) -> None:
    """Raise an error if the document has a part that v2 does not have."""
    if any(not axis.even for axis in array.grid):
        raise MetadataError(
            "its chunks have several shapes, which v2 does not have; rewrite it with "
            "from_array(zarr_format=2, chunks=...)"
        )
    if array.key_suffix:
        raise MetadataError(
            f"its chunk keys end with {array.key_suffix!r}, which v2 does not support"
        )
    known = {"shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs"}
    known |= {"attributes", "zarr_format", "node_type", "storage_transformers", "dimension_names"}
    unknown = sorted(set(array.extra) - known)
    if unknown:
        raise MetadataError(f"its document has the key {unknown[0]!r}, which v2 does not have")


def _order_of_2(
    array: ArrayMetadata, codecs: Iterable[Mapping[str, Any]], arrays: list[dict[str, Any]]
) -> tuple[str, list[dict[str, Any]]]:
    """The order of the elements in a chunk, and the codecs on arrays without transpositions."""
    axes = len(array.shape)
    order = stored_order(codecs, axes, array.where)
    orders = {tuple(range(axes)): "C", tuple(reversed(range(axes))): "F"}
    if order not in orders:
        raise MetadataError(f"v2 stores axes in C or F order, not in the order {order}")
    chain = [codec for codec in arrays if codec["name"] != "transpose"]
    if any(codec["name"] != "transpose" for codec in arrays[: len(arrays) - len(chain)]):
        raise MetadataError("a transposition follows a filter, which v2 does not have")
    return orders[order], chain


def _before_shard(array: ArrayMetadata) -> Iterator[Mapping[str, Any]]:
    """The array-to-array codecs before a shard; those after it end with the shard."""
    for codec in array.codecs:
        if codec["name"] == "sharding_indexed":
            return
        yield codec


def _config_of_2(codec: Mapping[str, Any], big: bool) -> dict[str, Any]:
    """A v3 codec as a v2 filter; in v2 the dtype has the byte order."""
    config = numcodecs_config(codec)
    if config is None:
        raise MetadataError(f"v2 has no codec {codec['name']!r}")
    if big:
        given = {key: config[key] for key in _TYPES if config.get(key) is not None}
        config = {
            **config,
            **{key: np.dtype(one).newbyteorder(">").str for key, one in given.items()},
        }
    return codec_config(encodable_config(config), "codec")
