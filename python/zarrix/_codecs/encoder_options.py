"""Options of codecs that only an encoder uses.

They say nothing about stored bytes. Therefore a value that no encoder accepts, from a newer version
or another library, never prevents reading an array. An opened array keeps its metadata, and writes
with the nearest valid value, or with the codec's default. If that would change elements (the digits
that a lossy codec keeps), writing is an error. In a new array, such values are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zarrix._codecs.table import BY_ID, REGISTERED, CodecRow
from zarrix._errors import CodecError

__all__ = ["DecodeOnly", "decodes_with", "encodable", "takes"]

Config = Mapping[str, Any]


def _row_of(name: str) -> CodecRow | None:
    codec_id = name.removeprefix("numcodecs.")
    return BY_ID.get(codec_id) or REGISTERED.get(codec_id)


def decodes_with(name: str) -> Config | None:
    """Options with which a lossy codec can decode; None for other codecs.

    Options of a lossy codec determine the stored elements.
    """
    row = _row_of(name)
    return None if row is None else row.decodes_with


def takes(accepts: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Any]], bool]:
    """Whether a function raises ``ValueError`` or ``TypeError`` for a configuration."""

    def taken(configuration: dict[str, Any]) -> bool:
        try:
            accepts(configuration)
        except (TypeError, ValueError, OverflowError):
            return False
        return True

    return taken


def encodable(
    name: str, configuration: Config, taken: Callable[[dict[str, Any]], bool]
) -> dict[str, Any] | None:
    """Replace invalid encoder options by the nearest valid number or the codec's default.

    Parameters
    ----------
    name : str
        Name of the codec, in either format.
    configuration : Mapping
    taken : callable
        Whether an encoder accepts a configuration.

    Returns
    -------
    dict or None
        None if another value is invalid, or one that determines the stored elements.
    """
    row = _row_of(name)
    options = [key for key in (row.options if row else ()) if key in configuration]
    found = {key: value for key, value in configuration.items() if key not in options}
    if not taken(found) or (row is not None and row.decodes_with):
        return None
    for key in options:
        assert row is not None
        value = configuration[key]
        nearest = _nearest(row, key, value)
        for choice in (value,) if nearest is None else (value, nearest):
            if taken({**found, key: choice}):
                found[key] = choice
                break
    # In the order of the document, if possible.
    return {key: found[key] for key in configuration if key in found}


def _nearest(row: CodecRow, key: str, value: Any) -> int | None:
    limits = row.options[key]
    if limits is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if value != value:
        return None
    if value == -1 and key == "level" and row.level_minus_one is not None:
        return row.level_minus_one
    least, most = limits
    return round(min(max(value, least), most))


class DecodeOnly:
    """A lossy codec with invalid options: it decodes, and raises an error on encoding.

    Parameters
    ----------
    codec_id : str
    decode : callable
        Decodes encoded bytes.
    reason : str
        What is wrong with its options.
    """

    def __init__(self, codec_id: str, decode: Callable[[Any], Any], reason: str) -> None:
        self.codec_id = codec_id
        self.decode = decode
        self._reason = reason

    def encode(self, value: Any) -> Any:
        """Raise `CodecError`, because the options do not define the elements to store."""
        raise CodecError(f"{self._reason}; the array can be read, but not written")
