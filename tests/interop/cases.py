"""The arrays that are exchanged with other implementations: data type x codec chain x layout.

A case is named ``<layout>/<data type>/<chain>``. The layouts are v2, v3 with a chunk to
a key, with shards, with shards in shards, and with chunks of several lengths along an axis. Values
are random bits, and the first chunk holds nothing but the fill value, so that every array has a
chunk, or an inner chunk, that is not stored.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numcodecs
import numpy as np
import zarrix as zarr
from numcodecs.checksum32 import JenkinsLookup3
from zarrix._dtypes.v3 import ML_TYPES
from zarrix.codecs import BytesCodec, ShardingCodec, VLenBytesCodec, VLenUTF8Codec

SHAPE, CHUNKS, SHARDS = (9, 10), (3, 4), (6, 8)
NUMBERS = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = ["M8[ns]", "M8[D]", "m8[ms]", "S1", "S5", "U3", "V1", "V7"]
FIELDS: dict[str, Any] = {
    "fields": [("a", "<i4"), ("b", "<f8"), ("c", "S3")],
    "nested": [("p", [("x", "<f4"), ("y", "<f4")]), ("flag", "?"), ("t", "<M8[s]")],
}
TEXT = ["", "a", "bé", "漢字", "\U0001f600z", "words " * 9]
BINARY = [b"", b"\0\xff", b"abc"]


@dataclass(frozen=True)
class Case:
    """How an array is made, and what is in it."""

    name: str
    values: np.ndarray[Any, Any]
    arguments: dict[str, Any] = field(repr=False)

    @property
    def group(self) -> str:
        """Layout and data type: what is one test."""
        return self.name.rpartition("/")[0]

    def create(self, store: Any) -> Any:
        """The array, with nothing in it."""
        return zarr.create_array(
            store, shape=SHAPE, config={"write_empty_chunks": False}, **self.arguments
        )


def ml_types() -> dict[str, Any]:
    """The data types of ml_dtypes that this version knows; none where it is not installed."""
    try:
        import ml_dtypes
    except ImportError:
        return {}
    names = ML_TYPES
    return {name: np.dtype(getattr(ml_dtypes, name)) for name in names if hasattr(ml_dtypes, name)}


def random_values(dtype: np.dtype[Any], name: str) -> np.ndarray[Any, Any]:
    """Any bits for numbers (all NaNs, infinities, NaT), sensible text and truth values."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4])
    values = _random(dtype, np.random.RandomState(seed))
    values[: CHUNKS[0], : CHUNKS[1]] = _zero(dtype)
    return values


def _zero(dtype: np.dtype[Any]) -> Any:
    return np.zeros((), dtype)[()]


def _random(dtype: np.dtype[Any], random: np.random.RandomState) -> np.ndarray[Any, Any]:
    count = SHAPE[0] * SHAPE[1]
    if dtype.names:
        values = np.zeros(SHAPE, dtype)
        for name in dtype.names:
            values[name] = _random(dtype[name], random)
        return values
    if dtype.kind == "b":
        return random.randint(0, 2, SHAPE).astype(dtype)
    if dtype.kind == "U":
        return np.array([TEXT[i] for i in random.randint(0, 5, count)], dtype).reshape(SHAPE)
    if dtype.kind == "S":
        # Bytes end at the last that is not zero; peers differ in what they do with those behind.
        letters = random.randint(1, 256, (count, dtype.itemsize)).astype("u1")
        return np.frombuffer(letters.tobytes(), dtype).reshape(SHAPE).copy()
    if dtype.isbuiltin == 2:
        # Bits above those of a narrow element are not part of its value.
        return (
            random.randint(-1, 2, SHAPE).astype("f4").astype(dtype)
            if _narrow(dtype)
            else (np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(SHAPE).copy())
        )
    return np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(SHAPE).copy()


def _narrow(dtype: np.dtype[Any]) -> bool:
    return "int" in dtype.name or "float4" in dtype.name or "float6" in dtype.name


def _objects(elements: list[Any], zero: Any) -> np.ndarray[Any, Any]:
    values = np.empty(SHAPE[0] * SHAPE[1], object)
    values[:] = [elements[i * 7 % 11 % len(elements)] for i in range(values.size)]
    values = values.reshape(SHAPE)
    values[: CHUNKS[0], : CHUNKS[1]] = zero
    return values


