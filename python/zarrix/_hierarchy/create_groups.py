"""Creating groups: in a group, at the root of a store, and whole hierarchies from metadata."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from zarrix._errors import ContainsArrayError, ContainsGroupError
from zarrix._hierarchy.state import GroupState
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes.attributes import require_json
from zarrix._nodes.consolidate import updated_once
from zarrix._nodes.location import Found, Location
from zarrix._nodes.many import create_many
from zarrix._nodes.new import group_metadata, new_node
from zarrix._nodes.nodes import Node, group_document, node_of
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import takes
from zarrix._stores.base import Store
from zarrix._stores.path import normalize_storage_path

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["GroupCreation", "create_nodes"]


class GroupCreation(GroupState):
    """The methods of groups that create groups."""

    @classmethod
    def from_store(
        cls,
        store: Any,
        *,
        attributes: Mapping[str, Any] | None = None,
        zarr_format: Format = 3,
        overwrite: bool = False,
    ) -> Self:
        """Create a group at the root of a store.

        Parameters
        ----------
        store : Store, mapping, str or Path
        attributes : mapping, optional
        zarr_format : {3, 2}
        overwrite : bool
            Replace an existing node.

        Returns
        -------
        Group

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrix as zarr
        >>> group = zarr.Group.from_store("data.zarr", attributes={"site": "Kiel"})
        >>> group.zarr_format, group.attrs["site"]
        (3, 'Kiel')
        """
        location = Location.of(store, "", None, zarr_format)
        new = group_metadata(zarr_format, attributes)
        with new_node(location, new, overwrite=overwrite, attributes=attributes):
            return cls._at(location, node_of(new))

    def create_group(
        self, name: str, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """Create a group, and its missing parents.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        overwrite : bool
            Replace an existing node.
        attributes : mapping, optional
            Of the new group.

        Returns
        -------
        Group

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.
        TypeError
            JSON cannot express an attribute; nothing is stored.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> site = root.create_group("sites/kiel", attributes={"elevation": 5})
        >>> site, site.attrs["elevation"]
        (<zarrix.hierarchy.Group '/sites/kiel'>, 5)
        """
        path = self._new_path(name, may_restore=True)
        require_json(attributes)
        new = group_metadata(self._zarr_format, attributes)
        document, location = group_document(new), self._location_of(path)
        keywords: dict[str, Any] = {"overwrite": overwrite, "attributes": attributes}
        with self._writing(), new_node(location, new, document, **keywords):
            made: Group = self._open_node(path, Node(self._zarr_format, "group", document))
            return made

    @takes()
    def create_groups(
        self, *names: str, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> tuple[Group, ...]:
        """Create several groups, as `create_group` does.

        Parameters
        ----------
        *names : str
            Names, or paths relative to this group.
        overwrite : bool
            Replace an existing node.
        attributes : mapping, optional
            Of each new group.

        Returns
        -------
        tuple of Group

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false; the groups before it are created.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.create_groups("raw", "clean")
        (<zarrix.hierarchy.Group '/raw'>, <zarrix.hierarchy.Group '/clean'>)
        """
        return tuple(self.create_group(name, overwrite, attributes) for name in names)

    def require_group(
        self, name: str, overwrite: bool = False, attributes: Mapping[str, Any] | None = None
    ) -> Group:
        """The group of that name, created if it does not exist.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        overwrite : bool
            Replace an array of that name; under `zarrix.as_zarr` a group as well, as in
            zarr-python 3.
        attributes : mapping, optional
            Of the group, if it is created.

        Returns
        -------
        Group

        Raises
        ------
        ContainsArrayError
            An array is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.require_group("raw").attrs["unit"] = "K"
        >>> root.require_group("raw").attrs["unit"]
        'K'
        """
        path = self._item_path(name)
        node = self._node(path)
        if node is None or node.kind != "group" or (overwrite and DIALECT.is_zarr3):
            try:
                return self.create_group(name, overwrite, attributes)
            except ContainsGroupError:
                # Another process may have created it meanwhile.
                node = self._node(path)
                if node is None or node.kind != "group":
                    raise
        with self._writing():
            found: Group = self._open_node(path, node)
            return found

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """The groups of these names, each created if it does not exist.

        Parameters
        ----------
        *names : str
            Names, or paths relative to this group.

        Returns
        -------
        tuple of Group

        Raises
        ------
        ContainsArrayError
            An array has one of the names; the groups before it exist.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> raw, clean = root.require_groups("raw", "clean")
        >>> sorted(root)
        ['clean', 'raw']
        """
        return tuple(self.require_group(name) for name in names)

    @contextlib.contextmanager
    def batch(self) -> Iterator[Self]:
        """Make many changes below this group, with one update of consolidated metadata.

        Nodes, attributes and chunks are stored at once. Consolidated metadata, which each
        change of metadata otherwise rewrites as a whole, is brought up to date when the block ends,
        also if it ends by an error; until then it shows the nodes as they were when the block
        began, apart from what other processes change.

        The block does not ask twice which groups exist and which names in them are free, so that a
        new node on a server is one request. It stores a node only if none is there, also one that
        another process has created meanwhile. A group that another process removes while nodes are
        created in it is made again at the end, without its attributes.

        It covers what any thread of this process changes below the group through the same store,
        and several processes may have a batch of the same group at once. If the process is killed
        inside, `consolidate_metadata` brings consolidated metadata up to date.

        Yields
        ------
        Group
            This group.

        Raises
        ------
        OSError
            The update failed; its note says what is stored and what is not.

        See Also
        --------
        zarrix.commit : Several changes that become visible together, or not at all.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.consolidate_metadata(zarr.group().store)
        >>> with root.batch():
        ...     for name in ("u", "v", "w"):
        ...         z = root.create_array(name, shape=10, dtype="f4")
        >>> list(zarr.open_consolidated(root.store))
        ['u', 'v', 'w']
        """
        with updated_once(self._location.store, self._location.path, self._zarr_format):
            yield self

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Create arrays and groups from their metadata, all of which is checked first.

        Parameters
        ----------
        nodes : mapping of str to metadata
            By path relative to this group; see `zarrix.create_hierarchy`.
        overwrite : bool
            Replace an existing node.

        Returns
        -------
        iterator of (str, Array or Group)
            The path as in ``nodes``, and the object; all exist when the call returns.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at one of the paths, and ``overwrite`` is false.
        MetadataError
            One of ``nodes`` does not describe an array or group.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> like = root.create_array("a", shape=3, dtype="i4").metadata
        >>> [node.name for path, node in root.create_hierarchy({"x/b": like, "x/c": like})]
        ['/x/b', '/x/c']
        """
        below = {self._item_path(path): one for path, one in nodes.items()}
        with self._writing():
            made = create_nodes(self._location.store, below, self._zarr_format, overwrite)
        opened = [self._open_node(one.location.path, one.node) for one in made]
        return iter(list(zip(nodes, opened, strict=True)))


