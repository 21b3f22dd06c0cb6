"""Arrays: reading and writing as NumPy does, growing, views, and what they say about themselves."""

import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ArrayNotFoundError, BoundsCheckError, ReadOnlyError


def filled(**kwargs: Any) -> tuple[zarr.Array, np.ndarray]:
    data = np.arange(10 * 23).reshape(10, 23).astype("f4")
    return zarr.array(data, chunks=(4, 5), **kwargs), data


KEYS = [
    ...,
    (),
    3,
    -1,
    (2, 7),
    slice(2, 7),
    slice(None, None, 3),
    slice(8, 1, -2),
    (slice(None), 4),
    (slice(1, 9, 2), slice(20, None, -3)),
    (..., 0),
    (0, ...),
    (None, 2),
    (slice(3), None, slice(1, 4)),
    (np.int64(3), np.uint8(2)),
    slice(5, 5),
    slice(100, 200),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_region_reads_as_it_does_from_numpy(key: Any) -> None:
    z, data = filled()
    got, expected = z[key], data[key]
    assert type(got) is type(expected)
    assert got.dtype == expected.dtype
    assert np.array_equal(got, expected)


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_region_is_written_as_numpy_writes_it(key: Any, store: Any) -> None:
    z = zarr.create((10, 23), chunks=(4, 5), dtype="i4", store=store)
    expected = np.zeros((10, 23), "i4")
    for value in (7, np.arange(expected[key].size).reshape(expected[key].shape) + 1.5):
        z[key] = value
        expected[key] = value
        assert np.array_equal(z[...], expected)


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "i1",
        ">u2",
        "<i8",
        "f2",
        ">f4",
        "c16",
        "M8[us]",
        ">m8[D]",
        "S3",
        ">U2",
        "V5",
        "i4,(2,)f8",
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_fixed_size_dtype_survives(dtype: Any, order: str, store: Any) -> None:
    rng = np.random.default_rng(0)
    full = np.dtype(dtype)
    raw = rng.integers(0, 2, (6, 7, full.itemsize), "u1")
    data = np.zeros((6, 7), full) if full.kind == "U" else raw.view(full).reshape(6, 7)
    if full.kind == "U":
        data[:3] = "ab"
    z = zarr.array(data, chunks=(4, 3), order=order, store=store)
    again = zarr.open_array(store, "r")
    assert again.dtype == full
    assert again[...].tobytes() == data.tobytes()
    assert z[1:5, ::2].tobytes() == data[1:5, ::2].tobytes()


def test_an_array_without_axes_holds_one_element() -> None:
    z = zarr.zeros((), dtype="i4")
    z[...] = 5
    assert (z[()], z.shape, z.cdata_shape, z.nchunks, z.size) == (5, (), (1,), 1, 1)
    assert isinstance(z[()], np.int32)
    assert z[...].shape == ()
    with pytest.raises(TypeError, match="unsized"):
        len(z)
    with pytest.raises(TypeError, match="0-d"):
        iter(z)


def test_an_array_without_elements_reads_and_grows() -> None:
    z = zarr.zeros((0, 3), chunks=(2, 2))
    assert z[:].shape == (0, 3)
    assert z.append(np.ones((3, 3))) == (3, 3)
    assert np.array_equal(z[:], np.ones((3, 3)))


@pytest.mark.parametrize(
    ("value", "shape"), [(np.ones((3, 4)), "(3, 4)"), ([1, 2], "(2,)"), (np.ones((2, 23, 1)), "23")]
)
def test_a_value_of_the_wrong_shape_names_both_shapes_and_writes_nothing(
    value: Any, shape: str
) -> None:
    z, data = filled()
    with pytest.raises(ValueError, match=r"does not broadcast.*\(2, 23\)") as caught:
        z[:2] = value
    assert shape in str(caught.value)
    assert np.array_equal(z[:], data)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (10, "index 10 .*axis 0 .*size 10"),
        ((0, -24), "index -24 .*axis 1 .*size 23"),
        ((0, 0, 0), "3 were indexed"),
        ("name", "no fields"),
        (1.5, "1.5"),
    ],
)
def test_a_wrong_key_is_an_index_error_that_says_why(key: Any, message: str) -> None:
    z, data = filled()
    with pytest.raises(IndexError, match=message):
        z[key]
    with pytest.raises(IndexError, match=message):
        z[key] = 0
    assert np.array_equal(z[:], data)


