"""Random numbers as pure functions of a seed and of what they are for.

Philox4x32-10 (Salmon et al., SC 2011) turns a key and a counter into 128 random bits. The counter
says what the numbers are for, so nothing has to be stored or repeated to resume, and the streams
of NumPy and of torch, which may change with a release, are not used. SplitMix64's finaliser mixes
single words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["TAGS", "Ints", "Words", "draw", "key_of", "mix64", "philox", "rekeyed"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# What a draw is for: the first word of its counter. The numbers are part of order version 1.
TAGS = {
    name: number
    for number, name in enumerate(
        (
            "item",
            "block",
            "window",
            "draw",
            "mix",
            "source",
            "corner",
            "replace",
            "split",
            "batch",
            "augment",
        )
    )
}

GOLDEN = 0x9E3779B97F4A7C15
_MASK64 = 2**64 - 1
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_ROUND_KEYS = (0x9E3779B9, 0xBB67AE85)
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))


def philox(key: Any, counter: tuple[Any, Any, Any, Any]) -> tuple[Words, Words, Words, Words]:
    """Four words of 32 random bits for each counter; the arguments broadcast.

    Examples
    --------
    >>> [f"{int(word):08x}" for word in philox(0, (0, 0, 0, 0))]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    key = np.asarray(key, np.uint64)
    low, high = key & _LOW, key >> _SHIFT
    a, b, c, d = [np.asarray(word, np.uint64) for word in counter]
    for step in range(10):
        left, right = _MULTIPLIERS[0] * a, _MULTIPLIERS[1] * c
        first = (low + np.uint64(step * _ROUND_KEYS[0] & 0xFFFFFFFF)) & _LOW
        second = (high + np.uint64(step * _ROUND_KEYS[1] & 0xFFFFFFFF)) & _LOW
        a, b, c, d = (
            (right >> _SHIFT) ^ b ^ first,
            right & _LOW,
            (left >> _SHIFT) ^ d ^ second,
            left & _LOW,
        )
    return a, b, c, d


def mix64(words: Any) -> Words:
    """SplitMix64's finaliser: a bijection of 64-bit words."""
    # At least one axis: NumPy warns about the overflow of scalars, and not of arrays.
    words = np.atleast_1d(np.asarray(words, np.uint64))
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Words = words ^ (words >> np.uint64(31))
    return mixed


def key_of(seed: int, tag: str, epoch: int, number: int = 0) -> int:
    """A key of 64 bits for one use, and one number of it, in an epoch."""
    a, b, _, _ = philox(
        seed & _MASK64, (TAGS[tag], epoch & 0xFFFFFFFF, epoch >> 32, number & 0xFFFFFFFF)
    )
    return int(a) | int(b) << 32


def rekeyed(seed: int, rounds: Any) -> Any:
    """The key of a repetition: the seed itself the first time, another one each further time."""
    if rounds is None:
        return np.uint64(seed & _MASK64)
    rounds = np.atleast_1d(np.asarray(rounds, np.uint64))
    other = mix64(np.uint64(seed & _MASK64) + rounds * np.uint64(GOLDEN))
    return np.where(rounds == 0, np.uint64(seed & _MASK64), other)


def draw(
    seed: int, tag: str, epoch: Any, items: Ints, *, rounds: Any = None, attempt: int = 0
) -> tuple[Words, Words]:
    """Two words of 64 random bits for each item of an epoch.

    They depend on nothing else: not on the batch, the rank, the worker or the thread.
    """
    words = items.astype(np.uint64)
    first = TAGS[tag] | attempt << 8
    counter = (first, np.asarray(epoch, np.uint64) & _LOW, words & _LOW, words >> _SHIFT)
    a, b, c, d = philox(rekeyed(seed, rounds), counter)
    return a | b << _SHIFT, c | d << _SHIFT
