"""Creating arrays in a group, with the arguments of zarr 2.18, zarr-python 3 and h5py."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack

import numpy as np

from zarrix._array import create as _create
from zarrix._array import create_array as _create_array
from zarrix._array import filled as _filled
from zarrix._array.array import Array
from zarrix._array.keywords import (
    DatasetKeywords,
    MemberDataKeywords,
    MemberShapeKeywords,
    RequireKeywords,
    V3RequireKeywords,
    V3ShapeKeywords,
)
from zarrix._codecs.numcodecs import DEFAULT_COMPRESSOR
from zarrix._errors import ContainsArrayError
from zarrix._hierarchy.state import GroupState
from zarrix._metadata.arguments import normalize_shape
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import takes

__all__ = ["GIVEN", "ArrayCreation"]

F = TypeVar("F", bound=Callable[..., Any])

_STORES_GIVEN = dict.fromkeys(("store", "chunk_store"), "is given by the group")
GIVEN = dict.fromkeys(
    ("store", "chunk_store", "path"), "is given by the group; use the name for a path"
)
"""Keywords of `zarrix.create` that a group does not accept, and the messages about them."""


def _not_an_array(method: F) -> F:
    """Raise an error for an array as the second positional argument, which is the shape.

    By name a shape may be an array, as in zarr 2.18.
    """

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **keywords: Any) -> Any:
        if len(args) > 1 and isinstance(args[1], np.ndarray):
            raise TypeError(
                "create_dataset(): the second argument is the shape, not an array; pass data= "
                "for the content of the array, or shape=tuple(...)"
            )
        return method(self, *args, **keywords)

    return checked  # type: ignore[return-value]


def _compressor_of_zarr3(zarr_format: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """The compressor by default of these two methods of zarr-python 3 in a v2 group: Blosc, as in
    zarr 2.18, where its functions and other methods have zstd.
    """
    names = ("compressor", "compressors", "compression")
    given = (options.get(name, "auto") for name in names)
    if zarr_format == 2 and all(isinstance(one, str) and one == "auto" for one in given):
        return {"compressor": dict(DEFAULT_COMPRESSOR)}
    return {}


class ArrayCreation(GroupState):
    """The methods of groups that create an array from arguments or from data."""

    @_not_an_array
    @takes(DatasetKeywords, like=_create.create, refused=GIVEN)
    def create_dataset(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        data: Any = None,
        **kwargs: Unpack[DatasetKeywords],
    ) -> Array:
        """Create an array, empty or from ``data``; the arguments come in h5py's order.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        shape : int or tuple of int, optional
            That of ``data`` when omitted.
        dtype : dtype, optional
            That of ``data``, else float64.
        data : array-like, optional
            The initial content; see `zarrix.array`.
        **kwargs
            As for `zarrix.create`: chunks, compressor, fill_value, ... The ``shuffle`` of h5py is
            ignored with a warning, as in zarr 2.18.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            There is neither a shape nor data, or an array in the place of a shape.
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.group().create_dataset("x", (100, 3), "i4", chunks=(10, 3))
        <zarrix.core.Array '/x' (100, 3) int32>
        """
        options: dict[str, Any] = {**kwargs}
        if options.pop("shuffle", None) is not None:
            warn_caller("ignoring keyword argument 'shuffle': it is an option of the compressor")
        if dtype is not None:
            options["dtype"] = dtype
        if DIALECT.is_zarr3:
            options.update(_compressor_of_zarr3(self._zarr_format, options))
        if data is not None:
            return self._make(_create.array, name, data, shape=shape, **options)
        if shape is None:
            raise TypeError("create_dataset(): pass shape=, or data= with a shape")
        return self._make(_create.create, name, shape=shape, **options)

    @takes(RequireKeywords, like=_create.create, refused=GIVEN)
    def require_dataset(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        exact: bool = False,
        **kwargs: Unpack[RequireKeywords],
    ) -> Array:
        """The array of that name, created if it does not exist.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        shape : int or tuple of int
        dtype : dtype, optional
            Values of an existing array can be cast safely to it.
        exact : bool
            It must be the dtype of an existing array.
        **kwargs
            As for `create_dataset`.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            An array of another shape or dtype exists.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> first = root.require_dataset("x", shape=3, dtype="i4")
        >>> first[:] = 5
        >>> root.require_dataset("x", shape=3, dtype="i4")[:]
        array([5, 5, 5], dtype=int32)
        """
        path = self._item_path(name)
        node = self._node(path)
        if node is None or node.kind != "array":
            try:
                return self.create_dataset(name, shape=shape, dtype=dtype, **kwargs)
            except ContainsArrayError:
                # Another process may have created it meanwhile.
                node = self._node(path)
                if node is None or node.kind != "array":
                    raise
        with self._writing():
            names = ("synchronizer", "cache_metadata", "cache_attrs", "write_empty_chunks")
            given: Mapping[str, Any] = {**kwargs}
            options = {option: given[option] for option in names if option in given}
            existing: Array = self._open_node(path, node, **options)
        return _require_fit(existing, name, shape, np.dtype(dtype), exact)

    @takes(V3ShapeKeywords, like=_create_array.create_array, refused=_STORES_GIVEN)
    def create_array(self, name: str, **kwargs: Unpack[V3ShapeKeywords]) -> Array:
        """Create an array in the format of the group.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        **kwargs
            As for `zarrix.create_array`: shape, dtype, data, chunks, shards, compressors, ...

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.
        MetadataError, ValueError, TypeError
            The arguments do not describe an array.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> z = root.create_array("a", shape=(100, 100), chunks=(10, 10), shards=(50, 50))
        >>> z.name, z.zarr_format, z.shards
        ('/a', 3, (50, 50))
        """
        options: dict[str, Any] = {
            "synchronizer": self._options.synchronizer,
            "cache_attrs": self._attrs.cache,
            "chunk_store": self._location.chunk_store,
        }
        with self._writing():
            path = self._new_path(name)
            options.update(kwargs)
            if DIALECT.is_zarr3:
                options.update(_compressor_of_zarr3(self._zarr_format, options))
            return _create_array.create_array(self._location.store, name=path, **options)

    @takes(V3RequireKeywords, like=_create_array.create_array, refused=_STORES_GIVEN)
    def require_array(
        self,
        name: str,
        *,
        shape: Any,
        dtype: Any = None,
        exact: bool = False,
        **kwargs: Unpack[V3RequireKeywords],
    ) -> Array:
        """The array of that name, created if it does not exist.

        Parameters
        ----------
        name : str
            Name, or path relative to this group.
        shape : int or tuple of int
        dtype : dtype, optional
            Values of an existing array can be cast safely to it.
        exact : bool
            It must be the dtype of an existing array.
        **kwargs
            As for `create_array`. ``config`` is applied to an existing array, too.

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            An array of another shape or dtype exists, or ``config`` has a setting that does not
            exist.
        ContainsGroupError
            A group of that name exists.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.create_group()
        >>> root.require_array("a", shape=3, dtype="i4")[:] = 5
        >>> root.require_array("a", shape=3, dtype="i8")[:]
        array([5, 5, 5], dtype=int32)
        """
        existing = self._get(name)
        if not isinstance(existing, Array):
            return self.create_array(name, shape=shape, dtype=dtype, **kwargs)
        wanted = existing.dtype if dtype is None else np.dtype(dtype)
        config = kwargs.get("config")
        if config is not None:
            existing = existing.with_config(config)
        return _require_fit(existing, name, shape, wanted, exact)

    def _make(self, function: Callable[..., Array], name: str, *args: Any, **kwargs: Any) -> Array:
        options = {
            "synchronizer": self._options.synchronizer,
            "cache_attrs": self._attrs.cache,
            "store": self._location.store,
            "chunk_store": self._location.chunk_store,
            "path": self._new_path(name),
        }
        with self._writing():
            return function(*args, **{**options, **kwargs})

    @takes(MemberDataKeywords, like=_create.create, refused=GIVEN)
    def create(self, name: str, **kwargs: Unpack[MemberDataKeywords]) -> Array:
        """Create an array in this group, empty or from ``data``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        **kwargs
            As for `zarrix.create`, where ``shape`` is needed. With ``data``, shape and dtype are
            taken from it; ``write_data=False`` takes only those.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> z = root.create("a", shape=(4, 6), chunks=(2, 3), dtype="i2", fill_value=7)
        >>> z.name, z.fill_value
        ('/a', np.int16(7))
        """
        options: dict[str, Any] = {**kwargs}
        data = options.pop("data", None)
        write_data = options.pop("write_data", True)
        if data is None:
            return self._make(_create.create, name, **options)
        if write_data:
            return self._make(_create.array, name, data, **options)
        return self._make(_filled.empty_like, name, data, **options)

    @takes(MemberShapeKeywords, like=_create.create, refused=GIVEN)
    def array(self, name: str, data: Any, **kwargs: Unpack[MemberShapeKeywords]) -> Array:
        """Create an array in this group with the content ``data``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        data : array-like
            Shape and dtype are taken from it.
        **kwargs
            As for `zarrix.array`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.array("a/b", [[1, 2], [3, 4]], chunks=(1, 2))[1]
        array([3, 4])
        """
        return self._make(_create.array, name, data, **kwargs)


def _require_fit(
    existing: Array, name: str, shape: Any, wanted: np.dtype[Any], exact: bool
) -> Array:
    """Return ``existing`` if it has the shape, and its values can be cast to ``wanted``."""
    if normalize_shape(shape) != existing.shape:
        raise TypeError(f"the existing array {name!r} has shape {existing.shape}, not {shape}")
    if exact and wanted != existing.dtype:
        raise TypeError(
            f"the existing array {name!r} has dtype {existing.dtype}, not exactly {wanted}"
        )
    if not np.can_cast(existing.dtype, wanted):
        raise TypeError(
            f"the existing array {name!r} has dtype {existing.dtype}, "
            f"which cannot be cast safely to {wanted}"
        )
    return existing
