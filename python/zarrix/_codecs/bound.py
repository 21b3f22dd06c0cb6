"""A codec bound to its input, and the checks that bindings share.

A binding takes a codec's configuration, and the dtype and the number of bytes of its input. It
returns a `Bound`, or raises ``KeyError``, ``TypeError`` or ``ValueError``; their messages continue
"the configuration ..., which" or "..., and".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zarrix._codecs.encoder_options import DecodeOnly

__all__ = ["UINT8", "Binding", "Bound", "Config", "DType", "integer", "number", "within"]

Config = Mapping[str, Any]
DType = np.dtype[Any]

UINT8: DType = np.dtype("u1")
"""The dtype of encoded bytes."""


@dataclass(slots=True)
class Bound:
    """One codec bound to its input: its native form, and its output.

    Attributes
    ----------
    configuration : dict or None
        The configuration for the engine; None if the codec is not native.
    dtype : dtype
        Of the output.
    encoded_bytes : int or None
        Length of the output; None if it depends on the data.
    name : str
        The engine's name of the codec.
    codec : DecodeOnly, optional
        An object that is called instead of the codec.
    """

    configuration: dict[str, Any] | None
    dtype: DType = UINT8
    encoded_bytes: int | None = None
    name: str = ""
    codec: DecodeOnly | None = None


Binding = Callable[[Config, DType, "int | None"], Bound]


def integer(config: Config, key: str, default: int | None = None) -> int:
    """The whole number under ``key``."""
    value = config[key] if default is None else config.get(key, default)
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"has {key!r} = {value!r}, not a whole number")
    return int(value)


def within(config: Config, key: str, default: int | None, least: int, most: int) -> int:
    """The whole number under ``key``, if it is in a range."""
    value = integer(config, key, default)
    if not least <= value <= most:
        raise ValueError(f"has {key!r} = {value}; allowed are {least} to {most}")
    return value


def number(config: Config, key: str) -> int | float | None:
    """An integer or a float, as in JSON; None for other values, which numcodecs may accept."""
    value = config[key]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, str)) or value is None or isinstance(value, (Mapping, list)):
        raise ValueError(f"has {key!r} = {value!r}, not a number")
    plain = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else None
