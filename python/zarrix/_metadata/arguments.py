"""Arguments that describe an array, in the form of the metadata."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from zarrix._dtypes.v2 import require_supported, without_notes
from zarrix._dtypes.variable import object_codec_of
from zarrix._errors import shorten
from zarrix._metadata.guess import chunks_of_bytes, guess_chunks
from zarrix._metadata.literals import Order
from zarrix._runtime.sizes import is_size, parse_size

__all__ = [
    "normalize_chunks",
    "normalize_dtype",
    "normalize_order",
    "normalize_resize_args",
    "normalize_shape",
]

_AXIS_LIMIT = 2**63 - 1


def normalize_shape(shape: int | Iterable[int] | None) -> tuple[int, ...]:
    """Return ``shape`` as a tuple of ints; a single int means one axis.

    Parameters
    ----------
    shape : int or iterable of int

    Returns
    -------
    tuple of int

    Raises
    ------
    TypeError
        It is None, or contains a value that is not an integer.
    ValueError
        It contains a negative number, or one over 2**63 - 1.

    Examples
    --------
    >>> from zarrix.util import normalize_shape
    >>> normalize_shape(10), normalize_shape([3, 4.0])
    ((10,), (3, 4))
    """
    if shape is None:
        raise TypeError("shape is missing: give an int or a tuple of ints")
    given: Any = (shape,) if isinstance(shape, numbers.Number) else shape
    lengths = _lengths_of(given, "shape")
    for length in lengths:
        if not 0 <= length <= _AXIS_LIMIT:
            raise ValueError(f"shape {lengths} has a length of {length}; allowed are 0 to 2**63-1")
    return lengths


def normalize_chunks(chunks: Any, shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """Return ``chunks`` as one length per axis of ``shape``, which is already normalised.

    Parameters
    ----------
    chunks : bool, None, "auto", int, iterable of int, or str such as "1 MiB"
        True, None and "auto" guess; False makes one chunk; an int applies to every axis; a size is
        the maximum number of bytes of a chunk. In a tuple, missing axes at the end, None and -1
        stand for the whole axis.
    shape : tuple of int
    typesize : int
        Item size, for the guess.

    Returns
    -------
    tuple of int
        As many as ``shape`` has.

    Raises
    ------
    TypeError
        A length is not a whole number.
    ValueError
        There are more lengths than axes, or one is below 1 on an axis that is not empty.

    Examples
    --------
    >>> from zarrix.util import normalize_chunks
    >>> normalize_chunks((10, -1), (100, 20, 3), 8)
    (10, 20, 3)
    >>> normalize_chunks("1 MiB", (10_000, 1000), 4)
    (313, 500)
    """
    if chunks is None or chunks is True or (isinstance(chunks, str) and chunks == "auto"):
        return guess_chunks(shape, typesize)
    if is_size(chunks):
        return chunks_of_bytes(shape, typesize, parse_size(chunks, "chunks"))
    if chunks is False:
        return shape
    if isinstance(chunks, (str, bytes)) or not isinstance(chunks, (numbers.Number, Iterable)):
        raise TypeError(
            f"chunks is {shorten(chunks)}; expected a bool, 'auto', an int, a tuple of ints, or a "
            "size such as '1 MiB'"
        )
    given = (chunks,) * len(shape) if isinstance(chunks, numbers.Number) else tuple(chunks)
    if len(given) > len(shape):
        raise ValueError(
            f"too many dimensions in chunks: {given} has {len(given)}, the shape {shape} "
            f"{len(shape)}"
        )
    given += shape[len(given) :]
    lengths = _lengths_of(given, "chunks", shape)
    for length, size in zip(lengths, shape, strict=True):
        if length < 1 and not (length == 0 and size == 0):
            raise ValueError(
                f"chunks {lengths} has a length of {length}; allowed are 1 or more, or -1 or "
                "None for the whole axis"
            )
    return lengths


def normalize_dtype(dtype: Any, object_codec: Any = None) -> tuple[np.dtype[Any], Any]:
    """Return ``dtype`` as a NumPy dtype that v2 arrays can have, and the object codec for it.

    ``str``, ``bytes`` and ``"array:f4"`` are objects with the codec of that name, unless another
    codec is passed.

    Parameters
    ----------
    dtype : dtype-like
    object_codec : codec, optional
        Encodes the elements of an object dtype.

    Returns
    -------
    dtype : numpy.dtype
    object_codec : codec or None
        The one given, or the one that ``dtype`` names.

    Raises
    ------
    MetadataError
        Its item size is zero, or a time has no unit (also a ``ValueError``).
    TypeError
        NumPy does not know it.

    Examples
    --------
    >>> from zarrix.util import normalize_dtype
    >>> normalize_dtype("f4"), normalize_dtype(str)
    ((dtype('float32'), None), (dtype('O'), {'id': 'vlen-utf8'}))
    """
    objects = object_codec_of(dtype)
    if objects is not None:
        return objects[0], objects[1] if object_codec is None else object_codec
    result: np.dtype[Any] = without_notes(np.dtype(dtype))
    return require_supported(result.base, f"dtype {dtype!r}") and result, object_codec


def normalize_order(order: str) -> Order:
    """``"C"`` or ``"F"``, from either case.

    Parameters
    ----------
    order : str
        "C" or "F", in either case.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        ``order`` is something else.

    Examples
    --------
    >>> from zarrix.util import normalize_order
    >>> normalize_order("f")
    'F'
    """
    upper = str(order).upper()
    if upper not in ("C", "F"):
        raise ValueError(f"order must be either 'C' or 'F', not {order!r}")
    return "F" if upper == "F" else "C"


def normalize_resize_args(old_shape: tuple[int, ...], *args: Any) -> tuple[int, ...]:
    """The shape that ``resize(*args)`` asks for; None keeps an axis.

    Parameters
    ----------
    old_shape : tuple of int
    *args : int, None or tuple of these
        One length per axis, or one tuple of them; None keeps the axis.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        The number of lengths differs from that of axes, or one is negative.
    TypeError
        A length is not a whole number.

    Examples
    --------
    >>> from zarrix.util import normalize_resize_args
    >>> normalize_resize_args((10, 20), 5, None), normalize_resize_args((10, 20), (5, 6))
    ((5, 20), (5, 6))
    """
    new = args[0] if len(args) == 1 else args
    lengths = (new,) if new is None or isinstance(new, numbers.Number) else tuple(new)
    if len(lengths) != len(old_shape):
        raise ValueError(
            f"the new shape {lengths} has {len(lengths)} axes, the array has {len(old_shape)}"
        )
    return normalize_shape(
        old if length is None else length for old, length in zip(old_shape, lengths, strict=True)
    )


def _lengths_of(
    given: Iterable[Any], name: str, whole: tuple[int, ...] | None = None
) -> tuple[int, ...]:
    """The lengths as ints; None and -1 are those of ``whole``, if that is given."""
    found = []
    for axis, length in enumerate(given):
        if whole is not None and (length is None or length == -1):
            found.append(whole[axis])
        else:
            found.append(length if type(length) is int else _whole(length, name))
    return tuple(found)


def _whole(value: Any, name: str) -> int:
    # Lengths that were computed by division are floats; 2.5 is not a length.
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} contains {value!r}, which is not a whole number") from None
