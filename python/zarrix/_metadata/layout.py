"""The layout of an array for the engine: its metadata with codecs and elements bound to chunks.

The layout is v3 JSON for arrays of both formats, with dtype and fill value as bytes. It does not
depend on the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from zarrix import _engine
from zarrix._codecs.bind import bind_chain
from zarrix._codecs.objects import ElementCodec
from zarrix._codecs.python_codecs import ForeignCodecs
from zarrix._dtypes.v2 import fill_value_bytes
from zarrix._dtypes.variable import SERIALIZERS, data_type_name, is_variable
from zarrix._errors import MetadataError
from zarrix._runtime.config import config

if TYPE_CHECKING:
    from zarrix._metadata.array import ArrayMetadata

__all__ = ["EngineLayout", "make_layout"]

ChainOf = Callable[[tuple[int, ...]], tuple[str, list[ForeignCodecs]]]


class EngineLayout(NamedTuple):
    """The layout of an array, as bound by the engine.

    Attributes
    ----------
    document : str
        JSON.
    foreign : list
        What its codecs named ``zarrix.foreign`` call, and last the `ElementCodec` of
        variable-length elements.
    bound : _engine.Layout
        The engine's object for both.
    """

    document: str
    foreign: list[ForeignCodecs | ElementCodec]
    bound: _engine.Layout


def make_layout(
    metadata: ArrayMetadata,
    write_empty_chunks: bool,
    allow_pickle: bool,
    read_missing_chunks: bool,
    *,
    new: bool,
) -> EngineLayout:
    """The layout of an array; `ArrayMetadata.layout` has the meaning of the options.

    Raises
    ------
    UnknownCodecError, MetadataError
        A codec is not available, its configuration is invalid, or the engine rejects it.
    """
    chunk_shape = tuple(max(length, 1) for length in metadata.chunk_shape)
    codecs, foreign = _chain_of(metadata, chunk_shape, new)
    fill = fill_value_bytes(metadata.fill_value, metadata.dtype)
    document = {
        "shape": metadata.shape,
        "chunk_grid": [axis.even or axis.runs for axis in metadata.grid],
        "item_bytes": metadata.dtype.itemsize,
        "fill_value": None if fill is None else fill.hex(),
        "chunk_key_encoding": {
            "name": metadata.key_encoding[0],
            "configuration": {"separator": metadata.dimension_separator},
        },
        "chunk_key_suffix": metadata.key_suffix,
        "codecs": codecs,
        "metadata_key": metadata.document_name,
        "write_empty_chunks": write_empty_chunks,
    }
    if not read_missing_chunks:
        document["read_missing_chunks"] = False
    slots: list[ForeignCodecs | ElementCodec] = [*foreign]
    if is_variable(metadata.dtype):
        most = min(config.max_chunk_bytes, config.max_variable_chunk_bytes)
        objects = {"slot": len(slots), "max_chunk_bytes": most}
        document.update(item_bytes=None, objects=objects)
        slots.append(_element_codec(metadata, allow_pickle))
    text = json.dumps(document)
    try:
        bound = _engine.Layout(text, slots, _chain_by_shape(metadata, codecs, foreign))
    except MetadataError as error:
        raise MetadataError(f"{metadata.where}: {error}") from None
    return EngineLayout(text, slots, bound)


def _chain_of(
    metadata: ArrayMetadata, chunk_shape: tuple[int, ...], new: bool = False
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    return bind_chain(
        metadata.codecs,
        metadata.dtype,
        chunk_shape,
        metadata.where,
        fill_value_bytes(metadata.fill_value, metadata.dtype),
        zarr_format=metadata.zarr_format,
        has_compressor=metadata.has_compressor,
        new=new,
    )


def _chain_by_shape(
    metadata: ArrayMetadata, codecs: list[dict[str, Any]], foreign: list[ForeignCodecs]
) -> ChainOf | None:
    """A function that binds codecs to a chunk shape; None if ``codecs`` serve all shapes."""
    if metadata.rectilinear is None:
        return None
    shortest = tuple(min(axis.lengths) for axis in metadata.rectilinear)
    if not foreign and _chain_of(metadata, shortest)[0] == codecs:
        return None

    @lru_cache(maxsize=256)
    def chain_of(chunk_shape: tuple[int, ...]) -> tuple[str, list[ForeignCodecs]]:
        codecs, foreign = _chain_of(metadata, chunk_shape)
        return json.dumps(codecs), foreign

    return chain_of


def _element_codec(metadata: ArrayMetadata, allow_pickle: bool) -> ElementCodec:
    """The element codec of this array of variable-length elements."""
    if metadata.zarr_format == 3:
        name = SERIALIZERS[data_type_name(metadata.dtype) or ""]
        return ElementCodec({"id": name}, metadata.fill_value, label=metadata.where)
    assert metadata.filter_configs is not None
    chunk_shape = tuple(max(length, 1) for length in metadata.chunk_shape)
    of_chunk = (chunk_shape, metadata.order, metadata.where, allow_pickle)
    return ElementCodec(metadata.filter_configs[0], metadata.fill_value, *of_chunk)
