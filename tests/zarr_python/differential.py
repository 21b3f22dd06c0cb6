"""Arrays, selections and values of zarr-python 3, and what its methods make of them.

A `Case` is an array twice: one is used by zarr-python's own methods, the other by those that
`accelerate` or the pipeline replaces. Selections and values are drawn wild: many are refused, and
the type of the error is part of the outcome.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import zarr
from hypothesis import strategies as st

KINDS = ("getitem", "basic", "orthogonal", "coordinate", "mask", "block")
RECORD = np.dtype([("x", "<f4"), ("n", "<i2")])

# Shape, chunks, and the rest of the arguments of `zarr.create_array`.
ARRAYS: dict[str, dict[str, Any]] = {
    "numbers": {"shape": (7, 9), "chunks": (3, 4), "dtype": "i4"},
    "numbers-v2": {"shape": (7, 9), "chunks": (3, 4), "dtype": "f8", "zarr_format": 2},
    "big-endian": {"shape": (7, 9), "chunks": (3, 4), "dtype": ">i4"},
    "big-endian-v2": {"shape": (11,), "chunks": (4,), "dtype": ">f4", "zarr_format": 2},
    "fortran": {"shape": (7, 9), "chunks": (3, 4), "dtype": "i2", "config": {"order": "F"}},
    "fortran-v2": {
        "shape": (7, 9), "chunks": (3, 4), "dtype": "u1", "zarr_format": 2, "order": "F"
    },
    "shards": {"shape": (12, 10), "chunks": (2, 3), "shards": (6, 6), "dtype": "i4"},
    "line": {"shape": (23,), "chunks": (5,), "dtype": "u2", "fill_value": 9},
    "cube": {"shape": (4, 5, 6), "chunks": (2, 5, 4), "dtype": "f4"},
    "hyper": {"shape": (3, 2, 4, 3), "chunks": (2, 2, 3, 2), "dtype": "i1"},
    "point": {"shape": (), "chunks": (), "dtype": "i8"},
    "point-v2": {"shape": (), "chunks": (), "dtype": "f4", "zarr_format": 2},
    "empty": {"shape": (0, 4), "chunks": (2, 2), "dtype": "i4"},
    "text": {"shape": (9,), "chunks": (4,), "dtype": str},
    "text-v2": {"shape": (9,), "chunks": (4,), "dtype": str, "zarr_format": 2},
    "fixed-text": {"shape": (9,), "chunks": (4,), "dtype": "U4"},
    "fixed-bytes": {"shape": (6, 5), "chunks": (4, 2), "dtype": "S3", "zarr_format": 2},
    "times": {"shape": (6, 5), "chunks": (4, 2), "dtype": "M8[s]"},
    "records": {"shape": (6, 5), "chunks": (4, 2), "dtype": RECORD},
    "booleans": {"shape": (6, 5), "chunks": (4, 2), "dtype": "?"},
    "complex": {"shape": (6, 5), "chunks": (4, 2), "dtype": "c8"},
    "no-fill-v2": {
        "shape": (7, 9), "chunks": (3, 4), "dtype": "i4", "zarr_format": 2, "fill_value": None
    },
    "empty-chunks": {
        "shape": (7, 9), "chunks": (3, 4), "dtype": "i4", "config": {"write_empty_chunks": True}
    },
    "missing": {
        "shape": (7, 9), "chunks": (3, 4), "dtype": "i4", "config": {"read_missing_chunks": False}
    },
    "rectilinear": {"shape": (7, 9), "chunks": [[3, 4], [4, 2, 3]], "dtype": "i4"},
    "transposed": {
        "shape": (7, 9), "chunks": (3, 4), "dtype": "i4",
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
    },
}  # fmt: skip
# What is filled before the test; the others have missing chunks only.
UNFILLED = ("missing", "no-fill-v2")


def create(name: str, store: Any) -> Any:
    """The array ``name`` in ``store``, filled except the last row."""
    arguments = dict(ARRAYS[name])
    with warnings.catch_warnings(), zarr.config.set({"array.rectilinear_chunks": True}):
        warnings.simplefilter("ignore")
        array = zarr.create_array(store, name=name, **arguments)
    if array.ndim and array.size and name not in UNFILLED:
        kept = array.shape[0] - (1 if array.shape[0] > 4 else 0)
        array[:kept] = values_like(array.dtype, (kept, *array.shape[1:]), 1)
    elif not array.ndim:
        array[...] = 3
    return array


def values_like(dtype: np.dtype[Any], shape: tuple[int, ...], first: int) -> Any:
    """Different elements of ``dtype``."""
    count = int(np.prod(shape))
    numbers = (np.arange(count) * 3 + first) % 120
    if dtype.kind == "T":
        return np.array([f"t{n}" * (n % 3) for n in numbers], dtype).reshape(shape)
    if dtype.kind == "U":
        return np.array([f"t{n}" for n in numbers]).reshape(shape).astype(dtype)
    if dtype.kind == "S":
        return np.array([b"%d" % n for n in numbers]).reshape(shape).astype(dtype)
    if dtype.names:
        found = np.zeros(shape, dtype)
        found["x"], found["n"] = numbers.reshape(shape), numbers[::-1].reshape(shape)
        return found
    if dtype.kind == "M":
        return numbers.reshape(shape).astype("i8").astype(dtype)
    return numbers.reshape(shape).astype(dtype)


def outcome(call: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """What a call returns, in a form that compares, or the type of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(*arguments)
        except Exception as error:
            return "error", type(error)
    if found is None:
        return ("none",)
    array = np.asarray(found)
    orders = array.flags.c_contiguous, array.flags.f_contiguous
    return type(found), array.shape, array.dtype, orders, _content(array)


