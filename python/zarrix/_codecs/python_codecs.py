"""Codec chains: from documents and arguments of users to the configuration of the engine.

A chain is a tuple of ``{"name", "configuration"}`` dicts as in v3; the filters and the compressor
of v2 are its members ``numcodecs.<id>``. `bind` turns a chain into the configuration of the engine.
Native codecs have their native names, with all values resolved that depend on the dtype
(`zarrix._codecs.native`). Every other codec is a slot that the engine calls through numcodecs.

The import of numcodecs takes longer than that of NumPy. It is imported when a user passes or asks
for a codec object, and when a chain has a codec that is not native; reading a Blosc array does not
import it. The dtype is followed from codec to codec, because numcodecs codecs expect typed arrays,
and Blosc shuffles by the item size of its input.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._codecs.encodable import encodable_config
from zarrix._codecs.native import BYTES, NATIVE, link_codec
from zarrix._dtypes.variable import is_variable
from zarrix._errors import BadCompressorError, UnknownCodecError, suggestion

__all__ = [
    "DEFAULT_COMPRESSOR",
    "ForeignCodecs",
    "Run",
    "bind",
    "codec_config",
    "codec_object",
    "compression_config",
    "normalize_compressor",
    "normalize_filters",
    "number_slots",
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
"""What ``compressor="default"`` means: Blosc with lz4 at level 5 and byte shuffle."""

_PACKAGES = {
    "imagecodecs": "imagecodecs, then imagecodecs.numcodecs.register_codecs()",
    "zfpy": "numcodecs[zfpy]",
    "pcodec": "numcodecs[pcodec]",
    "msgpack": "numcodecs[msgpack]",
    "crc32c": "numcodecs[crc32c]",
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
        codec = {"id": codec}
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


def codec_object(config: Config, where: str = "codec") -> Any:
    """The numcodecs object that a configuration describes.

    Raises
    ------
    UnknownCodecError
        numcodecs has no codec of that id; the message names the package that has it.
    BadCompressorError
        The codec does not accept the configuration.
    """
    import numcodecs  # type: ignore[import-untyped, unused-ignore]
    from numcodecs.registry import codec_registry  # type: ignore[import-untyped, unused-ignore]

    given = dict(config)
    if given.get("id") == "jenkins_lookup3" and isinstance(given.get("prefix"), list):
        given["prefix"] = np.asarray(given["prefix"], BYTES)
    codec_id = str(config.get("id"))
    if codec_id not in codec_registry and codec_id in NATIVE:
        return NativeCodec(given)
    try:
        return numcodecs.get_codec(given)
    except (TypeError, KeyError, OverflowError, ValueError) as error:
        if codec_id in codec_registry or not isinstance(error, ValueError):
            raise BadCompressorError(
                f"{where}: {dict(config)!r} is not accepted: {error}"
            ) from None
        raise _unknown(codec_id, where, codec_registry) from None


class NativeCodec:
    """A native codec that the installed numcodecs does not have, such as ``pcodec``. The object has
    only the configuration; `zarrix.Array.compressor` shows it, and new arrays accept it.
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


def shown_codec(config: Config, where: str) -> Any:
    """The codec of a stored array as an object; invalid encoder options become the nearest valid
    ones.

    Raises
    ------
    UnknownCodecError
        As from `codec_object`.
    """
    try:
        return codec_object(encodable_config(config), where)
    except BadCompressorError:
        return NativeCodec(config)


def normalize_compressor(compressor: Any) -> dict[str, Any] | None:
    """The configuration of ``compressor=``: "default", "none", None, or as for `codec_config`."""
    if isinstance(compressor, str):
        if compressor == "default":
            chosen = vars(sys.modules.get("zarrix.storage", object)).get("default_compressor", ...)
            return dict(DEFAULT_COMPRESSOR) if chosen is ... else normalize_compressor(chosen)
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


def _unknown(codec_id: str, where: str, known: Iterable[str]) -> UnknownCodecError:
    for prefix, package in _PACKAGES.items():
        if codec_id.startswith(prefix):
            return UnknownCodecError(
                f"{where}: codec {codec_id!r} is not installed; get it with: pip install {package}"
            )
    return UnknownCodecError(
        f"{where}: codec {codec_id!r} is neither native nor registered with "
        f"numcodecs{suggestion(codec_id, known)}; import the package that registers it"
    )


# The configuration for the engine.


