"""v3 data types as objects, under the names of zarr-python 3.

    import zarrix as zarr

    zarr.create_array(shape=3, dtype=zarr.dtype.Int16())

An object has a NumPy dtype and its name in documents. NumPy dtypes are accepted everywhere; these
objects are for code that was written for zarr-python.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Self

import numpy as np

from zarrix._dtypes.v3 import UNITS, as_dtype, data_type_of
from zarrix._dtypes.variable import BYTES, STRING, data_type_name, is_variable
from zarrix._dtypes.zdtype_base import ZDType
from zarrix._dtypes.zdtype_json import check_format, decode_json

__all__ = [
    "Bool",
    "Complex128",
    "Complex64",
    "DateTime64",
    "FixedLengthUTF32",
    "Float16",
    "Float32",
    "Float64",
    "Int16",
    "Int32",
    "Int64",
    "Int8",
    "NullTerminatedBytes",
    "RawBytes",
    "Struct",
    "Structured",
    "TimeDelta64",
    "UInt16",
    "UInt32",
    "UInt64",
    "UInt8",
    "VariableLengthBytes",
    "VariableLengthUTF8",
    "ZDType",
    "parse_dtype",
]


class _Plain(ZDType):
    """Elements whose size the name tells.

    Parameters
    ----------
    endianness : {"little", "big"}
        The byte order in memory, that of the machine when omitted; in v3 the codec ``bytes``
        decides the stored one.

    Raises
    ------
    TypeError
        Another keyword is given.
    ValueError
        The byte order is something else.
    """

    def __init__(self, *, endianness: str = sys.byteorder) -> None:
        super().__init__(_ordered(self.code, endianness))

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return not is_variable(dtype) and dtype.newbyteorder("=") == np.dtype(cls.code)


class _OfLength(ZDType):
    """Elements of a fixed number of bytes, or of characters for text.

    Parameters
    ----------
    length : int
        Bytes of an element, or characters for text; at least 1.
    endianness : {"little", "big"}
        The byte order in memory of text, that of the machine when omitted; in v3 the codec
        ``bytes`` decides the stored one.

    Raises
    ------
    TypeError
        NumPy has no such data type.
    ValueError
        The length or the byte order is something else.
    """

    def __init__(self, *, length: int, endianness: str = sys.byteorder) -> None:
        if length < 1:
            raise ValueError(f"length is {length}; expected at least 1")
        super().__init__(_ordered(f"{self.code}{length}", endianness))

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return dtype.kind == cls.code and dtype.fields is None and dtype.isbuiltin != 2

    @property
    def length(self) -> int:
        """Bytes, or characters, of one element."""
        return self.dtype.itemsize // (4 if self.code == "U" else 1)


class _Time(ZDType):
    """Points or lengths of time, as a number of units.

    Parameters
    ----------
    unit : str
        As NumPy names it: "s", "ms", "D", ... or "generic".
    scale_factor : int
        Number of units in one step, from 1 to 2**31-1.
    endianness : {"little", "big"}
        The byte order in memory, that of the machine when omitted; in v3 the codec ``bytes``
        decides the stored one.

    Raises
    ------
    ValueError
        A parameter is something else.
    """

    def __init__(
        self, *, unit: str = "generic", scale_factor: int = 1, endianness: str = sys.byteorder
    ) -> None:
        if unit not in UNITS:
            raise ValueError(f"unit is {unit!r}; expected one of {', '.join(UNITS)}")
        if not 1 <= scale_factor < 2**31:
            raise ValueError(f"scale_factor is {scale_factor}; expected 1 to 2**31-1")
        super().__init__(_ordered(f"{self.code}[{scale_factor}{unit}]", endianness))

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return dtype.kind == cls.code[0]

    @property
    def unit(self) -> str:
        """Unit of time, as NumPy names it."""
        return np.datetime_data(self.dtype)[0]

    @property
    def scale_factor(self) -> int:
        """The number of units in one step."""
        return np.datetime_data(self.dtype)[1]


class Structured(ZDType):
    """Elements with named fields, under the name that zarr-python wrote before `Struct`.

    Parameters
    ----------
    fields : iterable of (str, data type)

    Raises
    ------
    MetadataError, TypeError, ValueError
        A data type is not known, there are no fields, or two fields have one name.

    Examples
    --------
    >>> from zarrix.dtype import Int8, Structured
    >>> Structured(fields=[("a", Int8())]).to_json()["configuration"]
    {'fields': [['a', 'int8']]}
    """

    dtype_cls: ClassVar[type[np.dtype[Any]]] = type(np.dtype("V1"))
    _zarr_v3_name: ClassVar[str] = "structured"

    def __init__(self, *, fields: Iterable[tuple[str, Any]]) -> None:
        described = [(name, as_dtype(kind)) for name, kind in fields]
        if not described:
            raise ValueError("a structure has at least one field")
        super().__init__(np.dtype(described))

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return dtype.names is not None

    def _v3_json(self) -> Any:
        pairs = [[name, kind.to_json(3)] for name, kind in self.fields]
        return {"name": "structured", "configuration": {"fields": pairs}}

    @property
    def fields(self) -> tuple[tuple[str, ZDType], ...]:
        """Names and data types of the fields."""
        names = self.dtype.names or ()
        return tuple((name, parse_dtype(self.dtype[name])) for name in names)


class Struct(Structured):
    """Elements with named fields, each with its own data type.

    Parameters
    ----------
    fields : iterable of (str, data type)

    Raises
    ------
    TypeError, ValueError
        A data type is not known, or two fields have one name.

    References
    ----------
    Extension data type ``struct`` of zarr-extensions.

    Examples
    --------
    >>> from zarrix.dtype import Float32, Int8, Struct
    >>> point = Struct(fields=[("x", Float32()), ("label", Int8())])
    >>> point.to_native_dtype()
    dtype([('x', '<f4'), ('label', 'i1')])
    """

    _zarr_v3_name: ClassVar[str] = "struct"

    def _v3_json(self) -> Any:
        return data_type_of(self.dtype)


class VariableLengthUTF8(ZDType):
    """Variable-length text: NumPy strings, or objects with NumPy older than 2.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.dtype import VariableLengthUTF8
    >>> z = zarr.create_array({}, shape=2, dtype=VariableLengthUTF8())
    >>> z[0] = "längere Texte"
    >>> z[0]
    'längere Texte'
    """

    dtype_cls: ClassVar[type[np.dtype[Any]]] = type(STRING)
    _zarr_v3_name: ClassVar[str] = "string"

    def __init__(self) -> None:
        super().__init__(STRING)

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return data_type_name(dtype) == "string"


class VariableLengthBytes(ZDType):
    r"""Variable-length bytes, as objects.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.dtype import VariableLengthBytes
    >>> z = zarr.create_array({}, shape=2, dtype=VariableLengthBytes())
    >>> z[1] = b"\x00\x01"
    >>> z[1], z[0]
    (b'\x00\x01', b'')
    """

    dtype_cls: ClassVar[type[np.dtype[Any]]] = type(BYTES)
    _zarr_v3_name: ClassVar[str] = "variable_length_bytes"

    def __init__(self) -> None:
        super().__init__(BYTES)

    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return dtype.kind == "O" and data_type_name(dtype) in (None, "variable_length_bytes")

    @classmethod
    def _of(cls, dtype: np.dtype[Any]) -> Self:
        # Objects that a program calls bytes.
        return super()._of(BYTES)


def _ordered(code: str, endianness: str) -> np.dtype[Any]:
    if endianness not in ("little", "big"):
        raise ValueError(f"endianness is {endianness!r}; expected 'little' or 'big'")
    # NumPy normalizes the order of a name, and not that of `newbyteorder`.
    return np.dtype(f"{'<' if endianness == 'little' else '>'}{code}")


_EXAMPLES: dict[type[ZDType], str] = {
    _Plain: """\
