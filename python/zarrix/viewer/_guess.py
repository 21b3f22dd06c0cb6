"""How an array is shown first, and how else it can be: from its name, dtype and axes alone.

A guess reads nothing. It is often right, and the user can choose another kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._dtypes.variable import is_variable
from zarrix.viewer._axes import Plane, plane_of
from zarrix.viewer._tile_types import tile_type

__all__ = ["Guess", "guess"]

_MOST_CHANNELS = 8
# A plane of at most so many elements on a side is rather a table.
_TABLE_SIDE = 32
_FLOW = re.compile(r"flow|motion|displac|veloc|(^|[_/])uv($|[_/])", re.IGNORECASE)
_DEPTH = re.compile(r"depth|dispar|distance", re.IGNORECASE)
_LABELS = re.compile(r"label|segment|instance|classes|annot|nuclei_ids|_ids?$", re.IGNORECASE)
_MASK = re.compile(r"mask|valid|occlu", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """The kind that is shown first, its axes, the other kinds, and why.

    Attributes
    ----------
    kind : str
    axes : dict of str to int
        The axes of the picture by name: y, x and c.
    range : tuple of float or None
        The values of black and white, where the dtype says them.
    kinds : list of str
        All kinds that fit, the best one first.
    reason : str
    """

    kind: str
    axes: dict[str, int]
    range: tuple[float, float] | None
    kinds: list[str] = field(default_factory=list)
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """What the route ``node`` says of it."""
        return {
            "kind": self.kind,
            "axes": self.axes,
            "range": self.range,
            "reason": self.reason,
        }


def guess(
    path: str, shape: Sequence[int], dtype: np.dtype[Any], dims: Sequence[str | None]
) -> Guess:
    """The guess for an array of this path, shape, dtype and dimension names.

    Examples
    --------
    >>> guess("gt", (9, 3, 1080, 1920), np.dtype("u1"), [None] * 4).kind
    'rgb'
    >>> guess("lr/flow", (9, 2, 540, 960), np.dtype("f2"), [None] * 4).kinds[:2]
    ['flow', 'channels']
    """
    if not shape:
        return Guess("scalar", {}, None, ["scalar"], "no axes")
    if tile_type(dtype) is None:
        return _without_numbers(shape, dtype)
    plane = plane_of(shape, dims)
    if plane is None and dtype.kind in "mM":
        return Guess("table", {"x": 0}, None, ["table"], "times along one axis")
    if plane is None:
        return Guess("line", {"x": len(shape) - 1}, None, ["line", "table"], "one axis")
    found = _pictures(path, shape, dtype, plane)
    kinds = [kind for kind, _ in found]
    ends = {"u": (0.0, 255.0), "b": (0.0, 1.0)}
    wide = dtype.kind == "b" or dtype == np.uint8
    return Guess(
        kinds[0],
        plane.document(),
        ends[dtype.kind] if wide and kinds[0] != "labels" else None,
        list(dict.fromkeys([*kinds, "line", "table"])),
        found[0][1],
    )


def _without_numbers(shape: Sequence[int], dtype: np.dtype[Any]) -> Guess:
    axes = {"x": len(shape) - 1} if len(shape) == 1 else {"y": len(shape) - 2, "x": len(shape) - 1}
    if dtype.names:
        kind, kinds = "struct", ["struct", "table"]
    elif dtype.kind == "O" and "data_type" not in (dtype.metadata or ()):
        kind, kinds = "ragged", ["ragged", "text", "table"]
    elif dtype.kind in "SUTO" or is_variable(dtype):
        kind, kinds = "text", ["text", "table"]
    else:
        kind, kinds = "table", ["table"]
    return Guess(kind, axes, None, kinds, f"elements of {dtype}")


def _pictures(
    path: str, shape: Sequence[int], dtype: np.dtype[Any], plane: Plane
) -> list[tuple[str, str]]:
    """The kinds of picture that fit, the best one first, each with the reason."""
    name = path.rpartition("/")[2]
    count = 1 if plane.c is None else shape[plane.c]
    is_whole, is_real = dtype.kind in "biu", dtype.kind == "f" or dtype.name == "bfloat16"
    rules = [
        (dtype.kind == "c", "complex", "complex numbers"),
        (dtype.kind == "b", "mask", "truth values"),
        (count == 2 and bool(_FLOW.search(path)), "flow", f"two planes, and the name {name}"),
        (is_whole and count == 1 and bool(_MASK.search(name)), "mask", f"the name {name}"),
        (is_whole and count == 1 and bool(_LABELS.search(path)), "labels", f"the name {path}"),
        (count == 1 and is_real and bool(_DEPTH.search(name)), "depth", f"the name {name}"),
        (count in (3, 4) and dtype.kind in "uf", "rgb", f"{count} planes of {dtype}"),
        (count == 2 and is_real, "flow", f"two planes of {dtype}"),
        (_is_table(shape, plane), "table", "few elements"),
        (1 < count <= _MOST_CHANNELS, "channels", f"{count} channels"),
        (True, "gray", f"a plane of {dtype}"),
        (count in (3, 4), "rgb", ""),
        (count == 2, "flow", ""),
        (dtype.kind != "c", "depth", ""),
        (is_whole, "labels", ""),
        (is_whole, "mask", ""),
    ]
    kinds: dict[str, str] = {}
    for fits, kind, reason in rules:
        if fits:
            kinds.setdefault(kind, reason)
    return list(kinds.items())


def _is_table(shape: Sequence[int], plane: Plane) -> bool:
    return len(shape) == 2 and plane.c is None and max(shape) <= _TABLE_SIDE
