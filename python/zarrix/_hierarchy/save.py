"""Arrays and groups of arrays saved in one call, and loaded again.

Part of ``zarr.convenience`` of zarr 2.18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from zarrix._array.array import Array
from zarrix._array.create import array
from zarrix._array.filled import empty
from zarrix._array.source import safe_source
from zarrix._display.printable import printable
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import group, open  # noqa: A004
from zarrix._metadata.literals import Format
from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.open import as_store

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["LazyLoader", "load", "save", "save_array", "save_group"]


def save(
    store: Any,
    *args: Any,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save one array as an array, or several as a group; replaces an existing node.

    Parameters
    ----------
    store : Store, mapping, str or Path
    *args : array-like
        Named ``arr_0``, ``arr_1``, ... in a group.
    zarr_version, zarr_format : {2, 3}, optional
        2 when omitted.
    path : str, optional
        Path in the store.
    storage_options : dict, optional
        For stores named by a URL.
    **kwargs : array-like
        Named as the keywords.

    Raises
    ------
    ValueError
        There is no array to save, or an array cannot be stored; an existing node stays.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> store = zarr.TempStore()
    >>> zarr.save(store, foo=np.arange(3), bar=np.ones(2))
    >>> zarr.load(store)["foo"]
    array([0, 1, 2])
    """
    place: dict[str, Any] = {
        "zarr_version": zarr_version,
        "zarr_format": zarr_format,
        "path": path,
        "storage_options": storage_options,
    }
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], **place)
    else:
        save_group(store, *args, **place, **kwargs)


def save_array(
    store: Any,
    arr: Any,
    *,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save an array; replaces an existing node.

    Parameters
    ----------
    store : Store, mapping, str or Path
    arr : array-like
    zarr_version, zarr_format : {2, 3}, optional
        2 when omitted.
    path : str, optional
        Path in the store.
    storage_options : dict, optional
        For stores named by a URL.
    **kwargs
        As for `create`: chunks, compressor, ...

    Raises
    ------
    MetadataError, ValueError, TypeError
        ``arr`` cannot be stored; an existing node stays.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> zarr.save_array("data.zip", np.arange(6), chunks=3)
    >>> zarr.load("data.zip")
    array([0, 1, 2, 3, 4, 5])
    """
    opened = as_store(store, storage_options)
    array(
        arr,
        store=opened,
        overwrite=True,
        path=path,
        zarr_version=zarr_version,
        zarr_format=zarr_format,
        **kwargs,
    )
    _close_if_ours(opened, store)


def save_group(
    store: Any,
    *args: Any,
    zarr_version: Format | None = None,
    zarr_format: Format | None = None,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> None:
    """Save several arrays as a group; replaces an existing node.

    Parameters
    ----------
    store : Store, mapping, str or Path
    *args : array-like
        Named ``arr_0``, ``arr_1``, ...
    zarr_version, zarr_format : {2, 3}, optional
        2 when omitted.
    path : str, optional
        Path in the store.
    storage_options : dict, optional
        For stores named by a URL.
    **kwargs : array-like
        Named as the keywords.

    Raises
    ------
    MetadataError
        An array cannot be stored; an existing node stays.
    ValueError
        No array is given.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.save_group("data.zarr", [1, 2, 3], mask=[True, False])
    >>> sorted(zarr.open("data.zarr", mode="r"))
    ['arr_0', 'mask']
    """
    if not args and not kwargs:
        raise ValueError("at least one array must be provided")
    opened = as_store(store, storage_options)
    location = Location.of(opened, path)
    arrays = {**{f"arr_{i}": data for i, data in enumerate(args)}, **kwargs}
    # All data is converted to arrays before the old node is deleted, so that an error replaces
    # nothing.
    sources = {name: safe_source(data, location) for name, data in arrays.items()}
    for data in sources.values():
        empty(data.shape, dtype=data.dtype)
    made = group(
        opened, path=path, overwrite=True, zarr_version=zarr_version, zarr_format=zarr_format
    )
    with made.batch():
        for name, data in sources.items():
            made.create_dataset(name, data=data, overwrite=True)
    _close_if_ours(opened, store)


def _close_if_ours(opened: Store, given: Any) -> None:
    if opened is not given:
        opened.close()


class LazyLoader(Mapping[str, Any]):
    """The arrays of a group, each read into memory on first access.

    A group in it is such a mapping, too.

    Parameters
    ----------
    grp : Group

    Raises
    ------
    KeyError
        On access, if there is no such array or group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.save("data.zarr", a=[1, 2], b=[3.0])
    >>> loaded = zarr.load("data.zarr")
    >>> loaded
    <LazyLoader: a, b>
    >>> loaded["a"]
    array([1, 2])
    """

    __module__ = "zarrix.convenience"

    def __init__(self, grp: Group) -> None:
        self.grp = grp
        self.cache: dict[str, npt.NDArray[Any] | LazyLoader] = {}

    def __getitem__(self, item: str) -> npt.NDArray[Any] | LazyLoader:
        if item not in self.cache:
            member = self.grp[item]
            self.cache[item] = member[...] if isinstance(member, Array) else LazyLoader(member)
        return self.cache[item]

    def __len__(self) -> int:
        return len(self.grp)

    def __iter__(self) -> Iterator[str]:
        return iter(self.grp)

    def __contains__(self, item: object) -> bool:
        return item in self.grp

    def __repr__(self) -> str:
        return printable(f"<LazyLoader: {', '.join(self.grp.array_keys())}>")


def load(
    store: Any,
    zarr_version: Format | None = None,
    path: str | None = None,
    *,
    zarr_format: Format | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Any:
    """Read an array into memory, or a group as a mapping that reads each array on access.

    Parameters
    ----------
    store : Store, mapping, str or Path
    zarr_version : {2, 3}, optional
        The format of the node; either when omitted.
    path : str, optional
        Path in the store.
    zarr_format : {2, 3}, optional
        The same as ``zarr_version``.
    storage_options : dict, optional
        For stores named by a URL.

    Returns
    -------
    ndarray or LazyLoader

    Raises
    ------
    PathNotFoundError
        Nothing is there (also a ``FileNotFoundError``).

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.save("data.zarr", [[1, 2], [3, 4]])
    >>> zarr.load("data.zarr")
    array([[1, 2],
           [3, 4]])
    """
    loaded = open(
        store,
        "r",
        path=path,
        zarr_version=zarr_version,
        zarr_format=zarr_format,
        storage_options=storage_options,
    )
    return loaded[...] if isinstance(loaded, Array) else LazyLoader(loaded)


for _function in (load, save, save_array, save_group):
    # The public module that exports them.
    _function.__module__ = "zarrix.convenience"
