"""Short texts that say what an object is: its label in a tree, its type, its size in bytes."""

from __future__ import annotations

from typing import Any

from zarrix._errors import human_readable_size
from zarrix._nodes.broken import BrokenMember

__all__ = ["byte_count", "label_of", "type_name"]


def byte_count(size: int) -> str:
    """``size`` as the info report prints it: exact, and rounded where that is easier to read."""
    return f"{size} ({human_readable_size(size)})" if size > 2**10 else str(size)


def type_name(obj: Any) -> str:
    """Module and name of the class of ``obj``."""
    return f"{type(obj).__module__}.{type(obj).__name__}"


def label_of(node: Any) -> str:
    """Name of a node in a tree; of an array with shape and dtype, of a broken one with why."""
    if isinstance(node, BrokenMember):
        return node.label
    name = node.name.split("/")[-1] if node.name else ""
    label = name or "/"
    return f"{label} {node.shape} {node.dtype}" if hasattr(node, "shape") else label