class ForeignCodecs:
    """Consecutive codecs of numcodecs, which the engine calls.

    Parameters
    ----------
    configs : sequence of dict, or of objects that encode and decode
        In encoding order.
    dtype : dtype
        Of the input of `encode`.
    shape : tuple of int or None
        Shape of the chunk, unless an earlier codec flattens it; zfpy and image codecs use it.
    order : "C" or "F"
        Order of the input elements of `encode`.
    encoded_bytes : int or None
        Length of the output of `encode`; None if it depends on the data.
    where : str
        The metadata document, for messages.

    Attributes
    ----------
    names : tuple of str
        Their ids.
    name : str
        The same for the engine's messages.
    """

    __slots__ = (
        "_codecs",
        "_dtype",
        "_encoded_bytes",
        "_order",
        "_shape",
        "name",
        "names",
    )

    def __init__(
        self,
        configs: Iterable[Any],
        dtype: np.dtype[Any],
        shape: tuple[int, ...] | None,
        order: str,
        encoded_bytes: int | None,
        where: str,
    ) -> None:
        self._codecs = [
            codec_object(one, where) if isinstance(one, Mapping) else one for one in configs
        ]
        self.names = tuple(codec.codec_id for codec in self._codecs)
        self.name = "+".join(self.names)
        self._encoded_bytes = encoded_bytes
        self._dtype = dtype
        self._shape = shape
        self._order: Any = order

    def encoded_bytes(self, decoded_bytes: int) -> int | None:
        """Length of an encoded chunk; None if it depends on the data."""
        return self._encoded_bytes

    def encode(self, buffer: Any) -> memoryview:
        """Encode the bytes of one chunk."""
        value: Any = np.frombuffer(buffer, dtype=self._dtype)
        if self._shape is not None:
            value = value.reshape(self._shape, order=self._order)
        for codec in self._codecs:
            value = codec.encode(value)
        return _as_bytes(value)

    def decode(self, buffer: Any) -> memoryview:
        """The inverse of `encode`."""
        value = buffer
        for codec in reversed(self._codecs):
            value = codec.decode(value)
        return _as_bytes(value)


def _as_bytes(value: Any) -> memoryview:
    # In memory order: an array that a codec returns in Fortran order has its elements in stored
    # order.
    if isinstance(value, np.ndarray):
        flat = np.ascontiguousarray(value.reshape(-1, order="A"))
        return flat.view(BYTES).data if flat.size else memoryview(b"")
    return memoryview(value).cast("B")


def bind(
    codecs: Iterable[Config],
    dtype: np.dtype[Any],
    chunk_shape: tuple[int, ...],
    where: str,
    has_compressor: bool = False,
    *,
    new: bool = False,
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    """The engine's chain for chunks of a dtype and shape, and the Python codecs that it calls.

    Parameters
    ----------
    codecs : iterable of dict
        The chain of the metadata, in encoding order.
    dtype, chunk_shape : dtype, tuple of int
        Of a decoded chunk.
    where : str
        The metadata document, for messages.
    has_compressor : bool
        Whether the last codec is the compressor of the document, and not a filter.
    new : bool
        Whether options that only an encoder uses are checked, as for a new array.

    Raises
    ------
    UnknownCodecError
        Neither the engine nor numcodecs has a codec.
    MetadataError
        A configuration is invalid, or the codec is for objects.
    """
    steps: list[dict[str, Any] | Run] = []
    order = "C"
    shape: tuple[int, ...] | None = chunk_shape
    size: int | None = math.prod(chunk_shape) * dtype.itemsize
    chain = list(codecs)
    for position, codec in enumerate(chain):
        is_compressor = has_compressor and position == len(chain) - 1
        key = f"{where}: key '{'compressor' if is_compressor else 'filters'}'"
        name = codec["name"]
        if name == "transpose":
            order = "F"
            if len(chunk_shape) > 1:
                steps.append(dict(codec))
            continue
        if name == "bytes":
            steps.append({"name": "bytes"})
            continue
        config = {"id": name.removeprefix("numcodecs."), **codec.get("configuration", {})}
        if codec.get("frame_checksum"):
            config["checksum"] = True
        if is_variable(dtype):
            # Variable-length elements are encoded to bytes outside the chain.
            dtype, size, shape = BYTES, None, None
            continue
        link = link_codec(config, dtype, size, key, new=new)
        if link.configuration is not None:
            steps.append({"name": link.name, "configuration": link.configuration})
        else:
            run = steps[-1] if steps else None
            if not isinstance(run, Run):
                run = Run(dtype, shape)
                steps.append(run)
            run.add(link.codec or codec_object(config, key), link.encoded_bytes)
        dtype, size, shape = link.dtype, link.encoded_bytes, None
    foreign: list[ForeignCodecs] = []
    return number_slots(steps, order, where, foreign), foreign


@dataclass
class Run:
    """Consecutive Python codecs, and the input of the first of them."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    configs: list[Any] = field(default_factory=list)
    encoded_bytes: int | None = None

    def add(self, codec: Any, encoded_bytes: int | None) -> None:
        """Append a codec, given as its configuration or as an object that encodes and decodes."""
        self.configs.append(codec)
        self.encoded_bytes = encoded_bytes


def number_slots(
    steps: list[dict[str, Any] | Run], order: str, where: str, foreign: list[ForeignCodecs]
) -> list[dict[str, Any]]:
    """The engine's chain; the Python codecs that it calls are appended to ``foreign``."""
    chain: list[dict[str, Any]] = []
    for step in steps:
        if isinstance(step, Run):
            size = step.encoded_bytes
            slot = ForeignCodecs(step.configs, step.dtype, step.shape, order, size, where)
            configuration = {"slot": len(foreign), "name": slot.name, "encoded_bytes": size}
            chain.append({"name": "zarrix.foreign", "configuration": configuration})
            foreign.append(slot)
        else:
            chain.append(step)
    return chain
