"""A selection with damaged chunks: the sound ones are read, and the damaged ones are named."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zarrix._engine import CancelToken
from zarrix._errors import CodecError, CorruptChunkError
from zarrix.viewer._parts import divided, read

__all__ = ["Damage", "read_around"]

# Parts that are marked; what fails beyond them is marked without a search for its sound chunks.
_MOST_BOXES = 512


class Damage(NamedTuple):
    """What does not decode of a selection.

    Attributes
    ----------
    boxes : list of list of (int, int)
        Begin and end along each axis of the result.
    sentence : str
        Why the first of them does not.
    """

    boxes: list[list[tuple[int, int]]]
    sentence: str

    def mask(self, shape: tuple[int, ...]) -> Any:
        """Which elements of a result of this shape were not read."""
        found = np.zeros(shape, bool)
        for box in self.boxes:
            found[tuple(slice(*ends) for ends in box)] = True
        return found


def read_around(
    array: Any, axes: Any, cancel: CancelToken, field: str | None = None
) -> tuple[Any, Damage | None]:
    """The selected values, with zeros where a chunk does not decode, and where that is.

    Raises
    ------
    Refused
        As `read` does.
    CorruptChunkError, CodecError
        No chunk decodes, or the elements have no zero.
    """
    try:
        return read(array, axes, cancel, field), None
    except (CorruptChunkError, CodecError) as error:
        first = error
    dtype = array.dtype if field is None else array.dtype[field]
    if dtype.kind in "OTV" or dtype.shape:
        raise first
    found = np.zeros([one[2] for one in axes if not isinstance(one, int)], dtype)
    boxes: list[list[tuple[int, int]]] = []
    waiting = list(divided(array, tuple(axes)) or [])
    if not waiting:
        raise first
    is_any_read = False
    while waiting:
        part = waiting.pop()
        box = _box(axes, part)
        try:
            values = read(array, part, cancel, field)
        except (CorruptChunkError, CodecError):
            halves = divided(array, part) if len(boxes) < _MOST_BOXES else None
            if halves is None:
                boxes.append(box)
            else:
                waiting.extend(halves)
            continue
        found[tuple(slice(*ends) for ends in box)] = values
        is_any_read = True
    if not is_any_read:
        raise first
    return found, Damage(boxes, str(first))


def _box(axes: Any, part: Any) -> list[tuple[int, int]]:
    """Where a part lies in the result of a selection."""
    found = []
    for whole, one in zip(axes, part, strict=True):
        if not isinstance(whole, int):
            begin = (one[0] - whole[0]) // whole[1]
            found.append((begin, begin + one[2]))
    return found
