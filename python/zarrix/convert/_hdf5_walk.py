"""What a file of HDF5 has: h5py reads the structure, and the engine the chunks.

A chunk whose `filter_mask` is not 0 was stored without some of the filters, as HDF5 does with
Blosc and LZF if a chunk does not become smaller. It is decoded by the filters that it has, and
encoded by all; a reader that ignores the mask reads other values.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError, CopyError
from zarrix._hierarchy.h5py_source import stored_as
from zarrix._stores.keys import key_of
from zarrix.convert._cf import extended, mask
from zarrix.convert._flat import flat_array
from zarrix.convert._hdf5_attributes import attributes_of, is_netcdf
from zarrix.convert._hdf5_chunks import Chunks
from zarrix.convert._hdf5_file import library, raise_of_system
from zarrix.convert._hdf5_filters import Filters
from zarrix.convert._hdf5_links import Links
from zarrix.convert._source import OpenFile, Source, SourceArray, UnkeptError

__all__ = ["open_hdf5"]

_OTHER = "_nc4_non_coord_"
_NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
# Members that are linked often have many paths: twenty groups that have two links to the next one
# have a million.
_MOST_MEMBERS = 1_000_000
_ERRORS = (OSError, RuntimeError, KeyError, ValueError, TypeError, CopyError)


def open_hdf5(path: Path, follow: bool = False, netcdf: bool | None = None) -> Source:
    """The groups and datasets of a file; those of other files only if ``follow`` is true.

    ``netcdf`` is whether the rules of NetCDF hold; what the file says if it is None.
    """
    h5py = library()
    file = OpenFile(path)
    try:
        opened = h5py.File(path, "r")
    except (OSError, ValueError) as error:
        file.close()
        raise_of_system(error, str(path))
        raise ConversionError(f"{path} is not an HDF5 file, or is damaged: {error}") from None
    source = Source(str(path), {}, identity=[file.identity])
    links = Links(h5py, opened, file, source, follow)

    def close() -> None:
        links.close()
        opened.close()
        file.close()

    source.close = close
    try:
        _Walk(h5py, links, source, is_netcdf(opened) if netcdf is None else netcdf).all(opened)
    except BaseException as error:
        close()
        if isinstance(error, ConversionError | MemoryError) or not isinstance(error, _ERRORS):
            raise
        raise_of_system(error, str(path))
        raise ConversionError(f"{path} is damaged: {error}") from None
    return source


class _Walk:
    """Collects what a file has."""

    def __init__(self, h5py: Any, links: Links, source: Source, netcdf: bool) -> None:
        self._h5py, self._links, self._source, self._netcdf = h5py, links, source, netcdf
        # NetCDF: the names of dimensions by number, and the numbers of the axes of arrays.
        self._dimensions: dict[int, str] = {}
        self._axes: dict[str, list[int]] = {}
        # By the address of the dimension: its length, and the arrays along it.
        self._lengths: dict[Any, int] = {}
        self._along: list[tuple[str, int, Any]] = []
        self._members = 0

    def all(self, opened: Any) -> None:
        """Visit every group, without a call for each level."""
        waiting: list[tuple[Any, str, tuple[Any, ...]]] = [(opened, "", ())]
        while waiting:
            group, path, above = waiting.pop()
            inside = self._group(group, path, above)
            waiting += reversed(inside)
        for name, numbers in self._axes.items():
            one = self._source.arrays.get(name)
            if one is not None and len(numbers) == len(one.shape):
                one.dimension_names = [self._dimensions.get(number) for number in numbers]
        for name, axis, dimension in self._along:
            if name in self._source.arrays:
                one = self._source.arrays[name]
                self._source.arrays[name] = extended(one, axis, self._lengths[dimension])

    def _group(self, group: Any, path: str, above: tuple[Any, ...]) -> list[Any]:
        """Note a group and its datasets; return the groups in it."""
        info = self._h5py.h5o.get_info(group.id)
        # Addresses are those of a file.
        here = (info.fileno, info.addr)
        if here in above:
            self._source.leave_out(path, "it is a group that contains itself")
            return []
        self._source.groups[path] = attributes_of(group, path, self._source, netcdf=self._netcdf)
        found = []
        for name in group:
            self._members += 1
            if self._members > _MOST_MEMBERS:
                raise ConversionError(
                    f"{self._source.name} has more than {_MOST_MEMBERS:,} paths of members"
                )
            # The name in HDF5 of a variable that is not the coordinate of a dimension of its name.
            shown = name.removeprefix(_OTHER) if self._netcdf else name
            inside = key_of(path, shown)
            if _is_no_name(name):
                told = inside.encode("utf-8", "backslashreplace").decode()
                self._source.leave_out(told, f"{told!r} is not a name in a hierarchy")
                continue
            try:
                member = self._links.member(group, name)
            except _ERRORS as error:
                raise_of_system(error, self._source.name)
                self._source.leave_out(inside, error)
                continue
            if isinstance(member, self._h5py.Group):
                found.append((member, inside, (*above, here)))
            elif isinstance(member, self._h5py.Dataset):
                try:
                    self._dataset(member, inside)
                except _ERRORS as error:
                    if isinstance(error, ConversionError):
                        raise
                    raise_of_system(error, self._source.name)
                    self._source.leave_out(inside, error)
            else:
                self._source.leave_out(inside, f"it is a {type(member).__name__}")
        return found

    def _dataset(self, dataset: Any, path: str) -> None:
        name = dataset.attrs.get("NAME") if "NAME" in dataset.attrs else b""
        if "_Netcdf4Dimid" in dataset.attrs and self._h5py.h5ds.is_scale(dataset.id):
            number = int(np.ravel(dataset.attrs["_Netcdf4Dimid"])[0])
            self._dimensions[number] = dataset.name.rpartition("/")[2]
        if isinstance(name, bytes) and name.startswith(_NO_VARIABLE):
            return
        self._links.check(dataset, path)
        made = self._array(dataset)
        made.dimension_names = self._dimension_names(dataset)
        if "_Netcdf4Coordinates" in dataset.attrs and len(dataset.shape or ()) > 1:
            self._axes[path] = [int(one) for one in np.ravel(dataset.attrs["_Netcdf4Coordinates"])]
        attributes = attributes_of(dataset, path, self._source, netcdf=self._netcdf)
        enum = self._h5py.check_enum_dtype(dataset.dtype)
        if enum and dataset.dtype.kind != "b":
            attributes["enum"] = {name: int(value) for name, value in enum.items()}
        if dataset.maxshape and None in dataset.maxshape:
            axes = [i for i, most in enumerate(dataset.maxshape) if most is None]
            attributes["unlimited_axes"] = axes
        made.attributes = attributes
        if self._netcdf:
            mask(made)
            self._note_lengths(dataset, path)
        self._source.arrays[path] = made

    def _note_lengths(self, dataset: Any, path: str) -> None:
        """Note the lengths of axes without a limit, which are those of their dimensions."""
        for axis, most in enumerate(dataset.maxshape or ()):
            scales = dataset.dims[axis].values() if most is None else []
            if not scales and not (most is None and self._h5py.h5ds.is_scale(dataset.id)):
                continue
            info = self._h5py.h5o.get_info((scales[0] if scales else dataset).id)
            dimension = (info.fileno, info.addr)
            length = dataset.shape[axis]
            self._lengths[dimension] = max(length, self._lengths.get(dimension, 0))
            self._along.append((path, axis, dimension))

    def _array(self, dataset: Any) -> SourceArray:
        dtype, read = stored_as(dataset)
        if dataset.shape is None:
            return SourceArray((0,), _plain(dtype), lambda region: np.zeros(0, _plain(dtype)))
        shape = tuple(dataset.shape)
        chunks = None
        if dataset.chunks is not None:
            self._require_filters(dataset)
            chunks = Chunks(dataset, self._links.file_of(dataset), Filters.of(dataset))
        if not isinstance(dtype, np.dtype):
            one = SourceArray(
                shape, dtype, self._reader(dataset, read), chunks=dataset.chunks,
                fill_value=_text_of(dataset) if dtype is str else None,
                why_decoded="its elements are of variable length",
            )  # fmt: skip
        elif dtype.hasobject:
            raise CopyError(
                "its fields have text of variable length or references, which no data type of Zarr "
                "has"
            )
        else:
            plain = _plain(dtype)
            one = self._fixed(dataset, chunks, plain, same=plain == dtype)
        if chunks is not None:
            one.stored = chunks.stored
        elif _is_never_written(dataset):
            one.stored = tuple
        return one

    def _require_filters(self, dataset: Any) -> None:
        """Refuse a dataset with a filter that neither the library has nor Zarr."""
        properties = dataset.id.get_create_plist()
        for index in range(properties.get_nfilters()):
            code, _, _, name = properties.get_filter(index)
            known = self._h5py.h5z.filter_avail(code)
            if not known and Filters.of(dataset).unknown and dataset.id.get_storage_size():
                shown = bytes(name).decode("utf-8", "replace")
                raise CopyError(
                    f"its filter {code} ({shown}) is not installed; the package hdf5plugin has many"
                )

    def _fixed(
        self, dataset: Any, chunks: Chunks | None, plain: np.dtype[Any], *, same: bool
    ) -> SourceArray:
        """An array of elements of a fixed size."""
        shape = tuple(dataset.shape)
        same = same and self._is_as_in_memory(dataset)
        native = self._reader(dataset, dataset.__getitem__, plain)
        fill = _fill_of(dataset, plain)
        # A dataset that was never written has no storage, and an offset that means nothing.
        if same and chunks is None and dataset.id.get_storage_size() and math.prod(shape):
            offset = dataset.id.get_offset()
            if offset is not None and not dataset.is_virtual and not dataset.external:
                file = self._links.file_of(dataset)
                return flat_array(file, offset, shape, plain, fill_value=fill, native=native)
        one = SourceArray(
            shape,
            plain,
            native,
            chunks=dataset.chunks,
            fill_value=fill,
            why_decoded="it has no chunks" if chunks is None else
            "its elements are stored in another form than in memory",
            native=native,
        )  # fmt: skip
        if same and chunks is not None:
            one.why_decoded = Filters.of(dataset).unknown
            if not one.why_decoded:
                one.encoded = chunks.encoded()
        return one

    def _reader(
        self, dataset: Any, read: Callable[[Any], Any], plain: np.dtype[Any] | None = None
    ) -> Callable[[Any], Any]:
        """Reads a region with h5py, which has one lock for all threads."""
        file = self._links.file_of(dataset)

        def region_of(region: Any) -> Any:
            try:
                value = np.asarray(read(region))
            except UnicodeDecodeError as error:
                raise UnkeptError(
                    f"{file.path}: {dataset.name} has text that is not UTF-8: {error}"
                ) from None
            except (OSError, RuntimeError, ValueError, KeyError) as error:
                if "plugin" in str(error):
                    raise UnkeptError(
                        f"{dataset.name} has a filter that is not installed; the package "
                        "hdf5plugin has many"
                    ) from None
                raise ConversionError(
                    f"{file.path}: {dataset.name} cannot be read: {error}"
                ) from None
            file.check()
            if plain is None or value.dtype == plain or plain.names is None:
                return value
            return _packed(value, plain)

        return region_of

    def _is_as_in_memory(self, dataset: Any) -> bool:
        """Whether the stored bytes of elements are those that NumPy has."""
        h5t = self._h5py.h5t
        stored = dataset.id.get_type()
        return bool(
            stored.equal(h5t.py_create(dataset.dtype, logical=True))
            or stored.equal(h5t.py_create(dataset.dtype))
        )

    def _dimension_names(self, dataset: Any) -> list[str | None] | None:
        """The names that dimension scales give to the axes; those of all scales for a scalar."""
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
        return names if any(names) or dataset.shape == () else None


def _is_no_name(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return name in (".", "..") or "/" in name


def _is_never_written(dataset: Any) -> bool:
    outside = dataset.is_virtual or dataset.external
    return not outside and dataset.id.get_storage_size() == 0


def _fill_of(dataset: Any, plain: np.dtype[Any]) -> Any:
    """What elements read as that were never written."""
    try:
        fill = dataset.fillvalue
    except (RuntimeError, OSError, ValueError, TypeError) as error:
        raise_of_system(error, dataset.file.filename)
        # The dataset says that they have no value; the library reads zeros.
        return np.zeros((), plain)[()]
    if plain.names is None:
        return fill
    return _packed(np.asarray(fill), plain)[()]


def _text_of(dataset: Any) -> str:
    """The fill value of text."""
    fill = dataset.fillvalue
    return fill.decode() if isinstance(fill, bytes) else str(fill or "")


def _packed(value: Any, plain: np.dtype[Any]) -> Any:
    """Elements of fields without the padding between them."""
    packed = np.empty(value.shape, plain)
    for name in plain.names or ():
        packed[name] = value[name]
    return packed


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
