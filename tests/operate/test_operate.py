"""Verify, repair, diff: what is broken is named, put aside and never deleted."""

import errno
import json
import multiprocessing
import os
import shutil
import time

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main


@pytest.fixture
def root(tmp_path):
    """A v2 hierarchy with two arrays, on disk."""
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.attrs["title"] = "t"
    for name in ("a", "b/c"):
        array = group.create_dataset(name, shape=(20, 30), chunks=(5, 10), dtype="<i4")
        array[...] = np.arange(600).reshape(20, 30)
        array.attrs["unit"] = "mm"
    return group


def test_a_sound_hierarchy_verifies_and_is_counted(root):
    result = zarr.verify(root.store)
    assert (result.ok, bool(result)) == (True, True)
    assert (result.arrays, result.groups, result.chunks) == (2, 2, 24)
    assert (result.problems, result.strangers, result.leftovers) == ([], [], [])
    assert result.stored_bytes > 0
    assert json.loads(result.to_json())["ok"] is True
    assert "all is well" in str(result)


def test_part_of_a_hierarchy_is_verified_by_its_array_group_or_path(root):
    assert zarr.verify(root["a"]).chunks == 12
    assert zarr.verify(root["b"]).arrays == 1
    assert zarr.verify(root.store.path, path="b/c").chunks == 12
    with pytest.raises(FileNotFoundError, match=r"neither an array nor a group .* does not exist"):
        zarr.verify("not/there.zarr")


def test_a_sharded_hierarchy_of_format_3_verifies_and_every_broken_shard_is_named(tmp_path):
    z = zarr.create_array(tmp_path / "x.zarr", shape=(64,), chunks=(4,), shards=(16,), dtype="<i4")
    z[:] = np.arange(64)
    result = zarr.verify(tmp_path / "x.zarr")
    assert (result.ok, result.chunks, result.checksummed) == (True, 4, 4)
    shard = tmp_path / "x.zarr" / "c" / "2"
    data = bytearray(shard.read_bytes())
    data[len(data) // 3] ^= 4
    shard.write_bytes(data)
    (problem,) = zarr.verify(tmp_path / "x.zarr").problems
    assert (problem.kind, problem.key) == ("chunk", "c/2")
    assert "inner chunk" in problem.message


def test_every_broken_chunk_and_document_is_named_and_the_rest_is_still_looked_at(root):
    store = root.store
    store["a/0.1"] = b"no chunk"
    store["b/c/.zarray"] = b"{"
    store["b/.zattrs"] = b"[]"
    found = zarr.verify(store)
    assert not found
    assert [(p.kind, p.key) for p in found.problems] == [
        ("chunk", "a/0.1"),
        ("metadata", "b/.zattrs"),
        ("metadata", "b/c/.zarray"),
    ]
    assert all(p.key in p.message for p in found.problems)
    assert found.chunks == 12
    assert found.strangers == []


def test_arrays_without_any_stored_chunk_are_counted(root):
    """They read as fill: as they should where nothing was written, or because it was deleted."""
    for key in [key for key in root.store if key.startswith("a/") and key[2].isdigit()]:
        del root.store[key]
    root.create_dataset("none", shape=(0, 3))
    found = zarr.verify(root.store)
    assert (found.ok, found.arrays, found.empty) == (True, 3, 1)
    assert str(found).startswith("3 arrays (1 without a stored chunk), 2 groups, 12 chunks of ")


def verify_while(root, change):
    """What `verify` says if ``change`` happens between its listing and its look at the metadata."""

    class Changing(zarr.storage.WrapperStore):
        done = False

        def _list(self, prefix):
            found = super()._list(prefix)
            if not self.done:
                self.done = True
                change()
            return found

    return zarr.verify(Changing(root.store))


@pytest.mark.parametrize("change", ["delete", "shrink", "move"])
def test_what_others_change_while_everything_is_looked_at_is_no_problem(root, change):
    changes = {
        "delete": lambda: root.__delitem__("a"),
        "shrink": lambda: root["a"].resize(3, 3),
        "move": lambda: root.move("b", "d"),
    }
    found = verify_while(root, changes[change])
    assert (found.problems, found.orphans) == ([], [])


def test_an_array_whose_metadata_is_restored_meanwhile_has_its_chunks(root):
    root.create_dataset("late", data=[1, 2, 3])
    document = root.store["late/.zarray"]
    del root.store["late/.zarray"]

    def restore():
        root.store["late/.zarray"] = document

    found = verify_while(root, restore)
    assert (found.problems, found.orphans) == ([], [])


def test_a_place_with_documents_of_both_formats_is_looked_at_as_format_2(root):
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [20, 30],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [5, 10]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    }
    root.store["a/zarr.json"] = json.dumps(document).encode()
    root.store["a/c/0/0"] = bytes(200)
    found = zarr.verify(root.store)
    assert (found.problems, found.arrays, found.chunks) == ([], 2, 24)


