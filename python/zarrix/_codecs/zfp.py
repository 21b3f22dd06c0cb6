"""The registered codec ``zfp``: chunks compressed by the zfp library, through the package zfpy.

Its streams have no header, unlike those of ``numcodecs.zfpy``; the metadata document has all
parameters. The codec is called in Python, because no crate builds the C library without further
tools.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from zarrix._errors import UnknownCodecError

__all__ = ["Zfp"]

_MODES: dict[str, tuple[str, Callable[[Any], bool]] | None] = {
    # The parameter that a mode has, and whether a value can be one.
    "reversible": None,
    "fixed_accuracy": ("tolerance", lambda value: value >= 0),
    "fixed_rate": ("rate", lambda value: value > 0),
    "fixed_precision": ("precision", lambda value: isinstance(value, int) and value > 0),
}
_TYPES = {"i4": "type_int32", "i8": "type_int64", "f4": "type_float", "f8": "type_double"}


class Zfp:
    """A ``zfp`` codec bound to chunks of a dtype and shape.

    Raises
    ------
    ValueError
        zfp does not support the configuration, the dtype or the number of axes; the message
        continues after "and".
    UnknownCodecError
        zfpy is not installed.
    """

    codec_id = "zfp"

    def __init__(
        self,
        configuration: Mapping[str, Any],
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        label: str,
    ) -> None:
        self._options = _options(configuration)
        code = dtype.str[1:]
        if code not in _TYPES or dtype.isbuiltin != 1:
            raise ValueError(f"is for int32, int64, float32 and float64, not for {dtype}")
        if len(shape) > 4:
            raise ValueError(f"has 4 axes at most, not {len(shape)}; put 'reshape' before it")
        try:
            zfpy = import_module("zfpy")
        except ImportError:
            raise UnknownCodecError(
                f"{label}: codec 'zfp' needs the package zfpy; get it with: "
                "pip install 'zarrix[zfp]'"
            ) from None
        self._zfpy = zfpy
        self._type = getattr(zfpy, _TYPES[code])
        self._shape = shape or (1,)
        self._most_bytes = _most_bytes(self._shape)

    def encode(self, value: Any) -> Any:
        """The compressed elements of an array."""
        array = np.ascontiguousarray(value).reshape(self._shape)
        return self._zfpy.compress_numpy(array, write_header=False, **self._options)

    def decode(self, value: Any) -> Any:
        """The array that was compressed, within the error bound of the mode."""
        stored = bytes(value)
        if not 0 < len(stored) <= self._most_bytes:
            raise ValueError(f"{len(stored)} bytes stored, expected 1 to {self._most_bytes}")
        # The library does not check the length of a stream, and would read beyond a truncated one.
        stored = stored.ljust(self._most_bytes, b"\0")
        return self._zfpy._decompress(stored, self._type, self._shape, **self._options)


def _most_bytes(shape: tuple[int, ...]) -> int:
    """The maximum number of bytes that the library reads for such a chunk, even from a damaged
    stream. A block has 4 elements along each axis, with at most 64 bits each, which cost 2 bits
    each. Two words are for its exponent and for the word that the library reads ahead.
    """
    blocks = math.prod(-(-length // 4) for length in shape)
    return blocks * ((16 << 2 * len(shape)) + 16) + 64


def _options(configuration: Mapping[str, Any]) -> dict[str, Any]:
    mode = configuration.get("mode")
    if mode == "expert":
        raise ValueError("has the mode 'expert', which zfpy does not have")
    if mode not in _MODES:
        raise ValueError(f"has the mode {mode!r}; allowed are {', '.join(map(repr, _MODES))}")
    parameter = _MODES[mode]
    unknown = set(configuration) - {"mode", parameter and parameter[0]}
    if unknown:
        raise ValueError(f"has {sorted(unknown)[0]!r}, which the mode {mode!r} does not have")
    if parameter is None:
        return {}
    key, fits = parameter
    value = configuration.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
        raise ValueError(f"has {key!r} = {value!r}, which is not valid in the mode {mode!r}")
    return {key: value}
