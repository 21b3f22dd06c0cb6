"""Parts of an array: a key of each kind, and the number of each element that it selects."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from model.elements import Values

SELECTIONS = (
    *("basic", "orthogonal", "points", "points and slices", "mask", "blocks"),
    *("plain", "view", "windows"),
)


@dataclass
class Selection:
    """What is selected, and every way to read and to write it.

    Attributes
    ----------
    kind : str
        One of `SELECTIONS`.
    key : object
        As the array takes it.
    numbers : ndarray of int
        Where each element of the result lies in the array, in C order; -1 for padding.
    readers, into, writers : list
        Functions of an array; of an array and ``out``; of an array and a value.
    method : str
        The ``...`` of ``get_..._selection``, if the array has such methods.
    """

    kind: str
    key: Any
    numbers: Values
    readers: list[Callable[[Any], Any]]
    into: list[Callable[[Any, Any], Any]]
    writers: list[Callable[[Any, Any], None]]
    method: str = ""


def draw_selection(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    """Any part of ``z``, of that shape."""
    makers = dict(zip(SELECTIONS, _MAKERS, strict=True))
    kinds = ["basic", "basic", "view"] if not shape else ["basic", *SELECTIONS]
    kind = random.choice(kinds)
    if kind == "windows" and 0 in shape:
        kind = "basic"
    return makers[kind](random, z, shape)


def _numbers(shape: tuple[int, ...]) -> Values:
    return np.arange(int(np.prod(shape))).reshape(shape)


def _by_method(kind: str, method: str, key: Any, numbers: Any, sugar: str = "") -> Selection:
    """A selection that the array has a pair of methods for, and brackets."""

    def brackets(z: Any) -> Any:
        return getattr(z, sugar) if sugar else z

    def assign(z: Any, value: Any) -> None:
        brackets(z)[key] = value

    def read_into(z: Any, out: Any) -> Any:
        return getattr(z, f"get_{method}_selection")(key, out=out)

    return Selection(
        kind,
        key,
        np.asarray(numbers),
        [lambda z: brackets(z)[key], lambda z: getattr(z, f"get_{method}_selection")(key)],
        [read_into],
        [assign, lambda z, value: getattr(z, f"set_{method}_selection")(key, value)],
        method,
    )


# Items of keys


def _integer(random: Random, size: int) -> Any:
    index = random.randint(-size, size - 1)
    return random.choice((index, index, np.int64(index), np.int16(index)))


def _slice(random: Random, size: int) -> slice:
    def bound() -> int | None:
        return random.choice((None, random.randint(-size - 2, size + 2)))

    return slice(bound(), bound(), random.choice((None, 1, 1, 2, 3, -1, -1, -2, -5)))


def _indices(random: Random, size: int, shape: tuple[int, ...] | None = None) -> Any:
    """Indices in any order, repeated and negative, as an array or as lists."""
    if shape is None:
        shape = (random.choice((0, 1, 2, 3, 5, 5)) if size else 0,)
    if not size:
        shape = tuple(0 for _ in shape)
    count = int(np.prod(shape))
    values = [random.randint(-size, size - 1) for _ in range(count)]
    if random.random() < 0.3:
        values.sort()
    kind = random.choice(("i8", "i4", "i2", "list"))
    array = np.array(values, "i8" if kind == "list" else kind).reshape(shape)
    return array.tolist() if kind == "list" and count else array


def _mask(random: Random, shape: tuple[int, ...]) -> Values:
    bits = np.random.RandomState(random.getrandbits(32))
    return np.asarray(bits.random_sample(shape) < random.choice((0.0, 0.1, 0.5, 0.9, 1.0)))


def _shortened(random: Random, items: list[Any]) -> Any:
    """The items as a key: all of them, or an Ellipsis or nothing for some; bare if it is one."""
    form = random.choice(("all", "all", "ellipsis", "fewer"))
    if form == "fewer" and items:
        items = items[: random.randint(1, len(items))]
    elif form == "ellipsis":
        start = random.randint(0, len(items))
        items[start : random.randint(start, len(items))] = [Ellipsis]
    return items[0] if len(items) == 1 and random.random() < 0.5 else tuple(items)


def take_orthogonal(model: Values, items: Any) -> Values:
    """What a key selects where each of its items selects on its own."""
    items = items if isinstance(items, tuple) else (items,)
    axis = 0
    for item in items:
        if item is Ellipsis:
            axis = model.ndim - len(_after_ellipsis(items))
            continue
        if item is None:
            model = np.expand_dims(model, axis)
            axis += 1
            continue
        index = np.asarray(item) if isinstance(item, list) else item
        if isinstance(index, np.ndarray) and index.size == 0 and index.dtype != bool:
            index = index.astype(int)
        model = model[(slice(None),) * axis + (index, ...)]
        axis += not isinstance(item, int | np.integer)
    return model


def _after_ellipsis(items: tuple[Any, ...]) -> list[Any]:
    place = next(i for i, item in enumerate(items) if item is Ellipsis)
    return [item for item in items[place + 1 :] if item is not None]


# Kinds of keys


def _basic(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    items: list[Any] = [
        _integer(random, n) if n and random.random() < 0.4 else _slice(random, n) for n in shape
    ]
    key = _shortened(random, items)
    if random.random() < 0.1:
        key = random.choice((..., (), *((slice(None),) if shape else ())))
    made = _by_method("basic", "basic", key, _numbers(shape)[key])
    made.into.append(lambda z, out: z.read(key, out=out))
    if random.random() < 0.2:
        items = list(key) if isinstance(key, tuple) else [key]
        for _ in range(random.randint(1, 2)):
            items.insert(random.randint(0, len(items)), None)
        wide = tuple(items)
        numbers = _numbers(shape)[wide]
        made = Selection("basic", wide, numbers, [lambda z: z[wide]], [], [])
    return made


def _orthogonal(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    def item(size: int) -> Any:
        made = (lambda: _slice(random, size), lambda: _indices(random, size))
        masked = (lambda: _mask(random, (size,)),)
        whole = (lambda: _integer(random, size),) if size else ()
        return random.choice((*made, *masked, *whole))()

    key = _shortened(random, [item(size) for size in shape])
    numbers = take_orthogonal(_numbers(shape), key)
    return _by_method("orthogonal", "orthogonal", key, numbers, "oindex")


def _coordinates(random: Random, shape: tuple[int, ...], sliced: bool) -> list[Any]:
    points = random.choice(((3,), (2, 2), (1, 3), (0,), (40,)))
    points = points if 0 not in shape else (0,)
    items: list[Any] = []
    for size in shape:
        form = random.choice(("full", "full", "one", "integer", *("slice", "slice") * sliced))
        if form == "slice":
            items.append(_slice(random, size))
        elif form == "integer" and size:
            items.append(_integer(random, size))
        else:
            own = points if form == "full" or not size else (1,)
            items.append(_indices(random, size, own))
    return items


def _points(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    key = tuple(_coordinates(random, shape, sliced=False))
    numbers = np.atleast_1d(_numbers(shape)[tuple(map(_as_index, key))])
    return _by_method("points", "coordinate", key, numbers, "vindex")


def _as_index(item: Any) -> Any:
    return np.asarray(item, int) if isinstance(item, list) else item


def _points_and_slices(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    key = tuple(_coordinates(random, shape, sliced=True))
    own = [i for i, item in enumerate(key) if not isinstance(item, slice)]
    rest = [i for i in range(len(shape)) if i not in own]
    turned = _numbers(shape).transpose(*own, *rest)
    numbers = turned[tuple(_as_index(key[i]) for i in (*own, *rest))]
    if not rest:
        numbers = np.atleast_1d(numbers)

    def assign(z: Any, value: Any) -> None:
        z.vindex[key] = value

    return Selection(
        "points and slices", key, np.asarray(numbers), [lambda z: z.vindex[key]], [], [assign]
    )


def _masked(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    mask = _mask(random, shape)
    made = _by_method("mask", "mask", mask, _numbers(shape)[mask], random.choice(("", "vindex")))
    made.into.append(lambda z, out: z.read(mask, out=out))
    return made


def _blocks(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    ends = [np.cumsum((0, *sizes)) for sizes in z.write_chunk_sizes]
    items: list[Any] = []
    index: list[slice] = []
    for axis in ends:
        count = len(axis) - 1
        if count and random.random() < 0.5:
            block = random.randint(-count, count - 1)
            items.append(block)
            first, last = block % count, block % count + 1
        else:
            key = _slice(random, count)
            items.append(slice(key.start, key.stop, random.choice((None, 1))))
            first, last, _ = items[-1].indices(count)
        index.append(slice(int(axis[first]), int(axis[max(first, last)])))
    key = tuple(items)
    return _by_method("blocks", "block", key, _numbers(shape)[tuple(index)], "blocks")


def _plain(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    """Brackets with arrays, where NumPy and Zarr mean the same."""
    points = random.choice(((3,), (2, 2), (1,), (5,)))
    items: list[Any] = []
    axis = arrays = 0
    while axis < len(shape):
        form = random.choice(("array", "slice", "mask"))
        if form == "array" and shape[axis]:
            items.append(_indices(random, shape[axis], points))
            arrays += 1
        elif form == "mask" and not arrays:
            over = random.randint(1, len(shape) - axis)
            items.append(_mask(random, shape[axis : axis + over]))
            arrays = over + len(shape)
            items += [_slice(random, n) for n in shape[axis + over :]]
            break
        else:
            items.append(_slice(random, shape[axis]))
        axis += 1
    key = tuple(items)
    numbers = _numbers(shape)[tuple(map(_as_index, key))]

    def assign(z: Any, value: Any) -> None:
        z[key] = value

    return Selection(
        *("plain", key, np.asarray(numbers)),
        [lambda z: z[key], lambda z: z.read(key)],
        [lambda z, out: z.read(key, out=out)],
        [assign],
    )


def _view(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    """A lazy view of several steps: keys with one array at most, permutations, ``oindex``."""
    numbers = _numbers(shape)
    steps: list[tuple[str, Any]] = []
    for _ in range(random.randint(1, 4)):
        form = random.choice(("key", "key", "oindex", "transpose"))
        what: Any
        if form == "transpose":
            what = tuple(random.sample(range(numbers.ndim), numbers.ndim))
            numbers = numbers.transpose(what)
        else:
            what = _view_key(random, numbers.shape, 9 if form == "oindex" else 1)
            numbers = take_orthogonal(numbers, what)
        steps.append((form, what))
    if random.random() < 0.2:
        # A new axis has one element and keeps it, regardless of the drawn item.
        place = random.randint(0, numbers.ndim)
        steps.append(("key", (*(slice(None),) * place, None)))
        numbers = np.expand_dims(numbers, place)

    def view(z: Any) -> Any:
        found = z.lazy
        for form, what in steps:
            if form == "transpose":
                found = found.transpose(*what)
            else:
                found = found.oindex[what] if form == "oindex" else found[what]
        assert found.shape == numbers.shape
        return found

    def assign(z: Any, value: Any) -> None:
        view(z)[...] = value

    return Selection(
        *("view", steps, np.asarray(numbers)),
        [lambda z: view(z)[...], lambda z: view(z).result()],
        [lambda z, out: view(z).result(out=out)],
        [assign],
    )


def _view_key(random: Random, shape: tuple[int, ...], arrays: int) -> Any:
    items: list[Any] = []
    for size in shape:
        form = random.choice(("slice", "slice", "integer", "array", "mask"))
        if form == "integer" and size:
            items.append(_integer(random, size))
        elif form in ("array", "mask") and arrays:
            arrays -= 1
            items.append(_indices(random, size) if form == "array" else _mask(random, (size,)))
        else:
            items.append(_slice(random, size))
    return tuple(items)


def _windows(random: Random, z: Any, shape: tuple[int, ...]) -> Selection:
    """Windows over all axes; padded, with the fill value, where they leave the array."""
    size = tuple(random.randint(1, n) for n in shape)
    padded = random.random() < 0.5
    beyond = 3 if padded else 0
    starts = [
        [random.randint(-beyond, n - w + beyond) for n, w in zip(shape, size, strict=True)]
        for _ in range(random.choice((0, 1, 3, 6)))
    ]
    wide = np.pad(_numbers(shape), beyond, constant_values=-1) if padded else _numbers(shape)
    numbers = np.empty((len(starts), *size), int)
    for window, start in zip(numbers, starts, strict=True):
        corners = [n + beyond for n in start]
        key = tuple(slice(n, n + w) for n, w in zip(corners, size, strict=True))
        window[...] = wide[key]
    outside = "pad" if padded else "error"
    at = np.array(starts, int).reshape(len(starts), len(shape))

    def read(z: Any, out: Any = None) -> Any:
        return z.read_windows(at, size, out, outside=outside)

    return Selection("windows", (starts, size, outside), numbers, [read], [read], [])


_MAKERS: tuple[Callable[[Random, Any, tuple[int, ...]], Selection], ...] = (
    *(_basic, _orthogonal, _points, _points_and_slices, _masked, _blocks),
    *(_plain, _view, _windows),
)
