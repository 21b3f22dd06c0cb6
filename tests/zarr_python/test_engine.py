"""`Engine`: the protocol of zarr-python#4064, by requests of the same shape as there."""

import asyncio
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from zarr.core import indexing
from zarr.core.buffer import cpu, default_buffer_prototype
from zarr_python.differential import ARRAYS, create
from zarrix.interop import Engine

PROTOTYPE = default_buffer_prototype()
MASK = np.arange(63).reshape(7, 9) % 4 == 1
REQUESTS = [
    ("basic", (slice(1, 5), 2)),
    ("basic", (3, 4)),
    ("basic", ...),
    ("orthogonal", ([5, 1], slice(0, 4))),
    ("orthogonal", (np.arange(7) > 4, 3)),
    ("coordinate", ([[1, 2], [3, 4]], [[0, 8], [7, 1]])),
    ("mask", MASK),
    ("block", (1, slice(0, 2))),
]


@dataclass(frozen=True)
class Request:
    kind: str
    selection: Any
    shape: tuple[int, ...]
    chunk_grid: Any

    @cached_property
    def indexer(self) -> Any:
        kind = getattr(indexing, f"{self.kind.capitalize()}Indexer")
        return kind(self.selection, self.shape, self.chunk_grid)


def request_of(array: Any, kind: str, key: Any) -> Request:
    return Request(kind, key, array.shape, array._chunk_grid)


def engines(name: str) -> Any:
    store = zarr.storage.MemoryStore()
    array = create(name, store)
    return array, Engine(store).array_engine(name, array.metadata, array.config)


@pytest.mark.parametrize("name", [one for one in ARRAYS if ARRAYS[one]["shape"] == (7, 9)])
@pytest.mark.parametrize(("kind", "key"), REQUESTS)
def test_requests_read_and_write_what_zarr_python_does(name: str, kind: str, key: Any) -> None:
    array, engine = engines(name)
    request = request_of(array, kind, key)
    if name == "missing":
        array[...] = 1
    found = engine.read_selection(request, prototype=PROTOTYPE)
    work = array._async_array._get_selection(request.indexer, prototype=PROTOTYPE)
    expected = zarr.core.sync.sync(work)
    assert type(found) is type(expected)
    assert np.array_equal(found, expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    engine.write_selection(request, expected + 1, prototype=PROTOTYPE)
    assert np.array_equal(engine.read_selection(request, prototype=PROTOTYPE), expected + 1)
    again = array._async_array._get_selection(request.indexer, prototype=PROTOTYPE)
    assert np.array_equal(zarr.core.sync.sync(again), expected + 1)


def test_out_is_filled_and_fields_are_left_to_zarr_python() -> None:
    array, engine = engines("numbers")
    out = cpu.NDBuffer.create(shape=(7,), dtype="i4")
    request = request_of(array, "basic", (slice(None), 3))
    found = engine.read_selection(request, prototype=PROTOTYPE, out=out)
    assert np.array_equal(found, array[:, 3])
    assert np.array_equal(out.as_numpy_array(), array[:, 3])
    array, engine = engines("records")
    request = request_of(array, "basic", (slice(None), 3))
    # zarr-python 3.4.2 refuses fields of records, too.
    with pytest.raises(TypeError, match="Cannot cast"):
        engine.read_selection(request, prototype=PROTOTYPE, fields="n")


def test_errors_are_those_of_zarr_python() -> None:
    array, engine = engines("numbers")
    request = request_of(array, "basic", (99, 0))
    with pytest.raises(zarr.errors.BoundsCheckError):
        engine.read_selection(request, prototype=PROTOTYPE)
    with pytest.raises(zarr.errors.BoundsCheckError):
        engine.write_selection(request, 1, prototype=PROTOTYPE)


def test_an_engine_with_other_metadata_has_its_shape() -> None:
    array, engine = engines("numbers")
    array.resize((8, 9))
    grown = engine.with_metadata(array.metadata)
    request = request_of(array, "basic", (slice(6, 8), 8))
    grown.write_selection(request, 5, prototype=PROTOTYPE)
    assert array[6:8, 8].tolist() == [5, 5]


def test_coroutines_read_and_write() -> None:
    store = zarr.storage.MemoryStore()
    array = create("numbers", store)
    engine = Engine(store, asynchronous=True).array_engine("numbers", array.metadata)

    async def work() -> Any:
        request = request_of(array, "orthogonal", ([5, 1], 3))
        await engine.write_selection(request, np.array([7, 8]), prototype=PROTOTYPE)
        bad = request_of(array, "orthogonal", ([9, 1], 3))
        with pytest.raises(zarr.errors.BoundsCheckError):
            await engine.read_selection(bad, prototype=PROTOTYPE)
        return await engine.read_selection(request, prototype=PROTOTYPE)

    assert asyncio.run(work()).tolist() == [7, 8]
    assert array[5, 3] == 7


class Region(NamedTuple):
    """The request of earlier states of the branch."""

    start: tuple[int, ...]
    end_exclusive: tuple[int, ...]


@pytest.mark.parametrize("name", [one for one in ARRAYS if ARRAYS[one]["shape"] == (7, 9)])
@pytest.mark.parametrize(
    "box", [((0, 0), (7, 9)), ((1, 2), (4, 3)), ((6, 8), (7, 9)), ((2, 2), (2, 5))]
)
def test_regions_keep_all_axes(name: str, box: Any) -> None:
    array, engine = engines(name)
    if name == "missing":
        array[...] = 1
    region = Region(*box)
    where = tuple(map(slice, *box))
    found = np.asarray(engine.read_selection(region, prototype=PROTOTYPE))
    assert np.array_equal(found, array[where])
    assert found.shape == tuple(np.subtract(box[1], box[0]))
    other = array[...][tuple(slice(None, None, -1) for _ in where)][where]
    value = cpu.NDBuffer.from_numpy_array(np.ascontiguousarray(other))
    engine.write_selection(region, value, prototype=PROTOTYPE)
    assert np.array_equal(array[where], other)


def test_regions_of_coroutines() -> None:
    store = zarr.storage.MemoryStore()
    array = create("numbers", store)
    engine = Engine(store, asynchronous=True).array_engine("numbers", array.metadata)

    async def work() -> Any:
        region = Region((1, 1), (3, 4))
        value = cpu.NDBuffer.from_numpy_array(np.full((2, 3), 9, "i4"))
        await engine.write_selection(region, value, prototype=PROTOTYPE)
        return await engine.read_selection(region, prototype=PROTOTYPE)

    assert np.asarray(asyncio.run(work())).tolist() == [[9] * 3] * 2
    assert array[2, 3] == 9
