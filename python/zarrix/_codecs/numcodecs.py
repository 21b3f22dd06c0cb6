"""Codecs of numcodecs: what users pass as filters and compressors of v2, and what arrays show.

The import of numcodecs takes longer than that of NumPy. It is imported when a user passes or asks
for a codec object, and when a chain has a codec that is not native; reading a Blosc array does not
import it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from zarrix._codecs.bound import UINT8
from zarrix._codecs.encodable import encodable_config
from zarrix._codecs.images import spelled
from zarrix._codecs.table import BY_ID, CODECS
from zarrix._errors import BadCompressorError, UnknownCodecError, suggestion
from zarrix._runtime.dialect import DIALECT

__all__ = [
    "DEFAULT_COMPRESSOR",
    "NativeCodec",
    "codec_config",
    "codec_object",
    "compression_config",
    "normalize_compressor",
    "normalize_filters",
    "shown_codec",
]

Config = Mapping[str, Any]

DEFAULT_COMPRESSOR: dict[str, Any] = {
    "id": "blosc",
    "cname": "lz4",
    "clevel": 5,
    "shuffle": 1,
    "blocksize": 0,
}
"""The meaning of ``compressor="default"``: Blosc with lz4 at level 5 and byte shuffle."""

_DEFAULT_OF_ZARR3: dict[str, Any] = {"id": "zstd", "level": 0}

_PACKAGES = {
    **{row.codec_id: row.package for row in CODECS if row.package},
    "imagecodecs": "imagecodecs, then imagecodecs.numcodecs.register_codecs()",
    "msgpack": "numcodecs[msgpack]",
    "flac": "flac-numcodecs",
    "wavpack": "wavpack-numcodecs",
    "FITS": "kerchunk",
    "grib": "kerchunk",
    "record_member": "kerchunk",
    "fill_hdf_strings": "kerchunk",
    "any-numcodecs": "zarr-any-numcodecs",
    "jpegxl": "imagecodecs, then imagecodecs.numcodecs.register_codecs()",
    "jpeg": "imagecodecs, then imagecodecs.numcodecs.register_codecs()",
}


# What users pass.


def codec_config(codec: Any, argument: str = "compressor") -> dict[str, Any]:
    """The configuration, with its ``"id"``, of a codec in any form that users pass.

    Parameters
    ----------
    codec : numcodecs codec, dict with "id", or str
        A string is the id of a codec with its default configuration.
    argument : str
        Name of the argument, for messages.

    Raises
    ------
    BadCompressorError
        It is not a codec.
    UnknownCodecError
        No such codec is registered; the message names the package that has it.
    """
    if isinstance(codec, str):
        codec = _spelled(codec, argument) or {"id": codec}
    if isinstance(codec, Mapping):
        if not isinstance(codec.get("id"), str):
            raise BadCompressorError(
                f"{argument}={dict(codec)!r}: a codec given as a dict needs its name under 'id', "
                "for example {'id': 'zstd', 'level': 3}"
            )
        codec = codec_object(codec, argument)
    if isinstance(codec, type):
        raise BadCompressorError(
            f"{argument} is the class {codec.__name__}; pass an instance, {codec.__name__}()"
        )
    get_config = getattr(codec, "get_config", None)
    if get_config is None:
        raise BadCompressorError(
            f"{argument}={codec!r} ({type(codec).__name__}) is not a codec; expected a "
            "numcodecs codec, a dict with 'id', the name of a codec, 'default' or None"
        )
    # A prefix of jenkins_lookup3 is an array, which JSON cannot represent.
    return {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in get_config().items()
    }


def _spelled(text: str, argument: str) -> dict[str, Any] | None:
    try:
        return spelled(text)
    except ValueError as error:
        raise BadCompressorError(f"{argument}: {error}") from None


def codec_object(config: Config, label: str = "codec") -> Any:
    """The numcodecs object that a configuration describes.

    Raises
    ------
    UnknownCodecError
        numcodecs has no codec of that id; the message names the package that has it.
    BadCompressorError
        The codec does not accept the configuration.
    """
    # Import time: numcodecs takes longer than NumPy.
    import numcodecs  # type: ignore[import-untyped, unused-ignore]
    from numcodecs.registry import codec_registry  # type: ignore[import-untyped, unused-ignore]

    given = dict(config)
    if given.get("id") == "jenkins_lookup3" and isinstance(given.get("prefix"), list):
        given["prefix"] = np.asarray(given["prefix"], UINT8)
    codec_id = str(config.get("id"))
    if codec_id not in codec_registry and _is_native(codec_id):
        return NativeCodec(given)
    try:
        return numcodecs.get_codec(given)
    except (TypeError, KeyError, OverflowError, ValueError) as error:
        if codec_id in codec_registry or not isinstance(error, ValueError):
            raise BadCompressorError(
                f"{label}: {dict(config)!r} is not accepted: {error}"
            ) from None
        raise _unknown(codec_id, label, codec_registry) from None


def _is_native(codec_id: str) -> bool:
    row = BY_ID.get(codec_id)
    return row is not None and (row.bind_numcodecs or row.bind_image) is not None


class NativeCodec:
    """A native codec that the installed numcodecs does not have, such as ``pcodec``.

    It has only the configuration; `zarrix.Array.compressor` shows it, and new arrays accept it.
    """

    def __init__(self, config: Config) -> None:
        self.codec_id = str(config["id"])
        self._config = dict(config)

    def get_config(self) -> dict[str, Any]:
        """The configuration, with the codec's id."""
        return dict(self._config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NativeCodec) and self._config == other._config

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in self._config.items() if key != "id")
        return f"NativeCodec({self.codec_id!r}{', ' if given else ''}{given})"


