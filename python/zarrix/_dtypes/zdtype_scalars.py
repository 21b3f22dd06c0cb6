"""Which values are an element of a data type: `ZDType.cast_scalar`.

A value is cast only where it stays the same element: nothing wraps, and a list is not an element.
"""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from zarrix._dtypes.variable import data_type_name, is_variable

__all__ = ["as_scalar"]

_BYTES = (str, bytes, bytearray, np.void)
_TIMES = (str, bytes, int, np.integer, datetime.date, datetime.timedelta, np.datetime64)


def as_scalar(data: Any, dtype: np.dtype[Any]) -> Any:
    """``data`` as an element of ``dtype``.

    Raises
    ------
    TypeError
        It is not a value that an element can have.
    OverflowError
        It is a whole number that is out of range.
    """
    try:
        return _cast(data, dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{data!r}, a {type(data).__name__}, is not an element of {dtype} ({error})"
        ) from None


def _cast(data: Any, dtype: np.dtype[Any]) -> Any:
    if is_variable(dtype):
        return _variable(data, dtype)
    if dtype.names is not None:
        return _record(data, dtype)
    if dtype.kind in "mM" and not isinstance(data, (*_TIMES, np.timedelta64, type(None))):
        raise TypeError("expected a time, a text or a whole number")
    if dtype.kind in "SV" and dtype.isbuiltin != 2:
        return _fixed_bytes(data, dtype)
    if dtype.kind == "U":
        return np.asarray(str(data)).astype(dtype)[()]
    if dtype.kind in "iu" and type(data) is int:
        # NumPy refuses a number that is out of range only here.
        return np.array(data, dtype)[()]
    value = np.asarray(data)
    if value.ndim:
        raise TypeError("expected one element")
    return value.astype(dtype)[()]


def _variable(data: Any, dtype: np.dtype[Any]) -> Any:
    if data_type_name(dtype) == "string":
        return str(data)
    if isinstance(data, str):
        return data.encode()
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    raise TypeError("expected bytes or a text")


def _record(data: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(data, bytes | bytearray):
        return np.frombuffer(bytes(data).ljust(dtype.itemsize, b"\0"), dtype, 1)[0]
    if isinstance(data, list):
        data = tuple(data)
    value = np.asarray(data) if isinstance(data, np.void | np.ndarray) else np.array(data, dtype)
    if value.ndim:
        raise TypeError("expected one element")
    return value.astype(dtype)[()]


def _fixed_bytes(data: Any, dtype: np.dtype[Any]) -> Any:
    if type(data) is int and dtype.kind == "S":
        # The digits, as in zarr-python: programs have the number 0 as the default of any type.
        data = str(data)
    if not isinstance(data, _BYTES):
        raise TypeError("expected bytes or a text")
    if isinstance(data, np.void):
        data = data.tobytes()
    found = data.encode() if isinstance(data, str) else bytes(data)
    if dtype.kind == "S":
        return np.bytes_(found[: dtype.itemsize])
    return np.void(found[: dtype.itemsize].ljust(dtype.itemsize, b"\0"))
