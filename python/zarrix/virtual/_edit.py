"""Changes of a list of pieces: another virtual array, for which no listed piece is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from zarrix._array.access import io_of, metadata_of
from zarrix._array.array import Array
from zarrix._array.boxes import MOST_AT_ONCE
from zarrix._errors import PieceChangedError, PieceNotFoundError, VirtualError, ZarrixError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._runtime.signatures import takes
from zarrix.virtual._concat import concat, stack
from zarrix.virtual._keywords import ServerKeywords
from zarrix.virtual._open import store_of
from zarrix.virtual._opener import Opener, check_of
from zarrix.virtual._store import Boxes, VirtualStore, box_of
from zarrix.virtual._table import Row, Source, Table

__all__ = ["Piece", "Pieces", "Problem", "edit", "pieces", "refresh", "verify"]


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of a virtual array.

    Attributes
    ----------
    source : str
        The path or URL of what has the piece.
    path : str
        Of the array in it.
    start, shape : tuple of int
        The box in the virtual array.
    more : mapping
        What is special about it, under the names of the document.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> zarr.save_array("a.zarr", [1, 2])
    >>> virtual.pieces(virtual.concat(["a.zarr", "a.zarr"]))[1].start
    (2,)
    """

    source: str
    path: str
    start: tuple[int, ...]
    shape: tuple[int, ...]
    more: Mapping[str, Any]


class Pieces(Sequence[Piece]):
    """The pieces of a virtual array, in the order of its list; `pieces` returns them.

    Parameters
    ----------
    store : store of a virtual array
    path : str
        Of the array in it.

    Raises
    ------
    KeyError
        The store has no virtual array at ``path``.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> zarr.save_array("a.zarr", [1, 2])
    >>> len(virtual.pieces(virtual.concat(["a.zarr", "a.zarr"])))
    2
    """

    def __init__(self, store: VirtualStore, path: str) -> None:
        self._store, self._path, self._table = store, path, store.tables[path]

    @property
    def missing(self) -> list[int]:
        """The numbers of pieces that reads have found missing."""
        boxes = self._store.boxes.get(self._path)
        return sorted(boxes.missing) if boxes is not None else []

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        row = self._table.row(range(len(self))[number])
        source = self._store.opener.told(row.source, "")
        return Piece(source, row.path, row.start, row.shape, row.more)


def pieces(array: Array) -> Pieces:
    """The pieces of a virtual array.

    Parameters
    ----------
    array : Array

    Returns
    -------
    Pieces

    Raises
    ------
    VirtualError
        The array is not virtual.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> zarr.save_array("a.zarr", [1, 2])
    >>> [piece.shape for piece in virtual.pieces(virtual.concat(["a.zarr"]))]
    [(2,)]
    """
    return Pieces(store_of(array), _path_of(array))


def _path_of(array: Array) -> str:
    if array.path not in store_of(array).tables:
        raise VirtualError(f"{array!r} is in the list itself and has no pieces")
    return array.path


@takes(ServerKeywords, like=concat)
def edit(
    array: Array,
    *,
    append: Any = (),
    prepend: Any = (),
    drop: int | slice | None = None,
    replace: Mapping[int, Any] | None = None,
    window: int | None = None,
    **kwargs: Unpack[ServerKeywords],
) -> Array:
    """Another virtual array, with pieces added, dropped or replaced.

    Only new pieces are opened. They have to fit as those of `concat` do, or those of `stack` if the
    array was stacked. Groups are joined again: ``join([group, "new.nc"], "time")``.

    Parameters
    ----------
    array : Array
        A virtual array whose pieces lie behind one another along one axis.
    append, prepend : sources, optional
        As for `concat`.
    drop : int or slice, optional
        Which pieces are left out, by their numbers in `pieces`. What follows moves up.
    replace : mapping of int to source, optional
        What comes in the place of a piece; it may have another length along the axis.
    window : int, optional
        The length of the result along that axis: of the longer array, its last so many elements.
    **kwargs
        ``storage_options``, for new sources that are URLs.

    Returns
    -------
    Array

    Raises
    ------
    VirtualError
        A piece does not fit, is both dropped and replaced, or the pieces do not lie along one axis.
    IndexError
        A number is not that of a piece.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> for day in range(3):
    ...     np.save(f"day{day}.npy", np.arange(2) + 10 * day)
    >>> series = virtual.concat(["day0.npy", "day1.npy"])
    >>> virtual.edit(series, append="day2.npy", window=3)[...]
    array([11, 20, 21])
    >>> virtual.edit(series, drop=0, replace={1: "day2.npy"})[...]
    array([20, 21])
    """
    table = store_of(array).tables[_path_of(array)]
    axis = table.index.axis
    if axis is None:
        raise VirtualError(f"the pieces of {array!r} do not lie along one axis; list them anew")
    storage_options = kwargs.get("storage_options")
    is_stacked = len(table) > 0 and all(axis not in _axes(row) for row in table.rows()[:1])

    def added(sources: Any) -> list[Any]:
        if isinstance(sources, list | tuple) and not len(sources):
            return []
        if is_stacked:
            return [stack(sources, axis, storage_options=storage_options)]
        is_one = isinstance(sources, str) or hasattr(sources, "__fspath__")
        return [sources] if is_one else [*sources]

    kept = _kept(array, axis, drop, {n: added([one]) for n, one in (replace or {}).items()})
    parts = [*added(prepend), *kept, *added(append)]
    if not parts:
        raise VirtualError(f"no piece of {array!r} is left")
    longer = concat(parts, axis, storage_options=storage_options)
    length = longer.shape[axis]
    if window is None or length <= window:
        return longer
    return concat([_part(longer, axis, length - window, length)], axis)


