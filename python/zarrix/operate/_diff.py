"""`diff`: the differences of two hierarchies, by name: nodes, metadata, attributes, chunks.

Chunks are compared by their elements, bit for bit: a NaN is equal to itself, and two arrays with
different codecs are equal if they read the same. If the codecs and the stored bytes of a chunk are
equal, nothing is decoded. Chunks that neither array stores are not visited: the cost is linear in
nodes and stored chunks, and does not depend on the size of the grid.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from zarrix._array.access import io_of, metadata_of
from zarrix._array.array import Array
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._display.table import Printed
from zarrix._errors import MetadataError
from zarrix._metadata import v2
from zarrix._metadata.checks import members_of
from zarrix._metadata.chunk_grid import chunks_over
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP
from zarrix._stores.path import is_url
from zarrix.operate._place import nothing_at, place_of
from zarrix.operate._survey import Survey, survey

__all__ = ["Comparison", "Difference", "diff"]


@dataclass(frozen=True)
class Difference:
    """One difference.

    Attributes
    ----------
    path : str
        Path of the node, relative to the compared root; empty for the root.
    kind : {"node", "metadata", "attribute", "chunk"}
    name : str
        The side that has the node, a property, an attribute, or the coordinates of a chunk.
    a, b : str
        The short value of each side; empty for chunks.

    Examples
    --------
    >>> import zarrix as zarr
    >>> result = zarr.diff(zarr.zeros(3, chunks=3), zarr.ones(3, chunks=3))
    >>> print(result.differences[0])
    / metadata fill_value: np.float64(0.0) / np.float64(1.0)
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
class Comparison(Printed):
    """The result of `diff`. True if there is a difference; printable, and `to_json` for programs.

    Attributes
    ----------
    differences : list of Difference
    nodes, chunks : int
        The number of compared nodes, and of chunks that at least one side stores.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a, b = zarr.array([1, 2, 3], chunks=2), zarr.array([1, 2, 4], chunks=2)
    >>> result = zarr.diff(a, b)
    >>> result.same, result.chunks, [one.name for one in result.differences]
    (False, 2, ['(1,)'])
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
        """Everything, as JSON text.

        Returns
        -------
        str

        Examples
        --------
        >>> import json, zarrix as zarr
        >>> z = zarr.zeros(3)
        >>> json.loads(zarr.diff(z, z).to_json())
        {'same': True, 'differences': [], 'nodes': 1, 'chunks': 0}
        """
        return json.dumps({"same": self.same, **asdict(self)}, indent=2)

    def __str__(self) -> str:
        if self.same:
            chunks = counted(self.chunks, "stored chunk")
            return f"no difference in {counted(self.nodes, 'node')} and {chunks}"
        return lines(map(str, self.differences))


def diff(
    a: Any,
    b: Any,
    *,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> Comparison:
    """Compare two arrays, groups or stores, and name the differences.

    Codecs and grids are compared as metadata. Elements are compared as they read, so that other
    codecs, or a missing chunk that is equal to the fill value, do not make chunks differ. The
    chunks are those of ``a`` for which ``a`` or ``b`` stores something; elsewhere both read as
    their fill value.

    Parameters
    ----------
    a, b : Array, Group, Store, mapping, URL, str or Path
        Anything that `zarrix.open` takes or returns.
    storage_options : mapping, optional
        Options for a URL among the two.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of finished items and the total:
        first for the documents of each side, then for the stored chunks.

    Returns
    -------
    Comparison
        True in a condition if there is a difference.

    Raises
    ------
    PathNotFoundError
        One of them has neither a node nor remains of one (also a ``FileNotFoundError``).
    ZarrixError
        One of them has broken data; see `verify`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a, b = zarr.zeros((4, 4), chunks=(2, 2)), zarr.zeros((4, 4), chunks=(2, 2))
    >>> a.attrs["unit"], b[3, 0] = "mm", 1
    >>> print(zarr.diff(a, b))
    / attribute unit: 'mm' / absent
    / chunk (1, 0)
    """
    one, other = (_sound(target, storage_options, progress) for target in (a, b))
    result = Comparison()
    nodes = [_kinds(found) for found in (one, other)]
    chunks = _Chunks(one, other, result, phase(progress, "chunks"))
    for path in sorted({*nodes[0], *nodes[1]}):
        result.nodes += 1
        kinds = [kind.get(path) for kind in nodes]
        if kinds[0] == kinds[1]:
            result.differences += _compare(path, one, other, chunks)
        else:
            told = (kind or "absent" for kind in kinds)
            result.differences.append(Difference(path, "node", "kind", *told))
    chunks.end()
    return result


def _sound(
    target: Any, storage_options: Mapping[str, Any] | None, progress: bool | Progress
) -> Survey:
    """The survey of one side; all its metadata must be readable."""
    has_options = isinstance(target, str) and is_url(target)
    place = place_of(target, None, storage_options if has_options else None)
    found = survey(place, progress)
    for problem in found.problems:
        if problem.kind in ("metadata", "codec"):
            raise MetadataError(f"cannot compare: {problem}")
    if not (found.arrays or found.groups):
        raise nothing_at(place.store, place.path)
    return found


def _kinds(survey: Survey) -> dict[str, str]:
    """Arrays and groups by their path relative to the compared root."""
    start = len(survey.place.path) + 1 if survey.place.path else 0
    groups = {path[start:]: "group" for path in survey.groups}
    return {**groups, **{path[start:]: "array" for path in survey.arrays}}


def _compare(path: str, first: Survey, second: Survey, chunks: _Chunks) -> Iterator[Difference]:
    paths = ["/".join(filter(None, (found.place.path, path))) for found in (first, second)]
    yield from _compare_attributes(
        path, _attributes(first, paths[0]), _attributes(second, paths[1])
    )
    if paths[0] in first.arrays:
        a, b = first.arrays[paths[0]], second.arrays[paths[1]]
        yield from _compare_metadata(path, a, b)
        if a.shape == b.shape and a.dtype == b.dtype:
            yield from chunks.compare(path, a, b)


def _attributes(survey: Survey, path: str) -> Mapping[str, Any]:
    """The attributes of a node, from documents that were read already."""
    prefix = f"{path}/" if path else ""
    if f"{prefix}{ZARRAY}" in survey.documents or f"{prefix}{ZGROUP}" in survey.documents:
        key = f"{prefix}{ZATTRS}"
        return v2.parse_attributes(survey.documents.get(key, b"{}"), label=key)
    key = f"{prefix}{ZARR_JSON}"
    attributes: Mapping[str, Any] = members_of(survey.documents[key], key).get("attributes") or {}
    return attributes


def _compare_attributes(
    path: str, a: Mapping[str, Any], b: Mapping[str, Any]
) -> Iterator[Difference]:
    for name in sorted({*a, *b}):
        values = [_short(one[name]) if name in one else "absent" for one in (a, b)]
        if (name in a) != (name in b) or not _equal(a[name], b[name]):
            yield Difference(path, "attribute", name, *values)


def _equal(a: Any, b: Any) -> bool:
    # As text: 1 is not 1.0 and not true, and NaN is NaN.
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _compare_metadata(path: str, a: Array, b: Array) -> Iterator[Difference]:
    others = _described(b)
    for name, value in _described(a).items():
        other = others[name]
        if value != other:
            yield Difference(path, "metadata", name, _short_text(value), _short_text(other))


def _described(array: Array) -> dict[str, str]:
    metadata = metadata_of(array)
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


class _Chunks:
    """Compares the chunks of one pair of arrays after the other, and reports its progress."""

    def __init__(self, first: Survey, second: Survey, result: Comparison, tell: Progress) -> None:
        self._sides = (first, second)
        self._result = result
        self._tell = tell
        self._total = sum(len(keys) for found in self._sides for keys in found.chunks.values())
        self._done = 0

    def compare(self, path: str, a: Array, b: Array) -> Iterator[Difference]:
        """The chunks that differ between two arrays of one shape and dtype."""
        keys = [
            {tuple(at): key for key, at in io_of(one).stored_chunks(found.chunks.get(one.path, []))}
            for found, one in zip(self._sides, (a, b), strict=True)
        ]
        same_layout = _described(a) == _described(b)
        wanted = {*keys[0], *_places(a, b, keys[1])}
        for coords in sorted(wanted):
            self._result.chunks += 1
            self._count(sum(coords in side for side in keys))
            if same_layout and _same_bytes(a, b, keys[0].get(coords), keys[1].get(coords)):
                continue
            region = metadata_of(a).chunk_region(coords)
            if not _same_elements(a[region], b[region]):
                yield Difference(path, "chunk", str(coords))

    def _count(self, stored: int) -> None:
        self._done = min(self._done + stored, self._total)
        if self._done < self._total:
            self._tell(self._done, self._total)

    def end(self) -> None:
        """Report that all chunks are compared."""
        if self._total:
            self._tell(self._total, self._total)


def _places(a: Array, b: Array, stored: Mapping[tuple[int, ...], str]) -> Iterator[tuple[int, ...]]:
    """The chunks of ``a`` that overlap these stored chunks of ``b``."""
    grids = metadata_of(a).grid, metadata_of(b).grid
    if grids[0] == grids[1]:
        yield from stored
        return
    for coords in stored:
        yield from chunks_over(grids[0], metadata_of(b).chunk_region(coords), a.shape)


def _same_bytes(a: Array, b: Array, key: str | None, other: str | None) -> bool:
    """Whether both store a chunk, and the same bytes."""
    if key is None or other is None:
        return False
    mine, theirs = a.chunk_store._engine.get(key), b.chunk_store._engine.get(other)
    return mine is not None and mine == theirs


def _same_elements(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "OT":
        return bool(np.array_equal(a, b))
    return bool(a.tobytes() == b.tobytes())


def _short(value: Any) -> str:
    return _short_text(repr(value))


def _short_text(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
