"""Codecs of numcodecs bound to their input: native, or called in Python.

A row of `_LINKS` checks a configuration, translates it to the keys of the native codec, and returns
the output of the codec: the dtype, and the number of bytes if it is fixed. Then the engine says
whether it accepts the configuration. Configurations that it does not accept (casts to text,
arithmetic with complex numbers) are left to numcodecs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._codecs.encoder_options import LOSSY, DecodeOnly, encodable, takes
from zarrix._codecs.objects import OBJECT_CODECS
from zarrix._errors import MetadataError

__all__ = ["BYTES", "NATIVE", "Link", "link_codec", "spelled_pcodec"]

Config = Mapping[str, Any]
DType = np.dtype[Any]

BYTES: DType = np.dtype("u1")
_BLOSC_NAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy")
_BLOSC_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")


@dataclass(slots=True)
class Link:
    """One codec bound to its input: its native form, and its output.

    ``configuration`` is None if the codec is not native; ``encoded_bytes`` is None if the length
    depends on the data.
    """

    name: str
    configuration: dict[str, Any] | None
    dtype: DType = BYTES
    encoded_bytes: int | None = None
    codec: DecodeOnly | None = None


def link_codec(
    config: dict[str, Any], dtype: DType, size: int | None, where: str, *, new: bool = False
) -> Link:
    """A codec of numcodecs bound to elements of ``dtype`` and a chunk of ``size`` bytes.

    Parameters
    ----------
    config : dict
        With the codec's ``"id"``.
    dtype, size
        Of its input; a size of None depends on the data.
    where : str
        Position in the document, for messages.
    new : bool
        Whether options that only an encoder uses are checked, too.

    Raises
    ------
    MetadataError
        The configuration is invalid, or the codec is for objects.
    """

    def link(given: dict[str, Any]) -> Link:
        return _linked(given, dtype, size, where)

    if new:
        return link(config)
    codec_id = config["id"]
    try:
        found = link(config)
    except MetadataError as error:
        given = encodable(codec_id, config, takes(link))
        if given is not None:
            return link(given)
        if codec_id not in LOSSY:
            raise
        return _decoding(link({**config, **LOSSY[codec_id]}), config, dtype, str(error))
    if codec_id == "pcodec" and found.configuration is None:
        # The options do not change the format: the engine can decode chunks that it could not
        # encode.
        given = encodable(codec_id, config, lambda one: link(one).configuration is not None)
        return found if given is None else link(given)
    return found


def _decoding(link: Link, config: Config, dtype: DType, reason: str) -> Link:
    """A lossy codec without the options that its encoder needs."""
    stored = link.dtype

    def decode(encoded: Any) -> Any:
        return np.frombuffer(encoded, stored).astype(dtype, copy=False)

    link.configuration = None
    link.codec = DecodeOnly(config["id"], decode, reason)
    return link


def _linked(config: dict[str, Any], dtype: DType, size: int | None, where: str) -> Link:
    codec_id = config["id"]
    if codec_id in OBJECT_CODECS and codec_id != "categorize":
        raise MetadataError(
            f"{where}: codec {codec_id!r} is for variable-length elements; it is allowed only "
            "as the first filter of an array with dtype object"
        )
    try:
        link = _LINKS.get(codec_id, _foreign)(config, dtype, size)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(
            f"{where}: codec {codec_id!r} has the configuration {config!r}, which {reason}"
        ) from None
    if link.configuration is None:
        return link
    fault = _engine.codec_fault(link.name, json.dumps(link.configuration), dtype.itemsize)
    if fault is not None and codec_id in _LEFT_TO_NUMCODECS:
        link.configuration = None
    elif fault is not None:
        raise MetadataError(f"{where}: {fault}")
    return link


def _foreign(config: Config, dtype: DType, size: int | None) -> Link:
    return Link(config["id"], None)


# Values of a configuration.


def _integer(config: Config, key: str, default: int | None = None) -> int:
    value = config[key] if default is None else config.get(key, default)
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"has {key!r} = {value!r}, not a whole number")
    return int(value)


def _within(config: Config, key: str, default: int | None, least: int, most: int) -> int:
    value = _integer(config, key, default)
    if not least <= value <= most:
        raise ValueError(f"has {key!r} = {value}; allowed are {least} to {most}")
    return value


def _number(config: Config, key: str) -> int | float | None:
    """An integer or a float, as in JSON; None for other values, which numcodecs may accept."""
    value = config[key]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (bool, str)) or value is None or isinstance(value, (Mapping, list)):
        raise ValueError(f"has {key!r} = {value!r}, not a number")
    plain = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value if plain else None


def _types(config: Config) -> tuple[DType, DType]:
    """``dtype``, and ``astype``, which is ``dtype`` if it is left out."""
    dtype = np.dtype(config["dtype"])
    return dtype, np.dtype(config.get("astype") or dtype)


def _resized(size: int | None, before: DType, after: DType) -> int | None:
    return None if size is None else size // max(before.itemsize, 1) * after.itemsize


# Compressors and checksums.


def _blosc(config: Config, dtype: DType, size: int | None) -> Link:
    name = config.get("cname", "lz4")
    if name not in _BLOSC_NAMES:
        raise ValueError(f"has 'cname' = {name!r}; allowed are {', '.join(_BLOSC_NAMES)}")
    shuffle = _integer(config, "shuffle", 1)
    if shuffle == -1:
        shuffle = 2 if dtype.itemsize == 1 else 1
    if not 0 <= shuffle <= 2:
        raise ValueError(f"has 'shuffle' = {shuffle}; allowed are -1, 0, 1 and 2")
    configuration = {
        "cname": name,
        "clevel": _within(config, "clevel", 5, 0, 9),
        "shuffle": _BLOSC_SHUFFLES[shuffle],
        "typesize": dtype.itemsize,
        "blocksize": _within(config, "blocksize", 0, 0, 2**31 - 1),
    }
    return Link("blosc", configuration)


def _zstd(config: Config, dtype: DType, size: int | None) -> Link:
    configuration = {
        "level": _integer(config, "level", 0),
        "checksum": bool(config.get("checksum", False)),
    }
    return Link("zstd", configuration)


def _with_integer(name: str, key: str, default: int) -> Callable[[Config, DType, int | None], Link]:
    def link(config: Config, dtype: DType, size: int | None) -> Link:
        return Link(name, {key: _integer(config, key, default)})

    return link


def _bz2(config: Config, dtype: DType, size: int | None) -> Link:
    return Link("numcodecs.bz2", {"level": _within(config, "level", 1, 1, 9)})


def _lzma(config: Config, dtype: DType, size: int | None) -> Link:
    # Numbers of Python's own module; a value that no version supports is invalid.
    configuration: dict[str, Any] = {
        "format": _within(config, "format", 1, 1, 3),
        "check": _within(config, "check", -1, -1, 15),
    }
    if config.get("preset") is not None:
        configuration["preset"] = _within(config, "preset", None, 0, 2**32 - 1)
    filters = config.get("filters")
    if filters is not None:
        if not isinstance(filters, (list, tuple)) or not all(
            isinstance(one, Mapping) and isinstance(one.get("id"), int) for one in filters
        ):
            raise ValueError(f"has 'filters' = {filters!r}, not a list of objects with 'id'")
        configuration["filters"] = [dict(one) for one in filters]
    return Link("numcodecs.lzma", configuration)


def _pcodec(config: Config, dtype: DType, size: int | None) -> Link:
    given = {key: value for key, value in config.items() if key != "id" and value is not None}
    if dtype.newbyteorder("=") != dtype:
        # The format has no byte order, and numcodecs returns that of the machine.
        return Link("numcodecs.pcodec", None)
    return Link("numcodecs.pcodec", {**spelled_pcodec(given), "dtype": dtype.str})


def spelled_pcodec(config: Config) -> dict[str, Any]:
    """A configuration of pcodec in the names before numcodecs 0.17, which the engine uses."""
    given = dict(config)
    if given.get("delta_spec") == "no_op":
        given["delta_spec"] = "none"
    return given


def _checksum(name: str, place: str | None) -> Callable[[Config, DType, int | None], Link]:
    def link(config: Config, dtype: DType, size: int | None) -> Link:
        configuration = {}
        if place is not None:
            location = config.get("location") or place
            if location not in ("start", "end"):
                raise ValueError(f"has 'location' = {location!r}; allowed are 'start' and 'end'")
            configuration["location"] = location
        return Link(name, configuration, encoded_bytes=None if size is None else size + 4)

    return link


def _jenkins(config: Config, dtype: DType, size: int | None) -> Link:
    configuration: dict[str, Any] = {"initval": _within(config, "initval", 0, 0, 2**32 - 1)}
    prefix = config.get("prefix")
    if prefix is not None:
        configuration["prefix"] = np.asarray(prefix).tolist()
        valid = isinstance(configuration["prefix"], list)
        if not valid or any(
            type(n) is not int or not 0 <= n < 256 for n in configuration["prefix"]
        ):
            raise ValueError(f"has 'prefix' = {prefix!r}, not a list of bytes")
    encoded = None if size is None else size + 4
    return Link("numcodecs.jenkins_lookup3", configuration, encoded_bytes=encoded)


def _base64(config: Config, dtype: DType, size: int | None) -> Link:
    encoded = None if size is None else -(-size // 3) * 4
    return Link("numcodecs.base64", {}, encoded_bytes=encoded)


# Filters.


def _shuffle(config: Config, dtype: DType, size: int | None) -> Link:
    width = _within(config, "elementsize", 4, 0, 2**31 - 1)
    return Link("numcodecs.shuffle", {"elementsize": width}, encoded_bytes=size)


def _packbits(config: Config, dtype: DType, size: int | None) -> Link:
    encoded = None if size is None else 1 + (size + 7) // 8
    return Link("numcodecs.packbits", {}, encoded_bytes=encoded)


def _delta(config: Config, dtype: DType, size: int | None) -> Link:
    before, after = _types(config)
    configuration = {"dtype": before.str, "astype": after.str}
    return Link("numcodecs.delta", configuration, after, _resized(size, before, after))


def _astype(config: Config, dtype: DType, size: int | None) -> Link:
    before, after = np.dtype(config["decode_dtype"]), np.dtype(config["encode_dtype"])
    configuration = {"encode_dtype": after.str, "decode_dtype": before.str}
    return Link("numcodecs.astype", configuration, after, _resized(size, before, after))


def _quantize(config: Config, dtype: DType, size: int | None) -> Link:
    before, after = _types(config)
    configuration = {
        "digits": _integer(config, "digits"),
        "dtype": before.str,
        "astype": after.str,
    }
    return Link("numcodecs.quantize", configuration, after, _resized(size, before, after))


def _fixedscaleoffset(config: Config, dtype: DType, size: int | None) -> Link:
    before, after = _types(config)
    offset, scale = _number(config, "offset"), _number(config, "scale")
    configuration = None
    if offset is not None and scale is not None:
        types = {"dtype": before.str, "astype": after.str}
        configuration = {"offset": offset, "scale": scale, **types}
    return Link("numcodecs.fixedscaleoffset", configuration, after, _resized(size, before, after))


def _bitround(config: Config, dtype: DType, size: int | None) -> Link:
    configuration = {"keepbits": _within(config, "keepbits", None, 0, 52), "dtype": dtype.str}
    return Link("numcodecs.bitround", configuration, dtype, size)


def _categorize(config: Config, dtype: DType, size: int | None) -> Link:
    before, after = np.dtype(config["dtype"]), np.dtype(config.get("astype") or "u1")
    labels = config["labels"]
    if not isinstance(labels, (list, tuple)) or not all(isinstance(one, str) for one in labels):
        raise ValueError(f"has 'labels' = {labels!r}, not a list of strings")
    configuration = {"labels": list(labels), "dtype": before.str, "astype": after.str}
    return Link("numcodecs.categorize", configuration, after, _resized(size, before, after))


_LINKS: dict[str, Callable[[Config, DType, int | None], Link]] = {
    "blosc": _blosc,
    "zstd": _zstd,
    "gzip": _with_integer("gzip", "level", 1),
    "zlib": _with_integer("numcodecs.zlib", "level", 1),
    "lz4": _with_integer("numcodecs.lz4", "acceleration", 1),
    "bz2": _bz2,
    "lzma": _lzma,
    "pcodec": _pcodec,
    "shuffle": _shuffle,
    "delta": _delta,
    "astype": _astype,
    "quantize": _quantize,
    "fixedscaleoffset": _fixedscaleoffset,
    "bitround": _bitround,
    "categorize": _categorize,
    "packbits": _packbits,
    "base64": _base64,
    "crc32": _checksum("numcodecs.crc32", "start"),
    "crc32c": _checksum("numcodecs.crc32c", "end"),
    "adler32": _checksum("numcodecs.adler32", "start"),
    "fletcher32": _checksum("numcodecs.fletcher32", None),
    "jenkins_lookup3": _jenkins,
}

NATIVE = frozenset(_LINKS)
"""Ids of native codecs."""

_LEFT_TO_NUMCODECS = frozenset(
    ("astype", "bitround", "categorize", "delta", "fixedscaleoffset", "quantize", "pcodec")
)
"""Codecs with configurations that numcodecs accepts and the engine does not.

All filters of Python's lzma module are native; those that the engine rejects, it rejects, too.
"""
