"""The metadata of groups.

`zarrix._metadata.v2` and `zarrix._metadata.v3` read and write the documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from zarrix._errors import MetadataError
from zarrix._metadata.json import json_dumps
from zarrix._metadata.literals import Format
from zarrix._runtime.buffers import default_buffer_prototype
from zarrix._stores.keys import GROUP_DOCUMENT, ZATTRS

__all__ = ["GROUP_ENCODERS", "GROUP_PARSERS", "GroupMetadata"]

# Members of a document that have an attribute here.
_KNOWN = ("attributes", "consolidated_metadata", "node_type", "zarr_format")


@dataclass(frozen=True)
class GroupMetadata:
    """The metadata of a group, without its members.

    Attributes
    ----------
    attributes : Mapping
        In v2, which has a separate document for them, set only in the object from
        ``Group.metadata``.
    zarr_format : int
    extra : Mapping
        In v2, members of the document that this version does not know; in v3, the complete
        document. They are written back.
    consolidated_metadata : ConsolidatedMetadata or None
        The metadata of the members that is stored in the group.

    Examples
    --------
    >>> import zarrix as zarr
    >>> group = zarr.create_group(attributes={"site": "Kiel"})
    >>> group.metadata.attributes, group.metadata.zarr_format
    ({'site': 'Kiel'}, 3)
    """

    attributes: Mapping[str, Any] = field(default_factory=dict)
    zarr_format: Format = 3
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)
    consolidated_metadata: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.attributes is None:
            # As programs for zarr-python 3 make them.
            object.__setattr__(self, "attributes", {})

    def __eq__(self, other: object) -> bool:
        """Whether they describe the same group: its format, attributes, and unknown members."""
        return isinstance(other, GroupMetadata) and self._compared() == other._compared()

    def _compared(self) -> tuple[Any, ...]:
        return self.zarr_format, dict(self.attributes), self.extra_fields

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GroupMetadata:
        """The metadata that a document describes; the reverse of `to_dict`.

        Parameters
        ----------
        data : mapping of str to JSON value
            In v2 it may have the attributes as well.

        Returns
        -------
        GroupMetadata

        Raises
        ------
        MetadataError
            It does not describe a group.

        Examples
        --------
        >>> from zarrix.core.metadata import GroupMetadata
        >>> GroupMetadata.from_dict({"zarr_format": 3, "node_type": "group"}).attributes
        {}
        """
        members = dict(data)
        zarr_format = members.get("zarr_format")
        if zarr_format not in GROUP_PARSERS:
            raise MetadataError(f"key 'zarr_format' is {zarr_format!r}; expected 2 or 3")
        attributes = members.pop("attributes", {}) if zarr_format == 2 else None
        found = GROUP_PARSERS[zarr_format](members)
        return found if attributes is None else replace(found, attributes=dict(attributes))

    @property
    def extra_fields(self) -> dict[str, Any]:
        """Members of the document that this version does not know."""
        return {name: one for name, one in self.extra.items() if name not in _KNOWN}

    @property
    def document_name(self) -> str:
        """Last part of the key of the document."""
        return GROUP_DOCUMENT[self.zarr_format]

    @property
    def node_type(self) -> str:
        """The kind of node: ``"group"``."""
        return "group"

    def to_dict(self) -> dict[str, Any]:
        """The document, as JSON values.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.create_group().metadata.to_dict()
        {'attributes': {}, 'zarr_format': 3, 'node_type': 'group'}
        """
        members: dict[str, Any] = json.loads(GROUP_ENCODERS[self.zarr_format](self))
        return members

    def to_buffer_dict(self, prototype: Any = None) -> dict[str, Any]:
        """The documents as buffers, as zarr-python 3 stores them.

        Parameters
        ----------
        prototype : BufferPrototype, optional
            The class of the buffers.

        Returns
        -------
        dict of str to Buffer
            In v2 with the attributes, if there are any.

        Raises
        ------
        TypeError
            An attribute cannot be written as JSON.

        Examples
        --------
        >>> import zarrix as zarr
        >>> [*zarr.create_group().metadata.to_buffer_dict()]
        ['zarr.json']
        """
        documents = {self.document_name: GROUP_ENCODERS[self.zarr_format](self)}
        if self.zarr_format == 2 and self.attributes:
            documents[ZATTRS] = json_dumps(self.attributes)
        made = (prototype or default_buffer_prototype()).buffer
        return {name: made.from_bytes(text) for name, text in documents.items()}


# Pickles name a class by its module: a public one, which does not move.
GroupMetadata.__module__ = "zarrix.core.metadata"

GROUP_PARSERS: dict[int, Callable[[Any], GroupMetadata]] = {}
"""The readers of group documents by format; v2 and v3 register theirs."""

GROUP_ENCODERS: dict[int, Callable[[GroupMetadata], bytes]] = {}
"""The writers of group documents by format; v2 and v3 register theirs."""
