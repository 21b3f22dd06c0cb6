"""`read_many` against NumPy: every layout, border and kind of store, damage, and cancelling."""

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from numcodecs.abc import Codec
from numcodecs.registry import register_codec
from selections import BORDERS, Values, arrays, assert_same, out_like, values_of, windows_of
from zarrix import storage
from zarrix._stores.wrapper import WrapperStore
from zarrix.errors import BoundsCheckError, CallCancelledError, CorruptChunkError


@given(
    st.data(),
    st.lists(arrays(), min_size=1, max_size=3),
    st.sampled_from(("pad", "edge", "reflect")),
)
def test_windows_of_many_arrays_are_numpys(
    data: st.DataObject, pairs: list[tuple[Any, Values]], border: str
) -> None:
    entries: list[Any] = []
    wanted: list[Values] = []
    pads: list[Any] = []
    for z, model in [*pairs, pairs[0]]:
        shape = tuple(data.draw(st.integers(0, size + 3)) for size in model.shape)
        count = data.draw(st.integers(0, 4))
        rows = [[data.draw(st.integers(-n - 4, n + 4)) for n in model.shape] for _ in range(count)]
        starts = np.array(rows, "i8").reshape(count, model.ndim)
        pads.append(values_of(model.dtype, (9,))[8] if border == "pad" else None)
        want = windows_of(model, starts, shape, pads[-1], border)
        wanted.append(want)
        strides = data.draw(st.sampled_from(("new", "C", "F", "strided", "reversed")))
        out = None if strides == "new" else out_like(want, model.dtype, strides)
        entries.append((z, starts, shape) if out is None else (z, starts, shape, out))
    got = zarr.read_many(entries, border=border, pad_value=pads if border == "pad" else None)
    assert len(got) == len(entries)
    for result, want, entry in zip(got, wanted, entries, strict=True):
        assert_same(np.asarray(result), want)
        assert len(entry) == 3 or result is entry[3]


def stores(folder: Path) -> dict[str, Callable[[], Any]]:
    return {
        "directory": lambda: str(folder / "d"),
        "memory": zarr.MemoryStore,
        "mapping": dict,
        "zip": lambda: zarr.ZipStore(str(folder / "z.zip"), mode="w"),
        "database": lambda: storage.SQLiteStore(folder / "s.sqlite"),
        "fsspec": lambda: storage.FSStore(f"file://{folder}/f"),
        "cache": lambda: storage.LRUStoreCache(storage.DirectoryStore(folder / "c"), None),
    }


def test_one_call_reads_of_every_kind_of_store(tmp_path: Path) -> None:
    model = values_of(np.dtype("<u2"), (20, 30))
    opened, entries = [], []
    starts = np.array([[0, 0], [3, 7], [12, 20], [-2, 25]])
    kinds = stores(tmp_path)
    if importlib.util.find_spec("fsspec") is None:
        del kinds["fsspec"]
    for number, make in enumerate(kinds.values()):
        store = make()
        z = zarr.create((20, 30), chunks=(6, 7), dtype="<u2", store=store, zarr_format=2)
        z[:] = model + number
        opened.append(store)
        entries.append((z, starts, (6, 9)))
    for number, got in enumerate(zarr.read_many(entries, border="reflect")):
        assert_same(got, windows_of(model + number, starts, (6, 9), border="reflect"))
    for store in opened:
        if hasattr(store, "close"):
            store.close()


@pytest.mark.parametrize("dtype", ["O", "T"])
def test_windows_of_text(dtype: str) -> None:
    if dtype == "T" and not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy before 2 has no StringDType")
    model = np.array([f"text {n}" * (n % 5) for n in range(40)], dtype).reshape(8, 5)
    if dtype == "T":
        z = zarr.create_array({}, shape=(8, 5), chunks=(3, 2), dtype=model.dtype)
    else:
        z = zarr.create((8, 5), chunks=(3, 2), dtype=str, fill_value="")
    z[:] = model
    starts = np.array([[0, 0], [5, 3], [-1, 2]])
    for border in BORDERS:
        a, b = zarr.read_many([(z, starts, (4, 3)), (z, starts[:1], (1, 1))], border=border)
        assert (a == windows_of(model, starts, (4, 3), "", border)).all()
        assert b.tolist() == [[[""]]]


