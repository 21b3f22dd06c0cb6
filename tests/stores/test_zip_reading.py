"""Zip archives that others wrote: whole, damaged and hostile."""

import io
import multiprocessing
import os
import pickle
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import CorruptChunkError, CorruptStoreError, InvalidKeyError, ReadOnlyError
from zarrix.storage import KVStore, ZipStore

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
VALUES = np.arange(200 * 300, dtype="f8").reshape(200, 300)


def archive(path, members, method=zipfile.ZIP_STORED, **kwargs):
    with zipfile.ZipFile(path, "w", method, **kwargs) as file:
        for name, value in members:
            file.writestr(name, value)
    return str(path)


def members_of(array):
    return sorted(array.store.items())


def zipped(path, method=zipfile.ZIP_STORED, **kwargs):
    array = zarr.array(VALUES, chunks=(50, 70), **kwargs)
    return archive(path, members_of(array), method)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_zipfile_is_read(tmp_path, method):
    array = zarr.open(zipped(tmp_path / "a.zip", method), mode="r")
    np.testing.assert_array_equal(array[:], VALUES)
    np.testing.assert_array_equal(array[3:60:7, ::-1][:, :9], VALUES[3:60:7, ::-1][:, :9])
    np.testing.assert_array_equal(
        array.vindex[[0, 199, 7], [299, 0, 7]], VALUES[[0, 199, 7], [299, 0, 7]]
    )


def test_both_formats_groups_and_attributes(tmp_path):
    for number in (2, 3):
        store = zarr.MemoryStore()
        group = zarr.open_group(store, mode="w", zarr_format=number)
        group.attrs["title"] = "ä"
        group.create_dataset("deep/er", data=VALUES, chunks=(64, 64))
        read = zarr.open_group(archive(tmp_path / f"{number}.zip", store.items()), mode="r")
        assert read.attrs["title"] == "ä"
        assert list(read["deep"]) == ["er"]
        np.testing.assert_array_equal(read["deep/er"][:], VALUES)


def test_shards_are_read_by_ranges(tmp_path):
    memory = zarr.MemoryStore()
    zarr.create_array(memory, data=VALUES, chunks=(10, 10), shards=(100, 100))
    for method in METHODS[:2]:
        array = zarr.open(archive(tmp_path / f"{method}.zip", memory.items(), method), mode="r")
        np.testing.assert_array_equal(array[:], VALUES)
        np.testing.assert_array_equal(array[95:105, 7:9], VALUES[95:105, 7:9])


def test_parts_of_members_that_are_not_compressed_are_read_in_place(tmp_path):
    """A flipped byte is detected by a read of it: only the selected part of a large chunk is
    read.
    """
    data = np.random.default_rng(3).integers(0, 256, (1 << 10, 1 << 10), "u1")
    array = zarr.array(data, chunks=data.shape, compressor=None)
    path = archive(tmp_path / "a.zip", members_of(array))
    content = bytearray((tmp_path / "a.zip").read_bytes())
    at = content.index(data[600].tobytes())
    content[at] ^= 1
    (tmp_path / "a.zip").write_bytes(content)
    array = zarr.open(path, mode="r")
    np.testing.assert_array_equal(array[-3:], data[-3:])
    with pytest.raises(CorruptChunkError, match=r"0\.0.*CRC-32"):
        array[:]


@pytest.mark.parametrize("method", METHODS)
def test_a_flipped_bit_names_the_key(tmp_path, method):
    value = bytes(range(256)) * 20
    path = archive(tmp_path / "a.zip", [("group/0.0", value), ("b", b"fine")], method)
    content = bytearray((tmp_path / "a.zip").read_bytes())
    content[30 + len("group/0.0") + 40] ^= 0x10
    (tmp_path / "a.zip").write_bytes(content)
    store = ZipStore(path, mode="r")
    with pytest.raises(CorruptChunkError, match=r'"group/0\.0"'):
        store["group/0.0"]
    assert store["b"] == b"fine"


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_member_behind_the_end_of_the_file_is_an_error_that_names_the_key(tmp_path, method):
    path = Path(zipped(tmp_path / "a.zip", method))
    content = bytearray(path.read_bytes())
    record = content.rindex(b"PK\1\2", 0, content.rindex(b"1.1"))
    struct.pack_into("<I", content, record + 42, len(content) + 9)
    path.write_bytes(content)
    with pytest.raises(CorruptChunkError, match=r"1\.1.*ends before it"):
        zarr.open(str(path), mode="r")[60, 80]


