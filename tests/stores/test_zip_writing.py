"""Zip archives that we write: for every reader, once through, added to, and interrupted."""

import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import zipfile

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ReadOnlyError, StoreBusyError
from zarrix.storage import ZipStore

VALUES = np.arange(200 * 300, dtype="f8").reshape(200, 300)
METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


def peer_members(path):
    """What Python's own reader finds, every checksum checked."""
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        names = file.namelist()
        assert len(set(names)) == len(names)
        return {name: file.read(name) for name in names}


def peer_count(path):
    """How many members Python's own reader finds; it reads the last one."""
    with zipfile.ZipFile(path) as file:
        assert file.read(file.filelist[-1]) == b""
        return len(file.filelist)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_read_by_zipfile(tmp_path, method):
    path = tmp_path / "a.zip"
    with ZipStore(path, method, mode="w") as store:
        zarr.save_array(store, VALUES, chunks=(50, 70))
        written = dict(store)
    assert peer_members(path) == written
    with zipfile.ZipFile(path) as file:
        assert {info.compress_type for info in file.infolist()} == {method}
    np.testing.assert_array_equal(zarr.open(str(path), mode="r")[:], VALUES)


def test_paths_that_end_in_zip_are_archives(tmp_path):
    path = str(tmp_path / "deep/er/a.zip")
    zarr.save(path, VALUES)
    assert set(peer_members(path)) >= {".zarray", "0.0"}
    np.testing.assert_array_equal(zarr.load(path), VALUES)
    zarr.save(path, first=VALUES, second=VALUES[:3])
    assert ".zarray" not in peer_members(path)
    np.testing.assert_array_equal(zarr.load(path)["second"], VALUES[:3])
    with zarr.open_group(str(tmp_path / "g.zip"), mode="w", zarr_format=3) as group:
        group.create_array("x", data=VALUES, chunks=(50, 50), shards=(100, 100))
    assert "x/zarr.json" in peer_members(tmp_path / "g.zip")


def test_what_is_written_is_seen_by_the_process_at_once_and_by_others_when_closed(tmp_path):
    path = str(tmp_path / "a.zip")
    array = zarr.open(path, mode="w", shape=VALUES.shape, chunks=(50, 70), dtype="f8")
    array[:] = VALUES
    np.testing.assert_array_equal(zarr.open(path, mode="r")[:], VALUES)
    assert not os.path.exists(path)
    array.store.flush()
    assert set(peer_members(path)) == set(array.store)
    array[0] = -1
    assert zarr.open(path, mode="r")[0, 0] == -1
    array.store.close()
    assert sorted(os.listdir(tmp_path)) == ["a.zip"]
    assert set(peer_members(path)) == set(array.store)
    with pytest.raises(ValueError, match=r"a\.zip.*is closed"):
        array[0] = 5
    assert array[0, 0] == -1


