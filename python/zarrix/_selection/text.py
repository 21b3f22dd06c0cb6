"""Selections as text: ``0,:,200:456`` or, by dimension, ``t=0,y=200:456``.

The command line and the viewer read and print them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["selection_of"]


def selection_of(text: str, names: Sequence[str | None] | None, ndim: int) -> tuple[Any, ...]:
    """The selection that a text means; the empty text selects everything.

    Raises
    ------
    ValueError
        It is not a selection, or a dimension has another name.

    Examples
    --------
    >>> selection_of("0,:,200:456", None, 3)
    (0, slice(None, None, None), slice(200, 456, None))
    >>> selection_of("y=2", ("t", "y"), 2)
    (slice(None, None, None), 2)
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if any("=" in part for part in parts):
        found: list[Any] = [slice(None)] * ndim
        for part in parts:
            name, _, rest = part.partition("=")
            if names is None or name not in names:
                known = ", ".join(one for one in names or () if one) or "none"
                raise ValueError(f"{name!r} is not a dimension of the array; it has {known}")
            found[list(names).index(name)] = _index(rest)
        return tuple(found)
    return tuple(_index(part) for part in parts)


def _index(text: str) -> Any:
    if text == "...":
        return ...
    try:
        numbers = [int(part) if part.strip() else None for part in text.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) == 1 and numbers[0] is not None:
        return numbers[0]
    if len(numbers) in (2, 3):
        return slice(*numbers)
    raise ValueError(
        f"{text!r} is not an index or a slice, such as 3 or 10:20; labels, such as dates, are "
        "selected by --sel"
    )