def _kept(
    array: Array, axis: int, drop: int | slice | None, new: Mapping[int, list[Any]]
) -> list[Any]:
    """What is left of an array, with new sources in the place of some pieces."""
    table = store_of(array).tables[array.path]
    numbers = range(len(table))
    if isinstance(drop, slice):
        dropped = {*numbers[drop]}
    else:
        dropped = set() if drop is None else {_number(numbers, drop, array)}
    replaced = {_number(numbers, number, array): sources for number, sources in new.items()}
    both = sorted(dropped & replaced.keys())
    if both:
        raise VirtualError(f"piece {both[0]} of {array!r} is both dropped and replaced")
    starts = table.starts[:, axis].tolist()
    stops = (table.starts + table.shapes)[:, axis].tolist()
    parts: list[Any] = []
    at = 0
    for number in sorted({*dropped, *replaced}):
        if at < starts[number]:
            parts.append(_part(array, axis, at, starts[number]))
        parts += replaced.get(number, [])
        at = stops[number]
    if at == 0 and not parts:
        return [array] if not dropped else [_part(array, axis, 0, array.shape[axis])]
    return [*parts, _part(array, axis, at, array.shape[axis])] if at < array.shape[axis] else parts


def _number(numbers: range, number: int, array: Array) -> int:
    if not -len(numbers) <= number < len(numbers):
        raise IndexError(f"{array!r} has {len(numbers)} pieces, and none of number {number}")
    return numbers[number]


def _part(array: Array, axis: int, start: int, stop: int) -> Any:
    return array.lazy[(slice(None),) * axis + (slice(start, stop),)]


def _axes(row: Row) -> Sequence[Any]:
    axes: Sequence[Any] = row.more.get("axes", range(len(row.shape)))
    return axes


@takes()
def refresh(node: Array | Group) -> Array | Group:
    """The same list, after all pieces were looked up again: a piece that changed is read as it is.

    Parameters
    ----------
    node : Array or Group
        A virtual one.

    Returns
    -------
    Array or Group

    Raises
    ------
    PieceNotFoundError
        A piece is gone.
    PieceChangedError
        A piece no longer has the elements that the list names; list the pieces anew.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> np.save("x.npy", np.arange(3))
    >>> series = virtual.concat(["x.npy"])
    >>> np.save("x.npy", np.arange(3) + 100)
    >>> virtual.refresh(series)[...]
    array([100, 101, 102])
    """
    store = store_of(node)
    old = store.opener
    sources = [_checked_anew(old, number) for number in range(len(old.sources))]
    opener = Opener(sources, old.targets, old.home, old.live)
    opener.own = dict(old.own)
    tables = {}
    for path, table in store.tables.items():
        dtype = metadata_of(store.array(path)).dtype
        checks: list[str | None] = []
        for begin in range(0, len(table), MOST_AT_ONCE):
            some = range(begin, min(begin + MOST_AT_ONCE, len(table)))
            arrays = opener.arrays(
                [(table.sources[n], table.paths[n]) for n in some], [None] * len(some)
            )
            for number, array in zip(some, arrays, strict=True):
                checks.append(_check_anew(table, number, array, (opener, dtype)))
        columns = (table.sources, table.paths, table.starts, table.shapes, checks, table.more)
        tables[path] = Table(table.shape, columns)
    return open_node(VirtualStore(store.stored_values, tables, opener, store.path), mode="r")


def _checked_anew(opener: Opener, number: int) -> Source:
    source = opener.sources[number]
    if source.check is None or source.location is None:
        return source
    return source._replace(check=opener.version(number))


def _check_anew(
    table: Table, number: int, array: Array | None, known: tuple[Opener, np.dtype[Any]]
) -> str | None:
    opener, dtype = known
    told = opener.told(table.sources[number], table.paths[number])
    if array is None:
        if table.more[number].get("fill"):
            return table.checks[number]
        raise PieceNotFoundError(f"the piece {told} is gone")
    metadata = metadata_of(array)
    if box_of(metadata, io_of(array), table, number, dtype) is None:
        raise PieceChangedError(
            f"the piece {told} has shape {metadata.shape} and dtype {metadata.dtype}, and no "
            "longer has the elements that the list names; list the pieces anew"
        )
    return None if table.checks[number] is None else check_of(array)


@dataclass(frozen=True, slots=True)
class Problem:
    """A piece that cannot be read.

    Attributes
    ----------
    array : str
        The path of the virtual array.
    piece : int
        The number of the piece.
    error : Exception
        What a read of it raises.

    Examples
    --------
    >>> from zarrix import virtual
    >>> virtual.Problem("t2m", 3, FileNotFoundError("gone")).piece
    3
    """

    array: str
    piece: int
    error: Exception


def verify(node: Array | Group) -> list[Problem]:
    """Open every piece, and list those that are gone, changed, or not what the list says.

    Parameters
    ----------
    node : Array or Group
        A virtual one.

    Returns
    -------
    list of Problem

    Raises
    ------
    VirtualError
        The node is not virtual.

    Examples
    --------
    >>> import numpy as np, os, zarrix as zarr
    >>> from zarrix import virtual
    >>> np.save("x.npy", np.arange(3))
    >>> series = virtual.concat(["x.npy", "x.npy"])
    >>> os.remove("x.npy")
    >>> [problem.piece for problem in virtual.verify(series)]
    [0, 1]
    """
    store = store_of(node)
    found: list[Problem] = []
    for path, table in store.tables.items():
        opener = Opener(store.opener.sources, store.opener.targets, store.opener.home)
        opener.live, opener.own = store.opener.live, store.opener.own
        boxes = Boxes(table, opener, metadata_of(store.array(path)).dtype)
        for number in range(len(table)):
            try:
                boxes([number])
            except (ZarrixError, OSError) as error:
                found.append(Problem(path, number, error))
    return found
