"""Consolidated metadata: the documents of a hierarchy in one document of its root.

In v2 this is ``.zmetadata`` next to the root's ``.zgroup``; in v3 it is a member of the root's
``zarr.json``, as in zarr-python 3. Both become a mapping of keys, relative to the root, to
documents.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zarrix._errors import MetadataError, PathNotFoundError, shorten
from zarrix._metadata import v2, v3
from zarrix._metadata.checks import members_of, wrong
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.json import json_dumps, json_loads
from zarrix._stores.keys import COMMIT_MEMBER, ZARR_JSON, ZARRAY, ZATTRS, ZGROUP

__all__ = ["ConsolidatedMetadata", "Documents", "as_objects", "commit_of", "encode", "parse"]

Documents = dict[str, Any]
"""JSON values by key, such as ``{"a/.zarray": {...}}``."""

_EMPTY = {"kind": "inline", "must_understand": False, "metadata": {}}


def parse_v2(document: Any, label: str) -> Documents:
    """The documents in a ``.zmetadata``.

    Raises
    ------
    MetadataError
        It has another format, or is not a mapping of keys to documents.
    """
    members = json_loads(document, label)
    found = members.get("metadata") if isinstance(members, Mapping) else None
    version = members.get("zarr_consolidated_format") if isinstance(members, Mapping) else None
    if version != 1 or not isinstance(found, Mapping):
        raise MetadataError(
            f"{label}: key 'zarr_consolidated_format' is {shorten(version)}; allowed: 1, beside "
            "'metadata' with documents by key"
        )
    return {key: _without_own(one) for key, one in found.items()}


def encode_v2(documents: Documents, old: Any = None, commit: Any = None) -> bytes:
    """The ``.zmetadata`` with the given documents, as zarr 2.18 writes it, and with the members of
    the ``old`` one that are of other programs.
    """
    theirs: dict[str, Any] = {}
    with contextlib.suppress(MetadataError):
        # A damaged one is replaced.
        theirs = dict(members_of(old or b"{}", ""))
    if commit is not None:
        theirs[COMMIT_MEMBER] = commit
    return json_dumps({**theirs, "metadata": documents, "zarr_consolidated_format": 1})


def parse_v3(document: Any, label: str) -> Documents | None:
    """The documents in the ``zarr.json`` of a group, including its own; None if there are none."""
    members = json_loads(document, label)
    inline = members.get("consolidated_metadata") if isinstance(members, Mapping) else None
    if inline is None:
        return None
    found = inline.get("metadata") if isinstance(inline, Mapping) else None
    if not isinstance(found, Mapping) or inline.get("kind") != "inline":
        raise MetadataError(
            f"{label}: key 'consolidated_metadata' is {shorten(inline)}; allowed: kind 'inline', "
            "with documents by path under 'metadata'"
        )
    documents = {f"{path}/{ZARR_JSON}": _without_own(one) for path, one in found.items()}
    return {ZARR_JSON: members, **documents}


def encode_v3(root: Any, documents: Documents, label: str, commit: Any = None) -> bytes:
    """The group's ``zarr.json`` with other documents in it.

    Raises
    ------
    MetadataError
        ``root`` is not a JSON object; the message starts with ``label``.
    """
    paths = sorted(
        (key.removesuffix(f"/{ZARR_JSON}") for key in documents if key != ZARR_JSON),
        key=lambda path: (path.count("/"), path),
    )
    inside = {path: _with_own(documents[f"{path}/{ZARR_JSON}"]) for path in paths}
    members = dict(members_of(root, label))
    stored = members.get("consolidated_metadata")
    theirs = stored if isinstance(stored, Mapping) else {}
    noted = {} if commit is None else {COMMIT_MEMBER: commit}
    inline = {**theirs, **_EMPTY, **noted, "metadata": inside}
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


def encode(
    old: Any, documents: Documents, zarr_format: int, label: str, commit: Any = None
) -> bytes:
    """The consolidated metadata of either format; of v3 in the group's document ``old``.

    ``commit`` is what a commit notes in it.
    """
    if zarr_format == 2:
        return encode_v2(documents, old, commit)
    if old is None:
        raise PathNotFoundError("the group is gone, and its metadata with it")
    return encode_v3(old, documents, label, commit)


def parse(document: Any, zarr_format: int, label: str) -> Documents | None:
    """The documents in consolidated metadata of either format; None if there are none."""
    if document is None:
        return None
    read = parse_v2 if zarr_format == 2 else parse_v3
    return read(document, label)


def commit_of(document: Any, zarr_format: int) -> Any:
    """The id of the last commit that is named in consolidated metadata; None if there is none."""
    member = commit_member(document, zarr_format)
    return member.get("id") if isinstance(member, Mapping) else None


def commit_member(document: Any, zarr_format: int) -> Any:
    """What a commit has noted in consolidated metadata; None if there is nothing."""
    members: Any = {}
    with contextlib.suppress(MetadataError):
        members = members_of(document or b"{}", "")
    if zarr_format == 3:
        members = members.get("consolidated_metadata")
    return members.get(COMMIT_MEMBER) if isinstance(members, Mapping) else None


def with_commit_member(
    document: bytes | None, zarr_format: int, changes: Mapping[str, Any], label: str
) -> bytes | None:
    """Consolidated metadata in which what a commit has noted is changed; None stays None."""
    member, known = commit_member(document, zarr_format), parse(document, zarr_format, label)
    if document is None or known is None or not isinstance(member, Mapping):
        return document
    return encode(document, known, zarr_format, label, {**member, **changes})


@dataclass(frozen=True)
class ConsolidatedMetadata:
    """The metadata of the members of a group that is stored in the group.

    Attributes
    ----------
    metadata : dict of str to ArrayMetadata or GroupMetadata
        Metadata of its direct members, by name; groups have their own consolidated metadata.
    kind : str
        How it is stored: "inline", in the document of the group.
    must_understand : bool
        Whether readers that do not know it must not read the group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.create_group()
    >>> z = root.create_array("a/b", shape=3, dtype="i4")
    >>> found = zarr.consolidate_metadata(root.store).metadata.consolidated_metadata
    >>> sorted(found.metadata), sorted(found.flattened_metadata)
    (['a'], ['a', 'a/b'])
    """

    metadata: dict[str, Any]
    kind: str = field(default="inline", repr=False)
    must_understand: bool = field(default=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The ``consolidated_metadata`` member of the document of a v3 group.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.core.group import ConsolidatedMetadata
        >>> ConsolidatedMetadata({}).to_dict()
        {'kind': 'inline', 'must_understand': False, 'metadata': {}}
        """
        members = {path: one.to_dict() for path, one in self.flattened_metadata.items()}
        return {"kind": self.kind, "must_understand": self.must_understand, "metadata": members}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ConsolidatedMetadata:
        """The inverse of `to_dict`.

        Parameters
        ----------
        data : mapping
            The ``consolidated_metadata`` member of the document of a v3 group.

        Returns
        -------
        ConsolidatedMetadata

        Raises
        ------
        MetadataError
            ``data`` is not such a member.

        Examples
        --------
        >>> from zarrix.core.group import ConsolidatedMetadata
        >>> member = {"kind": "inline", "must_understand": False, "metadata": {}}
        >>> ConsolidatedMetadata.from_dict(member)
        ConsolidatedMetadata(metadata={})
        """
        root = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": dict(data)}
        documents = parse_v3(json_dumps(root), "consolidated_metadata")
        assert documents is not None
        return as_objects(documents, 3)

    @property
    def flattened_metadata(self) -> dict[str, Any]:
        """The metadata of all members, by path."""
        found: dict[str, Any] = {}
        for name, one in self.metadata.items():
            found[name] = one
            inside = getattr(one, "consolidated_metadata", None)
            if inside is not None:
                found.update({f"{name}/{k}": v for k, v in inside.flattened_metadata.items()})
        return found


