"""Which JSON names a data type: `ZDType.from_json` and `ZDType.to_json`.

A document of an array may spell its data type as old programs did. These functions are for code
that asks whether a value names a data type of a certain class, so that they refuse what is not a
name of v2 or v3: "int16" in v2, "|i2", an object codec of elements that are not objects, and a
configuration that the data type does not have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._dtypes.v2 import decode_dtype, encode_dtype
from zarrix._dtypes.v3 import CORE_TYPES, decode_data_type
from zarrix._dtypes.variable import BYTES, STRING, VARIABLE_TYPES, object_codec_of
from zarrix._errors import MetadataError, shorten

__all__ = ["check_format", "decode_json", "encode_v2"]

_OBJECT_CODECS = {"vlen-utf8": STRING, "vlen-bytes": BYTES}
# A byte order, a kind and a size; the order is "|" where elements have none.
_V2_NAME = re.compile(
    r"[<>|](?:b1|[iu]1|[SV][0-9]+)|[<>](?:[iu][248]|f[248]|c(?:8|16)|U[0-9]+|[mM]8(?:\[(?:[1-9][0-9]*)?[^]0-9]+\])?)",
    re.ASCII,
)


def check_format(zarr_format: Any) -> None:
    """Check the number of a format.

    Raises
    ------
    ValueError
        It is neither 2 nor 3.
    """
    if zarr_format not in (2, 3):
        raise ValueError(f"zarr_format is 2 or 3, not {zarr_format!r}")


def decode_json(data: Any, zarr_format: int) -> np.dtype[Any]:
    """The dtype that the JSON of a data type names.

    Parameters
    ----------
    data : str, list or dict
        For v2 the value of ``dtype`` in a ``.zarray``, or a dict of it as ``name`` and of
        ``object_codec_id``.
    zarr_format : {2, 3}

    Raises
    ------
    MetadataError
        It names none.
    """
    return _decode_v2(data) if zarr_format == 2 else _decode_v3(data)


def _decode_v2(data: Any) -> np.dtype[Any]:
    name, codec_id = data, None
    if isinstance(data, Mapping):
        if set(data) != {"name", "object_codec_id"}:
            raise MetadataError(
                f"data type is {shorten(data)}; expected 'name' and 'object_codec_id'"
            )
        name, codec_id = data["name"], data["object_codec_id"]
    if name == "|O" and codec_id in _OBJECT_CODECS:
        return _OBJECT_CODECS[codec_id]
    if codec_id is not None or name == "|O":
        raise MetadataError(
            f"data type is {shorten(data)}; '|O' has the object codec 'vlen-utf8' or 'vlen-bytes', "
            "and other data types have none"
        )
    fields = _lists(name)
    _check_names(fields)
    # A data type may have generic units, which no array of v2 has.
    is_time = isinstance(fields, str) and fields[1] in "mM"
    if not is_time:
        return decode_dtype(fields, "data type")
    try:
        time: np.dtype[Any] = np.dtype(fields)
    except (TypeError, ValueError, OverflowError) as error:
        raise MetadataError(f"data type is {shorten(fields)}: {error}") from None
    return time


def _check_names(name: Any) -> None:
    if isinstance(name, str):
        if _V2_NAME.fullmatch(name) is None:
            raise MetadataError(
                f"data type is {shorten(name)}, which is not a name of v2; expected for example "
                "'<f4', '|u1', '|S10' or '<M8[ns]'"
            )
    elif isinstance(name, list):
        for field in name:
            if isinstance(field, list) and len(field) > 1:
                _check_names(field[1])


def _lists(value: Any) -> Any:
    """The fields of a structure as JSON has them."""
    return [_lists(one) for one in value] if isinstance(value, list | tuple) else value


def _decode_v3(data: Any) -> np.dtype[Any]:
    dtype = decode_data_type(data, "data type")
    if isinstance(data, Mapping):
        name, configuration = data["name"], data.get("configuration")
        if configuration and name in (*CORE_TYPES, *VARIABLE_TYPES):
            raise MetadataError(
                f"data type is {shorten(data)}; {name!r} does not have a configuration"
            )
    return dtype


def encode_v2(dtype: np.dtype[Any]) -> dict[str, Any]:
    """The name of a dtype in v2 and its object codec, under the names of zarr-python."""
    objects = object_codec_of(dtype)
    if objects is not None:
        codec_id = None if objects[1] is None else objects[1]["id"]
        return {"name": "|O", "object_codec_id": codec_id}
    name = _lists(encode_dtype(dtype))
    if dtype.kind in "mM":
        unit, factor = np.datetime_data(dtype)
        if unit == "generic" and factor != 1:
            # NumPy leaves the factor out.
            name = f"{name}[{factor}generic]"
    return {"name": name, "object_codec_id": None}
