"""Labels of one coordinate as those of another, which may have other units: exactly or not at all.

Groups are joined, and appended, by labels. Both ask here, and say in their own words what is not
exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix._labels._cf import Decoding

__all__ = ["Brought", "bounds_names", "brought"]


class Brought(NamedTuple):
    """Labels in the units of another coordinate.

    Attributes
    ----------
    labels : ndarray
        Numbers, or ticks of the other decoding.
    stored : ndarray
        What the other coordinate stores for them.
    exact : ndarray of bool
        Which of them are the same label.
    """

    labels: npt.NDArray[Any]
    stored: npt.NDArray[Any]
    exact: npt.NDArray[np.bool_]


def brought(
    labels: npt.NDArray[Any],
    decodings: tuple[Decoding, Decoding],
    dtypes: tuple[np.dtype[Any], np.dtype[Any]],
    name: str,
) -> Brought:
    """Labels of one decoding in another one of the same kind and calendar.

    Parameters
    ----------
    labels : ndarray
        Numbers, or ticks of the first decoding.
    decodings : tuple of Decoding
        Their own, and the other one.
    dtypes : tuple of dtype
        Those of the labels of the other one, and of what it stores.
    name : str
        The coordinate, for messages.

    Raises
    ------
    LabelError
        One is beyond the dates of the calendar.
    """
    mine, theirs = decodings
    if theirs.tick:
        found, exact = _in_ticks(labels, mine.tick, theirs.tick)
    else:
        with np.errstate(all="ignore"):
            found = labels.astype(dtypes[0])
        exact = np.asarray((found == labels) & (found.astype(labels.dtype) == labels))
    stored = theirs.stored(found, dtypes[1])
    again, missing = theirs.labels(stored, name)
    exact = exact & (again == found)
    return Brought(found, stored, exact if missing is None else exact & ~missing)


def _in_ticks(
    labels: npt.NDArray[Any], mine: int, theirs: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Ticks of one length in those of another, and which of them are whole ones of 64 bits."""
    if theirs < mine:
        ratio = mine // theirs
        found = labels * ratio
        return found, found // ratio == labels
    found, rest = np.divmod(labels, theirs // mine)
    return found, rest == 0


def bounds_names(attributes: Mapping[str, Any]) -> set[str]:
    """The variables that the attributes of a coordinate name, and that are in its units."""
    named = (attributes.get("bounds"), attributes.get("climatology"))
    return {one for one in named if isinstance(one, str)}
