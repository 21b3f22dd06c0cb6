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
from zarrix.ingest._variables import Labelled, Variable

__all__ = [
    "in_units_near",
    "in_units_of",
    "require_sorted",
    "require_unique",
    "stored_labels",
    "with_bounds",
]

# Attributes of a coordinate that name variables which are in its units.
_BOUNDS = ("bounds", "climatology")


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
    values, target = mine.values, theirs.values.dtype
    if theirs.decoding.tick:
        values = _in_ticks(mine, theirs.decoding.tick, owner)
    elif values.dtype != target:
        with np.errstate(all="ignore"):
            cast = values.astype(target)
        _require_exact((cast == values) & (cast.astype(values.dtype) == values), mine, dtype, owner)
        values = cast
    stored_labels(values, theirs, dtype, mine, owner)
    return values


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
    values: npt.NDArray[Any],
    theirs: Labelled,
    dtype: np.dtype[Any],
    mine: Labelled,
    owner: str,
) -> npt.NDArray[Any]:
    """What the destination stores for labels.

    Raises
    ------
    LabelError
        It cannot hold one exactly.
    """
    stored = theirs.decoding.stored(values, dtype)
    again, missing = theirs.decoding.labels(stored, theirs.axis.name)
    exact = again == values
    _require_exact(exact if missing is None else exact & ~missing, mine, dtype, owner)
    return stored


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
    for name in {str(attributes.get(key)) for key in _BOUNDS} & {*variables} & {*stored}:
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
        return stored_labels(
            in_units_of(labels, theirs, dtype, owner), theirs, dtype, labels, owner
        ).reshape(stored.shape)

    return variable._replace(read=read, dtype=dtype)


def _in_ticks(mine: Labelled, tick: int, owner: str) -> npt.NDArray[np.int64]:
    values = mine.values
    if mine.decoding.tick == tick:
        return values
    if tick < mine.decoding.tick:
        ratio = mine.decoding.tick // tick
        found = values * ratio
        exact = found // ratio == values
    else:
        found, rest = np.divmod(values, tick // mine.decoding.tick)
        exact = rest == 0
    if not exact.all():
        raise LabelError(
            f"{owner}: {mine.axis.shown(values[np.argmin(exact)])} of {mine.axis.name!r} is not a "
            f"whole number of {tick} ns within 64 bits, which the destination counts"
        )
    return found


def _require_exact(
    exact: npt.NDArray[np.bool_], mine: Labelled, dtype: np.dtype[Any], owner: str
) -> None:
    if exact.all():
        return
    at = int(np.argmin(exact))
    shown = Axis(mine.axis.name, Labels(mine.values, None), mine.decoding).shown(mine.values[at])
    raise LabelError(
        f"{owner}: the destination cannot hold {shown} of {mine.axis.name!r} exactly in {dtype} "
        "with its units and scale; write the destination anew with finer units"
    )