def test_bfloat16_is_read_as_stored() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    model = np.arange(12).astype(ml_dtypes.bfloat16)
    z = zarr.create_array({}, shape=12, chunks=5, dtype=model.dtype)
    z[:] = model
    (got,) = zarr.read_many([(z, [3, 7], 4)])
    assert (got == np.stack([model[3:7], model[7:11]])).all()


class Counted(dict[str, bytes]):
    """A mapping that counts its reads of chunks."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def __getitem__(self, key: str) -> bytes:
        if key[-1].isdigit():
            self.read.append(key)
        return super().__getitem__(key)


def test_a_chunk_of_several_entries_and_handles_is_read_once() -> None:
    store = Counted()
    root = zarr.open_group(store, mode="w")
    z = root.create_dataset("z", shape=(20, 20), chunks=(10, 10), dtype="i4")
    z[:] = model = values_of(np.dtype("i4"), (20, 20))
    store.read.clear()
    starts = np.array([[0, 0], [5, 5], [10, 10], [3, 9]])
    corners = (starts, starts[::-1], starts)
    got = zarr.read_many(
        [(z, starts, (8, 8)), (root["z"], starts[::-1], (4, 5)), (z, starts, (1, 1))]
    )
    assert sorted(store.read) == ["z/0.0", "z/0.1", "z/1.0", "z/1.1"]
    for result, begin in zip(got, corners, strict=True):
        assert_same(result, windows_of(model, begin, result.shape[1:]))


class Masked(WrapperStore):
    """Other values than those of the store that it wraps, whose locks it has."""

    def _read(self, key: str) -> bytes | None:
        value = super()._read(key)
        return self._masked(key, value) if value is not None else None

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        return [self._read(key) for key in keys]

    def _masked(self, key: str, value: bytes) -> bytes:
        return bytes(255 - byte for byte in value) if key[-1].isdigit() else value


def test_a_store_is_not_taken_for_the_one_that_it_wraps(tmp_path: Path) -> None:
    for store in ({}, str(tmp_path / "a")):
        z = zarr.create(8, chunks=4, dtype="u1", compressor=None, store=store)
        z[:] = 3
        masked = zarr.open_array(Masked(z.store), mode="r")
        plain, other = zarr.read_many([(z, [0], 8), (masked, [0], 8)])
        assert (plain.max(), other.min()) == (3, 252)


class Asked(dict[str, bytes]):
    """A mapping that is asked for many values at once, as those of fsspec are."""

    fs = "a file system"

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[int] = []

    def getitems(self, keys: Sequence[str], on_error: str) -> dict[str, Any]:
        self.asked.append(len(keys))
        return {key: self.get(key, KeyError(key)) for key in keys}


def test_all_arrays_of_a_store_are_requested_at_once() -> None:
    store = Asked()
    root = zarr.open_group(store, mode="w")
    entries = []
    for number in range(4):
        z = root.create_dataset(f"v{number}", shape=(6, 9), chunks=(2, 3), dtype="f4")
        z[:] = number
        entries.append((z, [[0, 0], [1, 4]], (3, 3)))
    store.asked.clear()
    got = zarr.read_many(entries)
    assert [float(result.mean()) for result in got] == [0, 1, 2, 3]
    assert store.asked == [4 * 6]
    for key in ("v1/0.0", "v2/1.1"):
        store[key] = b"broken"
    failures: list[Any] = []
    got = zarr.read_many(entries, on_error=failures.append)
    assert [(f.entry, f.window, f.key) for f in failures] == [(1, 0, "v1/0.0"), (2, 1, "v2/1.1")]
    assert [[int(window.max()) for window in result] for result in got[1:3]] == [[0, 1], [2, 0]]
    assert (got[3] == 3).all()
    with pytest.raises(CorruptChunkError, match=r"'/v2' of the KVStore: chunk .v2/1\.1"):
        zarr.read_many(entries[2:])


def test_outs_may_lie_in_one_buffer_side_by_side() -> None:
    rgb = zarr.array(values_of(np.dtype("u1"), (4, 3, 16, 16)), chunks=(1, 3, 8, 8))
    mask = zarr.array(values_of(np.dtype("u1"), (4, 1, 16, 16), 9), chunks=(2, 1, 5, 16))
    batch = np.full((6, 4, 8, 8), 99, "u1")
    starts = np.array([[n % 4, 0, n, 8 - n] for n in range(6)])
    zarr.read_many(
        [
            (rgb, starts, (1, 3, 8, 8), batch[:, None, :3]),
            (mask, starts, (1, 1, 8, 8), batch[:, None, 3:]),
        ]
    )
    assert_same(batch[:, None, :3], windows_of(rgb[:], starts, (1, 3, 8, 8)))
    assert_same(batch[:, None, 3:], windows_of(mask[:], starts, (1, 1, 8, 8)))


def test_nothing_is_written_beside_an_out() -> None:
    z = zarr.array(values_of(np.dtype("u1"), (30, 30)), chunks=(7, 7))
    frame = np.full((5, 12, 14), 250, "u1")
    starts = np.array([[-3, 2], [28, 28], [-40, 0], [10, 11], [0, 25]])
    for border in BORDERS:
        zarr.read_many([(z, starts, (8, 8), frame[:, 2:10, 3:11])], border=border)
        assert_same(frame[:, 2:10, 3:11], windows_of(z[:], starts, (8, 8), border=border))
        frame[:, 2:10, 3:11] = 250
        assert (frame == 250).all()


BAD: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda z: zarr.read_many([(z, [[0, 9]], 2)]), BoundsCheckError, 'border="pad" fills'),
    (lambda z: zarr.read_many([(z, [[0, 0]])]), TypeError, r"entry 0 is not \(array, starts"),
    (lambda z: zarr.read_many([7]), TypeError, "entry 0 is not"),  # type: ignore[list-item]
    (lambda z: zarr.read_many([(z, [[0, 0]], 2, None, 1)]), TypeError, "entry 0 is not"),
    (lambda z: zarr.read_many([(z[:], [[0, 0]], 2)]), TypeError, "an open zarrix array"),
    (lambda z: zarr.read_many([(z, [[0, 0]], 2)], border="inner"), ValueError, "'inside'"),
    (
        lambda z: zarr.read_many([(z, [[0, 0]], 2)], border=["pad"] * 2),
        ValueError,
        "2 values for 1",
    ),
    (lambda z: zarr.read_many([(z, [[0, 0]], 2)], pad_value=1), ValueError, "add border='pad'"),
    (lambda z: zarr.read_many([(z, [[0, 0]], 2)], on_error="skip"), ValueError, "on_error='skip'"),
    (lambda z: zarr.read_many([(z, [[0, 0]], 2)], bordr="pad"), TypeError, "border"),  # type: ignore[call-arg]
    (
        lambda z: zarr.read_many([(z, [[0, 0]], 2, np.zeros((1, 2, 2)))]),
        ValueError,
        "out has dtype float64",
    ),
    (
        lambda z: zarr.read_many([(z, [[0, 0]], 2, np.broadcast_to(np.int32(0), (1, 2, 2)))]),
        ValueError,
        "read-only",
    ),
    (
        lambda z: zarr.read_many(
            [
                (
                    z,
                    [[0, 0]],
                    2,
                    np.lib.stride_tricks.as_strided(np.zeros(9, "i4"), (1, 2, 2), (0, 0, 4)),
                )
            ]
        ),
        BufferError,
        "repeats elements",
    ),
    (
        lambda z: zarr.read_many([(zarr.zeros((0, 4)), [[0, 0]], 2)], border="edge"),
        ValueError,
        "axis 0 has length 0",
    ),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_mistakes_are_one_sentence(number: int) -> None:
    read, error, words = BAD[number]
    with pytest.raises(error, match=words):
        read(zarr.zeros((10, 10), chunks=(4, 4), dtype="i4"))


def test_no_entries_and_no_windows_are_no_error() -> None:
    assert zarr.read_many([]) == []
    (got,) = zarr.read_many([(zarr.zeros((4, 4)), np.zeros((0, 2), int), 3)])
    assert got.shape == (0, 3, 3)


def test_a_cast_array_is_cast() -> None:
    z = zarr.array(np.arange(10), chunks=4).astype("f4")
    (got,) = zarr.read_many([(z, [1, 7], 2)])
    assert_same(got, np.array([[1, 2], [7, 8]], "f4"))
    out = np.zeros((2, 2), "f4")
    zarr.read_many([(z, [1, 7], 2, out)])
    assert_same(out, np.array([[1, 2], [7, 8]], "f4"))


# Damage


@pytest.mark.parametrize("kind", ["directory", "mapping", "shards", "shards in a mapping"])
def test_only_windows_that_need_a_corrupt_chunk_fail(kind: str, tmp_path: Path) -> None:
    store: Any = {} if "mapping" in kind else str(tmp_path / "a")
    model = values_of(np.dtype("<i4"), (24, 24))
    shards = (12, 12) if "shards" in kind else None
    z = zarr.create_array(
        store,
        shape=(24, 24),
        chunks=(6, 6),
        shards=shards,
        dtype="<i4",
        fill_value=-5,
        compressors=[zarr.codecs.Crc32cCodec()],
    )
    z[:] = model
    good = zarr.array(model, chunks=(5, 24))
    key = "c/0/0" if shards else "c/0/1"
    raw = bytearray(store[key] if isinstance(store, dict) else (tmp_path / "a" / key).read_bytes())
    # In a shard, the second inner chunk.
    raw[200 if shards else 3] ^= 255
    if isinstance(store, dict):
        store[key] = bytes(raw)
    else:
        (tmp_path / "a" / key).write_bytes(raw)
    starts = np.array([[0, 0], [0, 5], [3, 6], [12, 12], [6, 6]])
    with pytest.raises(CorruptChunkError, match=key):
        zarr.read_many([(good, starts, 4), (z, starts, 4)])
    failures: list[Any] = []
    one, two = zarr.read_many([(good, starts, 4), (z, starts, 4)], on_error=failures.append)
    assert [(f.entry, f.window, f.key) for f in failures] == [(1, 1, key), (1, 2, key)]
    assert all(isinstance(failure.error, CorruptChunkError) for failure in failures)
    assert_same(one, windows_of(model, starts, (4, 4)))
    want = windows_of(model, starts, (4, 4))
    want[1:3] = -5
    assert_same(two, want)


def test_an_array_that_is_gone_raises_in_every_mode(tmp_path: Path) -> None:
    z = zarr.open(str(tmp_path / "a"), mode="w", shape=8, chunks=4, dtype="i4")
    z[:] = 1
    zarr.storage.rmdir(storage.DirectoryStore(str(tmp_path / "a")))
    with pytest.raises(FileNotFoundError):
        zarr.read_many([(z, [0], 8)], on_error=lambda failure: None)


# Cancelling


class Slow(Codec):  # type: ignore[misc]
    """Cancels a token in its first chunk; each chunk then takes a while."""

    codec_id = "test_read_many_slow"
    token: Any = None
    decoded = 0

    def encode(self, buf: Any) -> Any:
        return buf

    def decode(self, buf: Any, out: Any = None) -> Any:
        if Slow.token is not None:
            Slow.decoded += 1
            Slow.token.cancel()
            time.sleep(0.03)
        return buf


register_codec(Slow)


def test_a_token_ends_a_call() -> None:
    z = zarr.array(np.arange(400), chunks=1, compressor=Slow())
    token = zarr.CancelToken()
    assert not token.is_cancelled
    Slow.token, Slow.decoded = token, 0
    try:
        with pytest.raises(CallCancelledError):
            zarr.read_many([(z, [0], 400)], cancel=token)
        assert token.is_cancelled
        assert 0 < Slow.decoded < 400
        # It stays cancelled: nothing is read.
        Slow.decoded = 0
        with pytest.raises(CallCancelledError):
            zarr.read_many([(z, [0], 400)], cancel=token)
        assert Slow.decoded == 0
    finally:
        Slow.token = None
    assert zarr.read_many([(z, [0], 400)], cancel=zarr.CancelToken())[0].sum() == 79800


def test_many_threads_and_a_forked_child_read_at_once() -> None:
    model = values_of(np.dtype("u1"), (64, 64))
    z = zarr.array(model, chunks=(16, 16))
    starts = np.array([[0, 0], [13, 40], [31, 5]])
    want = windows_of(model, starts, (24, 24))
    wrong: list[int] = []

    def read(number: int) -> None:
        for _ in range(20):
            (got,) = zarr.read_many([(z, starts, 24)])
            if not (got == want).all():
                wrong.append(number)

    threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    if sys.version_info >= (3, 12) or not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        read(-1)
        os._exit(len(wrong))
    assert os.waitpid(child, 0)[1] == 0
