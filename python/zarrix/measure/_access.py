"""How a program reads an array, in words: ``crop 256x256``, ``frame``, ``points 100``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarrix._errors import suggestion

__all__ = ["Access", "accesses_of"]

# An axis of at most this length, beside those of a crop, is read completely: colours, components.
_FEW = 4
_WORDS = ("crop", "box", "frame", "plane", "series", "all", "append", "points")


@dataclass(frozen=True)
class Access:
    """A kind of read: boxes of one shape at random places.

    Attributes
    ----------
    text : str
        The words that it was made of.
    extent : tuple of int
        The length of a read along each axis.
    count : int
        Reads in one access: more than 1 for points.
    weight : float
        How often it happens, beside the other accesses.

    Examples
    --------
    >>> from zarrix.measure import Access
    >>> Access("frame", (1, 64, 64)).weight
    1.0
    """

    text: str
    extent: tuple[int, ...]
    count: int = 1
    weight: float = 1.0

    def regions(
        self, shape: Sequence[int], seed: int
    ) -> Iterator[tuple[slice, ...] | list[tuple[slice, ...]]]:
        """Random regions of an array, the same for the same seed, without end.

        Parameters
        ----------
        shape : sequence of int
        seed : int

        Yields
        ------
        tuple of slice, or a list of them
            For points, all of one access.

        Raises
        ------
        ValueError
            The access has another number of axes.

        Examples
        --------
        >>> from zarrix.measure import Access
        >>> next(Access("crop 2x2", (1, 2, 2)).regions((1, 2, 2), 0))
        (slice(0, 1, None), slice(0, 2, None), slice(0, 2, None))
        """
        if len(shape) != len(self.extent):
            raise ValueError(f"{self.text!r} has {len(self.extent)} axes, and {shape} does not")
        rng = np.random.default_rng(seed)
        extent = [min(k, n) for k, n in zip(self.extent, shape, strict=True)]

        def one() -> tuple[slice, ...]:
            starts = [int(rng.integers(0, n - k + 1)) for k, n in zip(extent, shape, strict=True)]
            return tuple(slice(s, s + k) for s, k in zip(starts, extent, strict=True))

        while True:
            yield one() if self.count == 1 else [one() for _ in range(self.count)]


def accesses_of(
    access: Any, shape: Sequence[int], names: Sequence[str | None] | None = None
) -> list[Access]:
    """The accesses that texts mean for an array of this shape.

    Raises
    ------
    ValueError
        A text is not an access, or names an axis that the array does not have.
    """
    texts = [access] if isinstance(access, str | Access) else list(access or ())
    if not texts:
        raise ValueError("no access is named: pass access=['crop 256x256', 'frame:0.1']")
    return [one if isinstance(one, Access) else _parsed(one, shape, names) for one in texts]


def _parsed(text: str, shape: Sequence[int], names: Sequence[str | None] | None) -> Access:
    words, _, weight_text = text.partition(":")
    try:
        weight = float(weight_text) if weight_text else 1.0
    except ValueError:
        weight = -1.0
    if not 0 < weight < 1e9:
        raise ValueError(f"{text!r}: {weight_text!r} is not a weight above 0")
    parts = words.split()
    kind = parts[0].lower() if parts else ""
    if kind not in _WORDS:
        raise ValueError(
            f"{text!r} is not an access{suggestion(kind, _WORDS)}; it begins with "
            f"{', '.join(_WORDS)}"
        )
    if not shape:
        return Access(text, (), 1, weight)
    extent = list(shape)
    count = 1
    rest = parts[1:]
    if kind in ("crop", "box"):
        extent = _box(text, rest, shape, names)
    elif kind == "points":
        extent = [1] * len(shape)
        count = int(rest[0]) if rest and rest[0].isdecimal() and int(rest[0]) else 100
    elif kind == "series":
        axis = _axis(text, rest, names, len(shape))
        extent = [n if i == axis else 1 for i, n in enumerate(shape)]
    elif kind in ("frame", "plane", "append"):
        extent[_axis(text, rest, names, len(shape))] = 1
    return Access(text, tuple(extent), count, weight)


def _box(
    text: str, rest: list[str], shape: Sequence[int], names: Sequence[str | None] | None
) -> list[int]:
    sides = [int(n) for n in re.findall(r"\d+", rest[0])] if rest else []
    axes = list(range(len(shape) - len(sides), len(shape)))
    if len(rest) == 3 and rest[1] == "of":
        axes = [_axis(text, [one], names, len(shape)) for one in rest[2].split(",")]
    elif len(sides) == 2 and len(shape) > 2 and shape[-1] <= _FEW:
        # Colours come last.
        axes = [axis - 1 for axis in axes]
    if not sides or len(sides) != len(axes) or min(axes) < 0 or min(sides) < 1:
        raise ValueError(f"{text!r} is not a box such as 'crop 256x256' for an array of {shape}")
    extent = [n if n <= _FEW and i else 1 for i, n in enumerate(shape)]
    for axis, side in zip(axes, sides, strict=True):
        extent[axis] = min(side, shape[axis])
    return extent


def _axis(text: str, rest: list[str], names: Sequence[str | None] | None, ndim: int) -> int:
    if not rest:
        return 0
    if names is not None and rest[0] in names:
        return list(names).index(rest[0])
    if rest[0].isdecimal() and int(rest[0]) < ndim:
        return int(rest[0])
    known = [one for one in names or () if one] or [f"0 to {ndim - 1}"]
    raise ValueError(f"{text!r}: {rest[0]!r} is not an axis; the array has {', '.join(known)}")
