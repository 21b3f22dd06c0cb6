"""Maps of stored chunks."""

from __future__ import annotations

import xml.dom.minidom
from typing import Any

import numpy as np
import pytest
import zarrix as zarr


def partly() -> Any:
    z = zarr.zeros((3, 8, 8), chunks=(1, 2, 4), compressor=None, dtype="u1")
    z[0, :4] = 1
    z[2] = 1
    return z


def test_a_map_has_the_bytes_of_every_chunk() -> None:
    found = partly().chunk_map()
    expected = np.full((3, 4, 2), -1)
    expected[0, :2] = expected[2] = 8
    assert np.array_equal(found.sizes, expected)
    assert (found.stored, found.nbytes, found.noun) == (12, 96, "chunk")
    text = str(found).splitlines()
    assert text[:3] == ["chunks [0, :, :]", "██", "██"]
    assert text[3] == "//"
    assert text[-1] == "12 of 24 chunks stored, 96 bytes"


def test_a_map_of_a_selection_asks_for_its_chunks_alone() -> None:
    found = partly().chunk_map((0, slice(3, 6)))
    assert (found.box, found.sizes.tolist()) == ([(1, 3), (0, 2)], [[8, 8], [-1, -1]])
    with pytest.raises(IndexError):
        partly().chunk_map(3)
    many = zarr.zeros((10**6, 10), chunks=(1, 10))
    with pytest.raises(ValueError, match=r"1,000,000 values"):
        many.chunk_map()
    assert many.chunk_map(slice(0, 7)).stored == 0


def test_shards_are_the_values_that_are_stored() -> None:
    z = zarr.create_array({}, shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="u1")
    z[:2, :2] = 1
    found = z.chunk_map()
    assert (found.noun, found.sizes.shape, found.stored) == ("shard", (2, 2), 1)


@pytest.mark.parametrize("shape", [(), (5,), (4, 4), (20, 4, 4), (0, 4), (300, 500)])
def test_drawings_of_all_shapes_are_xml_and_not_large(shape: tuple[int, ...]) -> None:
    z = zarr.zeros(shape, chunks=(1,) * len(shape) if shape != (300, 500) else (2, 2), dtype="u1")
    if z.size and z.ndim:
        z[0] = 1
    found = z.chunk_map()
    drawn = found._repr_html_()
    assert xml.dom.minidom.parseString(drawn).documentElement.tagName == "svg"
    assert len(drawn) < 400_000
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 120
    assert f"{found.stored:,} of" in lines[-1]


def test_cells_of_a_large_map_are_hatched_if_one_chunk_is_missing() -> None:
    z = zarr.zeros((1, 1000), chunks=(1, 1), compressor=None, dtype="u1")
    z[:] = 1
    del z.store["0.505"]
    line = str(z.chunk_map()).splitlines()[0]
    assert (len(line), line.count("/"), line.index("/")) == (100, 1, 50)
