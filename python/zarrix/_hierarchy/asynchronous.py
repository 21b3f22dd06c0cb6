"""Arrays and groups with coroutine methods.

Requests to a remote store overlap inside one call; several calls overlap by ``asyncio.gather``.
"""

from __future__ import annotations

from typing import Any, Self

from zarrix._array.array import Array
from zarrix._hierarchy.counterpart import (
    COUNTERPARTS,
    Counterpart,
    add_awaited,
    add_iterated,
    as_async,
    as_sync,
    words,
)
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open_group
from zarrix._runtime.threads import in_thread

__all__ = ["AsyncArray", "AsyncGroup"]


class _AsyncIndex:
    """An index of an `AsyncArray`, by the index of the array itself."""

    __slots__ = ("_index",)

    def __init__(self, index: Any) -> None:
        self._index = index

    async def getitem(self, selection: Any) -> Any:
        """Read a selection."""
        return await in_thread(self._index.__getitem__, selection)

    async def setitem(self, selection: Any, value: Any) -> None:
        """Write a selection."""
        await in_thread(self._index.__setitem__, selection, as_sync(value))


class AsyncOIndex(_AsyncIndex):
    """``z.oindex`` of an `AsyncArray`."""


class AsyncVIndex(_AsyncIndex):
    """``z.vindex`` of an `AsyncArray`."""


class AsyncArray(Counterpart):
    """An array with coroutine methods; ``array.async_array`` returns one.

    Its properties, and the parameters of its methods, are those of `Array`.

    Parameters
    ----------
    array : Array

    Raises
    ------
    TypeError
        ``array`` is not an `Array`.

    Examples
    --------
    >>> import asyncio
    >>> import zarrix as zarr
    >>> async def both(z):
    ...     await z.setitem(slice(0, 2), 7)
    ...     return await asyncio.gather(z.getitem(0), z.getitem(slice(1, 4)))
    >>> asyncio.run(both(zarr.zeros(4, dtype="i4").async_array))
    [np.int32(7), array([7, 0, 0], dtype=int32)]
    """

    __module__ = "zarrix"
    __slots__ = ()
    _seen = words(
        "attrs basename cdata_shape chunks compressor compressors config dtype fill_value "
        "filters info metadata name nbytes nchunks ndim order path read_chunk_sizes read_only "
        "serializer shape shards size store store_path write_chunk_sizes zarr_format"
    )

    def __init__(self, array: Array) -> None:
        if not isinstance(array, Array):
            raise TypeError(f"an AsyncArray is made from an Array, not from {array!r}")
        self._sync = array

    @property
    def array(self) -> Array:
        """The synchronous array."""
        found: Array = self._sync
        return found

    @classmethod
    async def open(cls, store: Any, zarr_format: int | None = None, config: Any = None) -> Self:
        """Open the array at a path, for reading and writing.

        Parameters
        ----------
        store : Store, StorePath, mapping, URL, str or Path
        zarr_format : {2, 3}, optional
            Either format when omitted.
        config : mapping, optional
            As of `zarrix.create_array`.

        Returns
        -------
        AsyncArray

        Raises
        ------
        ArrayNotFoundError
            The array does not exist.
        MetadataError
            The stored metadata is damaged, or not supported.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.array([1, 2, 3], store="data.zarr")
        >>> asyncio.run(zarr.AsyncArray.open("data.zarr")).shape
        (3,)
        """
        return cls(await in_thread(Array.open, store, zarr_format=zarr_format, config=config))

    @classmethod
    def from_dict(cls, store_path: Any, data: dict[str, Any]) -> Self:
        """An array from its metadata document, as by `Array.from_dict`; the store is not asked.

        Parameters
        ----------
        store_path : Store or StorePath
        data : dict
            The document, as `metadata.to_dict` gives it.

        Returns
        -------
        AsyncArray

        Raises
        ------
        MetadataError
            ``data`` does not describe an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.create_array({}, shape=3, dtype="i4")
        >>> zarr.AsyncArray.from_dict({}, z.metadata.to_dict()).dtype
        dtype('int32')
        """
        return cls(Array.from_dict(store_path, data))

    async def getitem(self, selection: Any, *, prototype: Any = None) -> Any:
        """Read a region, as ``z[selection]`` does.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis or newaxis, or a tuple of these
        prototype : optional
            Accepted for zarr-python 3; results are NumPy arrays.

        Returns
        -------
        ndarray or NumPy scalar

        Raises
        ------
        BoundsCheckError
            An index lies outside the shape (also an ``IndexError``).
        CorruptChunkError
            A stored chunk does not decode to its declared size or checksum.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.array([1, 2, 3, 4]).async_array
        >>> asyncio.run(z.getitem(slice(1, 3)))
        array([2, 3])
        """
        return await in_thread(self._sync.get_basic_selection, selection)

    async def setitem(self, selection: Any, value: Any, prototype: Any = None) -> None:
        """Write a region, as ``z[selection] = value`` does.

        Parameters
        ----------
        selection : int, slice, integer or boolean array, Ellipsis or newaxis, or a tuple of these
        value : array-like or Array
            It broadcasts to the selection, and is cast to the dtype.
        prototype : optional
            Accepted for zarr-python 3.

        Raises
        ------
        ReadOnlyError
            The array is read-only.
        ValueError
            ``value`` has another shape; nothing is written.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.zeros(4, dtype="i4")
        >>> asyncio.run(z.async_array.setitem(slice(2), 7))
        >>> z[:]
        array([7, 7, 0, 0], dtype=int32)
        """
        await in_thread(self._sync.__setitem__, selection, as_sync(value))

    @property
    def oindex(self) -> AsyncOIndex:
        """With ``getitem`` and ``setitem`` for orthogonal selections."""
        return AsyncOIndex(self._sync.oindex)

    @property
    def vindex(self) -> AsyncVIndex:
        """With ``getitem`` and ``setitem`` for points and masks."""
        return AsyncVIndex(self._sync.vindex)

    async def resize(self, new_shape: Any, delete_outside_chunks: bool = True) -> None:
        """Change the length of axes; elements outside the new shape are deleted.

        Parameters
        ----------
        new_shape : int or tuple of int
        delete_outside_chunks : bool
            Accepted for zarr-python 3; chunks outside are always deleted.

        Raises
        ------
        ValueError
            The number of axes differs, or a length is negative.
        ReadOnlyError
            The array is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.zeros((4, 4)).async_array
        >>> asyncio.run(z.resize((8, 4)))
        >>> z.shape
        (8, 4)
        """
        await in_thread(self._sync.resize, new_shape)

    async def nchunks_initialized(self) -> int:
        """Number of stored chunks.

        Returns
        -------
        int

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.zeros(10, chunks=2)
        >>> z[0] = 1
        >>> asyncio.run(z.async_array.nchunks_initialized())
        1
        """
        return await in_thread(lambda: self._sync.nchunks_initialized)

    async def nbytes_stored(self) -> int:
        """Stored bytes of chunks, metadata and attributes.

        Returns
        -------
        int

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> z = zarr.array(range(1000), compressor=None)
        >>> asyncio.run(z.async_array.nbytes_stored()) > z.nbytes
        True
        """
        return await in_thread(lambda: int(self._sync.nbytes_stored))

    def with_config(self, config: Any) -> Self:
        """The same array with other settings.

        Parameters
        ----------
        config : mapping
            As of `Array.with_config`.

        Returns
        -------
        AsyncArray

        Raises
        ------
        TypeError, ValueError
            ``config`` has a setting that does not exist, or a value that it cannot have.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(4).async_array
        >>> z.with_config({"write_empty_chunks": True}).config.write_empty_chunks
        True
        """
        return type(self)(self._sync.with_config(config))


