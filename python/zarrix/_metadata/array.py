"""The metadata of arrays.

`ArrayMetadata` describes arrays of both formats. Its codecs are a v3 codec chain: order "F" of v2
is a transposition, and filters and compressor are members. The v2 terms (``order``, ``filters``,
``compressor``, ``dimension_separator``) are views of this description, so that there is one path
into the engine. `zarrix._metadata.v2` and `zarrix._metadata.v3` read and write the documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zarrix._codecs.chain import stored_order
from zarrix._codecs.shards import inner_shape, shard_of
from zarrix._errors import MetadataError
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._metadata.chunk_parts import (
    ChunkGrid,
    ChunkKeyEncoding,
    ListedChunkGrid,
    plain_members,
)
from zarrix._metadata.compared import as_in_zarr_python, is_same
from zarrix._metadata.json import copied, json_dumps
from zarrix._metadata.layout import EngineLayout, make_layout
from zarrix._metadata.literals import Format, Order
from zarrix._metadata.reshaped import reshaped
from zarrix._runtime.buffers import default_buffer_prototype
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.keys import ARRAY_DOCUMENT, ZARRAY, ZATTRS

__all__ = ["ARRAY_ENCODERS", "ARRAY_PARSERS", "ArrayMetadata"]


@dataclass(frozen=True)
class ArrayMetadata:
    """An array without its data. It is immutable; `with_shape` returns a changed copy.

    Attributes
    ----------
    zarr_format : int
    shape, chunk_shape : tuple of int
        If chunks differ in length along an axis, the chunk shape has the longest.
    dtype : dtype
    fill_value : scalar or None
        An element of ``dtype``; None if missing chunks have no defined content.
    codecs : tuple of dict
        ``{"name", "configuration"}`` in encoding order, as in v3.
    key_encoding : tuple of str and (str or None)
        Name and separator of chunk keys; None if the document does not name a separator.
    has_compressor : bool
        Whether the last codec is the v2 compressor, and not a filter.
    extra : Mapping
        Members of the document that this version does not know; they are written back. In v3 the
        complete document, which is written back with the changes.
    where : str
        Label of the document, for messages.
    zattrs : Mapping or None
        User attributes in v2, which have a separate document; set only in the object from
        ``Array.metadata``.
    rectilinear : tuple of AxisGrid or None
        The chunks along each axis of a rectilinear grid; None for a regular grid.
    key_suffix : str
        The suffix of every chunk key.

    Examples
    --------
    >>> import zarrix as zarr
    >>> metadata = zarr.zeros((4, 6), chunks=(2, 3), dtype="i2").metadata
    >>> metadata.shape, metadata.chunk_shape, metadata.dtype, metadata.zarr_format
    ((4, 6), (2, 3), dtype('int16'), 2)
    """

    zarr_format: Format
    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    dtype: np.dtype[Any]
    # Compared apart from the others: not-a-number differs from itself.
    fill_value: Any = field(compare=False)
    codecs: tuple[Mapping[str, Any], ...]
    key_encoding: tuple[str, str | None] = ("v2", None)
    has_compressor: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict, compare=False)
    where: str = field(default=ZARRAY, compare=False)
    zattrs: Mapping[str, Any] | None = field(default=None, compare=False)
    rectilinear: tuple[AxisGrid, ...] | None = None
    key_suffix: str = ""
    _layouts: dict[tuple[bool, bool, bool, bool], EngineLayout] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # The document of v3, once it was asked for.
    _written: list[bytes] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Cached properties give an instance a dict. CPython caches the position of an entry only if
        # the instances do not share its keys, and every read looks up two entries.
        object.__setattr__(self, "__dict__", dict(vars(self)))

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_layouts": {}, "_written": []}

    def __eq__(self, other: object) -> bool:
        """Whether they describe the same array, with the same attributes.

        Attributes that were not read count as none.
        """
        return isinstance(other, ArrayMetadata) and is_same(self, other)

    def __hash__(self) -> int:
        return hash((self.zarr_format, self.shape, self.chunk_shape, self.dtype.str))

    def at(self, where: str) -> ArrayMetadata:
        """The same array for another document with the same content, with the layout already bound.

        Python codecs are created again, because they may have been registered again.

        Parameters
        ----------
        where : str

        Returns
        -------
        ArrayMetadata

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(3).metadata.at("a copy of it").where
        'a copy of it'
        """
        layouts = self._layouts
        for layout in [*layouts.values()]:
            if layout.foreign or self.rectilinear is not None:
                layouts = {}
                break
        else:
            if where == self.where:
                return self
        other = object.__new__(ArrayMetadata)
        object.__setattr__(other, "__dict__", {**vars(self), "where": where, "_layouts": layouts})
        return other

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ArrayMetadata:
        """The metadata that a document describes; the reverse of `to_dict`.

        Parameters
        ----------
        data : mapping
            The document as JSON values; in v2 it may have the attributes as well. The codecs of v3
            may be objects.

        Returns
        -------
        ArrayMetadata

        Raises
        ------
        MetadataError
            It does not describe an array, or one of another format than the class.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.core.metadata import ArrayMetadata
        >>> metadata = zarr.zeros(3, zarr_format=3).metadata
        >>> ArrayMetadata.from_dict(metadata.to_dict()) == metadata
        True
        """
        members = dict(data)
        zarr_format = members.get("zarr_format")
        known = [getattr(cls, "_is_of", zarr_format)]
        if zarr_format not in ARRAY_PARSERS or zarr_format not in known:
            wanted = "2 or 3" if known == [zarr_format] else known[0]
            raise MetadataError(f"key 'zarr_format' is {zarr_format!r}; expected {wanted}")
        if zarr_format == 3:
            return ARRAY_PARSERS[3](plain_members(members))
        attributes = members.pop("attributes", None)
        return replace(ARRAY_PARSERS[2](members), zattrs=attributes)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @cached_property
    def order(self) -> Order:
        """Order of the elements inside a chunk, "C" or "F"."""
        if self.zarr_format == 2:
            return "F" if self.codecs and self.codecs[0]["name"] == "transpose" else "C"
        axes = len(self.shape)
        shard = self.shard_codec
        chain = self.codecs if shard is None else (*self.codecs, *shard["codecs"])
        order = stored_order(chain, axes, self.where)
        return "F" if axes > 1 and order == tuple(reversed(range(axes))) else "C"

    @property
    def compressor(self) -> Any:
        """Configuration of the compressor as v2 writes it, or None.

        Under `zarrix.as_zarr` a codec of numcodecs, as in zarr-python 3.
        """
        config = self.compressor_config
        return self._shown(config) if config and DIALECT.is_zarr3 else config

    @property
    def filters(self) -> tuple[Any, ...] | None:
        """Configurations of the filters as v2 writes them, or None.

        Under `zarrix.as_zarr` codecs of numcodecs, as in zarr-python 3.
        """
        configs = self.filter_configs
        return tuple(map(self._shown, configs)) if configs and DIALECT.is_zarr3 else configs

    def _shown(self, config: dict[str, Any]) -> Any:
        # Import time: nothing that is stored needs codecs as objects.
        from zarrix._codecs.numcodecs import shown_codec

        return shown_codec(config, self.where)

    @property
    def compressor_config(self) -> dict[str, Any] | None:
        """Configuration of the compressor as v2 writes it, or None."""
        return _v2_config(self.codecs[-1]) if self.has_compressor else None

    @property
    def filter_configs(self) -> tuple[dict[str, Any], ...] | None:
        """Configurations of the filters as v2 writes them, or None."""
        last = len(self.codecs) - self.has_compressor
        chain = self.codecs[:last]
        return tuple(_v2_config(c) for c in chain if c["name"].startswith("numcodecs.")) or None

    @property
    def dimension_separator(self) -> str:
        """The separator of chunk keys: "." or "/"."""
        return self.key_encoding[1] or ("/" if self.key_encoding[0] == "default" else ".")

    @cached_property
    def shard_codec(self) -> Mapping[str, Any] | None:
        """Configuration of the shards; None if chunks are not shards."""
        return shard_of(self.codecs)

    @cached_property
    def inner_chunk_shape(self) -> tuple[int, ...]:
        """Shape of the smallest unit that is read: an inner chunk of a shard, or a chunk."""
        shard = self.shard_codec
        if shard is None:
            return self.chunk_shape
        order = stored_order(self.codecs, len(self.shape), self.where)
        whole = tuple(self.chunk_shape[axis] for axis in order)
        stored = inner_shape(shard, whole, f"{self.where}: key 'codecs'")
        lengths = dict(zip(order, stored, strict=True))
        return tuple(lengths[axis] for axis in range(len(order)))

    @property
    def document_name(self) -> str:
        """Last part of the key of the document."""
        return ARRAY_DOCUMENT[self.zarr_format]

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the user attributes."""
        stored = self.zattrs if self.zarr_format == 2 else self.extra.get("attributes")
        return {name: copied(value) for name, value in (stored or {}).items()}

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """Names of the axes, None for an axis without a name; None if the document has no names.

        Raises
        ------
        AttributeError
            The array is v2, which has no names. xarray tells v2 from v3 by that.
        """
        if self.zarr_format == 2:
            raise AttributeError("metadata of v2 has no attribute 'dimension_names'")
        names = self.extra.get("dimension_names")
        return None if names is None else tuple(names)

    @property
    def node_type(self) -> str:
        """The kind of node: ``"array"``."""
        return "array"

    @property
    def data_type(self) -> Any:
        """The data type as an object of `zarrix.dtype`; the one that metadata was made of."""
        if "_given_data_type" in vars(self):
            return vars(self)["_given_data_type"]
        # Import time: its classes take time to make, and few programs ask for one.
        from zarrix._dtypes.zdtype import parse_dtype

        return parse_dtype(self.dtype, zarr_format=3)

    @property
    def chunk_grid(self) -> ChunkGrid:
        """The chunk grid; for an array with shards, the grid of shards."""
        if self.rectilinear is None:
            return ChunkGrid("regular", self.chunk_shape)
        return ListedChunkGrid.of(self.rectilinear)

    @property
    def chunk_key_encoding(self) -> ChunkKeyEncoding:
        """The chunk key encoding."""
        return ChunkKeyEncoding(self.key_encoding[0], self.dimension_separator)

    def to_dict(self) -> dict[str, Any]:
        """The document, as JSON values; in v2 with the attributes, if `zattrs` is set.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> document = zarr.create_array({}, shape=3, dtype="u1").metadata.to_dict()
        >>> document["node_type"], document["data_type"], document["shape"]
        ('array', 'uint8', [3])
        """
        members = self._document()
        return as_in_zarr_python(members) if DIALECT.is_zarr3 else members

    def _document(self) -> dict[str, Any]:
        """What `to_dict` returns unless zarrix runs as zarr."""
        members: dict[str, Any] = json.loads(ARRAY_ENCODERS[self.zarr_format](self))
        if self.zattrs is not None:
            members["attributes"] = self.attributes
        return members

    @cached_property
    def grid(self) -> tuple[AxisGrid, ...]:
        """The chunks (or shards) along each axis."""
        if self.rectilinear is not None:
            return self.rectilinear
        return tuple(AxisGrid(even=max(length, 1)) for length in self.chunk_shape)

    @property
    def inner_grid(self) -> tuple[AxisGrid, ...]:
        """The chunks, or the inner chunks of shards, along each axis."""
        if self.shard_codec is None:
            return self.grid
        return tuple(AxisGrid(even=length) for length in self.inner_chunk_shape)

    @property
    def partition(self) -> tuple[Any, Any]:
        """``chunks=`` and ``shards=`` of an array with the same grid."""
        outer = self.chunk_shape if self.rectilinear is None else self.rectilinear
        return (outer, None) if self.shard_codec is None else (self.inner_chunk_shape, outer)

    @property
    def chunk_grid_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return tuple(axis.count(size) for axis, size in zip(self.grid, self.shape, strict=True))

    def chunk_region(self, coords: Sequence[int]) -> tuple[slice, ...]:
        """The region of the chunk (or shard) at ``coords``.

        Parameters
        ----------
        coords : sequence of int
            One for each axis.

        Returns
        -------
        tuple of slice
            It may end behind the array, where the last chunk of an axis does.

        Raises
        ------
        ValueError
            There are more or fewer coordinates than axes.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros((4, 5), chunks=(2, 3)).metadata.chunk_region((1, 1))
        (slice(2, 4, None), slice(3, 6, None))
        """
        chunks = (axis.chunk(at) for axis, at in zip(self.grid, coords, strict=True))
        return tuple(slice(chunk.begin, chunk.end) for chunk in chunks)

    def encode_chunk_key(self, chunk_coords: Sequence[int]) -> str:
        """The key of the chunk (or shard) at ``chunk_coords``, relative to the array.

        Parameters
        ----------
        chunk_coords : sequence of int
            One for each axis.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            There are more or fewer coordinates than axes.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros((4, 5), chunks=(2, 3)).metadata.encode_chunk_key((1, 1))
        '1.1'
        """
        if len(chunk_coords) != len(self.shape):
            raise ValueError(f"{len(chunk_coords)} coordinates for {len(self.shape)} axes")
        return self.chunk_key_encoding.encode_chunk_key(chunk_coords) + self.key_suffix

    def to_buffer_dict(self, prototype: Any = None) -> dict[str, Any]:
        """The documents as buffers, as zarr-python 3 stores them.

        Parameters
        ----------
        prototype : BufferPrototype, optional
            The class of the buffers.

        Returns
        -------
        dict of str to Buffer
            In v2 with the attributes, if `zattrs` is set.

        Raises
        ------
        TypeError
            An attribute cannot be written as JSON.

        Examples
        --------
        >>> import zarrix as zarr
        >>> documents = zarr.create_array({}, shape=3, dtype="u1").metadata.to_buffer_dict()
        >>> [*documents], documents["zarr.json"].to_bytes()[:1]
        (['zarr.json'], b'{')
        """
        documents = {self.document_name: ARRAY_ENCODERS[self.zarr_format](self)}
        if self.zattrs is not None:
            documents[ZATTRS] = json_dumps(self.attributes)
        made = (prototype or default_buffer_prototype()).buffer
        return {name: made.from_bytes(text) for name, text in documents.items()}

    @property
    def foreign_codecs(self) -> tuple[str, ...]:
        """Names of the codecs that are not native, which the engine calls in Python."""
        return tuple(name for slot in self.layout(allow_pickle=True).foreign for name in slot.names)

    def layout(
        self,
        *,
        write_empty_chunks: bool = True,
        allow_pickle: bool = False,
        read_missing_chunks: bool = True,
        new: bool = False,
    ) -> EngineLayout:
        """The layout of this array for the engine.

        For a ``new`` array, options that only an encoder uses are checked, too.

        Parameters
        ----------
        write_empty_chunks, allow_pickle, read_missing_chunks : bool
            As of `Array`.
        new : bool
            Whether the array is about to be created.

        Returns
        -------
        EngineLayout

        Raises
        ------
        UnknownCodecError, MetadataError
            A codec is not available, its configuration is invalid, or the engine rejects it; the
            message names the document.

        Examples
        --------
        >>> import zarrix as zarr
        >>> layout = zarr.zeros(4, compressor=zarr.Zlib()).metadata.layout()
        >>> layout.foreign
        []
        """
        options = (write_empty_chunks, allow_pickle, read_missing_chunks)
        found = self._layouts.get((*options, new))
        if found is None:
            found = self._layouts[*options, new] = make_layout(self, *options, new=new)
            # One that was checked as that of a new array serves for any other.
            self._layouts[*options, False] = found
        return found

    def with_shape(
        self, shape: tuple[int, ...], chunks_of: tuple[int, ...] | None = None
    ) -> ArrayMetadata:
        """The same array with another shape; chunks do not change.

        If the chunks of a rectilinear grid do not reach the new shape, more are appended: one along
        each axis, as in zarr-python, or as many of the length in ``chunks_of`` as needed.

        Parameters
        ----------
        shape : tuple of int
        chunks_of : tuple of int, optional
            Lengths of the chunks that are added to an axis whose chunks are listed.

        Returns
        -------
        ArrayMetadata

        Raises
        ------
        MetadataError
            The number of axes differs, a length is negative, or an axis with chunks of length zero
            would become longer than zero.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros((4, 5)).metadata.with_shape((8, 5)).shape
        (8, 5)
        """
        return reshaped(self, shape, chunks_of)

    def update_shape(self, shape: tuple[int, ...]) -> ArrayMetadata:
        """The same array with another shape, as `with_shape` gives it; nothing is stored.

        Parameters
        ----------
        shape : tuple of int

        Returns
        -------
        ArrayMetadata

        Raises
        ------
        MetadataError
            As in `with_shape`.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros((4, 5)).metadata.update_shape((8, 5)).shape
        (8, 5)
        """
        return self.with_shape(shape)

    def update_attributes(self, attributes: Mapping[str, Any]) -> ArrayMetadata:
        """The same array with these attributes, and no others; nothing is stored.

        Parameters
        ----------
        attributes : mapping of str to object

        Returns
        -------
        ArrayMetadata

        Raises
        ------
        TypeError
            The attributes are not a mapping.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(4).metadata.update_attributes({"unit": "K"}).attributes
        {'unit': 'K'}
        """
        if self.zarr_format == 2:
            return replace(self, zattrs=dict(attributes))
        return replace(self, extra={**self.extra, "attributes": dict(attributes)})

    @property
    def chunk_units(self) -> tuple[int, ...]:
        """The divisor of every chunk length: the inner chunks of shards, or 1."""
        return (1,) * len(self.shape) if self.shard_codec is None else self.inner_chunk_shape


def _v2_config(codec: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": codec["name"].removeprefix("numcodecs."), **codec.get("configuration", {})}


# Pickles name a class by its module: a public one, which does not move.
ArrayMetadata.__module__ = "zarrix.core.metadata"

ARRAY_ENCODERS: dict[int, Callable[[ArrayMetadata], bytes]] = {}
"""Functions that write the document of an array, by format; v2 and v3 register theirs."""

ARRAY_PARSERS: dict[int, Callable[[Any], ArrayMetadata]] = {}
"""Functions that read it."""
