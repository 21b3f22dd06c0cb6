"""HTML for notebooks: arrays, groups, reports and trees.

An array is at most 8 KB and a group at most 60 KB, without scripts. Making it never lists a remote
store. The HTML has its own style, in ``currentColor`` with opacities, so that it suits light and
dark. It is imported on use, because opening an array draws nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from zarrix._display.drawing import Axis, grid_svg
from zarrix._display.info import array_items, group_items
from zarrix._display.labels import label_of
from zarrix._display.table import info_table, text_html

if TYPE_CHECKING:
    from zarrix._display.tree import TreeViewer
    from zarrix._metadata.array import ArrayMetadata

__all__ = ["array_html", "group_html", "tree_html"]

_LONGEST_ATTRIBUTES = 2000
# A local store is asked what it has of an array if that is at most this many values.
_MOST_COUNTED = 4096
_MOST_NODES = 500


def array_html(array: Any, metadata: ArrayMetadata) -> str:
    """An array as a table next to a drawing of its chunks, and its attributes."""
    items = array_items(array, metadata, counted=_is_quick_to_count(array, metadata))
    return (
        '<div style="display: flex; gap: 1.5em; align-items: center">'
        f"{info_table(items)}{grid_svg(_axes(array, metadata))}</div>{_attributes(array)}"
    )


def group_html(group: Any) -> str:
    """A group as a table, its attributes, and the tree of its members."""
    # Members of a remote group are opened by a request each.
    level = 1 if group.store.is_remote else None
    tree = group.tree(level=level, max_nodes=_MOST_NODES)
    table = info_table(group_items(group, counted=False))
    return f"{table}{_attributes(group)}{tree_html(tree)}"


def _is_quick_to_count(array: Any, metadata: ArrayMetadata) -> bool:
    """Whether the stored chunks can be counted without going over a large or remote store."""
    kinds = {kind.__name__ for kind in type(array.chunk_store).__mro__}
    values = math.prod(metadata.chunk_grid_shape)
    return bool(kinds & {"LocalStore", "MemoryStore", "ZipStore"}) and values <= _MOST_COUNTED


def _axes(array: Any, metadata: ArrayMetadata) -> list[Axis]:
    """The axes of an array for its drawing."""
    names = _dimension_names(array, metadata)
    sharded = metadata.shard_codec is not None
    return [
        Axis(names[k], size, outer, inner if sharded else None)
        for k, (size, outer, inner) in enumerate(
            zip(metadata.shape, metadata.grid, metadata.inner_grid, strict=True)
        )
    ]


def _dimension_names(array: Any, metadata: ArrayMetadata) -> list[str]:
    """The names of the axes, where the metadata or, in v2, xarray's attribute has them."""
    found = metadata.extra.get("dimension_names") if array.zarr_format == 3 else None
    if found is None and "_ARRAY_DIMENSIONS" in array.attrs:
        found = array.attrs["_ARRAY_DIMENSIONS"]
    if not isinstance(found, list | tuple) or len(found) != array.ndim:
        return [""] * array.ndim
    return [str(name or "") for name in found]


def _attributes(node: Any) -> str:
    """The attributes as a list that opens on a click; empty if there are none."""
    found = dict(node.attrs)
    if not found:
        return ""
    summary = f"<summary>Attributes ({len(found)})</summary>"
    return f"<details>{summary}{info_table(_attribute_rows(found))}</details>"


def _attribute_rows(attributes: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    left = _LONGEST_ATTRIBUTES
    for name, value in attributes.items():
        shown = json.dumps(value)
        left -= len(text_html(name)) + len(text_html(shown))
        if left < 0:
            yield "...", "and more"
            return
        yield name, shown


def tree_html(tree: TreeViewer) -> str:
    """A hierarchy as boxes that open and close; at most ``tree.max_nodes`` members are shown."""
    left = float("inf") if tree.max_nodes is None else tree.max_nodes

    def html(node: Any, depth: int) -> str:
        nonlocal left
        label = escape(label_of(node))
        inner, count = "", 0
        for child in tree.iterate(node, depth):
            count += 1
            if left <= 0:
                inner += '<div style="margin-left: 1.2em">... and more</div>'
                break
            left -= 1
            inner += html(child, depth + 1)
        if not count:
            return f'<div style="margin-left: 1.2em">{label}</div>'
        limit = tree.expand if tree.expand is not True else depth + 1
        is_open = ' open=""' if depth == 0 or depth < limit else ""
        tag = f'<details{is_open} style="margin-left: 1em">'
        return f"{tag}<summary>{label}</summary>{inner}</details>"

    with tree.listed_once():
        return f'<div class="zarrix-tree">{html(tree.group, 0)}</div>'
