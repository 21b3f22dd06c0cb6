"""Selections by arrays, masks, points and blocks against NumPy, on every layout and dtype."""

import subprocess
import sys
import textwrap
import threading
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from numcodecs.abc import Codec
from numcodecs.compat import ndarray_copy
from numcodecs.registry import register_codec
from selections import (
    FIELDS,
    LAYOUTS,
    Values,
    arrays,
    assert_same,
    make,
    masks,
    orthogonal_keys,
    out_like,
    point_keys,
    positions,
    slices,
    take_orthogonal,
    values_of,
)
from zarrix.errors import ArrayIndexError, BoundsCheckError, VindexInvalidSelectionError

STRIDES = st.sampled_from(("C", "F", "strided", "reversed"))


def check(z: Any, model: Values, read: Any, write: Any, selected: Values, strides: str) -> None:
    """Read into new and given buffers, then write, where ``selected`` numbers the elements."""
    want = model.reshape(-1)[selected]
    assert_same(read(None), want)
    if want.shape:
        out = out_like(want, model.dtype, strides)
        assert read(out) is out
        assert_same(out, want)
    value = values_of(model.dtype, selected.shape, seed=50)
    write(value)
    flat = model.reshape(-1)
    for number, element in zip(selected.reshape(-1), value.reshape(-1), strict=True):
        flat[number] = element
    assert_same(z[...], model)
    write(np.zeros((), model.dtype))
    flat[selected.reshape(-1)] = np.zeros((), model.dtype)
    assert_same(z[...], model)


@given(st.data(), arrays(), STRIDES)
def test_orthogonal_selections_are_numpys_axis_by_axis(
    data: st.DataObject, pair: tuple[Any, Values], strides: str
) -> None:
    z, model = pair
    key = data.draw(orthogonal_keys(model.shape))
    selected = np.asarray(take_orthogonal(positions(model), key))
    check(
        z,
        model,
        lambda out: z.get_orthogonal_selection(key, out=out),
        lambda value: z.set_orthogonal_selection(key, value),
        selected,
        strides,
    )
    assert_same(z.oindex[key], model.reshape(-1)[selected])


@given(st.data(), arrays(), STRIDES)
def test_coordinates_are_numpys(
    data: st.DataObject, pair: tuple[Any, Values], strides: str
) -> None:
    z, model = pair
    key = data.draw(point_keys(model.shape))
    selected = np.atleast_1d(positions(model)[key])
    check(
        z,
        model,
        lambda out: z.get_coordinate_selection(key, out=out),
        lambda value: z.set_coordinate_selection(key, value),
        selected,
        strides,
    )
    assert_same(z.vindex[key], model.reshape(-1)[selected])


@given(st.data(), arrays(smallest=2))
def test_points_with_slices_have_the_points_axes_first(
    data: st.DataObject, pair: tuple[Any, Values]
) -> None:
    z, model = pair
    key = data.draw(point_keys(model.shape, mixed=True))
    numbers = positions(model)
    own = [i for i, item in enumerate(key) if not isinstance(item, slice)]
    rest = [i for i in range(model.ndim) if i not in own]
    turned = numbers.transpose(*own, *rest)
    selected = turned[tuple(key[i] for i in own) + tuple(key[i] for i in rest)]
    if not rest:
        selected = np.atleast_1d(selected)
    assert_same(z.vindex[key], model.reshape(-1)[selected])
    value = values_of(model.dtype, selected.shape, seed=9)
    z.vindex[key] = value
    for number, element in zip(selected.reshape(-1), value.reshape(-1), strict=True):
        model.reshape(-1)[number] = element
    assert_same(z[...], model)


@given(st.data(), arrays(), STRIDES)
def test_masks_are_numpys(data: st.DataObject, pair: tuple[Any, Values], strides: str) -> None:
    z, model = pair
    mask = data.draw(masks(model.shape))
    selected = positions(model)[mask]
    check(
        z,
        model,
        lambda out: z.get_mask_selection(mask, out=out),
        lambda value: z.set_mask_selection(mask, value),
        selected,
        strides,
    )
    for rule in (z, z.vindex):
        assert_same(rule[mask], model.reshape(-1)[selected])


