"""v3 data types as objects, under the names of zarr-python 3.

    import zarrix as zarr

    zarr.create_array(shape=3, dtype=zarr.dtype.Int16())

An object has a NumPy dtype and its name in documents. NumPy dtypes are accepted everywhere; these
objects are for code that was written for zarr-python.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from types import GenericAlias
from typing import Any, ClassVar, Literal, Self

import numpy as np

from zarrix._dtypes.v2 import decode_dtype, encode_dtype
from zarrix._dtypes.v3 import (
    as_dtype,
    data_type_of,
    decode_data_type,
    decode_fill,
    default_fill,
    encode_fill,
)
from zarrix._dtypes.variable import BYTES, STRING, is_variable, object_codec_of

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


def _check_format(zarr_format: Any) -> None:
    if zarr_format not in (2, 3):
        raise ValueError(f"zarr_format is 2 or 3, not {zarr_format!r}")


@dataclass(frozen=True)
class ZDType:
    """A data type: a NumPy dtype in native byte order, and its name in documents.

    Parameters
    ----------
    dtype : numpy.dtype
        In native byte order.

    Raises
    ------
    AttributeError
        On use, if ``dtype`` is not a NumPy dtype; `parse_dtype` converts.

    References
    ----------
    Zarr v3 core specification, "Data types".

    Examples
    --------
    >>> from zarrix.dtype import DateTime64, Int16
    >>> Int16().to_json(zarr_format=3), DateTime64(unit="ns").to_native_dtype()
    ('int16', dtype('<M8[ns]'))
    """

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    dtype: np.dtype[Any]
    code: ClassVar[str] = ""

    def to_native_dtype(self) -> np.dtype[Any]:
        """The NumPy dtype.

        Returns
        -------
        numpy.dtype

        Examples
        --------
        >>> from zarrix.dtype import Float32
        >>> Float32().to_native_dtype()
        dtype('float32')
        """
        return self.dtype

    @classmethod
    def from_native_dtype(cls, dtype: Any) -> Self:
        """The data type of a NumPy dtype.

        Parameters
        ----------
        dtype : dtype-like
            In any byte order.

        Returns
        -------
        ZDType

        Raises
        ------
        TypeError
            NumPy does not know it.

        Examples
        --------
        >>> from zarrix.dtype import Int32
        >>> Int32.from_native_dtype(">i4")
        Int32('<i4')
        """
        made = object.__new__(cls)
        found = np.dtype(dtype)
        object.__setattr__(made, "dtype", found if is_variable(found) else found.newbyteorder("="))
        return made

    @classmethod
    def from_json(cls, data: Any, *, zarr_format: Literal[2, 3] = 3) -> Self:
        """The data type that a document names.

        Parameters
        ----------
        data : str or dict
            The value of ``data_type`` in a ``zarr.json``, or of ``dtype`` in a ``.zarray``.
        zarr_format : {2, 3}

        Returns
        -------
        ZDType

        Raises
        ------
        MetadataError
            The name is not one of a data type that arrays can have.
        ValueError
            ``zarr_format`` is something else.

        Examples
        --------
        >>> from zarrix.dtype import UInt16
        >>> UInt16.from_json("uint16"), UInt16.from_json("<u2", zarr_format=2)
        (UInt16('<u2'), UInt16('<u2'))
        """
        _check_format(zarr_format)
        if zarr_format == 2:
            data = data.get("name", data) if isinstance(data, dict) else data
            return cls.from_native_dtype(decode_dtype(data))
        return cls.from_native_dtype(decode_data_type(data, "data type"))

    def to_json(self, zarr_format: Literal[2, 3] = 3) -> Any:
        """The value that documents of the format have for it.

        Parameters
        ----------
        zarr_format : {2, 3}

        Returns
        -------
        str or dict
            The value of ``data_type`` in a ``zarr.json``; for v2 a dict of ``name`` and
            ``object_codec_id``.

        Raises
        ------
        ValueError
            ``zarr_format`` is something else.

        Examples
        --------
        >>> from zarrix.dtype import Bool, VariableLengthUTF8
        >>> Bool().to_json(), VariableLengthUTF8().to_json(2)
        ('bool', {'name': '|O', 'object_codec_id': 'vlen-utf8'})
        """
        _check_format(zarr_format)
        if zarr_format == 2:
            objects = object_codec_of(self.dtype)
            codec_id = None if objects is None or objects[1] is None else objects[1]["id"]
            name = encode_dtype(self.dtype) if objects is None else "|O"
            return {"name": name, "object_codec_id": codec_id}
        return data_type_of(self.dtype)

    @property
    def dtype_cls(self) -> type[np.dtype[Any]]:
        """The class of the NumPy dtype."""
        return type(self.dtype)

    @property
    def endianness(self) -> str | None:
        """Byte order in memory, that of the machine; None if elements have no byte order."""
        return None if self.dtype.byteorder == "|" else sys.byteorder

    @property
    def object_codec_id(self) -> str | None:
        """The object codec that v2 stores variable-length elements with."""
        found: str | None = self.to_json(2)["object_codec_id"]
        return found

    @property
    def item_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def default_scalar(self) -> Any:
        """The fill value of a new array that names none.

        Returns
        -------
        NumPy scalar, str or bytes

        Examples
        --------
        >>> from zarrix.dtype import Complex64, VariableLengthUTF8
        >>> Complex64().default_scalar(), VariableLengthUTF8().default_scalar()
        (np.complex64(0j), '')
        """
        return default_fill(self.dtype)

    def cast_scalar(self, data: Any) -> Any:
        """A value as an element of this type.

        Parameters
        ----------
        data : object

        Returns
        -------
        NumPy scalar
            A variable-length element is returned as it is.

        Raises
        ------
        ValueError, TypeError
            NumPy cannot cast it.

        Examples
        --------
        >>> from zarrix.dtype import Float16
        >>> Float16().cast_scalar("1.5")
        np.float16(1.5)
        """
        return data if is_variable(self.dtype) else np.asarray(data).astype(self.dtype)[()]

    def to_json_scalar(self, data: Any, *, zarr_format: Literal[2, 3] = 3) -> Any:
        """An element as v3 documents write it.

        Parameters
        ----------
        data : object
            An element, or a value that can be cast to one.
        zarr_format : {2, 3}

        Returns
        -------
        JSON value

        Raises
        ------
        ValueError, TypeError
            NumPy cannot cast it, or ``zarr_format`` is something else.

        References
        ----------
        Zarr v3 core specification, "Fill value".

        Examples
        --------
        >>> from zarrix.dtype import Float64, Int8
        >>> Float64().to_json_scalar(float("nan")), Int8().to_json_scalar(7)
        ('NaN', 7)
        """
        _check_format(zarr_format)
        return encode_fill(self.cast_scalar(data), self.dtype)

    def from_json_scalar(self, data: Any, *, zarr_format: Literal[2, 3] = 3) -> Any:
        """The element that a v3 document means.

        Parameters
        ----------
        data : JSON value
        zarr_format : {2, 3}

        Returns
        -------
        NumPy scalar, str or bytes

        Raises
        ------
        MetadataError
            It is not an element of this data type.
        ValueError
            ``zarr_format`` is something else.

        References
        ----------
        Zarr v3 core specification, "Fill value".

        Examples
        --------
        >>> from zarrix.dtype import Float64
        >>> Float64().from_json_scalar("-Infinity")
        np.float64(-inf)
        """
        _check_format(zarr_format)
        return decode_fill(data, self.dtype, "scalar")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype.str!r})"


class _Plain(ZDType):
    """Elements whose size the name tells.

    Parameters
    ----------
    endianness : str
        Accepted for zarr-python; the codec ``bytes`` decides the byte order in v3.

    Raises
    ------
    TypeError
        Another keyword is given.
    """

    def __init__(self, *, endianness: str = "little") -> None:
        super().__init__(np.dtype(self.code))


class _OfLength(ZDType):
    """Elements of a fixed number of bytes, or of characters for text.

    Parameters
    ----------
    length : int
        Bytes of an element, or characters for text.
    endianness : str
        Accepted for zarr-python; the codec ``bytes`` decides the byte order in v3.

    Raises
    ------
    TypeError
        NumPy has no such data type.
    """

    def __init__(self, *, length: int, endianness: str = "little") -> None:
        super().__init__(np.dtype(f"{self.code}{length}"))

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
        Number of units in one step.
    endianness : str
        Accepted for zarr-python; the codec ``bytes`` decides the byte order in v3.

    Raises
    ------
    TypeError
        NumPy does not know the unit.
    """

    def __init__(
        self, *, unit: str = "generic", scale_factor: int = 1, endianness: str = "little"
    ) -> None:
        kind = self.code if unit == "generic" else f"{self.code}[{scale_factor}{unit}]"
        super().__init__(np.dtype(kind))

    @property
    def unit(self) -> str:
        """Unit of time, as NumPy names it."""
        return np.datetime_data(self.dtype)[0]

    @property
    def scale_factor(self) -> int:
        """The number of units in one step."""
        return np.datetime_data(self.dtype)[1]


