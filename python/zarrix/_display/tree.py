"""The tree of a hierarchy, as text and as HTML.

It is made from public properties, so it shows h5py and zarr-python objects too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any

from zarrix._display.labels import label_of
from zarrix._display.printable import lines

__all__ = ["TreeViewer"]


class TreeViewer:
    """A hierarchy drawn as a tree; ``level`` limits its depth, ``expand`` opens it in HTML.

    ``max_nodes`` limits how many arrays and groups the text shows.
    """

    def __init__(
        self,
        group: Any,
        expand: bool | int | None = False,
        level: int | None = None,
        max_nodes: int | None = None,
    ) -> None:
        self.group = group
        self.expand = expand or False
        self.level = level
        self.max_nodes = max_nodes

    def __repr__(self) -> str:
        return self._text(branch="├── ", last="└── ", bar="│   ")

    def __bytes__(self) -> bytes:
        return self._text(branch="+-- ", last="+-- ", bar="|   ").encode()

    def _text(self, branch: str, last: str, bar: str) -> str:
        def drawn(node: Any, depth: int, indent: str) -> Iterator[str]:
            # One is opened ahead, and not all: a group may have a million members.
            children = self.iterate(node, depth)
            child = next(children, None)
            while child is not None:
                following = next(children, None)
                is_last = following is None
                yield indent + (last if is_last else branch) + label_of(child)
                yield from drawn(child, depth + 1, indent + ("    " if is_last else bar))
                child = following

        found = drawn(self.group, 0, " ")
        with self.listed_once():
            shown = list(islice(found, self.max_nodes))
            if self.max_nodes is not None and next(found, None) is not None:
                shown.append(f" ... and more: max_nodes is {self.max_nodes}")
        return lines([label_of(self.group), *shown])

    def listed_once(self) -> AbstractContextManager[Any]:
        """During a walk, if the group is ours."""
        once = getattr(getattr(self.group, "store", None), "listed_once", nullcontext)
        found: AbstractContextManager[Any] = once()
        return found

    def children(self, node: Any, depth: int) -> list[Any]:
        """The lines below ``node`` at this depth."""
        return list(self.iterate(node, depth))

    def iterate(self, node: Any, depth: int) -> Iterator[Any]:
        """What `children` lists; each member is opened when it is asked for."""
        is_leaf = hasattr(node, "shape") or not hasattr(node, "keys")
        if is_leaf or (self.level is not None and depth >= self.level):
            return iter(())
        shown = getattr(node, "_shown_members", None)
        if callable(shown):
            found: Iterator[Any] = shown()
            return found
        members = getattr(node, "members", None)
        # All members by one request, if the group supports it.
        return (one for _, one in members()) if callable(members) else (node[n] for n in node)

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.html import tree_html

        return tree_html(self)


# Pickles name a class by its module: that of zarr 2.18, where `zarrix.util` has it.
TreeViewer.__module__ = "zarrix.util"
