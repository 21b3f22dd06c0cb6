"""Codec chains of format 3: from documents, and from what users pass, to what the engine is given.

A chain is a list of array-to-array codecs, one array-to-bytes codec, and bytes-to-bytes codecs; the
array-to-bytes codec may be a shard with chains of its own. `bind_chain` follows shape and dtype
through it, as `zarrix._codecs.bind` does for format 2, and shares its table of native codecs and
its slots for those of numcodecs. `chain_documents` is the way in: filters, serializer and
compressors in any form that users pass, numcodecs objects included, become a chain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._codec_objects import is_codec_document
from zarrix._codecs import ForeignCodecs, Run, codec_config, number_slots
from zarrix._errors import BadCompressorError, MetadataError, UnknownCodecError, shorten
from zarrix._extensions import ELEMENTWISE, EXTENSIONS, Bound, words_of
from zarrix._numcodecs_links import link_codec
from zarrix._objects import SERIALIZERS, data_type_name, is_variable

__all__ = [
    "ARRAY_TO_ARRAY",
    "ARRAY_TO_BYTES",
    "bind_chain",
    "chain_documents",
    "codec_document",
    "dtype_after",
    "numcodecs_config",
    "split_chain",
    "stored_order",
]

Config = Mapping[str, Any]

ARRAY_TO_ARRAY = frozenset(
    (
        "transpose",
        *(name for name, one in EXTENSIONS.items() if one.gives == "array"),
        *(
            f"numcodecs.{name}"
            for name in (
                "astype",
                "bitround",
                "categorize",
                "delta",
                "fixedscaleoffset",
                "packbits",
                "quantize",
            )
        ),
    )
)
ARRAY_TO_BYTES = frozenset(
    (
        "bytes",
        "endian",
        *(name for name, one in EXTENSIONS.items() if one.gives == "bytes"),
        "sharding_indexed",
        "vlen-utf8",
        "vlen-bytes",
        "numcodecs.vlen-utf8",
        "numcodecs.vlen-bytes",
        "numcodecs.pcodec",
        "numcodecs.zfpy",
    )
)
_NATIVE = ("blosc", "crc32c", "gzip", "zstd")
_VARIABLE = ("vlen-utf8", "vlen-bytes", "numcodecs.vlen-utf8", "numcodecs.vlen-bytes")
_OLD_NAMES = {"endian": "bytes"}


# What users pass.


def codec_document(codec: Any, dtype: np.dtype[Any]) -> dict[str, Any]:
    """The document of a codec in any form that users pass, completed from the dtype.

    Objects and configurations of numcodecs become the codec of format 3 that is the same, or
    ``numcodecs.<id>``.

    Raises
    ------
    BadCompressorError, UnknownCodecError
        It is no codec, or not available.
    """
    if hasattr(codec, "get_config") or (isinstance(codec, Mapping) and "id" in codec):
        document = _from_numcodecs(codec_config(codec, "codec"), dtype)
    else:
        document = is_codec_document(codec)
    name, configuration = document["name"], dict(document.get("configuration", {}))
    if name == "blosc":
        return {"name": name, "configuration": _complete_blosc(configuration, dtype)}
    if name == "zstd":
        return {"name": name, "configuration": {"level": 0, "checksum": False, **configuration}}
    if name == "gzip":
        return {"name": name, "configuration": {"level": 5, **configuration}}
    if name == "numcodecs.shuffle" and configuration.get("elementsize") is None:
        return {"name": name, "configuration": {"elementsize": dtype.itemsize}}
    for codec_name, key in _TAKE_DTYPE:
        if name == codec_name and configuration.get(key) is None:
            return {"name": name, "configuration": {**configuration, key: str(dtype)}}
    return document


_TAKE_DTYPE = (
    ("numcodecs.fixedscaleoffset", "dtype"),
    ("numcodecs.quantize", "dtype"),
    ("numcodecs.delta", "dtype"),
    ("numcodecs.astype", "decode_dtype"),
)


def _from_numcodecs(config: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    codec_id = config.pop("id")
    if codec_id == "blosc":
        shuffle = config["shuffle"]
        if shuffle == -1:
            shuffle = 2 if _item_bytes(dtype) == 1 else 1
        config["shuffle"] = ("noshuffle", "shuffle", "bitshuffle")[shuffle]
        return {"name": "blosc", "configuration": config}
    if codec_id in ("zstd", "gzip"):
        return {"name": codec_id, "configuration": config}
    if codec_id == "crc32c" and config.get("location") in (None, "end"):
        return {"name": "crc32c"}
    return {"name": f"numcodecs.{codec_id}", "configuration": config}


def _item_bytes(dtype: np.dtype[Any]) -> int:
    """Bytes of an element as codecs on bytes see it: elements without a size are but bytes."""
    return 1 if is_variable(dtype) else dtype.itemsize


def _complete_blosc(given: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    shuffle = given.get("shuffle")
    if shuffle is None:
        shuffle = "bitshuffle" if _item_bytes(dtype) == 1 else "shuffle"
    return {
        "typesize": given.get("typesize") or _item_bytes(dtype),
        "cname": given.get("cname", "zstd"),
        "clevel": given.get("clevel", 5),
        "shuffle": shuffle,
        "blocksize": given.get("blocksize", 0),
    }


def numcodecs_config(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """The configuration of the same codec in numcodecs; None if that has no such codec."""
    name, configuration = document["name"], dict(document.get("configuration", {}))
    if name == "blosc":
        configuration.pop("typesize", None)
        shuffles = ("noshuffle", "shuffle", "bitshuffle")
        configuration["shuffle"] = shuffles.index(configuration.get("shuffle", "noshuffle"))
    elif name not in ("zstd", "gzip", "crc32c") and not name.startswith("numcodecs."):
        return None
    return {"id": name.removeprefix("numcodecs."), **configuration}


def chain_documents(
    filters: Any, serializer: Any, compressors: Any, dtype: np.dtype[Any]
) -> list[dict[str, Any]]:
    """The chain that ``filters=``, ``serializer=`` and ``compressors=`` mean for a dtype.

    Codecs of numcodecs that work on bytes may be among the filters, as in format 2; they follow
    the serializer.

    Parameters
    ----------
    filters, compressors : codec, iterable of codecs, "auto" or None
        Filters are none by default; the default compressor is zstd, which notices damage.
    serializer : codec, "auto" or None
    """
    chain = [codec_document(one, dtype) for one in _listed(filters, [], "filters")]
    default = [{"name": "zstd", "configuration": {"level": 0, "checksum": True}}]
    packers = [codec_document(one, dtype) for one in _listed(compressors, default, "compressors")]
    arrays, middle, binary = split_chain([*chain, *packers])
    if serializer is None or (isinstance(serializer, str) and serializer == "auto"):
        serializers = middle or [_default_serializer(dtype)]
    else:
        serializers = [codec_document(serializer, dtype), *middle]
    if len(serializers) > 1:
        names = ", ".join(one["name"] for one in serializers)
        raise BadCompressorError(f"one codec turns the array into bytes, not several: {names}")
    for document in (*chain, *packers):
        if document in arrays and document in packers and document not in chain:
            raise BadCompressorError(
                f"compressors: {document['name']!r} works on arrays; pass it in filters="
            )
    for codec in arrays:
        if codec["name"] != "transpose":
            dtype = dtype_after(codec, dtype)
    return [*arrays, *(_without_order(one, dtype) for one in serializers), *binary]


def _default_serializer(dtype: np.dtype[Any]) -> dict[str, Any]:
    variable = SERIALIZERS.get(data_type_name(dtype) or "")
    if variable is not None:
        return {"name": variable, "configuration": {}}
    return {"name": "bytes", "configuration": {"endian": "little"}}


def dtype_after(codec: Mapping[str, Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The elements that come out of an extension's codec, or of one of numcodecs."""
    if codec["name"] in EXTENSIONS:
        return _bound(codec["name"], codec.get("configuration", {}), dtype, None, "filters").dtype
    config = {**codec.get("configuration", {}), "id": codec["name"].removeprefix("numcodecs.")}
    return link_codec(config, dtype, None, "filters").dtype


