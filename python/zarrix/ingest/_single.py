"""Sources of one step, whose coordinate has no dimension: files of GRIB, and slices of xarray."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zarrix._labels._units import bounds_names
from zarrix.ingest._variables import Variable

__all__ = ["expanded", "is_single"]

# Attributes that name variables which say where or how, and not what was measured.
_OF_OTHERS = (
    *("coordinates", "bounds", "climatology", "grid_mapping", "ancillary_variables"),
    *("cell_measures", "formula_terms"),
)


def is_single(variables: Mapping[str, Variable], along: str) -> bool:
    """Whether the coordinate of the dimension is one label."""
    return along in variables and not variables[along].dimensions


def expanded(
    variables: Mapping[str, Variable],
    attributes: Mapping[str, Any],
    along: str,
    stored: Mapping[str, Variable] | None = None,
) -> dict[str, Variable]:
    """The variables of one step with the dimension of steps, which has the length 1.

    Parameters
    ----------
    variables : mapping of str to Variable
    attributes : mapping
        Of the group.
    along : str
    stored : mapping of str to Variable, optional
        The destination, in which the same variables have the dimension. Without it these are the
        coordinate, its bounds, and all that are neither coordinates nor named by others.
    """
    if stored is None:
        named = {*_named(variables, attributes), *_dimensions(variables)}
        own = variables[along].attributes
        chosen = {*variables} - named | {along} | bounds_names(own)
        axes = dict.fromkeys(chosen & {*variables}, 0)
    else:
        found = {name: one.axis(along) for name, one in stored.items() if name in variables}
        axes = {name: axis for name, axis in found.items() if axis is not None}
    return {
        name: one if name not in axes else _with_axis(one, along, axes[name])
        for name, one in variables.items()
    }


def _dimensions(variables: Mapping[str, Variable]) -> Iterator[str]:
    for one in variables.values():
        yield from one.dimensions


def _named(variables: Mapping[str, Variable], attributes: Mapping[str, Any]) -> Iterator[str]:
    for one in [attributes, *(variable.attributes for variable in variables.values())]:
        for key in _OF_OTHERS:
            value = one.get(key)
            if isinstance(value, str):
                # cell_measures: "area: name", grid_mapping: "name: x y".
                yield from (word.rstrip(":") for word in value.split())


def _with_axis(variable: Variable, along: str, axis: int) -> Variable:
    def read(region: tuple[slice, ...]) -> Any:
        rows = region[axis]
        found = np.expand_dims(
            np.asarray(variable.read((*region[:axis], *region[axis + 1 :]))), axis
        )
        return found[(*(slice(None),) * axis, rows)]

    names, shape = variable.dimensions, variable.shape
    axis = min(axis, len(names))
    return variable._replace(
        dimensions=(*names[:axis], along, *names[axis:]),
        shape=(*shape[:axis], 1, *shape[axis:]),
        read=read,
    )
