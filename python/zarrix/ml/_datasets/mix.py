"""Several datasets as one, in stated proportions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zarrix.ml._datasets.dataset import Dataset, Draws
from zarrix.ml._datasets.stages import samples_until, stages_of
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.fetch import Entry, Frozen
from zarrix.ml._reading.fields import Column

__all__ = ["Mix"]


class Mix(Dataset):
    """Datasets with equal samples, mixed in proportion to weights.

    Each run of a few positions of the order has exactly the share of every dataset, so that any
    part of an epoch is close to it. A dataset that ends before the epoch does begins again in
    another order.

    Parameters
    ----------
    datasets : mapping of str to dataset
    weights : mapping of str to float, or mapping of int to such mappings, optional
        Equal when omitted. They are made integers whose sum is at most 65536. A schedule has the
        weights from each position of an epoch on, in samples of all ranks; a dataset whose weight
        is 0 there has none until the next position.
    until : {"first", "longest", "all"}
        When an epoch ends: before the first dataset is used up, so that no item is visited twice;
        when every item of the dataset with the most items was visited; or when every item of all
        datasets was. A loader with ``samples=`` ends it there instead.

    Raises
    ------
    ValueError
        Names differ, a weight is not positive, positions do not ascend from 0, samples differ,
        ``until`` is another text, or asks for items that the last weights leave out.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> a, b = (ml.Rows({"x": zarr.full((30, 2), value)}) for value in (1, 2))
    >>> mix = ml.Mix({"a": a, "b": b}, weights={"a": 2, "b": 1})
    >>> batch = next(iter(ml.Loader(mix, batch_size=6)))
    >>> sorted(batch["x"][:, 0].tolist()), sorted(batch["source"].tolist())
    ([1.0, 1.0, 1.0, 1.0, 2.0, 2.0], [0, 0, 0, 0, 1, 1])

    Thirty items of the second dataset, of which each third sample is one, need 90 samples:

    >>> len(ml.Loader(ml.Mix({"a": a, "b": b}, weights={"a": 2, "b": 1}, until="all")))
    90

    A schedule, in which the second dataset begins later:

    >>> weights = {0: {"a": 1, "b": 0}, 8: {"a": 1, "b": 1}}
    >>> loader = ml.Loader(ml.Mix({"a": a, "b": b}, weights=weights), 4)
    >>> [int(batch["source"].sum()) for batch in loader][:4]
    [0, 0, 2, 2]
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        datasets: Mapping[str, Dataset],
        *,
        weights: Mapping[Any, Any] | None = None,
        until: str = "first",
    ) -> None:
        if not isinstance(datasets, Mapping) or not datasets:
            raise ValueError("Mix needs a mapping of names to datasets")
        for name, part in datasets.items():
            if not isinstance(part, Dataset):
                raise TypeError(
                    f"{name!r} is not a dataset of zarrix.ml, but {type(part).__name__}"
                )
        self._names, self._until = tuple(datasets), until
        self._parts: list[Any] = list(datasets.values())
        self._weights, self._stages = weights, stages_of(weights, self._names)
        shapes = [self._shapes(part) for part in self._parts]
        for name, shape in zip(self._names, shapes, strict=True):
            if shape != shapes[0]:
                raise ValueError(
                    f"samples of {name!r} are {shape}, and those of {self._names[0]!r} {shapes[0]}"
                )
        self._layout = self._parts[0]._layout
        self._count_items([len(part) for part in self._parts])
        lengths = [part._epoch_length for part in self._parts]
        self._epoch = samples_until(self._stages, lengths, until)

    @staticmethod
    def _shapes(part: Dataset) -> dict[str, tuple[Any, ...]]:
        shapes: dict[str, tuple[Any, ...]] = {
            c.name: (c.shape, c.target or str(c.dtype), *(c.nan if c.nan.counts else ()))
            for c in part._shown()
        }
        if part._layout is not None:
            shapes["layout"] = tuple(part._layout.identity())
        return shapes

    def _lengths_of(self, items: Ints) -> Ints:
        lengths, sources = np.empty_like(items), np.searchsorted(self._ends, items, "right") - 1
        for number, part in enumerate(self._parts):
            here = sources == number
            lengths[here] = part._lengths_of(items[here] - self._ends[number])
        return lengths

    def split(
        self,
        parts: Mapping[str, float],
        *,
        by: str | None = None,
        gap: int | None = None,
        seed: int = 0,
    ) -> tuple[Mix, ...]:
        """Divide each dataset, and mix the parts of one name in the same proportions.

        Parameters
        ----------
        parts : mapping of str to float
        by : str, optional
        gap : int, optional
        seed : int

        Returns
        -------
        tuple of Mix

        Raises
        ------
        ValueError
            A dataset cannot be split so.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> mix = ml.Mix({"a": ml.Rows({"x": zarr.zeros((10, 2))})})
        >>> [len(part) for part in mix.split({"train": 0.8, "val": 0.2})]
        [8, 2]
        """
        splits = [part.split(parts, by=by, gap=gap, seed=seed) for part in self._parts]
        return tuple(
            Mix(
                dict(zip(self._names, of_part, strict=True)),
                weights=self._weights,
                until=self._until,
            )
            for of_part in zip(*splits, strict=True)
        )

    @property
    def _epoch_length(self) -> int:
        return self._epoch

    # What a dataset defines

    def _shown(self) -> list[Column]:
        columns: list[Column] = self._parts[0]._shown()
        return columns

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        """As a dataset wants it that has another order of axes in memory, if one does."""
        of_parts: list[Any] = [
            part._allocated(own)
            for part in self._parts
            for own in part._shown()
            if own.name == column.name
        ]
        chosen: tuple[Any, Any] = next(
            (allocated for allocated in of_parts if allocated[1] is not None), of_parts[0]
        )
        return chosen

    def _is_thin(self) -> bool:
        return all(part._is_thin() for part in self._parts)

    def _share(self) -> float:
        return max(
            float(part._share() * share / sum(stage.shares))
            for stage in self._stages
            for part, share in zip(self._parts, stage.shares, strict=True)
        )

    def _overlap(self) -> float:
        # Its order has no windows of blocks.
        return 0.0

    def _described(self) -> str:
        return f"{len(self._parts)} datasets"

    def _draws(self, visits: Visits) -> Draws:
        items = visits.items
        sources = np.searchsorted(self._ends, items, "right") - 1
        extras: dict[str, Any] = {"item": items, "source": sources}
        parts = []
        for number, part in enumerate(self._parts):
            rows = np.flatnonzero(sources == number)
            own = visits.take(rows)._replace(
                items=items[rows] - self._ends[number], seed=visits.seed ^ (number + 1) << 32
            )
            parts.append((rows, part._draws(own)))
        # Entries that all datasets have, such as the corners of crops of equal dimensions.
        names = set(parts[0][1].extras) - {"item", "source"}
        for name in sorted(names):
            if any(name not in draws.extras for _, draws in parts):
                continue
            of_parts = [draws.extras[name] for _, draws in parts]
            if all(values.shape[1:] == of_parts[0].shape[1:] for values in of_parts):
                extras[name] = np.empty((len(items), *of_parts[0].shape[1:]), of_parts[0].dtype)
                for (rows, _), values in zip(parts, of_parts, strict=True):
                    extras[name][rows] = values
        return _Mixed(visits, extras, parts)

    def _entries(self, draws: Draws, batch: Batch, rows: Ints | None = None) -> list[Entry]:
        entries: list[Entry] = []
        for part, (own, some) in zip(self._parts, draws.parts, strict=True):
            if len(own):
                entries += part._entries(some, batch, own if rows is None else rows[own])
        return entries

    def _frozen(self, frozen: Frozen) -> Mix:
        return self._with(_parts=[part._frozen(frozen) for part in self._parts])

    def _reduced(self, factor: int) -> Mix:
        parts = [part._reduced(factor) for part in self._parts]
        named = dict(zip(self._names, parts, strict=True))
        return Mix(named, weights=self._weights, until=self._until)

    def _begins(self) -> Ints:
        begins = [
            part._begins()[1:] + end for part, end in zip(self._parts, self._ends, strict=False)
        ]
        return np.concatenate([np.zeros(1, np.int64), *begins])

    def _identity(self) -> dict[str, Any]:
        shares = [stage.shares for stage in self._stages]
        return {
            "kind": "Mix",
            "shares": shares[0] if len(shares) == 1 else [list(stage) for stage in self._stages],
            "datasets": {n: p._identity() for n, p in zip(self._names, self._parts, strict=True)},
            # States of earlier versions have no such entry.
            **({} if self._until == "first" else {"until": self._until}),
        }

    def __repr__(self) -> str:
        first = self._stages[0].shares
        parts = ", ".join(
            f"{share / sum(first):.3g} {name} of {len(part)}"
            for name, share, part in zip(self._names, first, self._parts, strict=True)
        )
        stages = f"; {len(self._stages)} stages" if len(self._stages) > 1 else ""
        return f"Mix({parts}{stages}; {self._epoch} samples an epoch)"


class _Mixed(Draws):
    """The windows of items of several datasets; ``parts`` has rows and windows of each."""

    __slots__ = ("parts",)

    def __init__(
        self,
        visits: Visits,
        extras: dict[str, Any],
        parts: list[tuple[Ints, Draws]],
    ) -> None:
        super().__init__(visits, None, visits.items, [], extras)
        self.parts = parts

    def __getitem__(self, part: slice) -> _Mixed:
        base = super().__getitem__(part)
        found = []
        for rows, draws in self.parts:
            low, high = np.searchsorted(rows, (part.start, part.stop))
            found.append((rows[low:high] - part.start, draws[low:high]))
        return _Mixed(base.visits, base.extras, found)
