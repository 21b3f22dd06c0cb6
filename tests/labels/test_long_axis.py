"""Long coordinates are searched chunk by chunk, and have the indices of short ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._array import coordinates
from zarrix._labels._axis import Axis
from zarrix._labels._cf import Labels, decoding_of
from zarrix._labels._key import Manner, indices_of
from zarrix._labels._long import LongAxis
from zarrix.errors import LabelError

UNITS = {"units": "hours since 2000-01-01"}


def axes(values: Any, part: int, attributes: Any) -> tuple[Axis, LongAxis]:
    decoding = decoding_of(values.dtype, attributes, "x")

    def read(begin: int, end: int) -> Labels:
        return decoding.labels(values[begin:end], "x")

    short = Axis("x", decoding.labels(values, "x"), decoding)
    return short, LongAxis("x", len(values), part, read, decoding)


def found(axis: Axis, key: Any, manner: Manner) -> Any:
    try:
        indices = indices_of(axis, key, manner)
    except LabelError:
        return "error"
    return indices.tolist() if isinstance(indices, np.ndarray) else indices


def test_indices_are_those_of_a_short_axis() -> None:
    rng = random.Random(0)
    for _ in range(3000):
        n = rng.randint(1, 20)
        values = np.sort([rng.randint(0, 24) for _ in range(n)])
        if rng.random() < 0.4:
            values = values[::-1].copy()
        attributes = UNITS if rng.random() < 0.3 else {}
        short, long = axes(values, rng.randint(1, 7), attributes)
        manner = Manner()
        if attributes:
            texts = [f"2000-01-{rng.randint(1, 2):02}T{rng.randint(0, 23):02}" for _ in "ab"]
            key: Any = slice(*sorted(texts, reverse=long.direction < 0))
        elif rng.random() < 0.3:
            key = rng.randint(-2, 26)
        elif rng.random() < 0.5:
            ends = [rng.randint(-2, 26), rng.choice([None, rng.randint(-2, 26)])]
            key = slice(*ends, rng.choice([None, 2, -1]))
        elif short.is_unique:
            key = [rng.randint(-2, 26) for _ in range(3)]
            manner = Manner(rng.choice([None, "nearest", "pad", "backfill"]))
        else:
            continue
        assert found(short, key, manner) == found(long, key, manner), (values, key, manner)


def test_a_part_that_is_not_sorted_is_an_error() -> None:
    _, long = axes(np.array([0, 1, 5, 3, 6, 7]), 4, {})
    with pytest.raises(LabelError, match="not sorted"):
        indices_of(long, 3)


def test_few_chunks_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coordinates, "_MOST_READ", 1000)
    root = zarr.create_group()
    time = root.create_array("time", data=np.arange(20_000), chunks=(10,), dimension_names=["time"])
    time.attrs.update(UNITS)
    root.create_array("v", data=np.arange(20_000), chunks=(1000,), dimension_names=["time"])
    read: list[Any] = []
    plain = coordinates.read_selection
    monkeypatch.setattr(
        coordinates, "read_selection", lambda array, key: (read.append(key), plain(array, key))[1]
    )
    part = root.sel(time="2000-02")
    assert part["v"][...].tolist() == list(range(744, 1440))
    assert len(read) < 40
    with pytest.raises(LabelError, match="read the array"):
        part.labels("time")


def test_a_huge_coordinate_that_is_not_stored_costs_little() -> None:
    root = zarr.create_group()
    root.create_array("x", shape=2**50, chunks=2**16, dtype="i8", dimension_names=["x"])
    root.create_array("v", shape=2**50, chunks=2**16, dtype="i1", dimension_names=["x"])
    assert root.sel(x=slice(-1, 1))["v"].shape == (2**50,)
    with pytest.raises(LabelError, match="from 0 to 0"):
        root.sel(x=3)
