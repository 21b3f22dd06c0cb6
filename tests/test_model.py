"""A stored array behaves as the NumPy array beside it, whatever is done to both.

A Hypothesis state machine draws an array (format, dtype, shape, chunks, shards, order, codec, fill
value, separator, store), then reads, writes, grows, shrinks and reopens it next to a NumPy model,
and compares every result bit by bit: payloads of NaN, signs of zero and padding included. It runs
twice: with one handle, and with two that two threads use in turn and at once. The default is a
fixed run of seconds; the long one is

    ZARRIX_MODEL_EXAMPLES=500 ZARRIX_MODEL_STEPS=50 pytest tests/test_model.py

which draws anew each time. Either prints how often each dtype, codec, order and kind of selection
was drawn, since a model test that never drew a case says nothing about it.
"""

import os
import pickle
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy
from numcodecs.registry import register_codec

EXAMPLES = int(os.environ.get("ZARRIX_MODEL_EXAMPLES", "100"))
STEPS = int(os.environ.get("ZARRIX_MODEL_STEPS", "30"))
LONG = "ZARRIX_MODEL_EXAMPLES" in os.environ
MOST_ELEMENTS = 10_000

Values = np.ndarray[Any, Any]

NUMBERS = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
OTHERS = ("M8[ns]", "M8[D]", "m8[ms]", "S1", "S6", "U3")
IN_EITHER_ORDER = [np.dtype(order + code) for order in "<>" for code in (*NUMBERS, *OTHERS)]

DTYPES: dict[str, np.dtype[Any]] = {
    **{dtype.str: dtype for dtype in IN_EITHER_ORDER},
    "|V5": np.dtype("V5"),
    "|S200": np.dtype("S200"),
    "fields": np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3")]),
    "sub-arrays": np.dtype([("xy", "<f4", (2,)), ("m", ">u2", (2, 2)), ("t", "<M8[s]")]),
    "nested": np.dtype([("p", [("x", "<f4"), ("y", ">c8")]), ("flag", "?")]),
}


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


# A chain of filters and a compressor, made for a dtype. Delta of floats loses bits by design.
CODECS: dict[str, Callable[[np.dtype[Any]], tuple[list[Any], Any]]] = {
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
    "delta + zstd": lambda d: ([delta(d)], numcodecs.Zstd(level=1)),
    "delta + shuffle + crc32": lambda d: (
        [delta(d), numcodecs.Shuffle(d.itemsize), numcodecs.CRC32()],
        None,
    ),
    "packbits": lambda _: ([numcodecs.PackBits()], None),
    "packbits + gzip": lambda _: ([numcodecs.PackBits()], numcodecs.GZip(level=1)),
}
# How chunks of format 3 are grouped; the chunks that are drawn are inner ones.
SHARDS = ("none", "shards", "index first", "nested", "big-endian")
STORES = ("directory", "nested", "in a group", "memory", "dict")
SELECTIONS = (
    *("integer", "slice", "step", "negative step", "ellipsis", "newaxis", "fewer axes"),
    *("nothing selected", "everything", "scalar"),
)

drawn: dict[str, Counter[str]] = {
    kind: Counter()
    for kind in (
        *("format", "dtype", "codec", "order", "shards", "selection", "store", "axes", "step"),
    )
}


def dtypes_for(codec: str) -> list[str]:
    kinds = {"delta": "iu", "packbits": "b"}.get(codec.split()[0], "biufcmMSUV")
    return sorted(name for name, dtype in DTYPES.items() if dtype.kind in kinds)


def values_of(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int) -> Values:
    """Any bits that the dtype can hold; about a third of the seeds give few distinct values."""
    random = np.random.RandomState(seed)
    count = int(np.prod(shape))
    if dtype.names:
        values = np.zeros(count, dtype)
        for i, name in enumerate(dtype.names):
            field = dtype[name]
            values[name] = values_of(field.base, (count, *field.shape), seed + i)
        return values.reshape(shape)
    if dtype.kind == "b":
        return random.randint(0, 2, shape).astype(dtype)
    if dtype.kind == "U":
        words = np.array(["", "a", "éb", "漢字", "\U0001f600", "xyz"], dtype)
        return np.asarray(words[random.randint(0, 6, shape)], dtype)
    values = np.frombuffer(random.bytes(count * dtype.itemsize), dtype).reshape(shape)
    if seed % 3 == 0 and count:
        values = values.reshape(-1)[random.randint(0, 2, count) % count].reshape(shape)
    return values.copy()