# Pickles name a class by its module: a public one, which does not move.
NativeCodec.__module__ = "zarrix.codecs"


def shown_codec(config: Config, label: str) -> Any:
    """The codec of a stored array as an object, with valid encoder options.

    Raises
    ------
    UnknownCodecError
        As from `codec_object`.
    """
    try:
        return codec_object(encodable_config(config), label)
    except BadCompressorError:
        return NativeCodec(config)


def normalize_compressor(compressor: Any) -> dict[str, Any] | None:
    """The configuration of ``compressor=``: "default", "none", None, or as for `codec_config`."""
    if isinstance(compressor, str):
        if compressor == "default":
            chosen = vars(sys.modules.get("zarrix.storage", object)).get("default_compressor", ...)
            if chosen is not ...:
                return normalize_compressor(chosen)
            return dict(_DEFAULT_OF_ZARR3 if DIALECT.is_zarr3 else DEFAULT_COMPRESSOR)
        if compressor == "none":
            return None
    if compressor is None or compressor is False or compressor in ([], ()):
        return None
    return codec_config(compressor)


def normalize_filters(filters: Any) -> tuple[dict[str, Any], ...] | None:
    """The configurations of ``filters=``: a list of codecs or a single one; None for none."""
    if filters is None:
        return None
    if isinstance(filters, (str, Mapping)) or hasattr(filters, "get_config"):
        filters = [filters]
    if not isinstance(filters, Iterable):
        raise BadCompressorError(f"filters={filters!r} is neither a codec nor a list of codecs")
    return tuple(codec_config(codec, "filters") for codec in filters) or None


def compression_config(compression: Any, options: Any = None) -> dict[str, Any] | None:
    """The configuration of h5py's ``compression=`` and ``compression_opts=``.

    ``options`` is a dict of keywords, a list of positional arguments, or the first argument.
    """
    if compression is None or not isinstance(compression, str):
        return normalize_compressor(compression)
    if compression in ("default", "none") or options is None:
        return normalize_compressor(compression)
    if isinstance(options, Mapping):
        return codec_config({"id": compression, **options}, "compression")
    # Import time: numcodecs takes longer than NumPy.
    from numcodecs.registry import codec_registry

    if compression not in codec_registry:
        raise _unknown(compression, "compression", codec_registry)
    values = options if isinstance(options, (list, tuple)) else [options]
    try:
        return codec_config(codec_registry[compression](*values), "compression")
    except (TypeError, ValueError) as error:
        raise BadCompressorError(
            f"compression={compression!r} does not accept compression_opts={options!r}: {error}"
        ) from None


def _unknown(codec_id: str, label: str, known: Iterable[str]) -> UnknownCodecError:
    for prefix, package in _PACKAGES.items():
        if codec_id.startswith(prefix):
            return UnknownCodecError(
                f"{label}: codec {codec_id!r} is not installed; get it with: pip install {package}"
            )
    return UnknownCodecError(
        f"{label}: codec {codec_id!r} is neither native nor registered with "
        f"numcodecs{suggestion(codec_id, known)}; import the package that registers it"
    )