@st.composite
def plain_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Any mix that NumPy takes: arrays of any axes, masks over some axes, newaxis, Ellipsis."""
    items: list[Any] = []
    axis = 0
    points = draw(st.sampled_from(((3,), (2, 2), (1,))))
    while axis < len(shape) and draw(st.integers(0, 5)):
        size = shape[axis]
        form = draw(st.sampled_from(("array", "array", "slice", "integer", "mask")))
        if form == "mask" and points == (1,):
            span = draw(st.integers(1, len(shape) - axis))
            mask = np.zeros(shape[axis : axis + span], bool)
            mask[tuple(draw(st.integers(0, n - 1)) for n in mask.shape)] = True
            items.append(mask)
            axis += span
            continue
        if form == "integer":
            items.append(draw(st.integers(-size, size - 1)))
        elif form == "slice":
            items.append(draw(slices(size)))
        else:
            numbers = st.integers(-size, size - 1)
            count = int(np.prod(points))
            values = draw(st.lists(numbers, min_size=count, max_size=count))
            items.append(np.array(values).reshape(points))
        axis += 1
    items.insert(draw(st.integers(0, len(items))), Ellipsis)
    if draw(st.integers(0, 3)) == 0:
        items.insert(draw(st.integers(0, len(items))), None)
    return tuple(items)


def has_two_meanings(key: Any) -> bool:
    """Whether a mask stands beside another array."""
    items = key if isinstance(key, tuple) else (key,)
    found = [np.asarray(one) for one in items if isinstance(one, list | np.ndarray)]
    return len(found) > 1 and any(one.dtype == bool for one in found)


def is_zarrs_own(key: tuple[Any, ...]) -> bool:
    """One array beside integers that slices keep apart from it: zarr leaves its axis in place."""
    return sum(isinstance(item, np.ndarray) for item in key) == 1 and any(
        isinstance(item, int) for item in key
    )


@given(st.data(), arrays())
def test_a_plain_key_selects_what_numpy_selects(
    data: st.DataObject, pair: tuple[Any, Values]
) -> None:
    z, model = pair
    key = data.draw(plain_keys(model.shape))
    numbers = positions(model)
    if has_two_meanings(key):
        for call in (lambda: z[key], lambda: z.__setitem__(key, 0)):
            with pytest.raises(IndexError, match=r"oindex.*vindex|boolean array|does not match"):
                call()
        return
    try:
        selected = np.asarray(numbers[key])
    except IndexError:
        # What stands behind the Ellipsis was not drawn for the axis on which it lands.
        with pytest.raises(IndexError):
            z[key]
        return
    if is_zarrs_own(key):
        # With a slice of one instead of an integer NumPy, too, keeps the array in place.
        kept = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in key)
        selected = numbers[kept].reshape(z[key].shape)
    assert_same(z[key], model.reshape(-1)[selected])
    value = values_of(model.dtype, selected.shape, seed=3)
    z[key] = value
    for number, element in zip(selected.reshape(-1), value.reshape(-1), strict=True):
        model.reshape(-1)[number] = element
    assert_same(z[...], model)


@given(st.data(), arrays())
def test_blocks_are_whole_chunks(data: st.DataObject, pair: tuple[Any, Values]) -> None:
    z, model = pair
    items: list[Any] = []
    want: list[slice] = []
    for lengths in z.write_chunk_sizes:
        grid = len(lengths)
        begins = np.cumsum([0, *lengths, 0])
        if data.draw(st.booleans()):
            block = data.draw(st.integers(-grid, grid - 1))
            items.append(block)
            want.append(slice(begins[block % grid], begins[block % grid + 1]))
        else:
            start = data.draw(st.integers(0, grid))
            stop = data.draw(st.integers(start, grid + 1))
            items.append(slice(start, stop))
            want.append(slice(begins[start], begins[stop]))
    key = tuple(items)
    assert_same(z.blocks[key], model[tuple(want)])
    value = values_of(model.dtype, model[tuple(want)].shape, seed=4)
    z.blocks[key] = value
    model[tuple(want)] = value
    assert_same(z[...], model)


KEYS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], None], Any]] = {
    "basic": (lambda z: z, lambda z, v: z.__setitem__(slice(1, 6, 2), v), slice(1, 6, 2)),
    "fancy": (lambda z: z, lambda z, v: z.__setitem__([5, 1], v), [5, 1]),
    "oindex": (lambda z: z.oindex, lambda z, v: z.oindex.__setitem__([5, 1], v), [5, 1]),
    "vindex": (lambda z: z.vindex, lambda z, v: z.vindex.__setitem__([5, 1], v), [5, 1]),
    "mask": (
        lambda z: z.vindex,
        lambda z, v: z.vindex.__setitem__(np.arange(8) % 3 == 1, v),
        np.arange(8) % 3 == 1,
    ),
    "blocks": (lambda z: z.blocks, lambda z, v: z.blocks.__setitem__(1, v), 1),
}


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("kind", KEYS)
def test_fields_are_read_and_written_through_every_selection(kind: str, written: bool) -> None:
    z = make("v2 C", (8,), (3,), FIELDS)
    model = values_of(FIELDS, (8,)) if written else np.zeros(8, FIELDS)
    if written:
        z[...] = model
    rule, _, key = KEYS[kind]
    index = slice(3, 6) if kind == "blocks" else key
    assert_same(rule(z)["a", key], model["a"][index])
    assert_same(rule(z)[key, "d"], model["d"][index])
    both = rule(z)["b", "a", key]
    assert both.dtype == np.dtype([("b", ">f8"), ("a", "<i2")])
    assert_same(both["b"], model["b"][index])
    assert_same(both["a"], model["a"][index])
    rule(z)["a", key] = model["a"][index] + 5
    model["a"][index] = model["a"][index] + 5
    rule(z)[["a", "b"], key] = np.array((7, 2.5), [("a", "i8"), ("b", "f4")])
    model["a"][index] = 7
    model["b"][index] = 2.5
    assert_same(z[...], model)


def test_fields_keyword_and_out_take_the_fields_dtype() -> None:
    z = make("v2 C", (8,), (3,), FIELDS)
    z[...] = model = values_of(FIELDS, (8,))
    out = np.zeros(2, ">f8")
    assert z.get_orthogonal_selection([6, 1], out=out, fields="b") is out
    assert_same(out, model["b"][[6, 1]])
    z.set_coordinate_selection([6, 1], [1.5, 2.5], fields="b")
    z.set_mask_selection(np.arange(8) == 3, 4.5, fields="b")
    z.set_block_selection(0, [[1, 2]] * 3, fields="d")
    assert z["b"][[6, 1, 3]].tolist() == [1.5, 2.5, 4.5]
    assert z["d", 2].tolist() == [1, 2]
    with pytest.raises(IndexError, match="no field 'z'; its fields are a, b, c, d"):
        z.get_mask_selection(np.ones(8, bool), fields="z")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_last_of_repeated_points_stays(layout: str) -> None:
    z = make(layout, (6, 6), (2, 3), np.dtype("i4"))
    z.vindex[[1, 1, 5, 1], [2, 2, 0, 2]] = [1, 2, 3, 4]
    z.oindex[[3, 3], [4, 5, 4]] = [[5, 6, 7], [8, 9, 10]]
    z.vindex[[0, 0], :] = [[1] * 6, [2] * 6]
    assert z[1, 2] == 4
    assert z[5, 0] == 3
    assert z[3].tolist() == [0, 0, 0, 0, 10, 9]
    assert z[0].tolist() == [2] * 6


def test_objects_are_selected_too() -> None:
    z = zarr.empty((5, 4), chunks=(2, 2), dtype=str)
    model = np.array([[f"{i}-{j}" for j in range(4)] for i in range(5)], dtype=object)
    z[...] = model
    assert z.oindex[[4, 0], [1, 1, 3]].tolist() == model[np.ix_([4, 0], [1, 1, 3])].tolist()
    assert z.vindex[[4, 0], [1, 3]].tolist() == ["4-1", "0-3"]
    assert z.vindex[[4, 0], 1:3].tolist() == model[[4, 0], 1:3].tolist()
    z.vindex[[4, 0], 1:3] = [["a", "bb"], ["ccc", ""]]
    z.oindex[[2, 3], [0]] = "x"
    z[np.array([False, True, False, False, False]), 0] = "y"
    model[[4, 0], 1:3] = [["a", "bb"], ["ccc", ""]]
    model[[2, 3], 0] = "x"
    model[1, 0] = "y"
    assert z[...].tolist() == model.tolist()


# What is refused

BAD: list[tuple[str, Callable[[Any], Any], type[Exception], str]] = [
    ("oindex far", lambda z: z.oindex[[0, 9]], BoundsCheckError, "index 9 .* axis 0 of size 6"),
    ("vindex far", lambda z: z.vindex[[0], [-6]], BoundsCheckError, "index -6 .* axis 1 of size 5"),
    ("plain far", lambda z: z[:, [5]], BoundsCheckError, "index 5 .* axis 1 of size 5"),
    ("block far", lambda z: z.blocks[0, 2], BoundsCheckError, "index 2 .* axis 1 of size 2"),
    ("floats", lambda z: z.oindex[[0.5]], ArrayIndexError, "axis 0 .* array of float64"),
    ("float points", lambda z: z.vindex[[0.5], [1]], VindexInvalidSelectionError, "float64"),
    ("words", lambda z: z[["a"]], ArrayIndexError, "field a .* no fields"),
    ("ragged", lambda z: z.oindex[[[1], [1, 2]]], ArrayIndexError, "different lengths"),
    ("two axes", lambda z: z.oindex[[[1]]], ArrayIndexError, "an array of 2 axes in an orthogonal"),
    ("many", lambda z: z.oindex[[0], [0], [0]], ArrayIndexError, "2 axes, but 3 were indexed"),
    ("many masks", lambda z: z[np.ones((6, 5), bool), 0], ArrayIndexError, "2 axes, but 3"),
    ("mask", lambda z: z[np.ones(5, bool)], ArrayIndexError, "length 5 indexes axis 0 of length 6"),
    (
        "mask of two axes",
        lambda z: z[np.ones((6, 4), bool)],
        ArrayIndexError,
        r"length \(6, 4\) indexes axes 0 to 1 of length \(6, 5\)",
    ),
    (
        "mask selection",
        lambda z: z.get_mask_selection(np.ones((6, 4), bool)),
        VindexInvalidSelectionError,
        r"shape \(6, 5\), not bool of shape \(6, 4\)",
    ),
    (
        "no mask",
        lambda z: z.get_mask_selection(np.ones((6, 5))),
        VindexInvalidSelectionError,
        "not float64",
    ),
    ("shapes", lambda z: z.vindex[[0, 1], [0, 1, 2]], ArrayIndexError, "do not broadcast"),
    (
        "few coordinates",
        lambda z: z.get_coordinate_selection([0, 1]),
        VindexInvalidSelectionError,
        "one integer or integer array per axis, 2 for this array",
    ),
    ("steps of blocks", lambda z: z.blocks[::2], ArrayIndexError, "a step of 1, not 2"),
    ("lists of blocks", lambda z: z.blocks[[0]], ArrayIndexError, "selection of blocks"),
    ("newaxis", lambda z: z.oindex[None, [0]], ArrayIndexError, "None cannot be part"),
    ("ellipses", lambda z: z.vindex[..., [0], ...], ArrayIndexError, "one Ellipsis"),
    ("bool", lambda z: z.oindex[True, [0]], ArrayIndexError, "write 0 or 1"),
    ("beyond 64 bits", lambda z: z.oindex[[2**70]], BoundsCheckError, f"index {2**70} .* axis 0"),
    ("far beyond", lambda z: z[[0, -(2**70)]], BoundsCheckError, f"index -{2**70} .* axis 0"),
    ("objects", lambda z: z[np.array([None])], ArrayIndexError, "array of object"),
    ("a float of NumPy", lambda z: z[np.float64(1)], ArrayIndexError, r"\(float64\) cannot index"),
    ("blocks", lambda z: z.blocks[2], BoundsCheckError, "in the grid of blocks, index 2 .* size 2"),
]


@pytest.mark.parametrize(("read", "error", "words"), [case[1:] for case in BAD])
def test_what_selects_nothing_sensible_is_one_sentence(
    read: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    z = zarr.array(np.arange(30).reshape(6, 5), chunks=(4, 3))
    with pytest.raises(error, match=words) as caught:
        read(z)
    assert "\n" not in str(caught.value)


WRITES: list[Callable[[Any], None]] = [
    lambda z: z.oindex.__setitem__([0, 9], 1),
    lambda z: z.vindex.__setitem__(([0, 1], [0, 9]), 1),
    lambda z: z.vindex.__setitem__(([0, 1], [0, 1]), [1, 2, 3]),
    lambda z: z.oindex.__setitem__(([0, 1], [0, 1]), [1, 2, 3]),
    lambda z: z.set_mask_selection(np.ones((6, 5), bool), np.arange(29)),
    lambda z: z.__setitem__(np.ones((6, 4), bool), 0),
    lambda z: z.blocks.__setitem__(0, np.ones((3, 5))),
    lambda z: z.vindex.__setitem__(([0, 1], [0, 1]), ["a", "b"]),
]


@pytest.mark.parametrize("number", range(len(WRITES)))
def test_what_is_refused_has_written_nothing(number: int) -> None:
    z = zarr.array(np.arange(30).reshape(6, 5), chunks=(4, 3))
    before = z[...]
    with pytest.raises((IndexError, ValueError)):
        WRITES[number](z)
    assert_same(z[...], before)


# What a call costs


class Counting(dict[str, bytes]):
    """A mapping that counts how often each chunk is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: Counter[str] = Counter()

    def __getitem__(self, key: str) -> bytes:
        if not key.endswith((".zarray", ".zattrs", ".zgroup", "zarr.json")):
            self.fetched[key] += 1
        return super().__getitem__(key)


