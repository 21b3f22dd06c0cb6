"""`join`: the variables of many groups along a coordinate, as one group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import VirtualError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.json import json_dumps
from zarrix._runtime.signatures import takes
from zarrix._stores.keys import ZARR_JSON, key_of
from zarrix.virtual._along import Coordinate, Segment, segments
from zarrix.virtual._concat import check_shape, concat
from zarrix.virtual._given import Given, GivenGroup, Sources
from zarrix.virtual._keywords import PieceKeywords, check_reading, reading_of
from zarrix.virtual._rules import check_meaning, is_packed
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import Row, Table
from zarrix.virtual._whole import Making, Whole, common_dtype, document_of, inlined

__all__ = ["join"]

# Variables up to this size that do not lie along the coordinate are in the list itself.
_MOST_INLINE = 1 << 20
# What is compared at once of a larger one.
_PART_BYTES = 8 << 20


@takes(PieceKeywords, like=concat)
def join(
    sources: Any,
    along: str,
    *,
    variables: Sequence[str] | None = None,
    overlap: Literal["error", "first", "last"] = "error",
    **kwargs: Unpack[PieceKeywords],
) -> Group:
    """The variables of groups and files along a coordinate, as one read-only group.

    Nothing is copied but the coordinate, and small variables without it. Sources are in the order
    of their labels. Variables that do not have the dimension must be equal in all sources.

    Parameters
    ----------
    sources : sequence of Group, str or Path, or a pattern
        Zarr groups, files with several arrays, and paths in these.
    along : str
        A dimension whose coordinate has numbers or times that ascend, or descend, in each source.
        They are stored in the units of the first source, if that is exact.
    variables : sequence of str, optional
        Only these, and the coordinate.
    overlap : {"error", "first", "last"}
        Which source has a label that several have; the ranges of sources may not overlap otherwise.
    **kwargs
        As for `concat`: ``decode`` (of variables with a scale, an offset or a fill value),
        ``missing`` (``"fill"`` also lets sources lack variables), ``storage_options``, and
        ``dtype``, which is a mapping of names to dtypes.

    Returns
    -------
    Group

    Raises
    ------
    VirtualError
        Labels overlap or are not sorted; calendars differ; or variables do not fit together.
    PieceNotFoundError
        A source is not there (also a ``FileNotFoundError``).

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import virtual
    >>> for month, days in enumerate([[0, 1], [2, 3, 4]], 1):
    ...     group = zarr.open_group(f"{month}.zarr", mode="w", zarr_format=3)
    ...     for name in ("time", "t2m"):
    ...         _ = group.create_array(name, data=days, dimension_names=["time"])
    ...     group["time"].attrs["units"] = "days since 2020-01-30"
    >>> year = virtual.join("*.zarr", "time")
    >>> year.sel(time="2020-02")["t2m"][...]
    array([2, 3, 4])
    """
    if overlap not in ("error", "first", "last"):
        raise ValueError(f"overlap={overlap!r}; allowed are 'error', 'first' and 'last'")
    dtypes, decode, missing = reading_of(kwargs)
    check_reading(decode, missing)
    if dtypes is not None and not isinstance(dtypes, Mapping):
        raise TypeError(f"dtype={dtypes!r}; join() takes a mapping of names to dtypes")
    pieces = Sources(kwargs.get("storage_options"))
    joining = _Joining(pieces, along, (dtypes or {}, decode, missing))
    for owner in pieces.groups(sources):
        joining.add(owner, variables)
    return joining.group(overlap)


@dataclass
class _Joining:
    """The variables of a call, source by source.

    pieces : Sources
    along : str
    options : tuple
        Dtypes by name, ``decode`` and ``missing``.
    coordinates : list of Coordinate
        Of each source.
    members : dict
        Of each variable, the array in each source; None where it has none.
    fixed : dict
        The first array of each variable without the coordinate.
    """

    pieces: Sources
    along: str
    options: tuple[Mapping[str, Any], Any, str]
    coordinates: list[Coordinate] = field(default_factory=list)
    members: dict[str, list[Given | None]] = field(default_factory=dict)
    fixed: dict[str, tuple[Given, Array]] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    owners: list[str] = field(default_factory=list)

    def add(self, owner: GivenGroup, variables: Sequence[str] | None) -> None:
        """The next source."""
        arrays = _arrays(owner, None if variables is None else {*variables, self.along})
        given = {name: self.pieces.member(owner, name, one) for name, one in arrays.items()}
        mine = given.get(self.along)
        if mine is not None and len(mine.shape) == 1 and not any(mine.names):
            # A coordinate is a variable of one axis that has the name of its dimension.
            mine = given[self.along] = replace(mine, names=(self.along,))
        attributes = {} if mine is None else mine.attributes
        coordinate = Coordinate.of(arrays, self.along, owner.told, attributes)
        if self.coordinates:
            coordinate = coordinate.like(self.coordinates[0])
        else:
            self.attributes = owner.group.attrs.asdict()
        number = len(self.coordinates)
        self.coordinates.append(coordinate)
        self.owners.append(owner.told)
        for name, one in given.items():
            self._require_names(one, len(coordinate.labels))
            of_all = self.members.setdefault(name, [None] * number)
            of_all.append(one)
            if self.along not in one.names:
                self._compare(name, one, arrays[name])
        for of_all in self.members.values():
            of_all += [None] * (number + 1 - len(of_all))

    def _require_names(self, piece: Given, count: int) -> None:
        names = list(piece.names)
        if len(names) != len(piece.shape) or None in names or len({*names}) != len(names):
            how = "_ARRAY_DIMENSIONS" if piece.metadata.zarr_format == 2 else "dimension_names"
            raise VirtualError(
                f"{piece.told} does not name each of its {len(piece.shape)} dimensions "
                f"({names}), as {how} does; leave it out by variables="
            )
        if self.along in names and piece.shape[names.index(self.along)] != count:
            raise VirtualError(
                f"{piece.told} has shape {piece.shape}, and the coordinate {self.along!r} "
                f"{count:,} labels"
            )

    def _compare(self, name: str, piece: Given, array: Array) -> None:
        first, theirs = self.fixed.setdefault(name, (piece, array))
        if first is piece:
            return
        self._require_alike(first, piece)
        check_meaning([first, piece], None)
        common_dtype([first, piece], None)
        if first.shape != piece.shape or not _equal(theirs, array):
            raise VirtualError(
                f"{first.told} and {piece.told} have no dimension {self.along!r} and are not "
                "equal; leave them out by variables="
            )

    def _require_alike(self, first: Given, other: Given) -> None:
        if tuple(first.names) != tuple(other.names):
            raise VirtualError(
                f"{first.told} has the dimensions {tuple(first.names)}, and {other.told} "
                f"{tuple(other.names)}"
            )

    def group(self, overlap: str) -> Group:
        """The joined group."""
        order = segments(self.coordinates, overlap)
        document = {"zarr_format": 3, "node_type": "group", "attributes": dict(self.attributes)}
        values = {ZARR_JSON: json_dumps(document)}
        tables: dict[str, Table] = {}
        bounds = {name for one in self.coordinates for name in one.bounds}
        for name in self.members:
            arrays = self._present(name)
            if name == self.along or name in bounds:
                new = self._labels(name, arrays, order)
            elif name in self.fixed:
                self._require_one_kind(name, arrays)
                new = self._fixed(name, tables)
            else:
                new = self._concatenated(name, order, tables)
            values |= {key_of(name, key): value for key, value in new.items()}
        store = VirtualStore(values, tables, self.pieces.opener)
        made: Any = open_node(store, mode="r")
        return made if isinstance(made, Group) else Group(store)

    def _present(self, name: str) -> list[Given]:
        """The arrays of a variable, which a source lacks only if that was allowed."""
        members = self.members[name]
        lacking = [number for number, one in enumerate(members) if one is None]
        if lacking and self.options[2] != "fill":
            has = next(one for one in members if one is not None)
            raise VirtualError(
                f"{self.owners[lacking[0]]} has no {name!r}, as {has.told} is; missing='fill' "
                "reads the fill value there, and variables= leaves it out"
            )
        return [one for one in members if one is not None]

    def _require_one_kind(self, name: str, arrays: Sequence[Given]) -> None:
        for one in arrays:
            self._require_alike(self.fixed[name][0], one)

    def _labels(
        self, name: str, arrays: Sequence[Given], order: Sequence[Segment]
    ) -> dict[str, bytes]:
        """The coordinate, or its bounds."""
        parts = []
        for number, start, count in order:
            one = self.coordinates[number]
            stored = one.stored if name == self.along else one.bounds.get(name)
            if stored is None or len(stored) != len(one.labels):
                raise VirtualError(
                    f"{name!r} is not in {one.told} for each label of {self.along!r}; leave it out "
                    "by variables="
                )
            parts.append(stored[start : start + count])
        first = self.coordinates[0]
        none = (first.stored if name == self.along else first.bounds.get(name, first.stored))[:0]
        values = np.concatenate([none, *parts])
        for piece in arrays[1:]:
            self._require_alike(arrays[0], piece)
        whole = Making(self.pieces, values.dtype).whole(
            arrays, values.shape, range(len(values.shape))
        )
        return inlined(whole, values)

    def _fixed(self, name: str, tables: dict[str, Table]) -> dict[str, bytes]:
        """A variable without the coordinate: that of the first source."""
        one, array = self.fixed[name]
        making = Making.of(self.pieces, [one], None, None, self.options[2])
        axes = range(len(one.shape))
        whole = making.whole([one], one.shape, axes)
        if array.nbytes <= _MOST_INLINE:
            return inlined(whole, array[...])
        tables[name] = Table.of(one.shape, making.rows(one, [0] * len(axes), axes))
        return {ZARR_JSON: document_of(whole)}

    def _concatenated(
        self, name: str, order: Sequence[Segment], tables: dict[str, Table]
    ) -> dict[str, bytes]:
        members = self.members[name]
        arrays = [one for one in members if one is not None]
        first = arrays[0]
        axis = list(first.names).index(self.along)
        for one in arrays[1:]:
            self._require_alike(first, one)
            check_shape(first, one, axis)
        dtypes, decode, missing = self.options
        is_decoded = decode if any(map(is_packed, arrays)) else None
        making = Making.of(self.pieces, arrays, dtypes.get(name), is_decoded, missing)
        rows: list[Row] = []
        corner = [0] * len(first.shape)
        for number, start, count in order:
            piece = members[number]
            if piece is not None:
                rows += making.rows(piece.cut(axis, start, count), corner, range(len(corner)))
            corner[axis] += count
        shape = (*first.shape[:axis], corner[axis], *first.shape[axis + 1 :])
        whole: Whole = making.whole(arrays, shape, range(len(shape)))
        tables[name] = Table.of(shape, rows)
        return {ZARR_JSON: document_of(whole)}


def _arrays(owner: GivenGroup, chosen: set[str] | None) -> dict[str, Array]:
    """The arrays of a group; other groups in it are not left out silently."""
    inside = [*owner.group.group_keys()] if chosen is None else []
    if inside:
        raise VirtualError(
            f"{owner.told} has groups ({', '.join(map(repr, inside[:5]))}); join them one by one, "
            "or name the variables by variables="
        )
    return {name: array for name, array in owner.group.arrays() if chosen is None or name in chosen}


def _equal(mine: Array, theirs: Array) -> bool:
    """Whether two arrays of one shape and dtype have equal elements, NaN with NaN."""
    row = max(1, mine.nbytes // max(1, mine.shape[0])) if mine.ndim else 1
    count = max(1, _PART_BYTES // row)
    is_float = mine.dtype.kind in "fc"
    for begin in range(0, mine.shape[0] if mine.ndim else 1, count):
        key: Any = slice(begin, begin + count) if mine.ndim else ()
        if not np.array_equal(mine[key], theirs[key], equal_nan=is_float):
            return False
    return True