def test_a_file_that_is_not_zarrs_is_a_note_and_no_problem(root):
    root.store["README.txt"] = b"years"
    found = zarr.verify(root.store)
    assert (found.ok, found.strangers, found.orphans) == (True, ["README.txt"], [])
    assert "note: not a part of any array or group: README.txt\nall is well" in str(found)


def test_a_chunk_outside_of_its_array_is_a_problem_and_repair_puts_it_aside(root):
    """It would come back as elements when the array grows: a write that raced with a shrink."""
    store = root.store
    store["a/9.9"] = store["a/0.0"]
    found = zarr.verify(store)
    (problem,) = found.problems
    assert (problem.kind, problem.key, found.orphans) == ("orphan", "a/9.9", ["a/9.9"])
    assert "all is well" not in str(found)
    assert zarr.repair(store).set_aside == {"a/9.9": "a/9.9.broken"}
    root["a"].resize(50, 100)
    assert not root["a"][45:50, 90:100].any()


def test_attributes_of_no_node_are_a_problem_that_repair_leaves_alone(root):
    root.store["lost/.zattrs"] = b"{}"
    (problem,) = zarr.verify(root.store).problems
    assert (problem.kind, problem.key) == ("orphan", "lost/.zattrs")
    done = zarr.repair(root.store)
    assert (done.set_aside, done.kept) == ({}, [problem])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_chunks_whose_array_is_lost_are_one_problem_that_names_the_folder(tmp_path, zarr_format):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=zarr_format)
    group.create_dataset("a/b/x", data=np.arange(1, 101), chunks=1)
    name = ".zarray" if zarr_format == 2 else "zarr.json"
    (tmp_path / "x.zarr/a/b/x" / name).unlink()
    found = zarr.verify(tmp_path / "x.zarr")
    (problem,) = found.problems
    assert (problem.kind, problem.key, len(found.orphans)) == ("orphan", "a/b/x", 100)
    assert "100 chunks below '/a/b/x'" in problem.message
    assert "all is well" not in str(found)
    # Its metadata may come back, from a copy of it: the chunks stay where they are.
    assert zarr.repair(tmp_path / "x.zarr").set_aside == {}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_folder_of_nodes_that_is_not_a_group_is_a_problem(tmp_path, zarr_format):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=zarr_format)
    group.create_dataset("a/b/x", data=np.arange(10))
    name = ".zgroup" if zarr_format == 2 else "zarr.json"
    (tmp_path / "x.zarr" / name).unlink()
    (tmp_path / "x.zarr/a/b" / name).unlink()
    found = zarr.verify(tmp_path / "x.zarr")
    missing = sorted([("missing", name), ("missing", f"a/b/{name}")])
    assert [(one.kind, one.key) for one in found.problems] == missing
    assert "all is well" not in str(found)
    for path in ("", "a/b"):
        zarr.open_group(tmp_path / "x.zarr", mode="a", path=path, zarr_format=zarr_format)
    assert zarr.verify(tmp_path / "x.zarr").ok


@pytest.mark.parametrize("operation", [zarr.verify, zarr.repair, zarr.digests])
def test_where_no_node_is_there_is_nothing_to_look_after(tmp_path, operation):
    (tmp_path / "e").mkdir()
    missing = (tmp_path / "e", tmp_path / "typo.zarr", tmp_path / "typo.zip", {}, "memory://typo")
    for nothing in missing:
        with pytest.raises(zarr.errors.PathNotFoundError, match="neither an array nor a group"):
            operation(nothing)
    for side in ((tmp_path / "e", zarr.group()), (zarr.group(), tmp_path / "e")):
        with pytest.raises(zarr.errors.PathNotFoundError, match="neither an array nor a group"):
            zarr.diff(*side)
    assert os.listdir(tmp_path) == ["e"]


