"""A group in a store: a mapping of names to arrays and groups.

A group has no stored list of its members. They are looked up in the store on access, so that nodes
created by other processes are visible at once. Names may be paths; missing groups in between are
created.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any, Self

from zarrix._array.access import ArrayOptions, opened_at
from zarrix._array.array import Array
from zarrix._display.labels import type_name
from zarrix._errors import (
    ArrayNotFoundError,
    ContainsArrayError,
    GroupNotFoundError,
    MemberNotFoundError,
    MetadataError,
    Suggesting,
)
from zarrix._hierarchy.create_filled import FilledArrayCreation
from zarrix._hierarchy.create_groups import GroupCreation
from zarrix._hierarchy.h5py_names import GROUP_ADVICE, h5py_attribute
from zarrix._hierarchy.listing import Listing
from zarrix._hierarchy.properties import GroupProperties
from zarrix._hierarchy.selecting import GroupSelecting
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.memory import MemoryStore
from zarrix._stores.overlap import refuse_overlap

__all__ = ["Group"]

# The maximum number of paths for completion; names of direct members are always offered.
_MOST_COMPLETIONS = 500


class Group(
    GroupProperties,
    GroupSelecting,
    GroupCreation,
    FilledArrayCreation,
    Listing,
    MutableMapping[str, Any],
):
    """A group that exists in a store.

    Use `zarrix.open_group` or `zarrix.group` rather than this class.

    Parameters
    ----------
    store : Store, mapping, str or Path
        Closed at the end of a ``with`` block over the group.
    path : str, optional
        Path of the group in the store; the root when omitted.
    read_only : bool
    chunk_store : Store, mapping, str or Path, optional
        The store of the chunks of its arrays, if it is not ``store``.
    cache_attrs : bool
        False reads attributes again before every use.
    synchronizer : mapping of key to lock, optional
        Held during writes in addition to the engine's own locks.
    zarr_version : {2, 3}, optional
        The format of the node; either when omitted.
    meta_array : ndarray, optional
        Accepted for zarr 2.18; results are NumPy arrays.

    Raises
    ------
    GroupNotFoundError
        The group does not exist.
    ContainsArrayError
        The path is an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.group()
    >>> z = root.create_dataset("foo/bar/baz", shape=100, chunks=10)
    >>> root["foo"]
    <zarrix.hierarchy.Group '/foo'>
    >>> root.tree()
    /
     └── foo
         └── bar
             └── baz (100,) float64
    """

    __module__ = "zarrix.hierarchy"

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
            The group does not exist.
        ContainsArrayError
            The path is an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> zarr.Group.open("data.zarr") == root
        True
        """
        return cls(store, zarr_version=zarr_format)

    def __repr__(self) -> str:
        read_only = " read-only" if self._options.read_only else ""
        return f"<{type_name(self)} {self.name!r}{read_only}>"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Group)
            and self._location.store == other._location.store
            and self._options.read_only == other._options.read_only
            and self._location.path == other._location.path
        )

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._location.store.close()

    def __getstate__(self) -> dict[str, Any]:
        return {
            "store": self._location.store,
            "path": self._location.path,
            "read_only": self._options.read_only,
            "chunk_store": self._location.chunk_store,
            "cache_attrs": self._attrs.cache,
            "synchronizer": self._options.synchronizer,
            "zarr_version": self._zarr_format,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # Members

    def _open_node(self, path: str, node: nodes.Node, **changes: Any) -> Any:
        """The array or group of ``node``."""
        location, mine = self._location_of(path), self._options
        cache_attrs = self._attrs.cache
        if node.kind == "array":
            options = ArrayOptions(mine.read_only, mine.synchronizer, cache_attrs=cache_attrs)
            return opened_at(location, node, options._replace(**changes) if changes else options)
        is_below = path.startswith(f"{mine.opened_from}/" if mine.opened_from else "")
        opened_from = mine.opened_from if is_below else None
        options_of_group = mine._replace(
            cache_attrs=cache_attrs, meta_array=None, opened_from=opened_from, **changes
        )
        return Group._at(location, node, options_of_group)

    def __getitem__(self, item: str) -> Any:
        """The array or group of that name or path; ``KeyError`` if there is none."""
        path = self._item_path(item)
        node = self._node(path)
        if node is None:
            raise self._no_member(item)
        return self._open_node(path, node)

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
            The array does not exist (also a ``KeyError``).

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
            The group does not exist (also a ``KeyError``).
        ContainsArrayError
            The path is an array.

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

    def _no_member(self, item: str) -> MemberNotFoundError:
        above, _, name = str(item).rpartition("/")

        def beside() -> list[str]:
            group = self[above] if above else self
            return list(group) if isinstance(group, Group) else []

        message = f"{item} is neither an array nor a group in the group {self.name!r}"
        return MemberNotFoundError(Suggesting(message, name, beside))

    def __setitem__(self, item: str, value: Any) -> None:
        """Store ``value`` as an array of that name; replaces an existing node.

        Raises
        ------
        TypeError
            ``value`` is a group; copy it with `zarrix.copy`.
        """
        if isinstance(value, Mapping) or (hasattr(value, "keys") and not hasattr(value, "shape")):
            raise TypeError(
                f"{item!r} cannot be a {type(value).__name__}: an assignment stores an array. "
                f"zarrix.copy(group, this_group, name={item!r}) copies a group with all below it, "
                f"and create_group({item!r}) makes one"
            )
        self.array(item, value, overwrite=True)

    def __delitem__(self, item: str) -> None:
        """Delete a member and all below it.

        Raises
        ------
        MemberNotFoundError
            There is none; under `zarrix.as_zarr` nothing happens then, as in zarr-python 3.
        """
        path = self._item_path(item)
        with self._writing():
            if item not in self:
                if DIALECT.is_zarr3:
                    return
                raise self._no_member(item)
            for store in self._stores():
                store.rmdir(path)
            update_consolidated(self._location.store, path, self._zarr_format, deep=True)

    def __contains__(self, item: object) -> bool:
        try:
            return self._node(self._item_path(item)) is not None
        except MetadataError:
            # The member cannot be opened.
            return True

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def clear(self) -> None:
        """Delete all members, but not the attributes.

        Raises
        ------
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group(attributes={"site": "Kiel"})
        >>> root["a"] = [1, 2]
        >>> root.clear()
        >>> list(root), dict(root.attrs)
        ([], {'site': 'Kiel'})
        """
        for name in list(self):
            del self[name]

    def pop(self, key: str, *default: Any) -> Any:
        """Delete a member and return a copy of it in memory.

        Parameters
        ----------
        key : str
        *default : object, optional
            Returned if there is no such member.

        Returns
        -------
        Array or Group

        Raises
        ------
        KeyError
            There is no such member, and no default.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"] = [1, 2]
        >>> root.pop("a")[:], "a" in root
        (array([1, 2]), False)
        >>> root.pop("a", None) is None
        True
        """
        # Imported when called: few programs copy.
        from zarrix._hierarchy.copy import copy

        if default and key not in self:
            return default[0]
        root = GroupMetadata(zarr_format=self._zarr_format)
        kept = Group(MemoryStore({root.document_name: nodes.group_document(root)}))
        copy(self[key], kept, name=key)
        del self[key]
        return kept[key]

    def popitem(self) -> tuple[str, Any]:
        """Delete the first member, and return its name and a copy of it in memory.

        Returns
        -------
        tuple of (str, Array or Group)

        Raises
        ------
        KeyError
            The group is empty.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"] = [1, 2]
        >>> name, z = root.popitem()
        >>> name, z[:], len(root)
        ('a', array([1, 2]), 0)
        """
        for name in self:
            return name, self.pop(name)
        raise KeyError("the group is empty")

    def move(self, source: str, dest: str) -> None:
        """Move a member, with all below it, to another path; missing parent groups are created.

        Parameters
        ----------
        source, dest : str
            Names, or paths relative to this group.

        Raises
        ------
        ValueError
            ``source`` does not exist, or ``dest`` does.
        OverlapError
            ``dest`` lies below ``source`` (also a ``ValueError``).
        ContainsArrayError
            ``dest`` lies below an array.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"] = [1, 2]
        >>> root.move("a", "old/a")
        >>> root["old/a"][:], "a" in root
        (array([1, 2]), False)
        """
        old, new = self._item_path(source), self._item_path(dest)
        with self._writing():
            if source not in self:
                raise ValueError(f'The source, "{old}", does not exist.')
            if dest in self:
                raise ValueError(f'The dest, "{new}", already exists.')
            for store in self._stores():
                refuse_overlap("move", (store, new), [(store, old)])
            nodes.require_parents(self._location.store, new, self._zarr_format)
            for store in self._stores():
                store.rename(old, new)
            for moved in (old, new):
                update_consolidated(self._location.store, moved, self._zarr_format, deep=True)

    # Members as attributes

    def __getattr__(self, name: str) -> Any:
        # Python itself asks for these names, which must not cost a request to a remote store.
        if name.startswith(("__", "_ipython_", "_repr_")) or "_location" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            found = h5py_attribute(self, name)
            if found is not None:
                return found
            message = f"the group {self.name!r} has neither a method nor a member {name!r}"
            if name in GROUP_ADVICE:
                raise AttributeError(f"{message}; {GROUP_ADVICE[name]}") from None
            raise AttributeError(Suggesting(message, name, lambda: dir(self))) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or type(self) is not Group or hasattr(Group, name):
            super().__setattr__(name, value)
            return
        raise AttributeError(
            f"{name!r} would be an attribute of this Python object only, and not stored; "
            f"group[{name!r}] = value stores an array, group.attrs[{name!r}] = value an attribute"
        )

    def __dir__(self) -> list[str]:
        names = [n for n in self if n.isidentifier() and not keyword.iskeyword(n)]
        return sorted({*super().__dir__(), *names})

    def _ipython_key_completions_(self) -> list[str]:
        """Names of the members and, in a local store, paths below them."""
        paths = list(self)
        if self._location.store.is_remote:
            return paths
        begun = 0
        while begun < len(paths) and len(paths) < _MOST_COMPLETIONS:
            path = paths[begun]
            names = self._location.store.child_names(self._item_path(path))
            found = (f"{path}/{name}" for name in names)
            paths += [one for one in found if self._kind_or_broken(one) is not None]
            begun += 1
        return paths[: max(len(self), _MOST_COMPLETIONS)]

    def _kind_or_broken(self, name: str) -> str | None:
        try:
            return self._kind(self._item_path(name))
        except MetadataError:
            return "broken"


# Python's errors about missing arguments name the function so, and a private class says nothing.
Group.__init__.__qualname__ = "Group"