READS: dict[str, Callable[[Any], Any]] = {
    "oindex": lambda z: z.oindex[[7, 0, 7, 7, 1], [9, 9, 0]],
    "vindex": lambda z: z.vindex[[7, 0, 7, 7, 1] * 50, [9, 9, 0, 9, 1] * 50],
    "mixed": lambda z: z.vindex[[7, 0, 7, 7, 1] * 50, 2:9],
    "mask": lambda z: z[np.ones((10, 10), bool)],
    "blocks": lambda z: z.blocks[...],
    "windows": lambda z: z.read_windows([[0, 0], [1, 1], [4, 4], [4, 4]], (6, 6)),
}


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("layout", ["v2", "v3", "shards"])
def test_each_chunk_is_fetched_once_a_call_however_often_it_is_selected(
    kind: str, layout: str
) -> None:
    store = Counting()
    shards = (5, 10) if layout == "shards" else None
    z = zarr.create_array(
        store=store,
        shape=(10, 10),
        chunks=(5, 5),
        shards=shards,
        dtype="f4",
        zarr_format=2 if layout == "v2" else 3,
    )
    z[...] = np.arange(100).reshape(10, 10)
    store.fetched.clear()
    READS[kind](z)
    assert set(store.fetched.values()) == {1}
    assert len(store.fetched) <= (2 if layout == "shards" else 4)


