"""Arrays that are deleted or moved while others write: no chunk is stored without an array."""

import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ArrayNotFoundError, ContainsArrayError

from tests.reliability.children import call, nobody


@pytest.fixture(params=["local", "memory", "zip"])
def root(request, tmp_path):
    stores = {
        "local": lambda: zarr.DirectoryStore(tmp_path / "x.zarr"),
        "memory": zarr.MemoryStore,
        "zip": lambda: zarr.ZipStore(tmp_path / "x.zip", mode="w"),
    }
    with stores[request.param]() as store:
        yield zarr.open_group(store, mode="w")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("selection", [slice(None), slice(1, 3), 5], ids=str)
def test_a_write_to_an_array_that_was_deleted_is_an_error_and_stores_nothing(
    root, zarr_format, selection
):
    root = zarr.open_group(root.store, mode="w", zarr_format=zarr_format)
    array = root.create_array("a", shape=8, chunks=4, dtype="i4")
    array[:4] = 1
    del root["a"]
    with pytest.raises(ArrayNotFoundError, match=r"array is gone: \"a/(\.zarray|zarr.json)\""):
        array[selection] = 2
    assert root.store.listdir("a") == []


def test_a_write_to_an_array_that_was_moved_is_an_error_and_changes_nothing(root):
    array = root.create_array("a", shape=8, chunks=4, dtype="i4")
    array[:] = 1
    root.move("a", "b")
    with pytest.raises(ArrayNotFoundError, match="is gone"):
        array[:] = 2
    assert root.store.listdir("a") == []
    assert root["b"][:].tolist() == [1] * 8


def test_chunks_may_be_in_another_store_than_the_document(tmp_path):
    chunks = zarr.DirectoryStore(tmp_path / "chunks")
    array = zarr.create(8, chunks=4, store=tmp_path / "x.zarr", chunk_store=chunks)
    array[1:7] = 3
    array.append([3])
    assert array[:].tolist() == [0, 3, 3, 3, 3, 3, 3, 0, 3]
    assert sorted(chunks) == ["0", "1", "2"]


WRITER = """
import sys, numpy as np, zarrix as zarr
array = zarr.open_group(sys.argv[1], mode="r+")[sys.argv[2]]
print("ready", flush=True)
done = 0
try:
    while True:
        array[:] = done
        array[3:13] = done
        done += 1
except FileNotFoundError:
    print(done)
"""


@pytest.mark.parametrize("change", ["delete", "move"])
def test_writers_of_a_group_that_goes_stop_and_leave_nothing_behind(tmp_path, change):
    path = tmp_path / "x.zarr"
    root = zarr.open_group(path, mode="w")
    for name in ("g/a", "g/b"):
        root.create_dataset(name, shape=16, chunks=4, dtype="i4")[:] = -1
    mine = root["g/a"]
    ended = []

    def write():
        try:
            while True:
                mine[:] = 7
        except FileNotFoundError as error:
            ended.append(error)

    command = [sys.executable, "-c", textwrap.dedent(WRITER), path]
    writers = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True)
        for name in ("g/a", "g/b")
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    thread = threading.Thread(target=write)
    thread.start()
    if change == "delete":
        del root["g"]
    else:
        root.move("g", "h")
    thread.join()
    assert len(ended) == 1
    for writer in writers:
        told, _ = writer.communicate()
        assert told.strip().isdigit()
    assert "g" not in os.listdir(path)
    if change == "delete":
        assert os.listdir(path) == [".zgroup"]
    else:
        # Every chunk is one version: what a writer has covered alone has one value.
        for name in ("h/a", "h/b"):
            values = root[name][:]
            for covered in (values[0:3], values[4:8], values[8:12], values[13:16]):
                np.testing.assert_array_equal(covered, covered[0])
            assert zarr.verify(path, path=name).ok


