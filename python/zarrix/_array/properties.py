"""Views of the metadata of an array: shards, serializer, codecs, store path, reports.

The names are zarr-python 3's, for arrays of either format. Codecs of a v2 array are numcodecs
objects, and codecs of a v3 array are objects of `zarrix.codecs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from zarrix._array.config import ArrayConfig
from zarrix._array.facts import ArrayFacts
from zarrix._array.options import ArrayOptions
from zarrix._codecs.chain import split_chain
from zarrix._codecs.normalize import numcodecs_config
from zarrix._codecs.numcodecs import shown_codec
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.chunk_grid import AxisGrid
from zarrix._metadata.json import json_dumps
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._nodes.on_demand import on_demand
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import completable
from zarrix._stores.path import StorePath

if TYPE_CHECKING:
    # Optional package: xarray.
    from xarray import DataArray

    from zarrix._display.chunk_map import ChunkMap
    from zarrix._display.info import InfoReporter
    from zarrix.viewer._widget import Widget

__all__ = ["ArrayProperties"]


@completable
class ArrayProperties(ArrayFacts):
    """The properties of zarr-python 3; a base of every array."""

    __slots__ = ()

    def _codecs_by_kind(self) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        """v3 filters, serializer and compressors; those inside shards, if there are shards."""
        # Imported on use, because opening, reading and writing need no codec objects.
        from zarrix._codecs.classes import codec_from_dict

        metadata = self._snapshot.metadata
        shard = metadata.shard_codec
        chain = metadata.codecs if shard is None else shard["codecs"]
        arrays, middle, binary = split_chain(dict(codec) for codec in chain)
        return (
            tuple(codec_from_dict(one) for one in arrays),
            codec_from_dict(middle[0]),
            tuple(codec_from_dict(one) for one in binary),
        )

    @classmethod
    def open(cls, store: Any, *, zarr_format: Format | None = None, config: Any = None) -> Self:
        """Open the array at a path.

        Parameters
        ----------
        store : Store, StorePath, mapping, str or Path
        zarr_format : {2, 3}, optional
            The format of the array; either format when omitted.
        config : mapping, optional
            As in `zarrix.create_array`.

        Returns
        -------
        Array

        Raises
        ------
        ArrayNotFoundError
            The array does not exist.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1, 2, 3], store="data.zarr")
        >>> zarr.Array.open("data.zarr")[1:]
        array([2, 3])
        """
        place = StorePath.of(store)
        return cls(
            place.store, place.path, zarr_version=zarr_format, **ArrayConfig.keywords(config)
        )

    @classmethod
    def from_dict(cls, store_path: Any, data: Mapping[str, Any]) -> Self:
        """An array with the metadata of a document; nothing is read for it, and nothing is stored.

        Parameters
        ----------
        store_path : StorePath, Store, mapping, str or Path
            Where its chunks are.
        data : mapping
            The document: a ``zarr.json``, or a ``.zarray``.

        Returns
        -------
        Array

        Raises
        ------
        MetadataError
            The document does not describe an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> document = zarr.create_array({}, shape=3, dtype="i4", fill_value=7).metadata.to_dict()
        >>> zarr.Array.from_dict(zarr.MemoryStore(), document)[:]
        array([7, 7, 7], dtype=int32)
        """
        place = StorePath.of(store_path)
        zarr_format: Format = 2 if data.get("zarr_format") == 2 else 3
        members, attributes = dict(data), None
        if zarr_format == 2 and "attributes" in members:
            attributes = json_dumps(members.pop("attributes"))
        node = nodes.Node(zarr_format, "array", json_dumps(members), attributes)
        # There is no stored metadata, which could be gone.
        location = Location.of(place.store, place.path, zarr_format)
        return cls._at(location, node, ArrayOptions(is_detached=True))

    @classmethod
    def create(cls, store: Any = None, *, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        """Create an array; it is v3, unless ``zarr_format`` is 2.

        Parameters
        ----------
        store : Store, StorePath, mapping, str or Path, optional
        shape : int or tuple of int
        dtype : dtype, optional
        **kwargs
            As for `zarrix.create`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
        MetadataError, ValueError, TypeError
            The arguments do not describe an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.Array.create(shape=(4, 6), chunks=(2, 3), dtype="f4").metadata.zarr_format
        3
        """
        place = StorePath.of(store)
        kwargs.setdefault("zarr_format", 3)
        kwargs.setdefault("path", place.path)
        return on_demand("create")(shape, dtype=dtype, store=place.store, **kwargs)

    @property
    def async_array(self) -> Any:
        """The same array with coroutine methods: an `AsyncArray`."""
        return on_demand("AsyncArray")(self)

    _async_array = async_array

    @property
    def zarr_format(self) -> Format:
        """The Zarr format of the array: 2 or 3."""
        return self._snapshot.metadata.zarr_format

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Length of a shard along each axis; None if there are no shards.

        Raises
        ------
        NotImplementedError
            Shards have different lengths along an axis, as in zarr-python; `write_chunk_sizes` has
            them.
        """
        metadata = self._snapshot.metadata
        if metadata.shard_codec is None:
            return None
        if metadata.rectilinear is not None:
            raise NotImplementedError(
                "the array has shards of several shapes; write_chunk_sizes has their lengths"
            )
        return metadata.chunk_shape

    @property
    def serializer(self) -> Any:
        """The array-to-bytes codec; None in v2."""
        return None if self._snapshot.metadata.zarr_format == 2 else self._codecs_by_kind()[1]

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The bytes-to-bytes codecs, in the order in which they are applied."""
        metadata = self._snapshot.metadata
        if metadata.zarr_format == 3:
            return self._codecs_by_kind()[2]
        config = metadata.compressor_config
        return () if config is None else (shown_codec(config, metadata.where),)

    @property
    def compressor(self) -> Any:
        """The last codec of the chain as a numcodecs object; None if there is none.

        In v3 the first of `compressors`, if numcodecs has it.
        """
        metadata = self._snapshot.metadata
        config = metadata.compressor_config
        if metadata.zarr_format == 3 and self.compressors:
            config = numcodecs_config(self.compressors[0].to_dict())
        return None if config is None else shown_codec(config, metadata.where)

    @property
    def filters(self) -> Any:
        """The codecs before the compressor, as numcodecs objects; None if there are none.

        In v3, a tuple of the array-to-array codecs, as objects of `zarrix.codecs`. Under
        `zarrix.as_zarr` a tuple in v2 as well, as in zarr-python 3.
        """
        metadata = self._snapshot.metadata
        if metadata.zarr_format == 3:
            return self._codecs_by_kind()[0]
        filters, label = metadata.filter_configs, metadata.where
        if DIALECT.is_zarr3:
            return tuple(shown_codec(config, label) for config in filters or ())
        return None if filters is None else [shown_codec(config, label) for config in filters]

    @property
    def metadata(self) -> ArrayMetadata:
        """The stored metadata; it does not change with the array."""
        metadata = self._snapshot.metadata
        return (
            metadata if metadata.zarr_format == 3 else replace(metadata, zattrs=self.attrs.asdict())
        )

    @property
    def config(self) -> ArrayConfig:
        """Settings of this object, which are not stored."""
        options = self._options
        return ArrayConfig(
            self._snapshot.order,
            bool(options.write_empty_chunks),
            bool(options.read_missing_chunks),
        )

    def with_config(self, config: Any) -> Self:
        """The same array with other settings.

        Parameters
        ----------
        config : mapping or ArrayConfig
            Missing settings stay as they are.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            ``config`` has a setting that does not exist.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.create_array(shape=4, chunks=2, dtype="i4")
        >>> z.with_config({"write_empty_chunks": True})[:] = 0
        >>> z.nchunks_initialized
        2
        """
        new = self.__class__.__new__(self.__class__)
        state = self.__getstate__()
        wanted = ArrayConfig.of(config, self.config)
        changed = {
            "write_empty_chunks": wanted.write_empty_chunks,
            "read_missing_chunks": wanted.read_missing_chunks,
            "order": wanted.order,
        }
        new.__setstate__({**state, **changed})
        return new

    def reduced(self, factor: int) -> Self:
        """A read-only view in which each picture has a smaller size, as its codec decodes it.

        For chunks that are JPEG pictures. Elements are those of libjpeg's scaled decoding, as with
        `PIL.Image.Image.draft`, and not means. The axes of the pictures have the length
        ``ceil(n / factor)``. The view is an array for all reads: windows, loaders, the viewer.

        Parameters
        ----------
        factor : {2, 4, 8}

        Returns
        -------
        Array
            With ``is_view`` true.

        Raises
        ------
        ValueError
            Chunks are not JPEG pictures, or their lengths are not multiples of the factor along an
            axis with several chunks.

        See Also
        --------
        zarrix.jobs.downsample : Stores a smaller copy of any array, with exact means.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> frames = np.zeros((2, 60, 80, 3), "u1")
        >>> z = zarr.create_array({}, data=frames, chunks=(1, 60, 80, 3), compressors="jpeg:90")
        >>> z.reduced(8).shape
        (2, 8, 10, 3)
        """
        # Imported when called, for import time: few programs read smaller pictures.
        from zarrix._array.reduced import metadata_of_reduced

        seen = metadata_of_reduced(self._snapshot.metadata, factor)
        new = self.__class__.__new__(self.__class__)
        new.__setstate__(self.__getstate__())
        new._reopen(seen, read_only=True)
        return new

    @property
    def store_path(self) -> StorePath:
        """The store, and the path in it."""
        return StorePath(self.store, self.path)

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the chunks (or inner chunks) along each axis, as in dask."""
        metadata = self._snapshot.metadata
        return _sizes(metadata.shape, metadata.inner_grid)

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the stored chunks (or shards) along each axis."""
        metadata = self._snapshot.metadata
        return _sizes(metadata.shape, metadata.grid)

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step, and keep the others.

        Parameters
        ----------
        new_attributes : mapping of str to JSON value

        Returns
        -------
        Array
            This one.

        Raises
        ------
        ReadOnlyError
            The array was opened for reading.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> dict(zarr.zeros(3).update_attributes({"unit": "K"}).attrs)
        {'unit': 'K'}
        """
        self.attrs.update(new_attributes)
        return self

    @property
    def info(self) -> InfoReporter:
        """A report about the array and its stored size; prints as a table."""
        # Import time: few programs print it.
        from zarrix._display.info import InfoReporter

        return InfoReporter(self)

    def info_items(self) -> list[tuple[str, Any]]:
        """The rows of `info`.

        Returns
        -------
        list of tuple of (str, object)

        Examples
        --------
        >>> import zarrix as zarr
        >>> dict(zarr.zeros((4, 6), chunks=(2, 3)).info_items())["Chunk shape"]
        '(2, 3)'
        """
        metadata = self._current().metadata
        # Import time: few programs print it.
        from zarrix._display.info import array_items

        return array_items(self, metadata)

    def to_xarray(self, *, name: str | None = None, chunks: Any = None) -> DataArray:
        """The array as an object of xarray, whose elements are read when they are used.

        Its dimensions are those of the metadata, or ``dim_0``, ``dim_1``, ... for axes without a
        name. Attributes are decoded by the CF conventions, as `xarray.open_dataset` does.

        Parameters
        ----------
        name : str, optional
            The last part of the path when omitted.
        chunks : mapping, int or "auto", optional
            Blocks of dask, as in `xarray.open_dataset`; no dask when omitted.

        Returns
        -------
        xarray.DataArray

        Raises
        ------
        ImportError
            xarray is not installed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.create_array(data=[[1, 2], [3, 4]], dimension_names=["y", "x"])
        >>> z.to_xarray().sum("x").values
        array([3, 7])
        """
        found: DataArray = on_demand("data_array")(self, name, chunks)
        return found

    def chunk_map(self, selection: Any = ...) -> ChunkMap:
        """A map of the stored chunks (or shards): bytes of each, and missing ones hatched.

        The chunks that the selection touches are asked for one by one; nothing is listed or read.

        Parameters
        ----------
        selection : int, slice or Ellipsis, or a tuple of these

        Returns
        -------
        ChunkMap
            Prints as text, and is a drawing in notebooks.

        Raises
        ------
        BoundsCheckError
            An index lies outside ``self.shape`` (also an ``IndexError``).
        ValueError
            The selection touches more than 131,072 values, or 4,096 of a remote store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((2, 6, 6), chunks=(1, 2, 2), compressor=None)
        >>> z[1, :, 2:4] = 7
        >>> print(z.chunk_map(1))
        /█/
        /█/
        /█/
        3 of 9 chunks stored, 96 bytes
        """
        # Import time: few programs ask for it.
        from zarrix._array.stored import map_of

        return map_of(self, selection)

    def viewer(self) -> Widget:
        """The array in a notebook, as a widget: pictures, values, chunks, statistics.

        It has the front end of ``zarrix view`` and needs no server. The region that was outlined
        last is the widget's ``selection``, and its values are ``region``.

        Returns
        -------
        zarrix.viewer.Widget

        Raises
        ------
        ImportError
            anywidget is not installed: ``pip install "zarrix[notebook]"``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((4, 6), chunks=(2, 3))
        >>> widget = z.viewer()
        >>> widget.selection is None
        True
        """
        found: Widget = on_demand("widget_of")(self)
        return found

    def _token(self) -> str:
        # Import time: only task graphs ask for it.
        from hashlib import blake2b

        snapshot, options = self._snapshot, self._options
        document = snapshot.document or nodes.array_document(snapshot.metadata)
        view = repr((snapshot.metadata, options.cast_to)) if options.is_view else ""
        return blake2b(document + view.encode(), digest_size=16).hexdigest()

    def info_complete(self) -> Any:
        """The same as `info`, which already counts stored chunks.

        Returns
        -------
        InfoReporter

        Examples
        --------
        >>> import zarrix as zarr
        >>> str(zarr.zeros(3).info_complete()) == str(zarr.zeros(3).info)
        True
        """
        return self.info

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.dtype.names or ())

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.html import array_html

        return array_html(self, self._current().metadata)


def _sizes(shape: tuple[int, ...], grid: tuple[AxisGrid, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(axis.sizes(n)) for n, axis in zip(shape, grid, strict=True))