def test_what_was_put_aside_is_named_until_it_is_written_anew_or_deleted(root):
    root.store["a/0.1"] = root.store["b/c/1.1"] = b"no chunk"
    zarr.repair(root.store)
    for _ in range(2):
        found = zarr.verify(root.store)
        assert [(one.kind, one.key) for one in found.problems] == [
            ("aside", "a/0.1.broken"),
            ("aside", "b/c/1.1.broken"),
        ]
        assert "all is well" not in str(found)
        assert zarr.repair(root.store).set_aside == {}
    del root.store["b/c/1.1.broken"]
    root["a"][:5, 10:20] = 1
    found = zarr.verify(root.store)
    assert (found.ok, found.strangers) == (True, ["a/0.1.broken"])


def test_an_array_that_was_put_aside_at_the_root_is_still_named(tmp_path):
    zarr.save_array(tmp_path / "x.zarr", np.arange(3))
    (tmp_path / "x.zarr/.zarray").write_text("{")
    zarr.repair(tmp_path / "x.zarr")
    found = zarr.verify(tmp_path / "x.zarr")
    assert [(one.kind, one.key) for one in found.problems] == [
        ("aside", ".zarray.broken"),
        ("orphan", "0"),
    ]


def test_metadata_that_is_sound_and_cannot_be_opened_here_is_not_put_aside(root):
    """A missing codec is not damage: without its metadata the array would be lost."""
    document = json.loads(root.store["a/.zarray"])
    root.store["a/.zarray"] = json.dumps({**document, "compressor": {"id": "of_another"}}).encode()
    (problem,) = zarr.verify(root.store).problems
    assert (problem.kind, problem.key) == ("codec", "a/.zarray")
    assert zarr.repair(root.store).set_aside == {}
    assert "a" in root


def test_pickled_objects_that_may_not_be_opened_are_a_problem_and_no_damage(root):
    objects = root.create_dataset(
        "o", shape=2, dtype=object, object_codec=zarr.Pickle(), allow_pickle=True
    )
    objects[:] = [{}, None]
    (problem,) = zarr.verify(root.store).problems
    assert (problem.kind, problem.key) == ("codec", "o/.zarray")
    assert zarr.repair(root.store).set_aside == {}


def test_chunks_in_a_store_of_their_own_are_verified_and_put_aside(tmp_path):
    chunks = zarr.MemoryStore()
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", chunk_store=chunks)
    group.create_dataset("a", data=np.arange(4), chunks=1)
    assert zarr.verify(group).chunks == 4
    chunks["a/2"] = b"no chunk"
    (problem,) = zarr.verify(group).problems
    assert (problem.kind, problem.key) == ("chunk", "a/2")
    assert zarr.repair(group).set_aside == {"a/2": "a/2.broken"}
    assert group["a"][:].tolist() == [0, 1, 0, 3]
    chunks["a/7"] = chunks["lost/0"] = b"chunk"
    assert [(one.kind, one.key) for one in zarr.verify(group).problems] == [
        ("aside", "a/2.broken"),
        ("orphan", "a/7"),
        ("orphan", "lost"),
    ]


def test_consolidated_metadata_that_is_out_of_date_is_a_problem(root):
    zarr.consolidate_metadata(root.store)
    assert zarr.verify(root.store).ok
    document = json.loads(root.store["b/c/.zarray"])
    document["shape"] = [19, 30]
    # As another program would: zarrix keeps it true.
    with open(os.path.join(root.store.path, "b/c/.zarray"), "w") as file:
        json.dump(document, file)
    (problem,) = zarr.verify(root.store).problems
    assert (problem.kind, problem.key) == ("consolidated", ".zmetadata")
    assert "'b/c/.zarray' has changed" in problem.message


def test_leftovers_are_found_and_removed_and_a_young_stranger_is_left_alone(root):
    folder = os.path.join(root.store.path, "a")
    ours, another, old = "0.0.partial", "0.1.4711-0.partial", "0.2.deadbeef.partial"
    for name in (ours, another, old, ".zarray.partial"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"half of a chu")
    os.utime(os.path.join(folder, old), (time.time() - 7200,) * 2)
    names = sorted(f"a/{name}" for name in (ours, another, old, ".zarray.partial"))
    found = zarr.verify(root.store)
    assert (found.ok, found.leftovers, found.removed) == (True, names, [])
    cleaned = zarr.verify(root.store, clean=True)
    assert cleaned.removed == [name for name in names if "4711" not in name]
    assert zarr.verify(root.store).leftovers == [f"a/{another}"]
    assert root["a"][0, 1] == 1


