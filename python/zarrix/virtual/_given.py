"""What a user passes as a piece: open arrays, lazy views, paths, patterns and URLs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from zarrix._array.access import location_of, metadata_of, options_of
from zarrix._array.array import Array
from zarrix._array.boxes import MOST_AT_ONCE, first_of
from zarrix._array.dimension_names import names_of
from zarrix._array.lazy import LazyArray
from zarrix._errors import PathNotFoundError, PieceNotFoundError, VirtualError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.array import ArrayMetadata
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.local import DirectoryStore
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix._stores.reference.store import ReferenceStore
from zarrix._stores.reference.targets import Targets
from zarrix._stores.remote.store import RemoteStore
from zarrix._stores.zip import ZipStore
from zarrix.convert._cf import FILL
from zarrix.convert._cf import shown as shown_attributes
from zarrix.convert._file_store import FileStore
from zarrix.convert._inside import split
from zarrix.convert._matching import is_pattern, matching
from zarrix.virtual._files import (
    AT_ONCE,
    Named,
    at_once,
    named,
    parquet_in,
    split_url,
    version,
)
from zarrix.virtual._opener import Opener, check_of, file_check
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import Source, Table

__all__ = ["Given", "GivenGroup", "Sources"]


@dataclass
class Given:
    """One array that was passed: where it is, and what it has.

    source, path : int, str
        The number of its source, and its path there.
    shape : tuple of int
        Of the part that was passed.
    axes, origin, step : tuple
        For each axis of the array: the axis of the part, the first index, and the step.
    table, store : Table, VirtualStore
        The pieces of a virtual array, in the part that was passed.
    """

    source: int
    path: str
    shape: tuple[int, ...]
    axes: tuple[int | None, ...]
    origin: tuple[int, ...]
    step: tuple[int, ...]
    metadata: ArrayMetadata
    attributes: Mapping[str, Any]
    names: Sequence[str | None]
    check: str | None
    told: str
    table: Table | None = None
    store: VirtualStore | None = None
    dtype: np.dtype[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.dtype = self.metadata.dtype.newbyteorder("=")

    def cut(self, axis: int, start: int, count: int) -> Given:
        """The part of it from ``start`` on along an axis."""
        if not start and count == self.shape[axis]:
            return self
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        if self.table is not None:
            corner = [start if n == axis else 0 for n in range(len(shape))]
            return replace(self, shape=shape, table=self.table.cut(corner, shape))
        own = self.axes.index(axis)
        first = self.origin[own] + start * self.step[own]
        origin = (*self.origin[:own], first, *self.origin[own + 1 :])
        return replace(self, shape=shape, origin=origin)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The chunk of the array along each axis of the part."""
        found = dict(zip(self.axes, self.metadata.inner_chunk_shape, strict=True))
        return tuple(max(1, min(found[axis], n)) for axis, n in enumerate(self.shape))


class GivenGroup(NamedTuple):
    """One group that was passed.

    Attributes
    ----------
    group : Group
    number, path : int, str
        The number of its source, and its path there; -1 for part of a virtual group.
    told : str
        Its name, for messages.
    """

    group: Group
    number: int
    path: str
    told: str


