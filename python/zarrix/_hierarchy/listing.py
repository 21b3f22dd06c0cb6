"""Listing the members of a group, and calling a function on all nodes below it.

A member that cannot be opened is left out of listings of objects, with a `BrokenMemberWarning` that
names it; its name is listed, and trees show it.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Sequence, ValuesView
from itertools import islice
from typing import TYPE_CHECKING, Any

from zarrix._array.array import Array
from zarrix._hierarchy.state import GroupState
from zarrix._nodes import nodes as _nodes
from zarrix._nodes.broken import CANNOT_OPEN, BrokenMember, warn_of, warn_of_strangers
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.keys import key_of

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["Listing"]


class Listing(GroupState):
    """The methods of groups that list members, and those whose names begin with visit."""

    if TYPE_CHECKING:
        # Defined by `Group`, which is a mapping.
        def __contains__(self, item: object) -> bool: ...
        def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]:
        for name, _ in self._members():
            yield name

    def _members(
        self, *, attributes: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[tuple[str, _nodes.Node]]:
        store, path, _, _ = self._location
        if names is not None or not DIALECT.is_zarr3:
            yield from _nodes.members(
                store, path, self._zarr_format, attributes=attributes, names=names
            )
            return
        names, known = store.child_names(path), set()
        for name, node in _nodes.members(
            store, path, self._zarr_format, attributes=attributes, names=names
        ):
            known.add(name)
            yield name, node
        warn_of_strangers(names, known)

    def _read_members(self) -> dict[str, Any]:
        """The direct members by name; the requests for them cover the attributes of arrays."""
        with self._location.store.listed_once():
            opened = self._opened(self._direct(attributes=True))
            return {path.rpartition("/")[2]: member for path, member in opened}

    def _try_open(self, path: str, node: _nodes.Node) -> Any:
        """The array or group at ``path``; a `BrokenMember` if it cannot be opened."""
        try:
            if node.kind != "broken":
                return self._open_node(path, node)
            # Raises its error again, or opens it if it has been repaired meanwhile.
            found = self._node(path)
            return None if found is None else self._open_node(path, found)
        except CANNOT_OPEN as error:
            return BrokenMember(f"/{path}", error)

    def _opened(self, nodes: Iterable[tuple[str, _nodes.Node]]) -> Iterator[tuple[str, Any]]:
        """Paths and objects of the ``nodes`` that can be opened, with a warning for each of the
        others.
        """
        for path, node in nodes:
            member = self._try_open(path, node)
            if isinstance(member, BrokenMember):
                warn_of(member.name, member.reason)
            elif member is not None:
                yield path, member

    def _direct(
        self, *, attributes: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[tuple[str, _nodes.Node]]:
        """Paths of the members in the store, and their nodes."""
        for name, node in self._members(attributes=attributes, names=names):
            yield key_of(self._location.path, name), node

    def _shown_members(self, names: Sequence[str] | None = None) -> Iterator[Any]:
        """The members for a tree, or those of these names, including the ones that cannot be
        opened.
        """
        for path, node in self._direct(names=names):
            member = self._try_open(path, node)
            if member is not None:
                yield member

    def items(self) -> ItemsView[str, Any]:
        """Names and objects of the members, opened as they are iterated over.

        Returns
        -------
        ItemsView of (str, Array or Group)

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["b"] = [1], [1, 2]
        >>> {name: member.shape for name, member in root.items()}
        {'a': (1,), 'b': (2,)}
        """
        return _Items(self)

    def values(self) -> ValuesView[Any]:
        """The members, opened as they are iterated over.

        Returns
        -------
        ValuesView of Array or Group

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["b"] = [1], [1, 2]
        >>> sum(member.size for member in root.values())
        3
        """
        return _Values(self)

    def group_keys(self) -> Iterator[str]:
        """Names of the groups directly below.

        Yields
        ------
        str

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> made = root.create_groups("x", "y/z")
        >>> list(root.group_keys())
        ['x', 'y']
        """
        for name, node in self._members():
            if node.kind == "group":
                yield name

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Names and objects of the groups directly below.

        Yields
        ------
        tuple of (str, Group)

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> made = root.create_group("x", attributes={"unit": "K"})
        >>> [(name, group.attrs["unit"]) for name, group in root.groups()]
        [('x', 'K')]
        """
        below = ((path, node) for path, node in self._direct() if node.kind != "array")
        for path, member in self._opened(below):
            if not isinstance(member, Array):
                yield path.rpartition("/")[2], member

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

    def array_keys(self, recurse: bool = False) -> Iterator[str]:
        """Names of the arrays directly below; with ``recurse``, of all arrays below.

        As in zarr 2.18, these are the last parts of names, not paths.

        Parameters
        ----------
        recurse : bool
            All arrays below, and not only the direct members.

        Yields
        ------
        str
            The last part of the name, as in zarr 2.18; `members` gives paths.

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["x/b"] = [1], [2]
        >>> list(root.array_keys()), list(root.array_keys(recurse=True))
        (['a'], ['a', 'b'])
        """
        store, path, _, _ = self._location
        below = _nodes.arrays_below(store, path, self._zarr_format, recurse)
        for path, node in below:
            if node.kind == "array":
                yield path.rpartition("/")[2]

    def arrays(self, recurse: bool = False) -> Iterator[tuple[str, Array]]:
        """Names and objects of the arrays directly below, or of all arrays below.

        Parameters
        ----------
        recurse : bool
            All arrays below, and not only the direct members.

        Yields
        ------
        tuple of (str, Array)

        Raises
        ------
        OSError
            The store cannot be listed.

        Warns
        -----
        BrokenMemberWarning
            An array cannot be opened; it is left out.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"], root["x/b"] = [1], [2, 3]
        >>> [(name, z.path) for name, z in root.arrays(recurse=True)]
        [('a', 'a'), ('b', 'x/b')]
        """
        store, path, _, _ = self._location
        below = _nodes.arrays_below(store, path, self._zarr_format, recurse)
        for path, member in self._opened(below):
            if isinstance(member, Array):
                yield path.rpartition("/")[2], member

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
        with self._location.store.listed_once():
            return tuple(self._walk("", max_depth))

    def _walk(self, prefix: str, depth: int | None) -> Iterator[tuple[str, Any]]:
        for path, member in self._opened(self._direct()):
            name = path.rpartition("/")[2]
            yield f"{prefix}{name}", member
            if isinstance(member, Listing) and depth != 0:
                below = None if depth is None else depth - 1
                yield from member._walk(f"{prefix}{name}/", below)

    def page(
        self, limit: int = 100, after: str = ""
    ) -> tuple[tuple[tuple[str, Any], ...], str | None]:
        """Some of the direct members, by name, and where the next page begins.

        Only the members of the page are opened, so that a page of a large group costs
        little more than the list of its names.

        Parameters
        ----------
        limit : int
            How many members at most.
        after : str
            The page begins behind this name.

        Returns
        -------
        members : tuple of (str, Array or Group)
        after : str or None
            The name for the next page; None if this one is the last.

        Raises
        ------
        ValueError
            ``limit`` is less than 1.

        Warns
        -----
        BrokenMemberWarning
            A member cannot be opened; it is left out.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> made = root.create_groups("a", "b", "c")
        >>> members, after = root.page(2)
        >>> [name for name, _ in members], after
        (['a', 'b'], 'b')
        >>> root.page(2, after)
        ((('c', <zarrix.hierarchy.Group '/c'>),), None)
        """
        if limit < 1:
            raise ValueError(f"limit={limit} is not allowed: a page has at least 1 member")
        store, path, _, _ = self._location
        names = store._names_after(path, after)
        found: list[tuple[str, Any]] = []
        # One more than the page: whether there is another one. Not every folder is a member.
        while len(found) <= limit and (some := [*islice(names, limit + 1 - len(found))]):
            opened = self._opened(self._direct(names=some))
            found.extend((member.rpartition("/")[2], one) for member, one in opened)
        more = len(found) > limit
        return tuple(found[:limit]), found[limit - 1][0] if more else None

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Number of arrays and groups in `members`.

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

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call ``func(object)`` on all nodes below, parents first, until one call returns a value.

        Parameters
        ----------
        func : callable
            Takes an `Array` or a `Group`; None to go on.

        Returns
        -------
        object
            The first that is not None; otherwise None.

        Raises
        ------
        Exception
            That of ``func``, which ends the visit.

        Warns
        -----
        BrokenMemberWarning
            A member cannot be opened; it is left out.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["x/a"] = [1, 2]
        >>> root.visitvalues(print)
        <zarrix.hierarchy.Group '/x'>
        <zarrix.core.Array '/x/a' (2,) int64>
        """
        for _, member in self._opened(self._direct()):
            result = func(member)
            if result is None and isinstance(member, Listing):
                result = member.visitvalues(func)
            if result is not None:
                return result
        return None

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """Call ``func(path, object)`` on all nodes below, like `visitvalues`.

        Parameters
        ----------
        func : callable
            Takes a path relative to this group, and an `Array` or a `Group`; None to go on.

        Returns
        -------
        object
            The first that is not None; otherwise None.

        Raises
        ------
        Exception
            That of ``func``, which ends the visit.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["x/a"], root["x/b"] = [1], [1, 2]
        >>> root.visititems(lambda path, node: path if getattr(node, "size", 0) == 2 else None)
        'x/b'
        """
        start = len(self.path) + 1 if self.path else 0
        return self.visitvalues(lambda member: func(member.path[start:], member))

    def visit(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(path)`` on all nodes below, like `visitvalues`.

        Parameters
        ----------
        func : callable
            Takes a path relative to this group; None to go on.

        Returns
        -------
        object
            The first that is not None; otherwise None.

        Raises
        ------
        Exception
            That of ``func``, which ends the visit.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["x/a"], root["b"] = [1], [2]
        >>> root.visit(print)
        b
        x
        x/a
        """
        return self.visititems(lambda path, _: func(path))

    def visitkeys(self, func: Callable[[str], Any]) -> Any:
        """Call ``func(path)`` on all nodes below; another name of `visit`.

        Parameters
        ----------
        func : callable
            Takes a path relative to this group; None to go on.

        Returns
        -------
        object
            The first that is not None; otherwise None.

        Raises
        ------
        Exception
            That of ``func``, which ends the visit.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root["a"] = [1]
        >>> paths = []
        >>> root.visitkeys(paths.append)
        >>> paths
        ['a']
        """
        return self.visit(func)


class _Items(ItemsView[str, Any]):
    """``group.items()``: one look at all members, without those that cannot be opened."""

    _mapping: Listing

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        group = self._mapping
        for path, member in group._opened(group._direct()):
            yield path.rpartition("/")[2], member


class _Values(ValuesView[Any]):
    """``group.values()``: one look at all members, without those that cannot be opened."""

    _mapping: Listing

    def __iter__(self) -> Iterator[Any]:
        group = self._mapping
        for _, member in group._opened(group._direct()):
            yield member
