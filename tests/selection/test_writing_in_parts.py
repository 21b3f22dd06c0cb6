"""Values that are not in memory are written part by part, with the result that NumPy has."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from selections import (
    Values,
    arrays,
    assert_same,
    masks,
    orthogonal_keys,
    point_keys,
    positions,
    slices,
    take_orthogonal,
    values_of,
)

REGION_BYTES = "zarrix._selection.regions._REGION_BYTES"
SHAPE, CHUNKS = (60, 40), (7, 9)


class Source:
    """An array of a library that computes or reads regions when they are asked for."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.shape, self.dtype, self.chunks = values.shape, values.dtype, values.shape
        self.asked: list[int] = []

    def __getitem__(self, region: tuple[slice, ...]) -> Values:
        assert all(
            0 <= one.start < one.stop <= n for one, n in zip(region, self.shape, strict=True)
        )
        part = self.values[region]
        self.asked.append(part.nbytes)
        return part


def write(z: Any, assign: Callable[[Any], None], selected: Values, most_bytes: int) -> None:
    """Assign a source to elements numbered ``selected``, and compare all of ``z``."""
    expected = z[...].reshape(-1)
    source = Source(values_of(z.dtype, selected.shape, seed=50))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(REGION_BYTES, most_bytes)
        assign(source)
    for number, element in zip(selected.reshape(-1), source.values.reshape(-1), strict=True):
        expected[number] = element
    assert_same(z[...], expected.reshape(z.shape))
    assert sum(source.asked) == source.values.nbytes


MOST_BYTES = st.sampled_from((1, 20, 100, 1000))


@given(st.data(), arrays(), MOST_BYTES)
def test_orthogonal_selections(data: st.DataObject, pair: tuple[Any, Values], most: int) -> None:
    z, model = pair
    key = data.draw(orthogonal_keys(model.shape))
    selected = np.asarray(take_orthogonal(positions(model), key))
    write(z, lambda value: z.oindex.__setitem__(key, value), selected, most)


@given(st.data(), arrays(), MOST_BYTES)
def test_slices(data: st.DataObject, pair: tuple[Any, Values], most: int) -> None:
    z, model = pair
    key = tuple(data.draw(slices(size)) for size in model.shape)
    write(z, lambda value: z.__setitem__(key, value), positions(model)[key], most)
    new = (None, *key, None)
    write(z, lambda value: z.__setitem__(new, value), positions(model)[new], most)


@given(st.data(), arrays(), MOST_BYTES)
def test_coordinates(data: st.DataObject, pair: tuple[Any, Values], most: int) -> None:
    z, model = pair
    key = data.draw(point_keys(model.shape))
    selected = np.atleast_1d(positions(model)[key])
    write(z, lambda value: z.vindex.__setitem__(key, value), selected, most)


@given(st.data(), arrays(smallest=2), MOST_BYTES)
def test_points_with_slices(data: st.DataObject, pair: tuple[Any, Values], most: int) -> None:
    z, model = pair
    key = data.draw(point_keys(model.shape, mixed=True))
    own = [i for i, item in enumerate(key) if not isinstance(item, slice)]
    rest = [i for i in range(model.ndim) if i not in own]
    turned = positions(model).transpose(*own, *rest)
    selected = turned[tuple(key[i] for i in own) + tuple(key[i] for i in rest)]
    selected = selected if rest else np.atleast_1d(selected)
    write(z, lambda value: z.vindex.__setitem__(key, value), selected, most)


@given(st.data(), arrays(), MOST_BYTES)
def test_masks(data: st.DataObject, pair: tuple[Any, Values], most: int) -> None:
    z, model = pair
    mask = data.draw(masks(model.shape))
    write(z, lambda value: z.__setitem__(mask, value), positions(model)[mask], most)


def test_points_behind_a_range_keep_their_order() -> None:
    """If an element has two values, the last is stored, even if they are in different parts."""
    z = zarr.zeros((3, 4, 5), chunks=(2, 2, 2), dtype="i4")
    rows, columns = np.array([[0, 1, 0], [1, 0, 0]]), np.array([[4, 0, 4], [0, 4, 4]])
    numbers = positions(z[...])
    key = slice(None), rows, columns
    write(z, lambda value: z.__setitem__(key, value), numbers[key], 1)


