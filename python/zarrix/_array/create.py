"""Making and opening arrays: what zarr 2.18 calls ``zarr.creation``.

All of these end in the same two steps: arguments become metadata, which is checked as a whole, and
only then the store is touched. h5py's words (``compression=``, ``fillvalue=``) are translated at
the door; a keyword that nobody knows is an error that suggests the right one.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np

from zarrix._array.arguments import metadata_of_create
from zarrix._array.array import Array
from zarrix._array.like import chunks_of, take_like, take_storage
from zarrix._array.source import safe_source
from zarrix._array.sparse import fill_from
from zarrix._array.v3_properties import ArrayConfig
from zarrix._codecs.object_advice import objects_without_codec
from zarrix._dtypes.variable import object_codec_of
from zarrix._metadata.arguments import normalize_order
from zarrix._metadata.keywords import (
    ArrayKeywords,
    CreateKeywords,
    CreateWordKeywords,
    Durability,
    Format,
    LikeKeywords,
    Mode,
    OpenArrayKeywords,
    Order,
    Separator,
    WordKeywords,
    takes,
)
from zarrix._nodes import nodes
from zarrix._nodes.attributes import require_json
from zarrix._nodes.existing import check_mode, existing, require
from zarrix._nodes.location import Location, in_memory
from zarrix._nodes.new import new_node
from zarrix._selection.values import is_lazy
from zarrix._stores.path import normalize_dimension_separator

__all__ = [
    "array",
    "create",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "open_array",
    "open_like",
    "zeros",
    "zeros_like",
]


@takes(CreateWordKeywords)
def create(
    shape: Any,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = 0,
    order: Order = "C",
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
    **kwargs: Unpack[CreateWordKeywords],
) -> Array:
    """Create an array, of v2 unless ``zarr_format`` or the group around it says otherwise.

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
        What elements read as that were never written.
    order : {'C', 'F'}
        Order of the elements within a chunk.
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks, which need no setting up.
    overwrite : bool
        Replace what is at ``path``. Files that do not belong to Zarr are never deleted.
    path : str, optional
        Where in the store; parent groups are made.
    chunk_store : Store, mapping, str or Path, optional
        Holds the chunks, if not ``store``.
    filters : list of codecs, optional
        Applied before the compressor, in this order.
    cache_metadata, cache_attrs : bool
        False reads metadata (attributes) again before every use.
    read_only : bool
        Refuse changes through the array that is returned.
    object_codec : codec, optional
        What stores the elements of ``dtype=object``: numcodecs' ``VLenUTF8``, ``VLenBytes``,
        ``VLenArray``, ``JSON``, ``MsgPack``, ``Categorize`` or ``Pickle``. ``dtype=str``,
        ``dtype=bytes`` and ``dtype="array:f4"`` (arrays of any length) choose theirs.
    dimension_separator : {'.', '/'}, optional
        Between the numbers of a chunk's key; ``'.'`` unless the store has its own.
    write_empty_chunks : bool
        False leaves chunks that hold only the fill value out of the store. By default they are
        stored in v2, and left out in v3.
    zarr_version, zarr_format : {2, 3}, optional
        The same, by two names.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.
    allow_pickle : bool
        Whether the codec ``pickle`` may be used, which runs what it reads.
    storage_transformers : sequence
        Accepted for zarr 2.18; only an empty one.
    durability : {'process', 'fsync'}, optional
        What a finished write survives: the end of this process, or also the loss of power. As
        ``zarrix.config.durability`` says when omitted.
    checksum : bool
        True has damage in chunks noticed whatever the codecs are: zstd frames carry a checksum,
        others get crc32c behind them, in v2 a crc32 filter that zarr 2.18 reads.
    **kwargs
        ``compression``, ``compression_opts`` and ``fillvalue`` are h5py's names of ``compressor``
        and ``fill_value``. ``codecs`` (the whole chain), ``shards``, ``serializer``,
        ``dimension_names``, ``chunk_key_encoding`` and ``chunk_shape`` ask for v3; they,
        ``compressors``, ``attributes``, ``config`` and ``storage_options`` mean what they do in
        `create_array`. ``data`` is what the array holds; `array` takes shape and dtype from it,
        too. ``mode`` is ``'w'`` for ``overwrite=True``; ``'a'``, ``'w-'`` and ``'x'`` create only.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.create((10000, 10000), chunks=(1000, 1000), dtype="i1", fill_value=42)
    <zarrix.core.Array (10000, 10000) int8>
    """
    if storage_transformers:
        raise ValueError("storage_transformers: there are none that this version knows")
    overwrite = _replaces(kwargs.get("mode"), overwrite)
    location = Location.of(
        in_memory(store),
        path,
        zarr_version,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=kwargs.get("storage_options"),
        durability=durability,
    )
    settings = ArrayConfig.words(kwargs.get("config"), write_empty_chunks)
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
    location = location.at(location.path, metadata.zarr_format)
    attributes = kwargs.get("attributes")
    require_json(attributes)
    data = kwargs.get("data")
    if data is not None and overwrite:
        data = safe_source(data, location)
    with new_node(
        location, metadata, overwrite=overwrite, attributes=attributes, allow_pickle=allow_pickle
    ):
        z = Array._at(
            location,
            require(location, "array"),
            synchronizer=synchronizer,
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            meta_array=meta_array,
            checksum=checksum,
            allow_pickle=allow_pickle,
            **settings,
        )
        if data is not None:
            fill_from(z, data)
    z.read_only = read_only or z.read_only
    return z


def _replaces(mode: str | None, overwrite: bool) -> bool:
    """Whether `create` replaces what is there, as ``mode=`` or ``overwrite=`` says."""
    if mode not in (None, "a", "w", "w-", "x"):
        raise ValueError(f"mode of create() is 'a', 'w', 'w-' or 'x', not {mode!r}")
    return overwrite or mode == "w"


@takes(CreateKeywords, like=create)
def empty(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array whose fill value is undefined: what was never written reads as any value.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.empty((4, 4), chunks=(2, 2), dtype="f4")
    >>> z.fill_value is None, z.nchunks_initialized
    (True, 0)
    """
    return create(shape=shape, fill_value=None, **kwargs)


