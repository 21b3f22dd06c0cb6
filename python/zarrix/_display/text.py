"""What arrays and groups look like as text: the info report and the tree.

All of it is made from public properties, so it shows h5py and zarr-python objects too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any

from zarrix._display.printable import lines, printable
from zarrix._dtypes.objects import is_variable
from zarrix._errors import human_readable_size, shorten
from zarrix._metadata.array import ArrayMetadata
from zarrix._nodes.broken import BrokenMember

__all__ = [
    "InfoReporter",
    "TreeViewer",
    "array_items",
    "group_items",
    "label_of",
    "type_name",
]

InfoItems = list[tuple[str, Any]]

# Wide enough for the longest description of a Blosc compressor on one line.
_WIDTH = 100


def byte_count(size: int) -> str:
    """``size`` as the info report prints it: exact, and rounded where that is easier to read."""
    return f"{size} ({human_readable_size(size)})" if size > 2**10 else str(size)


def type_name(obj: Any) -> str:
    """Module and name of the class of ``obj``."""
    return f"{type(obj).__module__}.{type(obj).__name__}"


def array_items(array: Any) -> InfoItems:
    """The rows of an array's report; ``Name`` only where it has one."""
    nbytes, stored = array.nbytes, int(array.nbytes_stored)
    rows: list[tuple[str, Any] | None] = [
        ("Name", array.name) if array.name is not None else None,
        ("Type", type_name(array)),
        ("Zarr format", "3") if array.zarr_format == 3 else None,
        ("Data type", str(array.dtype)),
        ("Shape", str(array.shape)),
        *_partition_rows(array._metadata),
        ("Order", array.order),
        ("Read-only", str(array.read_only)),
        *((f"Filter [{i}]", repr(codec)) for i, codec in enumerate(array.filters or ())),
        *_codec_rows(array),
        _not_native(array),
        *_store_rows(array),
        ("No. bytes", byte_count(nbytes)),
        ("No. bytes stored", byte_count(stored)) if stored > 0 else None,
        ("Storage ratio", f"{nbytes / stored:.1f}") if stored > 0 else None,
        ("Chunks initialized", f"{array.nchunks_initialized}/{array.nchunks}"),
    ]
    return [row for row in rows if row is not None]


def _partition_rows(metadata: ArrayMetadata) -> InfoItems:
    outer = str(metadata.chunk_shape)
    if metadata.rectilinear is not None:
        lengths = [axis.document() for axis in metadata.rectilinear]
        outer = f"several, of lengths {shorten(lengths)}"
    if metadata.shard_codec is None:
        return [("Chunk shape", outer)]
    return [("Shard shape", outer), ("Chunk shape", str(metadata.inner_chunk_shape))]


def _codec_rows(array: Any) -> InfoItems:
    if array.zarr_format == 2:
        return [("Compressor", repr(array.compressor))]
    compressors = ", ".join(map(repr, array.compressors))
    return [("Serializer", repr(array.serializer)), ("Compressors", compressors or "none")]


def group_items(group: Any) -> InfoItems:
    """The rows of a group's report."""
    arrays, groups = list(group.array_keys()), list(group.group_keys())
    rows: list[tuple[str, Any] | None] = [
        ("Name", group.name),
        ("Type", type_name(group)),
        ("Zarr format", "3") if group.zarr_format == 3 else None,
        ("Read-only", str(group.read_only)),
        *_store_rows(group),
        ("No. members", len(arrays) + len(groups)),
        ("No. arrays", len(arrays)),
        ("No. groups", len(groups)),
        ("Arrays", ", ".join(arrays)) if arrays else None,
        ("Groups", ", ".join(groups)) if groups else None,
    ]
    return [row for row in rows if row is not None]


def _store_rows(node: Any) -> InfoItems:
    rows = [("Store type", type_name(node.store))]
    if node.chunk_store is not node.store:
        rows.append(("Chunk store type", type_name(node.chunk_store)))
    if node.synchronizer is not None:
        rows.insert(0, ("Synchronizer type", type_name(node.synchronizer)))
    return rows


def _not_native(array: Any) -> tuple[str, str] | None:
    """Which codecs the engine has to call Python for: reading them costs much more."""
    foreign = set(array._metadata.foreign_codecs)
    codecs = [*(array.filters or ()), array.serializer, *array.compressors]
    names = [type(codec).__name__ for codec in codecs if codec and _codec_id(codec) in foreign]
    how = "in Python" if is_variable(array._metadata.dtype) else "through numcodecs"
    return ("Not native", f"{', '.join(names)} ({how})") if names else None


def _codec_id(codec: Any) -> str:
    """What numcodecs calls a codec of either format."""
    return str(getattr(codec, "codec_id", "") or codec.name.removeprefix("numcodecs."))


class InfoReporter:
    """The rows of ``info_items()``, printed as a table of text or HTML."""

    def __init__(self, obj: Any) -> None:
        self.obj = obj
        self.items: InfoItems = obj.info_items()

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.items)
        rows = []
        for name, value in self.items:
            start, rest = f"{name:<{width}} : ", f"{'':<{width}} : "
            said = printable(str(value))
            text = textwrap.fill(said, _WIDTH, initial_indent=start, subsequent_indent=rest)
            rows.append(text)
        return "\n".join([*rows, ""])

    def _repr_html_(self) -> str:
        from zarrix._display.html import info_table

        return info_table(self.items)


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
            children = self.children(node, depth)
            for child in children:
                is_last = child is children[-1]
                yield indent + (last if is_last else branch) + label_of(child)
                yield from drawn(child, depth + 1, indent + ("    " if is_last else bar))

        found = drawn(self.group, 0, " ")
        with self.listed_once():
            shown = list(islice(found, self.max_nodes))
            if self.max_nodes is not None and next(found, None) is not None:
                shown.append(f" ... and more: max_nodes is {self.max_nodes}")
        return lines([label_of(self.group), *shown])

    def listed_once(self) -> AbstractContextManager[Any]:
        """For the time of a walk, where the group is one of ours."""
        once = getattr(getattr(self.group, "store", None), "listed_once", nullcontext)
        found: AbstractContextManager[Any] = once()
        return found

    def children(self, node: Any, depth: int) -> list[Any]:
        """What is shown below ``node``, which is so far down."""
        is_leaf = hasattr(node, "shape") or not hasattr(node, "keys")
        if is_leaf or (self.level is not None and depth >= self.level):
            return []
        shown = getattr(node, "_shown_members", None)
        if callable(shown):
            return list(shown())
        members = getattr(node, "members", None)
        # One look at all of them, where a group offers that.
        return [one for _, one in members()] if callable(members) else [node[n] for n in node]

    def _repr_html_(self) -> str:
        from zarrix._display.html import tree_html

        return tree_html(self)


def label_of(node: Any) -> str:
    """Name of a node in a tree; of an array with shape and dtype, of a broken one with why."""
    if isinstance(node, BrokenMember):
        return node.label
    name = node.name.split("/")[-1] if node.name else ""
    label = name or "/"
    return f"{label} {node.shape} {node.dtype}" if hasattr(node, "shape") else label
