"""Arrays that change while a loader runs: what is delivered is right, or it is an error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix._array.access import metadata_of
from zarrix.errors import ArrayNotFoundError, ArrayReplacedError
from zarrix.ml._reading.chunks import ends_along

VALUES = np.arange(1200).reshape(400, 3)


def stored(path: Path, chunk: int = 4, dtype: str = "i8") -> zarr.Array:
    z = zarr.create((400, 3), chunks=(chunk, 3), dtype=dtype, store=str(path), overwrite=True)
    z[...] = VALUES
    return z


def deleted(path: Path) -> None:
    # At once: a folder that is removed file by file still has its metadata for a while.
    path.rename(path.with_suffix(".gone"))


def rechunked(path: Path) -> None:
    deleted(path)
    stored(path, 10)


def retyped(path: Path) -> None:
    deleted(path)
    # Elements of as many bytes.
    stored(path, 4, "f8")


def shrunk(path: Path) -> None:
    zarr.open_array(path).resize(200, 3)


def grown(path: Path) -> None:
    zarr.open_array(path).resize(800, 3)


def rewritten(path: Path) -> None:
    zarr.open_array(path)[...] = VALUES


GONE = (ArrayNotFoundError, ArrayReplacedError)


@pytest.mark.parametrize("shuffle", ["full", "block"])
@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize(
    ("change", "errors"),
    [
        (deleted, GONE),
        (retyped, GONE),
        (shrunk, GONE),
        (rechunked, None),
        (grown, None),
        (rewritten, None),
    ],
)
def test_what_is_delivered_after_a_change_is_right_or_an_error(
    tmp_path: Path, change: Callable[[Path], None], errors: Any, prefetch: int, shuffle: str
) -> None:
    if prefetch and change in (rechunked, retyped, shrunk):
        pytest.skip("a call may be in the middle of what replaces the array, and see parts of it")
    path = tmp_path / "x.zarr"
    stored(path)
    rows = ml.Rows({"x": zarr.open_array(path, mode="r", cache_metadata=False)})
    loader = ml.Loader(rows, 4, shuffle=shuffle, prefetch=prefetch, memory=2000)
    seen = list[int]()

    def take(batches: Any) -> None:
        for batch in batches:
            assert np.array_equal(batch["x"], VALUES[batch["item"]])
            seen.extend(batch["item"].tolist())

    batches = iter(loader)
    take(next(batches) for _ in range(5))
    change(path)
    if errors is None:
        take(batches)
        assert sorted(seen) == list(range(400))
        return
    with pytest.raises(errors):
        take(batches)
    assert loader.state_dict()["seen"] == len(seen) == len(set(seen))


def test_a_border_that_has_moved_is_an_error(tmp_path: Path) -> None:
    stored(tmp_path / "x.zarr")
    z = zarr.open_array(tmp_path / "x.zarr", mode="r", cache_metadata=False)
    crops = ml.Crops({"x": z}, dims="tc", size={"t": 8}, border="edge", over=())
    grown(tmp_path / "x.zarr")
    with pytest.raises(ArrayReplacedError, match="make the dataset again"):
        list(ml.Loader(crops, 1))


@pytest.mark.parametrize(("length", "chunk"), [(10, 3), (9, 3), (1, 5), (7, 7), (0, 4)])
def test_chunks_end_where_the_grid_says(length: int, chunk: int) -> None:
    z = zarr.zeros((length,), chunks=(chunk,))
    sizes = list(metadata_of(z).grid[0].sizes(length))
    assert ends_along(z, 0).tolist() == np.cumsum(sizes, dtype=int).tolist()


def test_one_chunk_for_each_of_many_items_takes_no_list_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(self: Any) -> Any:
        raise AssertionError("a list of 10^9 blocks")

    monkeypatch.setattr(ml.Rows, "_begins", fails)
    z = zarr.zeros((10**9,), chunks=(1,), dtype="u1")
    loader = ml.Loader(ml.Rows({"x": z}), 4)
    assert str(loader._choice) == "full/1"
    assert len(next(iter(loader))["item"]) == 4
    assert loader.state_dict()["size"] == 10**9
