"""Creating arrays of one value in a group: empty, zeros, ones, full, and those like another."""

from __future__ import annotations

from typing import Any, Unpack

from zarrix._array import create as _create
from zarrix._array import filled as _filled
from zarrix._array.array import Array
from zarrix._array.keywords import MemberLikeKeywords, MemberShapeKeywords
from zarrix._hierarchy.create_arrays import GIVEN, ArrayCreation
from zarrix._runtime.signatures import takes

__all__ = ["FilledArrayCreation"]


class FilledArrayCreation(ArrayCreation):
    """Methods of groups with the names of the functions in `zarrix._array.filled`."""

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def empty(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group whose fill value is undefined.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        **kwargs
            As for `zarrix.empty`, where ``shape`` is needed.

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
        >>> root.empty("scratch", shape=(4, 6)).fill_value is None
        True
        """
        return self._make(_filled.empty, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def zeros(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group with the fill value zero.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        **kwargs
            As for `zarrix.zeros`, where ``shape`` is needed.

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
        >>> root.zeros("counts", shape=3, dtype="i4")[:]
        array([0, 0, 0], dtype=int32)
        """
        return self._make(_filled.zeros, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def ones(self, name: str, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group with the fill value one.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        **kwargs
            As for `zarrix.ones`, where ``shape`` is needed.

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
        >>> root.ones("weights", shape=3, chunks=2)[:]
        array([1., 1., 1.])
        """
        return self._make(_filled.ones, name, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def full(self, name: str, fill_value: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group with the fill value ``fill_value``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
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
            A node exists at the path, and ``overwrite`` is false.
        ReadOnlyError
            The group is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.group()
        >>> root.full("depth", -1.0, shape=3)[:]
        array([-1., -1., -1.])
        """
        return self._make(_filled.full, name, fill_value=fill_value, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def empty_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, as `zarrix.empty_like` does.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        data : Array or ndarray
            Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs, order and, if
            it is an `Array`, the fill value.
        **kwargs
            As for `zarrix.empty_like`.

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
        >>> root.empty_like("b", zarr.zeros((4, 6), chunks=(2, 3))).chunks
        (2, 3)
        """
        return self._make(_filled.empty_like, name, data, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def zeros_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, with the fill value zero.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        data : Array or ndarray
            Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.zeros_like`.

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
        >>> root.zeros_like("b", zarr.ones(3, dtype="i2"))[:]
        array([0, 0, 0], dtype=int16)
        """
        return self._make(_filled.zeros_like, name, data, **kwargs)

    @takes(MemberLikeKeywords, like=_create.create, refused=GIVEN)
    def ones_like(self, name: str, data: Any, **kwargs: Unpack[MemberLikeKeywords]) -> Array:
        """Create an array in this group like ``data``, with the fill value one.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        data : Array or ndarray
            Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.ones_like`.

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
        >>> root.ones_like("b", zarr.zeros(2))[:]
        array([1., 1.])
        """
        return self._make(_filled.ones_like, name, data, **kwargs)

    @takes(MemberShapeKeywords, like=_create.create, refused=GIVEN)
    def full_like(self, name: str, data: Any, **kwargs: Unpack[MemberShapeKeywords]) -> Array:
        """Create an array in this group like ``data``, with the fill value ``fill_value``.

        Parameters
        ----------
        name : str
            Name, or path relative to this group; missing parent groups are created.
        data : Array or ndarray
            Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs and order.
        **kwargs
            As for `zarrix.full_like`.

        Returns
        -------
        Array

        Raises
        ------
        ContainsArrayError, ContainsGroupError
            A node exists at the path, and ``overwrite`` is false.
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
        return self._make(_filled.full_like, name, data, **kwargs)
