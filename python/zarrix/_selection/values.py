"""The NumPy side of a read or write: buffers to fill, and values cast and broadcast to a selection.

The engine supports any strides but does not convert: its buffers have the dtype of the array and
one axis per range of the selection. Everything is checked here, before the engine touches a chunk.
Buffers for the engine are typed as Any, because NumPy's stubs have no buffer protocol before Python
3.12.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix._dtypes.text_values import as_text
from zarrix._dtypes.variable import as_elements
from zarrix._errors import DataTypeError

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
    "require_unmasked",
    "with_new_axes",
]


def as_value(
    value: Any, dtype: np.dtype[Any], shape: tuple[int, ...], new_axes: tuple[int, ...] = ()
) -> Any:
    """Cast ``value`` to ``dtype`` as NumPy's assignment does, and broadcast it to ``shape``.

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
        It cannot be broadcast; the message names both shapes.
    TypeError
        An element of a text array is not text.
    """
    if type(value) not in IN_MEMORY:
        require_unmasked(value)
    if dtype.kind not in "OT":
        array = np.asarray(value, dtype)
    else:
        array = as_elements(value, shape) if dtype.kind == "O" else as_text(value, dtype)
    if array.shape == shape and not new_axes:
        return array
    wanted = with_new_axes(shape, new_axes) if new_axes else shape
    given = array
    while given.ndim > len(wanted) and given.shape[0] == 1:
        # Not given[0], because a string scalar loses the length of its dtype.
        given = given.reshape(given.shape[1:])
    try:
        fitted = np.broadcast_to(given, wanted)
    except ValueError:
        raise ValueError(
            f"a value of shape {array.shape} does not broadcast to the selection's shape {wanted}"
        ) from None
    return np.squeeze(fitted, new_axes) if new_axes else fitted


def require_unmasked(value: Any) -> None:
    """Raise an error for masked elements, which Zarr has no way to store.

    Raises
    ------
    DataTypeError
        An element is masked.
    """
    # Import time: who has a masked array has loaded its module.
    masked = sys.modules.get("numpy.ma")
    if masked is None or not isinstance(value, masked.MaskedArray):
        return
    if b"\1" in np.asarray(value.mask).tobytes():
        raise DataTypeError(
            "the value has masked elements, and Zarr stores no masks: store value.filled(...), "
            "or value.data and the mask as two arrays"
        )


def fill_element(dtype: np.dtype[Any], fill_value: Any) -> npt.NDArray[Any]:
    """The fill value as an array without axes; zeros if it is undefined."""
    fill: npt.NDArray[Any] = np.zeros((), dtype)
    if fill_value is not None or dtype.kind == "O":
        fill.fill(fill_value)
    return fill


def as_out(
    out: Any, dtype: np.dtype[Any], shape: tuple[int, ...], new_axes: tuple[int, ...] = ()
) -> Any:
    """Return ``out`` as a writable array of this dtype and shape, which the engine fills.

    Raises
    ------
    TypeError
        It is not a buffer.
    ValueError
        Its shape or dtype differs, or it is read-only.
    """
    # A subclass may report another dtype or shape than that of its memory; the base class does not.
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
    """The memory of a buffer, or of a tensor, which has another protocol."""
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
    if hasattr(out, "as_ndarray_like"):
        # A buffer of codecs, which zarr-python 3 takes here.
        return np.asarray(out.as_ndarray_like())
    try:
        return np.asarray(memoryview(out))
    except TypeError:
        raise TypeError(
            f"out is a NumPy array or a writable buffer, not {type(out).__name__}"
        ) from None


def _as_elements(
    raw: npt.NDArray[Any], dtype: np.dtype[Any], shape: tuple[int, ...]
) -> npt.NDArray[Any]:
    """A buffer of bytes (bytearray, mmap, shared memory) as elements in C order."""
    nbytes = math.prod(shape) * dtype.itemsize
    if raw.ndim == 1 and raw.nbytes == nbytes and raw.flags.c_contiguous and not dtype.hasobject:
        return raw.view(dtype).reshape(shape)
    return raw


def with_new_axes(shape: tuple[int, ...], new_axes: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with new axes of length one, as ``numpy.expand_dims`` inserts them.

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
    """Base of lazy views, which are lazy although they have no chunks."""

    __slots__ = ()


def is_lazy(value: Any) -> bool:
    """Whether ``value`` is an array whose elements are not in memory."""
    if isinstance(value, np.ndarray | np.generic):
        return False
    if isinstance(value, ReadLater):
        return True
    try:
        has_chunks = hasattr(value, "chunks")
    except NotImplementedError:
        has_chunks = True  # of several shapes
    return has_chunks and hasattr(value, "shape") and hasattr(value, "dtype")


# Common types of values in memory, for which no further check is needed.
IN_MEMORY = frozenset({np.ndarray, bool, int, float, complex, str, list, tuple, np.float64})


def moves_in_parts(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether to write ``value`` in parts: it is lazy, or a mapped file that a cast would copy."""
    if isinstance(value, np.memmap):
        return value.dtype != dtype and value.dtype.kind in "biufc" and dtype.kind in "biufc"
    return is_lazy(value)


def equal_chunks(array: Any) -> Any:
    """``array.chunks``; None if there are none, or if chunks have several shapes."""
    try:
        return getattr(array, "chunks", None)
    except NotImplementedError:
        return None  # what an array of zarr-python or ours says where one shape is not enough
