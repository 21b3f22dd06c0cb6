"""The NumPy side of a read or write: buffers to fill, and values cast and broadcast to a selection.

The engine takes any strides but does not convert: what reaches it has the dtype of the array and
one axis per range of the selection. Everything is checked here, before the engine touches a chunk.
What goes to the engine is typed as Any: NumPy's stubs have no buffer protocol before Python 3.12.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._dtypes.text_values import as_text
from zarrix._dtypes.variable import as_elements

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "IN_MEMORY",
    "ReadLater",
    "as_out",
    "as_value",
    "equal_chunks",
    "fill_element",
    "is_lazy",
    "moves_in_parts",
    "with_new_axes",
]


def as_value(
    value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], new_axes: tuple[int, ...] = ()
) -> Any:
    """``value`` cast to ``dtype`` as assignment in NumPy casts, and broadcast to ``shape``.

    Parameters
    ----------
    value : array-like
    dtype : dtype
    shape : tuple of int
        Of the selection, without new axes.
    new_axes : tuple of int
        Axes of length one that the selection adds, as for ``numpy.expand_dims``.

    Raises
    ------
    ValueError
        It does not broadcast; the message names both shapes.
    TypeError
        An element of text is none.
    """
    if dtype.kind not in "OT":
        array = np.asarray(value, dtype)
    else:
        array = as_elements(value, shape) if dtype.kind == "O" else as_text(value, dtype)
    if array.shape == shape and not new_axes:
        return array
    wanted = with_new_axes(shape, new_axes) if new_axes else shape
    given = array
    while given.ndim > len(wanted) and given.shape[0] == 1:
        # Not given[0]: of a string that is a scalar, which forgets how long its dtype is.
        given = given.reshape(given.shape[1:])
    try:
        fitted = np.broadcast_to(given, wanted)
    except ValueError:
        raise ValueError(
            f"a value of shape {array.shape} does not broadcast to the selection's shape {wanted}"
        ) from None
    return np.squeeze(fitted, new_axes) if new_axes else fitted


def fill_element(dtype: np.dtype[Any], fill_value: Any) -> npt.NDArray[Any]:
    """What a chunk that is not stored reads as, as an array without axes; zeros where left open."""
    fill: npt.NDArray[Any] = np.zeros((), dtype)
    if fill_value is not None or dtype.kind == "O":
        fill.fill(fill_value)
    return fill


def as_out(
    out: Any, dtype: np.dtype[Any], shape: tuple[int, ...], new_axes: tuple[int, ...] = ()
) -> Any:
    """``out`` as the array that the engine fills: of this dtype, shape and writable.

    Raises
    ------
    TypeError
        It is not a buffer.
    ValueError
        It has another shape or dtype, or cannot be written.
    """
    # A subclass may say another dtype or shape than its memory has: the base class tells.
    array: npt.NDArray[Any] = (
        np.ndarray.view(out, np.ndarray) if isinstance(out, np.ndarray) else _memory_of(out)
    )
    wanted = with_new_axes(shape, new_axes) if new_axes else shape
    if not isinstance(out, np.ndarray) and array.dtype == np.uint8 and array.shape != wanted:
        array = _as_elements(array, dtype, wanted)
    if array.shape != wanted:
        raise ValueError(f"out has shape {array.shape}, and the selection has shape {wanted}")
    if array.dtype != dtype:
        raise ValueError(f"out has dtype {array.dtype}, and the array has dtype {dtype}")
    if not array.flags.writeable:
        raise ValueError("out cannot be written: it is read-only")
    return np.squeeze(array, new_axes) if new_axes else array


def _memory_of(out: Any) -> npt.NDArray[Any]:
    """The memory of a buffer, or of a tensor, which lends its own in another way."""
    if hasattr(out, "data_ptr") and hasattr(out, "numpy"):
        try:
            tensor: npt.NDArray[Any] = out.detach().numpy()
        except (TypeError, RuntimeError) as error:
            raise TypeError(
                f"out is a tensor that NumPy cannot share memory with: {error}"
            ) from None
        if tensor.ctypes.data != out.data_ptr():
            raise TypeError("out is a tensor whose memory NumPy would copy")
        return tensor
    try:
        return np.asarray(memoryview(out))
    except TypeError:
        raise TypeError(
            f"out is a NumPy array or a writable buffer, not {type(out).__name__}"
        ) from None


def _as_elements(
    raw: npt.NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """Memory that is described as bytes (bytearray, mmap, shared memory) as elements in C order."""
    nbytes = math.prod(shape) * dtype.itemsize
    if raw.ndim == 1 and raw.nbytes == nbytes and raw.flags.c_contiguous and not dtype.hasobject:
        return raw.view(dtype).reshape(shape)
    return raw


def with_new_axes(shape: tuple[int, ...], new_axes: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with axes of length one, as ``numpy.expand_dims`` puts them in.

    Examples
    --------
    >>> with_new_axes((4, 5), (0, 3))
    (1, 4, 5, 1)
    """
    lengths = list(shape)
    for axis in new_axes:
        lengths.insert(axis, 1)
    return tuple(lengths)


class ReadLater:
    """Base of lazy views, which are lazy although they have no chunks of their own."""

    __slots__ = ()


def is_lazy(value: Any) -> bool:
    """Whether ``value`` is an array whose elements are elsewhere: stored, or yet to be computed."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    if isinstance(value, ReadLater):
        return True
    try:
        has_chunks = hasattr(value, "chunks")
    except NotImplementedError:
        has_chunks = True  # of several shapes
    return has_chunks and hasattr(value, "shape") and hasattr(value, "dtype")


# What a value in memory mostly is: no question to ask of it.
IN_MEMORY = frozenset({np.ndarray, bool, int, float, complex, str, list, tuple, np.float64})


def moves_in_parts(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether to write ``value`` in parts: it is lazy, or a mapped file whose cast is a copy."""
    if isinstance(value, np.memmap):
        return value.dtype != dtype and value.dtype.kind in "biufc" and dtype.kind in "biufc"
    return is_lazy(value)


def equal_chunks(array: Any) -> Any:
    """``array.chunks``; None where it has none, or chunks of several shapes."""
    try:
        return getattr(array, "chunks", None)
    except NotImplementedError:
        return None  # what an array of zarr-python or ours says where one shape is not enough
