"""Windows: their positions, their shape, and which of them extend beyond the array."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._errors import ArrayIndexError, BoundsCheckError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["check", "leaving"]


def check(
    starts: Any, shape: Any, lengths: tuple[int, ...]
) -> tuple[npt.NDArray[np.int64], tuple[int, ...]]:
    """Return ``starts`` with a row per window, and the shape of a window with a length per axis.

    Examples
    --------
    >>> check([3, 5], 2, (10,))
    (array([[3],
           [5]]), (2,))
    """
    axes = len(lengths)
    try:
        array = np.asarray(starts)
    except ValueError:
        raise ArrayIndexError(
            f"the rows of starts have different lengths; each needs {axes} coordinates"
        ) from None
    if array.size == 0 and array.ndim < 2:
        array = np.zeros((0, axes), np.int64)
    if array.dtype.kind not in "iu":
        raise ArrayIndexError(f"windows start at integers, not at {array.dtype}")
    if axes == 1 and array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != axes or not axes:
        raise ArrayIndexError(
            f"starts has shape {array.shape}; a row of {axes} coordinates per window is needed"
        )
    try:
        sizes = (shape,) * axes if hasattr(shape, "__index__") else tuple(shape)
        size = tuple(operator.index(length) for length in sizes)
    except TypeError:
        raise ArrayIndexError(
            f"windows of shape {shape!r}; an integer, or one for each of {axes} axes, is needed"
        ) from None
    if len(size) != axes:
        raise ArrayIndexError(f"windows of shape {size} in an array of {axes} axes")
    if any(length < 0 for length in size):
        raise ValueError(f"windows of shape {size}; lengths are not negative")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise BoundsCheckError(f"a window starts at {int(array.max())}, beyond any array")
    return np.ascontiguousarray(array, np.int64), size


def leaving(
    starts: npt.NDArray[np.int64],
    size: tuple[int, ...],
    lengths: tuple[int, ...],
    outside: str,
    advice: str = "outside='pad'",
) -> npt.NDArray[np.bool_] | None:
    """The windows that extend beyond the array; None, or an error, as ``outside`` says."""
    if outside not in ("error", "pad"):
        raise ValueError(f"outside={outside!r}; allowed are 'error' and 'pad'")
    # Not start + size, which overflows for a start that is far outside.
    room = np.array(lengths) - np.array(size)
    out = (starts < 0) | (starts > room)
    if not out.any():
        return None
    if outside == "error":
        window, axis = (int(place[0]) for place in np.nonzero(out))
        raise BoundsCheckError(
            f"window {window} begins at {int(starts[window, axis])} on axis {axis}, and with a "
            f"length of {size[axis]} leaves the axis of size {lengths[axis]}; {advice} fills "
            "what lies outside"
        )
    mask: npt.NDArray[np.bool_] = out.any(axis=1)
    return mask
