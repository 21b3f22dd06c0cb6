"""The arrays of a group as variables with dimensions, and the labels of a coordinate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.dimension_names import names_of
from zarrix._errors import AppendError, LabelError
from zarrix._hierarchy.group import Group
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Decoding, Labels, decoding_of
from zarrix.convert._cf import FILL, shown

__all__ = ["Labelled", "Variable", "labelled", "part_of", "variables_of"]

Read = Callable[[tuple[slice, ...]], Any]


class Variable(NamedTuple):
    """An array of a source or of a destination.

    Attributes
    ----------
    name : str
    dimensions : tuple of str
    shape : tuple of int
    dtype : dtype
    attributes : mapping
        As CF has them: without names of dimensions, and with ``_FillValue`` where the metadata of
        v2 says it.
    read : function
        Of a region of slices with step 1.
    array : Array or None
        That it is, if it is one; it has one dimension less where a source has one label.
    """

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]
    read: Read
    array: Array | None = None

    def axis(self, along: str) -> int | None:
        """The axis of a dimension; None if it does not have it."""
        return self.dimensions.index(along) if along in self.dimensions else None

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The length of chunks by axis; None if what is read has none, or other axes."""
        if self.array is None or self.array.ndim != len(self.shape):
            return None
        return tuple(max(1, int(n)) for n in self.array.chunks)

    def without_rows(self, along: str) -> Variable:
        """The same without elements, if it has the dimension."""
        axis = self.axis(along)
        if axis is None:
            return self
        shape = tuple(0 if at == axis else n for at, n in enumerate(self.shape))

        def read(region: tuple[slice, ...]) -> Any:
            return np.empty(
                [len(range(*one.indices(n))) for one, n in zip(region, shape, strict=True)],
                self.dtype,
            )

        return self._replace(shape=shape, read=read)


def _variable_of(name: str, array: Array, owner: str) -> Variable:
    """An array as a variable.

    Raises
    ------
    AppendError
        It does not name its dimensions, or two of them have one name.
    """
    names = names_of(array)
    if len(names) != array.ndim or None in names or len({*names}) != len(names):
        how = "_ARRAY_DIMENSIONS" if array.zarr_format == 2 else "dimension_names"
        raise AppendError(
            f"{name!r} in {owner} does not name each of its {array.ndim} dimensions "
            f"({list(names)}), so that it cannot be appended; name them by {how}, or leave it out "
            "by variables="
        )
    attributes = shown(array)
    metadata = metadata_of(array)
    if metadata.zarr_format == 2 and metadata.fill_value is not None:
        # What readers of v2 take for missing values.
        attributes.setdefault(FILL, metadata.fill_value)
    return Variable(
        *(name, tuple(map(str, names)), tuple(array.shape), array.dtype, attributes),
        read=array.__getitem__,
        array=array,
    )


def variables_of(
    group: Group,
    owner: str,
    *,
    chosen: Sequence[str] | None = None,
    required: Collection[str] | None = None,
) -> dict[str, Variable]:
    """The arrays of a group.

    Parameters
    ----------
    group : Group
    owner : str
        For messages.
    chosen : sequence of str, optional
        Only these, of which each has to be there.
    required : collection of str, optional
        Others are left out if they do not name their dimensions, and groups are not looked at.

    Raises
    ------
    AppendError
        The group has groups, whose arrays would be left out silently, or lacks a chosen array.
    """
    inside = [*group.group_keys()] if chosen is None and required is None else []
    if inside:
        raise AppendError(
            f"{owner} has groups ({', '.join(map(repr, inside[:5]))}); append them one by one, "
            "each with its path, or name the arrays by variables= (--variables)"
        )
    found = {}
    for name, array in group.arrays():
        if chosen is not None and name not in chosen:
            continue
        names = names_of(array)
        is_named = len({*names}) == len(names) == array.ndim and None not in names
        if is_named or required is None or name in required:
            found[name] = _variable_of(name, array, owner)
    lacking = sorted({*(chosen or ())} - {*found})
    if lacking:
        raise AppendError(f"{owner} has no array {lacking[0]!r}")
    return found


def part_of(variables: Mapping[str, Variable], subset: Mapping[str, Any]) -> dict[str, Variable]:
    """What a subset selects of its variables; those that it leaves out are left out."""
    found = {}
    for name, one in variables.items():
        if name not in subset:
            continue
        view = subset[name]
        kept = [axis for axis in view._order if axis is not None]

        def read(region: tuple[slice, ...], view: Any = view) -> Any:
            return view[region].result() if region else view.result()

        names = tuple(one.dimensions[axis] for axis in kept)
        found[name] = one._replace(dimensions=names, shape=tuple(view.shape), read=read)
    return found


class Labelled(NamedTuple):
    """The labels of a coordinate.

    Attributes
    ----------
    values : ndarray
        Times are ticks of the decoding.
    axis : Axis
        The same, for messages.
    """

    values: npt.NDArray[Any]
    axis: Axis

    @property
    def decoding(self) -> Decoding:
        """How they are stored."""
        return self.axis.decoding


def labelled(variables: Mapping[str, Variable], along: str, owner: str) -> Labelled:
    """The labels of a dimension; none is missing, and all are numbers or times.

    Raises
    ------
    AppendError
        There is no coordinate, or a variable has another length along it.
    LabelError
        The coordinate has no such labels, or some are missing.
    """
    found = variables.get(along)
    if found is None:
        raise AppendError(
            f"{owner} has no coordinate {along!r}; its arrays are "
            f"{', '.join(map(repr, sorted(variables)[:10])) or 'none'}"
        )
    if found.dimensions != (along,):
        raise AppendError(
            f"{owner}: the coordinate {along!r} has the dimensions {found.dimensions}, and has to "
            f"have {along!r} alone"
        )
    try:
        decoding = decoding_of(found.dtype, found.attributes, along)
        if decoding.kind not in ("time", "duration", "number"):
            raise LabelError(f"the coordinate {along!r} has neither numbers nor times as labels")
        values, missing = decoding.labels(np.asarray(found.read((slice(0, *found.shape),))), along)
    except LabelError as error:
        raise LabelError(f"{owner}: {error.args[0]}") from None
    if missing is None and values.dtype.kind == "f" and not np.isfinite(values).all():
        missing = ~np.isfinite(values)
    if missing is not None and missing.any():
        raise LabelError(
            f"{owner}: the label of index {int(np.flatnonzero(missing)[0])} of {along!r} is "
            "missing (NaN, NaT or a fill value), so that its row has no position"
        )
    for one in variables.values():
        at = one.axis(along)
        if at is not None and one.shape[at] != len(values):
            raise AppendError(
                f"{owner}: {one.name!r} has {one.shape[at]:,} rows along {along!r}, and the "
                f"coordinate {len(values):,} labels"
            )
    return Labelled(values, Axis(along, Labels(values, None), decoding))
