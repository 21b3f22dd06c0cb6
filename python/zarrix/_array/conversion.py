"""What `read_many(convert=)` accepts, as the engine takes it."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._runtime.signatures import check_keywords

__all__ = ["NativeConversion", "conversion_of"]

NativeConversion = tuple[str, str, list[float], list[float], int, float, float, float]

_TARGETS = {
    "float16": "f2",
    "bfloat16": "bfloat16",
    "float32": "f4",
    "float64": "f8",
    "uint8": "u1",
    "int8": "i1",
    "uint16": "u2",
    "int16": "i2",
    "uint32": "u4",
    "int32": "i4",
    "uint64": "u8",
    "int64": "i8",
}
_WORDS = ("dtype", "scale", "offset", "axis", "clip", "nan")


def conversion_of(
    given: Any, stored: np.dtype[Any], size: tuple[int, ...], out: Any
) -> tuple[np.dtype[Any], NativeConversion]:
    """The dtype of the results, and the conversion of windows of ``size`` to it.

    Parameters
    ----------
    given : dtype or dict
        The dtype, or what else is computed as well.
    stored : dtype
        The dtype of the array.
    size : tuple of int
        Shape of a window.
    out : object
        The buffer of the user; bfloat16 may be in integers of two bytes.

    Raises
    ------
    TypeError
        The dtypes are not converted, or a keyword is not known.
    ValueError
        Scale, offset, axis, clip or nan is not as it should be.

    Examples
    --------
    >>> conversion_of({"dtype": "float32", "scale": 0.5}, np.dtype("u1"), (4, 4), None)
    (dtype('float32'), ('|u1', 'f4', [0.5], [-0.0], 0, -inf, inf, nan))
    """
    options = dict(given) if isinstance(given, Mapping) else {"dtype": given}
    check_keywords(options, _WORDS, "convert")
    if "dtype" not in options:
        raise TypeError("convert= needs dtype, such as {'dtype': 'float32', 'scale': 1 / 255}")
    name = _name(options["dtype"])
    if name not in _TARGETS:
        raise TypeError(f"convert= to {name}; allowed are {', '.join(_TARGETS)}")
    axis, scales, offsets = _factors(options, size)
    low, high = _bounds(options.get("clip"))
    nan = options.get("nan")
    substitute = float("nan") if nan is None else _number("nan", nan)
    if np.isnan(substitute) and stored.kind not in "biu" and _TARGETS[name][0] in "iu":
        raise TypeError(f"convert= of {stored} to {name} needs a number for NaN: nan=")
    native = (_source(stored), _TARGETS[name], scales, offsets, axis, low, high, substitute)
    return _dtype(name, out), native


def _name(dtype: Any) -> str:
    """The name of a dtype of NumPy, ml_dtypes or torch, of which only NumPy is needed."""
    text = str(dtype).removeprefix("torch.")
    return text if text == "bfloat16" else np.dtype(text if text in _TARGETS else dtype).name


def _dtype(name: str, out: Any) -> np.dtype[Any]:
    if name != "bfloat16":
        return np.dtype(name)
    integers: list[np.dtype[Any]] = [np.dtype("u2"), np.dtype("i2")]
    for plain in integers:
        if getattr(out, "dtype", None) == plain:
            return plain
    try:
        # Optional: ml_dtypes has the dtype, which NumPy lacks.
        from ml_dtypes import bfloat16
    except ImportError:
        raise TypeError(
            "NumPy has no bfloat16: install ml_dtypes, or give an out of uint16 or int16"
        ) from None
    found: np.dtype[Any] = np.dtype(bfloat16)
    return found


def _source(stored: np.dtype[Any]) -> str:
    if stored.name == "bfloat16":
        return "bfloat16"
    if stored.kind in "biuf" and stored.itemsize <= 8:
        return stored.str
    raise TypeError(
        f"convert= is for booleans, integers and floats of at most 8 bytes, not {stored}"
    )


def _factors(
    options: dict[str, Any], size: tuple[int, ...]
) -> tuple[int, list[float], list[float]]:
    """The axis, and a scale and an offset, or one of each for each index along it."""
    # -0.0 changes nothing, while 0.0 changes -0.0.
    named = (("scale", 1.0), ("offset", -0.0))
    values = [options.get(name) for name, _ in named]
    factors = [
        np.asarray(default if value is None else value)
        for value, (_, default) in zip(values, named, strict=True)
    ]
    for (name, _), factor in zip(named, factors, strict=True):
        if factor.dtype.kind not in "biuf" or factor.ndim > 1:
            raise ValueError(f"{name}={options[name]!r}; a number or a list of numbers is needed")
    if all(factor.ndim == 0 for factor in factors):
        return 0, [float(factors[0])], [float(factors[1])]
    axis = options.get("axis")
    if axis is None:
        raise ValueError("scale= or offset= is a list: axis= says along which axis of a window")
    index = operator.index(axis)
    if not -len(size) <= index < len(size):
        raise ValueError(f"axis={index} of windows of {len(size)} axes")
    index %= len(size)
    wrong = [factor.size for factor in factors if factor.ndim and factor.size != size[index]]
    if wrong:
        raise ValueError(
            f"{wrong[0]} scales or offsets for windows of {size[index]} indices along axis {index}"
        )
    # A window without an index along the axis has no element to convert.
    length = max(1, size[index])
    scales, offsets = (
        np.resize(factor.astype(float), length) if factor.size else np.ones(1) for factor in factors
    )
    return index, scales.tolist(), offsets.tolist()


def _bounds(clip: Any) -> tuple[float, float]:
    if clip is None:
        return float("-inf"), float("inf")
    try:
        low, high = clip
    except (TypeError, ValueError):
        raise ValueError(f"clip={clip!r}; (low, high) is needed, each a number or None") from None
    bounds = (
        float("-inf") if low is None else _number("clip", low),
        float("inf") if high is None else _number("clip", high),
    )
    if not bounds[0] <= bounds[1]:
        raise ValueError(f"clip={clip!r}; low must not be above high")
    return bounds


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}={value!r}; a number is needed") from None