def test_an_index_out_of_range_has_an_error_of_its_own() -> None:
    with pytest.raises(BoundsCheckError):
        zarr.zeros(3)[3]


def test_a_region_is_read_into_out() -> None:
    z, data = filled()
    frame = np.zeros((23, 20), "f4")
    out = frame.T[3:7]
    assert z.read((slice(0, 8, 2), slice(None)), out=out) is out
    assert np.array_equal(frame.T[3:7], data[0:8:2])
    assert not frame.T[:3].any()
    buffer = bytearray(4 * 5)
    z.read((2, slice(0, 5)), out=memoryview(buffer).cast("f"))
    assert np.array_equal(np.frombuffer(buffer, "f4"), data[2, :5])
    assert z.get_basic_selection((0, 0), out=np.zeros((), "f4")) == 0


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((3, 23), "f4"), ValueError, r"shape \(3, 23\).*shape \(2, 23\)"),
        (np.zeros((2, 23), "f8"), ValueError, "dtype float64.*dtype float32"),
        (np.broadcast_to(np.zeros(23, "f4"), (2, 23)), ValueError, "read-only"),
        ([[0.0] * 23] * 2, TypeError, "list"),
    ],
)
def test_an_out_that_cannot_be_filled_is_refused(out: Any, error: Any, message: str) -> None:
    z, _ = filled()
    with pytest.raises(error, match=message):
        z.read(slice(0, 2), out=out)


def test_fields_of_a_structured_dtype_are_read_and_written_by_name() -> None:
    z = zarr.zeros(4, dtype=[("x", "i4"), ("y", "f8")], chunks=3)
    z["x"] = [1, 2, 3, 4]
    z["y", 1:3] = 0.5
    z[0] = (9, 8.0)
    assert z["x"].tolist() == [9, 2, 3, 4]
    assert z["y", ::-1].tolist() == [0.0, 0.5, 0.5, 8.0]
    assert z[["y", "x"]].dtype.names == ("y", "x")
    assert z.get_basic_selection(slice(0, 2), fields="x").tolist() == [9, 2]
    assert z[1]["x"] == 2
    with pytest.raises(IndexError, match="no field 'z'; its fields are x, y"):
        z["z"]
    z[["x", "y"]] = (1, 0.25)
    assert z[...].tolist() == [(1, 0.25)] * 4


def test_a_read_takes_at_most_five_frames_and_a_write_too() -> None:
    z, _ = filled()
    key = (slice(1, 7), slice(2, 9))
    out = np.empty((6, 7), "f4")
    calls: dict[str, Callable[[], Any]] = {
        "region": lambda: z[key],
        "element": lambda: z[3, 4],
        "out": lambda: z.read(key, out=out),
        "basic": lambda: z.get_basic_selection(key),
        "write": lambda: z.__setitem__(key, out),
        "write a scalar": lambda: z.__setitem__((1, 1), 0.0),
    }
    for name, call in calls.items():
        frames: list[str] = []

        def note(frame: Any, event: str, _: Any, frames: list[str] = frames) -> None:
            if event == "call" and "zarrix" in frame.f_globals["__name__"]:
                frames.append(frame.f_code.co_name)

        sys.setprofile(note)
        try:
            call()
        finally:
            sys.setprofile(None)
        assert len(frames) <= 5, (name, frames)


def test_iterating_decodes_each_row_of_chunks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    z, data = filled()
    assert np.array_equal(np.stack(list(z)), data)
    assert [row[0] for row in z.islice(3, 6)] == [69.0, 92.0, 115.0]
    reads = []

    class Counting(zarr.Array):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            reads.append(key)
            return super().__getitem__(key)

    assert len(list(Counting(z.store).islice(1))) == 9
    assert reads == [slice(1, 4), slice(4, 8), slice(8, 10)]
    with pytest.raises(ValueError, match=r"start .*-1"):
        z.islice(-1)


