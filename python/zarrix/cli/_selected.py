"""What ``--sel`` selects of the node that a path names: dates, degrees and names, never indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from zarrix.cli._failures import UsageError
from zarrix.cli._path import open_path, split, store_of

__all__ = ["array_at", "key_in", "node_at", "part_of", "source_at", "store_at", "written"]


def array_at(path: str, options: Mapping[str, Any] | None) -> Any:
    """The array at a path.

    Raises
    ------
    UsageError
        There is a group.
    """
    node = open_path(path, options)
    if not hasattr(node, "shape"):
        raise UsageError(f"{path} is a group; name one of its arrays ('zarrix ls')")
    return node


def key_in(array: Any, select: str, labels: str) -> tuple[Any, ...]:
    """The indices that ``-s`` or ``--sel`` means in an array; empty for all of it.

    Raises
    ------
    UsageError
        Both are given.
    LabelError
        A label is not there.
    """
    # Import time: --help does not need them.
    from zarrix._array.dimension_names import names_of
    from zarrix._selection.text import selection_of

    if not labels:
        return selection_of(select, names_of(array), array.ndim)
    if select:
        raise UsageError("-s selects by indices and --sel by labels: give one of them")
    # Import time, too.
    from zarrix._hierarchy.subset import slice_of

    axes = part_of(array, labels)._axes
    return tuple(slice_of(*axis) if isinstance(axis, tuple) else axis for axis in axes)


def written(key: tuple[Any, ...]) -> str:
    """A key as the text of ``-s``.

    Raises
    ------
    UsageError
        It has indices that are not a range.
    """
    parts = []
    for one in key:
        if not isinstance(one, int | slice):
            raise UsageError("the labels are not side by side; 'show' takes one label or a slice")
        ends = (one.start, one.stop, one.step) if isinstance(one, slice) else (one,)
        parts.append(":".join("" if end is None else str(end) for end in ends))
    return ",".join(parts)


def part_of(node: Any, labels: str) -> Any:
    """The part of an array (a lazy view) or of a group (a subset) that has these labels."""
    # Import time: --help does not need them.
    from zarrix._array.by_label import lazy_by_label
    from zarrix._hierarchy.subset import subset_by_label
    from zarrix._labels._key import Manner
    from zarrix._labels._text import labels_of

    # A range in a shell has no direction.
    manner = Manner(turns=True)
    if hasattr(node, "shape"):
        return lazy_by_label(node, labels_of(labels), manner)
    return subset_by_label(node, labels_of(labels), manner, None)


def node_at(path: str, options: Mapping[str, Any] | None, labels: str) -> Any:
    """The node at a path, or the part of it that has these labels, read when it is used."""
    if not labels:
        return open_path(path, options)
    # Import time: --help does not need it.
    import zarrix as zarr

    return zarr.open(store_at(path, options, labels), mode="r")


def source_at(path: str, options: Mapping[str, Any] | None, labels: str) -> Any:
    """What the functions of `zarrix.jobs` take for a path, or for the part with these labels."""
    if labels or split(path)[1]:
        # Part of a node, or a node inside of a file.
        return node_at(path, options, labels)
    return store_of(path, options)


def store_at(
    path: str,
    options: Mapping[str, Any] | None,
    labels: str,
    *,
    grid: Literal["same", "source", "rectilinear"] = "same",
    is_grown: bool = False,
) -> Any:
    """The part of the node at a path that has these labels, as a store."""
    # Import time: --help does not need it.
    from zarrix._hierarchy.subset_store import SubsetStore

    node = open_path(path, options)
    part = part_of(node, labels)
    if not hasattr(node, "shape"):
        return part.as_store(grid, align="out" if is_grown else None)
    if grid == "source":
        raise UsageError(f"--grid source is for groups, and {path} is an array")
    return SubsetStore({"": part}, is_rectilinear=grid == "rectilinear")
