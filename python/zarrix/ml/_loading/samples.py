"""Functions of single samples, and the batch of what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from zarrix.ml._reading.batch import Batch, Samples

__all__ = ["SampleFunction", "of_samples"]

SampleFunction = Callable[[dict[str, Any], np.random.Generator], Any]


def of_samples(batch: Batch, function: SampleFunction) -> Any:
    """The batch of what ``function`` returns for each sample of a batch.

    A function that returns None has changed the sample: its arrays, which are views of the batch,
    or what the mapping has.
    """
    samples = Samples.of(batch)
    results = [
        _called(function, sample, rng)
        for sample, rng in zip(samples, _generators(batch), strict=True)
    ]
    return _joined(results, "", samples)


def _called(function: SampleFunction, sample: dict[str, Any], rng: np.random.Generator) -> Any:
    # A copy: the function may replace entries, and the batch is made of those that it did not.
    given = dict(sample)
    result = function(given, rng)
    return given if result is None else result


def _generators(batch: Batch) -> Iterator[np.random.Generator]:
    """A generator for each sample, by the seed of its visit alone."""
    assert batch.seeds is not None
    for seed in batch.seeds.tolist():
        yield np.random.Generator(np.random.Philox(key=seed))


def _joined(results: list[Any], label: str, samples: Samples) -> Any:
    """One tree whose leaves have a new first axis, of trees of equal structure."""
    first = results[0]
    if isinstance(first, Mapping):
        if any(not isinstance(one, Mapping) or one.keys() != first.keys() for one in results):
            raise ValueError(f"transform_sample returned different entries{_of(label)}")
        joined = {
            name: _joined([one[name] for one in results], f"{label}[{name!r}]", samples)
            for name in first
        }
        if label:
            return joined
        made = Batch(joined)
        made.seeds = samples.batch.seeds
        return made
    if isinstance(first, list | tuple):
        if any(type(one) is not type(first) or len(one) != len(first) for one in results):
            raise ValueError(f"transform_sample returned different lists{_of(label)}")
        parts = [
            _joined(list(values), f"{label}[{number}]", samples)
            for number, values in enumerate(zip(*results, strict=True))
        ]
        if isinstance(first, list):
            return parts
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return _stacked(results, label, samples)


def _stacked(values: list[Any], label: str, samples: Samples) -> Any:
    for name, whole in samples.batch.items():
        pairs = zip(values, samples, strict=True)
        if all(name in sample and sample[name] is value for value, sample in pairs):
            return whole
    arrays = [np.asarray(value) for value in values]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise ValueError(
            f"transform_sample returned arrays of the shapes {shapes[0]} and {shapes[-1]}"
            f"{_of(label)}; samples of a batch have one shape"
        )
    dtypes = {array.dtype for array in arrays}
    if len(dtypes) > 1 and not all(dtype.kind in "US" for dtype in dtypes):
        raise ValueError(
            f"transform_sample returned arrays of {', '.join(sorted(map(str, dtypes)))}"
            f"{_of(label)}; samples of a batch have one data type"
        )
    return np.stack(arrays)


def _of(label: str) -> str:
    return f" of {label}" if label else ""
