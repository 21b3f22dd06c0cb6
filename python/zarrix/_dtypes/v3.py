"""v3 data types and their fill values, to and from NumPy dtypes.

A data type is a name, or a name with a configuration. Its dtype is always in native byte order,
because in v3 a codec decides the byte order. Names are written as in zarr-python 3.4
(``raw_bytes``, ``struct``), and read in every form that has been in use (``r32``, ``structured``
with its fields as pairs). Types that NumPy lacks (bfloat16, float8, int4, ...) are those of
ml_dtypes, which is imported when such a type is used.

Fill values keep every bit: a NaN other than the usual one is written as the hex of its bytes, as in
the specification ("Fill value", core specification of v3).
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zarrix._dtypes.v2 import check_element, without_notes
from zarrix._dtypes.variable import BYTES, STRING, VARIABLE_TYPES, data_type_name, is_variable
from zarrix._errors import MetadataError, shorten, suggestion

__all__ = [
    "CORE_TYPES",
    "ML_TYPES",
    "UNITS",
    "as_dtype",
    "data_type_of",
    "decode_data_type",
    "decode_fill",
    "default_fill",
    "encode_fill",
    "same_bytes",
    "usual_nan",
]

DType = np.dtype[Any]

CORE_TYPES = {
    "bool": "?",
    **{f"{kind}{8 * n}": f"{kind[0]}{n}" for kind in ("int", "uint") for n in (1, 2, 4, 8)},
    **{f"float{8 * n}": f"f{n}" for n in (2, 4, 8)},
    **{f"complex{8 * n}": f"c{n}" for n in (8, 16)},
}
ML_TYPES = (
    "bfloat16",
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "int2",
    "int4",
    "uint2",
    "uint4",
)
# Registered names of the same data types, by what their parts are.
_COMPLEX = {"complex_float32": "c8", "complex_float64": "c16"}
# Registered, too, and of parts that neither NumPy nor ml_dtypes has complex numbers of.
_COMPLEX_WITHOUT_DTYPE = frozenset(
    f"complex_{part}"
    for part in (
        "bfloat16",
        "float16",
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
        "float8_e4m3fnuz",
        "float8_e5m2",
        "float8_e5m2fnuz",
        "float8_e8m0fnu",
    )
)
_NAMES = {np.dtype(code): name for name, code in CORE_TYPES.items()}
_CONFIGURED = (
    "fixed_length_utf32",
    "null_terminated_bytes",
    "raw_bytes",
    "numpy.datetime64",
    "numpy.timedelta64",
    "struct",
    "structured",
)
_MAX_NESTING = 64
_RAW_BITS = re.compile(r"r([1-9][0-9]{0,9})")
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "μs", "ns", "ps", "fs", "as", "generic")


# Names


def decode_data_type(document: Any, label: str) -> DType:
    """The dtype, in native byte order, of a data type in a document.

    Raises
    ------
    MetadataError
        The data type is unknown, or its configuration is invalid.
    """
    try:
        return _dtype_of(document, 0)
    except (TypeError, ValueError, KeyError, OverflowError, MemoryError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(f"{label} is {shorten(document)}: {reason}") from None


def _dtype_of(document: Any, depth: int) -> DType:
    name, configuration = _parts(document)
    code = CORE_TYPES.get(name) or _COMPLEX.get(name)
    if code is not None:
        return np.dtype(code)
    if name in ML_TYPES:
        return _ml_dtype(name)
    raw = _RAW_BITS.fullmatch(name)
    if raw is not None:
        return np.dtype(f"V{_whole_bytes(int(raw[1]))}")
    if name in ("struct", "structured"):
        return _struct(configuration["fields"], depth)
    if name in ("numpy.datetime64", "numpy.timedelta64"):
        return _time("M8" if "date" in name else "m8", configuration)
    if name in _BY_LENGTH:
        code, unit = _BY_LENGTH[name]
        length = _whole(configuration["length_bytes"], "length_bytes")
        if length % unit:
            raise ValueError(f"a length of {length} bytes is not a multiple of {unit}")
        return np.dtype(f"{code}{length // unit}")
    if name in VARIABLE_TYPES:
        if depth:
            raise ValueError(
                "fields of a structure are fixed-size, and this data type is variable-length"
            )
        return VARIABLE_TYPES[name]
    if name in _COMPLEX_WITHOUT_DTYPE:
        raise ValueError(
            f"NumPy has no complex numbers of {name.removeprefix('complex_')}, so that zarrix does "
            "not read this registered data type; complex64 and complex128 are read"
        )
    known = (*CORE_TYPES, *_COMPLEX, *_CONFIGURED, *ML_TYPES, *VARIABLE_TYPES)
    raise ValueError(f"this version does not know the data type{suggestion(name, known)}")


_BY_LENGTH = {
    "fixed_length_utf32": ("U", 4),
    "null_terminated_bytes": ("S", 1),
    "raw_bytes": ("V", 1),
}


def _parts(document: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(document, str):
        return document, {}
    if not isinstance(document, Mapping) or not isinstance(document.get("name"), str):
        raise TypeError("a data type is a name, or an object with a 'name' and a 'configuration'")
    configuration = document.get("configuration", {})
    if not isinstance(configuration, Mapping):
        raise TypeError("its 'configuration' is not an object")
    return document["name"], configuration


def _ml_dtype(name: str) -> DType:
    try:
        # An optional package.
        import ml_dtypes  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ValueError("this data type needs ml_dtypes: pip install ml_dtypes") from None
    found = getattr(ml_dtypes, name, None)
    if found is None:
        raise ValueError("the installed ml_dtypes does not have it; a newer version may")
    dtype: DType = np.dtype(found)
    return dtype


def _whole_bytes(bits: int) -> int:
    if bits % 8:
        raise ValueError("raw bits come in multiples of 8")
    return bits // 8


def _whole(value: Any, name: str) -> int:
    if type(value) is not int or not 1 <= value < 2**31:
        raise ValueError(f"{name!r} is {shorten(value)}, not a whole number from 1 to 2**31-1")
    return value


def _time(code: str, configuration: Mapping[str, Any]) -> DType:
    unit = configuration["unit"]
    factor = _whole(configuration.get("scale_factor", 1), "scale_factor")
    if unit not in UNITS:
        raise ValueError(f"'unit' is {shorten(unit)}; allowed are {', '.join(UNITS)}")
    return np.dtype(f"{code}[{factor}{unit}]")


def _struct(fields: Any, depth: int) -> DType:
    if depth == _MAX_NESTING:
        raise ValueError(f"structures inside structures more than {_MAX_NESTING} deep")
    if not isinstance(fields, list) or not fields:
        raise ValueError("'fields' is a list of at least one field")
    described = []
    for field in fields:
        if isinstance(field, Mapping):
            name, kind = field["name"], field["data_type"]
        elif isinstance(field, list) and len(field) == 2:
            name, kind = field
        else:
            raise TypeError(f"field {shorten(field)} has no 'name' and 'data_type'")
        if not isinstance(name, str) or not name:
            raise TypeError(f"the name of field {shorten(field)} is not a text")
        described.append((name, _dtype_of(kind, depth + 1)))
    dtype: DType = np.dtype(described)
    return dtype


def as_dtype(dtype: Any) -> DType:
    """The dtype that a user means by a NumPy dtype, a v3 data type, or its name or document.

    Raises
    ------
    MetadataError, TypeError
        It is none.
    """
    to_native = getattr(dtype, "to_native_dtype", None)
    if to_native is not None:
        dtype = to_native()
    is_name = isinstance(dtype, str) and (
        dtype in (*ML_TYPES, *VARIABLE_TYPES, *_COMPLEX) or _RAW_BITS.fullmatch(dtype)
    )
    if is_name or isinstance(dtype, Mapping):
        return decode_data_type(dtype, "dtype")
    if isinstance(dtype, str) and dtype.startswith("array:"):
        raise MetadataError(f"dtype {dtype!r}: variable-length arrays belong to zarr_format=2")
    if dtype is str or dtype is bytes or dtype == "str":
        return BYTES if dtype is bytes else STRING
    found: DType = without_notes(np.dtype(dtype))
    # There is no data type for strings with missing values.
    return STRING if found.kind == "T" else found


def data_type_of(dtype: DType) -> Any:
    """The v3 data type of a dtype of either byte order: a name, or an object.

    Raises
    ------
    MetadataError
        v3 has no such data type (also a ``ValueError``).
    """
    variable = data_type_name(dtype)
    if variable is not None:
        return variable
    native = dtype.newbyteorder("=")
    if native in _NAMES and not dtype.fields:
        return _NAMES[native]
    if dtype.isbuiltin == 2 and dtype.type.__module__.startswith("ml_dtypes"):
        return dtype.name
    if dtype.names is not None:
        return _struct_document(dtype)
    if dtype.kind in "mM":
        unit, factor = np.datetime_data(dtype)
        name = "numpy.datetime64" if dtype.kind == "M" else "numpy.timedelta64"
        return {"name": name, "configuration": {"unit": unit, "scale_factor": factor}}
    for name, (code, _) in _BY_LENGTH.items():
        if dtype.kind == code and dtype.itemsize:
            return {"name": name, "configuration": {"length_bytes": dtype.itemsize}}
    if dtype.hasobject:
        hint = "pass dtype=str or dtype=bytes; or use zarr_format=2 and object_codec="
    elif dtype.kind in "USV":
        hint = "its elements have no bytes; give a length, for example 'S20'"
    else:
        hint = f"known are {', '.join((*CORE_TYPES, *_CONFIGURED))}"
    raise MetadataError(f"dtype {dtype}: v3 has no such data type; {hint}")


def _struct_document(dtype: DType) -> dict[str, Any]:
    fields = []
    layout: Any = dtype.fields
    offset = 0
    for name in dtype.names or ():
        inner, at = layout[name][:2]
        if inner.subdtype is not None:
            raise MetadataError(
                f"dtype {dtype}: field {name!r} is an array, which v3 has no data type for; "
                "store it with zarr_format=2, or as several fields"
            )
        if at != offset:
            raise MetadataError(f"dtype {dtype}: fields must follow each other without gaps")
        offset += inner.itemsize
        fields.append({"name": name, "data_type": data_type_of(inner)})
    if offset != dtype.itemsize:
        raise MetadataError(f"dtype {dtype}: bytes follow its last field; pack it (align=False)")
    return {"name": "struct", "configuration": {"fields": fields}}


# Fill values


def default_fill(dtype: DType) -> Any:
    """The default fill value of a new array: zero, or not-a-time."""
    if dtype.kind in "mM":
        return np.array("NaT", dtype)[()]
    if is_variable(dtype):
        return b"" if data_type_name(dtype) == "variable_length_bytes" else ""
    return np.zeros((), dtype)[()]


def encode_fill(value: Any, dtype: DType) -> Any:
    """The JSON of ``value``, an element of ``dtype``."""
    if dtype.names is not None:
        element = np.asarray(value, dtype)
        return {name: encode_fill(element[name][()], dtype[name]) for name in dtype.names}
    if is_variable(dtype):
        return _encode_variable(value, dtype)
    if dtype.isbuiltin == 2:
        return _encode_ml(value, dtype)
    match dtype.kind:
        case "b":
            return bool(value)
        case "i" | "u":
            return int(value)
        case "f":
            return _encode_float(np.asarray(value, dtype))
        case "c":
            element = np.asarray(value, dtype)
            return [_encode_float(element.real), _encode_float(element.imag)]
        case "m" | "M":
            return int(np.asarray(value, dtype).astype("i8"))
        case "U":
            return str(value)
        case "S":
            return base64.standard_b64encode(bytes(value)).decode("ascii")
        case _:
            return base64.standard_b64encode(np.asarray(value, dtype).tobytes()).decode("ascii")


def _encode_variable(value: Any, dtype: DType) -> str:
    if value is None or (isinstance(value, int) and not value):
        value = default_fill(dtype)
    if not isinstance(value, type(default_fill(dtype))):
        name = data_type_name(dtype)
        raise MetadataError(f"fill_value {value!r} does not fit the data type {name}")
    return value if isinstance(value, str) else base64.standard_b64encode(value).decode("ascii")


def _encode_float(element: Any) -> float | str:
    number = float(element)
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if not math.isnan(number):
        return number
    usual = np.array(math.nan, element.dtype.newbyteorder("="))
    return "NaN" if same_bytes(element, usual, usual.dtype) else _hex(element)


def _encode_ml(value: Any, dtype: DType) -> Any:
    if dtype.name.startswith(("int", "uint")):
        return int(value)
    number = float(value)
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    element = np.asarray(value, dtype)
    if not math.isnan(number):
        return number
    return "NaN" if same_bytes(element, np.array(math.nan, dtype), dtype) else _hex(element)


def _hex(element: Any) -> str:
    """Bits as v3 spells them: the most significant byte first."""
    data: bytes = element.astype(element.dtype.newbyteorder("<")).tobytes()
    return f"0x{data[::-1].hex()}"


def usual_nan(element: Any) -> Any:
    """The number with the usual bits where it, or a part of it, is not-a-number."""
    one = np.array([element])
    parts = one.view(one.real.dtype) if one.dtype.kind == "c" else one
    parts[np.isnan(parts)] = math.nan
    return one[0]


def same_bytes(one: Any, other: Any, dtype: DType) -> bool:
    """Whether two elements are the same bits."""
    if is_variable(dtype):
        return bool(one == other)
    return np.asarray(one, dtype).tobytes() == np.asarray(other, dtype).tobytes()


def decode_fill(document: Any, dtype: DType, label: str) -> Any:
    """The element of ``dtype`` for a fill value in a document.

    Raises
    ------
    MetadataError
        It does not fit the data type exactly. Nothing is wrapped, or rounded to an integer.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            return _decode(document, dtype)
    except (TypeError, ValueError, OverflowError, RuntimeWarning, KeyError) as error:
        expected = _EXPECTED.get(dtype.kind, "a value of it")
        raise MetadataError(
            f"{label} is {shorten(document)}, which does not fit the data type of {dtype} "
            f"({error}); expected {expected}"
        ) from None


