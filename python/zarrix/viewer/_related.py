"""The route ``related``: coordinates of the axes, and arrays that show the same scene.

Two arrays belong together if they have the same leading axes, and planes in proportion: the frames
of a video, their optical flow and depth, at any resolution.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from typing import Any

from zarrix._engine import CancelToken
from zarrix._nodes.broken import BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Answer, Refused, json_answer
from zarrix.viewer._axes import Plane, dims_of, plane_of
from zarrix.viewer._guess import guess
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going
from zarrix.viewer._roots import Roots, is_array
from zarrix.viewer._text import dtype_text
from zarrix.viewer._tile_types import tile_type

__all__ = ["coordinate_of", "related"]

_MOST_SIBLINGS = 32
# Nodes that are looked at; of a remote store, each group is a request.
_MOST_VISITED = {False: 5000, True: 300}
# How much the two ratios of a plane may differ: sizes are rounded.
_TOLERANCE = 0.02


def related(roots: Roots, parameters: Parameters) -> Answer:
    """The coordinates and the siblings of an array."""
    path = parameters.text("path")
    array = roots.array(path)
    dims = dims_of(array, roots.parent(path))
    return json_answer(
        {
            "coordinates": [
                coordinate_of(roots, path, name, size)
                for name, size in zip(dims, array.shape, strict=True)
            ],
            "siblings": _siblings(roots, path, array, dims, parameters.cancel),
        }
    )


def coordinate_of(roots: Roots, path: str, name: str | None, size: int) -> dict[str, Any] | None:
    """The array of one axis that has the name of a dimension, in a group above."""
    if not name or "/" in name or name in (".", "..") or not path:
        return None
    above = path
    while above:
        above = above.rpartition("/")[0]
        below = key_of(above, name)
        try:
            found = roots.find(below)
        except Refused:
            continue
        if is_array(found) and found.shape == (size,) and below != path:
            kind = tile_type(found.dtype)
            return {"path": below, "length": size, "dtype": dtype_text(found.dtype), "tile": kind}
    return None


def _siblings(
    roots: Roots, path: str, array: Any, dims: list[str | None], cancel: CancelToken
) -> list[dict[str, Any]]:
    plane = plane_of(array.shape, dims)
    if plane is None:
        return []
    leading = _leading(array.shape, plane)
    found = []
    for below, other in _arrays(roots, path):
        check_going(cancel)
        if below == path or tile_type(other.dtype) is None:
            continue
        names = dims_of(other, roots.parent(below))
        its = plane_of(other.shape, names)
        if its is None or _leading(other.shape, its) != leading:
            continue
        ratio = _ratio(array.shape, plane, other.shape, its)
        if ratio is None:
            continue
        guessed = guess(below, other.shape, other.dtype, names)
        found.append(
            {
                "path": below,
                "shape": other.shape,
                "dtype": dtype_text(other.dtype),
                "dims": names,
                "tile": tile_type(other.dtype),
                "guess": {**guessed.document(), "channels": None},
                "ratio": ratio,
            }
        )
        if len(found) >= _MOST_SIBLINGS:
            break
    return found


def _leading(shape: tuple[int, ...], plane: Plane) -> tuple[int, ...]:
    axes = (plane.y, plane.x, plane.c)
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _ratio(shape: Any, plane: Plane, other: Any, its: Plane) -> list[float] | None:
    """Rows and columns of another plane for each of this one; None if these differ."""
    if 0 in shape or 0 in other:
        return None
    rows, columns = other[its.y] / shape[plane.y], other[its.x] / shape[plane.x]
    if min(other[its.y], other[its.x], shape[plane.y], shape[plane.x]) < 2:
        return None
    near = math.isclose(rows, columns, rel_tol=_TOLERANCE)
    return [rows, columns] if near else None


def _arrays(roots: Roots, path: str) -> Iterator[tuple[str, Any]]:
    """The arrays below the root of a path, the nearest to it first."""
    top = path.partition("/")[0] if roots.are_several else ""
    most, visited = _MOST_VISITED[roots.is_remote(path)], 0
    seen: set[str] = set()
    above = path
    while above != top:
        above = above.rpartition("/")[0]
        waiting = deque([above])
        while waiting and visited < most:
            group = waiting.popleft()
            if group in seen:
                continue
            seen.add(group)
            for name, member in roots.members(group, most - visited):
                visited += 1
                below = key_of(group, name)
                if is_array(member):
                    yield below, member
                elif not isinstance(member, BrokenMember):
                    waiting.append(below)
