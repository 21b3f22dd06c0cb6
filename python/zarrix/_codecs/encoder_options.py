"""Options of codecs that only an encoder uses.

They say nothing about stored bytes, so that a value there which no encoder takes, of a newer
version or of another library, is never a reason not to read an array. What is opened keeps its
metadata as they are, and writes with the nearest value that an encoder takes, or with the codec's
default; where that would change elements (the digits that a lossy codec keeps), writing is refused.
New arrays are refused such values.
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
"""By the codec's name without ``numcodecs.``."""

LOSSY = {"bitround": {"keepbits": 1}, "quantize": {"digits": 1}}
"""Codecs whose options decide which elements are stored, and values with which they decode."""

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
    """``configuration`` with every option of the encoder that is not taken replaced.

    A number becomes the nearest that an encoder takes, anything else the codec's default.

    Parameters
    ----------
    name : str
        Of the codec, in either format.
    configuration : Mapping
    taken : callable
        Whether a configuration is one that an encoder takes.

    Returns
    -------
    dict or None
        None if another value is at fault, or one on which the stored elements depend.
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
    # In the order of the document, as far as that goes.
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
    """A lossy codec whose options no encoder takes: it decodes, and refuses to encode.

    Parameters
    ----------
    codec_id : str
    decode : callable
        From encoded to decoded bytes.
    reason : str
        What is wrong with its options.
    """

    def __init__(self, codec_id: str, decode: Callable[[Any], Any], reason: str) -> None:
        self.codec_id = codec_id
        self.decode = decode
        self._reason = reason

    def encode(self, value: Any) -> Any:
        """Raise `CodecError`: no elements would be those that its options mean."""
        raise CodecError(f"{self._reason}; the array can be read, and not written")
