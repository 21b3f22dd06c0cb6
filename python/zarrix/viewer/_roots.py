"""The opened nodes, and those below them: a path that a browser sends becomes an array or a group.

Paths are those of Zarr below an opened node. Everything that could leave it (a leading slash,
``..``, a NUL) is refused before any store is asked.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._array.array import Array
from zarrix._errors import InvalidKeyError, PathNotFoundError
from zarrix._nodes.member import location_of
from zarrix.viewer._answers import Refused

__all__ = ["Root", "Roots", "is_array"]

_MOST_OPEN = 256


def is_array(node: Any) -> bool:
    """Whether a node is an array."""
    return isinstance(node, Array)


@dataclass(frozen=True)
class Root:
    """An opened node: its name, how Python opens it again, and its path on the command line."""

    name: str
    node: Any
    python: str
    shell: str | None


class Roots:
    """All opened nodes. With more than one, the first segment of a path names the root."""

    def __init__(self, roots: Sequence[Root]) -> None:
        self.roots: dict[str, Root] = {}
        for root in roots:
            name, number = root.name.replace("/", "_") or "root", 2
            while name in self.roots:
                name, number = f"{root.name} ({number})", number + 1
            self.roots[name] = root
        self._open: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.Lock()
        self._served = (0, 0)

    @property
    def are_several(self) -> bool:
        """Whether the path of every node begins with the name of its root."""
        return len(self.roots) > 1

    def split(self, path: str) -> tuple[Root | None, str]:
        """The root of a path, and the path below it; no root for the list of all roots."""
        segments = path.split("/") if path else []
        if any(one in ("", ".", "..") or "\0" in one for one in segments):
            raise Refused(400, f"{path[:80]!r} is not a path of a node", "invalid-key")
        if not self.are_several:
            return next(iter(self.roots.values())), path
        if not segments:
            return None, ""
        root = self.roots.get(segments[0])
        if root is None:
            raise Refused(404, f"nothing is open as {segments[0][:80]!r}", "path-not-found")
        return root, "/".join(segments[1:])

    def find(self, path: str, *, anew: bool = False) -> Any:
        """The array or group at a path; None for the list of all roots.

        It is opened once; ``anew`` reads its metadata again.

        Raises
        ------
        Refused
            There is none.
        """
        root, below = self.split(path)
        if root is None:
            return None
        if not below:
            return root.node
        with self._lock:
            found = None if anew else self._open.get(path)
            if found is not None:
                self._open.move_to_end(path)
                return found
        if is_array(root.node):
            raise Refused(404, f"{root.name} is an array, and has no members", "path-not-found")
        try:
            found = root.node[below]
        except InvalidKeyError as error:
            raise Refused(400, str(error), error.kind) from error
        except (KeyError, PathNotFoundError) as error:
            raise Refused(
                404, f"there is no array and no group {path!r}", "path-not-found"
            ) from error
        with self._lock:
            self._open[path] = found
            while len(self._open) > _MOST_OPEN:
                self._open.popitem(last=False)
        return found

    def array(self, path: str) -> Any:
        """The array at a path.

        Raises
        ------
        Refused
            There is none.
        """
        node = self.find(path)
        if not is_array(node):
            raise Refused(400, f"{path or '/'} is a group, not an array", "array-not-found")
        return node

    @property
    def served(self) -> tuple[int, int]:
        """Octets of values that were sent so far, and in how many answers."""
        return self._served

    def count(self, octets: int) -> None:
        """Add an answer with values."""
        with self._lock:
            self._served = (self._served[0] + octets, self._served[1] + 1)

    def names(self, path: str) -> list[str]:
        """The names that may be members of a group: one listing, which opens none of them."""
        node = self.find(path)
        if node is None:
            return list(self.roots)
        return [] if is_array(node) else location_of(node).store.child_names(node.path)

    def members(
        self, path: str, max_count: int, names: Sequence[str] | None = None
    ) -> Iterator[tuple[str, Any]]:
        """Name and object of members of a group; a `BrokenMember` where one cannot be opened.

        An array has none.

        Parameters
        ----------
        path : str
        max_count : int
            Only so many names are looked at.
        names : sequence of str, optional
            Those of `names` that are opened; the first ones if omitted.
        """
        node = self.find(path)
        if node is None:
            known = ((name, root.node) for name, root in self.roots.items())
            wanted = (pair for pair in known if names is None or pair[0] in names)
            yield from itertools.islice(wanted, max(0, max_count))
        elif not is_array(node):
            looked = list((self.names(path) if names is None else names)[: max(0, max_count)])
            for member in node._shown_members(looked):
                yield (member.name or "").rpartition("/")[2], member

    def parent(self, path: str) -> Any:
        """The group above a node; None if the root is the node, or if it cannot be opened."""
        _, below = self.split(path)
        if not below:
            return None
        try:
            return self.find(path.rpartition("/")[0])
        except Refused:
            return None

    def name_of(self, path: str) -> str:
        """The name of the root of a path."""
        root, _ = self.split(path)
        return "" if root is None else root.name

    def is_remote(self, path: str) -> bool:
        """Whether each request to the store of a node goes over a network."""
        root, _ = self.split(path)
        return root is not None and bool(root.node.store.is_remote)
