"""Arrays, groups and trees as JSON, for programs."""

from __future__ import annotations

from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._display.tree import TreeViewer
from zarrix._metadata.json import json_loads
from zarrix._nodes import nodes
from zarrix._nodes.broken import BrokenMember

__all__ = ["described", "nested"]


def described(node: Any) -> dict[str, Any]:
    """The output of ``zarrix info``, with the stored metadata."""
    found: dict[str, Any] = {
        "name": node.name or "/",
        "kind": "array" if isinstance(node, Array) else "group",
        "zarr_format": node.metadata.zarr_format,
        "store": repr(node.store),
        "attributes": node.attrs.asdict(),
    }
    if isinstance(node, Array):
        chunks, shards = metadata_of(node).partition
        found |= {
            "shape": node.shape,
            "dtype": str(node.dtype),
            "chunks": chunks,
            "shards": shards,
            "nbytes": node.nbytes,
            "nbytes_stored": int(node.nbytes_stored),
            "nchunks": node.nchunks,
            "nchunks_initialized": node.nchunks_initialized,
            "metadata": json_loads(nodes.array_document(metadata_of(node))),
        }
    else:
        found |= {"arrays": list(node.array_keys()), "groups": list(node.group_keys())}
    return found


def nested(tree: TreeViewer) -> dict[str, Any]:
    """The output of ``zarrix tree``: nodes with their members."""

    def one(node: Any, depth: int) -> dict[str, Any]:
        name = (node.name or "").rpartition("/")[2] or "/"
        if isinstance(node, BrokenMember):
            return {"name": name, "kind": "broken", "reason": str(node.reason)}
        if hasattr(node, "shape"):
            return {
                "name": name,
                "kind": "array",
                "shape": list(node.shape),
                "dtype": str(node.dtype),
            }
        members = [one(child, depth + 1) for child in tree.children(node, depth)]
        return {"name": name, "kind": "group", "members": members}

    with tree.listed_once():
        return one(tree.group, 0)
