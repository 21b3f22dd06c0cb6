"""v3 codec chains: from documents to the configuration of the engine.

A chain is a list of array-to-array codecs, one array-to-bytes codec, and bytes-to-bytes codecs; the
array-to-bytes codec may be a shard with chains of its own. `bind_chain` follows shape and dtype
through it, as `zarrix._codecs.python_codecs.bind` does for v2, and shares its table of native
codecs and its slots for codecs of numcodecs. `zarrix._codecs.normalize` makes chains from what
users pass.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._codecs.encoder_options import LOSSY, DecodeOnly, encodable
from zarrix._codecs.extensions import ELEMENTWISE, EXTENSIONS, Bound, words_of
from zarrix._codecs.native import link_codec
from zarrix._codecs.python_codecs import ForeignCodecs, Run, number_slots
from zarrix._dtypes.variable import SERIALIZERS, data_type_name, is_variable
from zarrix._errors import MetadataError, UnknownCodecError, shorten

__all__ = [
    "ARRAY_TO_ARRAY",
    "ARRAY_TO_BYTES",
    "INDEX_CODECS",
    "bind_chain",
    "check_codecs",
    "dtype_after",
    "has_order",
    "inner_shape",
    "shard_of",
    "split_chain",
    "stored_order",
]

Config = Mapping[str, Any]

INDEX_CODECS: list[dict[str, Any]] = [
    {"name": "bytes", "configuration": {"endian": "little"}},
    {"name": "crc32c"},
]
"""The default codecs of a shard index."""

ARRAY_TO_ARRAY = frozenset(
    (
        "reshape",
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
        "n5_default",
        "sharding_indexed",
        "vlen-utf8",
        "vlen-bytes",
        "numcodecs.vlen-utf8",
        "numcodecs.vlen-bytes",
        "numcodecs.pcodec",
        "numcodecs.zfpy",
        "zfp",
    )
)
_NATIVE = ("blosc", "crc32c", "gzip", "zstd")
_VARIABLE = ("vlen-utf8", "vlen-bytes", "numcodecs.vlen-utf8", "numcodecs.vlen-bytes")
_OLD_NAMES = {"endian": "bytes"}
_SHAPING = ("reshape", "transpose")


def dtype_after(codec: Mapping[str, Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The elements that an array-to-array codec produces."""
    if codec["name"] in _SHAPING:
        return dtype
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


def has_order(dtype: np.dtype[Any]) -> bool:
    """Whether the bytes of an element can be stored in two orders."""
    return any(size > 1 for size, _ in words_of(dtype))


