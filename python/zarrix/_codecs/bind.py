"""Binding of codec chains: from the codecs of an array to the configuration of the engine.

There is one binder for v2 and v3. It follows the dtype, the shape and the number of bytes of a
chunk from codec to codec. Native codecs get their native configuration, with all values resolved
that depend on the dtype; all others become slots that the engine calls in Python
(`zarrix._codecs.python_codecs`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix import _engine
from zarrix._codecs.bound import UINT8
from zarrix._codecs.chain import check_codecs, permutation, reshaped
from zarrix._codecs.encoder_options import DecodeOnly, decodes_with, encodable
from zarrix._codecs.images import is_image
from zarrix._codecs.native import bind_image, bind_numcodecs, bind_registered
from zarrix._codecs.python_codecs import ForeignCodecs, Run, number_slots
from zarrix._codecs.shards import inner_shape, into_shards, transpositions_first
from zarrix._codecs.table import ARRAY_TO_ARRAY, ARRAY_TO_BYTES, BY_NAME, REGISTERED
from zarrix._dtypes.byte_order import has_order, word_runs
from zarrix._dtypes.variable import SERIALIZERS, data_type_name, is_variable
from zarrix._errors import MetadataError, UnknownCodecError, shorten

__all__ = ["bind_chain"]

Config = Mapping[str, Any]

_ON_BYTES = tuple(sorted(n for n, row in REGISTERED.items() if row.kind == "bytes-to-bytes"))
_SHAPING = ("reshape", "transpose")


def bind_chain(
    codecs: Iterable[Config],
    dtype: np.dtype[Any],
    chunk_shape: tuple[int, ...],
    label: str,
    fill: bytes | None = None,
    *,
    zarr_format: int = 3,
    has_compressor: bool = False,
    new: bool = False,
) -> tuple[list[dict[str, Any]], list[ForeignCodecs]]:
    """The engine's chain for chunks of a dtype and shape, and the Python codecs that it calls.

    Parameters
    ----------
    codecs : iterable of dict
        The chain of the metadata, in encoding order.
    dtype, chunk_shape : dtype, tuple of int
        Of a decoded chunk.
    label : str
        The metadata document, for messages.
    fill : bytes, optional
        The fill value as the bytes of an element; None for zeros.
    zarr_format : 2 or 3
        In v2, filters work on arrays and on bytes in any order.
    has_compressor : bool
        Whether the last codec of v2 is the compressor, and not a filter.
    new : bool
        Whether options that only an encoder uses are checked, as they are for a new array.

    Raises
    ------
    UnknownCodecError
        A codec is unknown, and must be understood.
    MetadataError
        The chain contradicts itself, the data type or the chunk shape.
    """
    foreign: list[ForeignCodecs] = []
    chain = list(codecs)
    if zarr_format == 2:
        filters = _Filters(dtype, chunk_shape, label, foreign, new=new)
        for left, codec in zip(reversed(range(len(chain))), chain, strict=True):
            key = "compressor" if has_compressor and not left else "filters"
            filters.where = f"{label}: key {key!r}"
            filters.one(codec)
        return filters.numbered(), foreign
    walk = _Walk(dtype, chunk_shape, f"{label}: key 'codecs'", foreign, fill, new=new)
    walk.all(chain)
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
    order: str = "C"
    steps: list[dict[str, Any] | Run] = field(default_factory=list)
    size: int | None = 0
    is_bytes: bool = False

    def __post_init__(self) -> None:
        self.size = math.prod(self.shape) * self.dtype.itemsize

    def all(self, codecs: list[Config]) -> None:
        """Bind the whole chain."""
        codecs = transpositions_first([codec for codec in codecs if self._is_known(codec)])
        for codec in into_shards(codecs):
            self._one(codec)
        if not self.is_bytes:
            raise MetadataError(
                f"{self.where} has no codec that turns the array into bytes, such as 'bytes'"
            )

    def numbered(self) -> list[dict[str, Any]]:
        """The engine's chain; its slots follow those of other chains of the array."""
        return number_slots(self.steps, self.order, self.foreign)

    def _is_known(self, codec: Config) -> bool:
        name = codec["name"]
        known = name in ARRAY_TO_ARRAY or name in ARRAY_TO_BYTES or name in _ON_BYTES
        if known or name.startswith("numcodecs."):
            return True
        # Import time: a registered codec of a user.
        from zarrix._codecs.user_codecs import find

        if find(name) is not None:
            return True
        if codec.get("must_understand") is False:
            return False
        raise UnknownCodecError(
            f"{self.where} has {name!r}, which this version does not know; known are "
            f"{', '.join(sorted((*_ON_BYTES, *ARRAY_TO_ARRAY, *ARRAY_TO_BYTES)))} and others of "
            "numcodecs as 'numcodecs.<id>'"
        )

    def _one(self, codec: Config) -> None:
        name = "bytes" if codec["name"] == "endian" else str(codec["name"])
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
        elif name == "conditional":
            self._conditional(configuration)
        elif name == "zfp":
            self._zfp(configuration)
        elif name.removeprefix("numcodecs.") in SERIALIZERS.values():
            self._variable(name.removeprefix("numcodecs."))
        elif is_image(name):
            self._image(name, configuration)
        elif name in REGISTERED and REGISTERED[name].bind is not None:
            bound = bind_registered(name, configuration, self.dtype, self.size, self.where)
            self._native(name, bound.configuration or {}, bound.encoded_bytes)
            self._becomes(bound.dtype, bound.encoded_bytes)
            self.is_bytes = name in ARRAY_TO_BYTES
        elif name in _ON_BYTES:
            self._native(name, configuration)
            self.size = self.size + 4 if name == "crc32c" and self.size is not None else None
        elif not name.startswith("numcodecs.") and name not in BY_NAME:
            self._user(dict(codec), name)
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
            if given is None and decodes_with(name) is not None:
                codec = DecodeOnly(name, bytes, f"{self.where}: {fault}")
                self._run().add(codec, encoded_bytes, self.where)
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
        order = permutation(codec, len(self.shape), self.where)
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
        # Filters may give elements in the other order, which v3 does not store as such.
        is_big = self.dtype.byteorder == ">"
        if (endian == "big") != is_big and has_order(self.dtype):
            swap = {"name": "zarrix.byteswap", "configuration": {"runs": word_runs(self.dtype)}}
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
        self.dtype, self.size, self.is_bytes = UINT8, None, True

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

    def _conditional(self, configuration: Config) -> None:
        """Codecs on bytes that a chunk has or has not; each has a bit, so that none is skipped."""
        label = f"{self.where}: conditional has 'codecs'"
        codecs = check_codecs(configuration.get("codecs"), label)
        place = f"{self.where}[conditional]"
        inside = _Walk(
            self.dtype, self.shape, place, self.foreign, is_bytes=True, new=self.new
        )  # fmt: skip
        for codec in codecs:
            inside._is_known({**codec, "must_understand": True})
            inside._one(codec)
        if any(isinstance(step, Run) or step["name"] == "conditional" for step in inside.steps):
            raise MetadataError(
                f"{label} {shorten(list(map(dict, codecs)))}; allowed are native codecs on bytes, "
                "such as gzip, blosc and zstd"
            )
        self._native("conditional", {**configuration, "codecs": inside.steps})
        self.size = None

    def _zfp(self, configuration: Config) -> None:
        # Import time: few programs read it.
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
        self._run().add(codec, None, self.where)
        self.is_bytes, self.size = True, None

    def _user(self, document: dict[str, Any], name: str) -> None:
        # Import time: a registered codec of a user.
        from zarrix._codecs.user_codecs import bound, find

        if is_variable(self.dtype):
            raise MetadataError(
                f"{self.where} has {name!r}, which needs fixed-size elements, and "
                f"{data_type_name(self.dtype)} is variable-length"
            )
        kind = find(name)
        assert kind is not None
        codec, dtype, shape, size = bound(
            kind.from_dict(document), self.dtype, self.shape, self.size
        )
        self._run().add(codec, size, self.where)
        self._becomes(UINT8 if dtype is None else dtype, size)
        self.shape, self.is_bytes = shape, dtype is None

    def _image(self, name: str, configuration: Config) -> None:
        bound = bind_image(name, configuration, self.dtype, self.shape, self.where, new=self.new)
        if bound.configuration is None:
            config = {"id": name.removeprefix("numcodecs."), **configuration}
            self._run().add(config, None, self.where)
        else:
            self._native(bound.name, bound.configuration)
        self.dtype, self.size, self.is_bytes = UINT8, None, True

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
        bound = bind_numcodecs(config, self.dtype, self.size, self.where, new=self.new)
        if bound.configuration is not None:
            self.steps.append({"name": bound.name, "configuration": bound.configuration})
        else:
            self._run().add(bound.codec or config, bound.encoded_bytes, self.where)
        if codec_id == "packbits" and not self.is_bytes:
            self.shape = (bound.encoded_bytes or 0,)
        self._becomes(bound.dtype, bound.encoded_bytes)

    def _run(self) -> Run:
        last = self.steps[-1] if self.steps else None
        if isinstance(last, Run):
            return last
        run = Run(self.dtype, None if self.is_bytes else self.shape)
        self.steps.append(run)
        return run


