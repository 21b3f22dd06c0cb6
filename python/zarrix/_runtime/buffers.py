"""Buffers, and requests for a part of a value, as zarr-python 3 has them.

They are what its awaited store interface and its codecs exchange. Our engine needs neither.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

__all__ = [
    "Buffer",
    "BufferPrototype",
    "ByteRequest",
    "NDBuffer",
    "OffsetByteRequest",
    "RangeByteRequest",
    "SuffixByteRequest",
    "as_bytes",
    "default_buffer_prototype",
    "is_prototype",
    "numpy_buffer_prototype",
    "slice_of",
]


@dataclass(frozen=True, slots=True)
class RangeByteRequest:
    """The bytes from ``start`` up to ``end``.

    Attributes
    ----------
    start, end : int

    Examples
    --------
    >>> import asyncio, zarrix as zarr
    >>> from zarrix.abc.store import RangeByteRequest
    >>> store = zarr.MemoryStore({"a": b"12345"})
    >>> asyncio.run(store.get("a", byte_range=RangeByteRequest(2, 4))).to_bytes()
    b'34'
    """

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OffsetByteRequest:
    """The bytes from ``offset`` to the end.

    Attributes
    ----------
    offset : int

    Examples
    --------
    >>> import asyncio, zarrix as zarr
    >>> from zarrix.abc.store import OffsetByteRequest
    >>> store = zarr.MemoryStore({"a": b"12345"})
    >>> asyncio.run(store.get("a", byte_range=OffsetByteRequest(3))).to_bytes()
    b'45'
    """

    offset: int


@dataclass(frozen=True, slots=True)
class SuffixByteRequest:
    """The last ``suffix`` bytes.

    Attributes
    ----------
    suffix : int

    Examples
    --------
    >>> import asyncio, zarrix as zarr
    >>> from zarrix.abc.store import SuffixByteRequest
    >>> store = zarr.MemoryStore({"a": b"12345"})
    >>> asyncio.run(store.get("a", byte_range=SuffixByteRequest(2))).to_bytes()
    b'45'
    """

    suffix: int


ByteRequest = RangeByteRequest | OffsetByteRequest | SuffixByteRequest


def slice_of(request: Any) -> slice:
    """The part of a value that ``request`` asks for; all of it for None.

    Requests of zarr-python's own classes are understood by their attributes.
    """
    if request is None:
        return slice(None)
    if hasattr(request, "suffix"):
        return slice(-request.suffix, None) if request.suffix else slice(0, 0)
    if hasattr(request, "offset"):
        return slice(request.offset, None)
    if hasattr(request, "start"):
        return slice(request.start, request.end)
    raise TypeError(f"Unexpected byte_range, got {request!r}.")


class Buffer:
    """Bytes in memory: a one-dimensional array of them."""

    __slots__ = ("__dict__", "_data")

    def __init__(self, array_like: Any) -> None:
        data = np.asanyarray(array_like)
        if data.ndim != 1:
            raise ValueError("array_like: only 1-dim allowed")
        if data.dtype not in (np.dtype("B"), np.dtype("b")):
            raise ValueError("array_like: only byte dtype allowed")
        self._data = data

    @classmethod
    def create_zero_length(cls) -> Self:
        """A buffer without bytes."""
        return cls(np.empty(0, "B"))

    @classmethod
    def from_array_like(cls, array_like: Any) -> Self:
        """The buffer of a one-dimensional array of bytes, which is not copied."""
        return cls(array_like)

    @classmethod
    def from_buffer(cls, buffer: Any) -> Self:
        """The same bytes as another buffer."""
        return cls.from_array_like(buffer.as_numpy_array())

    @classmethod
    def from_bytes(cls, bytes_like: Any) -> Self:
        """The buffer of anything with the buffer protocol, which is not copied."""
        return cls.from_array_like(np.frombuffer(bytes_like, dtype="B"))

    def as_array_like(self) -> Any:
        """The array of bytes."""
        return self._data

    def as_numpy_array(self) -> Any:
        """The array of bytes."""
        return self._data

    def as_buffer_like(self) -> Any:
        """A memoryview of the bytes."""
        return memoryview(self._data)

    def to_bytes(self) -> bytes:
        """A copy of the bytes."""
        return bytes(self._data)

    def __getitem__(self, key: slice) -> Self:
        return self.__class__(self._data.__getitem__(key))

    def __setitem__(self, key: slice, value: Any) -> None:
        self._data[key] = np.asanyarray(_array_of(value))

    def __len__(self) -> int:
        return int(self._data.size)

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._data)

    def combine(self, others: Iterable[Any]) -> Self:
        """These bytes and those of ``others``, in this order."""
        parts = [np.asanyarray(_array_of(one)).view("B") for one in others]
        return self.__class__(np.concatenate([self._data.view("B"), *parts]))

    def __add__(self, other: Any) -> Self:
        return self.combine([other])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and bool(np.array_equal(self._data, other._data))

    __hash__ = None  # type: ignore[assignment]  # Its bytes may change.

    def __repr__(self) -> str:
        return f"<zarrix buffer of {len(self)} bytes>"


class NDBuffer:
    """An n-dimensional array in memory: a decoded chunk."""

    __slots__ = ("__dict__", "_data")

    def __init__(self, array: Any) -> None:
        self._data = array

    @classmethod
    def create(
        cls, *, shape: Iterable[int], dtype: Any, order: Any = "C", fill_value: Any = None
    ) -> Self:
        """A new array of ``fill_value``, or of zeros."""
        found = cls(_of_dtype(np.zeros(tuple(shape), dtype=dtype, order=order), dtype))
        if fill_value is not None and not (
            isinstance(fill_value, int) and not isinstance(fill_value, bool) and fill_value == 0
        ):
            found._data.fill(fill_value)
        return found

    @classmethod
    def empty(cls, shape: Any, dtype: Any, order: Any = "C") -> Self:
        """A new array with arbitrary content."""
        return cls(_of_dtype(np.empty(shape=shape, dtype=dtype, order=order), dtype))

    @classmethod
    def from_ndarray_like(cls, ndarray_like: Any) -> Self:
        """The buffer of an array, which is not copied."""
        return cls(ndarray_like)

    @classmethod
    def from_numpy_array(cls, array_like: Any) -> Self:
        """The buffer of an array, which is not copied."""
        return cls(np.asanyarray(array_like))

    def as_ndarray_like(self) -> Any:
        """The array."""
        return self._data

    def as_numpy_array(self) -> Any:
        """The array."""
        return np.asanyarray(self._data)

    def as_scalar(self) -> Any:
        """The only element."""
        if self._data.size != 1:
            raise ValueError("Buffer does not contain a single scalar value")
        return self.as_numpy_array()[()]

    @property
    def dtype(self) -> Any:
        """The dtype of the array."""
        return self._data.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return tuple(self._data.shape)

    def reshape(self, newshape: Any) -> Self:
        """The same elements in another shape."""
        return self.__class__(self._data.reshape(newshape))

    def squeeze(self, axis: tuple[int, ...]) -> Self:
        """The same elements without axes of length 1."""
        return self.__class__(
            self._data.reshape(tuple(n for at, n in enumerate(self.shape) if at not in axis))
        )

    def astype(self, dtype: Any, order: Any = "K") -> Self:
        """A copy with another dtype."""
        return self.__class__(self._data.astype(dtype=dtype, order=order))

    def __getitem__(self, key: Any) -> Self:
        found = self._data.__getitem__(key)
        if isinstance(found, np.generic):
            # One element, too, is a view of this memory.
            found = self._data.__getitem__((*(key if isinstance(key, tuple) else (key,)), ...))
        return self.__class__(np.asanyarray(found))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._data.__setitem__(key, value._data if isinstance(value, NDBuffer) else value)

    def __len__(self) -> int:
        return int(self._data.__len__())

    def __repr__(self) -> str:
        return f"<NDBuffer shape={self.shape} dtype={self.dtype} {self._data!r}>"

    def all_equal(self, other: Any, equal_nan: bool = True) -> bool:
        """Whether every element is equal to ``other``; a zero of floating point has a sign."""
        if other is None:
            return False
        data = self.as_numpy_array()
        same = data == other
        if data.dtype.kind in "fc" and np.asarray(other).dtype.kind in "fc" and other == 0:
            zero = np.asarray(other, data.dtype)
            for signs, sign in ((data.real, zero.real), (data.imag, zero.imag)):
                same = same & (np.signbit(signs) == np.signbit(sign))
        if equal_nan and data.dtype.kind in "fcmM":
            same = same | ((data != data) & bool(other != other))
        return bool(np.all(same))

    def fill(self, value: Any) -> None:
        """Set every element."""
        self._data.fill(value)

    def copy(self) -> Self:
        """A copy."""
        return self.__class__(self._data.copy())

    def transpose(self, axes: Any) -> Self:
        """The same elements with other axes."""
        return self.__class__(self._data.transpose(axes))


class BufferPrototype(NamedTuple):
    """The classes of buffers that a caller wants."""

    buffer: type[Any]
    nd_buffer: type[Any]


_PROTOTYPE = BufferPrototype(Buffer, NDBuffer)


def default_buffer_prototype() -> BufferPrototype:
    """The prototype of buffers in the memory of the CPU."""
    return _PROTOTYPE


numpy_buffer_prototype = default_buffer_prototype


def is_prototype(value: Any) -> bool:
    """Whether ``value`` is a prototype, of this module or of zarr-python."""
    return hasattr(value, "buffer") and hasattr(value, "nd_buffer")


def as_bytes(value: Any) -> Any:
    """The bytes-like object of a value that may be a buffer, of any library."""
    if isinstance(value, Buffer) or hasattr(value, "as_numpy_array"):
        contiguous: Any = np.ascontiguousarray(value.as_numpy_array())
        return memoryview(contiguous).cast("B")
    return value


def _of_dtype(array: Any, dtype: Any) -> Any:
    """A new array, with the unit and the byte order of its dtype.

    NumPy allocates times of a generic unit without its factor, and in the order of the machine.
    """
    return array.view(dtype) if array.dtype.kind in "mM" else array


def _array_of(value: Any) -> Any:
    return value.as_numpy_array() if hasattr(value, "as_numpy_array") else value