def _content(array: Any) -> Any:
    return array.tolist() if array.dtype.kind in "OTV" else array.tobytes()


# Keys


def integers(size: int) -> Any:
    near = st.integers(-size - 1, size)
    return st.one_of(st.integers(0, max(size - 1, 0)), near, near.map(np.int64))


def slices(size: int) -> Any:
    end = st.one_of(st.none(), st.integers(-size - 2, size + 2))
    step = st.sampled_from([None, None, 1, 1, 2, 3, 7, -1, 0])
    return st.builds(slice, end, end, step)


def index_lists(size: int) -> Any:
    inside = st.integers(-size, max(size - 1, 0))
    return st.one_of(
        st.lists(inside, min_size=1, max_size=6),
        st.lists(st.integers(0, max(size - 1, 0)), min_size=1, max_size=8).map(sorted),
        st.lists(st.integers(-size - 1, size), max_size=4),
    )


def index_arrays(size: int) -> Any:
    plain = index_lists(size)
    return st.one_of(
        plain,
        plain.map(lambda found: np.array(found, np.int64)),
        plain.map(lambda found: np.array(found, np.int64).astype(np.int8)),
        st.lists(st.integers(0, max(size - 1, 0)), max_size=5).map(
            lambda found: np.array(found, np.uint64)
        ),
    )


def masks(size: int) -> Any:
    right = st.lists(st.booleans(), min_size=size, max_size=size)
    wrong = st.lists(st.booleans(), max_size=size + 2)
    return st.one_of(right.map(lambda found: np.array(found, bool)), right, wrong)


ODD = st.sampled_from(
    [None, True, False, 1.5, "x", (), [], np.array(1), np.array([[0]]), np.array([0.0]), [[0], [1]]]
)


@st.composite
def keys(draw: Any, kind: str, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    """A key for one kind of selection."""
    if draw(st.integers(0, 19)) == 0:
        odd = draw(ODD)
        return (*(draw(slices(size)) for size in shape[1:]), odd) if draw(st.booleans()) else odd
    if kind == "getitem":
        kind = draw(st.sampled_from(("basic", "basic", "orthogonal", "coordinate", "mask")))
    if kind == "mask":
        count = int(np.prod(shape))
        bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        mask = np.array(bits, bool).reshape(shape)
        return draw(st.sampled_from([mask, mask, mask, (mask,), mask[..., :-1] if shape else mask]))
    if kind == "coordinate":
        return draw(coordinates(shape))
    if kind == "block":
        shape = tuple(-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True))
    one = {
        "basic": lambda size: st.one_of(integers(size), slices(size)),
        "block": lambda size: st.one_of(integers(size), slices(size)),
        "orthogonal": lambda size: st.one_of(
            integers(size), slices(size), index_arrays(size), masks(size)
        ),
    }[kind]
    count = draw(st.integers(0, len(shape))) if draw(st.booleans()) else len(shape)
    items = [draw(one(size)) for size in shape[:count]]
    if draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), ...)
    return items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@st.composite
def coordinates(draw: Any, shape: tuple[int, ...]) -> Any:
    count = draw(st.integers(1, 7))
    axes = []
    for size in shape:
        inside = st.integers(-size, max(size - 1, 0))
        found = draw(st.lists(inside, min_size=count, max_size=count))
        axes.append(found if draw(st.booleans()) else np.array(found))
    form = draw(st.integers(0, 9))
    if form == 0 and axes:
        axes[0] = draw(index_arrays(shape[0]))
    elif form == 1 and axes:
        axes[-1] = draw(integers(shape[-1]))
    elif form == 2:
        axes = [np.array(axis).reshape(-1, 1) for axis in axes]
    elif form == 3 and len(axes) > 1:
        axes[0] = np.array(axes[0]).reshape(-1, 1)
    return axes[0] if len(axes) == 1 and draw(st.booleans()) else tuple(axes)


# Values


@st.composite
def values(draw: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """A value for a selection of ``shape``: mostly one that fits."""
    form = draw(st.integers(0, 11))
    first = draw(st.integers(0, 100))
    if form <= 4:
        return values_like(dtype, shape, first)
    if form == 5:
        return values_like(dtype, (), first)[()]
    if form == 6:
        return draw(st.sampled_from([0, 1, 7, -1, 2.5, "q", b"z", None, True, 300, (1, 2)]))
    if form == 7:
        return values_like(dtype, shape, first).tolist()
    if form == 8:
        other = draw(st.sampled_from(["i8", "f4", ">i4", "u1", "U6", "S2", "?", "c16"]))
        return values_like(np.dtype(other), shape, first)
    if form == 9:
        wrong = draw(st.sampled_from([(1,), (*shape, 1), shape[1:], shape[:-1], (3,)]))
        return values_like(dtype, wrong, first)
    if form == 10:
        return values_like(dtype, shape[::-1], first).T
    return np.repeat(values_like(dtype, shape, first)[..., None], 2, -1)[..., 0]