def split_chain(
    chain: Iterable[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """The codecs of a chain by kind: array to array, array to bytes, bytes to bytes."""
    arrays, middle, binary = [], [], []
    for codec in chain:
        if codec["name"] in ARRAY_TO_ARRAY:
            arrays.append(codec)
        elif codec["name"] in ARRAY_TO_BYTES:
            middle.append(codec)
        else:
            binary.append(codec)
    return arrays, middle, binary


# The configuration for the engine.


def stored_order(codecs: Iterable[Config], axes: int, where: str) -> tuple[int, ...]:
    """The order in which the axes of an array are stored, from the transpositions of a chain.

    After a codec that gives a chunk another shape, its axes are no longer those of the array.
    """
    order = tuple(range(axes))
    for codec in codecs:
        if codec["name"] == "transpose":
            order = tuple(order[axis] for axis in _permutation(codec, axes, where))
        elif codec["name"] in ARRAY_TO_ARRAY and codec["name"] not in ELEMENTWISE:
            break
    return order


def shard_of(codecs: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Configuration of the shards, if the chunks are shards whose inner chunks can be read
    alone.
    """
    for codec in codecs:
        if codec["name"] == "sharding_indexed":
            configuration: Mapping[str, Any] = codec.get("configuration", {})
            return configuration
        if codec["name"] != "transpose" and codec["name"] not in ELEMENTWISE:
            break
    return None


def _permutation(codec: Config, axes: int, where: str) -> tuple[int, ...]:
    order = codec.get("configuration", {}).get("order")
    if order in ("C", "F"):
        # Drafts of the specification had names for two of the orders.
        return tuple(range(axes)) if order == "C" else tuple(reversed(range(axes)))
    if not isinstance(order, list) or any(type(axis) is not int for axis in order):
        raise MetadataError(
            f"{where}: codec 'transpose' has the order {shorten(order)}, which is not a list"
        )
    if sorted(order) != list(range(axes)):
        raise MetadataError(
            f"{where}: codec 'transpose' has the order {order}; expected each of the {axes} axes "
            "once"
        )
    return tuple(order)


def bind_chain(
    codecs: Iterable[Config],
    dtype: np.dtype[Any],
    chunk_shape: tuple[int, ...],
    where: str,
    fill: bytes | None = None,
    *,
    new: bool = False,
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    """The engine's chain for chunks of a dtype and shape, and the Python codecs that it calls.
    ``fill`` is the fill value as the bytes of an element, None for zeros. Options that only an
    encoder uses are checked if the array is ``new``.

    Raises
    ------
    UnknownCodecError
        A codec is unknown, and must be understood.
    MetadataError
        The chain contradicts itself, the data type or the chunk shape.
    """
    foreign: list[ForeignCodecs] = []
    walk = _Walk(dtype, chunk_shape, f"{where}: key 'codecs'", foreign, fill, new=new)
    walk.all(list(codecs))
    return walk.numbered(), foreign


@dataclass
class _Walk:
    """The state of a chunk between two codecs of a chain: an array of a dtype and shape, then
    bytes. As long as all codecs before were transpositions, these are ``strided``: orders of axes,
    for which no element moves.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    where: str
    foreign: list[ForeignCodecs]
    fill: bytes | None = None
    strided: bool = True
    new: bool = False
    steps: list[dict[str, Any] | Run] = field(default_factory=list)
    size: int | None = 0
    is_bytes: bool = False

    def __post_init__(self) -> None:
        self.size = math.prod(self.shape) * self.dtype.itemsize

    def all(self, codecs: list[Config]) -> None:
        """Bind the whole chain."""
        codecs = _transpositions_first([codec for codec in codecs if self._is_known(codec)])
        for codec in _into_shards(codecs):
            self._one(codec)
        if not self.is_bytes:
            raise MetadataError(
                f"{self.where} has no codec that turns the array into bytes, such as 'bytes'"
            )

    def numbered(self) -> list[dict[str, Any]]:
        """The engine's chain; its slots follow those of other chains of the array."""
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
        on_arrays = name in ARRAY_TO_ARRAY or name in ARRAY_TO_BYTES
        if on_arrays and self.is_bytes:
            raise MetadataError(f"{self.where} has {name!r} after a codec that gives bytes")
        if not on_arrays and not self.is_bytes:
            raise MetadataError(
                f"{self.where} has {name!r}, which works on bytes, before a codec that gives them, "
                "such as 'bytes'"
            )
        if name in ARRAY_TO_ARRAY and name not in _SHAPING and is_variable(self.dtype):
            raise MetadataError(
                f"{self.where} has {name!r}, which needs fixed-size elements, and "
                f"{data_type_name(self.dtype)} is variable-length; leave it out"
            )
        if name == "transpose":
            self._transpose(codec)
        elif name == "reshape":
            self._reshape(configuration)
        elif name == "bytes":
            self._bytes(configuration)
        elif name == "sharding_indexed":
            self._shard(configuration)
        elif name == "n5_default":
            self._n5(configuration)
        elif name == "zfp":
            self._zfp(configuration)
        elif name in _VARIABLE:
            self._variable(name.removeprefix("numcodecs."))
        elif name in EXTENSIONS:
            bound = _bound(name, configuration, self.dtype, self.size, self.where)
            self._native(name, bound.configuration, bound.size)
            self._becomes(bound.dtype, bound.size)
            self.is_bytes = EXTENSIONS[name].gives == "bytes"
        elif name in _NATIVE:
            self._native(name, configuration)
            self.size = self.size + 4 if name == "crc32c" and self.size is not None else None
        else:
            self._numcodecs(name.removeprefix("numcodecs."), configuration)
            self.is_bytes = self.is_bytes or name in ARRAY_TO_BYTES

    def _native(
        self, name: str, configuration: dict[str, Any], encoded_bytes: int | None = None
    ) -> None:
        """A native codec, if the engine accepts the configuration."""

        def fault_of(given: dict[str, Any]) -> str | None:
            return _engine.codec_fault(name, json.dumps(given), self.dtype.itemsize)

        fault = fault_of(configuration)
        given: dict[str, Any] | None = configuration
        if self.new and name == "gzip" and configuration.get("level") == -1:
            # The engine knows it from v2.
            fault = "codec 'gzip': level -1 is outside 0..=9, which is what v3 allows"
        elif fault is not None and not self.new:
            given = encodable(name, configuration, lambda one: fault_of(one) is None)
            if given is None and name in LOSSY:
                self._run().add(DecodeOnly(name, bytes, f"{self.where}: {fault}"), encoded_bytes)
                return
            fault = fault if given is None else None
        if fault is not None:
            raise MetadataError(f"{self.where}: {fault}")
        self.steps.append({"name": name, "configuration": given})

    def _becomes(self, dtype: np.dtype[Any], size: int | None) -> None:
        """After a codec, elements are of ``dtype``, and the encoded bytes have the length
        ``size``.
        """
        if dtype != self.dtype and self.fill is not None:
            self.fill = _cast_fill(self.fill, self.dtype, dtype)
        self.dtype, self.size = dtype, size
        self.strided = False

    def _transpose(self, codec: Config) -> None:
        order = _permutation(codec, len(self.shape), self.where)
        if self.strided and len(order) > 1:
            self.steps.append({"name": "transpose", "configuration": {"order": order}})
        elif order != tuple(range(len(order))):
            if is_variable(self.dtype):
                raise MetadataError(
                    f"{self.where} has 'transpose' after 'reshape', which is not supported for "
                    "variable-length elements; put it first"
                )
            turn = {"shape": self.shape, "order": order, "item_bytes": self.dtype.itemsize}
            self.steps.append({"name": "zarrix.transpose", "configuration": turn})
        self.shape = tuple(self.shape[axis] for axis in order)

    def _reshape(self, configuration: Config) -> None:
        shape = reshaped(configuration.get("shape"), self.shape, self.where)
        self.strided = self.strided and shape == self.shape
        self.shape = shape

    def _bytes(self, configuration: Config) -> None:
        if is_variable(self.dtype):
            data_type = data_type_name(self.dtype) or ""
            raise MetadataError(
                f"{self.where}: codec 'bytes' is for fixed-size elements; those of {data_type} "
                f"need {SERIALIZERS[data_type]!r}"
            )
        endian = configuration.get("endian")
        if endian not in ("little", "big", None):
            raise MetadataError(
                f"{self.where}: codec 'bytes' has the endian {shorten(endian)}; allowed are "
                "'little' and 'big'"
            )
        if endian is None and has_order(self.dtype):
            raise MetadataError(
                f"{self.where}: codec 'bytes' has no 'endian', which elements of {self.dtype} need"
            )
        if endian == "big" and has_order(self.dtype):
            swap = {"name": "zarrix.byteswap", "configuration": {"runs": words_of(self.dtype)}}
            self.steps.append(swap)
        self.is_bytes = True

    def _variable(self, name: str) -> None:
        data_type = data_type_name(self.dtype)
        if SERIALIZERS.get(data_type or "") != name:
            raise MetadataError(
                f"{self.where}: codec {name!r} is not for elements of {data_type or self.dtype}"
            )
        # Variable-length elements are handled outside the chain.
        self.steps.append({"name": "bytes"})
        self.dtype, self.size, self.is_bytes = np.dtype("u1"), None, True

    def _shard(self, configuration: Config) -> None:
        inner = inner_shape(configuration, self.shape, self.where)
        where = f"{self.where}[sharding_indexed]"
        inside = _Walk(self.dtype, inner, where, self.foreign, self.fill, new=self.new)
        inside.all(_codec_list(configuration, "codecs", self.where))
        location = configuration.get("index_location", "end")
        if location not in ("start", "end"):
            raise MetadataError(
                f"{self.where}: sharding_indexed has the index_location {shorten(location)}; "
                "allowed are 'start' and 'end'"
            )
        grid = (*(n // m for n, m in zip(self.shape, inner, strict=True)), 2)
        place = f"{where}[index_codecs]"
        index = _Walk(np.dtype("u8"), grid, place, self.foreign, strided=False, new=self.new)
        index.all(_codec_list(configuration, "index_codecs", self.where))
        if index.size is None:
            raise MetadataError(
                f"{self.where}: sharding_indexed has 'index_codecs' whose output has no fixed "
                "length, which a shard index needs; leave out compressors"
            )
        shard: dict[str, Any] = {
            "chunk_shape": inner,
            "codecs": inside.numbered(),
            "index_codecs": index.numbered(),
            "index_location": location,
        }
        if self.strided:
            self.steps.append({"name": "sharding_indexed", "configuration": shard})
        else:
            self._whole_shard(shard)
        self.is_bytes, self.size = True, None

    def _whole_shard(self, shard: dict[str, Any]) -> None:
        """A shard after codecs that mix elements; it is read and written as a whole."""
        if is_variable(self.dtype):
            raise MetadataError(
                f"{self.where} has 'sharding_indexed' after 'reshape', which is not supported "
                "for variable-length elements; put 'reshape' into the codecs of the shard"
            )
        whole = {
            "shape": self.shape,
            "item_bytes": self.dtype.itemsize,
            "fill_value": None if self.fill is None else self.fill.hex(),
            "shard": shard,
        }
        self.steps.append({"name": "zarrix.shard", "configuration": whole})

    def _n5(self, configuration: Config) -> None:
        codecs = check_codecs(configuration.get("codecs"), f"{self.where}: n5_default has 'codecs'")
        self._check_n5(codecs)
        shape = self.shape
        self._transpose(codecs[0])
        place = f"{self.where}[n5_default]"
        inside = _Walk(self.dtype, self.shape, place, self.foreign, new=self.new)
        inside.all(codecs[1:])
        if any(isinstance(step, Run) for step in inside.steps):
            raise MetadataError(
                f"{self.where}: n5_default has 'codecs' with {codecs[-1]['name']!r}, which is "
                "not native; allowed are bytes, gzip, blosc, zstd and other native codecs"
            )
        fill = list(self.fill or bytes(self.dtype.itemsize))
        block = {"shape": shape, "fill_value": fill, "codecs": inside.steps}
        self.steps.append({"name": "n5_default", "configuration": block})
        self.is_bytes, self.size = True, None

    def _zfp(self, configuration: Config) -> None:
        from zarrix._codecs.zfp import Zfp

        try:
            codec = Zfp(configuration, self.dtype, self.shape, self.where)
        except ValueError as error:
            if isinstance(error, UnknownCodecError):
                raise
            raise MetadataError(
                f"{self.where}: codec 'zfp' has the configuration {shorten(dict(configuration))}, "
                f"and {error}"
            ) from None
        self._run().add(codec, None)
        self.is_bytes, self.size = True, None

    def _check_n5(self, codecs: list[Config]) -> None:
        """N5 has one order of axes, one byte order, at most one compressor, and few data types."""
        reverse = list(reversed(range(len(self.shape))))
        order = codecs[0].get("configuration", {}).get("order")
        names = [codec["name"] for codec in codecs]
        if names[:2] != ["transpose", "bytes"] or order != reverse or len(codecs) > 3:
            raise MetadataError(
                f"{self.where}: n5_default has the 'codecs' {shorten(list(map(dict, codecs)))}; "
                f"expected 'transpose' with the order {reverse}, 'bytes', and at most one codec "
                "that works on bytes"
            )
        if has_order(self.dtype) and codecs[1].get("configuration", {}).get("endian") != "big":
            raise MetadataError(f"{self.where}: n5_default has 'bytes' that are not big-endian")
        dtype = self.dtype
        if dtype.isbuiltin == 2 or dtype.kind not in "iuf" or dtype == np.dtype("f2"):
            raise MetadataError(
                f"{self.where}: n5_default is for integers, float32 and float64, not for {dtype}"
            )

    def _numcodecs(self, codec_id: str, configuration: dict[str, Any]) -> None:
        config = {"id": codec_id, **configuration}
        link = link_codec(config, self.dtype, self.size, self.where, new=self.new)
        if link.configuration is not None:
            self.steps.append({"name": link.name, "configuration": link.configuration})
        else:
            self._run().add(link.codec or config, link.encoded_bytes)
        if codec_id == "packbits" and not self.is_bytes:
            self.shape = (link.encoded_bytes or 0,)
        self._becomes(link.dtype, link.encoded_bytes)

    def _run(self) -> Run:
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Run):
            return last
        run = Run(self.dtype, None if self.is_bytes else self.shape)
        self.steps.append(run)
        return run


def _cast_fill(fill: bytes, before: np.dtype[Any], after: np.dtype[Any]) -> bytes | None:
    """A fill value as an element of another dtype; None, which means zeros, unless it is a
    number.
    """
    if not all(one.kind in "biuf" and one.isbuiltin != 2 for one in (before, after)):
        return None
    with np.errstate(all="ignore"):
        return np.frombuffer(fill, before).astype(after).tobytes()


def reshaped(given: Any, shape: tuple[int, ...], where: str) -> tuple[int, ...]:
    """The shape that a 'reshape' codec gives a chunk of ``shape``.

    References
    ----------
    Registry of Zarr extensions, codec ``reshape``.
    """
    fault = f"{where}: reshape has the 'shape' {shorten(given)}"
    if not isinstance(given, list) or not all(_is_extent(one, len(shape)) for one in given):
        raise MetadataError(
            f"{fault}; expected a list of lengths of at least 1, lists of axes below {len(shape)}, "
            "and at most one -1"
        )
    lengths = [math.prod(shape[a] for a in one) if isinstance(one, list) else one for one in given]
    named = [axis for one in given if isinstance(one, list) for axis in one]
    if named != sorted(set(named)) or lengths.count(-1) > 1:
        raise MetadataError(f"{fault}; its axes have to ascend, and -1 to be there once at most")
    known = math.prod(length for length in lengths if length != -1)
    lengths = [math.prod(shape) // known if length == -1 else length for length in lengths]
    if math.prod(lengths) != math.prod(shape):
        raise MetadataError(f"{fault}, which a chunk of {list(shape)} does not fit into")
    for position, one in enumerate(given):
        if isinstance(one, list) and one:
            before, behind = math.prod(lengths[:position]), math.prod(lengths[position + 1 :])
            outside = (math.prod(shape[: one[0]]), math.prod(shape[one[-1] + 1 :]))
            if (before, behind) != outside:
                raise MetadataError(
                    f"{fault}; the axes {one} of a chunk of {list(shape)} are not axis {position} "
                    "of the new shape"
                )
    return tuple(lengths)


def _is_extent(value: Any, axes: int) -> bool:
    if isinstance(value, list):
        return all(type(axis) is int and 0 <= axis < axes for axis in value)
    return type(value) is int and (value > 0 or value == -1)


def _transpositions_first(codecs: list[Config]) -> list[Config]:
    """The same chain, with transpositions moved before elementwise codecs."""
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
    """The same chain, with elementwise codecs moved into the shard that follows them. Then inner
    chunks can be read and written alone; the stored bytes are the same.
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


def _codec_list(configuration: Mapping[str, Any], key: str, where: str) -> list[Config]:
    return check_codecs(configuration.get(key), f"{where}: sharding_indexed has the {key!r}")


def check_codecs(value: Any, what: str) -> list[Config]:
    """Return ``value`` if it is a list of codec documents; ``what`` begins the error message.

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
    """The shape of the inner chunks of a shard, with axes in stored order."""
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
