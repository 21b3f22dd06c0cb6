"""Verify: everything is looked at, and what is broken is named."""

import json
import multiprocessing
import os
import shutil
import time

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main


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
