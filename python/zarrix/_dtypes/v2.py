"""NumPy dtypes and fill values, to and from the JSON of v2.

A dtype is written as NumPy's array-protocol string (``"<f4"``, ``"<M8[ns]"``), and a structured
dtype as the list of its fields. Fill values are written as in zarr 2.18, byte for byte: numbers as
numbers, floats that JSON does not have as names, complex numbers as a pair, byte strings and
structures in base64, times as integers. A fill value from a document must fit its dtype exactly; a
fill value from a user is cast as NumPy casts it.

Padding of aligned structures is written as unnamed void fields. 2.18 reads them back as fields
called ``f1``; here they become padding again, so that the dtype is preserved.
"""

from __future__ import annotations

import base64
import binascii
import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._dtypes.variable import ragged_dtype
from zarrix._errors import MetadataError, shorten
from zarrix._runtime.config import config

__all__ = [
    "check_element",
    "decode_dtype",
    "decode_fill_value",
    "decode_object_fill",
    "encode_dtype",
    "encode_fill_value",
    "encode_object_fill",
    "fill_value_bytes",
    "is_zero",
    "normalize_fill_value",
    "require_supported",
    "without_notes",
]

# Limits the depth, because NumPy recurses into nested dtypes on the C stack.
_MAX_NESTING = 64
# Trailing zeros of text and bytes elements longer than this are not written.
_PAGE_BYTES = 4096
_NAMED_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def require_supported(dtype: np.dtype[Any], label: str = "dtype") -> np.dtype[Any]:
    """Return ``dtype`` if its elements have a meaning outside this process.

    Raises
    ------
    MetadataError
        Objects inside structures, sizes of zero, times without a unit, extension types.
    """
    if dtype.hasobject and dtype.kind != "O":
        raise MetadataError(
            f"{label}: {dtype} has objects inside a structure; store them in a separate array, "
            "with dtype=object"
        )
    if dtype.isbuiltin == 2:
        raise MetadataError(
            f"{label}: {dtype} is an extension type that v2 cannot name; "
            f"store it as {_same_size_integer(dtype)} with .view()"
        )
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        raise MetadataError(
            f"{label}: {dtype} has generic units; name them, for example '{dtype.kind}8[ns]'"
        )
    if dtype.itemsize == 0:
        raise MetadataError(
            f"{label}: elements of {dtype.str!r} have no bytes; give a length, for example 'S20'"
        )
    return dtype