def fill_values(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    """None, zero, and what the JSON of format 2 can spell for the dtype."""
    kind = dtype.kind
    special: list[Any] = []
    if kind == "f":
        special = [np.nan, np.inf, -np.inf, 1.5]
    elif kind == "c":
        special = [complex(np.nan, -np.inf), complex(1.5, -2)]
    elif kind in "mM":
        special = [np.array("NaT", dtype)[()], np.array(7, "i8").astype(dtype)[()]]
    else:
        special = [values_of(dtype, (), seed)[()] for seed in (1, 2)]
    return st.sampled_from([None, 0, *special])


@dataclass
class Layout:
    dtype: str
    codec: str
    order: str
    shape: tuple[int, ...]
    chunks: Any
    fill: Any
    separator: str
    store: str
    write_empty_chunks: bool
    zarr_format: int = 2
    shards: str = "none"

    @property
    def stored_dtype(self) -> np.dtype[Any]:
        """In format 3 the byte order is a codec's, and what is read is native."""
        dtype = DTYPES[self.dtype]
        return dtype if self.zarr_format == 2 else dtype.newbyteorder("=")

    def keywords(self) -> dict[str, Any]:
        """What ``create`` takes, in the words of either generation."""
        filters, compressor = CODECS[self.codec](self.stored_dtype)
        given: dict[str, Any] = {
            "filters": filters,
            "compressor": compressor,
            "chunks": self.chunks,
            "zarr_format": self.zarr_format,
        }
        twice = isinstance(self.chunks, tuple) and tuple(2 * n for n in self.chunks)
        if self.shards == "shards":
            given["shards"] = twice
        elif self.shards == "index first":
            given["shards"] = {"shape": twice, "index_location": "start"}
        elif self.shards == "nested":
            assert isinstance(twice, tuple)
            chain = [zarr.codecs.BytesCodec(), zarr.codecs.ZstdCodec()]
            inner = zarr.codecs.ShardingCodec(chunk_shape=self.chunks, codecs=chain)
            given = {
                "codecs": [zarr.codecs.ShardingCodec(chunk_shape=twice, codecs=[inner])],
                "chunks": tuple(2 * n for n in twice),
            }
        elif self.shards == "big-endian":
            given["serializer"] = zarr.codecs.BytesCodec(endian="big")
        return given


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    codec = draw(st.sampled_from(sorted(CODECS)))
    name = draw(st.sampled_from(dtypes_for(codec)))
    axes = draw(st.sampled_from((0, 1, 1, 2, 2, 2, 3, 3, 4)))
    # Small arrays have many edges; large ones, of a few chunks, go through the pool of threads.
    large = draw(st.sampled_from((False, False, False, True)))
    longest = ((0, 11, 11, 7, 5), (0, 9000, 95, 21, 9))[large][axes]
    shape = tuple(draw(st.integers(longest // 2 if large else 0, longest)) for _ in range(axes))
    chunks = tuple(draw(st.integers(size // 3 + 1 if large else 1, size + 2)) for size in shape)
    # Format 3 has no data types with sub-arrays.
    zarr_format = 2 if name == "sub-arrays" else draw(st.sampled_from((2, 3)))
    shards = "none"
    if zarr_format == 3:
        # Structures are not swapped by one codec, and stay big-endian to NumPy.
        plain = DTYPES[name].names is None
        shards = draw(st.sampled_from(SHARDS if plain else SHARDS[:-1]))
    whole = shards not in ("none", "big-endian")
    return Layout(
        zarr_format=zarr_format,
        shards=shards,
        dtype=name,
        codec=codec,
        order=draw(st.sampled_from("CF")),
        shape=shape,
        # Chunks of a length of 0, as False makes them of an empty axis, can never grow.
        chunks=chunks
        if whole
        else draw(st.sampled_from((chunks, chunks, chunks, True, 0 in shape or False))),
        fill=draw(fill_values(DTYPES[name])),
        separator=draw(st.sampled_from("./")),
        store=draw(st.sampled_from(STORES)),
        write_empty_chunks=draw(st.booleans()),
    )


@st.composite
def axis_keys(draw: st.DrawFn, size: int) -> Any:
    """An integer or a slice of any start, stop and step; bounds may lie outside the axis."""
    if size and draw(st.booleans()):
        index = draw(st.integers(-size, size - 1))
        return draw(st.sampled_from((index, np.int64(index))))
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.sampled_from((None, 1, 1, 2, 3, -1, -1, -2, -5))
    return slice(draw(bound), draw(bound), draw(step))


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...], newaxis: bool = False) -> Any:
    """A key of basic indexing, as a tuple or bare where one item is enough."""
    if draw(st.integers(0, 7)) == 0:
        return draw(
            st.sampled_from((..., (), slice(None))) if shape else st.sampled_from((..., ()))
        )
    items = [draw(axis_keys(size)) for size in shape]
    form = draw(st.sampled_from(("all", "all", "ellipsis", "fewer")))
    if form == "fewer" and items:
        items = items[: draw(st.integers(1, len(items)))]
    elif form == "ellipsis":
        start = draw(st.integers(0, len(items)))
        end = draw(st.integers(start, len(items)))
        items[start:end] = [Ellipsis]
    if newaxis:
        for _ in range(draw(st.integers(0, 2))):
            items.insert(draw(st.integers(0, len(items))), None)
    if len(items) == 1 and draw(st.booleans()):
        return items[0]
    return tuple(items)


def kinds_of(key: Any, shape: tuple[int, ...], result: Values) -> set[str]:
    """Which of SELECTIONS a key is."""
    items = key if isinstance(key, tuple) else (key,)
    slices = [item for item in items if isinstance(item, slice)]
    steps = [item.step or 1 for item in slices]
    kinds = {
        "integer": any(isinstance(item, int | np.integer) for item in items),
        "slice": bool(slices),
        "step": any(step > 1 for step in steps),
        "negative step": any(step < 0 for step in steps),
        "ellipsis": any(item is Ellipsis for item in items),
        "newaxis": any(item is None for item in items),
        "fewer axes": ... not in items and sum(item is not None for item in items) < len(shape),
        "nothing selected": result.size == 0,
        "everything": result.shape == shape and bool(shape),
        "scalar": result.shape == (),
    }
    return {kind for kind, found in kinds.items() if found}


def assert_same_bits(got: Any, want: Any, dtype: np.dtype[Any]) -> None:
    """Shape, dtype and every bit; scalars, which NumPy makes native, in the byte order stored."""
    want = np.asarray(want, dtype)
    if want.shape:
        assert got.dtype == dtype
    got = np.asarray(got, dtype)
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes(), f"{got!r} is not {want!r}"


class StoredArray(RuleBasedStateMachine):
    """The rules: what may be done to a stored array, done to the model too."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.made = 0

    @initialize(layout=layouts())
    def start(self, layout: Layout) -> None:
        self.create(layout)

    # Hypothesis varies what follows the start of an example more than the start itself.
    @rule(layout=layouts())
    def start_again(self, layout: Layout) -> None:
        self.create(layout)

    def create(self, layout: Layout) -> None:
        self.layout = layout
        self.dtype = layout.stored_dtype
        self.second = None
        self.made += 1
        root = Path(self.folder.name) / f"{self.made}.zarr"
        self.path = ""
        self.store: Any = str(root)
        if layout.store == "nested":
            self.store = zarr.NestedDirectoryStore(str(root))
        elif layout.store == "in a group":
            top = zarr.open_group(str(root), mode="w", zarr_format=layout.zarr_format)
            top.create_group("a")
            self.path = "a/b"
        elif layout.store == "memory":
            self.store = zarr.MemoryStore()
        elif layout.store == "dict":
            self.store = {}
        separator = None if layout.store == "nested" else layout.separator
        self.z = zarr.create(
            store=self.store,
            path=self.path,
            shape=layout.shape,
            dtype=DTYPES[layout.dtype],
            order="C" if layout.shards == "nested" else layout.order,
            fill_value=layout.fill,
            dimension_separator=separator,
            write_empty_chunks=layout.write_empty_chunks,
            **layout.keywords(),
        )
        self.fill = np.zeros((), self.dtype)
        if layout.fill is None and layout.zarr_format == 3 and self.dtype.kind in "mM":
            self.fill[()] = "NaT"
        # None and 0 both read as zero bytes, also where NumPy would make a 0 the text "0".
        if layout.fill is not None and not (type(layout.fill) is int and layout.fill == 0):
            self.fill[()] = layout.fill
        self.model: Values = self.filled(layout.shape)
        for kind, name in (
            ("format", str(layout.zarr_format)),
            ("shards", layout.shards if layout.zarr_format == 3 else "format 2"),
            ("dtype", layout.dtype),
            ("codec", layout.codec),
            ("order", layout.order),
            ("store", layout.store),
            ("axes", str(len(layout.shape))),
        ):
            drawn[kind][name] += 1

    def filled(self, shape: tuple[int, ...]) -> Values:
        return np.full(shape, self.fill, self.dtype)

    def count(self, step: str, key: Any = None, result: Any = None) -> None:
        drawn["step"][step] += 1
        if step in ("read", "read into", "write"):
            drawn["selection"].update(kinds_of(key, self.model.shape, np.asarray(result)))

    @rule(data=st.data())
    def read(self, data: st.DataObject) -> None:
        key = data.draw(basic_keys(self.model.shape, newaxis=True))
        want = self.model[key]
        self.count("read", key, want)
        assert_same_bits(self.z[key], want, self.dtype)

    @rule(data=st.data(), layout=st.sampled_from(("C", "F", "strided", "reversed")))
    def read_into(self, data: st.DataObject, layout: str) -> None:
        key = data.draw(basic_keys(self.model.shape))
        want = np.asarray(self.model[key])
        self.count("read into", key, want)
        out: Values = np.zeros(want.shape, self.dtype, order="F" if layout == "F" else "C")
        if layout == "strided":
            out = np.zeros(tuple(2 * n + 1 for n in want.shape), self.dtype)
            out = out[(*(slice(0, 2 * n, 2) for n in want.shape), ...)]
        elif layout == "reversed":
            out = out[(*(slice(None, None, -1) for _ in want.shape), ...)]
        self.z.get_basic_selection(key, out=out)
        assert_same_bits(out, want, self.dtype)

    @rule(data=st.data(), seed=st.integers(0, 2**31), form=st.sampled_from(range(6)))
    def write(self, data: st.DataObject, seed: int, form: int) -> None:
        key = data.draw(basic_keys(self.model.shape))
        target = np.asarray(self.model[key])
        self.count("write", key, target)
        value: Any = self.value_for(target.shape, seed, form)
        self.model[as_view(key)] = value
        self.z[key] = value

    def value_for(self, shape: tuple[int, ...], seed: int, form: int) -> Any:
        """Something that broadcasts to ``shape``: whole, one row, one element, a Python number."""
        if form == 0:
            return values_of(self.dtype, (), seed)[()]
        if form == 1:
            return values_of(
                self.dtype, tuple(1 if seed >> i & 1 else n for i, n in enumerate(shape)), seed
            )
        if form == 2:
            return values_of(self.dtype, (1, *shape), seed)
        if form == 3 and shape:
            return values_of(self.dtype, shape[seed % len(shape) :], seed)
        if form == 4:
            return np.asfortranarray(values_of(self.dtype, shape, seed))
        if form == 5 and self.dtype.kind in "biufc":
            return seed % 2
        return values_of(self.dtype, shape, seed)

    @rule(seed=st.integers(0, 2**31))
    def write_all(self, seed: int) -> None:
        self.count("write all")
        self.model = values_of(self.dtype, self.model.shape, seed)
        self.z[...] = self.model

    @rule(data=st.data())
    def write_the_fill_value(self, data: st.DataObject) -> None:
        key = data.draw(basic_keys(self.model.shape))
        self.count("write fill")
        self.model[as_view(key)] = self.fill
        self.z.set_basic_selection(key, self.fill)

    @precondition(lambda self: DTYPES[self.layout.dtype].names)
    @rule(data=st.data(), seed=st.integers(0, 2**31))
    def read_and_write_a_field(self, data: st.DataObject, seed: int) -> None:
        key = data.draw(basic_keys(self.model.shape))
        field = data.draw(st.sampled_from(self.dtype.names))
        self.count("field")
        target = self.model[as_view(key)]
        assert_same_bits(
            self.z.get_basic_selection(key, fields=field), target[field], self.dtype[field].base
        )
        values = values_of(self.dtype[field].base, target[field].shape, seed)
        target[field] = values
        self.z.set_basic_selection(key, values, fields=field)

    @precondition(lambda self: self.model.ndim)
    @rule(data=st.data())
    def resize(self, data: st.DataObject) -> None:
        shape = tuple(data.draw(st.integers(0, size + 5)) for size in self.model.shape)
        if np.prod(shape) > MOST_ELEMENTS:
            return
        self.count("resize")
        kept = tuple(slice(min(old, new)) for old, new in zip(self.model.shape, shape, strict=True))
        grown = self.filled(shape)
        grown[kept] = self.model[kept]
        self.model = grown
        self.z.resize(*shape)
        self.second = None
        assert self.z.shape == shape

    @precondition(lambda self: self.model.ndim and self.model.size <= MOST_ELEMENTS)
    @rule(data=st.data(), seed=st.integers(0, 2**31))
    def append(self, data: st.DataObject, seed: int) -> None:
        axis = data.draw(st.integers(0, self.model.ndim - 1))
        self.count("append")
        shape = list(self.model.shape)
        shape[axis] = data.draw(st.integers(0, 4))
        more = values_of(self.dtype, tuple(shape), seed)
        self.model = np.concatenate([self.model, more], axis=axis).astype(self.dtype)
        assert self.z.append(more, axis=axis) == self.model.shape
        self.second = None

    @rule(how=st.sampled_from(("r+", "a", "pickle")))
    def reopen(self, how: str) -> None:
        self.count("reopen")
        if how != "pickle":
            self.z = zarr.open_array(self.store, mode=how, path=self.path or None)
        elif self.layout.store not in ("memory", "dict"):
            self.z = pickle.loads(pickle.dumps(self.z))
        assert self.z.shape == self.model.shape
        assert self.z.dtype == self.dtype

    @rule()
    def read_by_a_second_handle(self) -> None:
        self.count("second handle")
        if self.second is None:
            self.second = zarr.open_array(self.store, mode="r", path=self.path or None)
        assert_same_bits(self.second[...], self.model, self.dtype)
        assert self.second.nchunks_initialized <= self.second.nchunks

    @precondition(lambda self: self.model.ndim and len(self.model) <= 100)
    @rule()
    def iterate(self) -> None:
        self.count("iterate")
        for got, want in zip(self.z, self.model, strict=True):
            assert_same_bits(got, want, self.dtype)

    @precondition(lambda self: self.model.ndim)
    @rule(data=st.data())
    def refuse_what_does_not_fit(self, data: st.DataObject) -> None:
        """What fails leaves everything as it was, as the invariant sees."""
        self.count("refuse")
        axis = data.draw(st.integers(0, self.model.ndim - 1))
        size = self.model.shape[axis]
        index = data.draw(st.sampled_from((size, size + 9, -size - 1)))
        with pytest.raises(IndexError, match=f"axis {axis}"):
            self.z[(slice(None),) * axis + (index,)]
        wrong = values_of(self.dtype, (*self.model.shape[:-1], self.model.shape[-1] + 2), 1)
        with pytest.raises(ValueError):
            self.z[...] = wrong

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert_same_bits(self.z[...], self.model, self.dtype)

    def teardown(self) -> None:
        self.folder.cleanup()


class InThread:
    """An array of which every attribute and item is asked for by one thread, its own."""

    def __init__(self, array: Any, thread: ThreadPoolExecutor) -> None:
        self.array = array
        self.thread = thread

    def call(self, work: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
        return self.thread.submit(work, *args, **keywords).result()

    def __getattr__(self, name: str) -> Any:
        found = self.call(getattr, self.array, name)
        return partial(self.call, found) if callable(found) else found

    def __getitem__(self, key: Any) -> Any:
        return self.call(self.array.__getitem__, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.call(self.array.__setitem__, key, value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.call(list, self.array))


class TwoHandles(StoredArray):
    """The same rules, each step by the other one of two handles, which are used by a thread each;
    and steps that both make at once, of elements that lie beside each other."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
        self.handles: list[Any] = []

    @property
    def z(self) -> Any:
        self.handles.reverse()
        return self.handles[0]

    @z.setter
    def z(self, array: Any) -> None:
        # As it stands in the store, whatever the other handle has done to the shape.
        keywords = {"mode": "r+", "path": self.path or None, "cache_metadata": False}
        keywords["write_empty_chunks"] = array.write_empty_chunks
        twins = [zarr.open_array(self.store, **keywords) for _ in self.threads]
        self.handles = [InThread(z, t) for z, t in zip(twins, self.threads, strict=True)]

    @rule(how=st.sampled_from(("r+", "a")))
    def reopen(self, how: str) -> None:
        super().reopen(how)

    @precondition(lambda self: self.model.ndim)
    @rule(data=st.data(), seed=st.integers(0, 2**31))
    def write_at_once(self, data: st.DataObject, seed: int) -> None:
        """Every second element along an axis by one, those between by the other."""
        axis = data.draw(st.integers(0, self.model.ndim - 1))
        self.count("write at once")
        new = values_of(self.dtype, self.model.shape, seed)
        starts = np.arange(2)
        both = threading.Barrier(2)

        def write(handle: Any, start: int) -> None:
            key = (slice(None),) * axis + (slice(start, None, 2),)
            both.wait(30)
            handle[key] = new[key]

        pairs = zip(self.handles, starts.tolist(), strict=True)
        running = [one.thread.submit(write, one.array, start) for one, start in pairs]
        for each in running:
            each.result()
        self.model = new

    @precondition(lambda self: self.model.ndim and self.model.size <= MOST_ELEMENTS)
    @rule(data=st.data(), seed=st.integers(0, 2**31))
    def append_at_once(self, data: st.DataObject, seed: int) -> None:
        """Both append: one of them is first, and neither loses a row."""
        axis = data.draw(st.integers(0, self.model.ndim - 1))
        self.count("append at once")
        shape = list(self.model.shape)
        shape[axis] = data.draw(st.integers(1, 3))
        added = [values_of(self.dtype, tuple(shape), seed + i) for i in range(2)]
        both = threading.Barrier(2)

        def append(handle: Any, rows: Values) -> None:
            both.wait(30)
            handle.append(rows, axis=axis)

        pairs = zip(self.handles, added, strict=True)
        for each in [one.thread.submit(append, one.array, rows) for one, rows in pairs]:
            each.result()
        self.second = None
        orders = [np.concatenate([self.model, *order], axis) for order in (added, added[::-1])]
        found = self.z[...]
        same = [found.tobytes() == order.astype(self.dtype).tobytes() for order in orders]
        assert any(same)
        self.model = orders[same.index(True)].astype(self.dtype)

    def teardown(self) -> None:
        for thread in self.threads:
            thread.shutdown()
        super().teardown()


def as_view(key: Any) -> Any:
    """The key with which NumPy gives a view, and no scalar, of the same elements."""
    items = key if isinstance(key, tuple) else (key,)
    return items if any(item is Ellipsis for item in items) else (*items, ...)


def table() -> str:
    """How often each thing was drawn, most frequent first."""
    lines = [f"{EXAMPLES} examples of {STEPS} steps; drawn:"]
    for kind, counts in drawn.items():
        row = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        lines.append(f"  {kind} ({counts.total()}): {row}")
    return "\n".join(lines)


@pytest.mark.parametrize("machine", [StoredArray, TwoHandles])
def test_a_stored_array_behaves_as_the_numpy_array_beside_it(
    machine: type[StoredArray], capsys: pytest.CaptureFixture[str]
) -> None:
    for counts in drawn.values():
        counts.clear()
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            derandomize=not LONG,
            deadline=None,
            database=None,
            print_blob=True,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        ),
    )
    with capsys.disabled():
        print(f"\n{table()}")
    assert drawn["selection"].keys() >= set(SELECTIONS)
    assert drawn["order"].keys() == {"C", "F"}
    assert drawn["format"].keys() == {"2", "3"}
    assert drawn["shards"].keys() >= {"format 2", *SHARDS}
    assert drawn["store"].keys() == set(STORES)
    if EXAMPLES >= 500:
        assert drawn["dtype"].keys() == DTYPES.keys()
        assert drawn["codec"].keys() == CODECS.keys()
