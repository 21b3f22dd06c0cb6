"""Options of codecs that only an encoder uses.

They say nothing about stored bytes. Therefore a value that no encoder accepts, from a newer version
or another library, never prevents reading an array. An opened array keeps its metadata, and writes
with the nearest valid value, or with the codec's default. If that would change elements (the digits
that a lossy codec keeps), writing is an error. In a new array, such values are an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from zarrix._errors import CodecError

__all__ = ["LOSSY", "DecodeOnly", "encodable", "takes"]

ENCODER_OPTIONS: dict[str, tuple[str, ...]] = {
    "bitround": ("keepbits",),
    "blosc": ("cname", "clevel", "shuffle", "typesize", "blocksize"),
    "bz2": ("level",),
    "gzip": ("level",),
    "lz4": ("acceleration",),
    "lzma": ("preset", "check"),
    "pcodec": (
        *("level", "mode_spec", "delta_spec", "paging_spec"),
        *("delta_encoding_order", "equal_pages_up_to"),
    ),
    "quantize": ("digits",),
    "zlib": ("level",),
    "zstd": ("level", "checksum"),
}
"""Keyed by the codec's name without ``numcodecs.``."""

LOSSY = {"bitround": {"keepbits": 1}, "quantize": {"digits": 1}}
"""Codecs whose options determine the stored elements, and values with which they can decode."""

_LIMITS: dict[str, tuple[int, int]] = {
    "blosc.clevel": (0, 9),
    "blosc.blocksize": (0, 2**31 - 1),
    "blosc.typesize": (1, 2**31 - 1),
    "bz2.level": (1, 9),
    "gzip.level": (0, 9),
    "lz4.acceleration": (1, 2**31 - 1),
    "pcodec.level": (0, 12),
    "pcodec.delta_encoding_order": (0, 7),
    "pcodec.equal_pages_up_to": (1, 2**24),
    "zlib.level": (0, 9),
    "zstd.level": (-131072, 22),
}

Config = Mapping[str, Any]


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
    """Replace every invalid encoder option in ``configuration``. A number becomes the nearest valid
    one, anything else the codec's default.

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
    codec_id = name.removeprefix("numcodecs.")
    options = [key for key in ENCODER_OPTIONS.get(codec_id, ()) if key in configuration]
    found = {key: value for key, value in configuration.items() if key not in options}
    if codec_id in LOSSY or not taken(found):
        return None
    for key in options:
        value = configuration[key]
        nearest = _nearest(f"{codec_id}.{key}", value)
        for choice in (value,) if nearest is None else (value, nearest):
            if taken({**found, key: choice}):
                found[key] = choice
                break
    # In the order of the document, if possible.
    return {key: found[key] for key in configuration if key in found}


def _nearest(option: str, value: Any) -> int | None:
    if option not in _LIMITS or isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if value != value:
        return None
    least, most = _LIMITS[option]
    if value == -1 and option in ("gzip.level", "zlib.level"):
        return 6  # what zlib means by it
    return round(min(max(value, least), most))


class DecodeOnly:
    """A lossy codec with options that no encoder accepts: it decodes, and raises an error on
    encoding.

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