def _decode(document: Any, dtype: DType) -> Any:
    if dtype.names is not None:
        return _decode_struct(document, dtype)
    if is_variable(dtype):
        return _decode_variable(document, dtype)
    if dtype.isbuiltin == 2 or dtype.kind == "f":
        return _decode_number(document, dtype)
    return _DECODERS[dtype.kind](document, dtype)


def _decode_variable(document: Any, dtype: DType) -> Any:
    empty = default_fill(dtype)
    if document == 0 and type(document) is int:
        return empty
    if isinstance(document, str):
        return document if empty == "" else base64.b64decode(document, validate=True)
    if isinstance(document, list) and empty == b"":
        return bytes(document)
    raise TypeError("neither a text nor, for bytes, a list of bytes")


def _decode_struct(document: Any, dtype: DType) -> Any:
    check_element(dtype)
    if isinstance(document, str):
        return _element(base64.b64decode(document, validate=True), dtype)
    element = np.zeros((), dtype)
    if document == 0 and not isinstance(document, bool):
        return element[()]
    if not isinstance(document, Mapping):
        raise TypeError("neither an object nor base64 text")
    unknown = set(document) - set(dtype.names or ())
    if unknown:
        raise ValueError(f"there is no field {sorted(unknown)[0]!r}")
    for name in dtype.names or ():
        element[name] = _decode(document[name], dtype[name])
    return element[()]


