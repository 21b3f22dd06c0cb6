"""Selecting along dimensions: labels become indices, and an array a lazy view of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from zarrix._array.coordinates import axis_of, sibling
from zarrix._array.dimension_names import names_of
from zarrix._array.lazy import LazyArray
from zarrix._errors import LabelError, shorten
from zarrix._labels._axis import Axis
from zarrix._labels._key import Indices, Manner, indices_of
from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import resolve_orthogonal

if TYPE_CHECKING:
    from zarrix._array.facts import ArrayFacts

__all__ = [
    "Chosen",
    "by_index",
    "by_label",
    "lazy_by_index",
    "lazy_by_label",
    "merged",
    "no_coordinate",
    "view_of",
]

Chosen = dict[str, tuple[int, AxisSelection | Indices]]
"""For each dimension its length, and the indices that are selected."""


def merged(positional: Mapping[str, Any] | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The selections of a call, from its mapping and its keywords.

    Raises
    ------
    LabelError
        One is in both, or the first is not a mapping.
    """
    if positional is None:
        return dict(keywords)
    if not isinstance(positional, Mapping):
        raise LabelError(
            f"{shorten(positional)} is not a mapping of dimensions to labels, such as "
            '{"time": "2020"}'
        )
    twice = keywords.keys() & positional.keys()
    if twice:
        raise LabelError(f"{', '.join(sorted(twice))} is given twice")
    return {**positional, **keywords}


def by_label(labels: Mapping[str, Any], axis_for: Callable[[str], Axis], manner: Manner) -> Chosen:
    """The indices that labels select along each dimension."""
    chosen: Chosen = {}
    for name, key in labels.items():
        axis = axis_for(name)
        chosen[name] = axis.length, indices_of(axis, key, manner)
    return chosen


def view_of(array: ArrayFacts, chosen: Chosen) -> LazyArray:
    """The view of an array by what is chosen along its dimensions; others are not looked at.

    Raises
    ------
    LabelError
        A dimension has another length than its coordinate, or is there twice.
    """
    names, shape = names_of(array), array.shape
    axes: list[AxisSelection | Indices] = [(0, 1, size) for size in shape]
    for axis, name in enumerate(names):
        if name is None or name not in chosen:
            continue
        length, indices = chosen[name]
        if names.index(name) != axis:
            raise LabelError(f"{_label(array)} has the dimension {name!r} twice")
        if shape[axis] != length:
            raise LabelError(
                f"{name} has {length:,} labels, but {_label(array)} is {shape[axis]:,} long along "
                f"{name}"
            )
        axes[axis] = indices
    order = tuple(axis for axis, indices in enumerate(axes) if not isinstance(indices, int))
    return LazyArray(array, tuple(axes), order)


def _label(array: ArrayFacts) -> str:
    return f"the array {array.name or '/'!r}"


def lazy_by_label(array: ArrayFacts, labels: Mapping[str, Any], manner: Manner) -> LazyArray:
    """The view of an array by labels, whose coordinates are the arrays beside it."""
    names = names_of(array)

    def axis_for(name: str) -> Axis:
        _require_dimension(array, names, name)
        coordinate = array if array.basename == name else sibling(array, name)
        if coordinate is None:
            raise no_coordinate(name)
        return axis_of(coordinate, name)

    return view_of(array, by_label(labels, axis_for, manner))


def no_coordinate(name: str) -> LabelError:
    """The error about a dimension that has no labels."""
    return LabelError(
        f"the dimension {name!r} has no labels, because no array has its name; "
        f"isel({name}=...) takes indices"
    )


def _require_dimension(array: ArrayFacts, names: Any, name: str) -> None:
    if name not in names:
        known = ", ".join(one for one in names if one) or "none"
        raise LabelError(f"{name!r} is not a dimension of {_label(array)}; it has {known}")


def lazy_by_index(array: ArrayFacts, indices: Mapping[str, Any]) -> LazyArray:
    """The view of an array by indices along its dimensions."""
    names, shape = names_of(array), array.shape
    for name in indices:
        _require_dimension(array, names, name)
    lengths = {name: size for name, size in zip(names, shape, strict=False) if name}
    return view_of(array, by_index(indices, lengths))


def by_index(indices: Mapping[str, Any], lengths: Mapping[str, int]) -> Chosen:
    """What indices select along dimensions of these lengths.

    Raises
    ------
    BoundsCheckError
        An index is out of range.
    """
    chosen: Chosen = {}
    for name, key in indices.items():
        length = lengths[name]
        (selected,) = resolve_orthogonal((key,), (length,)).axes
        assert selected is not None
        chosen[name] = length, selected
    return chosen