class CountingCodec(Codec):
    """Bytes as they are, counted as they are decoded."""

    codec_id = "zarrix-test-counting"
    decoded = 0
    lock = threading.Lock()

    def encode(self, buf: Any) -> Any:
        return buf

    def decode(self, buf: Any, out: Any = None) -> Any:
        with CountingCodec.lock:
            CountingCodec.decoded += 1
        return ndarray_copy(buf, out)


register_codec(CountingCodec)


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("layout", ["v2", "v3", "shards"])
@pytest.mark.parametrize("store", ["directory", "memory", "mapping"])
def test_each_chunk_is_decoded_once_a_call_however_often_it_is_selected(
    kind: str, layout: str, store: str, tmp_path: Path
) -> None:
    place: Any = {"directory": str(tmp_path / "z"), "memory": zarr.MemoryStore(), "mapping": {}}
    options: dict[str, Any] = {"shape": (10, 10), "chunks": (5, 5), "dtype": "f4"}
    if layout == "v2":
        z = zarr.create(store=place[store], compressor=CountingCodec(), **options)
    else:
        name = {"name": "numcodecs.zarrix-test-counting", "configuration": {}}
        shards = (5, 10) if layout == "shards" else None
        z = zarr.create_array(place[store], shards=shards, compressors=[name], **options)
    z[...] = np.arange(100).reshape(10, 10)
    CountingCodec.decoded = 0
    touched = z.plan().chunks
    READS[kind](z)
    assert CountingCodec.decoded == touched == 4


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_two_points_of_a_trillion_chunks_cost_two_fetches_and_no_memory(
    shards: tuple[int, int] | None,
) -> None:
    store = Counting()
    z = zarr.create_array(
        store=store, shape=(2_000_000, 2_000_000), chunks=(2, 2), shards=shards, dtype="u1"
    )
    assert z.nchunks == 10**12
    z.vindex[[5, 1_999_999], [7, 123_456]] = [3, 4]
    store.fetched.clear()
    tracemalloc.start()
    got = z.vindex[[5, 1_999_999], [7, 123_456]]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert got.tolist() == [3, 4]
    assert sorted(store.fetched.values()) == [1, 1]
    assert peak < 100_000
    assert z.oindex[[5, 1_999_999], [7, 123_456]].tolist() == [[3, 0], [0, 4]]


