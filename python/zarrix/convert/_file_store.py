"""A file of another format as a read-only store of Zarr v2.

Chunks that are bytes of the file are given to the engine as they are; all others are read by the
library of the format, and encoded without compression when they are asked for.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from zarrix._array.create_array import create_array
from zarrix._errors import (
    BadCompressorError,
    ContainsArrayError,
    ContainsGroupError,
    ConversionError,
    InvalidKeyError,
    MetadataError,
)
from zarrix._hierarchy.open import create_group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.json import json_loads
from zarrix._stores.keys import ZARRAY, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.python import PythonStore
from zarrix._stores.sites import Site, of_file
from zarrix.convert._encoded import kept_options, key_in
from zarrix.convert._formats import check_known, open_source
from zarrix.convert._regions import region_at, stored_regions
from zarrix.convert._source import Source, SourceArray

__all__ = ["UNKEPT", "FileStore", "of_path", "open_file", "unkept"]

_CHUNK = "1 MiB"

UNKEPT = (
    MetadataError,
    BadCompressorError,
    InvalidKeyError,
    ContainsArrayError,
    ContainsGroupError,
)
"""What is raised for a member that a hierarchy of Zarr cannot have."""


def open_file(
    file: str | os.PathLike[str],
    path: str | None = None,
    *,
    format: str | None = None,
    **options: Any,
) -> Any:
    """Open a file of another format as a read-only group or array; nothing is converted.

    Chunks are read when they are used. Those that are stored as Zarr would store them (HDF5 with
    deflate, Blosc or zstd, npy, uncompressed TIFF) are decoded by the engine, by all threads.

    Parameters
    ----------
    file : str or Path
    path : str, optional
        Path of an array or group in the file.
    format : str, optional
        The name of a format; what the name of the file says if omitted.
    **options
        Of the format.

    Returns
    -------
    Array or Group

    Raises
    ------
    ConversionError
        The file is damaged, or not of that format.
    PathNotFoundError
        There is no array and no group at ``path``.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.convert import open_file
    >>> np.save("x.npy", np.arange(6).reshape(2, 3))
    >>> open_file("x.npy")[1, ::2]
    array([3, 5])
    """
    check_known(options, "open_file")
    return open_node(reopened(os.fspath(file), format, options), mode="r", path=path)


class FileStore(PythonStore):
    """The keys of a hierarchy whose arrays are those of a file.

    Parameters
    ----------
    source : Source
    closes : bool
        Whether the source is closed with the store.
    for_users : bool
        Whether arrays whose fill value is not CF's have none, as xarray wants it.
    made_of : tuple
        The arguments of `reopened`, for a process that unpickles the store.
    """

    _writeable = _erasable = False

    def __init__(
        self,
        source: Source,
        made_of: tuple[Any, ...] = (),
        *,
        closes: bool = False,
        for_users: bool = False,
    ) -> None:
        self._made_of = made_of
        self.source = source
        self._for_users = for_users
        documents = MemoryStore()
        self._arrays: dict[str, tuple[Any, SourceArray]] = {}
        for name, attributes in [*source.groups.items()]:
            try:
                create_group(
                    documents, path=name, zarr_format=2, attributes=dict(attributes) or None
                )
            except UNKEPT as error:
                source.drop(name, error)
        for name, one in [*source.arrays.items()]:
            self._add(documents, name, one, source)
        self.documents = {key: documents[key] for key in documents}
        # Readers of streams have a position; their regions are read one after the other.
        self._turn = threading.Lock()
        # No call of a user closes a group that shows a file, so that a finalizer does.
        self._closing = weakref.finalize(self, source.close if closes else _nothing)

    def _add(
        self, documents: MemoryStore, name: str, source_array: SourceArray, source: Source
    ) -> None:
        if source_array.encoded is not None:
            options = kept_options(source_array.encoded, 2, source_array.dtype)
        else:
            options = {
                "chunks": source_array.chunks or _CHUNK,
                "compressor": None,
                "order": source_array.order,
            }
            if not source_array.shape or 0 in source_array.shape:
                options["chunks"] = (1,) * len(source_array.shape)
        attributes = dict(source_array.attributes)
        if source_array.dimension_names is not None:
            attributes["_ARRAY_DIMENSIONS"] = list(source_array.dimension_names)
        try:
            array = create_array(
                documents,
                name=name,
                shape=source_array.shape,
                dtype=source_array.dtype,
                fill_value=self._shown_fill(source_array),
                zarr_format=2,
                attributes=attributes,
                **options,
            )
        except (*UNKEPT, ValueError, TypeError) as error:
            if not name:
                raise ConversionError(f"{source.name}: {error}") from None
            source.leave_out(name, error)
            return
        self._arrays[name] = (array, source_array)

    def _shown_fill(self, source_array: SourceArray) -> Any:
        return (
            None if self._for_users and not source_array.fill_is_mask else source_array.fill_value
        )

    def _chunk(self, key: str) -> tuple[Any, SourceArray, tuple[int, ...]] | None:
        """The array of a chunk's key, and its coordinates."""
        name, _, numbers = key.rpartition("/")
        found = self._arrays.get(name)
        if found is None:
            return None
        array, one = found
        if not one.shape:
            return (array, one, ()) if numbers == "0" else None
        parts = numbers.split(".")
        if len(parts) != len(one.shape) or not all(part.isdecimal() for part in parts):
            return None
        coords = tuple(map(int, parts))
        grid = array.cdata_shape
        if any(i >= n for i, n in zip(coords, grid, strict=True)):
            return None
        return array, one, coords

    def _read(self, key: str) -> bytes | None:
        if key in self.documents:
            return self.documents[key]
        found = self._chunk(key)
        if found is None:
            return None
        array, one, coords = found
        if one.encoded is None:
            return self._encode(array, one, coords)
        part = one.encoded.find(coords)
        if part is None:
            # An array without a fill value would read as 0 there.
            fills = self._for_users and not one.fill_is_mask
            return self._encode(array, one, coords) if fills else None
        if part.value is not None:
            return part.value
        return one.encoded.file.read(part.offset, part.length)

    def _encode(
        self, array: Any, source_array: SourceArray, coords: tuple[int, ...]
    ) -> bytes | None:
        """A chunk of elements that another library reads, encoded without compression."""
        region = tuple(
            slice(i * n, min((i + 1) * n, length))
            for i, n, length in zip(coords, array.chunks, source_array.shape, strict=True)
        )
        values = MemoryStore()
        document = dict(json_loads(self.documents[key_of(array.path, ZARRAY)]))
        document["shape"] = list(array.chunks)
        values[ZARRAY] = _dumped(document)
        scratch: Any = open_node(values, mode="r+")
        if source_array.sequential:
            with self._turn:
                read = source_array.read(region)
        else:
            read = source_array.read(region)
        scratch[tuple(slice(0, part.stop - part.start) for part in region)] = read
        stored: bytes | None = values.get(
            "0" if not source_array.shape else ".".join("0" for _ in source_array.shape)
        )
        return stored

    def _size(self, key: str) -> int | None:
        found = self._chunk(key) if key not in self.documents else None
        if found is not None and found[1].encoded is not None:
            part = found[1].encoded.find(found[2])
            if part is not None:
                return part.length if part.value is None else len(part.value)
        return super()._size(key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._forbid_changes()

    def _drop(self, key: str, fsync: bool) -> bool:
        self._forbid_changes()
        return False

    def _list(self, prefix: str) -> list[str]:
        return [*self._names(prefix)]

    def _names(self, prefix: str) -> Iterator[str]:
        start = f"{prefix}/" if prefix else ""
        yield from (key for key in self.documents if key.startswith(start))
        for name, (array, one) in self._arrays.items():
            if not (f"{name}/".startswith(start) or name == prefix or not name):
                continue
            if one.encoded is not None:
                yield from (key_in(array, part.coords) for part in one.encoded.parts())
            elif one.stored is not None:
                chunks = array.chunks
                for number in stored_regions(one.shape, chunks, one.extent, one.stored()):
                    region = region_at(number, one.shape, chunks)
                    coords = (part.start // n for part, n in zip(region, chunks, strict=True))
                    yield key_in(array, tuple(coords))
            else:
                every = itertools.product(*map(range, array.cdata_shape))
                yield from (key_in(array, coords) for coords in every)

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        if prefix in self._arrays:
            return super()._list_dir(prefix)
        start = len(prefix) + 1 if prefix else 0
        begin = f"{prefix}/" if prefix else ""
        inside = [key[start:] for key in self.documents if key.startswith(begin)]
        return (
            [key for key in inside if "/" not in key],
            sorted({key.partition("/")[0] for key in inside if "/" in key}),
        )

    def _identity(self) -> str:
        return f"file {self.source.name}"

    def _label(self) -> str:
        return repr(self.source.name)

    def close(self) -> None:
        """Close the file."""
        self._closing()

    def _sites(self, path: str) -> list[Site]:
        return of_file(self._made_of[0], path) if self._made_of else super()._sites(path)

    def __reduce__(self) -> Any:
        return (reopened, self._made_of)


def unkept(name: str, source_array: SourceArray, zarr_format: Literal[2, 3]) -> str:
    """Why no hierarchy of a format can have an array, in any layout; empty if one can."""
    try:
        create_array(
            MemoryStore(),
            name=name,
            shape=source_array.shape,
            dtype=source_array.dtype,
            zarr_format=zarr_format,
            fill_value=source_array.fill_value,
        )
    except (*UNKEPT, ValueError, TypeError) as error:
        return str(error)
    return ""


def of_path(path: str, storage_options: object = None) -> FileStore | None:
    """The store of a file of another format; None if ``path`` is not a file."""
    return reopened(path, None, {}) if os.path.isfile(path) else None


def reopened(file: str, format: str | None, options: Mapping[str, Any]) -> FileStore:
    """The store of a file that is opened now."""
    made_of = (file, format, dict(options))
    return FileStore(open_source(file, format, options), made_of, closes=True, for_users=True)


def _nothing() -> None:
    """Close nothing."""


def _dumped(document: Mapping[str, Any]) -> bytes:
    # Import time: only chunks that are read by other libraries need it.
    import json

    return json.dumps(document).encode()
