"""Lazy views: what is composed reads as NumPy's views do, with one call, and nothing before it."""

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
    index_arrays,
    masks,
    out_like,
    positions,
    slices,
    values_of,
)
from zarrix.errors import ArrayIndexError, BoundsCheckError, ReadOnlyError


@st.composite
def steps(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[str, Any]:
    """One step of composing: a key, a permutation, or arrays along two axes."""
    if shape and draw(st.integers(0, 3)) == 0:
        return "transpose", draw(st.permutations(range(len(shape))))
    items: list[Any] = []
    arrays_left = 1
    for size in shape:
        form = draw(st.sampled_from(("slice", "slice", "integer", "array", "mask")))
        if form == "integer" and size:
            items.append(draw(st.integers(-size, size - 1)))
        elif form == "array" and arrays_left and size:
            items.append(draw(index_arrays(size)))
            arrays_left = 0
        elif form == "mask" and arrays_left:
            items.append(draw(masks((size,))))
            arrays_left = 0
        else:
            items.append(draw(slices(size)))
    if draw(st.integers(0, 4)) == 0:
        items.insert(draw(st.integers(0, len(items))), None)
    return "key", tuple(items)


def apply(model: Values, kind: str, what: Any) -> Values:
    if kind == "transpose":
        return model.transpose(what)
    axis = 0
    for item in what:
        if isinstance(item, list):
            item = np.array(item, int)
        if item is None:
            model = np.expand_dims(model, axis)
            axis += 1
            continue
        model = model[(slice(None),) * axis + (item, ...)]
        axis += not isinstance(item, int)
    return model


@given(st.data(), arrays(), st.integers(1, 4), st.sampled_from(("C", "F", "strided", "reversed")))
def test_views_composed_at_random_read_as_numpy_views_do(
    data: st.DataObject, pair: tuple[Any, Values], count: int, strides: str
) -> None:
    z, model = pair
    whole, numbers = model.copy(), positions(model)
    view = z.lazy
    for _ in range(count):
        kind, what = data.draw(steps(model.shape))
        view = view.transpose(*what) if kind == "transpose" else view[what]
        model = apply(model, kind, what)
        numbers = apply(numbers, kind, what)
        assert view.shape == model.shape
        assert view.ndim == model.ndim
        assert view.size == model.size
        assert view.nbytes == model.nbytes
        if any(item is None for item in what):
            break  # A new axis keeps its one element, regardless of the drawn item.
    assert_same(view[...], model)
    assert_same(np.asarray(view), model)
    out = out_like(model, model.dtype, strides)
    if model.shape:
        assert view.result(out=out) is out
        assert_same(out, model)
    value = values_of(model.dtype, model.shape, seed=40)
    view[...] = value
    for number, element in zip(numbers.reshape(-1), value.reshape(-1), strict=True):
        whole.reshape(-1)[number] = element
    unique = len(set(numbers.reshape(-1).tolist())) == numbers.size
    if unique:
        assert_same(z[...], whole)


class Watched(dict[str, bytes]):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []

    def __getitem__(self, key: str) -> bytes:
        if not key.startswith((".z", "zarr.json")):
            self.fetched.append(key)
        return super().__getitem__(key)


@pytest.fixture
def watched() -> tuple[Any, Watched]:
    store = Watched()
    z = zarr.create(store=store, shape=(40, 60), chunks=(10, 10), dtype="i4")
    z[...] = np.arange(2400).reshape(40, 60)
    store.fetched.clear()
    return z, store


def test_composing_reads_nothing_and_reading_fetches_each_chunk_once(
    watched: tuple[Any, Watched],
) -> None:
    z, store = watched
    view = z.lazy[10:20, ::2].T[[4, 1, 4, 29]][:, ::-1]
    assert repr(view) == "<lazy view (4, 10) int32 of <zarrix.core.Array (40, 60) int32>>"
    assert len(view) == 4
    assert store.fetched == []
    model = np.arange(2400).reshape(40, 60)[10:20, ::2].T[[4, 1, 4, 29]][:, ::-1]
    assert_same(view[...], model.astype("i4"))
    assert sorted(store.fetched) == ["1.0", "1.5"]


def test_a_view_sees_what_is_written_after_it_was_made() -> None:
    z = zarr.zeros((4, 4), chunks=(2, 2), dtype="i4")
    view = z.lazy[1:3].T
    z[2, 3] = 9
    assert view[3, 1][...] == 9
    assert view.result()[3, 1] == 9


def test_a_view_of_a_cast_array_is_cast() -> None:
    z = zarr.array(np.arange(6).reshape(2, 3), chunks=(2, 2)).astype("f4")
    assert_same(z.lazy.T[...], np.arange(6, dtype="f4").reshape(2, 3).T)


def test_views_have_the_names_of_numpy_and_torch() -> None:
    z = zarr.array(np.arange(24).reshape(2, 3, 4), chunks=(2, 2, 2))
    model = z[...]
    assert_same(z.lazy.permute(2, 0, 1)[...], model.transpose(2, 0, 1))
    assert_same(z.lazy.transpose((0, -1, 1))[...], model.transpose(0, 2, 1))
    assert_same(z.lazy.transpose()[...], model.T)
    assert_same(z.lazy.oindex[[1, 0], :, [3, 3]][...], model[np.ix_([1, 0], [0, 1, 2], [3, 3])])
    assert_same(np.add(z.lazy[0], 1), model[0] + 1)


def test_what_a_view_cannot_be_is_one_sentence() -> None:
    view = zarr.zeros((4, 6), chunks=(2, 2)).lazy[1:]
    with pytest.raises(BoundsCheckError, match="index 3 is out of bounds for axis 0 of size 3"):
        view[3]
    with pytest.raises(ArrayIndexError, match="two arrays in one key of a lazy view"):
        view[[0], [1]]
    with pytest.raises(ArrayIndexError, match="2 axes, but 3 were indexed"):
        view[0, 0, 0]
    with pytest.raises(ArrayIndexError, match="a new axis of a lazy view has one element"):
        view[None][1:]
    with pytest.raises(ValueError, match=r"axes \(0, 0\) are not a permutation of the 2 axes"):
        view.transpose(0, 0)
    with pytest.raises(ValueError, match=r"out has shape \(3,\), and the selection has shape"):
        view.result(out=np.zeros(3))
    with pytest.raises(TypeError, match="without axes"):
        len(view[0, 0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(view)


def test_assigning_writes_what_a_view_shows_and_nothing_else() -> None:
    model = np.arange(24).reshape(4, 6)
    z = zarr.array(model, chunks=(2, 3))
    view = z.lazy[1:].T
    view[0] = [1, 2, 3]
    view.lazy[::2, -1] = 9
    view.oindex[[5, 3], [1, 0]] = [[-1, -2], [-3, -4]]
    shown = model[1:].T
    shown[0] = [1, 2, 3]
    shown[::2, -1] = 9
    shown[np.ix_([5, 3], [1, 0])] = [[-1, -2], [-3, -4]]
    assert_same(z[...], model)
    for key, value, words in (
        (0, [1, 2], r"\(2,\) does not broadcast to the selection's shape \(3,\)"),
        ([0, 6], 1, "index 6 is out of bounds for axis 0 of size 6"),
    ):
        with pytest.raises((ValueError, IndexError), match=words):
            view[key] = value
    with pytest.raises(ReadOnlyError, match="astype"):
        z.astype("f4").lazy[0] = 1
    z.read_only = True
    with pytest.raises(ReadOnlyError, match="is read-only"):
        view[0] = 1
    assert_same(z[...], model)
