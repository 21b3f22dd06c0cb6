"""Selections through ``zarr.Array`` with and without `accelerate`: equal in every respect.

ZARRIX_SELECTIONS is how many selections of each kind are drawn; 100,000 take about an hour.
"""

import os
from typing import Any

import numpy as np
import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from zarr_python.differential import ARRAYS, KINDS, UNFILLED, create, keys, outcome, values
from zarrix.interop import accelerate

SELECTIONS = int(os.environ.get("ZARRIX_SELECTIONS", "400"))
# Selections of one array that one example draws.
TOGETHER = 10

setting = settings(
    max_examples=max(1, SELECTIONS // TOGETHER),
    deadline=None,
    derandomize="ZARRIX_SELECTIONS" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)


def read(array: Any, kind: str, key: Any) -> Any:
    return array[key] if kind == "getitem" else getattr(array, f"get_{kind}_selection")(key)


def write(array: Any, kind: str, key: Any, value: Any) -> None:
    if kind == "getitem":
        array[key] = value
    else:
        getattr(array, f"set_{kind}_selection")(key, value)


@pytest.fixture(scope="module")
def filled() -> dict[str, Any]:
    store = zarr.storage.MemoryStore()
    return {name: create(name, store) for name in ARRAYS}


def key_of(array: Any, kind: str) -> Any:
    chunks = tuple(
        max(axis.chunk_size(0), 1) if axis.nchunks else 1 for axis in array._chunk_grid._dimensions
    )
    return keys(kind, array.shape, chunks)


@pytest.mark.parametrize("kind", KINDS)
def test_reads_are_equal(kind: str, filled: dict[str, Any]) -> None:
    @setting
    @given(data=st.data(), name=st.sampled_from(sorted(ARRAYS)))
    def check(data: Any, name: str) -> None:
        array = filled[name]
        selections = data.draw(st.lists(key_of(array, kind), min_size=TOGETHER, max_size=TOGETHER))
        expected = [outcome(read, array, kind, key) for key in selections]
        with accelerate():
            found = [outcome(read, array, kind, key) for key in selections]
        for key, one, other in zip(selections, found, expected, strict=True):
            assert one == other, (name, kind, key)

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_writes_are_equal(kind: str) -> None:
    @setting
    @given(data=st.data(), name=st.sampled_from(sorted(set(ARRAYS) - {"missing"})))
    def check(data: Any, name: str) -> None:
        ours = create(name, zarr.storage.MemoryStore())
        theirs = create(name, zarr.storage.MemoryStore())
        for _ in range(TOGETHER):
            key = data.draw(key_of(ours, kind))
            shape = outcome(read, theirs, kind, key)
            wanted = shape[1] if len(shape) > 2 else (2,)
            value = data.draw(values(ours.dtype, wanted))
            expected = outcome(write, theirs, kind, key, value)
            with accelerate():
                found = outcome(write, ours, kind, key, value)
            assert found == expected, (name, kind, key, value)
            if expected[0] == "error":
                # zarr-python may still be writing some of the chunks, in any order.
                return
            assert outcome(ours.__getitem__, ...) == outcome(theirs.__getitem__, ...), (
                name,
                key,
                value,
            )

    check()


@pytest.mark.parametrize("name", sorted(set(ARRAYS) - set(UNFILLED)))
def test_all_kinds_of_arrays_are_served(name: str, filled: dict[str, Any]) -> None:
    array = filled[name]
    with accelerate():
        array[...]
    assert array._async_array.__dict__["_zarrix_bound"].io is not None
    assert isinstance(array[...], np.ndarray | np.generic | int)