@pytest.mark.parametrize("change", ["del", "overwrite", "clean"])
def test_unfinished_files_of_other_programs_are_never_deleted(tmp_path, change):
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    root.create_dataset("a", shape=8, chunks=4, dtype="i4")[:] = 1
    theirs = [
        tmp_path / "x.zarr" / "a" / name
        for name in ("movie.mp4.partial", "movie.a1b2c3d4.partial", "backup.partial/thesis.txt")
    ]
    for file in theirs:
        file.parent.mkdir(exist_ok=True)
        file.write_text("years")
        os.utime(file, (0, 0))
        os.utime(file.parent, (0, 0))
    if change == "del":
        del root["a"]
        assert list(root) == []
    elif change == "overwrite":
        with pytest.raises(ValueError, match="not part of a Zarr hierarchy"):
            root.create_dataset("a", shape=3, overwrite=True)
        assert root["a"][:].tolist() == [1] * 8
    else:
        assert zarr.verify(tmp_path / "x.zarr", clean=True).removed == []
    assert [file.read_text() for file in theirs] == ["years"] * 3


def test_a_deletion_that_is_not_allowed_below_deletes_nothing():
    """One folder may not be written: the array stays whole, under its own name."""

    def work():
        # What is imported when it is first used may lie where that user may not read.
        zarr.verify(zarr.open_group(os.path.join(folder, "first"), mode="w").store)
        os.chmod(folder, 0o777)
        nobody()
        root = zarr.open_group(os.path.join(folder, "x"), mode="w")
        root.create_dataset("a", shape=(4, 4), chunks=2, dimension_separator="/")[:] = 1
        locked = os.path.join(folder, "x", "a", "1")
        os.chmod(locked, 0o555)
        with pytest.raises(PermissionError) as raised:
            del root["a"]
        os.chmod(locked, 0o755)
        found = zarr.verify(root.store)
        assert raised.value.filename == locked
        assert (root["a"][:] == 1).all()
        assert (found.chunks, found.leftovers) == (4, [])

    with tempfile.TemporaryDirectory() as folder:
        outcome = call(work, limit_s=60)
    assert outcome.ended == "ok", outcome


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("separator", [".", "/"])
def test_chunks_of_an_array_that_is_gone_do_not_become_those_of_the_next(
    root, zarr_format, separator
):
    root = zarr.open_group(root.store, mode="w", zarr_format=zarr_format)
    encoding = ("default" if zarr_format == 3 else "v2", separator)
    keywords = {"shape": 8, "chunks": 4, "dtype": "i4", "chunk_key_encoding": encoding}
    root.create_array("a", **keywords)[:] = 1
    del root.store["a/.zarray" if zarr_format == 2 else "a/zarr.json"]
    left = root.store.listdir("a")
    with pytest.raises(ContainsArrayError, match=r"the chunk 'a/.*' of an array.*overwrite=True"):
        root.create_array("a", **keywords)
    assert root.store.listdir("a") == left
    again = root.create_array("a", overwrite=True, **keywords)
    assert again[:].tolist() == [0] * 8


def test_members_with_names_of_numbers_are_no_chunks(root):
    root.create_group("g/0")
    root.create_dataset("g/c/1", shape=3)[:] = 1
    del root.store["g/.zgroup"]
    # Its members stay, below an array that takes the place of their group.
    root.create_dataset("g", shape=3)
    assert "g/0" in root


def test_attributes_of_a_node_that_is_gone_do_not_become_those_of_the_next(root):
    for name, create in {
        "a": lambda: root.create_dataset("a", shape=3),
        "g": lambda: root.create_group("g"),
        "p": lambda: root.create_group("p/below"),
    }.items():
        root.store[f"{name}/.zattrs"] = b'{"of": "another"}'
        create()
        assert root[name].attrs.asdict() == {}
        root[name].attrs["x"] = 1
        assert root[name].attrs.asdict() == {"x": 1}


def test_links_that_make_ever_more_paths_to_a_directory_end_a_listing(tmp_path: Path) -> None:
    for number in range(30):
        folder = tmp_path / f"d{number}"
        folder.mkdir()
        for name in "ab":
            (folder / name).symlink_to(tmp_path / f"d{number + 1}")
    (tmp_path / "d30").mkdir()
    (tmp_path / "d30" / "value").write_bytes(b"1")
    store = zarr.storage.LocalStore(tmp_path / "d0")
    with pytest.raises(OSError, match="paths through symbolic links"):
        list(store)
    once = zarr.storage.LocalStore(tmp_path / "d28")
    assert sorted(once) == ["a/a/value", "a/b/value", "b/a/value", "b/b/value"]
