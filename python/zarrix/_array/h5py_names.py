"""What programs for h5py ask of datasets and groups, where it has an honest meaning here.

Arrays have these as methods. A group answers with them only where it has no member of that name,
since members of a group are attributes too. Every other name of h5py's is an error that says what
to write instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from zarrix._metadata.array import ArrayMetadata
from zarrix._stores.open import Store

if TYPE_CHECKING:
    from zarrix._hierarchy.group import Group

__all__ = ["ARRAY_ADVICE", "GROUP_ADVICE", "DatasetTerms", "group_word"]


class DatasetTerms:
    """The methods of h5py's datasets; mixed into every array."""

    __slots__ = ()

    _metadata: ArrayMetadata
    _store: Store
    _path: str

    if TYPE_CHECKING:
        # What the class has that this is mixed into.
        def _stores(self) -> list[Store]: ...
        def __len__(self) -> int: ...
        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def read_only(self) -> bool: ...

    @property
    def parent(self) -> Group | None:
        """The group that the array is in; None for an array at the root of its store."""
        return _open(self, self._path.rpartition("/")[0]) if self._path else None

    @property
    def file(self) -> Group:
        """The group at the root of the store."""
        return _open(self, "")

    @property
    def maxshape(self) -> tuple[None, ...]:
        """None for each axis: every array can be resized, and without a limit."""
        return (None,) * len(self._metadata.shape)

    def len(self) -> int:
        """Length of the first axis."""
        return len(self)

    def flush(self) -> None:
        """Write what the store still holds; other stores than zip archives hold nothing."""
        _flush(self._stores())

    def iter_chunks(self, sel: Any = None) -> Iterator[tuple[slice, ...]]:
        """The regions of the chunks (of an array with shards, the shards), in C order.

        Parameters
        ----------
        sel : slice, or tuple of slices with a step of one, optional
            The part to go through; chunks are cut at its borders. All of the array when omitted.

        Yields
        ------
        tuple of slice
            For ``array[region]``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> list(zarr.zeros(5, chunks=2).iter_chunks())
        [(slice(0, 2, None),), (slice(2, 4, None),), (slice(4, 5, None),)]
        """
        shape = self.shape
        if not shape:
            raise TypeError("an array without axes has no chunks to iterate over")
        wanted = (sel,) if isinstance(sel, slice) else tuple(sel or ())
        wanted += (slice(None),) * (len(shape) - len(wanted))
        if len(wanted) > len(shape) or not all(isinstance(one, slice) for one in wanted):
            raise TypeError(f"sel is a slice for each of the {len(shape)} axes, not {sel!r}")
        ranges = [one.indices(size) for one, size in zip(wanted, shape, strict=True)]
        if any(step != 1 for _, _, step in ranges):
            raise ValueError(f"sel has slices with a step of one, not {sel!r}")
        grid = self._metadata.grid
        axes = [_pieces(axis, *ends[:2]) for axis, ends in zip(grid, ranges, strict=True)]
        yield from itertools.product(*axes)


def _pieces(axis: Any, begin: int, end: int) -> list[slice]:
    """The parts of the chunks of an axis that lie between ``begin`` and ``end``."""
    pieces = []
    while begin < end:
        stop = min(end, axis.find(begin).end)
        pieces.append(slice(begin, stop))
        begin = stop
    return pieces


def _open(node: Any, path: str) -> Group:
    from zarrix._hierarchy.group import Group

    return Group(
        node._store,
        path=path,
        read_only=node.read_only,
        chunk_store=node._chunk_store,
        synchronizer=node._synchronizer,
        zarr_version=node.zarr_format,
    )


def _flush(stores: list[Store]) -> None:
    for store in stores:
        flush = getattr(store, "flush", None)
        if flush is not None:
            flush()


# Of groups, by name: each takes the group and gives the value of the attribute.


def _parent(group: Any) -> Group:
    return _open(group, group.path.rpartition("/")[0])


def _copier(group: Any) -> Callable[..., None]:
    def copy(
        source: Any,
        dest: Any,
        name: str | None = None,
        shallow: bool = False,
        without_attrs: bool = False,
    ) -> None:
        """Copy a member, or another array or group, as h5py's ``Group.copy`` does.

        Parameters
        ----------
        source : str, array or group
            A name is that of a member.
        dest : str or group
            The name that the copy has in this group, or the group to copy into.
        name : str, optional
            Of the copy, where ``dest`` is a group; that of ``source`` when omitted.
        shallow, without_attrs : bool
            As in `zarrix.copy`.
        """
        from zarrix._hierarchy.copy import copy as copy_to

        found = group[source] if isinstance(source, str) else source
        if isinstance(dest, str):
            dest, name = group, dest
        copy_to(found, dest, name, shallow=shallow, without_attrs=without_attrs)

    return copy


_GROUP_WORDS: dict[str, Callable[[Any], Any]] = {
    "parent": _parent,
    "file": lambda group: _open(group, ""),
    "close": lambda group: group.store.close,
    "flush": lambda group: lambda: _flush(group._stores()),
    "copy": _copier,
}


def group_word(group: Any, name: str) -> Any:
    """The value of an attribute that h5py's groups have; None where it has no meaning here."""
    found = _GROUP_WORDS.get(name)
    return None if found is None else found(group)


_COMMON_ADVICE = {
    "id": "there are no handles of HDF5 here",
    "ref": "there are no references; keep the path, array.path",
    "regionref": "there are no references; keep the path and the selection",
}

ARRAY_ADVICE = {
    **_COMMON_ADVICE,
    "asstr": "elements of dtype=str are str already",
    "fields": "index with the names of fields: array['a'] or array[['a', 'b']]",
    "read_direct": "use read(selection, out=array)",
    "write_direct": "assign: array[selection] = value",
    "fillvalue": "use fill_value",
    "compression": "use compressor (v2) or compressors",
    "compression_opts": "use compressor (v2) or compressors",
    "shuffle": "use compressor, filters",
    "fletcher32": "use filters; checksum=True of what creates adds one",
    "scaleoffset": "use filters",
    "dims": "use metadata.dimension_names (v3), or the attribute _ARRAY_DIMENSIONS",
    "make_scale": "use dimension_names= of what creates (v3)",
    "is_virtual": "there are no virtual datasets",
    "virtual_sources": "there are no virtual datasets",
    "external": "use chunk_store",
    "refresh": "what is stored is seen at once; cache_metadata=False sees other shapes, too",
}
"""Names that h5py's datasets have, and arrays here have not: what to write instead."""

GROUP_ADVICE = {
    **_COMMON_ADVICE,
    "create_virtual_dataset": "there are no virtual datasets",
    "create_dataset_like": "use zeros_like(name, data) and its kin",
    "build_virtual_dataset": "there are no virtual datasets",
    "visititems_links": "there are no links; use visititems()",
    "visit_links": "there are no links; use visit()",
    "filename": "use store.path",
    "mode": "use read_only",
    "driver": "use store",
    "swmr_mode": "arrays can always be read while they are written",
    "libver": "use zarr_format",
    "userblock_size": "there is no user block",
}
"""The same of h5py's files and groups."""
