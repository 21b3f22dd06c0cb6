"""One level of a pyramid from the level below it: blocks of elements become one element each.

At the far edge of an axis a block has the elements that exist, and fewer of them. Integers are
averaged exactly, in integers wide enough for the sum, and rounded once, half to even. A block that
lies in one region gives the same element in every other region, so that the plan of a job cannot
change its result.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix import _engine
from zarrix._runtime.config import config

__all__ = ["METHODS", "check_dtype", "downsampled", "shape_below"]

AnyArray = npt.NDArray[Any]
Part = tuple[tuple[slice, ...], tuple[int, ...]]
"""The blocks of equal shape in a region: their places in the result, and their shape."""

# About as many bytes of the source are converted at once, to stay in the caches.
_AT_ONCE = 1 << 20


def shape_below(shape: Sequence[int], factors: Sequence[int]) -> tuple[int, ...]:
    """The shape of the next level."""
    return tuple(-(-size // factor) for size, factor in zip(shape, factors, strict=True))


def downsampled(source: AnyArray, factors: Sequence[int], method: str) -> AnyArray:
    """The next level of a region that begins at a block.

    Parameters
    ----------
    source : ndarray
    factors : sequence of int
        The shape of a block.
    method : str
        One of `METHODS`.

    Examples
    --------
    >>> downsampled(np.array([[0, 1, 5], [1, 0, 6]], "u1"), (2, 2), "mean")
    array([[0, 6]], dtype=uint8)
    """
    if method == "nearest":
        return np.ascontiguousarray(source[tuple(slice(None, None, f) for f in factors)])
    out = np.empty(shape_below(source.shape, factors), source.dtype)
    if method == "mean" and _is_native(source):
        # NumPy's types have the buffer protocol from Python 3.12 on.
        buffers: tuple[Any, Any] = source, out
        _engine.block_means(*buffers, source.dtype.str, factors)
        return out

    def fill(slab: tuple[int, int]) -> None:
        begin, end = slab
        _fill(source[begin * factors[0] : end * factors[0]], out[begin:end], factors, method)

    slabs = list(_slabs(source, factors))
    if len(slabs) == 1 or config.threads == 1:
        for slab in slabs:
            fill(slab)
    else:
        # NumPy releases the GIL, and a slab has no element of another.
        with ThreadPoolExecutor(min(config.threads, len(slabs))) as pool:
            list(pool.map(fill, slabs))
    return out


def _is_native(source: AnyArray) -> bool:
    """Whether the engine computes means of these elements: narrow integers, in rows."""
    dtype = source.dtype
    is_narrow = dtype.kind in "iu" and dtype.itemsize <= 4 and dtype.isnative
    return is_narrow and source.ndim > 0 and source.strides[-1] == dtype.itemsize


def _slabs(source: AnyArray, factors: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of the result along its first axis."""
    rows = -(-source.shape[0] // factors[0])
    row_bytes = max(1, factors[0] * source[:1].nbytes)
    step = max(1, _AT_ONCE // row_bytes)
    for begin in range(0, rows, step):
        yield begin, min(begin + step, rows)


def _fill(source: AnyArray, out: AnyArray, factors: Sequence[int], method: str) -> None:
    compute = METHODS[method]
    for places, block in _parts(source.shape, factors):
        inside = tuple(
            slice(place.start * factor, place.start * factor + (place.stop - place.start) * length)
            for place, factor, length in zip(places, factors, block, strict=True)
        )
        out[places] = compute(source[inside], block)


def _parts(shape: Sequence[int], factors: Sequence[int]) -> Iterator[Part]:
    """The full blocks, and those that the edges cut, by equal shapes."""
    axes = []
    for size, factor in zip(shape, factors, strict=True):
        full, rest = divmod(size, factor)
        parts = [(slice(0, full), factor)] if full else []
        axes.append(parts + ([(slice(full, full + 1), rest)] if rest else []))
    for part in itertools.product(*axes):
        yield tuple(place for place, _ in part), tuple(length for _, length in part)


def _cells(source: AnyArray, block: Sequence[int]) -> Iterator[AnyArray]:
    """The elements at each place of a block, in C order of the places."""
    for at in itertools.product(*map(range, block)):
        yield source[tuple(slice(i, None, n) for i, n in zip(at, block, strict=True))]


def _mean(source: AnyArray, block: Sequence[int]) -> AnyArray:
    count = math.prod(block)
    kind, size = source.dtype.kind, source.dtype.itemsize
    if kind == "b":
        return _mean(source.view(np.uint8), block).astype(bool)
    if kind in "iu" and size == 8:
        return _mean_of_words(source, block, count)
    if kind in "iu":
        return _rounded(_sums(source, block, _wide(source.dtype, count)), count)
    wide = np.complex128 if kind == "c" else np.float64
    if size > np.dtype(wide).itemsize:
        wide = source.dtype.type
    with np.errstate(invalid="ignore", over="ignore"):
        return (_sums(source, block, np.dtype(wide)) / count).astype(source.dtype)


def _wide(dtype: np.dtype[Any], count: int) -> np.dtype[Any]:
    bits = 32 if dtype.itemsize <= 2 and count <= 1 << 15 else 64
    return np.dtype(f"{dtype.kind}{bits // 8}")


def _sums(source: AnyArray, block: Sequence[int], dtype: np.dtype[Any]) -> AnyArray:
    """The sum of each block: one axis after the other, which makes each step contiguous."""
    for axis, length in enumerate(block):
        if length > 1:
            before = (slice(None),) * axis
            first, *rest = (source[(*before, slice(i, None, length))] for i in range(length))
            source = np.add(first, rest[0], dtype=dtype)
            for one in rest[1:]:
                np.add(source, one, out=source)
    return source.astype(dtype, copy=False)


def _rounded(sums: AnyArray, count: int) -> AnyArray:
    """The sums divided by ``count``, rounded half to even; correct for negative sums, too."""
    one = sums.dtype.type(1)
    if count == 1:
        return sums
    if count & (count - 1) == 0:
        shift = sums.dtype.type(count.bit_length() - 1)
        half = sums.dtype.type(count // 2 - 1)
        odd = (sums >> shift) & one
        odd += half
        sums += odd
        sums >>= shift
        return sums
    quotient, rest = np.divmod(sums, sums.dtype.type(count))
    rest += rest
    up = (rest > count) | ((rest == count) & ((quotient & one) == one))
    quotient += up
    return quotient


def _mean_of_words(source: AnyArray, block: Sequence[int], count: int) -> AnyArray:
    """The mean of integers of 64 bits, whose sum may need more: in halves of 32 bits."""
    word = source.dtype.newbyteorder("=")
    bits = word.type(32)
    high = _sums(source >> bits, block, word)
    low = _sums(source & word.type(0xFFFFFFFF), block, word)
    quotient, rest = np.divmod(high, word.type(count))
    mean: AnyArray = (quotient << bits) + _rounded((rest << bits) + low, count)
    return mean


def _sorted(source: AnyArray, block: Sequence[int]) -> AnyArray:
    """The elements of each block in ascending order, along the first axis."""
    cells: AnyArray = np.sort(np.stack(list(_cells(source, block))), axis=0)
    return cells


def _mode(source: AnyArray, block: Sequence[int]) -> AnyArray:
    """The commonest element of each block; of equally common ones the smallest."""
    cells = _sorted(source, block)
    value: AnyArray = cells[0].copy()
    run = np.ones(value.shape, np.int32)
    longest = run.copy()
    for before, cell in itertools.pairwise(cells):
        run = np.where(cell == before, run + 1, 1)
        better = run > longest
        np.copyto(longest, run, where=better)
        np.copyto(value, cell, where=better)
    return value


def _median(source: AnyArray, block: Sequence[int]) -> AnyArray:
    cells = _sorted(source, block)
    middle, odd = divmod(len(cells), 2)
    if odd:
        value: AnyArray = cells[middle]
    else:
        pair = np.stack([cells[middle - 1], cells[middle]], axis=-1)
        value = _mean(pair, (1,) * (pair.ndim - 1) + (2,))[..., 0]
    return value


def _least(source: AnyArray, block: Sequence[int]) -> AnyArray:
    return _folded(np.minimum, source, block)


def _largest(source: AnyArray, block: Sequence[int]) -> AnyArray:
    return _folded(np.maximum, source, block)


def _folded(function: Any, source: AnyArray, block: Sequence[int]) -> AnyArray:
    cells = _cells(source, block)
    out = next(cells).copy()
    for cell in cells:
        function(out, cell, out=out)
    return out


METHODS: dict[str, Callable[[AnyArray, Sequence[int]], AnyArray]] = {
    "mean": _mean,
    "mode": _mode,
    "median": _median,
    "min": _least,
    "max": _largest,
    "nearest": lambda source, block: source[tuple(slice(None, None, n) for n in block)],
}
"""How a block becomes an element."""


def check_dtype(dtype: np.dtype[Any], method: str) -> None:
    """Raise an error if there is no such method, or not for these elements."""
    if method not in METHODS:
        names = ", ".join(map(repr, METHODS))
        raise ValueError(f"method={method!r}; expected one of {names}")
    numbers = "biuf" + ("c" if method == "mean" else "")
    is_plain = dtype.kind in numbers or (dtype.kind in "Mm" and method in ("mode", "min", "max"))
    if method != "nearest" and not is_plain:
        raise TypeError(
            f"method={method!r} is not defined for elements of {dtype}; use method='nearest'"
        )
