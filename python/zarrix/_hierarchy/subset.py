"""A part of a group: its arrays as lazy views of what is selected along their dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.by_label import Chosen, by_index, by_label, no_coordinate, view_of
from zarrix._array.coordinates import axis_of
from zarrix._array.dimension_names import names_of
from zarrix._errors import LabelError, MemberNotFoundError, shorten
from zarrix._hierarchy.subset_store import SubsetStore
from zarrix._labels._axis import Axis
from zarrix._labels._key import Manner
from zarrix._nodes.on_demand import on_demand

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._array.lazy import LazyArray
    from zarrix._hierarchy.group import Group

__all__ = ["Subset", "subset_by_index", "subset_by_label"]


class Subset(Mapping[str, Any]):
    """A part of a group, by labels or indices: a mapping of names to lazy views.

    Made by `Group.sel` and `Group.isel`. Nothing but coordinates has been read;
    ``subset["t2m"][...]`` reads what is selected of one array by one call.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group()
    >>> lat = root.create_array("lat", data=[60, 45, 30], dimension_names=["lat"])
    >>> z = root.create_array("z", data=[1, 2, 3], dimension_names=["lat"])
    >>> part = root.sel(lat=slice(60, 40))
    >>> list(part), part["z"][...], part.sizes
    (['lat', 'z'], array([1, 2]), {'lat': 2})
    """

    __module__ = "zarrix.hierarchy"

    def __init__(self, group: Group, chosen: Chosen, names: Sequence[str] | None) -> None:
        self._group, self._chosen, self._names = group, chosen, names

    def __getitem__(self, name: str) -> LazyArray:
        if self._names is not None and name not in self._names:
            raise MemberNotFoundError(f"the subset has no variable {name!r}")
        member = self._group[name]
        if not isinstance(member, Array):
            raise MemberNotFoundError(f"{name!r} is a group; a subset has the arrays of one group")
        return view_of(member, self._chosen)

    def __iter__(self) -> Iterator[str]:
        return iter(self._group.array_keys() if self._names is None else self._names)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        dimensions = ", ".join(self._chosen) or "nothing"
        return f"<zarrix.hierarchy.Subset of {self._group!r} by {dimensions}>"

    @property
    def sizes(self) -> dict[str, int]:
        """The length of each dimension; one that was selected by one label is dropped."""
        found: dict[str, int] = {}
        for name in self:
            view, array = self[name], self._group[name]
            kept = [axis for axis in view._order if axis is not None]
            dimensions = names_of(array)
            for axis, size in zip(kept, view.shape, strict=True):
                if axis < len(dimensions) and dimensions[axis] is not None:
                    found.setdefault(str(dimensions[axis]), size)
        return found

    def labels(self, name: str) -> npt.NDArray[Any]:
        """The labels along a dimension, decoded.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray
            Times of real calendars as datetime64, of others as text, such as ``2020-02-30``.
            Without axes for a dimension that was selected by one label.

        Raises
        ------
        LabelError
            The dimension has no coordinate (also a ``KeyError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> time = root.create_array("time", data=[0, 31], dimension_names=["time"])
        >>> time.attrs["units"] = "days since 2020-01-01"
        >>> root.isel(time=1).labels("time")
        array('2020-02-01T00:00:00.000000', dtype='datetime64[us]')
        """
        axis = _axis_for(self._group, name)
        labels = axis.decoded()
        if name not in self._chosen:
            return labels
        length, indices = self._chosen[name]
        if length != axis.length:
            raise LabelError(f"{name} had {length:,} labels, and has {axis.length:,} now")
        if isinstance(indices, tuple):
            start, step, count = indices
            indices = start + step * np.arange(count)
        return np.asarray(labels[indices])

    def to_xarray(self, *, chunks: Any = None, **options: Any) -> Any:
        """The subset as a dataset, whose elements are read when they are used.

        Parameters
        ----------
        chunks : mapping, int or "auto", optional
            Blocks of dask, as in `xarray.open_dataset`; no dask when omitted.
        **options
            As for `xarray.open_dataset`.

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        ImportError
            xarray is not installed.
        KeyError
            An array does not name its dimensions.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("z", data=[1, 2, 3], dimension_names=["x"])
        >>> root.isel(x=slice(2)).to_xarray()["z"].values
        array([1, 2])
        """
        dataset = self._group.to_xarray(chunks=chunks, **options)
        keys = {
            name: slice_of(*indices) if isinstance(indices, tuple) else indices
            for name, (_, indices) in self._chosen.items()
        }
        part = dataset.isel(keys, missing_dims="ignore")
        if self._names is None:
            return part
        dropped = set(map(str, part.data_vars)) - set(self._names)
        return part.drop_vars(dropped)

    def copy(
        self,
        dest: Any,
        *,
        grid: Literal["same", "source", "rectilinear"] = "same",
        align: Literal["out"] | None = None,
        **options: Any,
    ) -> Group:
        """Copy the subset to a place where nothing is stored yet.

        A chunk whose elements are those of one chunk of the source is copied as it is stored. All
        others are read and encoded again, with the codecs of the source.

        Parameters
        ----------
        dest : Store, str or Path
        grid : {'same', 'source', 'rectilinear'}
            The chunks of the copy. Those of ``"same"`` have the lengths of the source from the
            first element on. ``"source"`` requires that all are copied as stored, except those of
            coordinates. With ``"rectilinear"`` (v3) the first and the last chunk along an axis are
            cut, so that all others are copied as stored.
        align : {'out'}, optional
            For ``grid="source"``: take more elements, up to borders of chunks.
        **options
            Of `zarrix.jobs.copy`: overwrite, run, executor, progress, ...

        Returns
        -------
        Group, or Job with ``run=False``

        Raises
        ------
        LabelError
            With ``grid="source"``, the subset does not begin and end at borders of chunks.
        ContainsArrayError
            Something is at ``dest``.
        OverlapError
            ``dest`` lies in the source.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("z", data=range(100), chunks=10, dimension_names=["x"])
        >>> part = root.isel(x=slice(20, 50)).copy("part.zarr", grid="source")
        >>> part["z"].shape, part["z"][0]
        ((30,), np.int64(20))
        """
        store = self.as_store(grid, align=align)
        made: Group = on_demand("copy")(store, dest, **options)
        return made

    def as_store(
        self,
        grid: Literal["same", "source", "rectilinear"] = "same",
        *,
        align: Literal["out"] | None = None,
    ) -> SubsetStore:
        """The subset as a read-only store, which everything that takes a store takes.

        Parameters
        ----------
        grid, align : str, optional
            As for `copy`.

        Returns
        -------
        Store

        Raises
        ------
        LabelError
            An array has another length along a dimension than its coordinate; or, with
            ``grid="source"``, the subset does not begin and end at borders of chunks.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("z", data=[1, 2, 3], dimension_names=["x"])
        >>> zarr.open(root.isel(x=slice(2)).as_store(), mode="r")["z"][:]
        array([1, 2])
        """
        if grid not in ("same", "source", "rectilinear") or (align and grid != "source"):
            raise ValueError(
                f"grid is 'same', 'source' or 'rectilinear', not {grid!r}; align='out' is for "
                "'source'"
            )
        if grid == "rectilinear" and self._group.zarr_format == 2:
            raise ValueError("grid='rectilinear' needs v3, and the group has v2")
        subset = self._aligned(is_grown=align == "out") if grid == "source" else self
        views = {name: subset[name] for name in subset}
        is_rectilinear = grid == "rectilinear"
        return SubsetStore(views, self._group.attrs.asdict(), is_rectilinear=is_rectilinear)

    def _aligned(self, *, is_grown: bool) -> Subset:
        """The subset, from border to border of chunks; one that is not so is an error unless it may
        grow.
        """
        chosen = self._chosen
        while (grown := self._grown(chosen)) != chosen:
            chosen = grown
        for name, (length, indices) in chosen.items():
            if not is_grown and indices != self._chosen[name][1]:
                assert isinstance(indices, tuple)
                start, _, count = indices
                raise LabelError(
                    f"the subset does not begin and end at borders of chunks along {name}: "
                    f"isel({name}=slice({start}, {start + count})) of {length:,} does, and "
                    "align='out' takes that; grid='same' encodes chunks again"
                )
        return Subset(self._group, chosen, self._names)

    def _grown(self, chosen: Chosen) -> Chosen:
        grown = dict(chosen)
        for name in self:
            array = self._group[name]
            if names_of(array) == (name,):
                continue
            grid = metadata_of(array).grid
            for dimension, axis in zip(names_of(array), grid, strict=False):
                if dimension not in grown:
                    continue
                length, indices = grown[dimension]
                if not isinstance(indices, tuple) or (indices[1] != 1 and indices[2] > 1):
                    raise LabelError(
                        f"chunks of {name} are not copied as stored: along {dimension} the subset "
                        "is not one range of neighbours; grid='same' encodes them again"
                    )
                start, _, count = indices
                if count:
                    begin, last = axis.find(start).begin, axis.find(start + count - 1)
                    grown[dimension] = length, (begin, 1, min(last.end, length) - begin)
        return grown


def slice_of(start: int, step: int, count: int) -> slice:
    """The slice of a range of indices.

    Examples
    --------
    >>> slice_of(4, -2, 3)
    slice(4, None, -2)
    """
    stop = start + step * count
    return slice(start, None if stop < 0 else stop, step)


def subset_by_label(
    group: Group, labels: Mapping[str, Any], manner: Manner, variables: Sequence[str] | None
) -> Subset:
    """The part of a group that has these labels."""
    names = _names(group, variables)
    chosen = by_label(labels, lambda name: _axis_for(group, name), manner)
    return Subset(group, chosen, names)


def subset_by_index(
    group: Group, indices: Mapping[str, Any], variables: Sequence[str] | None
) -> Subset:
    """The part of a group at these indices."""
    names = _names(group, variables)
    lengths: dict[str, int] = {}
    if indices:
        arrays = group.arrays() if names is None else [(name, group[name]) for name in names]
        for _, array in arrays:
            for name, size in zip(names_of(array), array.shape, strict=False):
                if name in indices and lengths.setdefault(str(name), size) != size:
                    raise LabelError(
                        f"the arrays of the group {group.name!r} have different lengths along "
                        f"{name}: {lengths[str(name)]:,} and {size:,}"
                    )
    for name in indices:
        if name not in lengths:
            raise LabelError(f"no array of the group {group.name!r} has the dimension {name!r}")
    return Subset(group, by_index(indices, lengths), names)


def _names(group: Group, variables: Sequence[str] | None) -> tuple[str, ...] | None:
    if variables is None:
        return None
    names = (variables,) if isinstance(variables, str) else tuple(variables)
    for name in names:
        if not isinstance(name, str) or not isinstance(group._get(name), Array):
            raise MemberNotFoundError(f"no array {shorten(name)} in the group {group.name!r}")
    return names


def _axis_for(group: Group, name: str) -> Axis:
    member = group._get(name) if isinstance(name, str) and name and "/" not in name else None
    if not isinstance(member, Array):
        raise no_coordinate(name)
    return axis_of(member, name)