def test_numpy_functions_take_arrays() -> None:
    z, data = filled()
    assert np.mean(z) == data.mean()
    assert np.asarray(z, dtype="i8").dtype == np.int64
    assert np.array_equal(np.array(z), data)
    with pytest.raises(ValueError, match="without a copy"):
        np.array(z, copy=False)
    with pytest.raises(AttributeError):
        z.mean()  # type: ignore[attr-defined]


def test_what_was_cut_off_reads_as_fill_after_growing_again(store: Any) -> None:
    z = zarr.create((10, 10), chunks=(4, 4), fill_value=-1, dtype="i4", store=store)
    z[:] = 5
    z.resize(5, 7)
    assert z.nchunks_initialized == 4
    z.resize((10, 10))
    expected = np.full((10, 10), -1)
    expected[:5, :7] = 5
    assert np.array_equal(z[:], expected)
    assert np.array_equal(zarr.open_array(store)[:], expected)


def test_shrinking_stores_no_chunk_that_was_not_there() -> None:
    z = zarr.zeros((10, 10), chunks=(4, 4))
    z[0, 0] = 1
    z.resize(5, 5)
    assert z.nchunks_initialized == 1


def test_cutting_an_array_looks_only_at_the_chunks_that_are_stored() -> None:
    """Odd cuts of an array of 10^12 chunks took half a minute: every chunk of the cut was asked."""

    class Counting(dict[str, Any]):
        calls = 0

        def __getitem__(self, key: str) -> Any:
            self.calls += 1
            return super().__getitem__(key)

    store = Counting()
    z = zarr.zeros((3 * 10**6, 3 * 10**6), chunks=(3, 3), dtype="i1", store=store)
    z[0, 0] = z[5, 10**6] = z[3 * 10**6 - 1, 3 * 10**6 - 1] = 7
    store.calls = 0
    z.resize(2 * 10**6 - 1, 10**6 - 1)
    assert store.calls < 20
    assert z.nchunks_initialized == 1
    z.resize(3 * 10**6, 3 * 10**6)
    assert [z[0, 0], z[5, 10**6], z[-1, -1]] == [7, 0, 0]


def test_resize_takes_what_zarr_2_takes() -> None:
    z = zarr.zeros((4, 6))
    z.resize(8, None)
    z.resize([2, 3])
    z.shape = (5, 5)
    assert z.shape == (5, 5)
    with pytest.raises(ValueError, match="axes"):
        z.resize(3)
    with pytest.raises(ValueError, match="-1"):
        z.resize(3, -1)


def test_append_grows_along_an_axis() -> None:
    z = zarr.array(np.arange(6).reshape(2, 3), chunks=2)
    assert z.append([[7, 8, 9]]) == (3, 3)
    assert z.append(np.full((3, 2), 5.9), axis=-1) == (3, 5)
    assert z[:].tolist() == [[0, 1, 2, 5, 5], [3, 4, 5, 5, 5], [7, 8, 9, 5, 5]]


@pytest.mark.parametrize(
    ("data", "axis", "message"),
    [
        (np.ones((1, 4)), 0, r"\(1, 4\).*\(2, 3\)"),
        ([1, 2], 0, r"\(2,\)"),
        (np.ones((1, 3)), 2, "axis 2"),
        ([["a", "b", "c"]], 0, "'a'"),
    ],
)
def test_data_that_cannot_be_appended_leaves_the_shape(data: Any, axis: int, message: str) -> None:
    z = zarr.array(np.arange(6).reshape(2, 3))
    with pytest.raises(ValueError, match=message):
        z.append(data, axis=axis)
    assert zarr.Array(z.store).shape == (2, 3)


