"""Handles on an array that another one took the place of: they say so, and harm nothing."""

import json
import threading

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ArrayNotFoundError

BASE = {"shape": 128, "chunks": 64, "dtype": "i4", "zarr_format": 3, "compressors": None}
OTHERS = {
    "codec": {"compressors": zarr.codecs.GzipCodec()},
    "size of the dtype": {"dtype": "i8"},
    "kind of the dtype": {"dtype": "f4"},
    "chunks": {"chunks": 32},
    "shards": {"chunks": 32, "shards": 64},
    "axes": {"shape": (128, 2), "chunks": (64, 2)},
    "fill value": {"fill_value": 7},
    "format": {"zarr_format": 2},
}
STORES = {
    "local": lambda folder: zarr.DirectoryStore(folder / "x.zarr"),
    "memory": lambda folder: zarr.MemoryStore(),
    "mapping": lambda folder: {},
    "sqlite": lambda folder: zarr.SQLiteStore(str(folder / "x.db")),
}
WRITES = {
    "part": lambda z: z.__setitem__(slice(64, 100), 5),
    "chunk": lambda z: z.__setitem__(slice(64, 128), 5),
    "all": lambda z: z.__setitem__(slice(None), 5),
    "points": lambda z: z.vindex.__setitem__([70, 71], 5),
    "orthogonal": lambda z: z.oindex.__setitem__([70, 71], 5),
}


def replaced(store, other):
    """A handle, and the array that was made in its place."""
    array = zarr.create_array(store, **BASE)
    array[:] = 1
    options = {**BASE, **OTHERS[other]}
    new = zarr.create_array(store, overwrite=True, **options)
    new[...] = 2
    return array, new


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("other", OTHERS)
def test_a_write_to_an_array_that_was_replaced_is_an_error_and_changes_nothing(
    tmp_path, kind, other, write
):
    array, new = replaced(STORES[kind](tmp_path), other)
    with pytest.raises(ArrayNotFoundError, match=r"open the array again|the array is gone"):
        WRITES[write](array)
    assert (zarr.open_array(new.store)[...] == 2).all()


def test_the_error_says_what_is_another(tmp_path):
    array, _ = replaced(tmp_path / "x.zarr", "size of the dtype")
    told = r"x\.zarr/zarr\.json describes another array .* the dtype was .*int32.* is .*int64"
    with pytest.raises(zarr.errors.ArrayReplacedError, match=told):
        array[:] = 5


@pytest.mark.parametrize("kind", STORES)
def test_what_may_change_while_an_array_is_open_stops_no_write(tmp_path, kind):
    store = STORES[kind](tmp_path)
    array = zarr.create_array(store, **BASE)
    array[:] = 1
    other = zarr.open_array(store, mode="r+")
    other.attrs["a"] = 1
    array[0] = 2
    other.resize(200)
    array[1] = 3
    other.append(np.ones(56, "i4"))
    array[2] = 4
    array.attrs["b"] = 2
    assert other[:4].tolist() == [2, 3, 4, 1]
    assert zarr.open_array(store).shape == (256,)


def test_an_array_that_is_made_anew_as_it_was_is_written_by_old_handles(tmp_path):
    array = zarr.create_array(tmp_path / "x.zarr", **BASE)
    array[:] = 1
    new = zarr.create_array(tmp_path / "x.zarr", overwrite=True, **BASE)
    array[:64] = 3
    assert new[63:66].tolist() == [3, 0, 0]


def test_metadata_that_is_spelled_in_another_way_describes_the_same_array(tmp_path):
    document = tmp_path / "x.zarr" / "zarr.json"
    array = zarr.create_array(
        tmp_path / "x.zarr", **{**BASE, "compressors": zarr.codecs.ZstdCodec()}
    )
    array[:] = 1
    text = document.read_text()
    members = json.loads(text)
    assert members["codecs"][1]["configuration"]["checksum"] is False
    del members["codecs"][1]["configuration"]["checksum"]
    members["storage_transformers"] = []
    document.write_text(json.dumps(members))
    array[3] = 2
    assert zarr.open_array(tmp_path / "x.zarr")[2:5].tolist() == [1, 2, 1]


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("other", ["codec", "size of the dtype", "chunks", "shards"])
def test_a_read_of_an_array_that_was_replaced_does_not_call_its_chunks_corrupt(
    tmp_path, kind, other
):
    array, _ = replaced(STORES[kind](tmp_path), other)
    with pytest.raises(zarr.errors.ArrayReplacedError, match="open the array again"):
        array[:]


def test_a_corrupt_chunk_of_an_array_that_is_there_is_still_named(tmp_path):
    array = zarr.create_array(tmp_path / "x.zarr", **BASE)
    array[:] = 1
    (tmp_path / "x.zarr" / "c" / "1").write_bytes(b"short")
    with pytest.raises(zarr.errors.CorruptChunkError, match="c/1"):
        array[:]
    with pytest.raises(zarr.errors.CorruptChunkError, match="c/1"):
        array[100] = 1


def test_views_are_written_as_long_as_their_array_is_the_one_that_was_opened(tmp_path):
    array = zarr.create_array(tmp_path / "x.zarr", **BASE)
    view = array.view(dtype="f4")
    view[:] = 1.5
    zarr.open_array(tmp_path / "x.zarr", mode="r+").attrs["a"] = 1
    view[:64] = 2.5
    assert view[63:65].tolist() == [2.5, 1.5]
    zarr.create_array(tmp_path / "x.zarr", overwrite=True, **{**BASE, "dtype": "i8"})
    with pytest.raises(zarr.errors.ArrayReplacedError, match="open the array again"):
        view[:] = 3


def test_a_write_that_waits_while_the_array_is_replaced_finds_it_out(tmp_path):
    array = zarr.create_array(tmp_path / "x.zarr", **BASE)
    array[:] = 1
    held, waiting = threading.Event(), threading.Event()
    outcome = []

    def write():
        assert held.wait(60)
        waiting.set()
        try:
            array[:64] = 5
        except ArrayNotFoundError as error:
            outcome.append(type(error).__name__)

    writer = threading.Thread(target=write)
    writer.start()

    def change(old):
        held.set()
        assert waiting.wait(60)
        return old.replace(b'"int32"', b'"float32"')

    array.store.update_value("zarr.json", change)
    writer.join()
    assert outcome == ["ArrayReplacedError"]