KEYS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "slices": lambda z: (z, np.s_[3:50, ::-1]),
    "one list": lambda z: (z, [5, 2, 59, 2, 30]),
    "rows in order": lambda z: (z.oindex, np.s_[np.arange(1, 60, 2), :]),
    "rows and columns": lambda z: (z.oindex, (np.arange(60)[::-1], np.arange(40))),
    "boxes": lambda z: (z.vindex, ([[1, 2], [50, 3]], slice(None))),
    "blocks": lambda z: (z.blocks, np.s_[1:, 2]),
}


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("layout", ["regular", "rectilinear"])
def test_no_part_is_longer_than_the_limit(
    name: str, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists: Any = [[7, 1, 7, 7, 2, 30, 6], [9, 9, 9, 13]]
    z = zarr.create_array(
        {}, shape=SHAPE, chunks=CHUNKS if layout == "regular" else lists, dtype="i8"
    )
    selector, key = KEYS[name](z)
    model = np.arange(2400).reshape(SHAPE)
    z[...] = model
    source = Source(selector[key] + 10_000)
    most = 8 * 7 * 9 * 2 if layout == "regular" else 8 * 30 * 13
    monkeypatch.setattr(REGION_BYTES, most)
    selector[key] = source
    assert max(source.asked) <= most
    assert_same(selector[key], source.values)
    assert np.count_nonzero(z[...] != model) == len(np.unique(source.values))


def test_parts_end_where_chunks_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the chunk at each border would be written twice, and read in between."""
    z = zarr.zeros(100, chunks=10, dtype="i8")
    monkeypatch.setattr(REGION_BYTES, 240)
    source = Source(np.arange(90))
    z[5:95] = source
    assert [n // 8 for n in source.asked] == [25, 30, 30, 5]
    source = Source(np.arange(90))
    z[94:4:-1] = source
    assert [n // 8 for n in source.asked] == [25, 30, 30, 5]
    source = Source(np.arange(45))
    z.oindex[np.arange(5, 95, 2)] = source
    assert [n // 8 for n in source.asked] == [28, 17]


@pytest.mark.parametrize("name", ["plain", "oindex", "vindex", "blocks", "fields", "memmap"])
def test_memory_does_not_grow_with_the_source(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(REGION_BYTES, 2**20)
    shape = (4096, 1024)
    source: Any = zarr.full(shape, 7, chunks=(256, 256), dtype="i4", compressor=None)
    if name == "memmap":
        source = np.memmap(tmp_path / "raw", "f4", "w+", shape=shape)
        source[...] = 7
    dtype: Any = [("a", "i4"), ("b", "i1")] if name == "fields" else "i4"
    z = zarr.zeros(shape, chunks=(256, 256), dtype=dtype)
    rows = np.arange(4096)
    assign: dict[str, Callable[[], None]] = {
        "plain": lambda: z.__setitem__(..., source),
        "memmap": lambda: z.__setitem__(..., source),
        "oindex": lambda: z.oindex.__setitem__((rows, slice(None)), source),
        "vindex": lambda: z.vindex.__setitem__((rows, slice(None)), source),
        "blocks": lambda: z.blocks.__setitem__(..., source),
        "fields": lambda: z.__setitem__("a", source),
    }
    tracemalloc.start()
    try:
        assign[name]()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * 2**20, f"{peak / 2**20:.1f} MiB of a source of 16 MiB"
    assert np.all((z["a"] if name == "fields" else z[...]) == 7)


def stored(values: Values, tmp_path: Path) -> dict[str, Any]:
    """``values`` as arrays of every kind that are not in memory."""
    h5py = pytest.importorskip("h5py")
    z = zarr.array(values, chunks=(5, 6))
    file = h5py.File(tmp_path / "a.h5", "w")
    mapped: Values = np.memmap(tmp_path / "raw", values.dtype, "w+", shape=values.shape)
    mapped[...] = values
    return {
        "array": z,
        "lazy view": zarr.array(values.T).lazy.T,
        "view of another dtype": z.astype("f4"),
        "h5py": file.create_dataset("a", data=values, chunks=(5, 6)),
        "memmap of another dtype": mapped,
    }


@pytest.mark.parametrize(
    "kind", ["array", "lazy view", "view of another dtype", "h5py", "memmap of another dtype"]
)
def test_sources_of_every_kind(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(REGION_BYTES, 200)
    values = np.arange(600, dtype="i4").reshape(20, 30)
    source = stored(values, tmp_path)[kind]
    rows, columns = np.arange(20)[::-1], np.arange(30)
    expected = np.zeros((20, 30), "i8")
    expected[np.ix_(rows, columns)] = values
    z = zarr.zeros((20, 30), chunks=(4, 7), dtype="i8")
    z.oindex[rows, columns] = source
    assert_same(z[...], expected)
    z[...] = 0
    z.vindex[rows, :] = source
    assert_same(z[...], expected)
    z.blocks[...] = source
    assert_same(z[...], values.astype("i8"))
    z[::-1] = source
    assert_same(z[...], values[::-1].astype("i8"))


def test_an_array_assigned_to_itself_is_read_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(REGION_BYTES, 100)
    values = np.arange(600).reshape(20, 30)
    z = zarr.array(values, chunks=(4, 7))
    z[::-1] = zarr.open_array(z.store)
    assert_same(z[...], values[::-1])
    z[...] = z.lazy[::-1]
    assert_same(z[...], values)
    z.oindex[np.roll(np.arange(20), 3)] = z
    assert_same(z[...], np.roll(values, -3, axis=0))


def test_an_array_is_appended_to_itself() -> None:
    z = zarr.array(np.arange(10), chunks=3)
    assert z.append(z) == (20,)
    assert_same(z[...], np.tile(np.arange(10), 2))
