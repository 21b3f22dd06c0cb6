"""Repair: what is broken is put aside, so that the rest reads, and never deleted."""

import errno
import os

import numpy as np
import pytest
import zarrix as zarr


class _StoppedError(Exception):
    pass


class Unread(dict):
    """A mapping that cannot read one value."""

    key, error = "", PermissionError(errno.EACCES, "Permission denied")

    def __getitem__(self, key):
        if key == self.key:
            raise self.error
        return super().__getitem__(key)


def test_repair_puts_aside_what_is_broken_so_that_the_rest_reads(root):
    store = root.store
    broken = {"a/0.1": b"no chunk", "b/c/.zattrs": b"]", "a/1.0": b""}
    for key, value in broken.items():
        store[key] = value
    done = zarr.repair(store)
    assert done.set_aside == {key: f"{key}.broken" for key in sorted(broken)}
    assert {key: store[f"{key}.broken"] for key in broken} == broken
    assert {one.kind for one in zarr.verify(store).problems} == {"aside"}
    assert zarr.verify(store).strangers == []
    wanted = np.arange(600).reshape(20, 30)
    wanted[:5, 10:20] = 0
    wanted[5:10, :10] = 0
    fresh = zarr.open_group(store.path, mode="r")
    assert np.array_equal(fresh["a"][...], wanted)
    assert dict(fresh["b/c"].attrs) == {}
    store["a/0.1"] = b"again"
    assert zarr.repair(store).set_aside == {"a/0.1": "a/0.1.broken-2"}
    assert "put aside: a/0.1" in str(done)


@pytest.mark.parametrize("key", [".zarray", ".zattrs", "1"])
@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_what_the_system_does_not_read_is_not_taken_for_broken(key, code):
    values = Unread()
    z = zarr.create(6, chunks=2, store=values, dtype="i4", compressor=None, zarr_format=2)
    z[:] = 7
    z.attrs["unit"] = "m"
    before = dict(values)
    values.key, values.error = key, OSError(code, os.strerror(code))
    told = zarr.verify(values)
    assert [(one.kind, one.key) for one in told.problems] == [("unread", key)]
    assert "cannot be read" in str(told)
    done = zarr.repair(values)
    assert done.set_aside == {}
    assert [one.key for one in done.kept] == [key]
    assert {name: dict.__getitem__(values, name) for name in values} == before


def test_repair_looks_once_at_everything_and_once_more_at_what_is_broken(tmp_path):
    """It read the whole array again for each of its broken chunks."""

    class Counting(zarr.storage.WrapperStore):
        got = 0

        def _fetch(self, keys):
            Counting.got += len(keys)
            return super()._fetch(keys)

    z = zarr.create(200, chunks=1, dtype="i4", compressor=None, store=zarr.MemoryStore())
    z[:] = 1
    for number in range(0, 200, 4):
        z.store[str(number)] = b"short"
    assert len(zarr.repair(Counting(z.store)).set_aside) == 50
    # All chunks once, each broken one and the metadata once more under the lock.
    assert Counting.got < 200 + 50 * 8
    assert z[:].tolist() == [0, 1, 1, 1] * 50


def test_repair_tells_how_far_it_is_in_each_of_its_phases(root):
    root.store["a/0.1"] = root.store["a/1.1"] = b"no chunk"
    seen = []
    zarr.repair(root.store, progress=lambda done, total: seen.append((done, total)))
    assert [one for one in seen if one[0] == one[1]] == [(7, 7), (24, 24), (2, 2)]


def test_an_interrupted_repair_says_what_it_has_put_aside(root):
    root.store["a/0.1"] = root.store["a/1.1"] = root.store["b/c/0.0"] = b"no chunk"

    def stop(done, total):
        if (done, total) == (2, 3):
            raise _StoppedError

    with pytest.raises(_StoppedError) as stopped:
        zarr.repair(root.store, progress=stop)
    (note,) = stopped.value.__notes__
    assert note.splitlines()[1:] == [
        "put aside: a/0.1 -> a/0.1.broken",
        "put aside: a/1.1 -> a/1.1.broken",
    ]
    assert root.store["b/c/0.0"] == b"no chunk"


def test_a_chunk_that_was_written_anew_meanwhile_stays(root):
    root.store["a/0.1"] = b"no chunk"

    def write(done, total):
        if total == 24 and done == 24:
            root["a"][:5, 10:20] = 7

    done = zarr.repair(root.store, progress=write)
    assert (done.set_aside, [one.key for one in done.kept]) == ({}, ["a/0.1"])
    assert (root["a"][:5, 10:20] == 7).all()


def test_repair_of_what_is_sound_changes_nothing(root):
    before = dict(root.store)
    assert zarr.repair(root.store).set_aside == {}
    assert dict(root.store) == before


def test_what_was_put_aside_does_not_keep_the_store_from_being_replaced(root):
    root.store["a/0.0"] = b"no chunk"
    zarr.repair(root.store)
    zarr.open_group(root.store.path, mode="w")
    assert os.listdir(root.store.path) == [".zgroup"]


def test_stores_in_memory_are_verified_and_repaired_too():
    store = zarr.MemoryStore()
    z = zarr.open_array(store, mode="w", shape=6, chunks=2, dtype="i4", compressor=None)
    z[:] = 1
    store["1"] = b"short"
    assert [p.key for p in zarr.verify(store).problems] == ["1"]
    zarr.repair(store)
    assert z[:].tolist() == [1, 1, 0, 0, 1, 1]