def test_of_duplicates_the_last_counts(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = archive(tmp_path / "a.zip", [("a", b"1"), ("b", b"2"), ("a", b"333")])
    store = ZipStore(path, mode="r")
    assert dict(store) == {"a": b"333", "b": b"2"}
    assert store.getsize("a") == 3


def test_names_that_are_no_keys_are_left_out_and_told(tmp_path):
    names = ["../up", "/abs", "a/../../b", "a//b", "back\\slash", "x.partial", "a/", "fine"]
    path = archive(tmp_path / "a.zip", [(name, b"1") for name in names])
    with pytest.warns(RuntimeWarning, match=r"6 members are left out.*'\.\./up', '/abs'"):
        store = ZipStore(path, mode="r")
    assert list(store) == ["fine"]
    for name in names[:5]:
        assert name not in store
        with pytest.raises(InvalidKeyError):
            store[name]


def test_names_in_utf8_and_in_code_page_437(tmp_path):
    path = archive(tmp_path / "a.zip", [("grüße/日本", b"1")])
    assert dict(ZipStore(path, mode="r")) == {"grüße/日本": b"1"}
    # Without the flag that says UTF-8: as DOS wrote it.
    content = archive_bytes([("XX/0", b"1")]).replace(b"XX/0", b"\x84\x81/0")
    (tmp_path / "b.zip").write_bytes(content)
    assert dict(ZipStore(tmp_path / "b.zip", mode="r")) == {"äü/0": b"1"}


def archive_bytes(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    archive(file, members, method)
    return file.getvalue()


def test_what_surrounds_an_archive_is_passed_over(tmp_path):
    plain = archive_bytes([("a", b"1"), ("b/c", b"22")], zipfile.ZIP_DEFLATED)
    buffer = io.BytesIO(plain)
    with zipfile.ZipFile(buffer, "a") as file:
        file.comment = b"PK\x05\x06" + b"x" * 60_000
    commented = buffer.getvalue()
    contents = [b"#!/bin/sh\n" * 100 + plain, commented, plain + bytes(5000)]
    for content in contents:
        (tmp_path / "a.zip").write_bytes(content)
        assert dict(ZipStore(tmp_path / "a.zip", mode="r")) == {"a": b"1", "b/c": b"22"}


def test_an_unfinished_end_is_passed_over_and_told(tmp_path):
    plain = archive_bytes([("a", b"1"), ("b", b"2" * 500)])
    unfinished = archive_bytes([("c", os.urandom(3 << 20))])[:-40]
    (tmp_path / "a.zip").write_bytes(plain + unfinished)
    with pytest.warns(RuntimeWarning, match="unfinished"):
        store = ZipStore(tmp_path / "a.zip", mode="r")
    assert dict(store) == {"a": b"1", "b": b"2" * 500}


def test_zip64_archives(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        with file.open("forced", "w", force_zip64=True) as member:
            member.write(b"x" * 1000)
        for number in range(66_000):
            file.writestr(f"n/{number}", b"")
        file.writestr("last", b"y")
    store = ZipStore(tmp_path / "a.zip", mode="r")
    assert len(store) == 66_002
    assert store["forced"] == b"x" * 1000
    assert store["last"] == b"y"
    assert len(store.listdir("n")) == 66_000


def test_members_beyond_4_gib(tmp_path):
    """A file of holes: what counts are the offsets."""
    small = archive_bytes([("far", b"value" * 10)])
    far = 5 << 30
    local, directory = small[: 30 + 3 + 50], small[30 + 3 + 50 :]
    record = bytearray(directory[: 46 + 3])
    struct.pack_into("<I", record, 42, 0xFFFFFFFF)
    struct.pack_into("<H", record, 30, 12)
    record += struct.pack("<HHQ", 1, 8, far)
    at = far + len(local)
    end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(record), at)
    end += struct.pack("<IIQI", 0x07064B50, 0, at + len(record), 1)
    end += struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    with open(tmp_path / "a.zip", "wb") as file:
        file.seek(far)
        file.write(local + record + end)
    with zipfile.ZipFile(tmp_path / "a.zip") as peer:
        assert peer.read("far") == b"value" * 10
    assert dict(ZipStore(tmp_path / "a.zip", mode="r")) == {"far": b"value" * 10}
    # What is added lies beyond, too.
    with ZipStore(tmp_path / "a.zip") as store:
        store["farther"] = b"2"
    with zipfile.ZipFile(tmp_path / "a.zip") as peer:
        assert peer.read("far") == b"value" * 10
        assert peer.read("farther") == b"2"
        assert peer.testzip() is None
    os.truncate(tmp_path / "a.zip", 0)


@pytest.mark.parametrize("content", [b"", b"PK", b"no zip", b"PK\x03\x04" + b"x" * 300_000])
def test_what_is_no_archive_is_an_error_that_names_it(tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CorruptStoreError, match=r"a\.zip.*not a zip archive"):
        zarr.open(str(tmp_path / "a.zip"), mode="r")


def test_an_archive_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        ZipStore(tmp_path / "a.zip", mode="r")
    with pytest.raises(FileNotFoundError):
        zarr.open(str(tmp_path / "a.zip"), mode="r")


def test_any_damage_to_the_directory_is_an_error_or_changes_nothing(tmp_path):
    members = [(f"key/{number}", bytes([number]) * 50) for number in range(5)]
    good = archive_bytes(members)
    begin = good.index(b"PK\x01\x02")
    noise = np.random.default_rng(7)
    outcomes = set()
    for position in range(begin, len(good)):
        content = bytearray(good)
        content[position] ^= 1 << int(noise.integers(8))
        (tmp_path / "a.zip").write_bytes(content)
        try:
            store = ZipStore(tmp_path / "a.zip", mode="r")
            found = dict(store)
        except (CorruptStoreError, CorruptChunkError, OSError):
            outcomes.add("error")
            continue
        # What is not there has been renamed, or hidden as a directory is.
        assert set(found.values()) <= {value for _, value in members}
        outcomes.add("read")
    assert outcomes == {"error", "read"}


def test_any_cut_is_an_error(tmp_path):
    good = archive_bytes([("a", b"1" * 100), ("b", b"2" * 100)])
    for length in range(len(good)):
        (tmp_path / "a.zip").write_bytes(good[:length])
        with pytest.raises(CorruptStoreError):
            ZipStore(tmp_path / "a.zip", mode="r")


def test_encrypted_and_unknown_members_say_so(tmp_path):
    good = archive_bytes([("a", b"1"), ("b", b"2")])
    begin = good.index(b"PK\x01\x02")
    for offset, value, message in [(8, 1, "encrypted"), (10, 97, "unknown method 97")]:
        content = bytearray(good)
        struct.pack_into("<H", content, begin + offset, value)
        (tmp_path / "a.zip").write_bytes(content)
        store = ZipStore(tmp_path / "a.zip", mode="r")
        with pytest.raises(CorruptChunkError, match=f'"a".*{message}'):
            store["a"]
        assert store["b"] == b"2"


def test_bombs_and_lies_about_lengths_are_refused_without_the_memory(tmp_path):
    """A chunk may have what its array allows; a length that deflate cannot reach is a lie."""
    array = zarr.zeros(100, chunks=100, dtype="u1", compressor=None)
    document = array.store[".zarray"]
    bomb = archive_bytes([(".zarray", document), ("0", bytes(64 << 20))], zipfile.ZIP_DEFLATED)
    (tmp_path / "bomb.zip").write_bytes(bomb)
    lie = bytearray(archive_bytes([(".zarray", document), ("0", b"x")], zipfile.ZIP_DEFLATED))
    begin = lie.rindex(b"PK\x01\x02")
    struct.pack_into("<I", lie, begin + 24, 0xFFFFFFF0)
    (tmp_path / "lie.zip").write_bytes(lie)
    script = f"""
import resource, zarrix as zarr
zarr.open({str(tmp_path / "bomb.zip")!r}, mode="r").shape
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for name, words in (("bomb", "at most"), ("lie", "declares 4294967280 bytes, stored in")):
    try:
        zarr.open({str(tmp_path)!r} + f"/{{name}}.zip", mode="r")[:]
    except zarr.errors.CorruptChunkError as error:
        assert words in str(error) and '"0"' in str(error), error
    else:
        raise AssertionError(name)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 16 << 10


@pytest.mark.parametrize("number", [1 << 40, (1 << 62) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
def test_declared_lengths_and_places_beyond_the_file_take_no_memory(tmp_path, number):
    """They name the key, as any other member that is not there does."""
    good = archive_bytes([("a", b"value"), ("b", b"fine")])
    begin = good.index(b"PK\1\2")
    for lengths, place in [((number, number), 0), ((5, 5), number), ((number, 5), 0)]:
        wide = struct.pack("<HHQQQ", 1, 24, *lengths, place)
        record = bytearray(good[begin : begin + 47])
        struct.pack_into("<II", record, 20, 0xFFFFFFFF, 0xFFFFFFFF)
        struct.pack_into("<H", record, 30, len(wide))
        struct.pack_into("<I", record, 42, 0xFFFFFFFF)
        directory = bytes(record) + wide + good[begin + 47 : -22]
        end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 2, 2, len(directory), begin, 0)
        (tmp_path / "a.zip").write_bytes(good[:begin] + directory + end)
        store = ZipStore(tmp_path / "a.zip", mode="r")
        with pytest.raises(CorruptChunkError, match=r'"a"'):
            store["a"]
        assert store["b"] == b"fine"


def test_many_threads_read_at_once(tmp_path):
    array = zarr.open(zipped(tmp_path / "a.zip", zipfile.ZIP_DEFLATED), mode="r")
    failures = []

    def read(seed):
        noise = np.random.default_rng(seed)
        for _ in range(50):
            row, column = noise.integers(190), noise.integers(290)
            found = array[row : row + 10, column : column + 10]
            if not (found == VALUES[row : row + 10, column : column + 10]).all():
                failures.append((row, column))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []


def test_forked_children_read_through_the_inherited_handle(tmp_path):
    """Peers share one file offset after a fork, and most of their reads fail."""
    array = zarr.open(zipped(tmp_path / "a.zip"), mode="r")
    array[:5]
    context = multiprocessing.get_context("fork")

    def read():
        for _ in range(30):
            if not (array[:] == VALUES).all():
                os._exit(1)
        os._exit(0)

    children = [context.Process(target=read) for _ in range(3)]
    for child in children:
        child.start()
    for _ in range(30):
        np.testing.assert_array_equal(array[:], VALUES)
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]


def test_pickles_open_the_archive_again(tmp_path):
    array = zarr.open(zipped(tmp_path / "a.zip"), mode="r")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[:], VALUES)
    assert pickle.loads(pickle.dumps(array.store)) == array.store


def test_a_handle_opened_later_sees_the_archive_that_took_the_place(tmp_path):
    path = archive(tmp_path / "a.zip", [("a", b"1")])
    old = ZipStore(path, mode="r")
    assert dict(old) == {"a": b"1"}
    archive(tmp_path / "b.zip", [("a", b"22"), ("b", b"")])
    os.replace(tmp_path / "b.zip", path)
    assert dict(ZipStore(path, mode="r")) == {"a": b"22", "b": b""}


def test_a_store_for_reading_refuses_changes(tmp_path):
    store = ZipStore(zipped(tmp_path / "a.zip"), mode="r")
    assert store.read_only
    with pytest.raises(ReadOnlyError):
        store["a"] = b"1"
    with pytest.raises(ReadOnlyError):
        zarr.open(store, mode="r+")[0] = 1


def test_an_archive_inside_another_store(tmp_path):
    """Any store can hold one; its members are ranges of one value."""
    from zarrix import _engine

    zipped(tmp_path / "a.zip", zipfile.ZIP_DEFLATED)
    for outer in (
        _engine.LocalStore(str(tmp_path)),
        KVStore({"a.zip": (tmp_path / "a.zip").read_bytes()})._engine,
    ):
        inner = _engine.ZipStore.in_store(outer, "a.zip")
        assert sorted(inner.list_prefix("")) == sorted(ZipStore(tmp_path / "a.zip", mode="r"))
        assert inner.get("1.1") == ZipStore(tmp_path / "a.zip", mode="r")["1.1"]
        assert _engine.ZipStore.in_store(outer, "b.zip") is None