@pytest.mark.parametrize("shared", [True, False])
def test_threads_that_append_get_rows_of_their_own(tmp_path: Path, shared: bool) -> None:
    z = zarr.open_array(str(tmp_path), "w", shape=(0, 3), chunks=(5, 3), dtype="i4")

    def work(number: int) -> None:
        mine = z if shared else zarr.open_array(str(tmp_path), "r+")
        for k in range(10):
            mine.append(np.full((1, 3), number * 10 + k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = (z if shared else zarr.open_array(str(tmp_path), "r"))[:]
    assert sorted(rows[:, 0]) == list(range(40))
    assert (rows == rows[:, :1]).all()


def test_metadata_that_is_not_cached_is_read_again(tmp_path: Path) -> None:
    cached = zarr.open_array(str(tmp_path), "w", shape=4)
    fresh = zarr.open_array(str(tmp_path), "r+", cache_metadata=False)
    zarr.open_array(str(tmp_path), "r+").resize(9)
    assert (cached.shape, fresh.shape, fresh.size, fresh[:].shape) == ((4,), (9,), 9, (9,))
    fresh[8] = 1
    assert cached.append([2]) == (10,)


def test_astype_converts_as_it_reads() -> None:
    z = zarr.array(np.arange(6), chunks=4)
    view = z.astype("f4")
    assert (view.dtype, view.is_view, view.read_only) == (np.dtype("f4"), True, True)
    assert view[1:3].tolist() == [1.0, 2.0]
    assert view[1:3].dtype == np.float32
    assert pickle.loads(pickle.dumps(view))[:].dtype == np.float32
    with pytest.raises(ReadOnlyError):
        view[0] = 1


def test_a_view_shares_chunks_under_other_metadata() -> None:
    z = zarr.array(np.arange(6, dtype="u2"), chunks=4)
    bytes_of = z.view(dtype="u1", shape=12, chunks=8)
    assert bytes_of[:4].tolist() == [0, 0, 1, 0]
    bytes_of[0] = 7
    assert z[0] == 7
    assert zarr.full(3, -1, dtype="i1").view(fill_value=42)[:].tolist() == [42, 42, 42]
    labels = zarr.array(
        np.array(["a", "b"]), filters=[zarr.Categorize(["a", "b"], dtype="U1")], chunks=2
    )
    assert labels.view(dtype="u1", filters=[])[:].tolist() == [1, 2]
    assert pickle.loads(pickle.dumps(bytes_of))[:2].tolist() == [7, 0]
    with pytest.raises(PermissionError, match="view"):
        z.view().resize(9)


def test_an_array_opened_for_reading_refuses_every_change(tmp_path: Path) -> None:
    zarr.save(str(tmp_path / "x.zarr"), np.arange(3))
    z = zarr.open(str(tmp_path / "x.zarr"), "r")
    changes: list[Callable[[], Any]] = [
        lambda: z.__setitem__(0, 1),
        lambda: z.resize(1),
        lambda: z.append([1]),
        lambda: z.attrs.update(a=1),
        lambda: setattr(z, "fill_value", 3),
    ]
    for change in changes:
        with pytest.raises(ReadOnlyError, match="read-only"):
            change()
    assert repr(z) == "<zarrix.core.Array (3,) int64 read-only>"
    z.read_only = False
    z[0] = 9
    assert z[:].tolist() == [9, 1, 2]


def test_a_synchronizer_is_held_during_writes_and_not_during_reads() -> None:
    held: list[str] = []

    class Lock:
        def __init__(self, key: str) -> None:
            self.key = key

        def __enter__(self) -> None:
            held.append(self.key)

        def __exit__(self, *_: object) -> None:
            held.append("released")

    class Locks(dict[str, Lock]):
        def __missing__(self, key: str) -> Lock:
            return Lock(key)

    z = zarr.create(4, path="a", synchronizer=Locks(), store={})
    z[0] = 1
    assert held == ["a/.zarray", "released"]
    assert z[:].tolist() == [1, 0, 0, 0]
    z.append([1])
    z.attrs["k"] = 1
    assert held[2:] == ["a/.zarray", "released", "a/.zattrs", "released"]


def test_chunks_of_fill_are_left_out_where_asked() -> None:
    z = zarr.zeros((4, 4), chunks=2, write_empty_chunks=False)
    z[:] = 0
    z[0, 0] = 1
    assert (z.nchunks_initialized, z.write_empty_chunks) == (1, False)
    assert zarr.zeros((4, 4), chunks=2)[:].sum() == 0


def test_properties_describe_the_array(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path), "w")
    z = root.create_dataset(
        "a/b", shape=(10, 7), chunks=(4, 3), dtype="<i2", order="F", filters=[zarr.Delta("<i2")]
    )
    z[:5] = 1
    assert (z.name, z.basename, z.path) == ("/a/b", "b", "a/b")
    assert (z.ndim, z.size, z.itemsize, z.nbytes) == (2, 70, 2, 140)
    assert (z.cdata_shape, z.nchunks, z.nchunks_initialized, z.initialized) == ((3, 3), 9, 6, 6)
    assert (z.order, z.fill_value, z.dtype) == ("F", 0, np.dtype("<i2"))
    assert z.filters == [zarr.Delta("<i2")]
    assert z.compressor == zarr.Blosc()
    assert z.meta_array.shape == ()
    assert z.chunk_store is z.store
    stored = sum(file.stat().st_size for file in (tmp_path / "a" / "b").iterdir())
    assert z.nbytes_stored == stored
    assert z.nbytes_stored() == stored


def test_the_digest_is_that_of_zarr_2() -> None:
    """Values computed with zarr-python 2.18.7."""
    z = zarr.array(np.arange(100000, dtype="<i8"), chunks=30000, compressor=None)
    z.attrs["a"] = 1
    assert z.hexdigest() == "f00cdfa571062a5686e45dfce43486985f563e22"
    assert zarr.zeros((10, 10)).digest().hex() == "25d0f6eb058ef29ba22a9d577807d1989391740a"


def test_an_array_survives_pickling(store: Any) -> None:
    z = zarr.create(5, chunks=2, dtype="i4", store=store, path="x", write_empty_chunks=False)
    z[:] = [1, 2, 3, 4, 5]
    again = pickle.loads(pickle.dumps(z))
    assert again[:].tolist() == [1, 2, 3, 4, 5]
    assert (again.name, again.write_empty_chunks) == ("/x", False)
    assert again == z


def test_arrays_are_equal_where_they_are_the_same_place() -> None:
    root = zarr.group()
    a, b = root.zeros("a", shape=3), root.zeros("b", shape=3)
    assert a == root["a"]
    assert a != b
    assert a != 3


def test_data_of_another_stored_array_move_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zarrix._selection.regions._REGION_BYTES", 100)
    source, data = filled()
    target = zarr.zeros((20, 23), chunks=(3, 6), dtype="i8")
    target[::-2] = source
    expected = np.zeros((20, 23), "i8")
    expected[::-2] = data
    assert np.array_equal(target[:], expected)


def test_a_missing_array_names_the_place(tmp_path: Path) -> None:
    with pytest.raises(ArrayNotFoundError, match=r"no array at '.*/none'"):
        zarr.Array(str(tmp_path / "none"))
    zarr.open_group(str(tmp_path), "w")
    with pytest.raises(ArrayNotFoundError, match="is a group"):
        zarr.Array(str(tmp_path))


def test_the_fill_value_can_be_replaced() -> None:
    z = zarr.zeros(4, chunks=2, dtype="i4")
    z[0] = 1
    z.fill_value = 7
    assert z[:].tolist() == [1, 0, 7, 7]
    assert zarr.Array(z.store).fill_value == 7


def test_a_string_in_a_longer_shape_keeps_the_length_of_its_dtype():
    z = zarr.zeros((), dtype="<U3")
    z[...] = np.array(["a"])
    assert z[()] == "a"


def test_large_results_are_right_and_their_own() -> None:
    """From 32 MiB on their memory is not NumPy's on every system."""
    z = zarr.create(shape=(40, 2**20), chunks=(10, 2**20), dtype="u1", compressor=None)
    z[...] = np.arange(40, dtype="u1")[:, None]
    for _ in range(3):
        first, second = z[...], z[::-1]
        first[...] = 99
        assert (second == np.arange(40, dtype="u1")[::-1, None]).all()
        second[...] = 98
        del first, second
