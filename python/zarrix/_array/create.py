"""Creating and opening arrays: ``zarr.creation`` of zarr 2.18.

All functions end in the same two steps: arguments become metadata, which is checked completely, and
then the store is changed (`zarrix._array.store_new`). h5py's keywords (``compression=``,
``fillvalue=``) are translated first; an unknown keyword is an error that suggests the right one.
"""

from __future__ import annotations

import inspect
from typing import Any, Unpack

import numpy as np

from zarrix._array.arguments import metadata_of_create
from zarrix._array.array import Array
from zarrix._array.config import ArrayConfig
from zarrix._array.keywords import ArrayKeywords, CreateAliasKeywords
from zarrix._array.like import chunks_of, take_storage
from zarrix._array.options import ArrayOptions
from zarrix._array.store_new import store_new
from zarrix._dtypes.variable import object_codec_of
from zarrix._metadata.literals import DEFAULT, Durability, Format, Order, Separator
from zarrix._nodes.location import Location, in_memory
from zarrix._runtime.signatures import takes
from zarrix._selection.values import is_lazy, require_unmasked

__all__ = ["ARRAY_KEYWORDS", "array", "create"]


@takes(CreateAliasKeywords)
def create(
    shape: Any,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = DEFAULT,
    order: Order | None = None,
    store: Any = None,
    synchronizer: Any = None,
    overwrite: bool = False,
    path: str | None = None,
    chunk_store: Any = None,
    filters: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    read_only: bool = False,
    object_codec: Any = None,
    dimension_separator: Separator | None = None,
    write_empty_chunks: bool | None = None,
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    meta_array: Any = None,
    allow_pickle: bool = False,
    storage_transformers: Any = (),
    durability: Durability | None = None,
    checksum: bool = False,
    **kwargs: Unpack[CreateAliasKeywords],
) -> Array:
    """Create an array; it is v2, unless ``zarr_format`` or its group has another format.

    Every argument is checked before anything in the store changes.

    Parameters
    ----------
    shape : int or tuple of int
    chunks : int, tuple of int or bool
        Length of a chunk along each axis; None or -1 is the whole axis. True guesses, False makes
        one chunk.
    dtype : dtype
        float64 when omitted.
    compressor : codec, dict, None or 'default'
        A numcodecs object or its configuration. The default is Blosc with lz4, level 5, shuffle.
    fill_value : scalar or None
        What elements read as that were never written: zero by default, not-a-time for times, and
        empty text and bytes.
    order : {'C', 'F'}, optional
        Order of the elements within a chunk; ``config.get("array.order")`` when omitted, which is
        "C".
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks, which are automatic.
    overwrite : bool
        Replace an existing node at ``path``. Files that are not part of the Zarr format are never
        deleted.
    path : str, optional
        Path in the store; missing parent groups are created.
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks, if it is not ``store``.
    filters : list of codecs, optional
        Applied before the compressor, in this order.
    cache_metadata, cache_attrs : bool
        False reads metadata (attributes) again before every use.
    read_only : bool
        Return a read-only array.
    object_codec : codec, optional
        The codec for elements of ``dtype=object``: numcodecs' ``VLenUTF8``, ``VLenBytes``,
        ``VLenArray``, ``JSON``, ``MsgPack``, ``Categorize`` or ``Pickle``. ``dtype=str``,
        ``dtype=bytes`` and ``dtype="array:f4"`` (variable-length arrays) imply theirs.
    dimension_separator : {'.', '/'}, optional
        Separator in chunk keys; ``'.'`` unless the store has its own.
    write_empty_chunks : bool
        False leaves chunks that hold only the fill value out of the store. By default they are
        stored in v2, and left out in v3.
    zarr_version, zarr_format : {2, 3}, optional
        The same, by two names.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.
    allow_pickle : bool
        Whether the codec ``pickle`` may be used, which executes stored code.
    storage_transformers : sequence
        Accepted for zarr 2.18; must be empty.
    durability : {'process', 'fsync'}, optional
        What a finished write survives: the end of this process, or also a loss of power. When
        omitted, ``zarrix.config.durability`` applies.
    checksum : bool
        True detects damage in chunks with any codec: zstd frames get a checksum, other codecs are
        followed by crc32c, or in v2 by a crc32 filter that zarr 2.18 reads.
    **kwargs
        ``compression``, ``compression_opts`` and ``fillvalue`` are h5py's names of ``compressor``
        and ``fill_value``. ``codecs`` (the whole chain), ``shards``, ``serializer``,
        ``dimension_names``, ``chunk_key_encoding`` and ``chunk_shape`` ask for v3; they,
        ``compressors``, ``attributes``, ``config`` and ``storage_options`` have the meaning of
        `create_array`. ``data`` is the initial content; `array` also takes shape and dtype from it.
        ``mode`` is ``'w'`` for ``overwrite=True``; the others only create.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.create((10000, 10000), chunks=(1000, 1000), dtype="i1", fill_value=42)
    <zarrix.core.Array (10000, 10000) int8>
    """
    if storage_transformers:
        raise ValueError("storage_transformers: this version supports none; leave it out")
    overwrite = _replaces(kwargs.get("mode"), overwrite)
    location = Location.of(
        in_memory() if store is None else store,
        path,
        zarr_version,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=kwargs.get("storage_options"),
        durability=durability,
    )
    settings = ArrayConfig.keywords(kwargs.get("config"), write_empty_chunks)
    metadata = metadata_of_create(
        location,
        kwargs,
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        compressor=compressor,
        fill_value=fill_value,
        order=order,
        filters=filters,
        object_codec=object_codec,
        dimension_separator=dimension_separator,
        checksum=checksum,
    )
    options = ArrayOptions(
        read_only=read_only,
        synchronizer=synchronizer,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        meta_array=meta_array,
        checksum=checksum,
        allow_pickle=allow_pickle,
        **settings,
    )
    attributes, data = kwargs.get("attributes"), kwargs.get("data")
    return store_new(
        location, metadata, options, overwrite=overwrite, attributes=attributes, data=data
    )


