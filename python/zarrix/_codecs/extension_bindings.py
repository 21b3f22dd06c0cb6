"""Bindings of codecs from the registry of Zarr extensions.

v3 documents do not repeat the data type of the array in a codec's configuration; it is added here
as ``dtype``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zarrix._codecs.bound import UINT8, Bound, Config, DType
from zarrix._codecs.numcodecs_bindings import spelled_pcodec
from zarrix._dtypes.v3 import decode_data_type, decode_fill, encode_fill


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


def bitround(config: Config, dtype: DType, size: int | None) -> Bound:
    name = _bits_name(dtype, "iufcmM", "numbers and times")
    return Bound({**config, "dtype": name}, dtype, size)


def cast_value(config: Config, dtype: DType, size: int | None) -> Bound:
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


def scale_offset(config: Config, dtype: DType, size: int | None) -> Bound:
    name = _type_string(dtype)
    given = {key: _scalar(value, dtype) for key, value in config.items()}
    return Bound({**given, "dtype": name}, dtype, size)


def packbits(config: Config, dtype: DType, size: int | None) -> Bound:
    given = {key: value for key, value in config.items() if value is not None}
    given["dtype"] = _bits_name(dtype, "biufc", "booleans and numbers")
    return Bound(given, UINT8, None)


def pcodec(config: Config, dtype: DType, size: int | None) -> Bound:
    given = {**spelled_pcodec(config), "dtype": _type_string(dtype)}
    return Bound(given, UINT8, None)
