"""Arrays that belong together as the levels of a pyramid, and which array is shown first."""

from __future__ import annotations

import itertools
from typing import Any

from zarrix._nodes.broken import BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._ome import multiscale_of
from zarrix.viewer._roots import Roots, is_array

__all__ = ["first_array", "levels_of"]

_MOST_LEVELS = 32
# Groups that are opened to find an array that can be shown.
_MOST_VISITED = 200
# Members of each of them that are looked at.
_MOST_MEMBERS = 2000


def levels_of(roots: Roots, path: str, array: Any) -> list[dict[str, Any]]:
    """The levels of a pyramid, the finest first; empty if there is none.

    ``array`` is the one at the path, and the pyramid that which it belongs to; or it is None, and
    the group at the path is the pyramid.
    """
    above = path if array is None else path.rpartition("/")[0]
    if array is not None and "/" not in path and (roots.are_several or not path):
        return []
    group = roots.find(above)
    if group is None or is_array(group):
        return []
    found: list[tuple[str, Any]] = []
    for name in _names(group):
        below = key_of(above, name)
        try:
            level = roots.find(below)
        except Refused:
            continue
        if is_array(level):
            found.append((below, level))
    if array is not None and all(below != path for below, _ in found):
        return []
    if not _is_pyramid([level.shape for _, level in found]):
        return []
    finest = found[0][1].shape
    return [
        {
            "path": below,
            "shape": level.shape,
            "scale": [a / b if b else 1.0 for a, b in zip(finest, level.shape, strict=True)],
        }
        for below, level in found
    ]


def _names(group: Any) -> list[str]:
    """The names of the levels: those that OME-Zarr lists, else 0, 1, 2 and so on."""
    multiscale = multiscale_of(group.attrs.asdict())
    if multiscale is not None:
        datasets = multiscale.get("datasets")
        listed = datasets if isinstance(datasets, list) else []
        names = [one.get("path") for one in listed[:_MOST_LEVELS] if isinstance(one, dict)]
        return [name for name in names if isinstance(name, str)]
    counted = []
    for level in range(_MOST_LEVELS):
        if str(level) not in group:
            break
        counted.append(str(level))
    return counted


def _is_pyramid(shapes: list[tuple[int, ...]]) -> bool:
    """Whether each level has the axes of the one before, none longer and one shorter."""
    if len(shapes) < 2:
        return False
    for before, after in itertools.pairwise(shapes):
        if len(before) != len(after) or before == after:
            return False
        if any(b > a for a, b in zip(before, after, strict=True)):
            return False
    return True


def first_array(roots: Roots, path: str) -> str | None:
    """The path of the array to show first: the nearest one, and then the largest picture."""
    waiting, visited = [path], 0
    while waiting and visited < _MOST_VISITED:
        arrays: list[tuple[bool, int, str]] = []
        groups: list[str] = []
        for above in waiting:
            visited += 1
            for name, member in roots.members(above, _MOST_MEMBERS):
                below = key_of(above, name)
                if is_array(member):
                    arrays.append((member.ndim >= 2, member.size, below))
                elif not isinstance(member, BrokenMember):
                    groups.append(below)
            if visited >= _MOST_VISITED:
                break
        if arrays:
            most = max(arrays, key=lambda one: (one[0], one[1]))
            return most[2]
        waiting = groups
    return None
