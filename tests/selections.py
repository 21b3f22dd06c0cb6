"""Arrays beside their NumPy models, and keys of every kind, drawn for the tests of selections."""

from typing import Any

import numpy as np
import zarrix as zarr
from hypothesis import strategies as st

Values = np.ndarray[Any, Any]

FIELDS = np.dtype([("a", "<i2"), ("b", ">f8"), ("c", "S3"), ("d", "<f4", (2,))])
DTYPES = [
    *(np.dtype(code) for code in ("?", "i1", "<u2", ">i4", "<i8", "<f2", "<f8", "<c16")),
    *(np.dtype(code) for code in ("S5", "<U3", "<M8[ns]", "V3")),
    FIELDS,
]
LAYOUTS = ("v2 C", "v2 F", "v2 plain", "v3", "v3 shards", "v3 lists", "v3 lists of shards")


def values_of(dtype: np.dtype[Any], shape: tuple[int, ...], seed: int = 0) -> Values:
    """Distinct values, or nearly; of structures, in every field."""
    count = int(np.prod(shape))
    if dtype.names:
        values = np.zeros(count, dtype)
        for name in dtype.names:
            field = dtype[name]
            values[name] = values_of(field.base, (count, *field.shape), seed)
        return values.reshape(shape)
    numbers = (np.arange(count) * 7 + seed + 1) % 251
    if dtype.kind == "V":
        return np.repeat(numbers.astype("u1"), dtype.itemsize).view(dtype).reshape(shape)
    if dtype.kind in "SU":
        return numbers.astype("U3").astype(dtype).reshape(shape)
    return (numbers % 2 if dtype.kind == "b" else numbers % 120).astype(dtype).reshape(shape)


def lengths_of(size: int, most: int) -> list[int]:
    """Lengths of chunks that add up to ``size``: the longest, then shorter ones, and again."""
    lengths: list[int] = []
    while sum(lengths) < size:
        lengths.append(min(most - len(lengths) % most, size - sum(lengths)))
    return lengths


def make(layout: str, shape: tuple[int, ...], chunks: Any, dtype: np.dtype[Any]) -> zarr.Array:
    """An empty array in memory; of shards, each has up to two chunks along an axis."""
    store = zarr.MemoryStore()
    if layout.startswith("v2"):
        compressor = None if layout == "v2 plain" else "default"
        order = "F" if layout == "v2 F" else "C"
        return zarr.create(
            shape, chunks=chunks, dtype=dtype, order=order, compressor=compressor, store=store
        )
    shards: Any = tuple(2 * chunk for chunk in chunks) if layout == "v3 shards" else None
    if layout == "v3 lists":
        chunks = tuple(lengths_of(size, chunk) for size, chunk in zip(shape, chunks, strict=True))
    elif layout == "v3 lists of shards":
        sizes = (-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True))
        shards = [
            [chunk * n for n in lengths_of(size, 2)]
            for size, chunk in zip(sizes, chunks, strict=True)
        ]
    return zarr.create_array(store, shape=shape, chunks=chunks, shards=shards, dtype=dtype)


@st.composite
def arrays(
    draw: st.DrawFn, smallest: int = 1, dtypes: list[np.dtype[Any]] = DTYPES
) -> tuple[zarr.Array, Values]:
    """A stored array and what it holds; one part of it may never have been written."""
    axes = draw(st.integers(smallest, 4))
    shape = tuple(draw(st.integers(1, (0, 12, 8, 6, 4)[axes])) for _ in range(axes))
    chunks = tuple(draw(st.integers(1, size + 1)) for size in shape)
    dtype = draw(st.sampled_from(dtypes))
    layout = draw(st.sampled_from(LAYOUTS))
    if dtype == FIELDS or dtype.kind in "V":
        layout = layout if layout.startswith("v2") else "v2 C"
    z = make(layout, shape, chunks, dtype)
    written = draw(st.integers(0, shape[0]))
    z[:written] = values_of(z.dtype, shape)[:written]
    return z, np.ascontiguousarray(z[...])


def slices(size: int) -> st.SearchStrategy[slice]:
    bound = st.none() | st.integers(-size - 1, size + 1)
    return st.builds(slice, bound, bound, st.sampled_from((None, 1, 2, 3, -1, -2)))


@st.composite
def index_arrays(draw: st.DrawFn, size: int, shape: tuple[int, ...] | None = None) -> Any:
    """Indices in any order, repeated and negative, as an array or as lists."""
    if shape is None:
        shape = (draw(st.integers(0, 5)),)
    count = int(np.prod(shape))
    values = draw(st.lists(st.integers(-size, size - 1), min_size=count, max_size=count))
    kind = draw(st.sampled_from(("i8", "i4", "i2", "list")))
    array = np.array(values, "i8" if kind == "list" else kind).reshape(shape)
    return array.tolist() if kind == "list" and count else array


