"""A read gives the same values whichever way the engine chooses, or is told, to do it."""

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import zarrix as zarr
from zarrix import _engine
from zarrix._array.access import io_of

BLOSC = zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")
ZSTD = zarr.codecs.ZstdCodec(level=1)
LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": (70, 130), "compressors": None},
    "blosc": {"chunks": (70, 130), "compressors": BLOSC},
    "zstd": {"chunks": (70, 130), "compressors": ZSTD},
    "thin": {"chunks": (200, 1), "compressors": BLOSC},
    "shards": {"chunks": (10, 20), "shards": (50, 100), "compressors": BLOSC},
    "shard, plain": {"chunks": (10, 20), "shards": (200, 300), "compressors": None},
}
SELECTIONS: dict[str, Any] = {
    "all": ...,
    "box": (slice(60, 75), slice(100, 141)),
    "element": (150, 222),
    "row": (33,),
    "column": (..., 299),
    "steps": (slice(1, None, 3), slice(None, None, 7)),
    "backwards": (slice(None, None, -1), slice(250, 20, -9)),
    "points": (np.array([5, 199, 0, 5]), np.array([0, 299, 17, 0])),
}


def opened(path: Path, **choices: bool | None) -> Any:
    made = (choices.get("alone"), choices.get("parts"), choices.get("shared"))
    with mock.patch.object(_engine, "ArrayIO", partial(_engine.ArrayIO, choices=made)):
        return zarr.open_array(path, mode="r")


@pytest.mark.parametrize("name", LAYOUTS)
def test_all_ways_read_the_same_values(tmp_path: Path, name: str) -> None:
    values = np.arange(60_000, dtype="f8").reshape(200, 300)
    z = zarr.create_array(
        tmp_path / "z", shape=values.shape, dtype="f8", fill_value=-1, **LAYOUTS[name]
    )
    z[:, :230] = values[:, :230]
    expected = z[...]
    assert (expected[:, :230] == values[:, :230]).all()
    words = set()
    for alone, parts, shared in product((None, True, False), repeat=3):
        read = opened(tmp_path / "z", alone=alone, parts=parts, shared=shared)
        for key in SELECTIONS.values():
            assert np.array_equal(read[key], expected[key]), (alone, parts, shared, key)
            words.add(read.plan(key).strategy)
    # The words say that the ways do differ.
    assert (
        words
        == {
            "plain": {"byte ranges", "whole chunks", "interleaved"},
            "blosc": {"byte ranges", "whole chunks", "interleaved"},
            "zstd": {"whole chunks"},
            "thin": {"byte ranges", "whole chunks", "interleaved"},
            "shards": {"shard ranges", "whole chunks", "parallel shards"},
            "shard, plain": {"shard ranges", "whole chunks", "parallel shards"},
        }[name]
    )


def test_the_estimate_is_of_what_has_to_be_opened_and_decoded(tmp_path: Path) -> None:
    def estimate(codec: Any, selection: Any, store: Any = tmp_path / "z") -> int:
        z = zarr.create_array(
            store,
            shape=(8, 400, 400),
            chunks=(1, 400, 400),
            dtype="f4",
            compressors=codec,
            overwrite=True,
        )
        return io_of(z).effort(selection)

    one, column = (0, 5, 5), ((0, 1, 8), 5, 5)
    whole = 400 * 400 * 4
    slow = estimate(ZSTD, one)
    assert slow > 10 * whole
    assert estimate(ZSTD, column) == 8 * slow
    # An element is a block of a frame, which LZ4 decodes five times as fast.
    assert whole > estimate(BLOSC, one) > estimate(None, one)
    assert estimate(None, one) > estimate(None, one, zarr.storage.MemoryStore())
    z = zarr.create_array(tmp_path / "y", shape=(4, 4, 4), chunks=(4, 4, 4), dtype="f4")
    with pytest.raises(zarr.errors.SelectionError):
        io_of(z).effort((0, 5))
