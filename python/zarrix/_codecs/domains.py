"""Which elements the codecs of numcodecs preserve.

Each function returns what a codec preserves and what to do instead, or None if it preserves its
input. A typed filter interprets its input as elements of its own type: packbits makes a 2 a 1, and
booleans have no differences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zarrix._codecs.bound import Config, DType

Fault = tuple[str, str]
"""The elements that a codec preserves, and what to do instead."""

Domain = Callable[[Config, DType, bool], Fault | None]
"""Takes a configuration, the dtype of the input, and whether its elements are fixed-size."""


def _is_number(dtype: DType, kinds: str = "iufc") -> bool:
    # Types of ml_dtypes may be of these kinds, too.
    return dtype.kind in kinds and dtype.isbuiltin != 2


def _made_for(argument: str, given: DType, dtype: DType) -> Fault | None:
    """An error if the data type of a codec differs from that of its input."""
    if given == dtype:
        return None
    return f"elements of data type {given}", f"pass it {argument}={dtype.str!r}"


def packbits(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.kind == "b":
        return None
    return "bool only", "create the array with dtype=bool, or leave it out"


def delta(config: Config, dtype: DType, has_size: bool) -> Fault | None:
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


def quantize(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not _is_number(dtype, "f"):
        return "floating-point numbers only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def bitround(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if _is_number(dtype, "f") and dtype.itemsize <= 8:
        return None
    return "float16, float32 and float64 only", "leave it out"


def fixedscaleoffset(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not has_size or not _is_number(dtype):
        return "numbers only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def astype(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.isbuiltin == 2 or dtype.names is not None:
        return "data types that a type string of NumPy names", "leave it out"
    return _made_for("decode_dtype", np.dtype(config["decode_dtype"]), dtype)


def categorize(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if dtype.kind != "U":
        return "text only", "leave it out"
    return _made_for("dtype", np.dtype(config["dtype"]), dtype)


def pcodec(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if not _is_number(dtype, "iuf") or dtype.itemsize > 8:
        return "integers and floating-point numbers only", "use zstd"
    if dtype != dtype.newbyteorder("="):
        native = dtype.newbyteorder("=").str
        return "the native byte order only", f"create the array with dtype={native!r}"
    return None


def zfpy(config: Config, dtype: DType, has_size: bool) -> Fault | None:
    if _is_number(dtype, "if") and dtype.itemsize in (4, 8) and dtype == dtype.newbyteorder("="):
        return None
    return "float32, float64, int32 and int64 only", "use zstd"