class Sources:
    """The sources of a call: each store once, however many arrays of it are passed.

    Parameters
    ----------
    storage_options : mapping, optional
        For the URLs among them.
    """

    def __init__(self, storage_options: Mapping[str, Any] | None = None) -> None:
        self.sources: list[Source] = []
        self._known: dict[Any, int] = {}
        self._hosts: list[str] = []
        # Files at URLs, and what tells their versions, by the URLs that were passed.
        self._files: dict[str, tuple[Named, str]] = {}
        self._adopted: list[VirtualStore] = []
        self._options = dict(storage_options or {})
        self.opener = Opener(self.sources, self._targets())
        self.opener.is_listing = True

    def _targets(self) -> Targets:
        # What the user has passed may be read with the options of the call, and nothing else.
        return Targets("of the virtual array", "", self._options, self._hosts, {})

    def arrays(self, items: Any) -> list[Given]:
        """What was passed, in its order.

        Raises
        ------
        VirtualError
            It is not an array.
        PieceNotFoundError
            There is none.
        """
        flat = [*_flat(items, self._options)]
        if not flat:
            raise VirtualError("a virtual array is made of at least one array")
        self._allow(flat)
        found: list[Given | None] = []
        later: list[tuple[int, str]] = []
        for one in flat:
            if isinstance(one, str | os.PathLike):
                later.append(self._named(os.fspath(one)))
                found.append(None)
            else:
                found.append(self._opened(one))
        opened = iter(self._at(later))
        return [one if one is not None else next(opened) for one in found]

    def _allow(self, items: Iterable[Any]) -> None:
        """Let the servers of what was passed be read."""
        names = [os.fspath(one) for one in items if isinstance(one, str | os.PathLike)]
        urls = [name for name in dict.fromkeys(names) if is_url(name)]
        files = [(url, file) for url in urls if (file := named(url)) is not None]
        hosts = {split_url(url)[0] for url in [*urls, *(file.url for _, file in files)]}
        self._hosts += hosts - {*self._hosts}
        targets = self.opener.targets = self._targets()
        by_url = {file.url: file for _, file in files}
        versions = at_once(lambda url: version(url, targets), by_url)
        seen = dict(zip(by_url, versions, strict=True))
        for url, file in files:
            check = seen[file.url]
            # A hierarchy of Zarr may have such a name, too.
            if check is not None:
                self._files[url] = file, check

    def groups(self, items: Any) -> Iterator[GivenGroup]:
        """The groups that were passed, in their order; each is opened shortly before.

        Raises
        ------
        VirtualError
            One is not a group.
        PieceNotFoundError
            There is none.
        """
        flat = [*_flat([items] if isinstance(items, Group) else items, self._options)]
        if not flat:
            raise VirtualError("a virtual group is made of at least one group")
        self._allow(flat)
        for begin in range(0, len(flat), AT_ONCE):
            some = flat[begin : begin + AT_ONCE]
            names = [os.fspath(one) for one in some if isinstance(one, str | os.PathLike)]
            self.opener.open_files([self._named(name)[0] for name in names])
            yield from map(self._group, some)

    def _group(self, item: Any) -> GivenGroup:
        if isinstance(item, str | os.PathLike):
            number, path = self._named(os.fspath(item))
            store, root = self.opener.place(number)
            told = self.opener.told(number, path)
            full = "/".join(part for part in (root, path) if part)
            try:
                node: Any = open_node(store, mode="r", path=full or None)
            except PathNotFoundError:
                raise PieceNotFoundError(f"there is no group at {told}") from None
        else:
            node, told, number, path = item, repr(item), -1, ""
        if not isinstance(node, Group):
            raise VirtualError(f"{told} is not a group; join() takes groups of variables")
        if number < 0 and not isinstance(node.store, VirtualStore):
            number, path = self._number(_source_of(node.store, node), node.store), node.path
        elif number >= 0:
            self._note_format(number, node)
        return GivenGroup(node, number, path, told)

    def member(self, owner: GivenGroup, name: str, array: Array) -> Given:
        """An array of a group, as what was passed."""
        if isinstance(location_of(array).store, VirtualStore):
            return self._opened(array)
        path = key_of(owner.path, name)
        return self._given(array, owner.number, path, LazyArray.of(array))

    def _at(self, places: Sequence[tuple[int, str]]) -> Iterable[Given]:
        def opened(some: Sequence[tuple[int, str]]) -> list[Array | None]:
            return self.opener.arrays(some, [None] * len(some), are_listed=False)

        end = 0
        while end < len(places):
            begin = end
            arrays = first_of(opened, places[begin : begin + MOST_AT_ONCE])
            end += len(arrays)
            for number, path in places[begin:end]:
                # Nothing keeps an array, whose file may have to make room.
                yield self._found(number, path, arrays.pop(0))

    def _found(self, number: int, path: str, array: Array | None) -> Given:
        if array is None:
            raise PieceNotFoundError(f"no array at {self.opener.told(number, path)}")
        self._note_format(number, array)
        if isinstance(location_of(array).store, VirtualStore):
            return self._opened(array)
        return self._given(array, number, path, LazyArray.of(array))

    def _named(self, name: str) -> tuple[int, str]:
        """The source of a path or URL, and the path in it."""
        if name in self._files:
            there, seen = self._files[name]
            return self._number(Source(there.url, there.format, seen)), there.inside
        if is_url(name):
            return self._number(Source(name, "zarr")), ""
        references = parquet_in(name)
        if references is not None:
            location = os.path.abspath(references[0])
            return self._number(Source(location, "store", file_check(location))), references[1]
        file, inside, format = split(name)
        location = os.path.abspath(file)
        if format is not None:
            return self._number(Source(location, format, file_check(location))), inside
        is_file = os.path.isfile(location)
        check = file_check(location) if is_file else None
        return self._number(Source(location, "store" if is_file else "zarr", check)), inside

    def _number(self, source: Source, store: Store | None = None) -> int:
        key = (source.location, id(store) if source.location is None else None)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.sources)
            self.sources.append(source)
            if store is not None:
                self.opener.live[found] = store
        return found

    def _note_format(self, number: int, node: Array | Group) -> None:
        source = self.sources[number]
        if source.format == "zarr":
            self.sources[number] = source._replace(format=f"zarr{node.zarr_format}")

    def _opened(self, item: Any) -> Given:
        view = LazyArray.of(item) if isinstance(item, Array) else item
        array = getattr(view, "_array", None)
        if not isinstance(view, LazyArray) or not isinstance(array, Array):
            raise VirtualError(
                f"{item!r} is not a piece of a virtual array; pass open arrays, lazy views of "
                "them, paths or URLs"
            )
        options, location = options_of(array), location_of(array)
        if options.is_view or location.chunk_store is not None:
            raise VirtualError(
                f"{array!r} is a view with metadata of its own, or has a store for its chunks; "
                "pass the array that it is made of"
            )
        if isinstance(location.store, VirtualStore) and location.path in location.store.tables:
            return self._given(array, -1, location.path, view)
        number = self._number(_source_of(location.store, array), location.store)
        return self._given(array, number, location.path, view)

    def adopted(self, store: VirtualStore, number: int) -> int:
        """The number here of a source of a virtual array."""
        key = (id(store), number)
        found = self._known.get(key)
        if found is None:
            opener = store.opener
            source = opener.sources[number]
            location = source.location
            if location is not None and not is_url(location):
                location = os.path.join(opener.home, location)
            live = opener.live.get(number)
            found = self._number(source._replace(location=location), live)
            if location is not None and is_url(location):
                self.opener.own.setdefault(found, opener.own.get(number, opener.targets))
            self._known[key] = found
            # Its number must not be given to another store while this is in use.
            self._adopted.append(store)
        return found

    def _given(self, array: Array, number: int, path: str, view: LazyArray) -> Given:
        metadata = metadata_of(array)
        where: dict[int, int] = {}
        for shown, axis in enumerate(view._order):
            if axis is None:
                raise VirtualError(f"{view!r} has a new axis; stack() adds one")
            where[axis] = shown
        origin, step = [], []
        for one in view._axes:
            if isinstance(one, np.ndarray):
                raise VirtualError(
                    f"{view!r} has a list of indices; a piece is a range with a step"
                )
            origin.append(one if isinstance(one, int) else one[0])
            step.append(1 if isinstance(one, int) else one[1])
        store, table, told = location_of(array).store, None, repr(array)
        if number < 0:
            assert isinstance(store, VirtualStore)
            table = _inside(store.tables[path], view)
        else:
            told = self.opener.told(number, path)
        is_zarr = number >= 0 and self.sources[number].format.startswith("zarr")
        return Given(
            source=number,
            path=path,
            shape=view.shape,
            axes=tuple(where.get(axis) for axis in range(array.ndim)),
            origin=tuple(origin),
            step=tuple(step),
            metadata=metadata,
            attributes=_attributes_of(array, metadata),
            names=_names_of_view(array, view),
            check=check_of(array) if is_zarr else None,
            told=told,
            table=table,
            store=store if isinstance(store, VirtualStore) else None,
        )


