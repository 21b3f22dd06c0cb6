"""Variable-length elements: text, bytes, ragged arrays, Python objects.

In memory they are an array of objects, or of NumPy strings. In a chunk they are encoded by an
object codec, `zarrix._codecs.objects`, which is the first array-to-bytes codec of the chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = [
    "BYTES",
    "OBJECT",
    "SERIALIZERS",
    "STRING",
    "VARIABLE_TYPES",
    "as_elements",
    "data_type_name",
    "dtype_in_3",
    "element_of",
    "is_variable",
    "object_codec_of",
    "ragged_dtype",
]

DType = np.dtype[Any]

OBJECT: DType = np.dtype(object)
"""Any object that the object codec of the array accepts."""


def _named(data_type: str) -> DType:
    # h5py marks its objects in the same way. NumPy copies the mark, and ignores it when it compares
    # dtypes.
    return np.dtype("O", metadata={"data_type": data_type})


STRING: DType = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else _named("string")
"""Variable-length text in v3: NumPy strings, or objects with NumPy older than 2."""

BYTES: DType = _named("variable_length_bytes")
"""Variable-length bytes in v3."""

VARIABLE_TYPES: dict[str, DType] = {
    "string": STRING,
    "variable_length_bytes": BYTES,
    # Names that earlier versions of zarr-python 3 and other programs wrote.
    "variable_length_utf8": STRING,
    "bytes": BYTES,
}
"""The variable-length v3 data types, by all of their names."""

SERIALIZERS = {"string": "vlen-utf8", "variable_length_bytes": "vlen-bytes"}
"""The codecs that encode them to bytes."""

_SHORTHANDS = {
    "str": "vlen-utf8",
    "string": "vlen-utf8",
    "variable_length_utf8": "vlen-utf8",
    "T": "vlen-utf8",
    "bytes": "vlen-bytes",
    "variable_length_bytes": "vlen-bytes",
}


def is_variable(dtype: DType) -> bool:
    """Whether a dtype is variable-length."""
    return dtype.kind in "OT"


def dtype_in_3(source: Any) -> Any:
    """The dtype of a v3 copy of an array; in v3, text and bytes are data types."""
    if source.dtype != OBJECT:
        return source.dtype
    first = next(iter(getattr(source, "filters", None) or ()), None)
    return {"vlen-utf8": STRING, "vlen-bytes": BYTES}.get(
        getattr(first, "codec_id", ""), source.dtype
    )


def element_of(source: Any) -> Any:
    """What each element of a variable-length array is.

    Parameters
    ----------
    source : Array

    Returns
    -------
    type or dtype
        ``str``, ``bytes``, the dtype of ragged arrays, or ``object`` for everything else.
    """
    if source.dtype.kind == "T" or data_type_name(source.dtype) == "string":
        return str
    if data_type_name(source.dtype) == "variable_length_bytes":
        return bytes
    first: Any = next(iter(getattr(source, "filters", None) or ()), None)
    codec_id = getattr(first, "codec_id", "")
    if codec_id == "vlen-array":
        return np.dtype(first.dtype)
    return {"vlen-utf8": str, "vlen-bytes": bytes}.get(codec_id, object)


def data_type_name(dtype: DType) -> str | None:
    """The v3 data type of a variable-length dtype; None if there is none."""
    if dtype.kind == "T":
        return "string"
    mark: Mapping[str, Any] = dtype.metadata or {}
    return mark.get("data_type") if dtype.kind == "O" else None


def object_codec_of(dtype: Any) -> tuple[DType, dict[str, Any] | None] | None:
    """The v2 dtype and object codec for zarr 2.18's names of variable-length elements.

    Parameters
    ----------
    dtype : object
        What a user passes as ``dtype``: ``str``, ``bytes``, ``"array:f4"``, a NumPy string dtype,
        or a dtype of objects. The codec of the last is None, and the user has to name one.

    Returns
    -------
    tuple, or None for other dtypes

    Examples
    --------
    >>> object_codec_of("array:i2")
    (dtype('O'), {'id': 'vlen-array', 'dtype': '<i2'})
    """
    to_native = getattr(dtype, "to_native_dtype", None)
    if to_native is not None:
        dtype = to_native()
    if isinstance(dtype, type) and (dtype is np.object_ or not issubclass(dtype, np.generic)):
        dtype = dtype.__name__.rstrip("_")
    if isinstance(dtype, str):
        name, _, element = dtype.partition(":")
        if name == "array":
            return OBJECT, {"id": "vlen-array", "dtype": ragged_dtype(element or "f8").str}
        if name in _SHORTHANDS:
            return OBJECT, {"id": _SHORTHANDS[name]}
        return (OBJECT, None) if name in ("object", "O", "|O") else None
    if not isinstance(dtype, np.dtype) or not is_variable(dtype):
        return None
    codec_id = SERIALIZERS.get(data_type_name(dtype) or "")
    return OBJECT, None if codec_id is None else {"id": codec_id}


def ragged_dtype(name: str) -> DType:
    """The dtype of the elements of ragged arrays, which is fixed-size."""
    dtype = np.dtype(name)
    if dtype.hasobject or dtype.kind == "T" or not dtype.itemsize:
        raise ValueError(f"'array:{name}': the elements of ragged arrays need a fixed-size dtype")
    return dtype


# Values that users write.


def as_elements(value: Any, shape: tuple[int, ...]) -> Any:
    """``value`` as an array of objects that broadcasts to ``shape``.

    An array, or nested lists of the selection's shape, has one element for each. Everything else is
    one element: a dict, a text, and, if the selection is a single element, a list or an array.

    Parameters
    ----------
    value : object
    shape : tuple of int
        Of the selection.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and shape:
        return value
    if not shape:
        if isinstance(value, np.ndarray) and not value.ndim:
            value = value[()]
        return _single(value)
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value).astype(object)
    if isinstance(value, list | tuple):
        return _nested(value, shape)
    if hasattr(value, "__array__"):
        return np.asarray(value, object)
    return _single(value)


def _single(value: Any) -> Any:
    element = np.empty((), object)
    element.fill(value)
    return element


def _nested(value: Any, shape: tuple[int, ...]) -> Any:
    """Nested lists, as deep as ``shape`` and no deeper: everything below is an element."""
    lengths: list[int] = []
    level: list[Any] = [value]
    while len(lengths) < len(shape):
        sizes = {len(one) if isinstance(one, list | tuple | np.ndarray) else -1 for one in level}
        if len(sizes) != 1 or sizes == {-1} or any(_is_scalar(one) for one in level):
            break
        lengths.append(sizes.pop())
        level = [inner for one in level for inner in one]
    return np.fromiter(level, object, len(level)).reshape(lengths)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not value.ndim
