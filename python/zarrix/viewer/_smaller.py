"""Every n-th element of pictures that their codec decodes in a smaller size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.reduced import has_reduced

__all__ = ["smaller", "step_of"]


def step_of(array: Any, least: int) -> int:
    """A step of at least so many elements: an even one where the codec decodes smaller sizes."""
    is_odd = least > 1 and least % 2 and has_reduced(metadata_of(array))
    return least + 1 if is_odd else least


def smaller(array: Any, axes: Sequence[Any], shown: Sequence[int]) -> tuple[Any, list[Any]] | None:
    """A view of smaller pictures and the same places in it; None if there is none.

    Parameters
    ----------
    array : Array
    axes : sequence of int or of (start, step, count)
        What is selected along each axis.
    shown : sequence of int
        The two axes of the picture. The size is the smallest one that has an element for each
        that is selected.
    """
    steps = [axes[axis][1] for axis in shown]
    factors = [factor for factor in (8, 4, 2) if not any(step % factor for step in steps)]
    if not factors or not has_reduced(metadata_of(array)):
        return None
    for factor in factors:
        try:
            small = array.reduced(factor)
        except ValueError:
            # Its chunks are not multiples of this factor, and may be of a smaller one.
            continue
        lengths = zip(small.chunks, array.chunks, strict=True)
        if {axis for axis, (one, other) in enumerate(lengths) if one != other} == set(shown):
            places = [
                (axis[0] // factor, axis[1] // factor, axis[2]) if number in shown else axis
                for number, axis in enumerate(axes)
            ]
            return small, places
    return None