def _inside(table: Table, view: LazyArray) -> Table:
    """The pieces of a virtual array in a part of it."""
    ranges = [one for one in view._axes if isinstance(one, tuple) and one[1] == 1]
    if len(ranges) < len(view._axes) or view._order != tuple(range(len(ranges))):
        raise VirtualError(
            f"{view!r} is a view of a virtual array with steps, indices or other axes; take the "
            "view of its pieces"
        )
    return table.cut([start for start, _, _ in ranges], view.shape)


def _attributes_of(array: Array, metadata: ArrayMetadata) -> Mapping[str, Any]:
    """Attributes as CF has them, with the ``_FillValue`` that the metadata of v2 says."""
    found = shown_attributes(array)
    fill = metadata.fill_value
    is_number = metadata.dtype.kind in "iuf" and fill is not None
    # Zero is the fill value of arrays that were given none, and NaN is missing anyway.
    if metadata.zarr_format == 2 and is_number and fill != 0 and fill == fill:
        found.setdefault(FILL, fill.item())
    return found


def _names_of_view(array: Array, view: LazyArray) -> tuple[str | None, ...]:
    names = names_of(array)
    return tuple(names[axis] for axis in view._order if axis is not None) if names else ()


def _source_of(store: Store, node: Array | Group) -> Source:
    """Where another process finds a store; without a location for one in memory."""
    if isinstance(store, RemoteStore):
        return Source(store.url, f"zarr{node.zarr_format}")
    if isinstance(store, FileStore) and store._made_of:
        location = os.path.abspath(store._made_of[0])
        format = store._made_of[1] or "store"
        return Source(location, format, file_check(location))
    if isinstance(store, ZipStore | ReferenceStore):
        path = getattr(store, "path", None) or getattr(store, "_path", "")
        if isinstance(path, str) and path and "://" not in path:
            return Source(os.path.abspath(path), "store", file_check(path))
    if isinstance(store, DirectoryStore) and isinstance(store.path, str):
        return Source(os.path.abspath(store.path), f"zarr{node.zarr_format}")
    return Source(None, f"zarr{node.zarr_format}")


def _flat(items: Any, options: Mapping[str, Any]) -> Iterable[Any]:
    """The sources one by one: a pattern is what it matches, in natural order."""
    if isinstance(items, str | os.PathLike):
        items = [items]
    elif isinstance(items, Array | LazyArray):
        raise VirtualError("the sources are a list; pass [array]")
    for one in items:
        name = os.fspath(one) if isinstance(one, str | os.PathLike) else None
        if name is None or not is_pattern(name):
            yield one
            continue
        found = matching(name, options, VirtualError)
        if not found:
            raise PieceNotFoundError(f"nothing matches {public_url(name)!r}")
        yield from found
