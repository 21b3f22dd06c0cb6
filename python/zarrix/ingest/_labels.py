"""Labels of sources in the units of the destination, exactly or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._errors import LabelError
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Labels
from zarrix._labels._key import tolerance_of
from zarrix._labels._units import Brought, bounds_names, brought
from zarrix.ingest._variables import Labelled, Variable

__all__ = [
    "in_units_near",
    "in_units_of",
    "require_sorted",
    "require_unique",
    "stored_labels",
    "with_bounds",
]


def require_sorted(labels: Labelled, owner: str) -> None:
    """Raise `LabelError` if labels do not ascend or descend strictly."""
    if labels.axis.direction and labels.axis.is_unique:
        return
    what = "in no order" if not labels.axis.direction else "not unique"
    raise LabelError(
        f"{owner}: the labels of {labels.axis.name!r} are {what}, so that new ones have no "
        "position; write the destination anew, sorted"
    )


def require_unique(values: npt.NDArray[Any], labels: Labelled, owner: str) -> None:
    """Raise `LabelError` if a source has a label twice."""
    found, counts = np.unique(values, return_counts=True)
    if len(found) != len(values):
        twice = found[counts > 1]
        raise LabelError(
            f"{owner} has the label {labels.axis.shown(twice[0])} of {labels.axis.name!r} "
            f"{int(counts.max())} times"
        )


def in_units_of(
    mine: Labelled, theirs: Labelled, dtype: np.dtype[Any], owner: str
) -> npt.NDArray[Any]:
    """The labels of a source as those of the destination.

    Parameters
    ----------
    mine, theirs : Labelled
        Of the source, and of the destination: times of one calendar, or numbers.
    dtype : dtype
        In which the destination stores them.
    owner : str
        The source, for messages.

    Raises
    ------
    LabelError
        The destination cannot hold one exactly.
    """
    return _brought(mine, theirs, dtype, owner).labels


def _brought(mine: Labelled, theirs: Labelled, dtype: np.dtype[Any], owner: str) -> Brought:
    name = mine.axis.name
    decodings = (mine.decoding, theirs.decoding)
    found = brought(mine.values, decodings, (theirs.values.dtype, dtype), name)
    if not found.exact.all():
        shown = mine.axis.shown(mine.values[int(np.argmin(found.exact))])
        raise LabelError(
            f"{owner}: the destination cannot hold {shown} of {name!r} exactly in {dtype} with its "
            "units and scale; write the destination anew with finer units"
        )
    return found


def in_units_near(
    mine: Labelled,
    theirs: Labelled,
    dtype: np.dtype[Any],
    owner: str,
    known: npt.NDArray[Any],
    tolerance: Any,
) -> npt.NDArray[Any]:
    """The labels of a source as those of the destination: a known one for each that is near.

    Parameters
    ----------
    mine, theirs, dtype, owner
        As of `in_units_of`.
    known : ndarray
        Labels of the destination, sorted.
    tolerance : object
        How near a label has to be: for times as of `Group.sel`.

    Raises
    ------
    LabelError
        The destination cannot hold one exactly that is near to none.
    """
    distance = tolerance_of(theirs.axis, tolerance)
    if theirs.decoding.tick:
        tick = min(mine.decoding.tick, theirs.decoding.tick)
        values, scale = _in_finer(mine.values, mine.decoding.tick // tick)
        others, ratio = _in_finer(known, theirs.decoding.tick // tick)
        scale &= bool(ratio.all())
        distance *= theirs.decoding.tick / tick
    else:
        exact = mine.values.dtype.kind in "iu" and known.dtype.kind in "iu"
        values, others = (one.astype("i8" if exact else "f8") for one in (mine.values, known))
        scale = np.ones(len(values), bool)
    if not len(others):
        return in_units_of(mine, theirs, dtype, owner)
    after = np.searchsorted(others, values).clip(0, len(others) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(values - others[before]) <= np.abs(others[after] - values)
    nearest = np.where(is_before, before, after)
    is_near = (np.abs(values - others[nearest]) <= distance) & scale
    found = known[nearest]
    rest = mine._replace(values=mine.values[~is_near])
    found[~is_near] = in_units_of(rest, theirs, dtype, owner)
    return found


def _in_finer(
    values: npt.NDArray[Any], ratio: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """Ticks in shorter ones, and which of them 64 bits can hold."""
    fits = np.abs(values) < 2**62 // ratio
    return np.where(fits, values, 0) * ratio, fits


def stored_labels(
    values: npt.NDArray[Any], theirs: Labelled, dtype: np.dtype[Any], owner: str
) -> npt.NDArray[Any]:
    """What the destination stores for labels in its units.

    Raises
    ------
    LabelError
        It cannot hold one exactly.
    """
    return _brought(theirs._replace(values=values), theirs, dtype, owner).stored


def with_bounds(
    variables: Mapping[str, Variable],
    mine: Labelled,
    stored: Mapping[str, Variable],
    theirs: Labelled,
    owner: str,
) -> dict[str, Variable]:
    """The variables of a source, with the bounds of its labels in the units of the destination.

    Bounds have no units of their own: they are those of the coordinate.

    Parameters
    ----------
    variables, stored : mapping of str to Variable
        Of the source, and of the destination.
    mine, theirs : Labelled
        Of the source, and of the destination.
    owner : str
        The source, for messages.
    """
    found = dict(variables)
    attributes = variables[mine.axis.name].attributes
    for name in bounds_names(attributes) & {*variables} & {*stored}:
        if mine.decoding != theirs.decoding and "units" not in variables[name].attributes:
            found[name] = _converted(variables[name], mine, theirs, stored[name].dtype, owner)
    return found


def _converted(
    variable: Variable, mine: Labelled, theirs: Labelled, dtype: np.dtype[Any], owner: str
) -> Variable:
    def read(region: tuple[slice, ...]) -> Any:
        stored = np.asarray(variable.read(region))
        values, missing = mine.decoding.labels(stored.reshape(-1), variable.name)
        if missing is not None:
            raise LabelError(f"{owner}: some of the bounds {variable.name!r} are missing")
        labels = Labelled(values, Axis(variable.name, Labels(values, None), mine.decoding))
        return _brought(labels, theirs, dtype, owner).stored.reshape(stored.shape)

    return variable._replace(read=read, dtype=dtype)