def create_nodes(
    store: Store, nodes: Mapping[str, Any], zarr_format: Format | None, overwrite: bool
) -> list[Found]:
    """Store metadata of several nodes, parents first; all of it is checked before the first is
    stored. The nodes, in the order of ``nodes``.
    """
    parsed = {normalize_storage_path(path): _as_metadata(one) for path, one in nodes.items()}
    formats = {one.zarr_format for one in parsed.values()}
    if zarr_format is not None:
        formats.add(zarr_format)
    if len(formats) > 1:
        raise ValueError("the nodes of a hierarchy have one format, not 2 and 3")
    for path in parsed:
        above = [path.rsplit("/", depth)[0] for depth in range(1, path.count("/") + 1)]
        for parent in [*above, ""] if path else []:
            if isinstance(parsed.get(parent), ArrayMetadata):
                raise ContainsArrayError(f"{path!r} cannot be below {parent!r}, which is an array")
    chosen: Format = formats.pop() if formats else 3
    if overwrite:
        with updated_once(store, "", chosen):
            for path in sorted(parsed):
                metadata = parsed[path]
                place = Location(store, path, chosen)
                with new_node(place, metadata, overwrite=True, attributes=metadata.attributes):
                    pass
        made = {path: node_of(metadata) for path, metadata in parsed.items()}
    else:
        made = create_many(store, parsed, chosen)
    paths = [normalize_storage_path(path) for path in nodes]
    return [Found(Location(store, path, chosen), made[path]) for path in paths]


def _as_metadata(value: Any) -> ArrayMetadata | GroupMetadata:
    """Metadata of this package, of zarr-python, or a document."""
    if isinstance(value, ArrayMetadata | GroupMetadata):
        return value
    document = value.to_dict() if hasattr(value, "to_dict") else value
    if not isinstance(document, Mapping):
        raise TypeError(f"{value!r} is not metadata of an array or group")
    is_array_2 = document.get("zarr_format") == 2 and "shape" in document
    attributes = document.get("attributes", {}) if is_array_2 else {}
    if is_array_2:
        # In v2 they have a document of their own.
        document = {name: one for name, one in document.items() if name != "attributes"}
    # Through JSON, because tuples become lists in documents.
    text = v3._dumps(document, "metadata")
    if is_array_2:
        return replace(v2.parse_array(text, "metadata"), zattrs=attributes)
    if document.get("zarr_format") == 2:
        return v2.parse_group(text, "metadata")
    parse_3 = v3.parse_array if document.get("node_type") == "array" else v3.parse_group
    return parse_3(text, "metadata")
