"""A dataset as a source of `zarrix.append`: encoded as stored variables are, and read lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xarray import Dataset, conventions
from xarray.backends.common import ArrayWriter
from xarray.backends.zarr import _validate_datatypes_for_zarr_append

from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open_group
from zarrix._nodes.location import Location
from zarrix._stores.memory import MemoryStore
from zarrix.dask._sources import refuse_sources
from zarrix.ingest._append import append
from zarrix.ingest._sources import Source
from zarrix.ingest._variables import variables_of
from zarrix.xarray._store import Store

__all__ = ["upsert"]

Dump = Callable[[Dataset, Store, ArrayWriter, Mapping[Any, Any]], None]


class _Collected(ArrayWriter):
    """Keeps the encoded elements of each variable by its name, and writes none."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Any] = {}

    def add(self, source: Any, target: Any, region: Any = None) -> None:
        """Keep the elements of an array."""
        self.found[target.basename] = source


def upsert(
    dataset: Dataset,
    location: Location,
    choices: Mapping[str, Any],
    encoding: Mapping[Any, Any],
    dump: Dump,
) -> Group:
    """Append a dataset by the labels of a dimension.

    Parameters
    ----------
    dataset : Dataset
    location : Location
        Of the group, which may not exist.
    choices : mapping
        Keywords of `zarrix.append`, ``along`` among them.
    encoding : mapping
        Of variables, if the group does not exist.
    dump : function
        Creates arrays for a dataset, and gives a writer their elements.
    """
    along = str(choices["along"])
    node = location.find()
    data = (one._data for one in dataset.variables.values())
    refuse_sources(location.store, location.path, data)
    zarr_format = 3 if node is None else node.zarr_format
    if node is not None:
        stored = Store.open_group(location, "r")
        if stored.array_keys():
            dataset, encoding = _as_stored(dataset, stored, along), {}
    written, writer = MemoryStore(), _Collected()
    dump(dataset, Store.open_group(written, "w", zarr_format=zarr_format), writer, encoding)
    group = open_group(written, mode="r")
    variables = {
        key: one if key not in writer.found else one._replace(read=_reader(writer.found[key]))
        for key, one in variables_of(group, "the dataset").items()
    }
    source = Source.of("the dataset", variables, group.attrs.asdict(), along, _unchanged)
    source.group = group
    append([source], location, **{**choices, "along": along})
    return open_group(location.store, mode="r+", path=location.path)


def _as_stored(dataset: Dataset, stored: Store, along: str) -> Dataset:
    """The dataset with the encodings and the order of dimensions of the stored variables.

    Where its coordinate is one label, variables get the dimension that the stored ones have.
    """
    names = [name for name in dataset.variables if name in stored.array_keys()]
    names.sort(key=lambda name: name != along)
    is_single = along in names and not dataset.variables[along].dims
    decoded, _, _ = conventions.decode_cf_variables(
        variables={name: stored.open_store_variable(str(name)) for name in names}, attributes={}
    )
    copied = dataset.copy(deep=False)
    for name in names:
        one, like = copied.variables[name], decoded[name]
        _validate_datatypes_for_zarr_append(name, like, one)
        if is_single and along in like.dims:
            one = one.set_dims({along: 1, **one.sizes})
        if {*one.dims} == {*like.dims}:
            one = one.transpose(*like.dims)
        one.encoding = like.encoding
        copied[name] = one
    return copied


def _reader(data: Any) -> Callable[[tuple[slice, ...]], Any]:
    def read(region: tuple[slice, ...]) -> Any:
        return np.asarray(data[region])

    return read


def _unchanged() -> None:
    """A dataset does not say what it is read from."""
