"""Bindings of the native codecs of numcodecs.

Each checks a configuration of numcodecs, translates it to the keys of the native codec, and returns
the output of the codec: the dtype, and the number of bytes if it is fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix._codecs.bound import Binding, Bound, Config, DType, integer, number, within


def _types(config: Config) -> tuple[DType, DType]:
    """``dtype``, and ``astype``, which is ``dtype`` if it is left out."""
    dtype = np.dtype(config["dtype"])
    return dtype, np.dtype(config.get("astype") or dtype)


def _resized(size: int | None, before: DType, after: DType) -> int | None:
    return None if size is None else size // max(before.itemsize, 1) * after.itemsize


# numcodecs: compressors and checksums.


def zstd(config: Config, dtype: DType, size: int | None) -> Bound:
    configuration = {
        "level": integer(config, "level", 0),
        "checksum": bool(config.get("checksum", False)),
    }
    return Bound(configuration)


def one_integer(key: str, default: int) -> Binding:
    """The binding of a codec whose only option is a whole number."""

    def bind(config: Config, dtype: DType, size: int | None) -> Bound:
        return Bound({key: integer(config, key, default)})

    return bind


def bz2(config: Config, dtype: DType, size: int | None) -> Bound:
    return Bound({"level": within(config, "level", 1, 1, 9)})


def lzma(config: Config, dtype: DType, size: int | None) -> Bound:
    # Numbers of Python's own module; a value that no version supports is invalid.
    configuration: dict[str, Any] = {
        "format": within(config, "format", 1, 1, 3),
        "check": within(config, "check", -1, -1, 15),
    }
    if config.get("preset") is not None:
        configuration["preset"] = within(config, "preset", None, 0, 2**32 - 1)
    filters = config.get("filters")
    if filters is not None:
        if not isinstance(filters, (list, tuple)) or not all(
            isinstance(one, Mapping) and isinstance(one.get("id"), int) for one in filters
        ):
            raise ValueError(f"has 'filters' = {filters!r}, not a list of objects with 'id'")
        configuration["filters"] = [dict(one) for one in filters]
    return Bound(configuration)


def pcodec(config: Config, dtype: DType, size: int | None) -> Bound:
    given = {key: value for key, value in config.items() if key != "id" and value is not None}
    if dtype.newbyteorder("=") != dtype:
        # The format has no byte order, and numcodecs returns that of the machine.
        return Bound(None)
    return Bound({**spelled_pcodec(given), "dtype": dtype.str})


def spelled_pcodec(config: Config) -> dict[str, Any]:
    """A configuration of pcodec in the names before numcodecs 0.17, which the engine uses."""
    given = dict(config)
    if given.get("delta_spec") == "no_op":
        given["delta_spec"] = "none"
    return given


def checksum(place: str | None) -> Binding:
    """The binding of a checksum of 4 bytes; None if its place cannot be chosen."""

    def bind(config: Config, dtype: DType, size: int | None) -> Bound:
        configuration = {}
        if place is not None:
            location = config.get("location") or place
            if location not in ("start", "end"):
                raise ValueError(f"has 'location' = {location!r}; allowed are 'start' and 'end'")
            configuration["location"] = location
        return Bound(configuration, encoded_bytes=None if size is None else size + 4)

    return bind


def jenkins(config: Config, dtype: DType, size: int | None) -> Bound:
    configuration: dict[str, Any] = {"initval": within(config, "initval", 0, 0, 2**32 - 1)}
    prefix = config.get("prefix")
    if prefix is not None:
        configuration["prefix"] = np.asarray(prefix).tolist()
        valid = isinstance(configuration["prefix"], list)
        if not valid or any(
            type(n) is not int or not 0 <= n < 256 for n in configuration["prefix"]
        ):
            raise ValueError(f"has 'prefix' = {prefix!r}, not a list of bytes")
    encoded = None if size is None else size + 4
    return Bound(configuration, encoded_bytes=encoded)


def base64(config: Config, dtype: DType, size: int | None) -> Bound:
    encoded = None if size is None else -(-size // 3) * 4
    return Bound({}, encoded_bytes=encoded)


# Filters.


def shuffle(config: Config, dtype: DType, size: int | None) -> Bound:
    width = within(config, "elementsize", 4, 0, 2**31 - 1)
    return Bound({"elementsize": width}, encoded_bytes=size)


def packbits(config: Config, dtype: DType, size: int | None) -> Bound:
    encoded = None if size is None else 1 + (size + 7) // 8
    return Bound({}, encoded_bytes=encoded)


def delta(config: Config, dtype: DType, size: int | None) -> Bound:
    before, after = _types(config)
    configuration = {"dtype": before.str, "astype": after.str}
    return Bound(configuration, after, _resized(size, before, after))


def astype(config: Config, dtype: DType, size: int | None) -> Bound:
    before, after = np.dtype(config["decode_dtype"]), np.dtype(config["encode_dtype"])
    configuration = {"encode_dtype": after.str, "decode_dtype": before.str}
    return Bound(configuration, after, _resized(size, before, after))


def quantize(config: Config, dtype: DType, size: int | None) -> Bound:
    before, after = _types(config)
    configuration = {
        "digits": integer(config, "digits"),
        "dtype": before.str,
        "astype": after.str,
    }
    return Bound(configuration, after, _resized(size, before, after))


def fixedscaleoffset(config: Config, dtype: DType, size: int | None) -> Bound:
    before, after = _types(config)
    offset, scale = number(config, "offset"), number(config, "scale")
    configuration = None
    if offset is not None and scale is not None:
        types = {"dtype": before.str, "astype": after.str}
        configuration = {"offset": offset, "scale": scale, **types}
    return Bound(configuration, after, _resized(size, before, after))


def bitround(config: Config, dtype: DType, size: int | None) -> Bound:
    configuration = {"keepbits": within(config, "keepbits", None, 0, 52), "dtype": dtype.str}
    return Bound(configuration, dtype, size)


def categorize(config: Config, dtype: DType, size: int | None) -> Bound:
    before, after = np.dtype(config["dtype"]), np.dtype(config.get("astype") or "u1")
    labels = config["labels"]
    if not isinstance(labels, (list, tuple)) or not all(isinstance(one, str) for one in labels):
        raise ValueError(f"has 'labels' = {labels!r}, not a list of strings")
    configuration = {"labels": list(labels), "dtype": before.str, "astype": after.str}
    return Bound(configuration, after, _resized(size, before, after))
