"""Codecs from the registry of Zarr extensions, in the form for the engine.

v3 documents do not repeat the data type of the array in a codec's configuration; it is added here
as ``dtype``. Each row of `EXTENSIONS` says whether a codec works on arrays or bytes, and returns
the engine's configuration together with its output: the dtype, and the size if it is fixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from zarrix._codecs.native import spelled_pcodec
from zarrix._dtypes.v3 import decode_data_type, decode_fill, encode_fill

__all__ = ["ELEMENTWISE", "EXTENSIONS", "Bound", "Extension", "words_of"]

DType = np.dtype[Any]
Config = Mapping[str, Any]


class Bound(NamedTuple):
    """A codec bound to its input: the engine's configuration, and its output."""

    configuration: dict[str, Any]
    dtype: DType
    size: int | None


class Extension(NamedTuple):
    """The kind of a codec, "array" (to array) or "bytes" (array to bytes), and its binding."""

    gives: str
    bind: Callable[[Config, DType, int | None], Bound]


def _type_string(dtype: DType) -> str:
    if dtype.kind not in "biuf" or dtype.isbuiltin == 2:
        raise ValueError(f"is for integers and floats, not for {dtype}")
    return dtype.str


def _bits_name(dtype: DType, kinds: str, what: str) -> str:
    """The engine's name of a dtype whose bits it works on; types of ml_dtypes have only a name."""
    if dtype.isbuiltin == 2:
        return dtype.name
    if dtype.kind not in kinds:
        raise ValueError(f"is for {what}, not for {dtype}")
    return dtype.str


def _bitround(config: Config, dtype: DType, size: int | None) -> Bound:
    name = _bits_name(dtype, "iufcmM", "numbers and times")
    return Bound({**config, "dtype": name}, dtype, size)


def _cast_value(config: Config, dtype: DType, size: int | None) -> Bound:
    stored = decode_data_type(config["data_type"], "key 'data_type'")
    given = {key: value for key, value in config.items() if value is not None}
    given.update(dtype=_type_string(dtype), data_type=_type_string(stored))
    scalars = given.get("scalar_map")
    if isinstance(scalars, Mapping):
        given["scalar_map"] = {
            "encode": _pairs(scalars.get("encode"), dtype, stored),
            "decode": _pairs(scalars.get("decode"), stored, dtype),
        }
    after = None if size is None else size // dtype.itemsize * stored.itemsize
    return Bound(given, stored, after)


def _pairs(pairs: Any, before: DType, after: DType) -> list[list[Any]]:
    return [[_scalar(one, before), _scalar(other, after)] for one, other in pairs or ()]


def _scalar(value: Any, dtype: DType) -> Any:
    """A scalar of a document, which may be hex, in the engine's notation."""
    plain = encode_fill(decode_fill(value, dtype, "a scalar"), dtype)
    return "NaN" if isinstance(plain, str) and plain.startswith("0x") else plain


def _scale_offset(config: Config, dtype: DType, size: int | None) -> Bound:
    name = _type_string(dtype)
    given = {key: _scalar(value, dtype) for key, value in config.items()}
    return Bound({**given, "dtype": name}, dtype, size)


def _packbits(config: Config, dtype: DType, size: int | None) -> Bound:
    given = {key: value for key, value in config.items() if value is not None}
    given["dtype"] = _bits_name(dtype, "biufc", "booleans and numbers")
    return Bound(given, np.dtype("u1"), None)


def _pcodec(config: Config, dtype: DType, size: int | None) -> Bound:
    given = {**spelled_pcodec(config), "dtype": _type_string(dtype)}
    return Bound(given, np.dtype("u1"), None)


EXTENSIONS: dict[str, Extension] = {
    "bitround": Extension("array", _bitround),
    "cast_value": Extension("array", _cast_value),
    "packbits": Extension("bytes", _packbits),
    "pcodec": Extension("bytes", _pcodec),
    "scale_offset": Extension("array", _scale_offset),
}

ELEMENTWISE = frozenset(
    (
        *("bitround", "cast_value", "scale_offset"),
        *("numcodecs.astype", "numcodecs.bitround", "numcodecs.fixedscaleoffset"),
        *("numcodecs.categorize", "numcodecs.quantize"),
    )
)
"""Elementwise codecs: a transposition after them may be moved before them."""


def words_of(dtype: DType) -> list[tuple[int, int]]:
    """The words of one element whose bytes are reversed to change the byte order.

    Returns
    -------
    list of (int, int)
        Runs of words of one size: the size in bytes, and their number. An element may have
        gigabytes, but has only as many runs as its dtype has fields.

    Examples
    --------
    >>> words_of(np.dtype("c8")), words_of(np.dtype([("a", "i2"), ("b", "S2"), ("c", "f8")]))
    ([(4, 2)], [(2, 1), (1, 2), (8, 1)])
    """
    runs: list[tuple[int, int]] = []
    _add_words(dtype, runs)
    return runs


def _add_words(dtype: DType, runs: list[tuple[int, int]]) -> None:
    if dtype.names is not None:
        for name in dtype.names:
            _add_words(dtype[name], runs)
        return
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        inner, times = words_of(base), math.prod(shape)
        if len(inner) != 1:
            for _ in range(times):
                runs.extend(inner)
            return
        size, count = inner[0][0], inner[0][1] * times
    elif dtype.kind in "SV" and dtype.isbuiltin != 2:
        size, count = 1, dtype.itemsize
    elif dtype.kind == "U":
        size, count = 4, dtype.itemsize // 4
    else:
        size, count = (dtype.itemsize // 2, 2) if dtype.kind == "c" else (dtype.itemsize, 1)
    if runs and runs[-1][0] == size:
        runs[-1] = (size, runs[-1][1] + count)
    elif count:
        runs.append((size, count))