def without_notes(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """``dtype`` without ``metadata`` at any depth, where programs such as h5py store notes.

    NumPy ignores it in comparisons, but writes it into ``dtype.descr``, which is then not a valid
    dtype. Metadata of object dtypes stays, because it says what the objects are.

    Examples
    --------
    >>> noted = np.dtype("S3", metadata={"h5py_encoding": "utf-8"})
    >>> without_notes(np.dtype([("a", "i4"), ("b", noted)])).descr
    [('a', '<i4'), ('b', '|S3')]
    """
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((without_notes(base), shape))
    if dtype.fields is not None:
        return _fields_without_notes(dtype)
    if dtype.metadata is None or dtype.hasobject:
        return dtype
    return np.dtype(dtype.str)


def _fields_without_notes(dtype: np.dtype[Any]) -> np.dtype[Any]:
    assert dtype.fields is not None
    assert dtype.names is not None
    fields = [dtype.fields[name] for name in dtype.names]
    formats = [without_notes(field[0]) for field in fields]
    noted = any(new is not old[0] for new, old in zip(formats, fields, strict=True))
    if dtype.metadata is None and not noted:
        return dtype
    layout = {
        "names": list(dtype.names),
        "formats": formats,
        "offsets": [field[1] for field in fields],
        "titles": [field[2] if len(field) == 3 else None for field in fields],
        "itemsize": dtype.itemsize,
    }
    plain: np.dtype[Any] = np.dtype(layout, align=dtype.isalignedstruct)  # type: ignore[call-overload]
    return plain


def encode_dtype(dtype: np.dtype[Any]) -> Any:
    """The name of ``dtype`` in documents: a string, or a list of fields.

    Parameters
    ----------
    dtype : numpy.dtype

    Returns
    -------
    str or list of tuple
        As NumPy's ``dtype.str`` and ``dtype.descr``.

    Raises
    ------
    MetadataError
        Fields overlap, or do not follow each other.

    References
    ----------
    Zarr v2 specification, "Data type encoding".

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.meta import encode_dtype
    >>> encode_dtype(np.dtype(">i2")), encode_dtype(np.dtype([("x", "f4"), ("n", "S3")]))
    ('>i2', [('x', '<f4'), ('n', '|S3')])
    """
    if dtype.fields is None:
        # NumPy strings are text like objects are, and v2 has a name for these only.
        return "|O" if dtype.kind == "T" else dtype.str
    try:
        return dtype.descr
    except ValueError as error:
        raise MetadataError(
            f"dtype {dtype} cannot be written in v2 ({error}); "
            "its fields must follow each other without overlap"
        ) from None


def decode_dtype(document: Any, label: str = "dtype") -> np.dtype[Any]:
    """The dtype that a document names.

    Parameters
    ----------
    document : str or list
        The value of ``dtype`` in a ``.zarray``.
    label : str
        Names the value in errors.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    MetadataError
        NumPy does not know it, or `require_supported` raises the error.

    References
    ----------
    Zarr v2 specification, "Data type encoding".

    Examples
    --------
    >>> from zarrix.meta import decode_dtype
    >>> decode_dtype("<M8[ns]"), decode_dtype([["x", "<f4"], ["y", "|u1"]])
    (dtype('<M8[ns]'), dtype([('x', '<f4'), ('y', 'u1')]))
    """
    try:
        dtype = _dtype_of(document)
    except (TypeError, ValueError, SyntaxError, IndexError, OverflowError, MemoryError) as error:
        raise MetadataError(
            f"{label} is {shorten(document)}, which is not a NumPy dtype ({error}); expected "
            "for example '<f4', '|S10', '<M8[ns]' or a list of [name, dtype] pairs"
        ) from None
    if dtype.subdtype is not None:
        raise MetadataError(
            f"{label} is {shorten(document)}: an array of arrays; its axes belong in 'shape'"
        )
    return require_supported(dtype, label)


def _dtype_of(document: Any, depth: int = 0) -> np.dtype[Any]:
    if isinstance(document, str):
        return np.dtype(document)
    if depth == _MAX_NESTING:
        raise ValueError(f"structures inside structures more than {_MAX_NESTING} deep")
    if not isinstance(document, list):
        raise TypeError("neither a string nor a list of fields")
    names: list[Any] = []
    formats: list[np.dtype[Any]] = []
    offsets: list[int] = []
    titles: list[str | None] = []
    offset = 0
    for field in document:
        if not isinstance(field, list) or not 2 <= len(field) <= 3:
            raise TypeError(f"field {shorten(field)} is not [name, dtype] or [name, dtype, shape]")
        name, title = field[0], None
        if isinstance(name, list) and len(name) == 2:
            title, name = name
        if not isinstance(name, str):
            raise TypeError(f"field name {shorten(name)} is not a string")
        element = _dtype_of(field[1], depth + 1)
        if len(field) == 3:
            shape = field[2] if isinstance(field[2], list) else [field[2]]
            element = np.dtype((element, tuple(shape)))
        if name or title:
            names.append(name)
            formats.append(element)
            offsets.append(offset)
            titles.append(title)
        offset += element.itemsize
    layout: dict[str, Any] = {
        "names": names,
        "formats": formats,
        "offsets": offsets,
        "itemsize": offset,
    }
    if any(title is not None for title in titles):
        layout["titles"] = titles
    dtype: np.dtype[Any] = np.dtype(layout)  # type: ignore[call-overload]
    return dtype


def normalize_fill_value(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """A user's fill value as an element of ``dtype``, cast by NumPy; None stays None.

    Parameters
    ----------
    fill_value : object
    dtype : numpy.dtype

    Returns
    -------
    NumPy scalar, or object
        None, and a value for an object dtype, are returned as they are.

    Raises
    ------
    MetadataError
        NumPy cannot cast it (also a ``ValueError``).

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.util import normalize_fill_value
    >>> normalize_fill_value(1, np.dtype("f4")), normalize_fill_value(0, np.dtype("M8[s]"))
    (np.float32(1.0), np.datetime64('1970-01-01T00:00:00'))
    """
    if fill_value is None or dtype.kind == "O":
        return fill_value
    # The zero of floating point has a sign, which 2.18 loses.
    is_signed = dtype.kind in "fc"
    if not is_signed and not isinstance(fill_value, (np.void, str, bytes)) and is_zero(fill_value):
        return np.zeros((), dtype=dtype)[()]
    if dtype.kind in "UT":
        if isinstance(fill_value, str):
            return fill_value
        raise MetadataError(f"fill_value {fill_value!r} does not fit dtype {dtype}: not a str")
    try:
        if isinstance(fill_value, bytes) and dtype.kind == "V":
            return np.array(fill_value, dtype=dtype.str).view(dtype)[()]
        return np.array(fill_value, dtype=dtype)[()]
    except (TypeError, ValueError, OverflowError) as error:
        raise MetadataError(
            f"fill_value {fill_value!r} does not fit dtype {dtype} ({error})"
        ) from None


def encode_fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """The JSON value that zarr 2.18 writes for ``value``, an element of ``dtype`` or None.

    Bytes have the length of an element; 2.18 leaves out their trailing zeros.

    Parameters
    ----------
    value : NumPy scalar or None
    dtype : numpy.dtype

    Returns
    -------
    JSON value

    Raises
    ------
    ValueError, TypeError
        ``value`` is not an element of ``dtype``.

    References
    ----------
    Zarr v2 specification, "Fill value encoding".

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.meta import encode_fill_value
    >>> encode_fill_value(np.nan, np.dtype("f4")), encode_fill_value(b"ab", np.dtype("S3"))
    ('NaN', 'YWIA')
    """
    if value is None:
        return None
    match dtype.kind:
        case "f":
            return _encode_float(value)
        case "c":
            return [_encode_float(value.real), _encode_float(value.imag)]
        case "i" | "u":
            return int(value)
        case "b":
            return bool(value)
        case "S":
            whole = bytes(value).ljust(dtype.itemsize, b"\0")
            return base64.standard_b64encode(whole).decode("ascii")
        case "V":
            return base64.standard_b64encode(value).decode("ascii")
        case "m" | "M":
            return int(np.asarray(value, dtype=dtype).astype("i8"))
        case "O":
            return value
        case _:
            return str(value)


def _encode_float(value: Any) -> float | str:
    number = float(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def decode_fill_value(document: Any, dtype: np.dtype[Any], label: str = "key 'fill_value'") -> Any:
    """The element of ``dtype`` for a fill value in a document, or None.

    Everything that zarr 2.18 and older versions wrote is understood. A value that does not fit the
    dtype (300 for ``|u1``, 1.5 for ``<i4``) is an error, and is neither wrapped nor rounded.

    Parameters
    ----------
    document : JSON value
        The value of ``fill_value`` in a ``.zarray``.
    dtype : numpy.dtype
    label : str
        Names the value in errors.

    Returns
    -------
    NumPy scalar or None

    Raises
    ------
    MetadataError
        The message names the key, the value and the dtype.

    References
    ----------
    Zarr v2 specification, "Fill value encoding".

    Examples
    --------
    >>> import numpy as np
    >>> from zarrix.meta import decode_fill_value
    >>> decode_fill_value("-Infinity", np.dtype("f4")), decode_fill_value("YWIA", np.dtype("S3"))
    (np.float32(-inf), np.bytes_(b'ab'))
    """
    if document is None or dtype.kind == "O":
        return document
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return _decode_fill(document, dtype)
    except (TypeError, ValueError, OverflowError, RuntimeWarning) as error:
        raise MetadataError(
            f"{label} is {shorten(document)}, which does not fit dtype {dtype.str!r} ({error}); "
            f"expected {_EXPECTED.get(dtype.kind, 'a value of that dtype')} or null"
        ) from None


def _decode_fill(document: Any, dtype: np.dtype[Any]) -> Any:
    match dtype.kind:
        case "f":
            return _decode_float(document, dtype)
        case "c":
            real, imag = document if isinstance(document, list) else (document, 0.0)
            value = np.zeros((), dtype=dtype)
            value.real = _decode_float(real, value.real.dtype)
            value.imag = _decode_float(imag, value.imag.dtype)
            return value[()]
        case "S":
            return np.array(_lenient_base64(document), dtype=_narrowed(document, dtype))[()]
        case "V":
            check_element(dtype)
            encoded = base64.standard_b64decode(document)
            if len(encoded) > dtype.itemsize:
                raise ValueError(f"{len(encoded)} bytes for elements of {dtype.itemsize}")
            return np.array(encoded, dtype=f"V{dtype.itemsize}").view(dtype)[()]
        case "U":
            return document if isinstance(document, str) else str(document)
        case "i" | "u" | "b":
            return _decode_integer(document, dtype)
        case _:
            return np.array(document, dtype=dtype)[()]


def _decode_float(document: Any, dtype: np.dtype[Any]) -> Any:
    number = _NAMED_FLOATS.get(document) if isinstance(document, str) else None
    if number is not None:
        return dtype.type(number)
    value = np.array(document, dtype=dtype)
    if value.ndim:
        raise ValueError("a list")
    if np.isinf(value) and not np.isinf(np.longdouble(document)):
        raise OverflowError("too large")
    return value[()]


def _decode_integer(document: Any, dtype: np.dtype[Any]) -> Any:
    value = np.array(document, dtype=dtype)
    if value.ndim:
        raise ValueError("a list")
    if isinstance(document, (int, float)) and value != document:
        raise ValueError("not representable")
    return value[()]


def _lenient_base64(document: Any) -> Any:
    # Before base64 was used, documents had the text itself, or 0.
    try:
        return base64.standard_b64decode(document)
    except (TypeError, ValueError, binascii.Error):
        return document


def encode_object_fill(value: Any, codec_id: str | None) -> Any:
    """The JSON of a fill value; bytes, which zarr 2.18 cannot write, as in zarr-python 3."""
    if isinstance(value, bytes) and codec_id == "vlen-bytes":
        return base64.standard_b64encode(value).decode("ascii")
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value


def decode_object_fill(document: Any, config: Mapping[str, Any] | None) -> Any:
    """The fill value for the JSON in a document of an array with this object codec."""
    codec_id = None if config is None else config.get("id")
    if codec_id == "vlen-bytes" and isinstance(document, str):
        try:
            return base64.b64decode(document, validate=True)
        except (ValueError, binascii.Error):
            return document.encode()
    if codec_id == "vlen-array" and isinstance(document, list) and config is not None:
        return np.array(document, ragged_dtype(config["dtype"]))
    return document


def fill_value_bytes(value: Any, dtype: np.dtype[Any]) -> bytes | None:
    """One element in the array's own byte order; None if it is zero or undefined.

    Text and bytes elements that are longer than a page come without their trailing zeros.
    """
    if value is None or dtype.kind in "OT":
        return None
    if dtype.kind in "SU" and dtype.itemsize > _PAGE_BYTES:
        dtype = _narrowed(value, dtype)
    # Copied into zeros, because the padding of an aligned structure is undefined.
    whole = np.zeros((), dtype)
    whole[()] = value
    element = whole.tobytes()
    return None if element.count(0) == len(element) else element


def check_element(dtype: np.dtype[Any]) -> None:
    """Raise an error if a fill value is longer than a metadata document may be.

    Raises
    ------
    ValueError
        The element is longer than ``config.max_document_bytes``.
    """
    most = config.max_document_bytes
    if dtype.itemsize > most:
        raise ValueError(
            f"an element has {dtype.itemsize} bytes, and a fill value at most {most}: raise "
            "config.max_document_bytes, or store null"
        )


def _narrowed(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Shorten the text or bytes ``dtype`` to the length of ``value``: an element may have
    gigabytes.
    """
    needed = len(value) if isinstance(value, (str, bytes)) else 64
    width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
    return np.dtype(f"{dtype.byteorder}{dtype.kind}{max(1, min(width, needed))}")


def is_zero(value: Any) -> bool:
    """Whether ``value`` is zero, the empty element of its dtype, including structures and times."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "mM":
        # NumPy 2.5 deprecates the comparison of a time with a number without a unit.
        return value.ndim == 0 and value.dtype.kind == "m" and not int(value.astype("i8"))
    try:
        return bool(value == 0)
    except (TypeError, ValueError):
        return False


def _same_size_integer(dtype: np.dtype[Any]) -> str:
    return f"'u{dtype.itemsize}'" if dtype.itemsize in (1, 2, 4, 8) else f"'V{dtype.itemsize}'"


_EXPECTED = {
    "f": "a number, 'NaN', 'Infinity' or '-Infinity'",
    "c": "a pair of numbers",
    "i": "a whole number in its range",
    "u": "a whole number in its range",
    "b": "true or false",
    "S": "base64 text",
    "V": "base64 text of one element",
    "m": "a whole number",
    "M": "a whole number",
}
