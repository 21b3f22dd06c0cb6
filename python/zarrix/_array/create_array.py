"""`create_array` and `from_array`: creating arrays as in zarr-python 3.

They take the same two steps as in `zarrix._array.create`: arguments become metadata, which is
checked completely, and then the store is changed. They create v3 arrays, unless the group is v2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._array.arguments import new_metadata, only_in_v3
from zarrix._array.array import Array
from zarrix._array.config import ArrayConfig
from zarrix._array.kept_codecs import kept_codecs
from zarrix._array.options import ArrayOptions
from zarrix._array.store_new import store_new
from zarrix._dtypes.text_values import as_text
from zarrix._dtypes.variable import OBJECT, dtype_in_3, object_codec_of
from zarrix._metadata.grid_documents import has_lists
from zarrix._metadata.literals import DEFAULT, Durability, Format, Order
from zarrix._nodes.location import Location, in_memory
from zarrix._runtime.signatures import takes
from zarrix._selection.values import equal_chunks, is_lazy, require_unmasked

__all__ = ["create_array", "from_array"]


@takes()
def create_array(
    store: Any = None,
    *,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    fill_value: Any = DEFAULT,
    order: Order | None = None,
    zarr_format: Format | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    config: Any = None,
    write_data: bool = True,
    compressor: Any = "auto",
    read_only: bool = False,
    synchronizer: Any = None,
    chunk_store: Any = None,
    cache_attrs: bool = True,
    durability: Durability | None = None,
    checksum: bool = False,
) -> Array:
    """Create an array; it is v3, unless ``zarr_format`` or its group has another format.

    Every argument is checked before anything in the store changes.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    name : str, optional
        Path in the store; parent groups are made.
    shape : int or tuple of int, optional
        That of ``data`` when omitted.
    dtype : dtype, data type of `zarrix.dtype`, or its name; optional
        That of ``data``, else float64.
    data : array-like, optional
        What the array holds.
    chunks : tuple of int, int, "auto", or str such as "1 MiB"
        Length of a chunk (or of an inner chunk of shards) along each axis. A size is the maximum
        number of bytes of a chunk before compression. For chunks of different lengths along an
        axis, the list of all lengths, where ``(length, count)`` stands for a run of equal ones.
    shards : tuple of int, mapping with "shape" and "index_location", "auto", or str as "64 MiB"
        Many chunks are stored under one key, in shards of this shape, a multiple of the chunk
        shape; or shards of different lengths along an axis, as in ``chunks``.
    filters, compressors : codec or iterable of codecs, "auto" or None
        Array-to-array codecs, and bytes-to-bytes codecs, in the order in which they are applied:
        objects of `zarrix.codecs`, numcodecs objects or dicts. The default compressor is zstd with
        a checksum.
    serializer : codec or "auto"
        The array-to-bytes codec; little-endian elements by default.
    fill_value : scalar, optional
        The value of elements that were never written; zero by default, not-a-time for times.
    order : {"C", "F"}, optional
        Order of the elements within a chunk.
    zarr_format : {3, 2}, optional
    attributes : mapping, optional
    chunk_key_encoding : mapping, (name, separator), or object with ``to_dict``; optional
        ``{"name": "default" or "v2", "separator": "/" or "."}``; or ``"suffix"``, whose
        configuration has the ``"suffix"`` that follows the keys of its ``"base_encoding"``.
    dimension_names : iterable of str or None, optional
        One per axis.
    storage_options : dict, optional
        For stores named by a URL.
    overwrite : bool
        Replace an existing node. Files that are not part of the Zarr format are never deleted.
    config : mapping, optional
        ``{"write_empty_chunks": True}`` stores chunks that hold only the fill value;
        ``{"read_missing_chunks": False}`` makes reading one that is not stored an error.
    write_data : bool
        False takes only shape and dtype from ``data``.
    compressor : codec, optional
        One compressor, as in `zarrix.create`.
    read_only : bool
        Return a read-only array.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks.
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks, if it is not ``store``.
    cache_attrs : bool
        False reads attributes again before every use.
    durability : {"process", "fsync"}, optional
        What a finished write survives, as in `zarrix.create`.
    checksum : bool
        Detect damage in chunks with any codec, as in `zarrix.create`.

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
    >>> z = zarr.create_array(shape=(100, 100), chunks=(10, 10), shards=(50, 50), dtype="i4")
    >>> z.shards, z.chunks, z.serializer
    ((50, 50), (10, 10), BytesCodec(endian='little'))
    """
    arguments: dict[str, Any] = {
        "shape": shape,
        "dtype": dtype,
        "chunks": chunks,
        "shards": shards,
        "filters": filters,
        "compressors": compressors,
        "compressor": compressor,
        "serializer": None if isinstance(serializer, str) and serializer == "auto" else serializer,
        "fill_value": fill_value,
        "order": order,
        "attributes": attributes,
        "chunk_key_encoding": chunk_key_encoding,
        "dimension_names": dimension_names,
    }
    location = Location.of(
        in_memory() if store is None else store,
        name,
        None,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=storage_options,
        durability=durability,
    )
    word = only_in_v3(arguments, ("shards", "dimension_names", "serializer"))
    location = location.choose_format(3, word)
    if data is not None:
        data = data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asanyarray(data)
        _take_from_data(data, arguments, location.zarr_format)
    elif shape is None:
        raise ValueError("pass shape=, or data= with a shape")
    metadata = new_metadata(location, arguments, checksum=checksum)
    if data is not None and write_data and not is_lazy(data):
        # Cast first, so that a value that cannot be cast is an error before the old array is
        # deleted.
        require_unmasked(data)
        is_text = metadata.dtype.kind == "T"
        data = as_text(data, metadata.dtype) if is_text else np.asarray(data, metadata.dtype)
    options = ArrayOptions(
        read_only=read_only,
        synchronizer=synchronizer,
        cache_attrs=cache_attrs,
        checksum=checksum,
        **ArrayConfig.keywords(config),
    )
    return store_new(
        location,
        metadata,
        options,
        overwrite=overwrite,
        attributes=attributes,
        data=data if write_data else None,
    )


def _take_from_data(data: Any, arguments: dict[str, Any], zarr_format: Format | None) -> None:
    """Shape and dtype of ``data``, unless the arguments have them."""
    shape, dtype = arguments["shape"], arguments["dtype"]
    if shape is not None and _as_shape(shape) != tuple(data.shape):
        raise ValueError(f"shape={shape} differs from the shape of data, {tuple(data.shape)}")
    if dtype is None:
        if _is_plain_object(data) and isinstance(arguments["filters"], str):
            # Import time: only a mistake needs it.
            from zarrix._codecs.object_advice import objects_without_codec

            raise objects_without_codec(data, data)
        dtype = dtype_in_3(data) if zarr_format == 3 else data.dtype
    arguments.update(shape=data.shape, dtype=dtype)


def _is_plain_object(data: Any) -> bool:
    """Whether these are objects in memory without an object codec."""
    is_object = isinstance(data, np.ndarray) and data.dtype == OBJECT
    return is_object and object_codec_of(data.dtype) == (OBJECT, None)


def _as_shape(shape: Any) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)


@takes()
def from_array(
    store: Any = None,
    *,
    data: Any,
    write_data: bool = True,
    name: str | None = None,
    chunks: Any = "keep",
    shards: Any = "keep",
    filters: Any = "keep",
    compressors: Any = "keep",
    serializer: Any = "keep",
    fill_value: Any = DEFAULT,
    order: Order | None = None,
    zarr_format: Format | None = None,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    config: Any = None,
) -> Array:
    """Create an array with the content ``data``, by default with its chunks and codecs.

    A stored array is copied in parts of complete chunks, and not loaded into memory.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    data : Array or array-like
    write_data : bool
        False takes only shape and dtype from ``data``.
    name : str, optional
        Path in the store.
    chunks, shards, filters, compressors, serializer : optional
        As in `create_array`; "keep" takes those of ``data`` if it is an array of the same format.
    fill_value : scalar, optional
        As in `create_array`, and so are all arguments below. If ``data`` is an `Array`, omitted
        arguments are taken from it.
    order : {"C", "F"}, optional
    zarr_format : {3, 2}, optional
    attributes : mapping, optional
    chunk_key_encoding : mapping, (name, separator), or object with ``to_dict``; optional
    dimension_names : iterable of str or None, optional
    storage_options : dict, optional
    overwrite : bool
    config : mapping, optional

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
    >>> a = zarr.create_array({}, data=[[1, 2], [3, 4]], chunks=(1, 2), attributes={"unit": "mm"})
    >>> b = zarr.from_array("b.zarr", data=a, chunks=(2, 2))
    >>> b[:], b.chunks, b.attrs["unit"]
    (array([[1, 2],
           [3, 4]]), (2, 2), 'mm')
    """
    if not (hasattr(data, "shape") and hasattr(data, "dtype")):
        data = np.asanyarray(data)
    location = Location.of(
        in_memory() if store is None else store,
        name,
        None,
        zarr_format,
        storage_options=storage_options,
    )
    source = data if isinstance(data, Array) else None
    default = source.zarr_format if source is not None else 3
    location = location.choose_format(default)
    chosen = location.zarr_format or default
    wanted = {
        "chunks": chunks,
        "shards": shards,
        "filters": filters,
        "compressors": compressors,
        "serializer": serializer,
    }
    kept = _kept(source, data, chosen)
    for key, value in wanted.items():
        if isinstance(value, str) and value == "keep":
            wanted[key] = kept[key]
    if source is not None:
        fill_value = source.fill_value if fill_value is DEFAULT else fill_value
        attributes = source.attrs.asdict() if attributes is None else attributes
        if chosen == source.zarr_format and chunk_key_encoding is None:
            chunk_key_encoding = _key_encoding(source)
        if chosen == source.zarr_format == 3 and dimension_names is None:
            dimension_names = source.metadata.dimension_names
        if order is None and not (chosen == 3 and source.zarr_format == 3):
            # In v3 the order is one of the filters.
            order = source.order
    return create_array(
        location,
        data=data,
        write_data=write_data,
        fill_value=fill_value,
        order=order,
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
        overwrite=overwrite,
        config=config,
        **wanted,
    )


def _key_encoding(source: Array) -> Any:
    """The keys of the chunks of ``source``, as an argument."""
    metadata = source._snapshot.metadata
    if metadata.zarr_format == 3:
        return metadata._document()["chunk_key_encoding"]
    # Without one, the document names none.
    separator = metadata.key_encoding[1]
    return None if separator is None else {"name": "v2", "separator": separator}


def _kept(source: Array | None, data: Any, zarr_format: Format) -> dict[str, Any]:
    """The chunks and codecs of ``data``, as far as the format supports them."""
    kept: dict[str, Any] = {
        "chunks": "auto",
        "shards": None,
        "filters": "auto",
        "compressors": "auto",
        "serializer": "auto",
    }
    if source is None:
        chunks = equal_chunks(data)
        if isinstance(chunks, tuple) and all(isinstance(n, int) for n in chunks):
            kept["chunks"] = chunks
        return kept
    chunks, shards = source._snapshot.metadata.partition
    if zarr_format == 3 or not has_lists(chunks):
        kept["chunks"] = chunks
    if source.zarr_format == zarr_format == 3:
        kept.update(shards=shards)
    if source.zarr_format == zarr_format or source.zarr_format == 2:
        kept.update(kept_codecs(source, zarr_format, data.dtype, source.ndim))
    return kept
