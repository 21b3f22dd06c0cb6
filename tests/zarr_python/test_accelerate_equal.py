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
# zarr-python writes shards concurrently: where a value and a key are both wrong, each call raises
# one of two errors. It has to raise ours in one of these calls.
TRIES = 200

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


class Written:
    """An array that the engine writes, and its equal that zarr-python writes."""

    def __init__(self, name: str, way: str) -> None:
        self.way = way
        both = created(name, way)
        self._metadata = [(array.metadata, array.config, array.path) for array in both]
        self._values = [dict(array.store._store_dict) for array in both]
        self.renew()

    def renew(self) -> None:
        """Both as they were created, in other stores.

        After an error zarr-python may still be writing some of the chunks, in any order.
        """
        stores = [zarr.storage.MemoryStore(dict(values)) for values in self._values]
        with way_of(self.way):
            self.ours = self._array(stores, 0)
        self.theirs = self._array(stores, 1)
        # Reads what was written by the engine without it.
        self.plain = self._array(stores, 0)

    def _array(self, stores: list[Any], which: int) -> Any:
        metadata, config, path = self._metadata[which]
        place = zarr.storage.StorePath(stores[which], path)
        return zarr.Array(zarr.AsyncArray(metadata, place, config))

    def equal(self) -> bool:
        """Whether zarr-python reads the same elements from both.

        Equal bytes under equal metadata are equal elements; only others are decoded.
        """
        ours, theirs = (
            {key: bytes(value.to_bytes()) for key, value in one.store._store_dict.items()}
            for one in (self.ours, self.theirs)
        )
        if ours == theirs:
            return True
        everything = outcome(read, self.plain, "getitem", ...)
        return bool(everything == outcome(read, self.theirs, "getitem", ...))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_writes_are_equal(kind: str, way: str) -> None:
    arrays: dict[str, Written] = {}

    @setting
    @given(seed=st.integers(0, 2**64 - 1), name=st.sampled_from(sorted(set(ARRAYS) - {"missing"})))
    def check(seed: int, name: str) -> None:
        random = Random(seed)
        if name not in arrays:
            arrays[name] = Written(name, way)
        both = arrays[name]
        both.renew()
        for _ in range(TOGETHER):
            key = key_for(random, both.ours, kind)
            with way_of(way):
                shape = outcome(read, both.ours, kind, key)
            value = value_for(random, both.ours.dtype, shape[1] if len(shape) > 2 else (2,))
            expected = outcome(write, both.theirs, kind, key, value)
            with way_of(way):
                found = outcome(write, both.ours, kind, key, value)
            if expected[0] == "error":
                tries = (outcome(write, both.theirs, kind, key, value) for _ in range(TRIES))
                assert found == expected or found in tries, (name, kind, key, value)
                both.renew()
            else:
                assert found == expected, (name, kind, key, value)
                assert both.equal(), (name, kind, key, value)

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