def _append(path, stop):
    z = zarr.open_array(path, mode="r+")
    number = 0
    while not stop.is_set():
        z[number % 20] = number
        number += 1


def test_cleaning_takes_nothing_from_writers_at_work(root):
    """No write may fail because its file was removed under it, and none may be torn."""
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    path = os.path.join(root.store.path, "a")
    writers = [context.Process(target=_append, args=(path, stop)) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(30):
            assert zarr.verify(root.store, clean=True).ok
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]


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


class Unread(dict):
    """A mapping that cannot read one value."""

    key, error = "", PermissionError(errno.EACCES, "Permission denied")

    def __getitem__(self, key):
        if key == self.key:
            raise self.error
        return super().__getitem__(key)


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


class _StoppedError(Exception):
    pass


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


def test_diff_names_nodes_metadata_attributes_and_chunks(root, tmp_path):
    other = zarr.open_group(tmp_path / "y.zarr", mode="w")
    zarr.copy_all(root, other)
    other.attrs.update(root.attrs.asdict())
    same = zarr.diff(root, other)
    assert (same.same, same.nodes, same.chunks, bool(same)) == (True, 4, 24, False)
    assert "no difference" in str(same)
    other["a"][7, 25] = -1
    other["a"].attrs["unit"] = "cm"
    other.create_dataset("d", shape=3, dtype="i4")
    other["b/c"].resize(20, 29)
    found = zarr.diff(root, other)
    assert [(d.path, d.kind, d.name) for d in found.differences] == [
        ("a", "attribute", "unit"),
        ("a", "chunk", "(1, 2)"),
        ("b/c", "metadata", "shape"),
        ("d", "node", "kind"),
    ]
    assert "/a chunk (1, 2)" in str(found)
    assert json.loads(found.to_json())["same"] is False


def test_arrays_that_read_the_same_differ_only_in_how_they_are_stored(tmp_path):
    values = np.array([1.0, np.nan, -0.0, 3.0])
    a = zarr.array(values, chunks=2)
    b = zarr.array(values, chunks=3, compressor=None)
    names = [(d.kind, d.name) for d in zarr.diff(a, b).differences]
    assert names == [("metadata", "chunks"), ("metadata", "codecs")]
    c = zarr.array(np.array([1.0, np.nan, 0.0, 3.0]), chunks=2)
    assert [str(d) for d in zarr.diff(a, c).differences] == ["/ chunk (1,)"]


def test_diff_looks_at_stored_chunks_and_not_at_those_that_could_be():
    a, b = (
        zarr.zeros((10**5, 10**5), chunks=(3, 3), dtype="u1", store=zarr.MemoryStore())
        for _ in range(2)
    )
    a[50, 70] = b[50, 70] = 1
    b[99_998:, 5] = 2
    found = zarr.diff(a, b)
    assert [one.name for one in found.differences] == ["(33332, 1)", "(33333, 1)"]
    assert found.chunks == 3
    b.store[".zarray"] = b.store[".zarray"].replace(b'"fill_value": 0', b'"fill_value": 1')
    assert ("metadata", "fill_value") in [(d.kind, d.name) for d in zarr.diff(a, b).differences]


def test_chunks_of_another_grid_are_compared_where_either_stores_something():
    values = np.zeros((40, 50), "i4")
    values[11, 12], values[39, 49] = 1, 2
    a, b = zarr.array(values, chunks=(7, 50)), zarr.array(values, chunks=(16, 9))
    for one in (a, b):
        for key, _ in one._io.stored_chunks():
            if not one[one._metadata.chunk_region(one._io.stored_chunks([key])[0][1])].any():
                del one.store[key]
    assert [d.kind for d in zarr.diff(a, b).differences] == ["metadata"]
    b[20, 20], a[30, 0] = 5, 6
    chunks = [d.name for d in zarr.diff(a, b).differences if d.kind == "chunk"]
    assert chunks == ["(2, 0)", "(4, 0)"]


def test_diff_of_broken_metadata_is_an_error_of_this_package(root):
    root.store["a/.zarray"] = b"{"
    with pytest.raises(zarr.errors.ZarrixError, match=r"cannot compare: .*a/\.zarray"):
        zarr.diff(root, zarr.group())


