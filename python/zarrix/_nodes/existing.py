"""The node to open, by file mode; any obstacle is an error. And the consolidated metadata to open a
group through.
"""

from __future__ import annotations

from typing import Any, Literal

from zarrix._errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    PathNotFoundError,
    ReadOnlyError,
)
from zarrix._metadata.literals import Mode
from zarrix._nodes.location import Location
from zarrix._nodes.nodes import Node, describe, find, in_other_format
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.keys import ZMETADATA

__all__ = [
    "MODES",
    "check_mode",
    "existing",
    "mode_at",
    "not_found",
    "require",
    "through_consolidated",
]

MODES = ("r", "r+", "a", "w", "w-", "x")

_CONTAINS = {"array": ContainsArrayError, "group": ContainsGroupError}
_NOT_FOUND = {"array": ArrayNotFoundError, "group": GroupNotFoundError}
_ARTICLE = {"array": "an array", "group": "a group"}


def check_mode(mode: Any) -> None:
    """Raise an error for an unknown mode."""
    if mode not in MODES:
        raise ValueError(f"mode is one of {', '.join(map(repr, MODES))}, not {mode!r}")


def mode_at(mode: Mode | None, version: str | None) -> Mode:
    """The mode to open a node by: that of a version only reads, and None is ``'a'``.

    Raises
    ------
    ReadOnlyError
        The mode would replace or create a node of a version.
    """
    if mode is None:
        mode = "a"
    check_mode(mode)
    if version is None:
        return mode
    if mode in ("w", "w-", "x"):
        raise ReadOnlyError(
            f"the version {version!r} cannot be written, and mode={mode!r} would; mode='r' reads it"
        )
    return "r"


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
        The existing node, if the caller has looked already.

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node of the other kind exists, or any node if ``mode`` only creates.
    ArrayNotFoundError, GroupNotFoundError
        The node does not exist, and ``mode`` does not create it.
    ReadOnlyError
        Under `zarrix.as_zarr`, the store is read-only, and ``mode`` is ``'r+'``.
    """
    if mode == "w":
        return None
    node = node or find(location.store, location.path, location.zarr_format)
    if node is None:
        if mode in ("r", "r+"):
            raise not_found(location, kind)
        return None
    if mode == "r+" and DIALECT.is_zarr3 and location.store.read_only:
        raise ReadOnlyError(
            f"the store {location.store._user_store!r} is read-only, and mode='r+' writes; "
            "mode='r' reads it"
        )
    if node.kind != kind:
        raise _CONTAINS[node.kind](
            f"path {location.describe()} contains {_ARTICLE[node.kind]}, not {_ARTICLE[kind]}; "
            f"open it with open_{node.kind}()"
        )
    if mode in ("w-", "x"):
        raise _CONTAINS[kind](
            f"path {location.describe()} contains {_ARTICLE[kind]}, and mode {mode!r} creates only"
        )
    return node


def require(location: Location, kind: Literal["array", "group"]) -> Node:
    """The existing array or group; raises the errors of `existing`."""
    node = existing(location, "r", kind)
    assert node is not None
    return node


def not_found(location: Location, kind: Literal["array", "group"]) -> Exception:
    """The error for a node that does not exist."""
    other = in_other_format(location.store, location.path, location.zarr_format)
    reason = other or "; it does not exist"
    return _NOT_FOUND[kind](f"no {kind} at {location.describe()}{reason}")


def through_consolidated(location: Location, node: Node, key: bool | str | None) -> Location:
    """The location through the consolidated metadata of its group; None uses what there is.

    Raises
    ------
    GroupNotFoundError
        As in zarr-python 3: a node is in it, and the group of the node is not.
    """
    store, path, zarr_format, _ = location
    if key is None:
        is_used = getattr(store._user_store, "supports_consolidated_metadata", True)
        has_none = node.zarr_format == 3 and b'"consolidated_metadata"' not in node.document
        if has_none or not is_used:
            return location
    # Import time: only consolidated metadata needs it.
    from zarrix._nodes.consolidated_store import open_store

    try:
        through = open_store(store, path, zarr_format, key if isinstance(key, str) else ZMETADATA)
    except PathNotFoundError:
        if key is None:
            return location
        raise
    orphan = through.member_without_group() if DIALECT.is_zarr3 else None
    if orphan is not None:
        raise GroupNotFoundError(
            f"{describe(store, path)}: its consolidated metadata has {orphan!r}, and not the group "
            "of that; bring it up to date with consolidate_metadata(), or open the group with "
            "use_consolidated=False"
        )
    return location._replace(store=through)
