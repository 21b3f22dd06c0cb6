"""Which keys differ between two versions, or between a version and the hierarchy as it is.

Pages with the same hash have the same rows, and are not read. The rest is merged by keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zarrix import _engine
from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._display.printable import counted, lines
from zarrix._errors import ArrayNotFoundError, PathNotFoundError
from zarrix._hierarchy.open import open as open_node
from zarrix._stores.keys import DOCUMENTS, key_of
from zarrix._stores.path import normalize_storage_path
from zarrix.versions._catalogue import Version, find_version
from zarrix.versions._documents import read_documents, spaces_of
from zarrix.versions._home import Home, ServerHome
from zarrix.versions._objects import listed_pages
from zarrix.versions._open import store_of
from zarrix.versions._pages import Page, PageRow, Row, made_pages, read_lines, rows_in
from zarrix.versions._snapshot import SKIPPED

__all__ = ["LIVE", "VersionDiff", "compare"]

Pages = Mapping[str, PageRow | bytes]
"""By digest: pages of a version, or the lines of pages that are not stored."""

LIVE = "live"
"""Stands for the hierarchy as it is now."""


@dataclass(frozen=True)
class VersionDiff:
    """What differs between two states of a hierarchy; true if anything does.

    Attributes
    ----------
    first, second : str
        The names of the versions, or ``"live"``.
    added, removed, changed : list of str
        Keys of values that only the second state has, only the first, and both with other values;
        sorted. Chunks have the key ``c/0/1``, in every spelling of the array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.open("data.zarr", mode="w", shape=(4, 4), chunks=2, dtype="i4")
    >>> z[:] = 1
    >>> version = zarr.snapshot("data.zarr", "v1")
    >>> z[2:] = 2
    >>> d = zarr.Versions("data.zarr").diff("v1", "live")
    >>> d.changed, d.regions()
    (['c/1/0', 'c/1/1'], [(slice(2, 4, None), slice(0, 4, None))])
    """

    first: str
    second: str
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    _stores: tuple[Any, ...] = field(repr=False, compare=False, default=())

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def regions(self, path: str = "") -> list[tuple[slice, ...]]:
        """The boxes of an array that differ, made of whole chunks, or of shards.

        Parameters
        ----------
        path : str
            Of an array that one of the states has; the root when omitted.

        Returns
        -------
        list of tuple of slice
            They do not overlap. Empty if no chunk differs.

        Raises
        ------
        ArrayNotFoundError
            Neither state has the array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.open("data.zarr", mode="w", shape=(4, 6), chunks=2, dtype="i4")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> z[0:2, 0:4] = 1
        >>> zarr.Versions("data.zarr").diff("v1").regions()
        [(slice(0, 2, None), slice(0, 4, None))]
        """
        inside = normalize_storage_path(path)
        array = self._array(inside)
        grid, shape = metadata_of(array).grid, array.shape
        prefix = key_of(inside, "c")
        chunks = set()
        for key in (*self.added, *self.removed, *self.changed):
            if key != prefix and not key.startswith(f"{prefix}/"):
                continue
            numbers = key[len(prefix) + 1 :].split("/") if key != prefix else []
            if len(numbers) == len(shape) and all(one.isdecimal() for one in numbers):
                chunks.add(tuple(map(int, numbers)))
        boxes = []
        for box in _boxes(chunks, len(shape)):
            extents = [
                (axis.chunk(begin).begin, axis.chunk(end - 1).end)
                for axis, (begin, end) in zip(grid, box, strict=True)
            ]
            # Chunks of another shape, which the array had in the other state, may lie outside.
            if all(begin < size for (begin, _), size in zip(extents, shape, strict=True)):
                boxes.append(
                    tuple(
                        slice(begin, min(end, size))
                        for (begin, end), size in zip(extents, shape, strict=True)
                    )
                )
        return boxes

    def _array(self, path: str) -> Array:
        for store in reversed(self._stores):
            try:
                node = open_node(store, mode="r", path=path)
            except PathNotFoundError:
                continue
            if isinstance(node, Array):
                return node
        raise ArrayNotFoundError(
            f"neither {self.first!r} nor {self.second!r} has an array {path or '/'!r}"
        )

    def arrays(self) -> list[str]:
        """The paths of nodes of which something differs, sorted.

        Returns
        -------
        list of str

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> z = root.zeros("a/b", shape=3)
        >>> zarr.Versions("data.zarr").diff("v1").arrays()
        ['a', 'a/b']
        """
        return sorted({_node(key) for key in (*self.added, *self.removed, *self.changed)})

    def to_json(self) -> str:
        """Everything, as JSON text.

        Returns
        -------
        str

        Examples
        --------
        >>> import json, zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> json.loads(zarr.Versions("data.zarr").diff("v1").to_json())["changed"]
        []
        """
        names = ("first", "second", "added", "removed", "changed")
        return json.dumps({"same": not self, **{n: getattr(self, n) for n in names}}, indent=2)

    def __str__(self) -> str:
        if not self:
            return f"no difference between {self.first} and {self.second}"
        return lines(f"/{path}  {', '.join(self._counted(path))}" for path in self.arrays())

    def _counted(self, path: str) -> list[str]:
        words = ("added", "removed", "changed")
        numbers = (sum(_node(key) == path for key in getattr(self, word)) for word in words)
        return [
            f"{counted(number, 'value')} {word}"
            for word, number in zip(words, numbers, strict=True)
            if number
        ]


def _node(key: str) -> str:
    """The path of the node of a value: of a chunk its array, else the folder."""
    above, _, name = key.rpartition("/")
    if name in DOCUMENTS or not (name == "c" or name.isdecimal()):
        return above
    parts = key.split("/")
    while parts and parts[-1].isdecimal():
        parts.pop()
    if parts and parts[-1] == "c":
        parts.pop()
        return "/".join(parts)
    return above


def _boxes(chunks: Iterable[tuple[int, ...]], axes: int) -> list[list[tuple[int, int]]]:
    """Disjoint boxes of these chunks: runs along the last axis, and then along each other one."""
    boxes = sorted([(number, number + 1) for number in chunk] for chunk in chunks)
    for axis in reversed(range(axes)):
        # Boxes that differ along this axis alone lie beside each other.
        boxes.sort(key=lambda box: (box[:axis], box[axis + 1 :], box[axis]))
        merged: list[list[tuple[int, int]]] = []
        for box in boxes:
            last = merged[-1] if merged else None
            if (
                last is not None
                and last[:axis] == box[:axis]
                and last[axis + 1 :] == box[axis + 1 :]
                and last[axis][1] == box[axis][0]
            ):
                last[axis] = (last[axis][0], box[axis][1])
            else:
                merged.append(list(box))
        boxes = merged
    return sorted(boxes)


def compare(home: Home | ServerHome, first: str, second: str) -> VersionDiff:
    """Compare two states, each a version or the live hierarchy."""
    versions = [
        None if name == LIVE else find_version(home.versions, name, home.folder)
        for name in (first, second)
    ]
    digests = any(version is not None and version.has_digests for version in versions)
    old, new = _different_rows(home, versions, digests)
    before, after = ({row[0]: row[1:3] for row in rows} for rows in (old, new))
    return VersionDiff(
        first,
        second,
        added=sorted(after.keys() - before.keys()),
        removed=sorted(before.keys() - after.keys()),
        changed=sorted(key for key in before.keys() & after.keys() if before[key] != after[key]),
        _stores=tuple(home.live if one is None else store_of(home, one) for one in versions),
    )


def _different_rows(
    home: Home | ServerHome, versions: list[Version | None], digests: bool
) -> tuple[list[Row], list[Row]]:
    """The rows that only one of the states has; pages that both have are not read."""
    stored = [{page.digest: page for page in one.pages} if one else {} for one in versions]
    first, second = (
        _live_pages(home, digests, known=other) if version is None else own
        for version, own, other in zip(versions, stored, reversed(stored), strict=True)
    )
    old, new = _lines(home, first, second), _lines(home, second, first)
    return _rows(old - new), _rows(new - old)


def _lines(home: Home | ServerHome, own: Pages, other: Pages) -> set[bytes]:
    found: set[bytes] = set()
    for digest, page in own.items():
        if digest not in other:
            lines = page if isinstance(page, bytes) else read_lines(home.versions, page)
            found.update(lines.splitlines())
    return found


def _rows(lines: set[bytes]) -> list[Row]:
    return list(rows_in(b"\n".join(lines), ascend=False))


def _live_pages(
    home: Home | ServerHome, digests: bool, known: Mapping[str, PageRow]
) -> Mapping[str, PageRow | bytes]:
    """The pages of the hierarchy as it is; of those that are ``known``, the lines are not held."""
    spaces = spaces_of(read_documents(home.live))
    if isinstance(home, ServerHome):
        pages: Iterable[Page] = listed_pages(home, spaces)
    else:
        tree = _engine.CarriedTree(home.root, None, "copy", skipped=SKIPPED, digests=digests)
        tree.take("", spaces)
        pages = made_pages(tree.pages())
    return {page.row.digest: page.row if page.row.digest in known else page.lines for page in pages}
