"""The arrays that are drawn: format, elements, shape, chunk grid, shards, codecs, store."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numcodecs
import numpy as np
import zarrix as zarr
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from numcodecs.registry import register_codec

from model.elements import ELEMENTS, Elements, Values, filled, fills_of


def blosc(cname: str, shuffle: int, level: int = 5, block: int = 0) -> numcodecs.Blosc:
    return numcodecs.Blosc(cname=cname, clevel=level, shuffle=shuffle, blocksize=block)


def delta(dtype: np.dtype[Any]) -> numcodecs.Delta:
    return numcodecs.Delta(dtype=dtype.str)


class Inverted(Codec):
    """A codec that only the registry of numcodecs has: every bit inverted."""

    codec_id = "zarrix-test-inverted"

    def encode(self, buf: Any) -> bytes:
        return (~ensure_contiguous_ndarray(buf).view("u1")).tobytes()

    def decode(self, buf: Any, out: Any = None) -> Any:
        return ndarray_copy(self.encode(buf), out)


register_codec(Inverted)

Chain = tuple[list[Any], Any]

# Filters and a compressor, made for a dtype. Delta of floats loses bits by design.
CODECS: dict[str, Callable[[np.dtype[Any]], Chain]] = {
    "default": lambda _: ([], "default"),
    "none": lambda _: ([], None),
    "blosc blosclz byte": lambda _: ([], blosc("blosclz", 1)),
    "blosc lz4 none": lambda _: ([], blosc("lz4", 0)),
    "blosc lz4 bit": lambda _: ([], blosc("lz4", 2, block=128)),
    "blosc lz4hc byte": lambda _: ([], blosc("lz4hc", 1)),
    "blosc zlib bit": lambda _: ([], blosc("zlib", 2)),
    "blosc zstd byte": lambda _: ([], blosc("zstd", 1, level=1)),
    "blosc zstd bit": lambda _: ([], blosc("zstd", 2, block=512)),
    "blosc copy": lambda _: ([], blosc("lz4", 1, level=0)),
    "zstd": lambda _: ([], numcodecs.Zstd(level=1)),
    "zstd checksum": lambda _: ([], numcodecs.Zstd(level=1, checksum=True)),
    "gzip": lambda _: ([], numcodecs.GZip(level=1)),
    "zlib": lambda _: ([], numcodecs.Zlib(level=1)),
    "lz4": lambda _: ([], numcodecs.LZ4()),
    "bz2": lambda _: ([], numcodecs.BZ2()),
    "lzma": lambda _: ([], numcodecs.LZMA(preset=0)),
    "foreign": lambda _: ([], Inverted()),
    "foreign + foreign + zlib": lambda _: ([Inverted(), Inverted()], numcodecs.Zlib(level=1)),
    "shuffle + zstd": lambda d: ([numcodecs.Shuffle(d.itemsize)], numcodecs.Zstd(level=1)),
    "crc32": lambda _: ([numcodecs.CRC32()], None),
    "fletcher32 + lz4": lambda _: ([numcodecs.Fletcher32()], numcodecs.LZ4()),
    "adler32 + zlib": lambda _: ([numcodecs.Adler32()], numcodecs.Zlib(level=1)),
    "jenkins + base64": lambda _: ([numcodecs.JenkinsLookup3(), numcodecs.Base64()], None),
    "delta + zstd": lambda d: ([delta(d)], numcodecs.Zstd(level=1)),
    "delta + shuffle + crc32": lambda d: (
        [delta(d), numcodecs.Shuffle(d.itemsize), numcodecs.CRC32()],
        None,
    ),
    "packbits": lambda _: ([numcodecs.PackBits()], None),
    "packbits + gzip": lambda _: ([numcodecs.PackBits()], numcodecs.GZip(level=1)),
}
# How v3 chunks are arranged; those of sharded arrays that are drawn are inner chunks.
GRIDS = (
    *("regular", "big-endian", "shards", "index first", "nested"),
    *("lists", "lists of shards"),
)
STORES = ("directory", "nested", "in a group", "memory", "dict", "zip")


def elements_for(codec: str) -> list[str]:
    """The elements that a codec is defined on, and keeps the bits of."""
    # Shuffle needs complete elements, which variable-length chunks need not have.
    kinds = {"delta": "iu", "packbits": "b", "shuffle": "biufcmMSUVML"}.get(codec.split()[0])
    return [name for name, one in ELEMENTS.items() if kinds is None or one.kind in kinds]


@dataclass
class Layout:
    elements: str
    codec: str
    order: str
    shape: tuple[int, ...]
    chunks: Any
    fill: Any
    separator: str
    store: str
    write_empty_chunks: bool
    zarr_format: int
    grid: str

    @property
    def of(self) -> Elements:
        return ELEMENTS[self.elements]

    def create(self, folder: Path) -> tuple[Any, str, Any]:
        """The store, the path in it, and the array."""
        path = ""
        store: Any = str(folder)
        if self.store == "nested":
            store = zarr.NestedDirectoryStore(str(folder))
        elif self.store == "in a group":
            top = zarr.open_group(str(folder), mode="w", zarr_format=self.zarr_format)
            top.create_group("a")
            path = "a/b"
        elif self.store == "memory":
            store = zarr.MemoryStore()
        elif self.store == "dict":
            store = {}
        elif self.store == "zip":
            store = zarr.ZipStore(folder.with_suffix(".zip"), mode="w")
        array = zarr.create(
            store=store,
            path=path,
            shape=self.shape,
            dtype=self.of.given,
            fill_value=self.fill,
            dimension_separator=None if self.store == "nested" else self.separator,
            write_empty_chunks=self.write_empty_chunks,
            zarr_format=self.zarr_format,
            **self.of.keywords,
            **self._chain_and_grid(),
        )
        return store, path, array

    def empty(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Values:
        """An array of this layout to which nothing was written."""
        made = np.empty(shape, dtype)
        made[...] = filled(self.fill, self.zarr_format, dtype)
        return made

    def _chain_and_grid(self) -> dict[str, Any]:
        """What ``create`` takes, in the words of either generation."""
        if self.grid == "nested":
            twice = tuple(2 * n for n in self.chunks)
            serializer = zarr.codecs.BytesCodec()
            if self.of.pool:
                text = self.elements == "text"
                serializer = zarr.codecs.VLenUTF8Codec() if text else zarr.codecs.VLenBytesCodec()
            chain = [serializer, zarr.codecs.ZstdCodec()]
            inner = zarr.codecs.ShardingCodec(chunk_shape=self.chunks, codecs=chain)
            return {
                "codecs": [zarr.codecs.ShardingCodec(chunk_shape=twice, codecs=[inner])],
                "chunks": tuple(2 * n for n in twice),
            }
        # In v3 the byte order is a codec's, and codecs on elements see native ones.
        dtype = self.of.dtype if self.zarr_format == 2 else self.of.dtype.newbyteorder("=")
        filters, compressor = CODECS[self.codec](dtype)
        made = {"filters": filters, "compressor": compressor, "chunks": self.chunks}
        made["order"] = self.order
        if self.grid == "shards":
            made["shards"] = tuple(2 * n for n in self.chunks)
        elif self.grid == "index first":
            doubled = tuple(2 * n for n in self.chunks)
            made["shards"] = {"shape": doubled, "index_location": "start"}
        elif self.grid == "lists of shards":
            made["chunks"], made["shards"] = self.chunks
        elif self.grid == "big-endian":
            made["serializer"] = zarr.codecs.BytesCodec(endian="big")
        return made


def draw_layout(random: Random) -> Layout:
    codec = random.choice(sorted(CODECS))
    # Some by their kind: types of fixed size are many, and alike.
    by_kind: dict[str, list[str]] = {}
    for each in elements_for(codec):
        by_kind.setdefault(ELEMENTS[each].kind, []).append(each)
    kind = by_kind[random.choice(sorted(by_kind))]
    name = random.choice(random.choice((kind, elements_for(codec))))
    elements = ELEMENTS[name]
    axes = random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
    # Small arrays have many edges; large ones, of a few chunks, go through the pool of threads.
    large = random.random() < 0.25 and not elements.pool
    longest = ((0, 11, 11, 7, 5), (0, 9000, 95, 21, 9))[large][axes]
    shape = tuple(random.randint(longest // 2 if large else 0, longest) for _ in range(axes))
    chunks: Any = tuple(random.randint(n // 3 + 1 if large else 1, n + 2) for n in shape)
    zarr_format = random.choice(elements.formats)
    grid = _draw_grid(random, zarr_format, elements, axes)
    if grid == "lists":
        chunks = tuple(_lengths(random, n) for n in shape)
    elif grid == "lists of shards":
        chunks = (
            chunks,
            tuple(_lengths(random, n, of) for n, of in zip(shape, chunks, strict=True)),
        )
    elif grid in ("regular", "big-endian"):
        # Chunks of a length of 0, as False makes them of an empty axis, can never grow.
        chunks = random.choice((chunks, chunks, chunks, True, 0 in shape or False))
    return Layout(
        zarr_format=zarr_format,
        grid=grid,
        elements=name,
        codec="zstd alone" if grid == "nested" else codec,
        order="C" if grid == "nested" else random.choice("CF"),
        shape=shape,
        chunks=chunks,
        fill=random.choice(fills_of(elements)),
        separator=random.choice("./"),
        store=random.choice(STORES),
        write_empty_chunks=random.random() < 0.5,
    )


def _draw_grid(random: Random, zarr_format: int, elements: Elements, axes: int) -> str:
    if zarr_format == 2:
        return "regular"
    grids = list(GRIDS)
    # Structures are not swapped by one codec, and variable-length elements have no byte order.
    if elements.kind not in "?biufcmM":
        grids.remove("big-endian")
    if not axes:
        grids = [one for one in grids if not one.startswith("lists")]
    return random.choice(grids)


def _lengths(random: Random, size: int, unit: int = 1) -> list[int]:
    """Chunks, each of a multiple of ``unit``, that end with the last multiple ``size`` is in."""
    end = -(-size // unit) * unit or unit
    lengths: list[int] = []
    while sum(lengths) < end:
        lengths.append(unit * random.randint(1, max(1, end // unit // 2)))
    lengths[-1] -= sum(lengths) - end
    return lengths