def test_partial_writes_renames_deletions_and_resizing(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        group = zarr.group(store)
        array = group.create_dataset("x", data=VALUES, chunks=(64, 64))
        array[3:5] = 0
        array.resize(100, 300)
        group.move("x", "y/z")
        group.attrs["title"] = "ä"
        del group["y"]
        group["again"] = VALUES
    expected = VALUES
    members = peer_members(path)
    assert not any(name.startswith(("x/", "y/")) for name in members)
    with ZipStore(path) as store:
        group = zarr.group(store)
        group["again"][7:9, 5] = -5
        group.create_dataset("more", data=[1, 2])
    expected = VALUES.copy()
    expected[7:9, 5] = -5
    read = zarr.open_group(str(path), mode="r")
    np.testing.assert_array_equal(read["again"][:], expected)
    assert read["more"][:].tolist() == [1, 2]
    assert read.attrs["title"] == "ä"
    assert peer_members(path) == dict(ZipStore(path, mode="r"))


def test_modes(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path) as store:
        assert dict(store) == {}
    assert not path.exists()
    with ZipStore(path, mode="x") as store:
        store["a"] = b"1"
        with pytest.raises(FileExistsError):
            ZipStore(path, mode="x")
    assert peer_members(path) == {"a": b"1"}
    with pytest.raises(FileExistsError):
        ZipStore(path, mode="x")
    with ZipStore(path, mode="a") as store:
        store["b"] = b"2"
    assert peer_members(path) == {"a": b"1", "b": b"2"}
    with ZipStore(path, mode="w") as store:
        assert peer_members(path) == {"a": b"1", "b": b"2"}
        assert dict(store) == {}
    assert peer_members(path) == {}
    with ZipStore(path, mode="r") as store, pytest.raises(ReadOnlyError):
        store["c"] = b"3"
    with pytest.raises(ValueError, match="mode is"):
        ZipStore(path, mode="r+")
    with pytest.raises(ValueError, match="read_only=True forbids"):
        ZipStore(path, mode="w", read_only=True)


def test_an_archive_of_somebody_else_is_added_to_and_keeps_what_is_theirs(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.mkdir("folder")
        file.writestr("../hostile", b"h")
        info = zipfile.ZipInfo("folder/a", (2001, 2, 3, 4, 5, 6))
        info.comment = b"comment"
        file.writestr(info, b"1")
        file.writestr("folder/b", b"2")
        file.comment = b"theirs"
    path.write_bytes(b"#!stub\n" + path.read_bytes())
    with pytest.warns(RuntimeWarning, match="left out"):
        store = ZipStore(path)
    with store:
        store["folder/b"] = b"22"
        store["c"] = b"3"
    expected = {"folder/": b"", "../hostile": b"h", "folder/a": b"1", "folder/b": b"22", "c": b"3"}
    assert peer_members(path) == expected
    with zipfile.ZipFile(path) as file:
        assert file.comment == b"theirs"
        assert file.getinfo("folder/a").date_time == (2001, 2, 3, 4, 5, 6)
        assert file.getinfo("folder/a").comment == b"comment"


def test_zipfile_adds_to_what_we_wrote(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        store["ü/a"] = b"1"
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("b", b"2")
    with ZipStore(path) as store:
        assert dict(store) == {"ü/a": b"1", "b": b"2"}
        store["c"] = b"3"
    assert peer_members(path) == {"ü/a": b"1", "b": b"2", "c": b"3"}


def test_the_same_values_in_the_same_order_make_the_same_archive(tmp_path):
    for name in ("a", "b"):
        # With several threads, any of them may be the first.
        with zarr.config(threads=1):
            zarr.save(str(tmp_path / f"{name}.zip"), VALUES)
        time.sleep(0.01)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_packing_leaves_out_what_nothing_refers_to_and_puts_documents_first(tmp_path):
    path = tmp_path / "a.zip"
    noise = np.random.default_rng(0).integers(0, 256, (4, 1 << 20), "u1")
    with ZipStore(path, mode="w") as store:
        array = zarr.group(store).create_dataset("x", data=noise, chunks=(4, 1 << 20))
        for _ in range(5):
            array[0, 0] += 1
        before = store.pack()
        array[1, 1] += 1
        store.flush()
        assert path.stat().st_size < 9 << 20
        saved = store.pack()
        assert saved > 4 << 20
    assert before > 16 << 20
    assert path.stat().st_size < (4 << 20) + 5000
    with zipfile.ZipFile(path) as file:
        assert file.namelist() == [".zgroup", "x/.zarray", "x/0.0"]
    noise[0, 0] += 5
    noise[1, 1] += 1
    np.testing.assert_array_equal(zarr.open(str(path), mode="r")["x"][:], noise)


def test_ozx_follows_the_recommendations_for_ome_zarr(tmp_path):
    path = tmp_path / "a.ozx"
    with ZipStore(path, mode="w") as store:
        group = zarr.create_group(store, attributes={"ome": {"version": "0.6"}})
        group.create_array("b/deep", data=VALUES, chunks=(50, 50), shards=(100, 100))
        group.create_array("a", data=VALUES, chunks=(50, 50))
    names = ["zarr.json", "a/zarr.json", "b/zarr.json", "b/deep/zarr.json"]
    with zipfile.ZipFile(path) as file:
        infos = file.infolist()
        assert [info.filename for info in infos[:4]] == names
        assert sorted(infos, key=lambda info: info.header_offset) == infos
        assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
        told = json.loads(file.comment)["ome"]
    assert told == {"version": "0.6", "zipFile": {"centralDirectory": {"jsonFirst": True}}}
    assert b"PK\x06\x06" in path.read_bytes()[-300:]
    unchanged = path.read_bytes()
    with ZipStore(path) as store:
        np.testing.assert_array_equal(zarr.open(store, mode="r")["a"][:], VALUES)
    assert path.read_bytes() == unchanged
    with ZipStore(path) as store:
        zarr.open_group(store)["b"].create_group("later")
    with zipfile.ZipFile(path) as file:
        assert file.namelist()[:5] == [*names, "b/later/zarr.json"]


def test_zip64_is_used_where_it_is_needed_and_can_be_forbidden(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        for number in range(65_600):
            store[f"n/{number}"] = b""
    assert peer_count(path) == 65_600
    assert len(ZipStore(path, mode="r")) == 65_600
    with ZipStore(tmp_path / "b.zip", allowZip64=False, mode="w") as store:
        for number in range(65_534):
            store[f"{number}"] = b""
        with pytest.raises(OSError, match="allowZip64"):
            store["more"] = b""
    assert peer_count(tmp_path / "b.zip") == 65_534


def test_an_archive_behind_5_gib_of_something_else_is_added_to(tmp_path):
    """Offsets count from where the archive begins."""
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        store["a"] = b"1"
    content = path.read_bytes()
    with open(path, "r+b") as file:
        file.truncate(0)
        file.seek(5 << 30)
        file.write(content)
    with ZipStore(path) as store:
        assert store["a"] == b"1"
        store["b"] = b"2"
    assert peer_members(path) == {"a": b"1", "b": b"2"}
    os.truncate(path, 0)


def test_threads_write_at_once(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        array = zarr.create(VALUES.shape, chunks=(7, 9), store=store, dtype="f8")

        def write(first):
            for row in range(first, 200, 8):
                array[row] = VALUES[row]

        threads = [threading.Thread(target=write, args=(first,)) for first in range(8)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            store.flush()
            before = path.stat()
            try:
                peer_members(path)
            except (OSError, zipfile.BadZipFile):
                # zipfile asks for the length first and then looks for the end. It is right only
                # where nothing was written meanwhile.
                after = path.stat()
                assert (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns)
        for thread in threads:
            thread.join(60)
    np.testing.assert_array_equal(zarr.open(str(path), mode="r")[:], VALUES)
    assert peer_members(path) == dict(ZipStore(path, mode="r"))


def test_one_process_writes_at_a_time_and_the_next_one_sees_all(tmp_path):
    path = tmp_path / "a.zip"
    script = f"""
import sys, zarrix as zarr
from zarrix.errors import StoreBusyError
store = zarr.ZipStore({str(path)!r})
try:
    store["child"] = b"1"
except StoreBusyError as error:
    assert "a.zip" in str(error), error
    sys.exit(3)
store.close()
"""
    command = [sys.executable, "-c", script]
    for mode in ("w", "a"):
        with ZipStore(path, mode=mode) as store:
            store[mode] = b"2"
            assert subprocess.run(command, check=False).returncode == 3
        assert subprocess.run(command, check=False).returncode == 0
        assert "child" in peer_members(path)
    with ZipStore(path) as store:
        assert set(store) == {"w", "a", "child"}
        for mode, error in (("w", "StoreBusyError"), ("x", "FileExistsError")):
            store["z"] = b""
            code = f"import zarrix; zarrix.ZipStore({str(path)!r}, mode={mode!r})"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
            assert error in done.stderr
    assert set(peer_members(path)) == {"w", "a", "child", "z"}


def test_readers_of_other_processes_keep_what_they_opened(tmp_path):
    """Nothing that was readable is ever overwritten when entries are added or replaced."""
    path = tmp_path / "a.zip"
    zarr.save(str(path), VALUES)
    script = f"""
import sys, zarrix as zarr
array = zarr.open({str(path)!r}, mode="r")
print(array[0, 0], flush=True)
for line in sys.stdin:
    print(array[:].sum(), flush=True)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "0.0\n"
        for mode in ("a", "a", "w"):
            with ZipStore(path, mode=mode) as store:
                zarr.save_array(store, VALUES + 1)
            child.stdin.write("\n")
            child.stdin.flush()
            assert float(child.stdout.readline()) == VALUES.sum()
    assert child.returncode == 0


def test_forked_children_read_what_is_not_committed_and_write_nothing(tmp_path):
    path = tmp_path / "a.zip"
    store = ZipStore(path, mode="w")
    array = zarr.create(VALUES.shape, chunks=(50, 70), store=store, dtype="f8")
    array[:] = VALUES

    def child():
        good = (array[:] == VALUES).all()
        try:
            array[0] = 7
        except StoreBusyError:
            os._exit(0 if good else 2)
        os._exit(1)

    processes = [multiprocessing.get_context("fork").Process(target=child) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0, 0]
    array[0] = -1
    store.close()
    assert zarr.open(str(path), mode="r")[0, 0] == -1
    assert peer_members(path) == dict(store)


def test_what_is_not_closed_is_written_when_it_is_collected_or_at_exit(tmp_path):
    for code in ("", "del z", "import sys; sys.exit(3)", "1/0"):
        path = tmp_path / "a.zip"
        path.unlink(missing_ok=True)
        script = (
            f"import zarrix\nz = zarrix.open({str(path)!r}, mode='w', shape=9)\nz[:] = 5\n{code}"
        )
        subprocess.run([sys.executable, "-c", script], check=False, capture_output=True)
        assert zarr.open(str(path), mode="r")[:].tolist() == [5] * 9


@pytest.mark.parametrize("packs", [False, True])
def test_a_file_that_is_also_named_as_an_unfinished_archive_keeps_its_bytes(tmp_path, packs):
    path, other = tmp_path / "a.zip", tmp_path / "thesis.txt"
    other.write_bytes(b"years of work")
    with ZipStore(path, mode="w") as store:
        store["a"] = b"0"
    os.link(other, tmp_path / "a.zip.partial")
    with ZipStore(path, mode="a" if packs else "w") as store:
        store["a"] = b"1"
        if packs:
            store.pack()
    assert other.read_bytes() == b"years of work"
    assert peer_members(path) == {"a": b"1"}
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.zip", "thesis.txt"]


def test_pickles_flush_and_open_again(tmp_path):
    store = ZipStore(tmp_path / "a.zip", mode="w")
    store["a"] = b"1"
    again = pickle.loads(pickle.dumps(store))
    assert dict(again) == {"a": b"1"}
    assert peer_members(tmp_path / "a.zip") == {"a": b"1"}
    again["b"] = b"2"
    assert dict(store) == {"a": b"1", "b": b"2"}
    store.close()


def test_a_full_disk_leaves_what_was_there(tmp_path):
    """A limit on the size of files stands for the disk."""
    path = tmp_path / "a.zip"
    with ZipStore(path, mode="w") as store:
        store["old"] = b"1" * 1000
    script = f"""
import resource, signal, zarrix as zarr
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
store = zarr.ZipStore({str(path)!r})
try:
    store["new"] = bytes(5 << 20)
except OSError as error:
    print(error.errno)
try:
    store["small"] = b"2"
    store.close()
except OSError as error:
    print(error.errno)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "27\n27\n", done.stderr
    assert peer_members(path) == {"old": b"1" * 1000}
