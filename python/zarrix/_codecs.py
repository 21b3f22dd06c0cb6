"""Codec chains: what documents and users say, and what the engine is given.

A chain is a tuple of ``{"name", "configuration"}`` dicts in the form of format 3; the filters and
the compressor of format 2 are its members ``numcodecs.<id>``. `bind` turns a chain into the
engine's: the codecs of the table `_NATIVE` by their native names, with everything resolved that
depends on the dtype, and every other codec as a slot that the engine calls back through numcodecs.

numcodecs costs more to import than NumPy does. It is imported when a user hands over or asks for
a codec object, and when a chain has a codec that the engine lacks; reading a Blosc array does not.
The dtype is followed from codec to codec, since numcodecs codecs expect typed arrays, and Blosc
shuffles by the size of the elements that it sees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from zarrix._errors import BadCompressorError, MetadataError, UnknownCodecError, suggestion
from zarrix._objects import OBJECT_CODECS, is_variable

__all__ = [
    "DEFAULT_COMPRESSOR",
    "ForeignCodecs",
    "Run",
    "bind",
    "codec_config",
    "codec_object",
    "compression_config",
    "link_codec",
    "normalize_compressor",
    "normalize_filters",
    "number_slots",
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

_BLOSC_NAMES = ("blosclz", "lz4", "lz4hc", "zlib", "zstd", "snappy")
_BLOSC_SHUFFLES = ("noshuffle", "shuffle", "bitshuffle")
_BYTES: np.dtype[Any] = np.dtype("u1")

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
        It is none of these.
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
            f"{argument}={codec!r} ({type(codec).__name__}) is no codec; expected a numcodecs "
            "codec, a dict with 'id', the name of a codec, 'default' or None"
        )
    return dict(get_config())


def codec_object(config: Config, where: str = "codec") -> Any:
    """The numcodecs object that a configuration describes.

    Raises
    ------
    UnknownCodecError
        numcodecs has no codec of that id; the message names the package that has it.
    BadCompressorError
        The codec refuses the configuration.
    """
    import numcodecs  # type: ignore[import-untyped, unused-ignore]
    from numcodecs.registry import codec_registry  # type: ignore[import-untyped, unused-ignore]

    try:
        return numcodecs.get_codec(dict(config))
    except (TypeError, KeyError, OverflowError) as error:
        raise BadCompressorError(f"{where}: {dict(config)!r} is not accepted: {error}") from None
    except ValueError as error:
        codec_id = str(config.get("id"))
        if codec_id in codec_registry:
            raise BadCompressorError(
                f"{where}: {dict(config)!r} is not accepted: {error}"
            ) from None
        raise _unknown(codec_id, where, codec_registry) from None


def normalize_compressor(compressor: Any) -> dict[str, Any] | None:
    """The configuration of ``compressor=``: "default", "none", None, or as for `codec_config`."""
    if isinstance(compressor, str):
        if compressor == "default":
            return dict(DEFAULT_COMPRESSOR)
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
        f"{where}: codec {codec_id!r} is neither native nor registered with numcodecs"
        f"{suggestion(codec_id, known)}; import the package that has it, which registers it"
    )


# What the engine is given.


class ForeignCodecs:
    """Consecutive codecs of numcodecs behind the calls that the engine makes.

    Parameters
    ----------
    configs : sequence of dict, or of objects that encode and decode
        In encoding order.
    limits : sequence of (int or None)
        For each, the bytes that it decodes to; None where that depends on the data. A damaged
        bz2 or lzma stream that would give more is stopped there.
    dtype : dtype
        Of what `encode` receives.
    shape : tuple of int or None
        The chunk's shape where nothing precedes that flattens it: zfpy and image codecs use it.
    order : "C" or "F"
        Order of the elements that `encode` receives.
    encoded_bytes : int or None
        Length of what `encode` gives; None if it depends on the data.
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
        "_limits",
        "_order",
        "_shape",
        "name",
        "names",
    )

    def __init__(
        self,
        configs: Iterable[Any],
        limits: Iterable[int | None],
        dtype: np.dtype[Any],
        shape: tuple[int, ...] | None,
        order: str,
        encoded_bytes: int | None,
        where: str,
    ) -> None:
        self._codecs = [
            codec_object(one, where) if isinstance(one, Mapping) else one for one in configs
        ]
        self._limits = tuple(limits)
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
        """The bytes that the codecs make of one chunk's bytes."""
        value: Any = np.frombuffer(buffer, dtype=self._dtype)
        if self._shape is not None:
            value = value.reshape(self._shape, order=self._order)
        for codec in self._codecs:
            value = codec.encode(value)
        return _as_bytes(value)

    def decode(self, buffer: Any) -> memoryview:
        """The inverse of `encode`."""
        value = buffer
        for codec, limit in zip(reversed(self._codecs), reversed(self._limits), strict=True):
            stream = None if limit is None else _stream(codec)
            if stream is None or limit is None:
                value = codec.decode(value)
            else:
                value = _decompress(stream, _as_bytes(value), limit)
        return _as_bytes(value)


