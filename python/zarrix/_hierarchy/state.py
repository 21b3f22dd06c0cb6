"""The state of a group: its stores, its path, how it was opened, and its members.

The other files of this room add what users do with a group, each as a class derived from
`GroupState`; `zarrix._hierarchy.group.Group` is all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from zarrix._errors import GroupNotFoundError, InvalidKeyError, ReadOnlyError
from zarrix._metadata import v2, v3
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.attributes import Attributes
from zarrix._nodes.existing import require
from zarrix._nodes.location import Location
from zarrix._nodes.member import Member
from zarrix._stores.keys import ZGROUP, key_of
from zarrix._stores.path import normalize_storage_path

__all__ = ["GroupOptions", "GroupState", "first_attributes", "location_below"]


class GroupOptions(NamedTuple):
    """The options of a group object, under the names that they have as arguments of `Group`.

    Attributes
    ----------
    read_only : bool
    cache_attrs : bool
    synchronizer : mapping of key to lock, or None
    meta_array : ndarray or None
    shows_consolidated : bool
        False after `open_group(use_consolidated=False)`: then `Group.metadata` has none.
    opened_from : str or None
        Path of the group that this one was reached from, whose consolidated metadata includes it;
        None for its own.
    """

    read_only: bool = False
    cache_attrs: bool = True
    synchronizer: Any = None
    meta_array: Any = None
    shows_consolidated: bool = True
    opened_from: str | None = None


_DEFAULT = GroupOptions()


class GroupState(Member):
    """A handle of a group: its location and options; users see `Group`."""

    _options: GroupOptions
    _zarr_format: Format
    _first_attributes: Mapping[str, Any] | None
    # What `metadata` has returned last, for all handles of the group that `Group` made of this one.
    _last_metadata: list[GroupMetadata]

    if TYPE_CHECKING:
        # Defined by `Group`, which knows both kinds of members.
        def __getitem__(self, item: str) -> Any: ...
        def _open_node(self, path: str, node: nodes.Node, **changes: Any) -> Any: ...

    def __init__(
        self,
        store: Any,
        path: str | None = None,
        read_only: bool = False,
        chunk_store: Any = None,
        cache_attrs: bool = True,
        synchronizer: Any = None,
        zarr_version: int | None = None,
        *,
        meta_array: Any = None,
    ) -> None:
        counterpart = getattr(store, "_sync", None)
        if isinstance(counterpart, GroupState):
            # `Group` of an `AsyncGroup` is a handle of the same group.
            self.__dict__.update(counterpart.__dict__)
            return
        location = Location.of(store, path, zarr_version, chunk_store=chunk_store)
        options = GroupOptions(
            read_only=read_only,
            cache_attrs=cache_attrs,
            synchronizer=synchronizer,
            meta_array=meta_array,
        )
        self._open(location, require(location, "group"), options)

    @classmethod
    def _at(cls, location: Location, node: nodes.Node, options: GroupOptions = _DEFAULT) -> Self:
        """The group of ``node``, without another lookup."""
        new = cls.__new__(cls)
        new._open(location, node, options)
        return new

    def _open(self, location: Location, node: nodes.Node, options: GroupOptions) -> None:
        store, path, _, _ = location
        read_only = bool(options.read_only) or store.read_only
        opened_from = path if options.opened_from is None else options.opened_from
        self._location = location
        self._options = options._replace(read_only=read_only, opened_from=opened_from)
        self._zarr_format = node.zarr_format
        self._last_metadata = []
        metadata = self._parse_metadata(node.members or node.document)
        # Those in the v3 document that was read for opening.
        self._first_attributes = None if node.zarr_format == 2 else metadata.attributes
        self._attrs = Attributes._of_node(
            store,
            path,
            node.zarr_format,
            read_only=read_only,
            cache=options.cache_attrs,
            synchronizer=options.synchronizer,
            stored=node.attributes,
        )

    def _location_of(self, path: str) -> Location:
        """The location of a member in the stores of the group."""
        return self._location.at(path, self._zarr_format)

    def _parse_metadata(self, document: bytes | Mapping[str, Any] | None) -> GroupMetadata:
        """The group's metadata; ``document`` is what was read already, also parsed."""
        name = GroupMetadata(zarr_format=self._zarr_format).document_name
        key = key_of(self._location.path, name)
        if document is None:
            document = self._location.store._value(key)
        if document is None:
            raise GroupNotFoundError(
                f"no group at {nodes.describe(self._location.store, self._location.path)}"
            )
        parse = v2.parse_group if self._zarr_format == 2 else v3.parse_group
        return parse(document, nodes.place(self._location.store, key))

    @property
    def name(self) -> str:
        """Path with a leading slash, as in h5py."""
        return f"/{self._location.path}"

    def _item_path(self, item: Any) -> str:
        """Path of a member in the store; a path with a leading slash starts at the root."""
        path = normalize_storage_path(item)
        absolute = isinstance(item, str) and item.startswith("/")
        if absolute or not self._location.path:
            return path
        return f"{self._location.path}/{path}" if path else self._location.path

    def _new_path(self, name: Any, *, may_restore: bool = False) -> str:
        """Path of a new member in the store.

        Parameters
        ----------
        name : str
        may_restore : bool
            Whether the new node may be this group, if it is stored no longer: programs clear the
            store of a root, and create the root again.

        Raises
        ------
        InvalidKeyError
            The new node would replace this group, which the caller has not named.
        """
        path = self._item_path(name)
        is_above = not path or f"{self._location.path}/".startswith(f"{path}/")
        if is_above and not (may_restore and self._kind(path) is None):
            raise InvalidKeyError(
                f"{name!r} names the group {self.name!r}, or one that it lies in, and not a "
                "member of it; zarrix.open(..., mode='w') replaces a group"
            )
        return path

    def _node(self, path: str) -> nodes.Node | None:
        return nodes.find(self._location.store, path, self._zarr_format)

    def _kind(self, path: str) -> str | None:
        node = self._node(path)
        return None if node is None else node.kind

    def _get(self, path: str) -> Any:
        try:
            return self[path]
        except KeyError:
            return None

    def _writing(self) -> AbstractContextManager[Any]:
        """Raise an error if the group is read-only; otherwise return the lock for the change."""
        if self._options.read_only:
            raise ReadOnlyError(
                f"the group {self.name!r} is read-only; open it with mode='r+' to change it"
            )
        if self._options.synchronizer is None:
            return nullcontext()
        return cast("AbstractContextManager[Any]", self._options.synchronizer[ZGROUP])


def location_below(group: GroupState, path: str) -> Location:
    """The location of a path relative to a group, or of the group itself if it is empty."""
    return group._location_of(group._item_path(path) if path else group.path)


def first_attributes(group: GroupState) -> Mapping[str, Any] | None:
    """The attributes in the v3 document that was read to open the group."""
    return group._first_attributes