class Struct(ZDType):
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

    def __init__(self, *, fields: Any) -> None:
        described = [(name, as_dtype(kind)) for name, kind in fields]
        super().__init__(np.dtype(described))

    @property
    def fields(self) -> tuple[tuple[str, ZDType], ...]:
        """Names and data types of the fields."""
        names = self.dtype.names or ()
        return tuple((name, parse_dtype(self.dtype[name])) for name in names)


Structured = Struct


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

    def __init__(self) -> None:
        super().__init__(STRING)


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

    def __init__(self) -> None:
        super().__init__(BYTES)


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


def _make(name: str, code: str, base: type[ZDType]) -> type[ZDType]:
    sections = inspect.cleandoc(base.__doc__ or "").partition("\n\n")[2]
    example = _EXAMPLES[base].format(name=name, json=name.lower())
    text = f"The data type of NumPy's ``{code}``.\n\n{sections}\n\nExamples\n--------\n{example}"
    return type(name, (base,), {"code": code, "__module__": "zarrix.dtype", "__doc__": text})


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
FixedLengthUTF32 = _make("FixedLengthUTF32", "U", _OfLength)
NullTerminatedBytes = _make("NullTerminatedBytes", "S", _OfLength)
RawBytes = _make("RawBytes", "V", _OfLength)
DateTime64 = _make("DateTime64", "M8", _Time)
TimeDelta64 = _make("TimeDelta64", "m8", _Time)

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
        It is not a codec.
    ValueError
        ``zarr_format`` is something else.

    Examples
    --------
    >>> from zarrix.dtype import parse_dtype
    >>> parse_dtype("int32"), parse_dtype([("x", "f4")])
    (Int32('<i4'), Struct('|V4'))
    """
    _check_format(zarr_format)
    if isinstance(dtype_spec, ZDType):
        return dtype_spec
    if zarr_format == 2 and isinstance(dtype_spec, dict):
        dtype_spec = decode_dtype(dtype_spec["name"])
    dtype = as_dtype(dtype_spec)
    if is_variable(dtype):
        return VariableLengthUTF8() if data_type_of(dtype) == "string" else VariableLengthBytes()
    dtype = dtype.newbyteorder("=")
    if dtype.names is not None:
        return Struct.from_native_dtype(dtype)
    code = dtype.str[1:].partition("[")[0]
    found = _BY_CODE.get(code if code in _BY_CODE else dtype.kind, ZDType)
    return found.from_native_dtype(dtype)


for _one in (ZDType, Struct, VariableLengthUTF8, VariableLengthBytes):
    _one.__module__ = "zarrix.dtype"
parse_dtype.__module__ = "zarrix.dtype"