@takes(CreateKeywords, like=create)
def zeros(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array that reads as zero where it was never written.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((10000, 10000), chunks=(1000, 1000), dtype="u1")
    >>> z[:2, :3]
    array([[0, 0, 0],
           [0, 0, 0]], dtype=uint8)
    """
    return create(shape=shape, fill_value=0, **kwargs)


@takes(CreateKeywords, like=create)
def ones(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array that reads as one where it was never written.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.ones(3)[:]
    array([1., 1., 1.])
    """
    return create(shape=shape, fill_value=1, **kwargs)


@takes(CreateKeywords, like=create)
def full(shape: Any, fill_value: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array that reads as ``fill_value`` where it was never written.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar
        Cast to the dtype.
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError
        ``fill_value`` cannot be cast to the dtype (also a ``ValueError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> zarr.full((2, 2), np.nan, dtype="f4")[:]
    array([[nan, nan],
           [nan, nan]], dtype=float32)
    """
    return create(shape=shape, fill_value=fill_value, **kwargs)


@takes(ArrayKeywords, like=create)
def array(data: Any, **kwargs: Unpack[ArrayKeywords]) -> Array:
    """Create an array that holds ``data``.

    Parameters
    ----------
    data : array-like
        Shape and dtype are taken from it; chunks, compressor, filters, order and fill value too
        where it is an `Array`. Data of a stored array move in parts, not all through memory.
    **kwargs
        As for `create`; they come before what ``data`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    MetadataError
        ``data`` are Python objects, and no codec for them is given (also a ``ValueError``).
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
            raise objects_without_codec(data, given)
    wanted = np.dtype(object if objects else options["dtype"])
    if isinstance(data, Array) and data.dtype == wanted:
        take_storage(data, options)
    if options.get("chunks") is None:
        options["chunks"] = chunks_of(data)
    if not is_lazy(data) and wanted.subdtype is None and not wanted.hasobject:
        # Values that cannot be cast must fail while what they replace is still there.
        data = np.asarray(data, wanted)
    return create(shape=data.shape, data=data, **options)


@takes(WordKeywords)
def open_array(
    store: Any = None,
    mode: Mode = "a",
    shape: Any = None,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = 0,
    order: Order = "C",
    synchronizer: Any = None,
    filters: Any = None,
    cache_metadata: bool = True,
    cache_attrs: bool = True,
    path: str | None = None,
    object_codec: Any = None,
    chunk_store: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    partial_decompress: bool | None = None,
    write_empty_chunks: bool | None = None,
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    dimension_separator: Separator | None = None,
    meta_array: Any = None,
    allow_pickle: bool = False,
    durability: Durability | None = None,
    checksum: bool = False,
    _node: nodes.Node | None = None,
    **kwargs: Unpack[WordKeywords],
) -> Array:
    """Open an array, or create it, by file mode.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}
        ``'r'`` reads, ``'r+'`` reads and writes, and the array must exist; ``'a'`` creates it if it
        does not; ``'w'`` replaces what is there; ``'w-'`` and ``'x'`` fail if something is.
    shape, chunks, dtype, compressor, fill_value, order : optional
        As for `create`; used only where an array is created.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks.
    filters : list of codecs, optional
        Used only where an array is created.
    cache_metadata, cache_attrs : bool
        False reads metadata (attributes) again before every use.
    path : str, optional
        Where in the store.
    object_codec : codec, optional
        Used only where an array is created.
    chunk_store : Store, mapping, str or Path, optional
        Holds the chunks, if not ``store``.
    storage_options : dict, optional
        For stores named by a URL.
    partial_decompress : bool, optional
        Accepted for zarr 2.18; the engine always decodes only what is needed.
    write_empty_chunks : bool, optional
        As for `create`.
    zarr_version, zarr_format : {2, 3}, optional
        The format to look for, and to create.
    dimension_separator : {'.', '/'}, optional
        Used only where an array is created.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.
    allow_pickle : bool
        True loads pickled objects, which may run anything: only for stores that you trust.
    durability : {'process', 'fsync'}, optional
        What a finished write survives: the end of this process, or also the loss of power. As
        ``zarrix.config.durability`` says when omitted.
    checksum : bool
        As for `create`. An array that exists keeps its codecs; only what is written to zstd
        frames of v2 gets a checksum then.
    **kwargs
        More keywords of `create`; used only where an array is created.

    Returns
    -------
    Array

    Raises
    ------
    ArrayNotFoundError
        ``'r'`` or ``'r+'`` and no array is there (also a ``FileNotFoundError``).
    ContainsGroupError
        A group is there.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.open_array("data.zarr", mode="w", shape=(4, 6), chunks=(2, 3), dtype="i2")
    >>> z[0] = 7
    >>> zarr.open_array("data.zarr", mode="r")[0, :3]
    array([7, 7, 7], dtype=int16)
    """
    check_mode(mode)
    # Also where they have no meaning: an array that exists keeps its own.
    normalize_order(order)
    normalize_dimension_separator(dimension_separator)
    location = Location.of(
        in_memory(store),
        path,
        zarr_version,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=storage_options,
        chunk_options=storage_options,
        durability=durability,
    )
    settings = ArrayConfig.words(kwargs.get("config"), write_empty_chunks)
    node = existing(location, mode, "array", _node)
    if node is None:
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
        location = location.at(location.path, metadata.zarr_format)
        with new_node(
            location,
            metadata,
            overwrite=mode == "w",
            attributes=kwargs.get("attributes"),
            allow_pickle=allow_pickle,
        ):
            node = require(location, "array")
    return Array._at(
        location,
        node,
        read_only=mode == "r",
        synchronizer=synchronizer,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        meta_array=meta_array,
        checksum=checksum,
        allow_pickle=allow_pickle,
        **settings,
    )


@takes(OpenArrayKeywords, like=open_array)
def open_like(a: Any, path: Any, **kwargs: Unpack[OpenArrayKeywords]) -> Array:
    """Open or create an array at ``path``, made like ``a`` where it is created.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype.
    path : Store, mapping, str or Path
        The store; ``path=`` among the keywords of `open_array` is not taken.
    **kwargs
        As for `open_array`; they come before what ``a`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsGroupError
        A group is there.
    ArrayNotFoundError
        ``mode`` is ``'r'`` or ``'r+'``, and no array is there.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a = zarr.zeros((100, 100), chunks=(10, 10), dtype="i2")
    >>> b = zarr.open_like(a, "b.zarr")
    >>> b.shape, b.chunks, b.dtype
    ((100, 100), (10, 10), dtype('int16'))
    """
    options = take_like(a, {**kwargs})
    if isinstance(a, Array):
        options.setdefault("fill_value", a.fill_value)
    return open_array(path, **options)


@takes(LikeKeywords, like=create)
def empty_like(a: Any, **kwargs: Unpack[LikeKeywords]) -> Array:
    """Create an array like ``a``, with an undefined fill value.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
    **kwargs
        As for `create`; they come before what ``a`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a = zarr.zeros((4, 6), chunks=(2, 3), dtype="i2")
    >>> b = zarr.empty_like(a, store="b.zarr")
    >>> b.shape, b.chunks, b.dtype
    ((4, 6), (2, 3), dtype('int16'))
    """
    return empty(**take_like(a, {**kwargs}))


@takes(LikeKeywords, like=create)
def zeros_like(a: Any, **kwargs: Unpack[LikeKeywords]) -> Array:
    """Create an array like ``a``, that reads as zero where it was never written.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
    **kwargs
        As for `create`; they come before what ``a`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> import numpy as np
    >>> zarr.zeros_like(np.ones((2, 3), "i4"))[:]
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    return zeros(**take_like(a, {**kwargs}))


@takes(LikeKeywords, like=create)
def ones_like(a: Any, **kwargs: Unpack[LikeKeywords]) -> Array:
    """Create an array like ``a``, that reads as one where it was never written.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
    **kwargs
        As for `create`; they come before what ``a`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a = zarr.zeros(4, dtype="i2", compressor=zarr.Zstd(3))
    >>> zarr.ones_like(a, dtype="f4").compressor
    Zstd(level=3)
    """
    return ones(**take_like(a, {**kwargs}))


@takes(ArrayKeywords, like=create)
def full_like(a: Any, **kwargs: Unpack[ArrayKeywords]) -> Array:
    """Create an array like ``a``, that reads as the fill value where it was never written.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs, order and, where it
        is an `Array`, the fill value.
    **kwargs
        As for `create`; they come before what ``a`` says.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        Something is stored at ``path`` and ``overwrite`` is false.
    TypeError
        ``a`` has no fill value, and ``fill_value`` is not given.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> a = zarr.full(3, 42, dtype="i4")
    >>> zarr.full_like(a)[:], zarr.full_like(np.zeros(2, "i2"), fill_value=5)[:]
    (array([42, 42, 42], dtype=int32), array([5, 5], dtype=int16))
    """
    options = {**kwargs}
    if isinstance(a, Array):
        options.setdefault("fill_value", a.fill_value)
    elif "fill_value" not in options:
        raise TypeError(f"full_like(): give fill_value=, which a {type(a).__name__} does not have")
    return full(**take_like(a, options))


ARRAY_KEYWORDS = frozenset(inspect.signature(create).parameters)
OPEN_KEYWORDS = frozenset(inspect.signature(open_array).parameters)
