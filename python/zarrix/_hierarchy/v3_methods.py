"""What groups have in zarr-python 3: create_array, members, metadata, hierarchies in one call.

Mixed into every `Group`, of either format.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np

from zarrix._array import create_array as _create_array
from zarrix._array.array import Array
from zarrix._errors import ArrayNotFoundError, ContainsArrayError, GroupNotFoundError
from zarrix._metadata import v2, v3
from zarrix._metadata.arguments import normalize_shape
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.keywords import Format, V3RequireKeywords, V3ShapeKeywords, completable, takes
from zarrix._nodes import nodes as _nodes
from zarrix._nodes.attributes import Attributes
from zarrix._nodes.consolidate import view
from zarrix._nodes.existing import require
from zarrix._nodes.location import Location
from zarrix._nodes.new import group_metadata, new_node
from zarrix._nodes.on_demand import on_demand
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.path import StorePath, normalize_storage_path

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["GroupTerms", "create_nodes"]

_GIVEN = dict.fromkeys(("store", "chunk_store"), "is given by the group")


@completable
class GroupTerms:
    """The methods of zarr-python 3; mixed into every group."""

    _store: Store
    _chunk_store: Store | None
    _path: str
    _zarr_format: Format
    _synchronizer: Any
    _attrs: Attributes

    if TYPE_CHECKING:
        # What the class has that this is mixed into.
        def __init__(self, *args: Any, **keywords: Any) -> None: ...
        @classmethod
        def _at(cls, location: Location, node: Any, **options: Any) -> Self: ...
        def __getitem__(self, item: str) -> Any: ...
        def _item_path(self, item: str) -> str: ...
        def _direct(self) -> Any: ...
        def _opened(self, nodes: Any) -> Any: ...
        def _writing(self) -> Any: ...
        def arrays(self, recurse: bool = False) -> Iterator[tuple[str, Array]]: ...
        def groups(self) -> Iterator[tuple[str, Group]]: ...
        @property
        def attrs(self) -> Any: ...
        @property
        def info(self) -> Any: ...
        @property
        def name(self) -> str: ...

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
            Replace what is there.

        Returns
        -------
        Group

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.

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
            return cls._at(location, require(location, "group"))

    @classmethod
    def open(cls, store: Any, zarr_format: Format | None = None) -> Self:
        """Open the group at the root of a store.

        Parameters
        ----------
        store : Store, mapping, str or Path
        zarr_format : {2, 3}, optional
            Either when omitted.

        Returns
        -------
        Group

        Raises
        ------
        GroupNotFoundError
            No group is stored there.
        ContainsArrayError
            An array is.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> zarr.Group.open("data.zarr") == root
        True
        """
        return cls(store, zarr_version=zarr_format)

    @property
    def async_group(self) -> Any:
        """The same group with methods that are awaited: an `AsyncGroup`."""
        return on_demand("AsyncGroup")(self)

    _async_group = async_group

    @property
    def zarr_format(self) -> Format:
        """2 or 3: the format in which the group is stored."""
        return self._zarr_format

    @property
    def metadata(self) -> GroupMetadata:
        """What is stored about the group, read again."""
        found = self._parse_metadata(None)
        if self._zarr_format == 2:
            found = replace(found, attributes=self._attrs.asdict())
        return replace(found, consolidated_metadata=view(self._store, self._path, found))

    def _parse_metadata(self, document: bytes | None) -> GroupMetadata:
        """The group's metadata; ``document`` is that of v3, where it was read already."""
        name = GroupMetadata(zarr_format=self._zarr_format).document_name
        key = key_of(self._path, name)
        if document is None:
            document = self._store.get(key)
        if document is None:
            raise GroupNotFoundError(f"no group at {_nodes.describe(self._store, self._path)}")
        parse = v2.parse_group if self._zarr_format == 2 else v3.parse_group
        return parse(document, _nodes.place(self._store, key))

    @property
    def store_path(self) -> StorePath:
        """The store, and the path in it."""
        return StorePath(self._store, self._path)

    def info_complete(self) -> Any:
        """The same as `info`, which counts all members already.

        Returns
        -------
        InfoReporter

        Examples
        --------
        >>> import zarrix as zarr
        >>> print(zarr.create_group().info_complete())
        Name        : /
        Type        : zarrix.hierarchy.Group
        Zarr format : 3
        Read-only   : False
        Store type  : zarrix.storage.MemoryStore
        No. members : 0
        No. arrays  : 0
        No. groups  : 0
        """
        return self.info

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Set several attributes in one step; the others stay.

        Parameters
        ----------
        new_attributes : mapping of str to JSON value

        Returns
        -------
        Group
            This one.

        Raises
        ------
        ReadOnlyError
            The group is read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> group = zarr.create_group(attributes={"a": 1})
        >>> dict(group.update_attributes({"b": 2}).attrs)
        {'a': 1, 'b': 2}
        """
        self._attrs.update(new_attributes)
        return self

    async def update_attributes_async(self, new_attributes: Mapping[str, Any]) -> Self:
        """`update_attributes`, for code that awaits it.

        Parameters
        ----------
        new_attributes : mapping of str to JSON value

        Returns
        -------
        Group
            This one.

        Raises
        ------
        ReadOnlyError
            The group is read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> group = asyncio.run(zarr.create_group().update_attributes_async({"b": 2}))
        >>> group.attrs["b"]
        2
        """
        return self.update_attributes(new_attributes)

    # Members

    def get_array(self, path: str) -> Array:
        """The array of that name or path.

        Parameters
        ----------
        path : str
            Relative to this group.

        Returns
        -------
        Array

        Raises
        ------
        ArrayNotFoundError
            No array is stored there (also a ``KeyError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["x/a"] = [1, 2]
        >>> root.get_array("x/a")
        <zarrix.core.Array '/x/a' (2,) int64>
        """
        found = self._get(path)
        if not isinstance(found, Array):
            raise ArrayNotFoundError(f"no array {path!r} in the group {self.name!r}")
        return found

    def get_group(self, path: str) -> Group:
        """The group of that name or path.

        Parameters
        ----------
        path : str
            Relative to this group.

        Returns
        -------
        Group

        Raises
        ------
        GroupNotFoundError
            Nothing is stored there (also a ``KeyError``).
        ContainsArrayError
            An array is.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["x/a"] = [1, 2]
        >>> root.get_group("x")
        <zarrix.hierarchy.Group '/x'>
        """
        found = self._get(path)
        if isinstance(found, Array):
            raise ContainsArrayError(f"{path!r} in the group {self.name!r} is an array")
        if found is None:
            raise GroupNotFoundError(f"no group {path!r} in the group {self.name!r}")
        group: Group = found
        return group

    def _get(self, path: str) -> Any:
        try:
            return self[path]
        except KeyError:
            return None

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Any], ...]:
        """Paths and objects of the arrays and groups below.

        Parameters
        ----------
        max_depth : int or None
            0 for direct members, 1 for theirs too, and so on; None for all.
        use_consolidated_for_children : bool
            Accepted for zarr-python.

        Returns
        -------
        tuple of (str, Array or Group)

        Raises
        ------
        ValueError
            ``max_depth`` is negative.

        Warns
        -----
        BrokenMemberWarning
            A member cannot be opened; it is left out.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["x/b"] = [1], [2]
        >>> [path for path, member in root.members()]
        ['a', 'x']
        >>> [path for path, member in root.members(max_depth=None)]
        ['a', 'x', 'x/b']
        """
        if max_depth is not None and max_depth < 0:
            raise ValueError(f"max_depth is None or at least 0, not {max_depth}")
        with self._store.listed_once():
            return tuple(self._walk("", max_depth))

    def _walk(self, prefix: str, depth: int | None) -> Iterator[tuple[str, Any]]:
        for path, member in self._opened(self._direct()):
            name = path.rpartition("/")[2]
            yield f"{prefix}{name}", member
            if isinstance(member, GroupTerms) and depth != 0:
                below = None if depth is None else depth - 1
                yield from member._walk(f"{prefix}{name}/", below)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of arrays and groups that `members` gives.

        Parameters
        ----------
        max_depth : int or None
            0 for direct members, 1 for theirs too, and so on; None for all.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            ``max_depth`` is negative.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["x/b"] = [1], [2]
        >>> root.nmembers(), root.nmembers(max_depth=None)
        (2, 3)
        """
        return len(self.members(max_depth))

    def array_values(self) -> Iterator[Array]:
        """The arrays directly below.

        Yields
        ------
        Array

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["b"] = [1, 2], [3.0]
        >>> [z.dtype for z in root.array_values()]
        [dtype('int64'), dtype('float64')]
        """
        for _, array in self.arrays():
            yield array

    def group_values(self) -> Iterator[Group]:
        """The groups directly below.

        Yields
        ------
        Group

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> made = root.create_groups("x", "y")
        >>> [group.name for group in root.group_values()]
        ['/x', '/y']
        """
        for _, group in self.groups():
            yield group

    # Creating

    @takes(V3ShapeKeywords, like=_create_array.create_array, refused=_GIVEN)
    def create_array(self, name: str, **kwargs: Unpack[V3ShapeKeywords]) -> Array:
        """Create an array in the format of the group.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        **kwargs
            As for `zarrix.create_array`: shape, dtype, data, chunks, shards, compressors, ...

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.
        MetadataError, ValueError, TypeError
            The arguments do not describe an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("a", shape=(100, 100), chunks=(10, 10), shards=(50, 50))
        >>> z.name, z.zarr_format, z.shards
        ('/a', 3, (50, 50))
        """
        options: dict[str, Any] = {
            "synchronizer": self._synchronizer,
            "cache_attrs": self._attrs.cache,
            "chunk_store": self._chunk_store,
        }
        with self._writing():
            path = self._item_path(name)
            options.update(kwargs)
            return _create_array.create_array(self._store, name=path, **options)

    @takes(V3RequireKeywords, like=_create_array.create_array, refused=_GIVEN)
    def require_array(
        self,
        name: str,
        *,
        shape: Any,
        dtype: Any = None,
        exact: bool = False,
        **kwargs: Unpack[V3RequireKeywords],
    ) -> Array:
        """The array of that name, created if it does not exist.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        shape : int or tuple of int
        dtype : dtype, optional
            Values of it can be cast safely to that of an existing array.
        exact : bool
            It must be the dtype of an existing array.
        **kwargs
            As for `create_array`.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            An array of another shape or dtype exists.
        ContainsGroupError
            A group of that name exists.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> root.require_array("a", shape=3, dtype="i4")[:] = 5
        >>> root.require_array("a", shape=3, dtype="i2")[:]
        array([5, 5, 5], dtype=int32)
        """
        existing = self._get(name)
        if not isinstance(existing, Array):
            return self.create_array(name, shape=shape, dtype=dtype, **kwargs)
        if normalize_shape(shape) != existing.shape:
            raise TypeError(f"the existing array {name!r} has shape {existing.shape}, not {shape}")
        wanted = existing.dtype if dtype is None else np.dtype(dtype)
        fits = wanted == existing.dtype if exact else np.can_cast(wanted, existing.dtype)
        if not fits:
            raise TypeError(f"the existing array {name!r} has dtype {existing.dtype}, not {wanted}")
        return existing

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Any]]:
        """Create arrays and groups from their metadata, all of which is checked first.

        Parameters
        ----------
        nodes : mapping of str to metadata
            By path relative to this group; see `zarrix.create_hierarchy`.
        overwrite : bool
            Replace what is there.

        Returns
        -------
        iterator of (str, Array or Group)
            The path as in ``nodes``, and the object; all exist when the call returns.

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored at one of the paths and ``overwrite`` is false.
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
            create_nodes(self._store, below, self._zarr_format, overwrite)
        return iter([(path, self[path]) for path in nodes])


def create_nodes(
    store: Store, nodes: Mapping[str, Any], zarr_format: Format | None, overwrite: bool
) -> Format:
    """Store metadata of several nodes, parents first; returns their format.

    All of it is checked before the first is stored.
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
    if not overwrite:
        for path in parsed:
            _nodes.require_free(store, path)
    for path in sorted(parsed):
        metadata = parsed[path]
        location = Location(store, path, metadata.zarr_format)
        attributes = metadata.attributes
        with new_node(location, metadata, overwrite=overwrite, attributes=attributes):
            pass
    return formats.pop() if formats else 3


def _as_metadata(value: Any) -> ArrayMetadata | GroupMetadata:
    """Metadata of this package, of zarr-python, or a document."""
    if isinstance(value, ArrayMetadata | GroupMetadata):
        return value
    document = value.to_dict() if hasattr(value, "to_dict") else value
    if not isinstance(document, Mapping):
        raise TypeError(f"{value!r} is no metadata of an array or group")
    # Through JSON: what others hold in tuples is lists in documents.
    text = v3._dumps(document, "metadata")
    if document.get("zarr_format") == 2:
        parse_2 = v2.parse_array if "shape" in document else v2.parse_group
        return parse_2(text, "metadata")
    parse_3 = v3.parse_array if document.get("node_type") == "array" else v3.parse_group
    return parse_3(text, "metadata")
