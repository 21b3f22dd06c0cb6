"""Creating arrays in a group, in the words of zarr 2.18 and of h5py; mixed into every `Group`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from zarrix._array import create as _create
from zarrix._array.array import Array
from zarrix._metadata.arguments import normalize_shape
from zarrix._metadata.keywords import (
    DatasetKeywords,
    MemberDataKeywords,
    MemberLikeKeywords,
    MemberShapeKeywords,
    RequireKeywords,
    takes,
)
from zarrix._nodes import nodes
from zarrix._nodes.attributes import Attributes
from zarrix._stores.base import Store

__all__ = ["Creating"]

F = TypeVar("F", bound=Callable[..., Any])

_GIVEN = dict.fromkeys(
    ("store", "chunk_store", "path"), "is given by the group; use the name for a path"
)


def _not_an_array(method: F) -> F:
    """Refuse an array as the second argument by position, where h5py and this have the shape.

    By name a shape may be an array, as in zarr 2.18.
    """

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **keywords: Any) -> Any:
        if len(args) > 1 and isinstance(args[1], np.ndarray):
            raise TypeError(
                "create_dataset(): the second argument is the shape, and an array is there; pass "
                "data= for what the array holds, or shape=tuple(...)"
            )
        return method(self, *args, **keywords)

    return checked  # type: ignore[return-value]


class Creating:
    """The methods of groups that are named as the functions of `zarrix.creation`."""

    _store: Store
    _chunk_store: Store | None
    _synchronizer: Any
    _attrs: Attributes

    if TYPE_CHECKING:
        # What the class has that this is mixed into.
        def _item_path(self, item: str) -> str: ...
        def _node(self, path: str) -> nodes.Node | None: ...
        def _open_node(self, path: str, node: Any, **changes: Any) -> Any: ...
        def _writing(self) -> Any: ...

    @_not_an_array
    @takes(DatasetKeywords, like=_create.create, refused=_GIVEN)
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
            What it holds; see `zarrix.array`.
        **kwargs
            As for `zarrix.create`: chunks, compressor, fill_value, ...

        Returns
        -------
        Array

        Raises
        ------
        TypeError
            There is neither a shape nor data, or an array in the place of a shape.
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.group().create_dataset("x", (100, 3), "i4", chunks=(10, 3))
        <zarrix.core.Array '/x' (100, 3) int32>
        """
        options: dict[str, Any] = {**kwargs}
        if dtype is not None:
            options["dtype"] = dtype
        if data is not None:
            return self._make(_create.array, name, data, shape=shape, **options)
        if shape is None:
            raise TypeError("create_dataset(): give shape=, or data= to take it from")
        return self._make(_create.create, name, shape=shape, **options)

    @takes(RequireKeywords, like=_create.create, refused=_GIVEN)
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
            Values of it can be cast safely to that of an existing array.
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
            return self.create_dataset(name, shape=shape, dtype=dtype, **kwargs)
        with self._writing():
            names = ("synchronizer", "cache_metadata", "cache_attrs", "write_empty_chunks")
            given: Mapping[str, Any] = {**kwargs}
            options = {option: given[option] for option in names if option in given}
            existing: Array = self._open_node(path, node, **options)
        if normalize_shape(shape) != existing.shape:
            raise TypeError(f"the existing array {name!r} has shape {existing.shape}, not {shape}")
        wanted: np.dtype[Any] = np.dtype(dtype)
        if exact and wanted != existing.dtype:
            raise TypeError(
                f"the existing array {name!r} has dtype {existing.dtype}, not exactly {wanted}"
            )
        if not np.can_cast(wanted, existing.dtype):
            raise TypeError(
                f"the existing array {name!r} has dtype {existing.dtype}, "
                f"to which {wanted} cannot be cast safely"
            )
        return existing

    def _make(self, function: Callable[..., Array], name: str, *args: Any, **kwargs: Any) -> Array:
        options = {
            "synchronizer": self._synchronizer,
            "cache_attrs": self._attrs.cache,
            "store": self._store,
            "chunk_store": self._chunk_store,
            "path": self._item_path(name),
        }
        with self._writing():
            return function(*args, **{**options, **kwargs})

    @takes(MemberDataKeywords, like=_create.create, refused=_GIVEN)
    def create(self, name: str, **kwargs: Unpack[MemberDataKeywords]) -> Array:
        """Create an array in this group, empty or from ``data``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        **kwargs
            As for `zarrix.create`, where ``shape`` is needed. With ``data``, shape and dtype are
            taken from it; ``write_data=False`` takes only those.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
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
        return self._make(_create.empty_like, name, data, **options)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def empty(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group whose fill value is undefined.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        **kwargs
            As for `zarrix.empty`, where ``shape`` is needed.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.empty("scratch", shape=(4, 6)).fill_value is None
        True
        """
        return self._make(_create.empty, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def zeros(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group that reads as zero where it was never written.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        **kwargs
            As for `zarrix.zeros`, where ``shape`` is needed.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.zeros("counts", shape=3, dtype="i4")[:]
        array([0, 0, 0], dtype=int32)
        """
        return self._make(_create.zeros, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def ones(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group that reads as one where it was never written.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        **kwargs
            As for `zarrix.ones`, where ``shape`` is needed.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.ones("weights", shape=3, chunks=2)[:]
        array([1., 1., 1.])
        """
        return self._make(_create.ones, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def full(self, name: str, fill_value: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group that reads as ``fill_value`` where it was never written.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        fill_value : scalar
            Cast to the dtype.
        **kwargs
            As for `zarrix.full`, where ``shape`` is needed.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.full("depth", -1.0, shape=3)[:]
        array([-1., -1., -1.])
        """
        return self._make(_create.full, name, fill_value=fill_value, **kwargs)

    @takes(MemberShapeKeywords, like=_create.create, refused=_GIVEN)
    def array(self, name: str, data: Any, **kwargs: Unpack[MemberShapeKeywords]) -> Array:
        """Create an array in this group that holds ``data``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
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
            Something is stored there and ``overwrite`` is false.
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

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def empty_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, with an undefined fill value.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        data : Array or ndarray
            Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.empty_like`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.empty_like("b", zarr.zeros((4, 6), chunks=(2, 3))).chunks
        (2, 3)
        """
        return self._make(_create.empty_like, name, data, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def zeros_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, that reads as zero.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        data : Array or ndarray
            Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.zeros_like`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.zeros_like("b", zarr.ones(3, dtype="i2"))[:]
        array([0, 0, 0], dtype=int16)
        """
        return self._make(_create.zeros_like, name, data, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=_GIVEN)
    def ones_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, that reads as one.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        data : Array or ndarray
            Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.ones_like`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.ones_like("b", zarr.zeros(2))[:]
        array([1., 1.])
        """
        return self._make(_create.ones_like, name, data, **kwargs)

    @takes(MemberShapeKeywords, like=_create.create, refused=_GIVEN)
    def full_like(self, name: str, data: Any, **kwargs: Unpack[MemberShapeKeywords]) -> Array:
        """Create an array in this group like ``data``, that reads as the fill value.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; parent groups are made.
        data : Array or ndarray
            Anything with a shape and a dtype. Gives shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.full_like`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            Something is stored there and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.
        TypeError
            ``data`` has no fill value, and ``fill_value`` is not given.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.full_like("b", zarr.full(2, 5, dtype="u1"))[:]
        array([5, 5], dtype=uint8)
        """
        return self._make(_create.full_like, name, data, **kwargs)
