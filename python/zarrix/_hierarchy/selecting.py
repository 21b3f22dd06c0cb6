"""Selecting a part of a group along named dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from zarrix._hierarchy.state import GroupState

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group
    from zarrix._hierarchy.subset import Subset

__all__ = ["GroupSelecting"]


class GroupSelecting(GroupState):
    """The methods of groups that select by labels and by indices."""

    def sel(
        self,
        indexers: Mapping[str, Any] | None = None,
        /,
        *,
        method: str | None = None,
        tolerance: Any = None,
        wrap: Any = None,
        variables: Sequence[str] | None = None,
        **labels: Any,
    ) -> Subset:
        """The part of the group that has these labels: dates, degrees, names.

        The labels of a dimension are the elements of the array of its name, decoded by the CF
        conventions. Nothing but these coordinates is read. The rules are those of xarray's ``sel``,
        and a slice includes both ends; but a slice that meets no label is an error, and so is one
        against the direction of the labels.

        Parameters
        ----------
        indexers : mapping of str to label, optional
            The labels of dimensions whose names are keywords of this call, or no keywords at all.
        method : {'nearest', 'pad', 'backfill'}, optional
            Which other label may stand for one that is not there.
        tolerance : number, timedelta or str, optional
            The greatest distance of that label; of times also as text, ``"90 s"``.
        wrap : number, or mapping of str to number, optional
            The period of a dimension: with ``wrap=360``, ``lon=slice(-10, 10)`` also finds the
            labels 350 to 360.
        variables : sequence of str, optional
            The arrays of the subset; all of the group when omitted.
        **labels : label, slice, sequence of labels, or boolean array
            One for each dimension that is selected along. A text such as ``"2020-01"`` is the whole
            month.

        Returns
        -------
        Subset

        Raises
        ------
        LabelError
            A label is not there, a slice meets none, or a dimension has no coordinate (also a
            ``KeyError``).
        MemberNotFoundError
            A variable is not an array of the group (also a ``KeyError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> time = root.create_array("time", data=range(0, 100, 10), dimension_names=["time"])
        >>> time.attrs["units"] = "days since 2020-01-01"
        >>> t2m = root.create_array("t2m", data=range(10), dimension_names=["time"])
        >>> root.sel(time="2020-02")["t2m"][...]
        array([4, 5])
        >>> root.sel(time="2020-02-14", method="nearest")["t2m"][...]
        np.int64(4)
        """
        # Imported when called: few programs select by labels.
        from zarrix._array.by_label import merged
        from zarrix._hierarchy.subset import subset_by_label
        from zarrix._labels._key import manner_of

        group, asked = cast("Group", self), merged(indexers, labels)
        return subset_by_label(group, asked, manner_of(method, tolerance, wrap), variables)

    def isel(
        self,
        indexers: Mapping[str, Any] | None = None,
        /,
        *,
        variables: Sequence[str] | None = None,
        **indices: Any,
    ) -> Subset:
        """The part of the group at these indices along dimensions, which are given by name.

        Parameters
        ----------
        indexers : mapping of str to index, optional
            The indices along dimensions whose names are keywords of this call, or no keywords.
        variables : sequence of str, optional
            The arrays of the subset; all of the group when omitted.
        **indices : int, slice, integer or boolean array
            One for each dimension that is selected along.

        Returns
        -------
        Subset

        Raises
        ------
        LabelError
            No array has the dimension, or two have it with different lengths (also a ``KeyError``).
        BoundsCheckError
            An index is out of range (also an ``IndexError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("z", data=[[1, 2], [3, 4]], dimension_names=["y", "x"])
        >>> root.isel(x=-1)["z"][...]
        array([2, 4])
        """
        # Imported when called: few programs select by names of dimensions.
        from zarrix._array.by_label import merged
        from zarrix._hierarchy.subset import subset_by_index

        return subset_by_index(cast("Group", self), merged(indexers, indices), variables)
