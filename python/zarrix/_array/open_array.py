"""Opening arrays by file mode, which creates those that are not there."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Unpack

from zarrix._array.arguments import metadata_of_create
from zarrix._array.array import Array
from zarrix._array.config import ArrayConfig
from zarrix._array.keywords import AliasKeywords, OpenArrayKeywords
from zarrix._array.like import take_like
from zarrix._array.options import ArrayOptions
from zarrix._array.store_new import store_new
from zarrix._metadata.arguments import normalize_order
from zarrix._metadata.literals import DEFAULT, Durability, Format, Mode, Order, Separator
from zarrix._nodes.existing import MODES, existing, mode_at, not_found
from zarrix._nodes.location import Found, Location, in_memory
from zarrix._runtime.signatures import takes
from zarrix._stores.path import normalize_dimension_separator

__all__ = ["OPEN_KEYWORDS", "open_array", "open_like"]


@takes(AliasKeywords)
def open_array(
    store: Any = None,
    mode: Mode | None = "a",
    shape: Any = None,
    chunks: Any = True,
    dtype: Any = None,
    compressor: Any = "default",
    fill_value: Any = DEFAULT,
    order: Order | None = None,
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
    version: str | None = None,
    **kwargs: Unpack[AliasKeywords],
) -> Array:
    """Open an array, or create it, by file mode.

    Parameters
    ----------
    store : Store, mapping, str or Path, optional
        A new one in memory when omitted.
    mode : {'r', 'r+', 'a', 'w', 'w-', 'x'}, optional
        ``'r'`` reads, ``'r+'`` reads and writes, and the array must exist; ``'a'`` creates it if it
        does not; ``'w'`` replaces an existing node; ``'w-'`` and ``'x'`` raise an error if a node
        exists.
    shape, chunks, dtype, compressor, fill_value, order : optional
        As for `create`; used only if the array is created.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks.
    filters : list of codecs, optional
        Used only if the array is created.
    cache_metadata, cache_attrs : bool
        False reads metadata (attributes) again before every use.
    path : str, optional
        Path in the store.
    object_codec : codec, optional
        Used only if the array is created.
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks, if it is not ``store``.
    storage_options : dict, optional
        For stores named by a URL.
    partial_decompress : bool, optional
        Accepted for zarr 2.18; the engine always decodes only what is needed.
    write_empty_chunks : bool, optional
        As for `create`.
    zarr_version, zarr_format : {2, 3}, optional
        The format to open, and to create.
    dimension_separator : {'.', '/'}, optional
        Used only if the array is created.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.
    allow_pickle : bool
        True loads pickled objects, which can execute any code: only for stores that you trust.
    durability : {'process', 'fsync'}, optional
        What a finished write survives: the end of this process, or also a loss of power. When
        omitted, ``zarrix.config.durability`` applies.
    checksum : bool
        As for `create`. An existing array keeps its codecs; then only new zstd frames of v2 get a
        checksum.
    version : str, optional
        The name of a version that `zarrix.snapshot` has made; it is opened read-only.
    **kwargs
        More keywords of `create`; used only if the array is created.

    Returns
    -------
    Array

    Raises
    ------
    ArrayNotFoundError
        ``'r'`` or ``'r+'`` and the array does not exist (also a ``FileNotFoundError``).
    ContainsGroupError
        The node is a group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.open_array("data.zarr", mode="w", shape=(4, 6), chunks=(2, 3), dtype="i2")
    >>> z[0] = 7
    >>> zarr.open_array("data.zarr", mode="r")[0, :3]
    array([7, 7, 7], dtype=int16)
    """
    if mode not in MODES or version is not None:
        mode = mode_at(mode, version)
    # Checked even for an existing array, which ignores them.
    if order not in (None, "C"):
        normalize_order(order)
    if dimension_separator is not None:
        normalize_dimension_separator(dimension_separator)
    location = Location.of(
        in_memory() if store is None else store,
        path,
        zarr_version,
        zarr_format,
        chunk_store=chunk_store,
        storage_options=storage_options,
        chunk_options=storage_options,
        durability=durability,
        version=version,
    )
    settings: dict[str, Any] = {}
    if write_empty_chunks is not None or kwargs:
        settings = ArrayConfig.keywords(kwargs.get("config"), write_empty_chunks)
    options = ArrayOptions(
        read_only=mode == "r",
        synchronizer=synchronizer,
        cache_metadata=cache_metadata,
        cache_attrs=cache_attrs,
        meta_array=meta_array,
        checksum=checksum,
        allow_pickle=allow_pickle,
        **settings,
    )
    node = existing(location, mode, "array", store.node if type(store) is Found else None)
    if node is not None:
        return Array._at(location, node, options)
    if shape is None and location.store.read_only:
        # Nothing was to be created: mode is 'a' when omitted.
        raise not_found(location, "array")
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
    attributes = kwargs.get("attributes")
    return store_new(location, metadata, options, overwrite=mode == "w", attributes=attributes)


@takes(OpenArrayKeywords, like=open_array)
def open_like(
    a: Any, path: Any, *, store: Any = None, **kwargs: Unpack[OpenArrayKeywords]
) -> Array:
    """Open or create an array at ``path``; a new array is like ``a``.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype.
    path : Store, mapping, str or Path
        The store, or with ``store=`` the path in it.
    store : Store, mapping, str or Path, optional
        The store, as zarr-python 3 has it.
    **kwargs
        As for `open_array`; they take precedence over those of ``a``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsGroupError
        The node is a group.
    ArrayNotFoundError
        ``mode`` is ``'r'`` or ``'r+'``, and the array does not exist.

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
    if store is not None:
        return open_array(store, path=path, **options)
    return open_array(path, **options)


OPEN_KEYWORDS = frozenset(inspect.signature(open_array).parameters)
