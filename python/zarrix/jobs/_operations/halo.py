"""Blocks with a halo: a region and the elements around it, as a padded array would have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix.jobs._running.tiling import Region, extent

__all__ = ["BOUNDARIES", "halo_of", "read_with_halo", "trimmed"]

AnyArray = npt.NDArray[Any]
Halo = tuple[tuple[int, int], ...]
"""For each axis the number of elements before and after a region."""

BOUNDARIES = ("reflect", "edge", "wrap", "clip")
"""What is beyond the array, as for `numpy.pad`; "clip" gives smaller blocks. Or a number."""


def halo_of(halo: Any, ndim: int, axes: Sequence[str | None] | None) -> Halo:
    """The halo of each axis, from a number, one for each axis, or a mapping of axes."""
    if halo is None:
        return ((0, 0),) * ndim
    if isinstance(halo, Mapping):
        lengths: list[Any] = [0] * ndim
        for axis, length in halo.items():
            lengths[_axis(axis, ndim, axes)] = length
    elif isinstance(halo, Sequence):
        lengths = list(halo)
    else:
        lengths = [halo] * ndim
    pairs = [pair if isinstance(pair, Sequence) else (pair, pair) for pair in lengths]
    numbers = [number for pair in pairs for number in pair]
    if (
        len(pairs) != ndim
        or any(len(pair) != 2 for pair in pairs)
        or any(not isinstance(n, int | np.integer) or n < 0 for n in numbers)
    ):
        raise ValueError(
            f"halo={halo!r}; expected numbers of elements that are not negative, or pairs: "
            f"one, one for each of the {ndim} axes, or a mapping of axes"
        )
    return tuple((int(before), int(after)) for before, after in pairs)


def _axis(axis: Any, ndim: int, axes: Sequence[str | None] | None) -> int:
    if isinstance(axis, str) and axes and axis in axes:
        return list(axes).index(axis)
    if isinstance(axis, int) and -ndim <= axis < ndim:
        return axis % ndim
    known = ", ".join(map(repr, axes)) if axes else f"0 to {ndim - 1}"
    raise ValueError(f"halo has the axis {axis!r}; the axes are {known}")


def read_with_halo(array: Any, region: Region, halo: Halo, boundary: Any) -> AnyArray:
    """The elements of a region and of its halo.

    Equal to the same box of ``numpy.pad`` of the whole array; only what is needed is read.
    """
    if boundary == "wrap":
        return _wrapped(array, region, halo)
    inside, beyond = [], []
    for part, (before, after), size in zip(region, halo, array.shape, strict=True):
        begin, end = part.start - before, part.stop + after
        first, last = max(0, begin), min(size, end)
        if boundary == "reflect" and (begin < 0 or end > size):
            # The mirror of a far halo needs elements that are further inside.
            first = max(0, min(first, size - 1 - max(0, end - size)))
            last = min(size, max(last, 1 - min(0, begin)))
        inside.append(slice(first, last))
        beyond.append((first - begin, end - last))
    block = np.asarray(array[tuple(inside)]).reshape(extent(tuple(inside)))
    if boundary == "clip" or not any(map(any, beyond)):
        return block
    out = _padded(block, [(max(0, a), max(0, b)) for a, b in beyond], boundary)
    cut = (slice(max(0, -a), out.shape[i] - max(0, -b)) for i, (a, b) in enumerate(beyond))
    return out[tuple(cut)]


def _padded(block: AnyArray, widths: list[tuple[int, int]], boundary: Any) -> AnyArray:
    if boundary in ("reflect", "edge"):
        return np.pad(block, widths, mode=boundary)
    return np.pad(block, widths, mode="constant", constant_values=boundary)


def _wrapped(array: Any, region: Region, halo: Halo) -> AnyArray:
    picks = [
        np.arange(part.start - before, part.stop + after) % size
        for part, (before, after), size in zip(region, halo, array.shape, strict=True)
    ]
    out: AnyArray = array.oindex[tuple(picks)]
    return out


def trimmed(block: AnyArray, region: Region, halo: Halo, boundary: Any) -> AnyArray:
    """The part of a block with its halo that is the region itself."""
    inside = []
    for part, (before, _), length in zip(region, halo, extent(region), strict=True):
        first = min(before, part.start) if boundary == "clip" else before
        inside.append(slice(first, first + length))
    return block[tuple(inside)]
