"""Results that are larger than the CPU caches bypass them: no value may show it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from numcodecs import Blosc

LZ4 = Blosc("lz4", 5, Blosc.SHUFFLE)
# Every shape is more than 32 MiB. Rows of chunks begin and end at cache lines, or anywhere; planes
# are a few elements of each pixel; and chunks are contiguous in the result, or are not.
LAYOUTS: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], Any]] = {
    "rows of complete lines": ("u2", (4096, 4352), (128, 128), LZ4),
    "rows of any bytes": ("u2", (4099, 4357), (127, 367), LZ4),
    "short rows": ("f4", (1021, 8501), (111, 23), LZ4),
    "no codec": ("u1", (65, 801, 721), (8, 256, 256), None),
    "an odd number of planes": ("f8", (331, 287, 47), (350, 300, 1), LZ4),
    "half a line of planes": ("u1", (1501, 731, 33), (512, 731, 1), None),
    "contiguous chunks": ("i8", (4_300_001,), (400_003,), LZ4),
    "long elements": ("V40", (900_001,), (70_001,), LZ4),
    "one large chunk": ("f4", (3000, 3001), (3000, 3001), LZ4),
    "Fortran order": ("f4", (3000, 3001), (701, 900), Blosc("zstd", 1, Blosc.SHUFFLE)),
}


@pytest.fixture(params=LAYOUTS, scope="module")
def stored(request: Any) -> tuple[Any, np.ndarray[Any, Any]]:
    dtype, shape, chunks, compressor = LAYOUTS[request.param]
    length = int(np.prod(shape)) * np.dtype(dtype).itemsize
    noise = np.random.default_rng(7).integers(0, 255, length // 4 + 1, dtype="u1")
    values = np.repeat(noise, 4)[:length].view(dtype).reshape(shape)
    order = "F" if request.param == "Fortran order" else "C"
    array = zarr.open_array(
        zarr.storage.MemoryStore(),
        mode="w",
        shape=shape,
        chunks=chunks,
        dtype=dtype,
        order=order,
        compressor=compressor,
        zarr_format=2,
    )
    array[...] = values
    return array, values


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    return found.tobytes() == expected.tobytes()


def test_all_of_a_large_array(stored):
    array, values = stored
    assert values.nbytes > 32 * 2**20
    assert same(array[...], values)


def test_a_large_part_that_begins_anywhere(stored):
    array, values = stored
    part = tuple(slice(1, None) for _ in values.shape)
    assert same(array[part], values[part])
    turned = (slice(None, None, -1), *part[1:])
    assert same(array[turned], values[turned])


def test_into_memory_of_the_caller_that_is_not_aligned(stored):
    array, values = stored
    memory = np.empty(values.nbytes + 13, "u1")
    out = memory[13:].view(values.dtype).reshape(values.shape)
    array.get_basic_selection(..., out=out)
    assert same(out, values)
    columns = np.empty(values.shape, values.dtype, order="F")
    array.get_basic_selection(..., out=columns)
    assert same(columns, values)
