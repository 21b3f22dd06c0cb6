"""Consolidated metadata: the documents of a hierarchy in one document of its root.

In v2 this is ``.zmetadata`` next to the root's ``.zgroup``; in v3 it is a member of the root's
``zarr.json``, as in zarr-python 3. Both become a mapping of keys, relative to the root, to
documents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._errors import MetadataError, shorten
from zarrix._metadata.checks import members_of
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._stores.keys import ZARR_JSON

__all__ = ["Documents", "encode_v2", "encode_v3", "parse_v2", "parse_v3"]

Documents = dict[str, Any]
"""JSON values by key, such as ``{"a/.zarray": {...}}``."""

_EMPTY = {"kind": "inline", "must_understand": False, "metadata": {}}


def parse_v2(document: Any, where: str) -> Documents:
    """The documents in a ``.zmetadata``.

    Raises
    ------
    MetadataError
        It has another format, or is not a mapping of keys to documents.
    """
    members = json_loads(document, where)
    found = members.get("metadata") if isinstance(members, Mapping) else None
    version = members.get("zarr_consolidated_format") if isinstance(members, Mapping) else None
    if version != 1 or not isinstance(found, Mapping):
        raise MetadataError(
            f"{where}: key 'zarr_consolidated_format' is {shorten(version)}; allowed: 1, beside "
            "'metadata' with documents by key"
        )
    return {key: _without_own(one) for key, one in found.items()}


def encode_v2(documents: Documents) -> bytes:
    """The ``.zmetadata`` with the given documents, as zarr 2.18 writes it."""
    return json_dumps({"metadata": documents, "zarr_consolidated_format": 1})


def parse_v3(document: Any, where: str) -> Documents | None:
    """The documents in the ``zarr.json`` of a group, including its own; None if there are none."""
    members = json_loads(document, where)
    inline = members.get("consolidated_metadata") if isinstance(members, Mapping) else None
    if inline is None:
        return None
    found = inline.get("metadata") if isinstance(inline, Mapping) else None
    if not isinstance(found, Mapping) or inline.get("kind") != "inline":
        raise MetadataError(
            f"{where}: key 'consolidated_metadata' is {shorten(inline)}; allowed: kind 'inline', "
            "with documents by path under 'metadata'"
        )
    documents = {f"{path}/{ZARR_JSON}": _without_own(one) for path, one in found.items()}
    return {ZARR_JSON: members, **documents}


def encode_v3(root: Any, documents: Documents, where: str) -> bytes:
    """The group's ``zarr.json`` with other documents in it.

    Raises
    ------
    MetadataError
        ``root`` is not a JSON object; the message starts with ``where``.
    """
    paths = sorted(
        (key.removesuffix(f"/{ZARR_JSON}") for key in documents if key != ZARR_JSON),
        key=lambda path: (path.count("/"), path),
    )
    inside = {path: _with_own(documents[f"{path}/{ZARR_JSON}"]) for path in paths}
    members = dict(members_of(root, where))
    inline = {**_EMPTY, "metadata": inside}
    if "consolidated_metadata" in members or "node_type" not in members:
        members["consolidated_metadata"] = inline
    else:
        # In zarr-python's position: before the kind of the node.
        kind = members.pop("node_type")
        members.update(consolidated_metadata=inline, node_type=kind)
    return json_dumps(members, indent=2, sort_keys=False)


def _with_own(document: Any) -> Any:
    """zarr-python marks the groups inside like this; their members are next to them."""
    if document.get("node_type") != "group":
        return document
    members = {key: one for key, one in document.items() if key != "node_type"}
    return {**members, "consolidated_metadata": _EMPTY, "node_type": "group"}


def _without_own(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {key: one for key, one in document.items() if key != "consolidated_metadata"}
