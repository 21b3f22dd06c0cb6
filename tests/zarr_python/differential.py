"""Arrays, selections and values of zarr-python 3, and what its methods make of them.

A `Case` is an array twice: one is used by zarr-python's own methods, the other by those that
`accelerate` or the pipeline replaces. Selections and values are drawn wild: many are refused, and
the type of the error is part of the outcome.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import zarr

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


# Keys. A seed that Hypothesis draws decides many of them: a strategy for each part of a key would
# take longer than zarr-python takes for the selection.


def end(random: Random, size: int) -> int | None:
    return None if random.random() < 0.4 else random.randint(-size - 2, size + 2)


def integer(random: Random, size: int) -> Any:
    form = random.random()
    if form < 0.7:
        return random.randrange(max(size, 1))
    near = random.randint(-size - 1, size)
    return np.int64(near) if form < 0.85 else near


def slice_(random: Random, size: int) -> slice:
    step = random.choice([None, None, None, 1, 1, 2, 3, 7, -1, 0])
    return slice(end(random, size), end(random, size), step)


def index_list(random: Random, size: int) -> list[int]:
    form = random.random()
    if form < 0.5:
        return [random.randint(-size, max(size - 1, 0)) for _ in range(random.randint(1, 6))]
    if form < 0.85:
        return sorted(random.randrange(max(size, 1)) for _ in range(random.randint(1, 8)))
    return [random.randint(-size - 1, size) for _ in range(random.randint(0, 4))]


def index_array(random: Random, size: int) -> Any:
    found = index_list(random, size)
    form = random.random()
    if form < 0.5:
        return found
    if form < 0.9:
        return np.array(found, random.choice([np.int64, np.int64, np.int8]))
    return np.array([abs(index) for index in found], np.uint64)


def mask(random: Random, size: int) -> Any:
    length = size if random.random() < 0.8 else random.randint(0, size + 2)
    found = [random.random() < 0.5 for _ in range(length)]
    return found if random.random() < 0.3 else np.array(found, bool)


def odd(random: Random) -> Any:
    return random.choice(
        [
            *(None, True, False, 1.5, "x", (), []),
            *(np.array(1), np.array([[0]]), np.array([0.0]), [[0], [1]]),
        ]
    )


def axis_key(random: Random, kind: str, size: int) -> Any:
    form = random.random()
    if kind != "orthogonal" or form < 0.5:
        return integer(random, size) if form < 0.2 or form > 0.8 else slice_(random, size)
    return index_array(random, size) if form < 0.8 else mask(random, size)


def key_of(random: Random, kind: str, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    """A key for one kind of selection."""
    if random.random() < 0.05:
        found = odd(random)
        if random.random() < 0.5:
            return found
        return (*(slice_(random, size) for size in shape[1:]), found)
    if kind == "getitem":
        kind = random.choice(("basic", "basic", "orthogonal", "coordinate", "mask"))
    if kind == "mask":
        count = int(np.prod(shape))
        whole = np.array([random.random() < 0.4 for _ in range(count)], bool).reshape(shape)
        cut = whole[..., :-1] if shape else whole
        return random.choice([whole, whole, whole, whole, (whole,), cut])
    if kind == "coordinate":
        return coordinate_key(random, shape)
    if kind == "block":
        shape = tuple(-(-size // chunk) for size, chunk in zip(shape, chunks, strict=True))
    count = random.randint(0, len(shape)) if random.random() < 0.3 else len(shape)
    items = [axis_key(random, kind, size) for size in shape[:count]]
    if random.random() < 0.15:
        items.insert(random.randint(0, len(items)), ...)
    return items[0] if len(items) == 1 and random.random() < 0.5 else tuple(items)


def coordinate_key(random: Random, shape: tuple[int, ...]) -> Any:
    count = random.randint(1, 7)
    axes: list[Any] = []
    for size in shape:
        found = [random.randint(-size, max(size - 1, 0)) for _ in range(count)]
        axes.append(found if random.random() < 0.5 else np.array(found))
    form = random.randrange(12)
    if form == 0 and axes:
        axes[0] = index_array(random, shape[0])
    elif form == 1 and axes:
        axes[-1] = integer(random, shape[-1])
    elif form == 2:
        axes = [np.array(axis).reshape(-1, 1) for axis in axes]
    elif form == 3 and len(axes) > 1:
        axes[0] = np.array(axes[0]).reshape(-1, 1)
    return axes[0] if len(axes) == 1 and random.random() < 0.5 else tuple(axes)


# Values


def value_for(random: Random, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """A value for a selection of ``shape``: mostly one that fits."""
    form = random.randrange(12)
    first = random.randrange(100)
    if form <= 4:
        return values_like(dtype, shape, first)
    if form == 5:
        return values_like(dtype, (), first)[()]
    if form == 6:
        return random.choice([0, 1, 7, -1, 2.5, "q", b"z", None, True, 300, (1, 2)])
    if form == 7:
        return values_like(dtype, shape, first).tolist()
    if form == 8:
        other = random.choice(["i8", "f4", ">i4", "u1", "U6", "S2", "?", "c16"])
        return values_like(np.dtype(other), shape, first)
    if form == 9:
        wrong = random.choice([(1,), (*shape, 1), shape[1:], shape[:-1], (3,)])
        return values_like(dtype, wrong, first)
    if form == 10:
        return values_like(dtype, shape[::-1], first).T
    return np.repeat(values_like(dtype, shape, first)[..., None], 2, -1)[..., 0]
