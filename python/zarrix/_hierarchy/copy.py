"""Copying arrays and groups between zarrix, zarr-python and h5py.

Sources and destinations are duck-typed by the interface that all three libraries share (``shape``,
``keys``, ``attrs``, ``create_dataset``). Data is copied in chunk-aligned regions of the
destination, so that memory holds 64 MiB or one chunk.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.create import ARRAY_KEYWORDS
from zarrix._array.kept_codecs import kept_codecs
from zarrix._array.sparse import grid_of, sparse_regions
from zarrix._codecs.encodable import for_a_new_array
from zarrix._dtypes.variable import dtype_in_3
from zarrix._errors import CopyError
from zarrix._hierarchy.copy_log import Counts, Log, check_choice, log_to
from zarrix._hierarchy.h5py_source import attributes_of, fill_value_of, is_h5py, shape_of, stored_as
from zarrix._hierarchy.replacing import named, replaced_when_complete
from zarrix._metadata.grid_documents import has_lists
from zarrix._metadata.literals import Format, IfExists
from zarrix._nodes.member import location_of
from zarrix._nodes.undo import or_nothing
from zarrix._runtime.signatures import check_keywords
from zarrix._selection.regions import chunk_aligned_regions
from zarrix._stores.overlap import Relation, refuse_overlap, relation

__all__ = ["copy", "copy_all"]


def copy(
    source: Any,
    dest: Any,
    name: str | None = None,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> tuple[int, int, int]:
    """Copy an array, or a group with all below it, into a group.

    Parameters
    ----------
    source : array or group of zarrix, zarr-python or h5py
    dest : group of zarrix, zarr-python or h5py
    name : str, optional
        Name in ``dest``; that of ``source`` when omitted.
    shallow : bool
        Copy only the immediate children of a group.
    without_attrs : bool
        Do not copy attributes.
    log : function, path or file, optional
        Gets one line per item.
    if_exists : {'raise', 'replace', 'skip', 'skip_initialized'}
        What to do if an array exists in ``dest``; ``'skip_initialized'`` skips it if all its chunks
        are stored.
    dry_run : bool
        Log the changes without making them.
    **create_kws
        Passed to ``dest.create_dataset``; the rest is taken from ``source``.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int

    Raises
    ------
    CopyError
        The destination exists and ``if_exists`` is ``'raise'``, or the copy would replace its
        source.
    TypeError
        ``source`` has no name, and ``name`` is not passed.
    ValueError
        ``if_exists`` is something else.

    Examples
    --------
    >>> import zarrix as zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> source["a"] = [1, 2, 3]
    >>> zarr.copy(source["a"], dest, name="b")
    (1, 0, 24)
    >>> dest["b"][:]
    array([1, 2, 3])
    """
    _check_group(dest, create_kws)
    name = _name_of(source, name)
    is_shallow = shallow and not hasattr(source, "shape")
    refuse_overlap("copy", named(dest, name), [named(source)], allowed=_ALLOWED[is_shallow])
    with log_to(log) as logged, _changed_once(dest):
        job = _Job(logged, shallow, without_attrs, if_exists, dry_run, create_kws)
        counts = job.copy(source, dest, name, is_root=True)
        logged.summary(dry_run, counts)
    return counts.as_tuple()


def copy_all(
    source: Any,
    dest: Any,
    shallow: bool = False,
    without_attrs: bool = False,
    log: Any = None,
    if_exists: IfExists = "raise",
    dry_run: bool = False,
    **create_kws: Any,
) -> tuple[int, int, int]:
    """Copy all children of a group into another group, and its attributes.

    Parameters
    ----------
    source : group of zarrix, zarr-python or h5py
    dest : group of zarrix, zarr-python or h5py
    shallow : bool
        Copy only arrays, and no groups.
    without_attrs : bool
        Do not copy attributes.
    log : function, path or file, optional
        Gets one line per item.
    if_exists : {'raise', 'replace', 'skip', 'skip_initialized'}
        What to do if an array exists in ``dest``, as for `copy`.
    dry_run : bool
        Log the changes without making them.
    **create_kws
        Passed to ``dest.create_dataset``; the rest is taken from ``source``.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int

    Raises
    ------
    CopyError
        The destination exists and ``if_exists`` is ``'raise'``.
    ValueError
        ``if_exists`` is something else.

    Examples
    --------
    >>> import zarrix as zarr
    >>> source, dest = zarr.group(), zarr.group()
    >>> source["x/a"] = [1, 2, 3]
    >>> zarr.copy_all(source, dest, log=print)
    copy /x
    copy /x/a (3,) int64
    all done: 2 copied, 0 skipped, 24 bytes copied
    (2, 0, 24)
    >>> list(dest["x"])
    ['a']
    """
    _check_group(dest, create_kws)
    counts = Counts(0, 0, 0)
    children = list(source)
    if relation(*named(dest)[:2], *named(source)[:2]) != "apart":
        for name in children:
            refuse_overlap(
                "copy", named(dest, name), [named(source)], allowed=_ALLOWED[bool(shallow)]
            )
    with log_to(log) as logged, _changed_once(dest):
        job = _Job(logged, shallow, without_attrs, if_exists, dry_run, create_kws)
        for name in children:
            counts = counts.plus(job.copy(source[name], dest, name, is_root=False))
        if not (dry_run or without_attrs):
            dest.attrs.update(attributes_of(source))
        logged.summary(dry_run, counts)
    return counts.as_tuple()


# A copy of the immediate children only may lie in the source, of which it is not a part.
_ALLOWED: dict[bool, tuple[Relation, ...]] = {False: (), True: ("inside",)}


def _name_of(source: Any, name: str | None) -> str:
    name = name or (source.name or "").split("/")[-1]
    if not name:
        raise TypeError("the source has no name; pass name= for the name to copy it to")
    return name


@dataclass(frozen=True)
class _Job:
    """The choices of one `copy` or `copy_all`, shared by everything below it."""

    log: Log
    shallow: bool
    without_attrs: bool
    if_exists: str
    dry_run: bool
    create_kws: dict[str, Any]

    def __post_init__(self) -> None:
        check_choice("if_exists", self.if_exists, ("raise", "replace", "skip", "skip_initialized"))

    def copy(self, source: Any, dest: Any, name: str, *, is_root: bool) -> Counts:
        """Copy ``source`` to ``name`` in ``dest``, which is None if it does not exist yet."""
        if is_h5py(dest) and self.if_exists == "skip_initialized":
            raise ValueError("if_exists='skip_initialized' cannot be used when copying to h5py")
        if hasattr(source, "shape"):
            return self._copy_array(source, dest, name)
        if is_root or not self.shallow:
            return self._copy_group(source, dest, name)
        return Counts(0, 0, 0)

    def _copy_array(self, source: Any, dest: Any, name: str) -> Counts:
        exists = dest is not None and name in dest
        described = f"{source.name} {source.shape} {source.dtype}"
        if exists and self._leave_alone(dest, name, f"an object {name!r}"):
            self.log(f"skip {described}")
            return Counts(0, 1, 0)
        self.log(f"copy {described}")
        if self.dry_run:
            return Counts(1, 0, 0)
        with self._place(source, dest, name, exists) as (group, beside):
            return self._store_array(source, group, beside)

    @contextlib.contextmanager
    def _place(self, source: Any, dest: Any, name: str, exists: bool) -> Iterator[tuple[Any, str]]:
        """The group to copy into, and the name there; what exists is replaced."""
        if exists:
            # A link in the source may lead to the destination.
            refuse_overlap("copy", named(dest, name), [named(source)])
        if exists and _is_ours(dest):
            with replaced_when_complete(dest, name) as place:
                yield place
            return
        if exists:
            del dest[name]
        yield dest, name

    def _store_array(self, source: Any, dest: Any, name: str) -> Counts:
        options = self._creation_options(source, dest)
        if _is_ours(dest):
            options["overwrite"] = name in dest
        # zarr-python 3.2 and later have only the second name.
        create = getattr(dest, "create_dataset", None) or dest.create_array
        shape, dtype, read = source.shape, source.dtype, source.__getitem__
        if is_h5py(source) and not is_h5py(dest):
            shape, (dtype, read) = shape_of(source), stored_as(source)
        elif _is_ours(dest) and _format_of(dest) == 3:
            dtype = dtype_in_3(source)
        array = create(name, shape=shape, **{"dtype": dtype, **options})
        with _all_of_it(array):
            for region in _regions(source, array):
                array[region] = read(region)
            if not self.without_attrs:
                array.attrs.update(attributes_of(source))
        return Counts(1, 0, array.size * array.dtype.itemsize)

    def _copy_group(self, source: Any, dest: Any, name: str) -> Counts:
        blocked = dest is not None and name in dest and hasattr(dest[name], "shape")
        if blocked and self._leave_alone(dest, name, f"an array {name!r}"):
            self.log(f"skip {source.name}")
            return Counts(0, 1, 0)
        self.log(f"copy {source.name}")
        if self.dry_run:
            group = dest.get(name) if dest is not None and not blocked else None
            return self._copy_members(source, group)
        with self._place(source, dest, name, blocked) as (above, beside):
            if blocked and _is_ours(above):
                group = above.require_group(beside, overwrite=True)
            else:
                group = above.require_group(beside)
            if not self.without_attrs:
                group.attrs.update(attributes_of(source))
            return self._copy_members(source, group)

    def _copy_members(self, source: Any, group: Any) -> Counts:
        counts = Counts(1, 0, 0)
        for key in source:
            counts = counts.plus(self.copy(source[key], group, key, is_root=False))
        return counts

    def _leave_alone(self, dest: Any, name: str, described: str) -> bool:
        """Whether the existing ``name`` is skipped; raises an error if ``if_exists`` says so."""
        if self.if_exists == "raise":
            raise CopyError(
                f"{described} already exists in destination {dest.name!r}; "
                "pass if_exists='replace' or 'skip'"
            )
        if self.if_exists == "skip_initialized":
            existing = dest[name]
            if not hasattr(existing, "shape"):
                return False
            return bool(existing.nchunks_initialized == existing.nchunks)
        return self.if_exists == "skip"

    def _creation_options(self, source: Any, dest: Any) -> dict[str, Any]:
        """Chunks and codecs of the copy: those of the source if both sides support them,
        otherwise defaults.
        """
        chunks, shards = _partition_of(source, dest)
        options: dict[str, Any] = {"chunks": chunks}
        if is_h5py(source) and is_h5py(dest):
            names = ("compression", "compression_opts", "shuffle", "fletcher32", "fillvalue")
            options.update((name, getattr(source, name)) for name in names)
        elif is_h5py(source):
            options.update(chunks=chunks or True, fill_value=fill_value_of(source))
        elif is_h5py(dest) and source.shape == ():
            # HDF5 has neither chunks nor filters for a scalar.
            options = {"chunks": None, "fillvalue": source.fill_value}
        elif is_h5py(dest):
            options.update(compression="gzip", compression_opts=1, fillvalue=source.fill_value)
        else:
            options.update(fill_value=source.fill_value)
            if _format_of(source) == _format_of(dest) == 2:
                codecs = "compressor" if hasattr(dest, "create_dataset") else "compressors"
                kept = self._codecs(source, 2)
                if "compressors" in kept:
                    options.update({codecs: next(iter(kept["compressors"]), None)})
                options.update(filters=kept.get("filters") or None)
                options.update(order=source.order)
            elif _format_of(source) == _format_of(dest) == 3 and _is_ours(dest):
                options.update(self._codecs(source, 3), shards=shards)
                options.update(dimension_names=source.metadata.dimension_names)
        if "compression" in self.create_kws and not is_h5py(dest):
            options.pop("compressor", None)
        return {**options, **self.create_kws}

    def _codecs(self, source: Any, zarr_format: Format) -> dict[str, Any]:
        """The codecs of the copy of an array of the same format."""
        if not isinstance(source, Array):
            compressors = ("compressors", "serializer") if zarr_format == 3 else ()
            found = {name: for_a_new_array(getattr(source, name)) for name in compressors}
            compressor = (
                {} if compressors else {"compressors": [for_a_new_array(source.compressor)]}
            )
            return {**found, **compressor, "filters": for_a_new_array(source.filters)}
        dtype = self.create_kws.get("dtype", source.dtype)
        return kept_codecs(source, zarr_format, dtype, source.ndim)


def _all_of_it(array: Any) -> contextlib.AbstractContextManager[None]:
    """Delete a copy that cannot be finished, because its missing part would read as the fill
    value.
    """
    if not _is_ours(array):
        return contextlib.nullcontext()
    metadata = metadata_of(array)
    store, path, _, chunk_store = location_of(array)
    return or_nothing(store, path, chunk_store, metadata, replaces=False)


def _partition_of(source: Any, dest: Any) -> tuple[Any, Any]:
    """``chunks=`` and ``shards=`` of a copy in ``dest``, like those of ``source`` if possible."""
    to_3 = _is_ours(dest) and _format_of(dest) == 3
    if _is_ours(source):
        chunks, shards = metadata_of(source).partition
        if to_3 or not has_lists(chunks):
            return chunks, shards
    else:
        with contextlib.suppress(NotImplementedError):
            return source.chunks, getattr(source, "shards", None)
    return (True if hasattr(dest, "create_dataset") else "auto"), None


def _regions(source: Any, array: Any) -> Iterator[tuple[slice, ...]]:
    """Chunk-aligned regions of a new array that cover all stored chunks of its source."""
    sparse = sparse_regions(source, array)
    everything = chunk_aligned_regions(array.shape, grid_of(array), array.dtype.itemsize)
    return everything if sparse is None else sparse


def _format_of(node: Any) -> Any:
    """The format of a zarrix or zarr-python 3 node; all other nodes, except those of h5py, are
    v2.
    """
    return getattr(getattr(node, "metadata", None), "zarr_format", 2)


def _is_ours(obj: Any) -> bool:
    return type(obj).__module__.startswith("zarrix.")


def _changed_once(dest: Any) -> contextlib.AbstractContextManager[Any]:
    """One update of consolidated metadata for all that is copied; other packages have theirs."""
    return dest.batch() if _is_ours(dest) else contextlib.nullcontext()


def _check_group(dest: Any, create_kws: dict[str, Any]) -> None:
    if not hasattr(dest, "create_dataset") and not hasattr(dest, "create_array"):
        raise ValueError(f"dest is a group to copy into, not {dest!r}")
    if _is_ours(dest):
        check_keywords(create_kws, ARRAY_KEYWORDS, "copy")


for _function in (copy, copy_all):
    # The public module that exports them.
    _function.__module__ = "zarrix.convenience"
