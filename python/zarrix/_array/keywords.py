"""The keyword arguments of functions that create and open arrays and groups, as types.

Functions that pass keywords on name them by a `TypedDict`, so that type checkers see a mistake.
`zarrix._runtime.signatures` refuses the same mistake when the program runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from zarrix._metadata.literals import Durability, Format, Mode, Order, Separator

__all__ = [
    "ArrayKeywords",
    "CreateKeywords",
    "CreateAliasKeywords",
    "DatasetKeywords",
    "LikeKeywords",
    "MemberDataKeywords",
    "MemberKeywords",
    "MemberLikeKeywords",
    "MemberShapeKeywords",
    "OpenArrayKeywords",
    "OpenGroupKeywords",
    "OpenKeywords",
    "OpenLikeKeywords",
    "RequireKeywords",
    "RestKeywords",
    "V3RequireKeywords",
    "V3ShapeKeywords",
    "AliasKeywords",
]


class AliasKeywords(TypedDict, total=False):
    """Keywords of `create` from h5py and zarr-python 3."""

    compression: Any
    compression_opts: Any
    fillvalue: Any
    shards: Any
    codecs: Any
    serializer: Any
    dimension_names: Any
    chunk_key_encoding: Any
    chunk_shape: Any
    compressors: Any
    attributes: Mapping[str, Any] | None
    config: Any


class CreateAliasKeywords(AliasKeywords, total=False):
    """The same, with keywords that only `create` has."""

    storage_options: Mapping[str, Any] | None
    data: Any
    mode: Mode | None


class RestKeywords(AliasKeywords, total=False):
    """Keywords of a new array in a group, except its shape, dtype and fill value."""

    chunks: Any
    storage_options: Mapping[str, Any] | None
    compressor: Any
    order: Order
    synchronizer: Any
    overwrite: bool
    filters: Any
    cache_metadata: bool
    cache_attrs: bool
    read_only: bool
    object_codec: Any
    dimension_separator: Separator | None
    write_empty_chunks: bool | None
    zarr_version: Format | None
    zarr_format: Format | None
    meta_array: Any
    allow_pickle: bool
    storage_transformers: Any
    durability: Durability | None
    checksum: bool


class DatasetKeywords(RestKeywords, total=False):
    """Keywords of `Group.create_dataset`, except those in its own signature."""

    fill_value: Any
    shuffle: Any


class RequireKeywords(DatasetKeywords, total=False):
    """Keywords of `Group.require_dataset`, except those in its own signature."""

    data: Any


class MemberKeywords(RestKeywords, total=False):
    """Keywords of a new array in a group, except its shape and fill value."""

    dtype: Any


class MemberLikeKeywords(MemberKeywords, total=False):
    """Keywords of a new array in a group that is like another, except its fill value."""

    shape: Any


class MemberShapeKeywords(MemberLikeKeywords, total=False):
    """Keywords of a new array in a group whose shape may be that of its data."""

    fill_value: Any


class MemberDataKeywords(MemberShapeKeywords, total=False):
    """Of `Group.create`."""

    data: Any
    write_data: bool


class CreateKeywords(MemberKeywords, total=False):
    """Keywords of a new array, except its shape and fill value."""

    store: Any
    path: str | None
    chunk_store: Any
    mode: Mode | None


class LikeKeywords(CreateKeywords, total=False):
    """Keywords of a new array that is like another, except its fill value."""

    shape: Any


class ArrayKeywords(LikeKeywords, total=False):
    """Keywords of a new array."""

    fill_value: Any


class OpenGroupKeywords(TypedDict, total=False):
    """Keywords of `open_consolidated`, except those in its own signature."""

    path: str | None
    zarr_version: Format | None
    zarr_format: Format | None
    cache_attrs: bool
    synchronizer: Any
    chunk_store: Any
    storage_options: Mapping[str, Any] | None
    meta_array: Any
    attributes: Mapping[str, Any] | None
    durability: Durability | None
    version: str | None


class V3RequireKeywords(TypedDict, total=False):
    """Keywords of `Group.require_array`, except those in its own signature."""

    data: Any
    chunks: Any
    shards: Any
    filters: Any
    compressors: Any
    serializer: Any
    fill_value: Any
    order: Order | None
    zarr_format: Format | None
    attributes: Mapping[str, Any] | None
    chunk_key_encoding: Any
    dimension_names: Any
    storage_options: Mapping[str, Any] | None
    overwrite: bool
    config: Any
    write_data: bool
    compressor: Any
    read_only: bool
    synchronizer: Any
    cache_attrs: bool
    durability: Durability | None
    checksum: bool


class V3ShapeKeywords(V3RequireKeywords, total=False):
    """Keywords of `Group.create_array`."""

    shape: Any
    dtype: Any


class OpenLikeKeywords(AliasKeywords, total=False):
    """Keywords of `open_array`, except the store, its format and its path."""

    chunks: Any
    dtype: Any
    compressor: Any
    fill_value: Any
    order: Order
    synchronizer: Any
    filters: Any
    cache_metadata: bool
    cache_attrs: bool
    object_codec: Any
    chunk_store: Any
    partial_decompress: bool | None
    write_empty_chunks: bool | None
    dimension_separator: Separator | None
    meta_array: Any
    allow_pickle: bool
    durability: Durability | None
    checksum: bool


class OpenKeywords(OpenLikeKeywords, total=False):
    """Keywords of `open`, except those in its own signature."""

    shape: Any
    use_consolidated: bool | str | None


class OpenArrayKeywords(OpenLikeKeywords, total=False):
    """Keywords of `open_like`, except those in its own signature."""

    shape: Any
    mode: Mode | None
    zarr_version: Format | None
    zarr_format: Format | None
    storage_options: Mapping[str, Any] | None
    version: str | None