def _stream(codec: Any) -> Callable[[], Any] | None:
    """What makes a decompressor that can stop, for the codecs that have one."""
    if codec.codec_id == "bz2":
        import bz2

        return bz2.BZ2Decompressor
    if codec.codec_id == "lzma":
        import lzma

        # Raw streams do not say where they end.
        if codec.format != lzma.FORMAT_RAW:
            return partial(lzma.LZMADecompressor, format=lzma.FORMAT_AUTO)
    return None


def _decompress(new_stream: Callable[[], Any], data: bytes | memoryview, limit: int) -> bytes:
    parts: list[bytes] = []
    left = limit
    while data:
        stream = new_stream()
        parts.append(stream.decompress(data, left + 1))
        left -= len(parts[-1])
        if left < 0:
            raise ValueError(f"decodes to more than the {limit} bytes declared")
        if not stream.eof:
            raise ValueError("the compressed stream is cut short")
        data = stream.unused_data
    return b"".join(parts)


def _as_bytes(value: Any) -> memoryview:
    # In memory order: an array that a codec returns in Fortran order holds its elements as stored.
    if isinstance(value, np.ndarray):
        flat = np.ascontiguousarray(value.reshape(-1, order="A"))
        return flat.view(_BYTES).data if flat.size else memoryview(b"")
    return memoryview(value).cast("B")


@dataclass(slots=True)
class _Link:
    """One codec bound to what it sees: its native form, and what comes out of it.

    ``configuration`` is None where the engine cannot do it; ``encoded_bytes`` None where the
    length depends on the data.
    """

    name: str
    configuration: dict[str, Any] | None
    dtype: np.dtype[Any] = _BYTES
    encoded_bytes: int | None = None


def bind(
    codecs: Iterable[Config], dtype: np.dtype[Any], chunk_shape: tuple[int, ...], where: str
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    """The engine's chain for chunks of a dtype and shape, and what its foreign slots call.

    Parameters
    ----------
    codecs : iterable of dict
        The chain of the metadata, in encoding order.
    dtype, chunk_shape : dtype, tuple of int
        Of a decoded chunk.
    where : str
        The metadata document, for messages.

    Raises
    ------
    UnknownCodecError
        Neither the engine nor numcodecs has a codec.
    MetadataError
        A configuration cannot be right, or the codec is for objects.
    """
    steps: list[dict[str, Any] | Run] = []
    order = "C"
    shape: tuple[int, ...] | None = chunk_shape
    size: int | None = math.prod(chunk_shape) * dtype.itemsize
    for codec in codecs:
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
            # Elements without a size are turned into bytes apart from the chain.
            dtype, size, shape = _BYTES, None, None
            continue
        link = link_codec(config, dtype, size, where)
        if link.configuration is not None:
            steps.append({"name": link.name, "configuration": link.configuration})
        else:
            run = steps[-1] if steps else None
            if not isinstance(run, Run):
                run = Run(dtype, shape)
                steps.append(run)
            run.add(config, size, link.encoded_bytes)
        dtype, size, shape = link.dtype, link.encoded_bytes, None
    foreign: list[ForeignCodecs] = []
    return number_slots(steps, order, where, foreign), foreign


@dataclass
class Run:
    """Consecutive foreign codecs, and what reaches the first of them."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    configs: list[Any] = field(default_factory=list)
    limits: list[int | None] = field(default_factory=list)
    encoded_bytes: int | None = None

    def add(self, codec: Any, decoded_bytes: int | None, encoded_bytes: int | None) -> None:
        """Append a codec, given as its configuration or as an object that encodes and decodes."""
        self.configs.append(codec)
        self.limits.append(decoded_bytes)
        self.encoded_bytes = encoded_bytes


def number_slots(
    steps: list[dict[str, Any] | Run], order: str, where: str, foreign: list[ForeignCodecs]
) -> list[dict[str, Any]]:
    """The engine's chain; what its foreign slots call is appended to ``foreign``."""
    chain: list[dict[str, Any]] = []
    for step in steps:
        if isinstance(step, Run):
            size = step.encoded_bytes
            slot = ForeignCodecs(
                step.configs, step.limits, step.dtype, step.shape, order, size, where
            )
            configuration = {"slot": len(foreign), "name": slot.name, "encoded_bytes": size}
            chain.append({"name": "zarrix.foreign", "configuration": configuration})
            foreign.append(slot)
        else:
            chain.append(step)
    return chain


def link_codec(config: dict[str, Any], dtype: np.dtype[Any], size: int | None, where: str) -> _Link:
    """A codec of numcodecs bound to elements of ``dtype`` and a chunk of ``size`` bytes."""
    codec_id = config["id"]
    if codec_id in OBJECT_CODECS and codec_id != "categorize":
        raise MetadataError(
            f"{where}: codec {codec_id!r} is for elements without a size; it is the first filter "
            "of an array with dtype object, and has no other place"
        )
    try:
        if codec_id in _NATIVE:
            return _NATIVE[codec_id](config, dtype, size)
        return _foreign(config, dtype, size)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(
            f"{where}: codec {codec_id!r} has the configuration {config!r}, which {reason}"
        ) from None


def _integer(config: Config, key: str, default: int) -> int:
    value = config.get(key, default)
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"has {key!r} = {value!r}, not a whole number")
    return int(value)


