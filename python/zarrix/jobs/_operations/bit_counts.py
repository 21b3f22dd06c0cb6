"""Quantiles that merge exactly: counts of the leading bits of an order-preserving integer image.

Numbers map to unsigned integers in their order: for floats, the sign bit is inverted, and all bits
of negative numbers. The counts of the leading 16 bits of the images are a state of at most 512 KiB,
which merges by addition, in any order. Types of 8 and 16 bits are counted exactly. All others are
counted by their float32, whose leading 16 bits are a relative error of at most 2 ** -8. An exact
quantile of these needs further passes, each of which counts the next 16 bits of the images that
begin with the bits found so far.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "BUCKETS",
    "add_packed",
    "bits_of",
    "bucket_of",
    "counts_after",
    "image_of",
    "is_counted_exactly",
    "packed",
    "value_of",
    "values_of_buckets",
]

AnyArray = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]

BUCKETS = 1 << 16
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits_of(dtype: np.dtype[Any]) -> int:
    """The number of bits of an image."""
    return 8 * dtype.itemsize


def is_counted_exactly(dtype: np.dtype[Any]) -> bool:
    """Whether there are as many buckets as different elements."""
    return dtype.itemsize <= 2


def image_of(values: AnyArray) -> AnyArray:
    """Unsigned integers in the order of the values; NaN is not ordered."""
    values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
    word: Any = _WORDS[values.dtype.itemsize]
    bits: AnyArray = values.view(word)
    if values.dtype.kind in "ub":
        return bits
    top = word(1 << (bits_of(values.dtype) - 1))
    if values.dtype.kind == "i":
        image: AnyArray = bits ^ top
    else:
        image = np.where(bits & top, ~bits, bits | top)
    return image


def value_of(image: int, dtype: np.dtype[Any]) -> Any:
    """The value that has an image."""
    word = _WORDS[dtype.itemsize]
    bits, top = int(image), 1 << (bits_of(dtype) - 1)
    if dtype.kind == "i":
        bits ^= top
    elif dtype.kind == "f":
        bits = bits ^ top if bits & top else ~bits & (2 * top - 1)
    return np.array(bits, word).view(dtype.newbyteorder("="))[()]


def counts_after(values: AnyArray, prefixes: Sequence[int], bits: int) -> Counts:
    """How many values that begin with each prefix, of so many bits, have each next 16 bits."""
    image = image_of(values)
    word = image.dtype.type
    begins = image >> word(bits_of(values.dtype) - bits)
    rest = word(bits_of(values.dtype) - bits - 16)
    found = np.zeros((len(prefixes), BUCKETS), np.int64)
    for row, prefix in zip(found, prefixes, strict=True):
        own = image[begins == word(prefix)]
        row += np.bincount((own >> rest) & word(BUCKETS - 1), minlength=BUCKETS)
    return found


def bucket_of(counts: Counts, rank: int) -> tuple[int, int]:
    """The bucket with the element of a rank, counted from 0, and its rank in the bucket."""
    ends = np.cumsum(counts)
    bucket = int(np.searchsorted(ends, rank, side="right"))
    return bucket, rank - (int(ends[bucket - 1]) if bucket else 0)


def values_of_buckets(dtype: np.dtype[Any]) -> npt.NDArray[np.float64]:
    """The value of each bucket; of wide types, one near the middle of the bucket."""
    bits: AnyArray
    top: Any
    if not is_counted_exactly(dtype):
        bits = (np.arange(BUCKETS, dtype=np.uint32) << 16) | 0x8000
        top = np.uint32(1 << 31)
        numbers: AnyArray = np.where(bits & top, bits ^ top, ~bits).view(np.float32)
        # The buckets of zeros, which are commoner than the smallest subnormal numbers.
        numbers[[0x7FFF, 0x8000]] = 0
    else:
        word = _WORDS[dtype.itemsize]
        bits = np.arange(1 << bits_of(dtype), dtype=np.uint32).astype(word)
        top = word(1 << (bits_of(dtype) - 1))
        if dtype.kind == "i":
            bits = bits ^ top
        elif dtype.kind == "f":
            bits = np.where(bits & top, bits ^ top, ~bits)
        numbers = bits.view(dtype.newbyteorder("="))
    with np.errstate(invalid="ignore"):
        values = numbers.astype(np.float64)
    return np.concatenate([values, np.zeros(BUCKETS - len(values))])


def packed(counts: Counts) -> str:
    """Counts as text: the places of those that are not zero, and their values."""
    flat = counts.reshape(-1)
    places = np.flatnonzero(flat)
    raw = places.astype("<u4").tobytes() + flat[places].astype("<i8").tobytes()
    return base64.b85encode(zlib.compress(raw, 1)).decode()


def add_packed(total: Counts, text: str) -> None:
    """Add counts of `packed`."""
    raw = zlib.decompress(base64.b85decode(text))
    count = len(raw) // 12
    places = np.frombuffer(raw, "<u4", count)
    total.reshape(-1)[places] += np.frombuffer(raw, "<i8", count, 4 * count)