_FLOAT_NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _decode_number(document: Any, dtype: DType) -> Any:
    if isinstance(document, str):
        if document in _FLOAT_NAMES:
            return np.array(_FLOAT_NAMES[document]).astype(dtype)[()]
        if not document.startswith("0x") or len(document) != 2 + 2 * dtype.itemsize:
            raise ValueError(f"neither a name nor the {2 * dtype.itemsize} digits of its bytes")
        return _element(bytes.fromhex(document[2:])[::-1], dtype)
    if isinstance(document, bool) or not isinstance(document, (int, float)):
        raise TypeError("not a number")
    value = np.array(float(document)).astype(dtype)
    number = float(value)
    if math.isnan(number) and not math.isnan(document):
        if document != 0:
            raise ValueError("not representable")
        # The type has no zero; TensorStore writes its smallest value like this.
        return _element(bytes(dtype.itemsize), dtype)
    if math.isinf(number) and not math.isinf(document):
        raise OverflowError("too large")
    if dtype.name.startswith(("int", "uint")) and number != document:
        raise ValueError("not representable")
    return value[()]


def _decode_complex(document: Any, dtype: DType) -> Any:
    real, imaginary = document
    part = np.dtype(f"f{dtype.itemsize // 2}")
    pair = [_decode_number(real, part), _decode_number(imaginary, part)]
    return np.array(pair, part).view(dtype)[0]