GRID = """
    import resource, sys
    import numpy as np
    import zarrix as zarr

    z = zarr.open_array(sys.argv[1], mode="r+")
    assert z.nchunks == 10**12
    rows, columns = [5, 1_999_999], [7, 123_456]
    starts = np.array([[0, 0], [1_999_990, 1_999_990], [10**6, 10**6]])

    def everything():
        z.vindex[rows, columns] = [3, 4]
        assert z.vindex[rows, columns].tolist() == [3, 4]
        assert z.oindex[rows, columns].tolist() == [[3, 0], [0, 4]]
        assert z.vindex[rows, 7:9].tolist() == [[3, 0], [0, 0]]
        assert z[rows, columns].sum() == z.lazy[rows].T[7, 0][...] + 4 == 7
        assert z.blocks[2, 3].tolist() == z[4:6, 6:8].tolist() == [[0, 0], [0, 3]]
        assert z.read_windows(starts, 4).sum() == z.read_windows(starts - 2, 4, outside="pad").sum()
        assert z.vindex.plan((rows, columns)).chunks == 2
        assert z.nchunks_initialized == 2

    # The second time brings nothing that is made once, as code and the threads' scratch are.
    everything()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    everything()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, before)
"""


def test_no_selection_of_a_trillion_chunks_takes_memory_for_them(tmp_path: Path) -> None:
    peaks = {}
    for name, size in (("trillion", 2_000_000), ("few", 2_000)):
        path = str(tmp_path / name)
        zarr.open_array(path, mode="w", shape=(size, size), chunks=(2, 2), dtype="u1")
        program = textwrap.dedent(GRID)
        if name == "few":
            program = program.replace("10**12", "10**6").replace("1_999_9", "1_9")
            program = program.replace("123_456", "1_234").replace("2_000_000", "2_000")
            program = program.replace("10**6, 10**6", "1000, 1000")
        done = subprocess.run(
            [sys.executable, "-c", program, path],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        grown, peaks[name] = map(int, done.stdout.split())
        assert grown < 1024, "KiB between the first and the second time"
    assert abs(peaks["trillion"] - peaks["few"]) < 4096


@settings(max_examples=20)
@given(st.integers(0, 2**31))
def test_a_hundred_thousand_points_in_any_order_are_the_right_ones(seed: int) -> None:
    random = np.random.default_rng(seed)
    model = random.integers(0, 1000, (300, 200))
    z = zarr.array(model, chunks=(64, 50))
    rows, columns = random.integers(0, 300, 100_000), random.integers(0, 200, 100_000)
    assert_same(z.vindex[rows, columns], model[rows, columns])


def test_threads_that_write_points_of_one_chunk_all_keep_theirs() -> None:
    z = zarr.zeros((64, 64), chunks=(64, 64), dtype="i4")

    def write(row: int) -> None:
        for column in range(0, 64, 8):
            z.vindex[[row] * 8, list(range(column, column + 8))] = row + 1

    threads = [threading.Thread(target=write, args=(row,)) for row in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert z[...].sum() == 64 * sum(range(1, 17))