def masks(shape: tuple[int, ...]) -> st.SearchStrategy[Values]:
    count = int(np.prod(shape))
    bits = st.lists(st.booleans(), min_size=count, max_size=count)
    return bits.map(lambda values: np.array(values, bool).reshape(shape))


@st.composite
def orthogonal_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    items: list[Any] = []
    for size in shape[: draw(st.integers(1, len(shape)))]:
        kinds = [slices(size), st.integers(-size, size - 1), index_arrays(size), masks((size,))]
        items.append(draw(st.one_of(kinds)))
    if len(items) < len(shape) and draw(st.booleans()):
        items.append(Ellipsis)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def point_keys(draw: st.DrawFn, shape: tuple[int, ...], mixed: bool = False) -> Any:
    """One index or array per axis, which broadcast together; with slices, if ``mixed``."""
    points = draw(st.sampled_from(((3,), (2, 2), (1, 3), (0,))))
    items: list[Any] = []
    for size in shape:
        form = draw(st.sampled_from(("full", "full", "one", "integer", *("slice",) * mixed)))
        if form == "slice":
            items.append(draw(slices(size)))
        elif form == "integer":
            items.append(draw(st.integers(-size, size - 1)))
        else:
            own = points if form == "full" else (1,)
            items.append(draw(index_arrays(size, own)))
    return tuple(items)


def take_orthogonal(model: Values, key: Any) -> Values:
    """What an orthogonal key selects, axis by axis."""
    items = [item for item in (key if isinstance(key, tuple) else (key,)) if item is not Ellipsis]
    dropped = 0
    for axis, item in enumerate(items):
        index = np.asarray(item) if isinstance(item, list) else item
        if isinstance(index, np.ndarray) and index.size == 0 and index.dtype != bool:
            index = index.astype(int)
        model = model[(slice(None),) * (axis - dropped) + (index, ...)]
        dropped += isinstance(item, int | np.integer)
    return model


def positions(model: Values) -> Values:
    """Every element's number: what a key selects of it is where the key writes to."""
    return np.arange(model.size).reshape(model.shape)


def out_like(want: Values, dtype: np.dtype[Any], kind: str) -> Values:
    """A buffer of the shape of ``want``, with strides of the given kind."""
    if kind == "F":
        return np.zeros(want.shape, dtype, order="F")
    if kind == "strided":
        wide = np.zeros(tuple(2 * n + 1 for n in want.shape), dtype)
        return wide[tuple(slice(0, 2 * n, 2) for n in want.shape)]
    out = np.zeros(want.shape, dtype)
    if kind == "reversed":
        return out[(slice(None, None, -1),) * want.ndim]
    return out


def assert_same(got: Any, want: Any, dtype: np.dtype[Any] | None = None) -> None:
    """Shape, dtype and every bit."""
    want = np.asarray(want)
    # A NumPy scalar has native byte order, even if its array has not.
    got = np.asarray(got) if want.shape else np.asarray(got, want.dtype)
    assert got.shape == want.shape
    assert got.dtype == (want.dtype if dtype is None else dtype)
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(want).tobytes()


# What `numpy.pad` calls a border.
BORDERS = {"pad": "constant", "edge": "edge", "reflect": "reflect"}


def indices_of(start: int, size: int, length: int, border: str) -> tuple[Values, Values]:
    """The index of each element of a window along an axis, and whether it lies inside."""
    around = (max(0, -start), max(0, start + size - length))
    padded: Any = np.pad(np.arange(length), around, BORDERS[border])  # type: ignore[call-overload]
    begin = start + around[0]
    at = np.arange(start, start + size)
    return padded[begin : begin + size], (at >= 0) & (at < length)


def windows_of(
    model: Values, starts: Values, shape: tuple[int, ...], pad: Any = 0, border: str = "pad"
) -> Values:
    """The windows by definition: NumPy pads the indices of each axis, and takes by them."""
    result = np.empty((len(starts), *shape), model.dtype)
    for number, start in enumerate(starts):
        axes = [
            indices_of(int(at), size, length, border)
            for at, size, length in zip(start, shape, model.shape, strict=True)
        ]
        result[number] = model[np.ix_(*(index for index, _ in axes))]
        if border == "pad":
            inside = np.ones(shape, bool)
            for axis, (_, within) in enumerate(axes):
                inside &= within.reshape([-1 if a == axis else 1 for a in range(model.ndim)])
            result[number][~inside] = pad
    return result
