"""Selections through ``zarr.Array`` with and without the engine: equal in every respect.

ZARRIX_SELECTIONS is how many selections of each kind are drawn.
"""

import os
from random import Random
from typing import Any

import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from zarr_python.differential import ARRAYS, KINDS, create, key_of, outcome, value_for, values_like
from zarrix.interop import Pipeline, accelerate

# Importing it registers it, as the entry point of an installed zarrix does.
assert Pipeline.__module__ == "zarrix.interop"
SELECTIONS = int(os.environ.get("ZARRIX_SELECTIONS", "500"))
# Selections of one array that one example draws.
TOGETHER = 50

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


WAYS = ("accelerate", "pipeline")


def way_of(way: str) -> Any:
    """What is on while our arrays are made and used."""
    if way == "accelerate":
        return accelerate()
    return zarr.config.set({"codec_pipeline.path": "zarrix.interop.Pipeline"})


def created(name: str, way: str) -> Any:
    """An array that the engine reads, and its equal that it does not."""
    with way_of(way):
        ours = create(name, zarr.storage.MemoryStore())
    return ours, create(name, zarr.storage.MemoryStore())


@pytest.fixture(scope="module", params=WAYS)
def filled(request: pytest.FixtureRequest) -> Any:
    return request.param, {name: created(name, request.param) for name in ARRAYS}


def key_for(random: Random, array: Any, kind: str) -> Any:
    axes = array._chunk_grid._dimensions
    chunks = tuple(max(axis.chunk_size(0), 1) if axis.nchunks else 1 for axis in axes)
    return key_of(random, kind, array.shape, chunks)


@pytest.mark.parametrize("kind", KINDS)
def test_reads_are_equal(kind: str, filled: Any) -> None:
    way, arrays = filled

    @setting
    @given(seed=st.integers(0, 2**64 - 1), name=st.sampled_from(sorted(ARRAYS)))
    def check(seed: int, name: str) -> None:
        random = Random(seed)
        ours, theirs = arrays[name]
        selections = [key_for(random, ours, kind) for _ in range(TOGETHER)]
        expected = [outcome(read, theirs, kind, key) for key in selections]
        with way_of(way):
            found = [outcome(read, ours, kind, key) for key in selections]
        for key, one, other in zip(selections, found, expected, strict=True):
            assert one == other, (name, kind, key)

    check()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_writes_are_equal(kind: str, way: str) -> None:
    @setting
    @given(seed=st.integers(0, 2**64 - 1), name=st.sampled_from(sorted(set(ARRAYS) - {"missing"})))
    def check(seed: int, name: str) -> None:
        random = Random(seed)
        ours, theirs = created(name, way)
        # Reads its elements without the engine.
        plain = zarr.Array(zarr.AsyncArray(ours.metadata, ours.store_path, ours.config))
        for _ in range(TOGETHER):
            key = key_for(random, ours, kind)
            shape = outcome(read, theirs, kind, key)
            value = value_for(random, ours.dtype, shape[1] if len(shape) > 2 else (2,))
            expected = outcome(write, theirs, kind, key, value)
            with way_of(way):
                found = outcome(write, ours, kind, key, value)
            assert found == expected, (name, kind, key, value)
            if expected[0] == "error":
                # zarr-python may still be writing some of the chunks, in any order.
                ours, theirs = created(name, way)
                plain = zarr.Array(zarr.AsyncArray(ours.metadata, ours.store_path, ours.config))
            else:
                stored = outcome(read, plain, "getitem", ...)
                assert stored == outcome(read, theirs, "getitem", ...), (name, kind, key, value)

    check()


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_all_kinds_of_arrays_are_served(name: str, filled: Any) -> None:
    way, arrays = filled
    ours, _ = arrays[name]
    with way_of(way):
        outcome(read, ours, "getitem", ...)
        if ours.ndim and name != "empty":
            ours[:1] = values_like(ours.dtype, (1, *ours.shape[1:]), 1)
    if way == "accelerate":
        assert ours._async_array.__dict__["_zarrix_bound"].io is not None
    elif name not in ("rectilinear", "empty"):
        planned = ours._async_array.codec_pipeline.__dict__["_zarrix_array"]
        assert planned.bound.io is not None