def _decode_integer(document: Any, dtype: DType) -> Any:
    if type(document) is float and document.is_integer():
        document = int(document)
    if type(document) is not int:
        raise TypeError("not a whole number")
    return np.array(document, dtype)[()]


def _decode_bool(document: Any, dtype: DType) -> Any:
    # Old writers stored 0 and 1.
    if document in (0, 1):
        return np.bool_(document)
    raise ValueError("neither true nor false")


def _decode_time(document: Any, dtype: DType) -> Any:
    if document == "NaT":
        return np.array("NaT", dtype)[()]
    return _decode_integer(document, np.dtype("i8")).view(dtype)


def _decode_text(document: Any, dtype: DType) -> Any:
    if document == 0 and type(document) is int:
        return np.str_()
    if not isinstance(document, str):
        raise TypeError("not a text")
    if len(document) > dtype.itemsize // 4:
        raise ValueError(f"more than its {dtype.itemsize // 4} characters")
    return np.str_(document.rstrip("\0"))


def _decode_bytes(document: Any, dtype: DType) -> Any:
    if isinstance(document, list):
        data = bytes(document)
    elif document == 0 and type(document) is int:
        data = b""
    else:
        data = base64.b64decode(document, validate=True)
    if len(data) > dtype.itemsize or (dtype.kind == "V" and 0 < len(data) < dtype.itemsize):
        raise ValueError(f"{len(data)} bytes for elements of {dtype.itemsize}")
    if dtype.kind == "S":
        return np.bytes_(data.rstrip(b"\0"))
    check_element(dtype)
    return _element(data.ljust(dtype.itemsize, b"\0"), dtype)


def _element(data: bytes, dtype: DType) -> Any:
    if len(data) != dtype.itemsize:
        raise binascii.Error(f"{len(data)} bytes for elements of {dtype.itemsize}")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)[0]


_DECODERS: dict[str, Callable[[Any, DType], Any]] = {
    "b": _decode_bool,
    "i": _decode_integer,
    "u": _decode_integer,
    "c": _decode_complex,
    "m": _decode_time,
    "M": _decode_time,
    "U": _decode_text,
    "S": _decode_bytes,
    "V": _decode_bytes,
}
_EXPECTED = {
    "b": "true or false",
    "i": "a whole number in its range",
    "u": "a whole number in its range",
    "f": "a number, 'NaN', 'Infinity', '-Infinity' or hex such as '0x7fc00000'",
    "c": "a pair of numbers",
    "m": "a whole number or 'NaT'",
    "M": "a whole number or 'NaT'",
    "U": "a text that fits",
    "S": "base64 text or a list of bytes",
    "V": "base64 text or a list of bytes, or an object with a value for each field",
    "T": "a text",
    "O": "a text, in base64 for bytes",
}
