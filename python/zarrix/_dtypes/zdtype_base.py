"""The base of data types as objects: a NumPy dtype, and what documents write for it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import GenericAlias
from typing import Any, ClassVar, Literal, Self

import numpy as np

from zarrix._dtypes.v2 import decode_fill_value, encode_fill_value
from zarrix._dtypes.v3 import data_type_of, decode_fill, default_fill, encode_fill
from zarrix._dtypes.variable import is_variable
from zarrix._dtypes.zdtype_json import check_format, decode_json, encode_v2
from zarrix._dtypes.zdtype_scalars import as_scalar
from zarrix._errors import MetadataError

__all__ = ["ZDType"]


@dataclass(frozen=True)
class ZDType:
    """A data type: a NumPy dtype, and its name in documents.

    Parameters
    ----------
    dtype : numpy.dtype

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
    # What zarr-python's users ask a class for.
    dtype_cls: ClassVar[type[np.dtype[Any]]] = np.dtype
    _zarr_v3_name: ClassVar[str] = ""

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
            In any byte order, which the data type has, too.

        Returns
        -------
        ZDType

        Raises
        ------
        MetadataError
            It is of another class.
        TypeError
            NumPy does not know it.

        Examples
        --------
        >>> from zarrix.dtype import Int32
        >>> Int32.from_native_dtype(">i4")
        Int32('>i4')
        """
        found = np.dtype(dtype)
        if not cls._check_native_dtype(found):
            raise MetadataError(f"dtype {found} is not one of {cls.__name__}")
        return cls._of(found)

    @classmethod
    def _of(cls, dtype: np.dtype[Any]) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "dtype", dtype)
        return made

    # The name of zarr-python, whose users override it.
    @classmethod
    def _check_native_dtype(cls, dtype: np.dtype[Any]) -> bool:
        return True

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
            It is not a name of a data type of this class.
        ValueError
            ``zarr_format`` is something else.

        Examples
        --------
        >>> from zarrix.dtype import UInt16
        >>> UInt16.from_json("uint16"), UInt16.from_json("<u2", zarr_format=2)
        (UInt16('<u2'), UInt16('<u2'))
        """
        check_format(zarr_format)
        return cls.from_native_dtype(decode_json(data, zarr_format))

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
        check_format(zarr_format)
        return encode_v2(self.dtype) if zarr_format == 2 else self._v3_json()

    def _v3_json(self) -> Any:
        return data_type_of(self.dtype)

    @property
    def endianness(self) -> str | None:
        """Byte order in memory; None if elements have no byte order."""
        return {"|": None, "<": "little", ">": "big"}.get(self.dtype.byteorder, sys.byteorder)

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
        NumPy scalar, str or bytes

        Raises
        ------
        TypeError
            It is not a value that an element can have.
        OverflowError
            It is a whole number that is out of range.

        Examples
        --------
        >>> from zarrix.dtype import Float16
        >>> Float16().cast_scalar("1.5")
        np.float16(1.5)
        """
        return as_scalar(data, self.dtype)

    def to_json_scalar(self, data: Any, *, zarr_format: Literal[2, 3] = 3) -> Any:
        """An element as documents of the format write it.

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
        TypeError, OverflowError
            `cast_scalar` cannot cast it.
        ValueError
            ``zarr_format`` is something else.

        References
        ----------
        Zarr v3 core specification, "Fill value".

        Examples
        --------
        >>> from zarrix.dtype import Float64, Int8
        >>> Float64().to_json_scalar(float("nan")), Int8().to_json_scalar(7)
        ('NaN', 7)
        """
        check_format(zarr_format)
        element = self.cast_scalar(data)
        if zarr_format == 2 and not is_variable(self.dtype):
            return encode_fill_value(element, self.dtype)
        return encode_fill(element, self.dtype)

    def from_json_scalar(self, data: Any, *, zarr_format: Literal[2, 3] = 3) -> Any:
        """The element that a document of the format means.

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
        check_format(zarr_format)
        if isinstance(data, tuple):
            # Objects of JSON have tuples in zarr-python.
            data = list(data)
        if zarr_format == 2 and not is_variable(self.dtype) and data != "NaT":
            return decode_fill_value(data, self.dtype, "scalar")
        return decode_fill(data, self.dtype, "scalar")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dtype.str!r})"
