"""The node that is to be opened, by file mode; what is in its way is an error."""

from __future__ import annotations

from typing import Any, Literal

from zarrix._errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
)
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node, in_other_format

__all__ = ["check_mode", "existing", "not_found", "require"]

MODES = ("r", "r+", "a", "w", "w-", "x")

_CONTAINS = {"array": ContainsArrayError, "group": ContainsGroupError}
_NOT_FOUND = {"array": ArrayNotFoundError, "group": GroupNotFoundError}
_ARTICLE = {"array": "an array", "group": "a group"}


def check_mode(mode: Any) -> None:
    """Refuse a mode that does not exist."""
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(map(repr, MODES))}, not {mode!r}")


def existing(
    location: Location, mode: str, kind: Literal["array", "group"], node: Node | None = None
) -> Node | None:
    """The array or group to open; None if it is to be created.

    Parameters
    ----------
    location : Location
    mode : str
    kind : "array" or "group"
    node : Node, optional
        What is there, where the caller has looked.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node of the other kind is there, or any node where ``mode`` only creates.
    ArrayNotFoundError, GroupNotFoundError
        Nothing is there, and ``mode`` does not create.
    """
    if mode == "w":
        return None
    node = node or location.find()
    if node is None:
        if mode in ("r", "r+"):
            raise not_found(location, kind)
        return None
    if node.kind != kind:
        raise _CONTAINS[node.kind](
            f"{location.describe()} contains {_ARTICLE[node.kind]}, not {_ARTICLE[kind]}; "
            f"open it with open_{node.kind}()"
        )
    if mode in ("w-", "x"):
        raise _CONTAINS[kind](
            f"{location.describe()} contains {_ARTICLE[kind]}, and mode {mode!r} creates only"
        )
    return node


def require(location: Location, kind: Literal["array", "group"]) -> Node:
    """The array or group that is there; raises as `existing` does."""
    node = existing(location, "r", kind)
    assert node is not None
    return node


def not_found(location: Location, kind: Literal["array", "group"]) -> Exception:
    """The error that no such node is stored there."""
    other = in_other_format(location.store, location.path, location.zarr_format)
    return _NOT_FOUND[kind](f"no {kind} at {location.describe()}{other}")
