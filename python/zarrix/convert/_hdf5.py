"""HDF5, NetCDF4 and MATLAB 7.3: h5py reads the structure, the engine the chunks.

A chunk whose `filter_mask` is not 0 was stored without some of the filters, as HDF5 does with
Blosc and LZF if a chunk does not become smaller. It is decoded by the filters that it has, and
encoded by all; a reader that ignores the mask reads other values.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError, CopyError
from zarrix._hierarchy.h5py_source import attributes_of, stored_as
from zarrix._stores.keys import key_of
from zarrix.convert._flat import flat_array
from zarrix.convert._hdf5_filters import Filters, encoded_chunks
from zarrix.convert._hdf5_write import library, save
from zarrix.convert._source import OpenFile, Source, SourceArray

__all__ = ["open_source", "save"]

# What NetCDF4 and MATLAB keep for their own libraries.
_OWN = {"DIMENSION_LIST", "REFERENCE_LIST", "CLASS", "NAME", "_NCProperties", "_nc3_strict"}
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
_MOST_LINKS = 32


def open_source(path: Path, *, follow: bool = False) -> Source:
    """The groups and datasets of an HDF5 file; those of other files only if ``follow`` is true."""
    h5py = library()
    file = OpenFile(path)
    try:
        opened = h5py.File(path, "r")
    except OSError as error:
        file.close()
        raise ConversionError(f"{path} is not an HDF5 file, or is damaged: {error}") from None

    def close() -> None:
        opened.close()
        file.close()

    source = Source(str(path), {}, identity=file.identity, close=close)
    try:
        _Walk(h5py, file, source, follow).group(opened, "", ())
    except BaseException as error:
        close()
        if isinstance(error, RuntimeError | OSError | KeyError):
            raise ConversionError(f"{path} is damaged: {error}") from None
        raise
    return source


class _Walk:
    """Collects what a file has."""

    def __init__(self, h5py: Any, file: OpenFile, source: Source, follow: bool) -> None:
        self._h5py, self._file, self._source, self._follow = h5py, file, source, follow

    def group(self, group: Any, path: str, above: tuple[Any, ...]) -> None:
        here = self._h5py.h5o.get_info(group.id).addr
        if here in above:
            self._source.notes.append(f"{path} is left out: it is a group that contains itself")
            return
        self._source.groups[path] = self._attributes(group)
        for name in group:
            inside = key_of(path, name)
            link = group.get(name, getlink=True)
            if not isinstance(link, self._h5py.HardLink):
                told = self._refused(group, link)
                if told:
                    self._source.notes.append(f"{inside} is left out: {told}")
                    continue
            try:
                member = group.get(name)
            except (KeyError, OSError, RuntimeError) as error:
                self._source.notes.append(f"{inside} is left out: it cannot be opened: {error}")
                continue
            if isinstance(member, self._h5py.Group):
                self.group(member, inside, (*above, here))
            elif isinstance(member, self._h5py.Dataset):
                self._dataset(member, inside)
            else:
                self._source.notes.append(f"{inside} is left out: it is {type(member).__name__}")

    def _refused(self, group: Any, link: Any, depth: int = 0) -> str:
        """Why a link is not followed; empty if it stays in the file."""
        if self._follow:
            return ""
        if isinstance(link, self._h5py.ExternalLink):
            return f"it is a link to another file, {link.filename!r} (follow=True follows it)"
        if depth > _MOST_LINKS:
            return "it is a link that does not end"
        at = group.file if link.path.startswith("/") else group
        parts = [part for part in link.path.split("/") if part not in ("", ".")]
        for part in parts:
            inner = at.get(part, getlink=True) if isinstance(at, self._h5py.Group) else None
            if inner is None:
                return f"it is a link to {link.path!r}, which does not exist"
            if not isinstance(inner, self._h5py.HardLink):
                told = self._refused(at, inner, depth + 1)
                if told:
                    return told
            at = at.get(part)
        return ""

    def _attributes(self, node: Any) -> dict[str, Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = attributes_of(node)
            except (ValueError, TypeError, OSError) as error:
                self._source.notes.append(f"the attributes of {node.name} are left out: {error}")
                return {}
        lost = [
            name
            for name in node.attrs
            if name not in found and name not in _OWN and not name.startswith("_Netcdf4")
        ]
        if lost:
            self._source.notes.append(
                f"attributes of {node.name} that refer to objects of the file are left out: "
                f"{', '.join(lost)}"
            )
        return {
            name: value
            for name, value in found.items()
            if name not in _OWN and not name.startswith("_Netcdf4")
        }

    def _dataset(self, dataset: Any, path: str) -> None:
        name = dataset.attrs.get("NAME") if "NAME" in dataset.attrs else b""
        if isinstance(name, bytes) and name.startswith(_NO_VARIABLE):
            return
        if not self._follow and (dataset.external or dataset.is_virtual):
            kind = "is made of other datasets" if dataset.is_virtual else "lies in other files"
            self._source.notes.append(f"{path} is left out: it {kind} (follow=True reads them)")
            return
        try:
            made = self._array(dataset)
        except (CopyError, TypeError) as error:
            self._source.notes.append(f"{path} is left out: {error}")
            return
        made.dimension_names = self._dimension_names(dataset)
        attributes = self._attributes(dataset)
        enum = self._h5py.check_enum_dtype(dataset.dtype)
        if enum and dataset.dtype.kind != "b":
            attributes["enum"] = {name: int(value) for name, value in enum.items()}
        if dataset.maxshape and None in dataset.maxshape:
            axes = [i for i, most in enumerate(dataset.maxshape) if most is None]
            attributes["unlimited_axes"] = axes
        made.attributes = attributes
        self._source.arrays[path] = made

    def _array(self, dataset: Any) -> SourceArray:
        dtype, read = stored_as(dataset)
        if dataset.shape is None:
            return SourceArray((0,), _plain(dtype), lambda region: np.zeros(0, _plain(dtype)))
        shape = tuple(dataset.shape)
        if not isinstance(dtype, np.dtype):
            return SourceArray(
                shape, dtype, read, chunks=dataset.chunks, fill_value=None,
                why_decoded="its elements are of variable length",
            )  # fmt: skip
        plain = _plain(dtype)
        fill = dataset.fillvalue if dtype.names is None else 0
        same = plain == dtype and self._is_as_in_memory(dataset)
        # A dataset that was never written has no storage, and an offset that means nothing.
        if same and dataset.chunks is None and dataset.id.get_storage_size() and math.prod(shape):
            offset = dataset.id.get_offset()
            if offset is not None:
                return flat_array(self._file, offset, shape, plain, fill_value=fill)
        one = SourceArray(
            shape,
            plain,
            _reader(dataset, plain),
            chunks=dataset.chunks,
            fill_value=fill,
            why_decoded="it has no chunks" if dataset.chunks is None else
            "its elements are stored in another form than in memory",
        )  # fmt: skip
        if same and dataset.chunks is not None:
            filters = Filters.of(dataset)
            one.why_decoded = filters.unknown
            if not filters.unknown:
                one.encoded = encoded_chunks(dataset, self._file, filters)
        return one

    def _is_as_in_memory(self, dataset: Any) -> bool:
        """Whether the stored bytes of elements are those that NumPy has."""
        h5t = self._h5py.h5t
        stored = dataset.id.get_type()
        return bool(
            stored.equal(h5t.py_create(dataset.dtype, logical=True))
            or stored.equal(h5t.py_create(dataset.dtype))
        )

    def _dimension_names(self, dataset: Any) -> list[str | None] | None:
        """The names that dimension scales give to the axes."""
        names: list[str | None] = []
        with contextlib.suppress(RuntimeError, KeyError, ValueError):
            is_scale = self._h5py.h5ds.is_scale(dataset.id)
            for axis in range(len(dataset.shape or ())):
                dimension = dataset.dims[axis]
                scales = [one.name for one in dimension.values()]
                name = scales[0].rpartition("/")[2] if scales else dimension.label or None
                if name is None and is_scale and len(dataset.shape) == 1:
                    name = dataset.name.rpartition("/")[2]
                names.append(name)
        return names if any(names) else None


def _plain(dtype: Any) -> Any:
    """A dtype without the notes of h5py, and without padding between fields."""
    if not isinstance(dtype, np.dtype):
        return dtype
    if dtype.names is None:
        if dtype.subdtype is not None:
            base, shape = dtype.subdtype
            return np.dtype((_plain(base), shape))
        return np.dtype(dtype.str) if dtype.kind != "O" else dtype
    return np.dtype([(name, _plain(dtype[name])) for name in dtype.names])


def _reader(dataset: Any, dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    """Reads a region with h5py, which has one lock for all threads."""

    def read(region: Any) -> Any:
        try:
            value = np.asarray(dataset[region])
        except OSError as error:
            raise ConversionError(f"{dataset.name} cannot be read: {error}") from None
        if value.dtype == dtype or dtype.names is None:
            return value
        packed = np.empty(value.shape, dtype)
        for name in dtype.names or ():
            packed[name] = value[name]
        return packed

    return read