def _blosc(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    name = config.get("cname", "lz4")
    if name not in _BLOSC_NAMES:
        raise ValueError(f"has 'cname' = {name!r}; allowed are {', '.join(_BLOSC_NAMES)}")
    shuffle = _integer(config, "shuffle", 1)
    if shuffle == -1:
        shuffle = 2 if dtype.itemsize == 1 else 1
    if not 0 <= shuffle <= 2:
        raise ValueError(f"has 'shuffle' = {shuffle}; allowed are -1, 0, 1 and 2")
    level = _integer(config, "clevel", 5)
    if not 0 <= level <= 9:
        raise ValueError(f"has 'clevel' = {level}; allowed are 0 to 9")
    block = _integer(config, "blocksize", 0)
    if not 0 <= block < 2**31:
        raise ValueError(f"has 'blocksize' = {block}; allowed are 0 to 2**31-1")
    configuration = {
        "cname": name,
        "clevel": level,
        "shuffle": _BLOSC_SHUFFLES[shuffle],
        "typesize": dtype.itemsize,
        "blocksize": block,
    }
    return _Link("blosc", configuration)


def _zstd(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    configuration = {
        "level": _integer(config, "level", 0),
        "checksum": bool(config.get("checksum", False)),
    }
    return _Link("zstd", configuration)


def _with_integer(
    name: str, key: str, default: int
) -> Callable[[Config, np.dtype[Any], int | None], _Link]:
    def link(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
        return _Link(name, {key: _integer(config, key, default)})

    return link


def _shuffle(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    width = _integer(config, "elementsize", 4)
    if width < 0:
        raise ValueError(f"has 'elementsize' = {width}; allowed are 0 and more")
    return _Link("numcodecs.shuffle", {"elementsize": width}, encoded_bytes=size)


def _delta(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    before = np.dtype(config["dtype"])
    after = np.dtype(config.get("astype") or before)
    native = _is_plain_number(before) and _is_plain_number(after)
    configuration = {"dtype": before.str, "astype": after.str} if native else None
    encoded = None if size is None else size // before.itemsize * after.itemsize
    return _Link("numcodecs.delta", configuration, after, encoded)


def _is_plain_number(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iuf" and dtype.itemsize <= 8


def _packbits(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    encoded = None if size is None else 1 + (size + 7) // 8
    return _Link("numcodecs.packbits", {}, encoded_bytes=encoded)


def _checksum(name: str, place: str | None) -> Callable[[Config, Any, int | None], _Link]:
    def link(config: Config, dtype: Any, size: int | None) -> _Link:
        configuration = {}
        if place is not None:
            location = config.get("location") or place
            if location not in ("start", "end"):
                raise ValueError(f"has 'location' = {location!r}; allowed are 'start' and 'end'")
            configuration["location"] = location
        return _Link(name, configuration, encoded_bytes=None if size is None else size + 4)

    return link


_NATIVE: dict[str, Callable[[Config, np.dtype[Any], int | None], _Link]] = {
    "blosc": _blosc,
    "zstd": _zstd,
    "gzip": _with_integer("gzip", "level", 1),
    "zlib": _with_integer("numcodecs.zlib", "level", 1),
    "lz4": _with_integer("numcodecs.lz4", "acceleration", 1),
    "shuffle": _shuffle,
    "delta": _delta,
    "packbits": _packbits,
    "crc32": _checksum("numcodecs.crc32", "start"),
    "crc32c": _checksum("numcodecs.crc32c", "end"),
    "adler32": _checksum("numcodecs.adler32", "start"),
    "fletcher32": _checksum("numcodecs.fletcher32", None),
}

_TYPED_OUTPUT: dict[str, Callable[[Config, np.dtype[Any]], tuple[Any, Any]]] = {
    # Codecs that turn n elements into n elements: the dtypes before and after.
    "astype": lambda config, dtype: (config["decode_dtype"], config["encode_dtype"]),
    "bitround": lambda config, dtype: (dtype, dtype),
    "categorize": lambda config, dtype: (config["dtype"], config.get("astype") or "u1"),
    "fixedscaleoffset": lambda config, dtype: (
        config["dtype"],
        config.get("astype") or config["dtype"],
    ),
    "quantize": lambda config, dtype: (config["dtype"], config.get("astype") or config["dtype"]),
}


def _foreign(config: Config, dtype: np.dtype[Any], size: int | None) -> _Link:
    typed = _TYPED_OUTPUT.get(config["id"])
    if typed is None:
        return _Link(config["id"], None)
    before, after = (np.dtype(one) for one in typed(config, dtype))
    return _Link(
        config["id"],
        None,
        after,
        None if size is None else size // before.itemsize * after.itemsize,
    )
