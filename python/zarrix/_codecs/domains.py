"""Which elements codecs of numcodecs preserve; checked when an array is created, never when one is
opened.

A typed filter interprets its input as elements of its own type. If this is not the type of the
elements, or a type that it cannot compute with, values are lost silently: packbits makes a 2 a 1,
and booleans have no differences. Therefore creating an array with such a filter is an error with a
way out. An existing array is read as its writer reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from zarrix._codecs.chain import dtype_after
from zarrix._codecs.extensions import EXTENSIONS
from zarrix._codecs.native import BYTES
from zarrix._dtypes.variable import data_type_name, is_variable
from zarrix._errors import BadCompressorError

__all__ = ["check_domains"]

Config = Mapping[str, Any]
DType = np.dtype[Any]
Fault = tuple[str, str]
"""The elements that a codec preserves, and what to do instead."""


def check_domains(codecs: Iterable[Config], dtype: DType) -> None:
    """Raise an error if a codec of numcodecs in the chain would lose elements.

    Parameters
    ----------
    codecs : iterable of dict
        The chain of a new array of either format.
    dtype : dtype
        Data type of the array.

    Raises
    ------
    BadCompressorError
        The message names the codec, its input data type, and the way out.
    """
    has_size = not is_variable(dtype)
    for codec in codecs:
        name, configuration = codec["name"], codec.get("configuration", {})
        codec_id = name.removeprefix("numcodecs.")
        if name == "sharding_indexed":
            check_domains(configuration["codecs"], dtype)
            return
        if is_variable(dtype):
            if codec_id in _DOMAINS:
                _check_objects(codec_id, configuration, dtype)
            dtype = dtype if name in ("transpose", "bytes") else BYTES
            continue
        if name in ("transpose", "bytes"):
            continue
        domain = _DOMAINS.get(codec_id) if name.startswith("numcodecs.") else None
        fault_or_none = domain(configuration, dtype, has_size) if domain is not None else None
        if fault_or_none is not None:
            raise _refused(codec_id, fault_or_none, str(dtype))
        known = name.startswith("numcodecs.") or name in EXTENSIONS
        dtype = dtype_after(codec, dtype) if known else BYTES


def _check_objects(codec_id: str, config: Config, dtype: DType) -> None:
    """Among the typed filters, only categorize is also for variable-length elements: text, as
    objects.
    """
    word = data_type_name(dtype) or "object"
    if codec_id != "categorize":
        raise _refused(codec_id, ("fixed-size elements", "leave it out"), word)
    if np.dtype(config["dtype"]) != object:
        fault = (f"elements of data type {config['dtype']}", "pass it dtype=object")
        raise _refused(codec_id, fault, word)


def _refused(codec_id: str, fault: Fault, dtype: str) -> BadCompressorError:
    keeps, instead = fault
    return BadCompressorError(
        f"codec {codec_id!r} preserves {keeps}, and would lose elements of data type "
        f"{dtype}, its input; {instead}"
    )


def _is_number(dtype: DType, kinds: str = "iufc") -> bool:
    # Types of ml_dtypes may be of these kinds, too.
    return dtype.kind in kinds and dtype.isbuiltin != 2


def _made_for(argument: str, given: DType, dtype: DType) -> Fault | None:
    """An error if the data type of a codec differs from that of its input."""
    if given == dtype:
        return None
    return f"elements of data type {given}", f"pass it {argument}={dtype.str!r}"


def _packbits(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.kind == "b":
        return None
    return "bool only", "create the array with dtype=bool, or leave it out"


def _delta(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    given = np.dtype(config["dtype"])
    width = dtype.itemsize if has_size else 1
    instead = "leave it out"
    if width in (1, 2, 4, 8):
        instead = f"pass it dtype={np.dtype(f'i{width}').str!r}, which preserves all bits"
    if not _is_number(given):
        return "differences of numbers", instead
    if given.kind in "fc":
        fault = _made_for("dtype", given, dtype)
        return (fault[0], instead) if fault and not _is_number(dtype, "fc") else fault
    if not has_size and given.itemsize != 1:
        return f"whole elements of {given.itemsize} bytes", instead
    return None


def _quantize(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not _is_number(dtype, "f"):
        return "floating-point numbers only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def _bitround(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if _is_number(dtype, "f") and dtype.itemsize <= 8:
        return None
    return "float16, float32 and float64 only", "leave it out"


def _fixedscaleoffset(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not has_size or not _is_number(dtype):
        return "numbers only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def _astype(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.isbuiltin == 2 or dtype.names is not None:
        return "data types that a type string of NumPy names", "leave it out"
    return _made_for("decode_dtype", np.dtype(config["decode_dtype"]), dtype)


def _categorize(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.kind != "U":
        return "text only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def _pcodec(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not _is_number(dtype, "iuf") or dtype.itemsize > 8:
        return "integers and floating-point numbers only", "use zstd"
    if dtype != dtype.newbyteorder("="):
        native = dtype.newbyteorder("=").str
        return "the native byte order only", f"create the array with dtype={native!r}"
    return None


def _zfpy(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if _is_number(dtype, "if") and dtype.itemsize in (4, 8) and dtype == dtype.newbyteorder("="):
        return None
    return "float32, float64, int32 and int64 only", "use zstd"


_DOMAINS: dict[str, Callable[[Config, DType, bool], Fault | None]] = {
    "astype": _astype,
    "bitround": _bitround,
    "categorize": _categorize,
    "delta": _delta,
    "fixedscaleoffset": _fixedscaleoffset,
    "packbits": _packbits,
    "pcodec": _pcodec,
    "quantize": _quantize,
    "zfpy": _zfpy,
}