def as_objects(documents: Documents, zarr_format: int) -> ConsolidatedMetadata:
    """The documents of the members of a group as metadata objects."""
    found: dict[str, Any] = {}
    for name in sorted({key.split("/", 1)[0] for key in documents if "/" in key}):
        own = {k[len(name) + 1 :]: v for k, v in documents.items() if k.startswith(f"{name}/")}
        document = own.get(ZARR_JSON, {})
        if not isinstance(document, Mapping):
            raise wrong("consolidated_metadata", name, document, "an object")
        if zarr_format == 3 and document.get("node_type") == "array":
            found[name] = v3.parse_array(own[ZARR_JSON], f"{name}/{ZARR_JSON}")
        elif zarr_format == 3 and ZARR_JSON in own:
            group = v3.parse_group(own[ZARR_JSON], f"{name}/{ZARR_JSON}")
            found[name] = replace(group, consolidated_metadata=as_objects(own, 3))
        elif ZARRAY in own:
            array = v2.parse_array(own[ZARRAY], f"{name}/{ZARRAY}")
            found[name] = replace(array, zattrs=own.get(ZATTRS, {}))
        elif ZGROUP in own:
            inside = as_objects(own, 2)
            found[name] = GroupMetadata(own.get(ZATTRS, {}), 2, consolidated_metadata=inside)
    return ConsolidatedMetadata(found)
