"""Creating arrays of one value: empty, zeros, ones, full, and those made like another."""

from __future__ import annotations

from typing import Any, Unpack

from zarrix._array.array import Array
from zarrix._array.create import create
from zarrix._array.keywords import ArrayKeywords, CreateKeywords, LikeKeywords
from zarrix._array.like import take_like
from zarrix._metadata.literals import DEFAULT
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import takes

__all__ = [
    "empty",
    "empty_like",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


@takes(CreateKeywords, like=create)
def empty(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array without a fill value: elements that were never written may have any value.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.empty((4, 4), chunks=(2, 2), dtype="f4")
    >>> z.fill_value is None, z.nchunks_initialized
    (True, 0)
    """
    # zarr-python 3 gives it the fill value of its data type.
    return create(shape=shape, fill_value=DEFAULT if DIALECT.is_zarr3 else None, **kwargs)


@takes(CreateKeywords, like=create)
def zeros(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array with the fill value zero.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros((10000, 10000), chunks=(1000, 1000), dtype="u1")
    >>> z[:2, :3]
    array([[0, 0, 0],
           [0, 0, 0]], dtype=uint8)
    """
    return create(shape=shape, fill_value=0, **kwargs)


@takes(CreateKeywords, like=create)
def ones(shape: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array with the fill value one.

    Parameters
    ----------
    shape : int or tuple of int
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.ones(3)[:]
    array([1., 1., 1.])
    """
    return create(shape=shape, fill_value=1, **kwargs)


@takes(CreateKeywords, like=create)
def full(shape: Any, fill_value: Any, **kwargs: Unpack[CreateKeywords]) -> Array:
    """Create an array with the fill value ``fill_value``.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar
        Cast to the dtype.
    **kwargs
        As for `create`.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    MetadataError
        ``fill_value`` cannot be cast to the dtype (also a ``ValueError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> zarr.full((2, 2), np.nan, dtype="f4")[:]
    array([[nan, nan],
           [nan, nan]], dtype=float32)
    """
    return create(shape=shape, fill_value=fill_value, **kwargs)


@takes(ArrayKeywords, like=create)
def empty_like(a: Any, **kwargs: Unpack[ArrayKeywords]) -> Array:
    """Create an array like ``a``, with its fill value; an undefined one for another dtype.

    Under `zarrix.as_zarr` it has the fill value for any dtype, as in zarr-python 3.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs, order and, if it
        is an `Array`, the fill value.
    **kwargs
        As for `create`; they take precedence over those of ``a``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a = zarr.zeros((4, 6), chunks=(2, 3), dtype="i2")
    >>> b = zarr.empty_like(a, store="b.zarr")
    >>> b.shape, b.chunks, b.dtype
    ((4, 6), (2, 3), dtype('int16'))
    """
    options = take_like(a, {**kwargs})
    is_kept = isinstance(a, Array) and (DIALECT.is_zarr3 or kwargs.get("dtype", a.dtype) == a.dtype)
    options.setdefault("fill_value", a.fill_value if is_kept else None)
    return create(**options)


@takes(LikeKeywords, like=create)
def zeros_like(a: Any, **kwargs: Unpack[LikeKeywords]) -> Array:
    """Create an array like ``a``, with the fill value zero.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs and order.
    **kwargs
        As for `create`; they take precedence over those of ``a``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> import numpy as np
    >>> zarr.zeros_like(np.ones((2, 3), "i4"))[:]
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    return zeros(**take_like(a, {**kwargs}))


@takes(LikeKeywords, like=create)
def ones_like(a: Any, **kwargs: Unpack[LikeKeywords]) -> Array:
    """Create an array like ``a``, with the fill value one.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs and order.
    **kwargs
        As for `create`; they take precedence over those of ``a``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.

    Examples
    --------
    >>> import zarrix as zarr
    >>> a = zarr.zeros(4, dtype="i2", compressor=zarr.Zstd(3))
    >>> zarr.ones_like(a, dtype="f4").compressor
    Zstd(level=3)
    """
    return ones(**take_like(a, {**kwargs}))


@takes(ArrayKeywords, like=create)
def full_like(a: Any, **kwargs: Unpack[ArrayKeywords]) -> Array:
    """Create an array like ``a``, with the fill value ``fill_value``.

    Parameters
    ----------
    a : Array or ndarray
        Anything with a shape and a dtype. Source of shape, chunks, dtype, codecs, order and, if it
        is an `Array`, the fill value.
    **kwargs
        As for `create`; they take precedence over those of ``a``.

    Returns
    -------
    Array

    Raises
    ------
    ContainsArrayError, ContainsGroupError
        A node exists at ``path``, and ``overwrite`` is false.
    TypeError
        ``a`` has no fill value, and ``fill_value`` is not passed.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> a = zarr.full(3, 42, dtype="i4")
    >>> zarr.full_like(a)[:], zarr.full_like(np.zeros(2, "i2"), fill_value=5)[:]
    (array([42, 42, 42], dtype=int32), array([5, 5], dtype=int16))
    """
    options = {**kwargs}
    if isinstance(a, Array):
        options.setdefault("fill_value", a.fill_value)
    elif "fill_value" not in options:
        raise TypeError(f"full_like(): give fill_value=, which a {type(a).__name__} does not have")
    return full(**take_like(a, options))
