"""Functions of single samples, and the batch of what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zarrix.ml._reading.batch import Batch, Samples

__all__ = ["Same", "SampleFunction", "called", "generator", "joined", "of_samples"]

SampleFunction = Callable[[dict[str, Any], np.random.Generator], Any]


class Same:
    """Stands in a result for an entry of the sample, which the function may have changed."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> Any:
        return Same, (self.name,)


def of_samples(batch: Batch, function: SampleFunction) -> Any:
    """The batch of what ``function`` returns for each sample of a batch.

    A function that returns None has changed the sample: its arrays, which are views of the batch,
    or what the mapping has.
    """
    samples = Samples.of(batch)
    assert batch.seeds is not None
    results: list[Any] = []
    for sample, seed in zip(samples, batch.seeds.tolist(), strict=True):
        try:
            results.append(called(function, sample, seed, sample))
        except Exception as error:
            error.add_note(f"transform_sample failed at item {int(sample['item'])}")
            raise
    return joined(results, samples)


def generator(seed: int) -> np.random.Generator:
    """The generator of a sample, by the seed of its visit alone."""
    return np.random.Generator(np.random.Philox(key=seed))


def called(function: SampleFunction, sample: dict[str, Any], seed: int, known: Any) -> Any:
    """What a function returns, with `Same` for the entries of the sample that ``known`` names."""
    # A copy: the function may replace entries, and the batch is made of those that it did not.
    given = dict(sample)
    result = function(given, generator(seed))
    return _marked(given if result is None else result, {name: sample[name] for name in known})


def _marked(value: Any, known: dict[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return {name: _marked(entry, known) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return like(type(value), [_marked(entry, known) for entry in value])
    for name, entry in known.items():
        if entry is value:
            return Same(name)
    return value


def like(kind: type, parts: list[Any]) -> Any:
    """A list, or a tuple or named tuple of this type, of parts."""
    if issubclass(kind, list):
        return parts
    return kind(*parts) if hasattr(kind, "_fields") else tuple(parts)


def joined(results: list[Any], samples: Samples, label: str = "") -> Any:
    """One tree whose leaves have a new first axis, of trees of equal structure."""
    first = results[0]
    if isinstance(first, Mapping):
        if any(not isinstance(one, Mapping) or one.keys() != first.keys() for one in results):
            raise ValueError(f"transform_sample returned different entries{_of(label)}")
        tree = {
            name: joined([one[name] for one in results], samples, f"{label}[{name!r}]")
            for name in first
        }
        return tree if label else batch_of(tree, samples.batch)
    if isinstance(first, list | tuple):
        if any(type(one) is not type(first) or len(one) != len(first) for one in results):
            raise ValueError(f"transform_sample returned different lists{_of(label)}")
        parts = [
            joined(list(values), samples, f"{label}[{number}]")
            for number, values in enumerate(zip(*results, strict=True))
        ]
        return like(type(first), parts)
    return _stacked(results, samples, label)


def batch_of(tree: dict[str, Any], batch: Batch) -> Batch:
    """The batch of new entries, with the seeds of the one that they were made of."""
    made = Batch(tree)
    made.seeds = batch.seeds
    return made


def _stacked(values: list[Any], samples: Samples, label: str) -> Any:
    first = values[0]
    if isinstance(first, Same) and all(
        isinstance(value, Same) and value.name == first.name for value in values
    ):
        return samples.batch[first.name]
    arrays = [
        np.asarray(samples[i][value.name] if isinstance(value, Same) else value)
        for i, value in enumerate(values)
    ]
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