class _Filters(_Walk):
    """The same for the filters and the compressor of v2, which keep the byte order of the dtype.

    Two things differ from v3, and stored bytes depend on both. Only the first codec sees the shape
    of the chunk. With order "F", Python codecs get an array in Fortran order, which is not
    transposed.
    """

    def one(self, codec: Config) -> None:
        """Bind the next codec."""
        name = codec["name"]
        if name == "transpose":
            self.order = "F"
            if len(self.shape) > 1:
                self.steps.append(dict(codec))
        elif name == "bytes":
            self.steps.append({"name": "bytes"})
        elif is_variable(self.dtype):
            # Variable-length elements are encoded to bytes outside the chain.
            self.dtype, self.size, self.is_bytes = UINT8, None, True
        else:
            configuration = dict(codec.get("configuration", {}))
            if codec.get("frame_checksum"):
                configuration["checksum"] = True
            if is_image(name) and not self.is_bytes and self.order == "C":
                self._image(name, configuration)
            else:
                self._numcodecs(name.removeprefix("numcodecs."), configuration)
            self.is_bytes = True


def _cast_fill(fill: bytes, before: np.dtype[Any], after: np.dtype[Any]) -> bytes | None:
    """A fill value as an element of another dtype; None, which means zeros, unless it is a
    number.
    """
    if not all(one.kind in "biuf" and one.isbuiltin != 2 for one in (before, after)):
        return None
    with np.errstate(all="ignore"):
        return np.frombuffer(fill, before).astype(after).tobytes()


def _codec_list(configuration: Mapping[str, Any], key: str, label: str) -> list[Config]:
    return check_codecs(configuration.get(key), f"{label}: sharding_indexed has the {key!r}")