def _replaces(mode: str | None, overwrite: bool) -> bool:
    """Whether `create` replaces an existing node, according to ``mode=`` or ``overwrite=``."""
    if mode == "r":
        raise ValueError("mode of create() is 'r', which is read-only and creates nothing")
    if mode not in (None, "a", "r+", "w", "w-", "x"):
        raise ValueError(f"mode of create() is 'a', 'r+', 'w', 'w-' or 'x', not {mode!r}")
    return overwrite or mode == "w"


@takes(ArrayKeywords, like=create)
def array(data: Any, **kwargs: Unpack[ArrayKeywords]) -> Array:
    """Create an array with the content ``data``.

    Parameters
    ----------
    data : array-like
        Shape and dtype are taken from it, and if it is an `Array`, also chunks, compressor,
        filters, order and fill value. A stored array is copied in parts, and not loaded into
        memory.
    **kwargs
        As for `create`; they take precedence over those of ``data``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError
        ``data`` are Python objects, and there is no object codec (also a ``ValueError``).
    ValueError
        ``shape`` differs from that of ``data``, or values cannot be cast to ``dtype``.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> zarr.array(np.arange(12).reshape(3, 4), chunks=(3, 2))[1]
    array([4, 5, 6, 7])
    """
    options: dict[str, Any] = {**kwargs}
    given = data
    if not isinstance(getattr(data, "dtype", None), np.dtype):
        data = np.asanyarray(data)
    shape = options.pop("shape", None)
    if shape is not None and np.broadcast_shapes(shape) != tuple(data.shape):
        raise ValueError(
            f"shape={shape} differs from the shape of data, {tuple(data.shape)}; leave it out"
        )
    if options.get("dtype") is None:
        options["dtype"] = data.dtype
    objects = object_codec_of(options["dtype"])
    if objects is not None and isinstance(data, np.ndarray):
        named = options.get("object_codec"), options.get("filters"), objects[1]
        if all(one is None for one in named):
            # Import time: only a mistake needs it.
            from zarrix._codecs.object_advice import objects_without_codec

            raise objects_without_codec(data, given)
    wanted = np.dtype(object if objects else options["dtype"])
    if isinstance(data, Array) and data.dtype == wanted:
        take_storage(data, options)
    if options.get("chunks") is None:
        options["chunks"] = chunks_of(data)
    require_unmasked(data)
    if not is_lazy(data) and wanted.subdtype is None and not wanted.hasobject:
        # Cast first, so that a value that cannot be cast is an error before the old array is
        # deleted.
        data = np.asarray(data, wanted)
    return create(shape=data.shape, data=data, **options)


ARRAY_KEYWORDS = frozenset(inspect.signature(create).parameters)