def _bound(
    name: str, configuration: Config, dtype: np.dtype[Any], size: int | None, where: str
) -> Bound:
    try:
        return EXTENSIONS[name].bind(configuration, dtype, size)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise MetadataError(
            f"{where}: codec {name!r} has the configuration {shorten(dict(configuration))}, and "
            f"{reason}"
        ) from None


def _listed(value: Any, default: list[Any], argument: str) -> list[Any]:
    if isinstance(value, str) and value in ("auto", "default"):
        return default
    if value is None or value is False or (isinstance(value, str) and value == "none"):
        return []
    if isinstance(value, (str, Mapping)) or hasattr(value, "to_dict"):
        return [value]
    if hasattr(value, "get_config"):
        return [value]
    if not isinstance(value, Iterable):
        raise BadCompressorError(f"{argument}={value!r} is neither a codec nor a list of codecs")
    return list(value)


def _without_order(document: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    """Elements of one byte have no byte order to name."""
    if document["name"] == "bytes" and not _has_order(dtype):
        return {"name": "bytes"}
    return document


def _has_order(dtype: np.dtype[Any]) -> bool:
    return max(words_of(dtype), default=1) > 1


def split_chain(
    chain: Iterable[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The codecs of a chain by what they work on: arrays, arrays to bytes, bytes."""
    arrays, middle, binary = [], [], []
    for codec in chain:
        if codec["name"] in ARRAY_TO_ARRAY:
            arrays.append(codec)
        elif codec["name"] in ARRAY_TO_BYTES:
            middle.append(codec)
        else:
            binary.append(codec)
    return arrays, middle, binary


# What the engine is given.


def stored_order(codecs: Iterable[Config], axes: int, where: str) -> tuple[int, ...]:
    """The order in which the axes of an array are stored, by the transpositions of a chain."""
    order = tuple(range(axes))
    for codec in codecs:
        if codec["name"] == "transpose":
            order = tuple(order[axis] for axis in _permutation(codec, axes, where))
    return order


def _permutation(codec: Config, axes: int, where: str) -> tuple[int, ...]:
    order = codec.get("configuration", {}).get("order")
    if order in ("C", "F"):
        # Drafts of the specification had names for two of the orders.
        return tuple(range(axes)) if order == "C" else tuple(reversed(range(axes)))
    if not isinstance(order, list) or any(type(axis) is not int for axis in order):
        raise MetadataError(f"{where}: codec 'transpose' has the order {shorten(order)}, no list")
    if sorted(order) != list(range(axes)):
        raise MetadataError(
            f"{where}: codec 'transpose' has the order {order}; expected each of the {axes} axes "
            "once"
        )
    return tuple(order)


class _Transposition:
    """A transposition between codecs of numcodecs, which the engine does not see."""

    codec_id = "transpose"

    def __init__(
        self, order: tuple[int, ...], shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._order = order
        self._shape = shape
        self._dtype = dtype

    def encode(self, value: Any) -> Any:
        return np.ascontiguousarray(np.reshape(value, self._shape).transpose(self._order))

    def decode(self, value: Any) -> Any:
        stored = tuple(self._shape[axis] for axis in self._order)
        flat: Any = np.frombuffer(np.ascontiguousarray(value), self._dtype)
        return np.ascontiguousarray(flat.reshape(stored).transpose(np.argsort(self._order)))


def bind_chain(
    codecs: Iterable[Config], dtype: np.dtype[Any], chunk_shape: tuple[int, ...], where: str
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    """The engine's chain for chunks of a dtype and shape, and what its foreign slots call.

    Raises
    ------
    UnknownCodecError
        A codec that must be understood is not known.
    MetadataError
        The chain contradicts itself, the data type or the chunk shape.
    """
    foreign: list[ForeignCodecs] = []
    walk = _Walk(dtype, chunk_shape, f"{where}: key 'codecs'", foreign)
    walk.all(list(codecs))
    return walk.numbered(), foreign


@dataclass
class _Walk:
    """What a chunk is on its way through a chain: an array of a dtype and shape, then bytes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    where: str
    foreign: list[ForeignCodecs]
    steps: list[dict[str, Any] | Run] = field(default_factory=list)
    size: int | None = 0
    is_bytes: bool = False

    def __post_init__(self) -> None:
        self.size = math.prod(self.shape or ()) * self.dtype.itemsize

    def all(self, codecs: list[Config]) -> None:
        """Go through the whole chain."""
        codecs = _transpositions_first([codec for codec in codecs if self._is_known(codec)])
        codecs = _into_shards(codecs)
        names = [codec["name"] for codec in codecs]
        transposed = max((i for i, name in enumerate(names) if name == "transpose"), default=-1)
        self.in_python = any(name != "transpose" for name in names[: transposed + 1])
        for position, codec in enumerate(codecs):
            self.in_python = self.in_python and position <= transposed
            self._one(codec)
        if not self.is_bytes:
            raise MetadataError(
                f"{self.where} has no codec that turns the array into bytes, such as 'bytes'"
            )

    def numbered(self) -> list[dict[str, Any]]:
        """The engine's chain, its slots behind those that other chains of the array have."""
        return number_slots(self.steps, "C", self.where, self.foreign)

    def _is_known(self, codec: Config) -> bool:
        name = codec["name"]
        known = name in ARRAY_TO_ARRAY or name in ARRAY_TO_BYTES or name in _NATIVE
        if known or name.startswith("numcodecs."):
            return True
        if codec.get("must_understand") is False:
            return False
        raise UnknownCodecError(
            f"{self.where} has {name!r}, which this version does not know; known are "
            f"{', '.join(sorted((*_NATIVE, *ARRAY_TO_ARRAY, *ARRAY_TO_BYTES)))} and others of "
            "numcodecs as 'numcodecs.<id>'"
        )

    def _one(self, codec: Config) -> None:
        name = str(_OLD_NAMES.get(codec["name"], codec["name"]))
        configuration = dict(codec.get("configuration", {}))
        if (name in ARRAY_TO_ARRAY or name in ARRAY_TO_BYTES) and self.is_bytes:
            raise MetadataError(f"{self.where} has {name!r} after a codec that gives bytes")
        if name not in ARRAY_TO_ARRAY and name not in ARRAY_TO_BYTES and not self.is_bytes:
            raise MetadataError(
                f"{self.where} has {name!r}, which works on bytes, before a codec that gives them, "
                "such as 'bytes'"
            )
        if name == "transpose":
            self._transpose(codec)
        elif name == "bytes":
            self._bytes(configuration)
        elif name == "sharding_indexed":
            self._shard(configuration)
        elif name in _VARIABLE:
            self._variable(name.removeprefix("numcodecs."))
        elif name in EXTENSIONS:
            bound = _bound(name, configuration, self.dtype, self.size, self.where)
            self.steps.append({"name": name, "configuration": bound.configuration})
            self.dtype, self.size = bound.dtype, bound.size
            self.is_bytes = EXTENSIONS[name].gives == "bytes"
        elif name in _NATIVE:
            self.steps.append({"name": name, "configuration": configuration})
            self.size = self.size + 4 if name == "crc32c" and self.size is not None else None
        else:
            self._numcodecs(name.removeprefix("numcodecs."), configuration)
            self.is_bytes = self.is_bytes or name in ARRAY_TO_BYTES

    def _transpose(self, codec: Config) -> None:
        assert self.shape is not None
        order = _permutation(codec, len(self.shape), self.where)
        if self.in_python:
            self._run().add(_Transposition(order, self.shape, self.dtype), self.size)
        elif len(order) > 1:
            self.steps.append({"name": "transpose", "configuration": {"order": order}})
        self.shape = tuple(self.shape[axis] for axis in order)

    def _bytes(self, configuration: Mapping[str, Any]) -> None:
        if is_variable(self.dtype):
            data_type = data_type_name(self.dtype) or ""
            raise MetadataError(
                f"{self.where}: codec 'bytes' is for elements that have a size; those of "
                f"{data_type} need {SERIALIZERS[data_type]!r}"
            )
        endian = configuration.get("endian")
        if endian not in ("little", "big", None):
            raise MetadataError(
                f"{self.where}: codec 'bytes' has the endian {shorten(endian)}; allowed are "
                "'little' and 'big'"
            )
        if endian is None and _has_order(self.dtype):
            raise MetadataError(
                f"{self.where}: codec 'bytes' has no 'endian', which elements of {self.dtype} need"
            )
        if endian == "big" and _has_order(self.dtype):
            words = words_of(self.dtype)
            swap = {"word_bytes": words[0]} if len(set(words)) == 1 else {"words": words}
            self.steps.append({"name": "zarrix.byteswap", "configuration": swap})
        self.is_bytes = True

    def _variable(self, name: str) -> None:
        data_type = data_type_name(self.dtype)
        if SERIALIZERS.get(data_type or "") != name:
            raise MetadataError(
                f"{self.where}: codec {name!r} is not for elements of {data_type or self.dtype}"
            )
        # The engine asks about elements without a size apart from the chain.
        self.steps.append({"name": "bytes"})
        self.dtype, self.size, self.is_bytes = np.dtype("u1"), None, True

    def _shard(self, configuration: Mapping[str, Any]) -> None:
        assert self.shape is not None
        inner = inner_shape(configuration, self.shape, self.where)
        inside = _Walk(self.dtype, inner, f"{self.where}[sharding_indexed]", self.foreign)
        inside.all(_codec_list(configuration, "codecs", self.where))
        location = configuration.get("index_location", "end")
        if location not in ("start", "end"):
            raise MetadataError(
                f"{self.where}: sharding_indexed has the index_location {shorten(location)}; "
                "allowed are 'start' and 'end'"
            )
        index = _Walk(
            np.dtype("u8"),
            (*(n // m for n, m in zip(self.shape, inner, strict=True)), 2),
            f"{self.where}[sharding_indexed][index_codecs]",
            self.foreign,
        )
        index.all(_codec_list(configuration, "index_codecs", self.where))
        if self.steps and any(not _is_transposition(step) for step in self.steps):
            raise MetadataError(
                f"{self.where}: a filter over several elements before sharding_indexed is not "
                "supported; put it into the codecs of the shard"
            )
        shard = {
            "chunk_shape": inner,
            "codecs": inside.numbered(),
            "index_codecs": index.numbered(),
            "index_location": location,
        }
        self.steps.append({"name": "sharding_indexed", "configuration": shard})
        self.is_bytes, self.size = True, None

    def _numcodecs(self, codec_id: str, configuration: dict[str, Any]) -> None:
        config = {"id": codec_id, **configuration}
        link = link_codec(config, self.dtype, self.size, self.where)
        if link.configuration is not None and not self.in_python:
            self.steps.append({"name": link.name, "configuration": link.configuration})
        else:
            self._run().add(config, link.encoded_bytes)
        if not self.is_bytes:
            keeps_shape = codec_id != "packbits"
            self.shape = self.shape if keeps_shape else (link.encoded_bytes or 0,)
        self.dtype, self.size = link.dtype, link.encoded_bytes

    def _run(self) -> Run:
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Run):
            return last
        run = Run(self.dtype, None if self.is_bytes else self.shape)
        self.steps.append(run)
        return run


def _transpositions_first(codecs: list[Config]) -> list[Config]:
    """The same chain, with transpositions before the codecs that treat every element alone."""
    first = 0
    ordered = list(codecs)
    for position, codec in enumerate(codecs):
        if codec["name"] == "transpose":
            ordered.insert(first, ordered.pop(position))
            first += 1
        elif codec["name"] not in ELEMENTWISE:
            break
    return ordered


def _into_shards(codecs: list[Config]) -> list[Config]:
    """The same chain, with codecs that treat every element alone inside the shard behind them.

    So inner chunks can be read and written alone; the stored bytes are the same.
    """
    names = [one["name"] for one in codecs]
    if "sharding_indexed" not in names:
        return codecs
    place = names.index("sharding_indexed")
    first = next(i for i, name in enumerate(names) if name != "transpose")
    configuration = codecs[place].get("configuration", {})
    inner = configuration.get("codecs")
    if not isinstance(inner, list) or not ELEMENTWISE.issuperset(names[first:place]):
        return codecs
    inside = {**configuration, "codecs": [*codecs[first:place], *inner]}
    shard = {"name": "sharding_indexed", "configuration": inside}
    return [*codecs[:first], shard, *codecs[place + 1 :]]


def _is_transposition(step: dict[str, Any] | Run) -> bool:
    return not isinstance(step, Run) and step["name"] == "transpose"


def _codec_list(configuration: Mapping[str, Any], key: str, where: str) -> list[Config]:
    return check_codecs(configuration.get(key), f"{where}: sharding_indexed has the {key!r}")


def check_codecs(value: Any, what: str) -> list[Config]:
    """``value``, if it is a list of codec documents; ``what`` begins the message if not.

    Bare names, which the specification allows for codecs without a configuration, become objects.
    """
    if not isinstance(value, list) or not value:
        raise MetadataError(f"{what} {shorten(value)}; expected a list of codecs")
    codecs: list[Config] = []
    for one in value:
        codec = {"name": one} if isinstance(one, str) else one
        valid = isinstance(codec, Mapping) and isinstance(codec.get("name"), str)
        if not valid or not isinstance(codec.get("configuration", {}), Mapping):
            raise MetadataError(
                f"{what} with {shorten(one)}; expected an object with 'name' and 'configuration'"
            )
        codecs.append(codec)
    return codecs


def inner_shape(
    configuration: Mapping[str, Any], shard: tuple[int, ...], where: str
) -> tuple[int, ...]:
    """The shape of a shard's inner chunks, axes in stored order."""
    shape = configuration.get("chunk_shape")
    if not isinstance(shape, list) or any(type(n) is not int or n < 1 for n in shape):
        raise MetadataError(
            f"{where}: sharding_indexed has the 'chunk_shape' {shorten(shape)}; expected a list of "
            "whole numbers of at least 1"
        )
    if len(shape) != len(shard) or any(n % m for n, m in zip(shard, shape, strict=True)):
        raise MetadataError(
            f"{where}: sharding_indexed has the 'chunk_shape' {shape}, which does not divide the "
            f"shard {list(shard)}"
        )
    return tuple(shape)
