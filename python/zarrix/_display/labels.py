"""Short texts that describe an object: its label in a tree, its type, its size in bytes."""

from __future__ import annotations

from typing import Any

from zarrix._nodes.broken import BrokenMember
from zarrix._runtime.sizes import human_readable_size

__all__ = ["byte_count", "label_of", "ratio_text", "type_name"]


def byte_count(size: int) -> str:
    """``size`` for the info report: exact, and rounded if that is easier to read."""
    return f"{size} ({human_readable_size(size)})" if size > 2**10 else str(size)


def ratio_text(nbytes: int, stored: int) -> str:
    """How much smaller, or larger, than its elements an array is stored."""
    if stored > nbytes:
        return f"{stored / nbytes:.2f}x larger" if nbytes else "larger"
    return f"{nbytes / stored:.2f}x smaller" if stored else "not stored"


def type_name(obj: Any) -> str:
    """Module and name of the class of ``obj``."""
    return f"{type(obj).__module__}.{type(obj).__name__}"


def label_of(node: Any) -> str:
    """Label of a node in a tree, with shape and dtype, or the reason why it is broken."""
    if isinstance(node, BrokenMember):
        return node.label
    name = node.name.split("/")[-1] if node.name else ""
    label = name or "/"
    return f"{label} {node.shape} {node.dtype}" if hasattr(node, "shape") else label