def test_diff_and_digests_tell_how_far_they_are(root):
    seen = []
    zarr.diff(root, root, progress=lambda done, total: seen.append((done, total)))
    assert [one for one in seen if one[0] == one[1]] == [(7, 7), (7, 7), (48, 48)]
    seen.clear()
    zarr.digests(root, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (31, 31)


def test_the_progress_is_told_and_drawn(root, capsys):
    seen = []
    zarr.verify(root.store, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (24, 24)
    zarr.verify(root.store, progress=True)
    assert "24 of 24 chunks" in capsys.readouterr().err


def test_the_command_line_says_it_by_text_json_and_exit_code(root, capsys):
    path = root.store.path
    assert main(["verify", path]) == 0
    assert "all is well" in capsys.readouterr().out
    root.store["a/0.0"] = b"no chunk"
    assert main(["verify", path, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["problems"][0]["key"] == "a/0.0"
    assert main(["diff", path, path]) == 0
    assert main(["diff", path, f"{path}/a"]) == 3
    assert "/a node kind: array / absent" in capsys.readouterr().out
    assert main(["repair", path]) == 0
    assert "a/0.0 -> a/0.0.broken" in capsys.readouterr().out
    assert main(["verify", path, "--clean"]) == 3
    assert "'a/0.0.broken' was put aside" in capsys.readouterr().out
    del root.store["a/0.0.broken"]
    assert main(["verify", path, "--clean"]) == 0
    assert main(["verify", "not/there"]) == 1


def test_stores_in_memory_are_verified_and_repaired_too():
    store = zarr.MemoryStore()
    z = zarr.open_array(store, mode="w", shape=6, chunks=2, dtype="i4", compressor=None)
    z[:] = 1
    store["1"] = b"short"
    assert [p.key for p in zarr.verify(store).problems] == ["1"]
    zarr.repair(store)
    assert z[:].tolist() == [1, 1, 0, 0, 1, 1]


def test_a_folder_that_was_set_aside_to_be_deleted_is_a_leftover(root):
    folder = root.store.path
    aside = os.path.join(folder, "gone.4711-0.partial")
    shutil.copytree(os.path.join(folder, "a"), aside)
    os.symlink(os.path.join(folder, "a"), os.path.join(aside, "link"))
    assert zarr.verify(root.store).leftovers == ["gone.4711-0.partial"]
    assert zarr.verify(root.store, clean=True).removed == []
    os.utime(aside, (0, 0))
    assert zarr.verify(root.store, clean=True).removed == ["gone.4711-0.partial"]
    assert not os.path.exists(aside)
    assert zarr.verify(root.store).ok


def test_digests_name_what_was_swapped_changed_lost_or_came(root):
    def swap(a, b):
        root.store[a], root.store[b] = root.store[b], root.store[a]

    def told():
        found = zarr.verify(root.store, digests=before)
        return {problem.key: str(problem) for problem in found.problems}

    before = zarr.digests(root)
    assert list(before) == sorted(root.store)
    assert told() == {}
    swap("a/0.0", "a/1.2")
    assert zarr.verify(root.store).ok
    assert list(told()) == ["a/0.0", "a/1.2"]
    swap("a/0.0", "a/1.2")
    del root.store["a/3.1"]
    root.attrs["title"] = "another"
    root["b/c"].attrs.clear()
    root.create_group("new")
    assert told() == {
        ".zattrs": "'.zattrs' is not what the digests say was stored",
        "a/3.1": "'a/3.1' is gone; the digests have it",
        "b/c/.zattrs": "'b/c/.zattrs' is not what the digests say was stored",
        "new/.zgroup": "'new/.zgroup' is new; the digests do not have it",
    }
    inside = zarr.digests(root, path="a")
    assert set(inside) == {key for key in root.store if key.startswith("a/")}
    assert zarr.verify(root.store, path="a", digests=inside).ok


def test_the_command_line_writes_digests_and_compares_with_them(root, tmp_path, capsys):
    file = tmp_path / "digests.json"
    assert main(["verify", root.store.path, "--write-digests", str(file)]) == 0
    assert json.loads(file.read_text()) == zarr.digests(root)
    assert main(["verify", root.store.path, "--digests", str(file)]) == 0
    root["a"][0, 0] = -1
    assert main(["verify", root.store.path, "--digests", str(file)]) == 3
    assert "broken (digest): 'a/0.0' is not what the digests say" in capsys.readouterr().out