def _word(code: str) -> str:
    big = "-big" if code.startswith(">") else ""
    name = code.lstrip("<>|").replace("[", "-").rstrip("]").replace("?", "bool")
    return name + big


# v2.


def _chains_2(dtype: np.dtype[Any] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Chains for a data type; None is for variable-length elements."""
    blosc = numcodecs.Blosc
    compressors: dict[str, Any] = {
        "none": None,
        "blosc": blosc(),
        "blosc-zstd-bit": blosc("zstd", 3, blosc.BITSHUFFLE),
        "zstd": numcodecs.Zstd(3),
        "zlib": numcodecs.Zlib(2),
        "gzip": numcodecs.GZip(2),
        "lz4": numcodecs.LZ4(),
        "bz2": numcodecs.BZ2(),
        "lzma": numcodecs.LZMA(),
    }
    for name, compressor in compressors.items():
        yield name, {"compressors": compressor}
    zlib = compressors["zlib"]
    yield "F-zlib", {"compressors": zlib, "order": "F"}
    slash = {"name": "v2", "separator": "/"}
    yield "slash", {"compressors": zlib, "chunk_key_encoding": slash}
    if dtype is None:
        return
    filters: dict[str, Any] = {
        "shuffle": numcodecs.Shuffle(dtype.itemsize),
        "crc32": numcodecs.CRC32(),
        "adler32": numcodecs.Adler32(),
        "fletcher32": numcodecs.Fletcher32(),
    }
    filters.update(_typed_filters(dtype))
    if dtype.str in ("<i4", "<f8"):
        filters["base64"] = numcodecs.Base64()
        filters["jenkins"] = JenkinsLookup3(3)
    for name, one in filters.items():
        yield f"{name}-zlib", {"filters": [one], "compressors": zlib}


def _typed_filters(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Filters of numcodecs that keep every bit of what they are given."""
    filters: dict[str, Any] = {}
    if dtype.isbuiltin == 2:
        return filters
    if dtype.kind in "iu":
        filters["delta"] = numcodecs.Delta(dtype.str)
        if dtype.itemsize < 4:
            wide = np.dtype(f"{dtype.kind}{2 * dtype.itemsize}").newbyteorder(dtype.byteorder)
            filters["astype"] = numcodecs.AsType(wide.str, dtype.str)
            filters["fixedscaleoffset"] = numcodecs.FixedScaleOffset(0, 1, dtype.str, wide.str)
    if dtype.kind == "b":
        filters["packbits"] = numcodecs.PackBits()
    if dtype.kind == "U":
        filters["categorize"] = numcodecs.Categorize(TEXT, dtype.str)
    if dtype.str in ("<f4", "<f8"):
        filters["bitround"] = numcodecs.BitRound({4: 23, 8: 52}[dtype.itemsize])
    return filters


def _format_2() -> Iterator[Case]:
    codes = [np.dtype(code).str for code in (*NUMBERS, *OTHERS)]
    codes += [code.replace("<", ">") for code in codes if code.startswith("<")]
    dtypes: dict[str, Any] = {code: np.dtype(code) for code in codes}
    dtypes.update({name: np.dtype(fields) for name, fields in FIELDS.items()})
    for code, dtype in dtypes.items():
        for chain, how in _chains_2(dtype):
            name = f"2/{_word(code)}/{chain}"
            values = random_values(dtype.newbyteorder("<"), name)
            arguments = {"zarr_format": 2, "dtype": dtype, "chunks": CHUNKS}
            if np.dtype(dtype).kind in "mM":
                arguments["fill_value"] = 0
            yield Case(name, values, {**arguments, **how})
    for word, elements in (("text", TEXT), ("binary", BINARY)):
        kind = str if word == "text" else bytes
        for chain, how in _chains_2(None):
            values = _objects(elements, "" if word == "text" else b"")
            arguments = {"zarr_format": 2, "dtype": kind, "chunks": CHUNKS, "fill_value": kind()}
            yield Case(f"2/{word}/{chain}", values, {**arguments, **how})


# v3.


def _chains_3(dtype: np.dtype[Any] | None, basic: bool) -> Iterator[tuple[str, Any]]:
    """Name, and filters, serializer and compressors; all are tried only on some data types."""
    codecs = zarr.codecs
    little: Any = BytesCodec(endian="little")
    compressors: dict[str, list[Any]] = {
        "none": [],
        "blosc": [codecs.BloscCodec()],
        "zstd": [codecs.ZstdCodec(level=3)],
        "gzip": [codecs.GzipCodec(level=2)],
        "gzip-crc32c": [codecs.GzipCodec(level=2), codecs.Crc32cCodec()],
    }
    for name, packers in compressors.items():
        yield name, ([], little, packers)
    zstd = compressors["zstd"]
    yield "transpose-zstd", ([codecs.TransposeCodec(order=(1, 0))], little, zstd)
    if dtype is None:
        return
    if dtype.itemsize > 1 and dtype.kind not in "SV":
        yield "big-gzip", ([], BytesCodec(endian="big"), compressors["gzip"])
    yield "reshape-zstd", ([_named("reshape", shape=[1, -1])], little, zstd)
    if dtype.kind == "b":
        yield "packbits", ([_document(numcodecs.PackBits())], little, [])
        yield "registered-packbits", ([], _named("packbits"), [])
    if dtype.kind in "iuf" and dtype.isbuiltin == 1:
        yield "pcodec", ([], _named("numcodecs.pcodec"), [])
    if not basic:
        return
    yield "n5", ([], _n5(), [])
    yield "bitround", ([_named("bitround", keepbits=64)], little, zstd)
    yield "scale-offset", ([_named("scale_offset", offset=0)], little, zstd)
    yield "cast", ([_named("cast_value", data_type=f"{_name(dtype)}64")], little, zstd)
    for name, codec in {
        "zlib": numcodecs.Zlib(2),
        "lz4": numcodecs.LZ4(),
        "bz2": numcodecs.BZ2(),
        "lzma": numcodecs.LZMA(),
        "shuffle": numcodecs.Shuffle(dtype.itemsize),
        "crc32": numcodecs.CRC32(),
        "adler32": numcodecs.Adler32(),
        "fletcher32": numcodecs.Fletcher32(),
        "jenkins": JenkinsLookup3(3),
    }.items():
        yield f"numcodecs-{name}", ([], little, [_document(codec)])
    for name, codec in _typed_filters(dtype).items():
        yield f"numcodecs-{name}", ([_document(codec)], little, zstd)


def _named(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def _name(dtype: np.dtype[Any]) -> str:
    return {"i": "int", "f": "float"}[dtype.kind]


def _n5() -> dict[str, Any]:
    gzip = _named("gzip", level=2)
    chain = [_named("transpose", order=[1, 0]), _named("bytes", endian="big"), gzip]
    return _named("n5_default", codecs=chain)


def _document(codec: Any) -> dict[str, Any]:
    """A codec of numcodecs as v3 has it."""
    configuration = codec.get_config()
    return {"name": f"numcodecs.{configuration.pop('id')}", "configuration": configuration}


def _format_3() -> Iterator[Case]:
    dtypes: dict[str, Any] = {code: np.dtype(code) for code in (*NUMBERS, *OTHERS)}
    dtypes.update({name: np.dtype(fields) for name, fields in FIELDS.items()})
    dtypes.update(ml_types())
    layouts = ("3", "3-sharded", "3-nested")
    for (code, dtype), layout in itertools.product(dtypes.items(), layouts):
        for chain, codecs in _chains_3(dtype, code in ("i4", "f8")):
            name = f"{layout}/{_word(code)}/{chain}"
            values = random_values(dtype, name)
            fill = {"fill_value": _zero(dtype)} if dtype.kind in "mM" else {}
            yield Case(name, values, {"dtype": dtype, **fill, **_layout(layout, *codecs)})
    for word, elements in (("text", TEXT), ("binary", BINARY)):
        kind, serializer = (str, VLenUTF8Codec()) if word == "text" else (bytes, VLenBytesCodec())
        for layout in layouts:
            for chain, (filters, _, compressors) in _chains_3(None, False):
                values = _objects(elements, kind())
                how = _layout(layout, filters, serializer, compressors)
                yield Case(f"{layout}/{word}/{chain}", values, {"dtype": kind, **how})
    values = random_values(np.dtype("f4"), "more")
    zstd = [zarr.codecs.ZstdCodec()]
    for location in ("start", "end"):
        shards = {"shape": SHARDS, "index_location": location}
        how = {"chunks": CHUNKS, "shards": shards, "compressors": zstd}
        yield Case(f"3-sharded/f4/index-{location}", values, {"dtype": "f4", **how})
    yield from _shards(values)
    for encoding, separator in itertools.product(("default", "v2"), "./"):
        how = {"chunks": CHUNKS, "compressors": zstd}
        how["chunk_key_encoding"] = {"name": encoding, "separator": separator}
        word = "dot" if separator == "." else "slash"
        yield Case(f"3/f4/keys-{encoding}-{word}", values, {"dtype": "f4", **how})
    yield from _rectilinear()


def _shards(values: np.ndarray[Any, Any]) -> Iterator[Case]:
    """What may stand before a shard, and what its index may be."""
    codecs = zarr.codecs
    little, big = BytesCodec(endian="little"), BytesCodec(endian="big")
    crc32c, turn = codecs.Crc32cCodec(), codecs.TransposeCodec(order=(1, 0))
    turned = codecs.TransposeCodec(order=(1, 0, 2))
    chains: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "before-transpose": ([turn], {"chunk_shape": CHUNKS[::-1]}),
        "before-delta": ([_document(numcodecs.Delta("<i4"))], {}),
        "before-reshape": ([_named("reshape", shape=[-1])], {"chunk_shape": (12,)}),
        "index-big": ([], {"index_codecs": [big, crc32c]}),
        "index-without-checksum": ([], {"index_codecs": [little]}),
        "index-crc32": ([], {"index_codecs": [little, _document(numcodecs.CRC32())]}),
        "index-transposed": ([], {"index_codecs": [turned, little]}),
    }
    for name, (filters, changes) in chains.items():
        chain = [little, codecs.BloscCodec()]
        shard = ShardingCodec(**{"chunk_shape": CHUNKS, "codecs": chain, **changes})
        how = {"chunks": SHARDS, "filters": filters, "serializer": shard, "compressors": None}
        data = values.view("i4")
        yield Case(f"3-sharded/i4/{name}", data, {"zarr_format": 3, "dtype": "i4", **how})


def _rectilinear() -> Iterator[Case]:
    """Chunks, and shards, of several lengths along an axis."""
    codecs = zarr.codecs
    gzip = {"compressors": [codecs.GzipCodec(level=2)]}
    turn = {"filters": [codecs.TransposeCodec(order=(1, 0))], **gzip}
    shards = {"chunks": (3, 2), "shards": [[3, 6], [4, 6]], **gzip}
    layouts: dict[str, dict[str, Any]] = {
        "both": {"chunks": [[3, 2, 4], [4, 1, 5]], **gzip},
        "one": {"chunks": [[3, 6], 4], **gzip},
        "runs": {"chunks": [[(3, 2), 3], [4, (1, 6)]], **gzip},
        "transpose": {"chunks": [[3, 2, 4], [4, 6]], **turn},
        "shards": shards,
    }
    for code, (name, how) in itertools.product(("i4", "f8", "S5", "?"), layouts.items()):
        dtype = np.dtype(code)
        full = f"3-rectilinear/{_word(code)}/{name}"
        yield Case(full, random_values(dtype, full), {"zarr_format": 3, "dtype": dtype, **how})
    values = _objects(TEXT, "")
    chunks = [[3, 2, 4], [4, 6]]
    yield Case(
        "3-rectilinear/text/both", values, {"zarr_format": 3, "dtype": str, "chunks": chunks}
    )


def _layout(layout: str, filters: Any, serializer: Any, compressors: Any) -> dict[str, Any]:
    if layout == "3-nested":
        chain = [*filters, serializer, *compressors]
        inner, outer = CHUNKS, (SHARDS[0], CHUNKS[1])
        if filters and hasattr(filters[0], "order"):
            # Shards inside shards are transposed as a whole.
            chain = [serializer, *compressors]
        shard = ShardingCodec(chunk_shape=inner, codecs=chain)
        shard = ShardingCodec(chunk_shape=outer, codecs=[shard])
        return {
            "zarr_format": 3,
            "chunks": (12, 8),
            "filters": None,
            "serializer": shard,
            "compressors": None,
        }
    shards = {"shards": SHARDS} if layout == "3-sharded" else {}
    return {
        "zarr_format": 3,
        "chunks": CHUNKS,
        "filters": filters,
        "serializer": serializer,
        "compressors": compressors,
        **shards,
    }


def cases() -> dict[str, Case]:
    """All cases by name."""
    table: dict[str, Case] = {}
    for case in itertools.chain(_format_2(), _format_3()):
        assert case.name not in table, case.name
        table[case.name] = case
    return table