>>> from zarrix.dtype import {name}
>>> {name}().to_json()
'{json}'""",
    _OfLength: """\
>>> from zarrix.dtype import {name}
>>> {name}(length=12).length
12""",
    _Time: """\
>>> from zarrix.dtype import {name}
>>> times = {name}(unit="s", scale_factor=10)
>>> times.unit, times.scale_factor
('s', 10)""",
}


def _make(name: str, code: str, base: type[ZDType], v3_name: str = "") -> type[ZDType]:
    v3_name = v3_name or name.lower()
    sections = inspect.cleandoc(base.__doc__ or "").partition("\n\n")[2]
    example = _EXAMPLES[base].format(name=name, json=name.lower())
    kind = type(np.dtype({"U": "U1", "S": "S1", "V": "V1"}.get(code, code)))
    text = f"The data type of NumPy's ``{code}``.\n\n{sections}\n\nExamples\n--------\n{example}"
    members = {"code": code, "__module__": "zarrix.dtype", "__doc__": text}
    return type(name, (base,), {**members, "dtype_cls": kind, "_zarr_v3_name": v3_name})


Bool = _make("Bool", "?", _Plain)
Int8 = _make("Int8", "i1", _Plain)
Int16 = _make("Int16", "i2", _Plain)
Int32 = _make("Int32", "i4", _Plain)
Int64 = _make("Int64", "i8", _Plain)
UInt8 = _make("UInt8", "u1", _Plain)
UInt16 = _make("UInt16", "u2", _Plain)
UInt32 = _make("UInt32", "u4", _Plain)
UInt64 = _make("UInt64", "u8", _Plain)
Float16 = _make("Float16", "f2", _Plain)
Float32 = _make("Float32", "f4", _Plain)
Float64 = _make("Float64", "f8", _Plain)
Complex64 = _make("Complex64", "c8", _Plain)
Complex128 = _make("Complex128", "c16", _Plain)
FixedLengthUTF32 = _make("FixedLengthUTF32", "U", _OfLength, "fixed_length_utf32")
NullTerminatedBytes = _make("NullTerminatedBytes", "S", _OfLength, "null_terminated_bytes")
RawBytes = _make("RawBytes", "V", _OfLength, "raw_bytes")
DateTime64 = _make("DateTime64", "M8", _Time, "numpy.datetime64")
TimeDelta64 = _make("TimeDelta64", "m8", _Time, "numpy.timedelta64")

_BY_CODE = {
    **{one.code: one for one in (Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64)},
    **{one.code: one for one in (Float16, Float32, Float64, Complex64, Complex128)},
    **{one.code: one for one in (FixedLengthUTF32, NullTerminatedBytes, RawBytes)},
    **{one.code: one for one in (DateTime64, TimeDelta64)},
}


def parse_dtype(dtype_spec: Any, *, zarr_format: Literal[2, 3] = 3) -> ZDType:
    """The data type of a NumPy dtype, a name or a document.

    Parameters
    ----------
    dtype_spec : dtype-like, dict or ZDType
    zarr_format : {2, 3}
        Of the document that ``dtype_spec`` is from.

    Returns
    -------
    ZDType

    Raises
    ------
    MetadataError, TypeError
        It is not a data type.
    ValueError
        ``zarr_format`` is something else.

    Examples
    --------
    >>> from zarrix.dtype import parse_dtype
    >>> parse_dtype("int32"), parse_dtype([("x", "f4")])
    (Int32('<i4'), Struct('|V4'))
    """
    check_format(zarr_format)
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    # The fields of NumPy are tuples, and those of documents are lists.
    is_json = isinstance(dtype_spec, dict) or (
        isinstance(dtype_spec, list) and all(isinstance(field, list) for field in dtype_spec)
    )
    if zarr_format == 2 and is_json:
        dtype_spec = decode_json(dtype_spec, 2)
    dtype = as_dtype(dtype_spec)
    if is_variable(dtype):
        return VariableLengthUTF8() if data_type_of(dtype) == "string" else VariableLengthBytes()
    if dtype.names is not None:
        return Struct.from_native_dtype(dtype)
    code = dtype.newbyteorder("=").str[1:].partition("[")[0]
    code = "?" if dtype.kind == "b" else code
    found = _BY_CODE.get(code if code in _BY_CODE else dtype.kind, ZDType)
    return found.from_native_dtype(dtype)


for _one in (ZDType, Struct, Structured, VariableLengthUTF8, VariableLengthBytes):
    _one.__module__ = "zarrix.dtype"
parse_dtype.__module__ = "zarrix.dtype"