def _of_parts(metadata: Any, store_path: Any) -> Group:
    return open_group(
        store_path.store,
        path=store_path.path,
        zarr_format=metadata.zarr_format,
        attributes=metadata.attributes or None,
    )


class AsyncGroup(Counterpart):
    """A group with coroutine methods; its members are asynchronous counterparts, too.

    Parameters
    ----------
    group : Group
        Or, as in zarr-python 3, the metadata of a group at ``store_path``. It is opened, or created
        if nothing is stored there.
    store_path : StorePath, optional
        Where the group of the metadata is.
    metadata : GroupMetadata, optional
        Another name for the first argument, as in zarr-python 3.

    Raises
    ------
    TypeError
        ``group`` is not a `Group`.

    Examples
    --------
    >>> import asyncio
    >>> import zarrix as zarr
    >>> async def names(group):
    ...     await group.create_array("a", shape=3, dtype="i4")
    ...     return [(name, one.shape) async for name, one in group.arrays()]
    >>> asyncio.run(names(zarr.AsyncGroup(zarr.create_group())))
    [('a', (3,))]
    """

    __module__ = "zarrix"
    __slots__ = ()
    _seen = words(
        "attrs basename info metadata name path read_only store store_path synchronizer zarr_format"
    )

    def __init__(self, group: Any = None, store_path: Any = None, *, metadata: Any = None) -> None:
        if store_path is not None:
            group = _of_parts(group if metadata is None else metadata, store_path)
        if not isinstance(group, Group):
            raise TypeError(f"an AsyncGroup is made from a Group, not from {group!r}")
        self._sync = group

    @property
    def group(self) -> Group:
        """The synchronous group."""
        found: Group = self._sync
        return found

    @classmethod
    async def open(
        cls, store: Any, zarr_format: int | None = None, use_consolidated: Any = None
    ) -> Self:
        """Open the group at a path, for reading and writing.

        Parameters
        ----------
        store : Store, StorePath, mapping, URL, str or Path
        zarr_format : {2, 3}, optional
            Either format when omitted.
        use_consolidated : bool or str, optional
            As of `zarrix.open_group`.

        Returns
        -------
        AsyncGroup

        Raises
        ------
        GroupNotFoundError
            The group does not exist.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> z = root.create_array("a", shape=3, dtype="i4")
        >>> asyncio.run(asyncio.run(zarr.AsyncGroup.open("data.zarr")).getitem("a")).shape
        (3,)
        """
        return cls(
            await in_thread(
                open_group,
                store,
                "r+",
                zarr_format=zarr_format,
                use_consolidated=use_consolidated,
            )
        )

    @classmethod
    async def from_store(cls, store: Any, **kwargs: Any) -> Self:
        """Create a group at the root of a store.

        Parameters
        ----------
        store : Store, StorePath, mapping, URL, str or Path
        **kwargs
            Those of `Group.from_store`.

        Returns
        -------
        AsyncGroup

        Raises
        ------
        ContainsGroupError, ContainsArrayError
            A node exists at the path, and ``overwrite`` is false.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> group = asyncio.run(zarr.AsyncGroup.from_store({}, attributes={"site": "Kiel"}))
        >>> dict(group.attrs)
        {'site': 'Kiel'}
        """
        return cls(await in_thread(Group.from_store, store, **kwargs))

    async def getitem(self, key: str) -> Any:
        """The array or group of that name or path.

        Parameters
        ----------
        key : str

        Returns
        -------
        AsyncArray or AsyncGroup

        Raises
        ------
        KeyError
            There is no such member.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("a/b", shape=3, dtype="i4")
        >>> asyncio.run(zarr.AsyncGroup(root).getitem("a/b")).shape
        (3,)
        """
        return as_async(await in_thread(self._sync.__getitem__, key))

    async def setitem(self, key: str, value: Any) -> None:
        """Store ``value`` as an array of that name.

        Parameters
        ----------
        key : str
        value : array-like, Array or AsyncArray

        Raises
        ------
        ReadOnlyError
            The group is read-only.
        MetadataError
            Elements of ``value`` are Python objects, which have no data type (also a
            ``ValueError``).
        TypeError
            ``value`` is a group.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> root = zarr.create_group()
        >>> asyncio.run(zarr.AsyncGroup(root).setitem("a", [1, 2, 3]))
        >>> root["a"][:]
        array([1, 2, 3])
        """
        await in_thread(self._sync.__setitem__, key, as_sync(value))

    async def delitem(self, key: str) -> None:
        """Delete a member and all below it.

        Parameters
        ----------
        key : str
            A name or a path.

        Raises
        ------
        KeyError
            There is no such member.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> root = zarr.create_group()
        >>> root["a"] = [1, 2, 3]
        >>> asyncio.run(zarr.AsyncGroup(root).delitem("a"))
        >>> len(root)
        0
        """
        await in_thread(self._sync.__delitem__, key)

    async def contains(self, member: str) -> bool:
        """Whether there is such a member.

        Parameters
        ----------
        member : str
            A name or a path.

        Returns
        -------
        bool

        Raises
        ------
        OSError
            The store returned an error.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> root = zarr.create_group()
        >>> root["a"] = [1, 2, 3]
        >>> asyncio.run(zarr.AsyncGroup(root).contains("a"))
        True
        """
        return await in_thread(self._sync.__contains__, member)


add_awaited(
    AsyncArray,
    Array,
    "append get_basic_selection get_block_selection get_coordinate_selection get_mask_selection "
    "get_orthogonal_selection info_complete read_windows set_basic_selection set_block_selection "
    "set_coordinate_selection set_mask_selection set_orthogonal_selection update_attributes",
)
add_awaited(
    AsyncGroup,
    Group,
    "create_array create_dataset create_group empty empty_like full full_like get get_array "
    "get_group info_complete move nmembers ones ones_like require_array require_dataset "
    "require_group require_groups tree update_attributes zeros zeros_like",
)
add_iterated(
    AsyncGroup,
    Group,
    "array_keys array_values arrays create_hierarchy group_keys group_values groups keys members",
)

COUNTERPARTS.update({Array: AsyncArray, Group: AsyncGroup})
