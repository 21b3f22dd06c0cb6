"""``checksum=True``: damage in a chunk is detected, and other programs can still read the array.

In v3 this is the checksum of a zstd frame, or crc32c after the other codecs. v2 has no checksum
codec that every reader knows. There we use codecs that zarr 2.18 reads, without a loss of
compression ratio: a crc32 filter, and before it, if Blosc would shuffle, a shuffle filter, because
Blosc no longer knows the elements. A zstd frame has its own checksum. The v2 document does not say
so, because TensorStore rejects that member; therefore a later handle needs `with_frame_checksum`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zarrix._codecs.table import BY_ID
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata

__all__ = ["is_checked", "with_checksum", "with_frame_checksum"]


Document = dict[str, Any]


def is_checked(codecs: Iterable[Any]) -> bool:
    """Whether these codecs detect damage.

    Examples
    --------
    >>> is_checked([{"name": "bytes"}, {"name": "gzip"}])
    True
    >>> is_checked([{"name": "bytes"}, {"name": "zstd", "configuration": {"checksum": False}}])
    False
    """
    for codec in codecs:
        name, configuration = _parts(codec)
        if _detects_damage(name) or "frame_checksum" in codec:
            return True
        if name == "zstd" and configuration.get("checksum"):
            return True
        if name == "sharding_indexed":
            parts = (configuration["codecs"], configuration.get("index_codecs", ()))
            return all(map(is_checked, parts))
    return False


def _detects_damage(name: str) -> bool:
    return name in BY_ID and BY_ID[name].detects_damage


def with_checksum(metadata: ArrayMetadata) -> ArrayMetadata:
    """The metadata of a new array, with a checksum over every chunk if it has none."""
    if is_checked(metadata.codecs):
        return metadata
    document = metadata._document()
    if metadata.zarr_format == 3:
        document["codecs"] = _checked(document["codecs"])
        return v3.parse_array(json.dumps(document), metadata.where)
    if (document["compressor"] or {}).get("id") == "zstd":
        return with_frame_checksum(_without_member(metadata))
    _check_v2(document, metadata.dtype)
    separator = metadata.key_encoding[1]
    return v2.parse_array(json.dumps(document), metadata.where, default_separator=separator)


def with_frame_checksum(metadata: ArrayMetadata) -> ArrayMetadata:
    """The same v2 array, whose new zstd frames have a checksum."""
    if metadata.zarr_format == 3 or not metadata.has_compressor:
        return metadata
    *codecs, last = metadata.codecs
    if last["name"] != "numcodecs.zstd":
        return metadata
    return replace(metadata, codecs=(*codecs, {**last, "frame_checksum": True}))


def _without_member(metadata: ArrayMetadata) -> ArrayMetadata:
    """The same without ``"checksum": false``, which numcodecs writes and TensorStore rejects."""
    *codecs, last = metadata.codecs
    said = last["configuration"].items()
    configuration = {key: value for key, value in said if key != "checksum"}
    return replace(metadata, codecs=(*codecs, {**last, "configuration": configuration}))


def _parts(codec: Any) -> tuple[str, Mapping[str, Any]]:
    """Name, without the prefix of numcodecs, and configuration of a codec in a document."""
    if isinstance(codec, str):
        return codec, {}
    return codec["name"].removeprefix("numcodecs."), codec.get("configuration") or {}


def _checked(codecs: list[Any]) -> list[Any]:
    """A chain of v3 with a checksum at its end; in a shard, over every inner chunk."""
    *rest, last = codecs
    name, configuration = _parts(last)
    if name == "sharding_indexed":
        inner = {key: configuration[key] for key in ("codecs", "index_codecs")}
        checked = {key: one if is_checked(one) else _checked(one) for key, one in inner.items()}
        return [*rest, {"name": name, "configuration": {**configuration, **checked}}]
    if name == "zstd":
        return [*rest, {**last, "configuration": {**configuration, "checksum": True}}]
    return [*codecs, {"name": "crc32c"}]


def _check_v2(document: Document, dtype: np.dtype[Any]) -> None:
    filters = list(document["filters"] or ())
    compressor = document["compressor"]
    size = _element_bytes(filters, dtype)
    if compressor is not None and compressor["id"] == "blosc" and size > 1:
        shuffle = compressor.get("shuffle", 1)
        if shuffle:
            filters.append({"id": "shuffle", "elementsize": size})
            # The bit shuffle of byte-shuffled elements equals the bit shuffle of the elements.
            document["compressor"] = {**compressor, "shuffle": 2 if shuffle == 2 else 0}
    document["filters"] = [*filters, {"id": "crc32"}]


def _element_bytes(filters: list[Document], dtype: np.dtype[Any]) -> int:
    """Item size of the output of the filters; 1 if it is not known."""
    for codec in reversed(filters):
        told = codec.get("astype") or codec.get("encode_dtype") or codec.get("dtype")
        return np.dtype(told).itemsize if isinstance(told, str) else 1
    return 1 if dtype.hasobject or dtype.kind == "T" else dtype.itemsize
