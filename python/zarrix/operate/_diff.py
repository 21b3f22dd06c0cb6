"""`diff`: in what two hierarchies differ, by name: nodes, metadata, attributes, chunks.

Chunks are compared by their elements, bit for bit, so that a NaN is equal to itself, and two arrays
that are stored with other codecs are equal if they read the same. Where the chunks of both are the
same bytes, and so are their codecs, nothing is decoded.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from zarrix._array import Array
from zarrix._attributes import Attributes
from zarrix._group import Group
from zarrix.operate._survey import Survey, place_of, survey

__all__ = ["Comparison", "Difference", "diff"]


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same in both.

    Attributes
    ----------
    path : str
        Of the node, below what was compared; empty for the root.
    kind : {"node", "metadata", "attribute", "chunk"}
    name : str
        What differs: the side that has the node, a property, an attribute, a chunk's coordinates.
    a, b : str
        What each has, in short; empty for chunks.
    """

    path: str
    kind: str
    name: str
    a: str = ""
    b: str = ""

    def __str__(self) -> str:
        values = f": {self.a} / {self.b}" if self.a or self.b else ""
        return f"/{self.path} {self.kind} {self.name}{values}"


@dataclass
class Comparison:
    """What `diff` found. True if there is a difference; printable, and `to_json` for programs.

    Attributes
    ----------
    differences : list of Difference
    nodes, chunks : int
        How many were compared.
    """

    differences: list[Difference] = field(default_factory=list)
    nodes: int = 0
    chunks: int = 0

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __bool__(self) -> bool:
        return not self.same

    def to_json(self) -> str:
        """Everything, as JSON text."""
        return json.dumps({"same": self.same, **asdict(self)}, indent=2)

    def __str__(self) -> str:
        if self.same:
            return f"no difference in {self.nodes:,} nodes and {self.chunks:,} chunks"
        return "\n".join(map(str, self.differences))


def diff(a: Any, b: Any) -> Comparison:
    """Compare two arrays, groups or stores; names what differs.

    How values are stored is compared as metadata; elements are compared as they read, so that other
    codecs or an absent chunk of fill are no difference of chunks. Chunks are those of ``a``.

    Parameters
    ----------
    a, b : Array, Group, Store, mapping, str or Path

    Returns
    -------
    Comparison
        True in a condition if there is a difference.

    Raises
    ------
    ZarrixError
        What is stored in one of them is broken; see `verify`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a, b = zarr.zeros((4, 4), chunks=(2, 2)), zarr.zeros((4, 4), chunks=(2, 2))
    >>> a.attrs["unit"], b[3, 0] = "mm", 1
    >>> print(zarr.diff(a, b))
    / attribute unit: 'mm' / absent
    / chunk (1, 0)
    """
    one, other = (survey(*place_of(target)) for target in (a, b))
    for found in (one, other):
        for problem in found.problems:
            if problem.kind == "metadata":
                raise ValueError(f"cannot compare: {problem}")
    result = Comparison()
    paths = sorted({*_nodes(one), *_nodes(other)})
    for path in paths:
        result.nodes += 1
        result.differences += _compare(path, _nodes(one).get(path), _nodes(other).get(path), result)
    return result


def _nodes(found: Survey) -> dict[str, Any]:
    """Arrays, and groups, by their path below what is compared."""
    start = len(found.path) + 1 if found.path else 0
    nodes: dict[str, Any] = {path[start:]: array for path, array in found.arrays.items()}
    for path in found.groups:
        nodes.setdefault(path[start:], Group(found.store, path=path, read_only=True))
    return nodes


def _compare(path: str, a: Any, b: Any, result: Comparison) -> Iterator[Difference]:
    kinds = [None if node is None else type(node).__name__.lower() for node in (a, b)]
    if kinds[0] != kinds[1]:
        yield Difference(path, "node", "kind", *(kind or "absent" for kind in kinds))
        return
    yield from _compare_attributes(path, a.attrs, b.attrs)
    if isinstance(a, Array):
        yield from _compare_metadata(path, a, b)
        if a.shape == b.shape and a.dtype == b.dtype:
            yield from _compare_chunks(path, a, b, result)


def _compare_attributes(path: str, a: Attributes, b: Attributes) -> Iterator[Difference]:
    for name in sorted({*a, *b}):
        values = [_short(one[name]) if name in one else "absent" for one in (a, b)]
        if (name in a) != (name in b) or not _equal(a[name], b[name]):
            yield Difference(path, "attribute", name, *values)


def _equal(a: Any, b: Any) -> bool:
    # As text: 1 is not 1.0 and not true, and NaN is NaN.
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _compare_metadata(path: str, a: Array, b: Array) -> Iterator[Difference]:
    for name, value in _described(a).items():
        other = _described(b)[name]
        if value != other:
            yield Difference(path, "metadata", name, _short_text(value), _short_text(other))


def _described(array: Array) -> dict[str, str]:
    metadata = array._metadata
    grid = metadata.rectilinear
    encoding = (metadata.key_encoding[0], metadata.dimension_separator, metadata.key_suffix)
    return {
        "zarr_format": str(metadata.zarr_format),
        "shape": str(metadata.shape),
        "dtype": str(metadata.dtype),
        "chunks": str(metadata.chunk_shape if grid is None else [one.document() for one in grid]),
        "fill_value": repr(metadata.fill_value),
        "codecs": json.dumps(list(metadata.codecs), default=dict, sort_keys=True),
        "chunk_key_encoding": str(encoding),
    }


def _compare_chunks(path: str, a: Array, b: Array, result: Comparison) -> Iterator[Difference]:
    same_layout = _described(a) == _described(b)
    counts = a._metadata.chunk_grid_shape
    both_empty = not a._io.stored_chunks() and not b._io.stored_chunks()
    if both_empty and _described(a)["fill_value"] == _described(b)["fill_value"]:
        result.chunks += math.prod(counts)
        return
    for coords in itertools.product(*map(range, counts)):
        result.chunks += 1
        if same_layout and _same_bytes(a, b, coords):
            continue
        region = a._metadata.chunk_region(coords)
        if not _same_elements(a[region], b[region]):
            yield Difference(path, "chunk", str(coords))


def _same_bytes(a: Array, b: Array, coords: tuple[int, ...]) -> bool:
    key = chunk_key(a, coords)
    return bool(a.chunk_store.get(a._key(key)) == b.chunk_store.get(b._key(key)))


def chunk_key(array: Array, coords: tuple[int, ...]) -> str:
    """Key of a chunk, below the array."""
    metadata = array._metadata
    encoding, separator = metadata.key_encoding[0], metadata.dimension_separator
    text = separator.join(map(str, coords))
    if encoding == "default":
        text = f"c{separator}{text}" if text else "c"
    return f"{text or '0'}{metadata.key_suffix}"


def _same_elements(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "OT":
        return bool(np.array_equal(a, b))
    return bool(a.tobytes() == b.tobytes())


def _short(value: Any) -> str:
    return _short_text(repr(value))


def _short_text(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
