"""Writing datasets and trees: the steps of `Dataset.to_zarr`, with the store of zarrix.

`to_zarr` has more than six parameters: those of `xarray.Dataset.to_zarr`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from typing import Any, Literal, cast

from xarray import DataArray, Dataset, DataTree
from xarray.backends.common import ArrayWriter
from xarray.backends.writers import dump_to_store
from xarray.backends.zarr import _choose_default_mode

from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import consolidate_metadata
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._stores.memory import MemoryStore
from zarrix.dask._guard import require_shared
from zarrix.dask._sources import refuse_sources
from zarrix.xarray._open import location_of
from zarrix.xarray._store import Store
from zarrix.xarray._upsert import upsert

__all__ = ["to_zarr"]

_UNNAMED = "__xarray_dataarray_variable__"
_Parts = Callable[[Store], Iterator[tuple[Store, Dataset, Mapping[Any, Any]]]]
_NAME = "__xarray_dataarray_name__"


def to_zarr(
    data: Dataset | DataArray | DataTree,
    store: Any,
    mode: str | None = None,
    *,
    group: str | None = None,
    encoding: Mapping[Any, Any] | None = None,
    compute: bool = True,
    consolidated: bool | None = None,
    append_dim: Hashable | None = None,
    upsert_dim: Hashable | None = None,
    overlap: Literal["same", "skip", "replace", "error"] = "same",
    attributes: Literal["error", "keep"] = "error",
    tolerance: Any = None,
    region: Mapping[Any, slice | Literal["auto"]] | Literal["auto"] | None = None,
    safe_chunks: bool = False,
    align_chunks: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    zarr_format: int | None = None,
    write_empty_chunks: bool | None = None,
    write_inherited_coords: bool = False,
    chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """Write a dataset, an array or a tree, by the conventions of `xarray.Dataset.to_zarr`.

    Blocks of dask need not align with chunks or shards: no element is lost, in threads, processes
    and distributed workers, also by `region` and `append_dim`. A chunk that blocks share is decoded
    and encoded for each of them, so that aligned blocks are faster.

    Parameters
    ----------
    data : Dataset, DataArray or DataTree
    store : Store, Group, mapping, str or Path
        As for `zarrix.open_group`.
    mode : {'w-', 'w', 'a', 'a-', 'r+'}, optional
        ``'w-'`` creates, ``'w'`` replaces what exists as soon as the new metadata is known to be
        valid, ``'a'`` replaces variables that exist,
        ``'a-'`` only appends to them, ``'r+'`` changes only elements. By default ``'a'`` with
        `append_dim`, ``'r+'`` with `region`, otherwise ``'w-'``.
    group : str, optional
        Path of the group; the root when omitted.
    encoding : mapping, optional
        By name of variable: chunks, shards, compressors, filters, serializer, ... In a tree, by
        path of the group first.
    compute : bool
        False writes metadata and what is in memory, and returns the task that writes the rest.
    consolidated : bool, optional
        Whether consolidated metadata is written; it is by default, except with mode ``'r+'``.
    append_dim : hashable, optional
        The dimension along which the stored variables grow.
    upsert_dim : hashable, optional
        The dimension along which rows are added by the labels of its coordinate, as by
        `zarrix.append`: the call can be repeated, and becomes visible at once. The group is created
        if it does not exist.
    overlap, attributes : str
    tolerance : number, timedelta or str, or a mapping of these by name; optional
        As in `zarrix.append`, with `upsert_dim`.
    region : mapping of dimension to slice or "auto", or "auto"; optional
        Where to write in the stored variables; "auto" looks up the coordinates.
    safe_chunks : bool
        True makes blocks that do not align with chunks an error.
    align_chunks : bool
        True rechunks them first.
    storage_options : mapping, optional
        For stores named by a URL.
    zarr_format : {3, 2}, optional
        Of a new hierarchy: 3 by default.
    write_empty_chunks : bool, optional
        Whether chunks of only fill values are stored; they are not by default.
    write_inherited_coords : bool
        Whether every group of a tree gets the coordinates of the groups above it.
    chunkmanager_store_kwargs : mapping, optional
        As in `xarray.Dataset.to_zarr`.

    Returns
    -------
    Group, or dask.delayed.Delayed
        The group that was written; with ``compute=False`` the task.

    Raises
    ------
    ContainsGroupError
        Mode ``'w-'``, and the group exists.
    OverlapError
        Mode ``'w'``, and the data is read from what would be replaced.
    ValueError
        The dataset does not fit the stored variables, the mode, or `region`; or a store is in the
        memory of this process, and dask would write into copies.

    Examples
    --------
    >>> import numpy as np, xarray as xr, zarrix.xarray
    >>> ds = xr.Dataset({"t": ("time", np.arange(3.0))})
    >>> group = zarrix.xarray.to_zarr(ds, "data.zarr")
    >>> group = zarrix.xarray.to_zarr(ds, "data.zarr", append_dim="time")
    >>> group["t"][:]
    array([0., 1., 2., 0., 1., 2.])
    """
    upserting = {"overlap": overlap, "attributes": attributes, "tolerance": tolerance}
    if upsert_dim is not None:
        if append_dim is not None or mode not in (None, "a") or not compute:
            raise ValueError("upsert_dim goes with neither append_dim, mode, nor compute=False")
        location = location_of(store, group, {"storage_options": storage_options})
        told = {"along": upsert_dim, **upserting}
        one = cast("Dataset", _checked(data, encoding, upsert_dim, region))
        return upsert(one, location, told, encoding or {}, _dump)
    if upserting != {"overlap": "same", "attributes": "error", "tolerance": None}:
        raise ValueError("overlap, attributes and tolerance go with upsert_dim")
    # xarray types them by its own literals, and checks the values itself.
    chosen = _choose_default_mode(mode=mode, append_dim=append_dim, region=region)  # type: ignore[arg-type]
    written = _checked(data, encoding, append_dim, region)
    options: dict[str, Any] = {
        "consolidated": consolidated if chosen == "r+" else False,
        "append_dim": append_dim,
        "write_region": region,
        "safe_chunks": safe_chunks,
        "align_chunks": align_chunks,
        "storage_options": storage_options,
        "zarr_format": zarr_format,
        "write_empty": write_empty_chunks,
    }
    parts = partial(_parts, written, encoding=encoding or {}, with_inherited=write_inherited_coords)
    is_rehearsed = False
    if chosen == "w":
        location = location_of(store, group, options)
        is_rehearsed = _rehearse(written, location, parts, options)
        # An archive is not opened twice.
        store = location if isinstance(store, str | os.PathLike) else store
    root, writer = Store.open_group(store, chosen, group, **options), _Writer()
    _create(parts, root, writer, is_again=is_rehearsed, is_new=chosen == "w-")
    if chosen != "r+" and consolidated is not False:
        # Once, and not for each group of a tree.
        consolidate_metadata(root.zarr_group.store, zarr_format=root.zarr_group.zarr_format)
    store_options = dict(chunkmanager_store_kwargs or {})
    writes = writer.sync(compute=compute, chunkmanager_store_kwargs=store_options)
    return (_finished if compute else _finished_later)(writes, root.zarr_group)


def _checked(
    data: Dataset | DataArray | DataTree,
    encoding: Mapping[Any, Any] | None,
    append_dim: Hashable | None,
    region: Any,
) -> Dataset | DataTree:
    """What is written, an array as a dataset; an error for what does not go together."""
    if isinstance(region, str) and region != "auto":
        raise ValueError(f"region is a mapping of dimensions to slices, or 'auto', not {region!r}")
    if isinstance(data, DataTree) and (append_dim is not None or region is not None):
        raise ValueError(
            "append_dim, upsert_dim and region are for a dataset; write the groups of a tree"
        )
    if isinstance(data, DataTree) and (unknown := set(encoding or {}) - set(data.groups)):
        raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
    return _as_dataset(data) if isinstance(data, DataArray) else data


def _rehearse(
    data: Dataset | DataTree, location: Location, parts: _Parts, options: Mapping[str, Any]
) -> bool:
    """Write everything but elements into memory, if there is something that would be replaced.

    What cannot be written is an error here, before the old group is gone. Returns whether it was
    done.

    Raises
    ------
    OverlapError
        The data is read from what would be replaced.
    """
    if location.at(location.path, None).find() is None:
        return False
    datasets = [data] if isinstance(data, Dataset) else [one.dataset for one in data.subtree]
    variables = (one for dataset in datasets for one in dataset.variables.values())
    refuse_sources(location.store, location.path, (one._data for one in variables))
    chosen = location.choose_format(3).zarr_format
    rehearsed = {**options, "zarr_format": chosen, "storage_options": None}
    root, writer = Store.open_group(MemoryStore(), "w", **rehearsed), _NoWriter()
    for child, dataset, wanted in parts(root):
        _dump(dataset, child, writer, wanted)
    return True


def _parts(
    data: Dataset | DataTree, root: Store, *, encoding: Mapping[Any, Any], with_inherited: bool
) -> Iterator[tuple[Store, Dataset, Mapping[Any, Any]]]:
    """The stores, datasets and encodings of the groups of ``data``."""
    if isinstance(data, Dataset):
        yield root, data, encoding
        return
    for path, node in data.subtree_with_keys:
        is_root = node is data
        dataset = node.to_dataset(inherit=with_inherited or is_root)
        yield root if is_root else root.get_child_store(path), dataset, encoding.get(node.path, {})


def _dump(
    dataset: Dataset,
    store: Store,
    writer: ArrayWriter,
    encoding: Mapping[Any, Any],
    *,
    is_again: bool = False,
) -> None:
    """Create the arrays of a dataset, and give the writer what goes into them."""
    _require_names(dataset)
    part = store._validate_and_autodetect_region(dataset)
    store._validate_encoding(encoding)
    with warnings.catch_warnings():
        # xarray's name of an array without a name; v3 reserves such names.
        warnings.filterwarnings("ignore", message=f".*'{_UNNAMED}'")
        if is_again:
            warnings.simplefilter("ignore")
        dump_to_store(part, store, writer, encoding=encoding)


def _create(
    parts: _Parts, root: Store, writer: ArrayWriter, *, is_again: bool, is_new: bool
) -> None:
    """Create the arrays of all groups; none of a new hierarchy is left after an error."""
    try:
        for child, dataset, wanted in parts(root):
            _dump(dataset, child, writer, wanted, is_again=is_again)
    except BaseException:
        if is_new:
            # Only this call has made it.
            nodes.clear(root.zarr_group.store, root.zarr_group.path)
        raise


def _as_dataset(array: DataArray) -> Dataset:
    """The dataset from which `xarray.open_dataarray` makes ``array`` again."""
    if array.name is not None and array.name not in (*array.coords, *array.dims):
        return array.to_dataset()
    dataset = array.to_dataset(name=_UNNAMED)
    if array.name is not None:
        dataset.attrs[_NAME] = array.name
    return dataset


def _require_names(dataset: Dataset) -> None:
    for name in dataset.variables:
        # xarray stores a variable without a name as "__values__".
        if not isinstance(name, str | None):
            raise TypeError(
                f"Invalid name {name!r} for DataArray or Dataset key: must be either a string or "
                "None for serialization to zarr files"
            )
        if name == "":
            raise ValueError(
                "Invalid name '' for DataArray or Dataset key: string must be length 1 or greater "
                "for serialization to zarr files"
            )


class _Writer(ArrayWriter):
    """xarray's writer, which refuses targets that dask workers do not see."""

    __slots__ = ()

    def sync(
        self, compute: bool = True, chunkmanager_store_kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Write the blocks of all chunked variables, or return the tasks that do."""
        by_dask = [
            target
            for source, target in zip(self.sources, self.targets, strict=True)
            if type(source).__module__.startswith("dask.")
        ]
        if by_dask:
            require_shared(by_dask, (chunkmanager_store_kwargs or {}).get("scheduler"))
        return super().sync(compute, chunkmanager_store_kwargs)


class _NoWriter(ArrayWriter):
    """Takes elements, and writes none."""

    __slots__ = ()

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Write nothing."""


def _finished_later(writes: Any, group: Group) -> Any:
    # Optional package: dask.
    from dask.delayed import delayed

    return delayed(_finished)(writes, group)


def _finished(writes: Any, group: Group) -> Group:
    """The group after all writes; archives are complete then."""
    del writes
    flush = getattr(group.store, "flush", None)
    if flush is not None:
        flush()
    return group
