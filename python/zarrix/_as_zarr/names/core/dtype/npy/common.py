"""Names of ``zarr.core.dtype.npy.common``: fill values as JSON, and checks of JSON."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from typing import Any, Literal, SupportsComplex, SupportsFloat, SupportsIndex, SupportsInt

import numpy as np

from zarrix._dtypes.v2 import encode_fill_value
from zarrix._dtypes.v3 import UNITS, decode_fill

__all__ = [
    "DATETIME_UNIT",
    "NUMPY_ENDIANNESS_STR",
    "ComplexLike",
    "DateTimeUnit",
    "FloatLike",
    "IntLike",
    "NumpyEndiannessStr",
    "bytes_from_json",
    "bytes_to_json",
    "check_json_bool",
    "check_json_complex_float_v2",
    "check_json_complex_float_v3",
    "check_json_float_v2",
    "check_json_float_v3",
    "check_json_floatish_str",
    "check_json_int",
    "check_json_intish_float",
    "check_json_intish_str",
    "check_json_str",
    "complex_float_from_json_v2",
    "complex_float_from_json_v3",
    "complex_float_to_json_v2",
    "complex_float_to_json_v3",
    "endianness_from_numpy_str",
    "endianness_to_numpy_str",
    "float_from_json_v2",
    "float_from_json_v3",
    "float_to_json_v2",
    "float_to_json_v3",
    "get_endianness_from_numpy_dtype",
]

DATETIME_UNIT = UNITS
DateTimeUnit = Literal[
    "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic"
]
IntLike = SupportsInt | SupportsIndex | bytes | str
FloatLike = SupportsIndex | SupportsFloat | bytes | str
ComplexLike = SupportsFloat | SupportsIndex | SupportsComplex | bytes | str | None
NumpyEndiannessStr = Literal[">", "<", "="]
NUMPY_ENDIANNESS_STR = (">", "<", "=")

_ORDERS = {"little": "<", "big": ">"}
_NAMED = ("NaN", "Infinity", "-Infinity")
# The dtype of a number that is written as the hex of its bytes, by the number of digits.
_BY_DIGITS: dict[int, np.dtype[Any]] = {4: np.dtype("f2"), 8: np.dtype("f4"), 16: np.dtype("f8")}


def endianness_from_numpy_str(endianness: str) -> str:
    """The name of a byte order.

    Raises
    ------
    ValueError
        The character is not that of a byte order.
    """
    names = {"=": sys.byteorder, **{sign: name for name, sign in _ORDERS.items()}}
    if endianness not in names:
        raise ValueError(f"{endianness!r} is not a byte order; expected '<', '>' or '='")
    return names[endianness]


def endianness_to_numpy_str(endianness: str) -> str:
    """The character of a byte order.

    Raises
    ------
    ValueError
        It is neither "little" nor "big".
    """
    if endianness not in _ORDERS:
        raise ValueError(f"{endianness!r} is not a byte order; expected 'little' or 'big'")
    return _ORDERS[endianness]


def get_endianness_from_numpy_dtype(dtype: np.dtype[Any]) -> str:
    """The name of the byte order of a dtype.

    Raises
    ------
    ValueError
        Its elements have none.
    """
    return endianness_from_numpy_str(dtype.byteorder)


def float_from_json_v2(data: Any) -> float:
    """The number that a fill value of v2 means."""
    return float(data)


def float_from_json_v3(data: Any) -> float:
    """The number that a fill value of v3 means: a number, its name, or the hex of its bytes.

    Raises
    ------
    ValueError
        It is another text.
    """
    if not isinstance(data, str) or data in _NAMED:
        return float(data)
    dtype = _BY_DIGITS.get(len(data) - 2)
    if not data.startswith("0x") or dtype is None:
        raise ValueError(f"{data!r} is not a name of a number, nor '0x' and 4, 8 or 16 hex digits")
    return float(decode_fill(data, dtype, "number"))


def float_to_json_v2(data: Any) -> float | str:
    """A number as fill values of v2 write it."""
    found: float | str = encode_fill_value(data, np.dtype("f8"))
    return found


float_to_json_v3 = float_to_json_v2


def complex_float_from_json_v2(data: Sequence[Any]) -> complex:
    """The number of a pair of v2."""
    return complex(float_from_json_v2(data[0]), float_from_json_v2(data[1]))


def complex_float_from_json_v3(data: Sequence[Any]) -> complex:
    """The number of a pair of v3."""
    return complex(float_from_json_v3(data[0]), float_from_json_v3(data[1]))


def complex_float_to_json_v2(data: Any) -> tuple[float | str, float | str]:
    """A number as a pair of v2."""
    return float_to_json_v2(data.real), float_to_json_v2(data.imag)


complex_float_to_json_v3 = complex_float_to_json_v2


def bytes_from_json(data: str, *, zarr_format: int) -> bytes:
    """The bytes of base64 text."""
    return base64.b64decode(data.encode("ascii"))


def bytes_to_json(data: bytes, zarr_format: int) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode("ascii")


def check_json_float_v2(data: Any) -> bool:
    """Whether JSON is a number of v2: a number or its name."""
    return isinstance(data, float | int) or (isinstance(data, str) and data in _NAMED)


def check_json_float_v3(data: Any) -> bool:
    """Whether JSON is a number of v3: a number, its name, or the hex of its bytes."""
    return check_json_float_v2(data) or (isinstance(data, str) and data.startswith("0x"))


def _is_pair(data: Any, check: Any) -> bool:
    is_pair = isinstance(data, Sequence) and not isinstance(data, str) and len(data) == 2
    return is_pair and all(check(part) for part in data)


def check_json_complex_float_v2(data: Any) -> bool:
    """Whether JSON is a pair of numbers of v2."""
    return _is_pair(data, check_json_float_v2)


def check_json_complex_float_v3(data: Any) -> bool:
    """Whether JSON is a pair of numbers of v3."""
    return _is_pair(data, check_json_float_v3)


def check_json_int(data: Any) -> bool:
    """Whether JSON is a whole number; true and false are, as in Python."""
    return isinstance(data, int)


def check_json_intish_float(data: Any) -> bool:
    """Whether JSON is a whole number with a decimal point."""
    return isinstance(data, float) and data.is_integer()


def _is_text_of(data: Any, kind: type[int] | type[float]) -> bool:
    try:
        kind(data)
    except (TypeError, ValueError):
        return False
    return isinstance(data, str)


def check_json_intish_str(data: Any) -> bool:
    """Whether JSON is the text of a whole number."""
    return _is_text_of(data, int)


def check_json_floatish_str(data: Any) -> bool:
    """Whether JSON is the text of a number."""
    return _is_text_of(data, float)


def check_json_str(data: Any) -> bool:
    """Whether JSON is a text."""
    return isinstance(data, str)


def check_json_bool(data: Any) -> bool:
    """Whether JSON is true or false."""
    return isinstance(data, bool)
