"""``durability="fsync"``: as argument, setting and environment, seen by the system's calls."""

import os
import pickle
import re
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import zarrix as zarr
from power_loss import needs_strace, run_traced
from zarrix._array.access import syncs_of


def calls(folder, program, **environment):
    """The calls that a program makes on files below ``folder/x.zarr``, after it printed a line."""
    script = "import os, sys, numpy as np, zarrix as zarr\nPATH = sys.argv[1]\n"
    path = str(folder / "x.zarr")
    trace = folder / "trace"
    changes = ("fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink", "unlinkat")
    names = ",".join((*changes, "openat", "mkdir", "write", "pwrite64"))
    command = ["-c", script + textwrap.dedent(program), path]
    run_traced(command, trace, ["-e", f"trace={names}"], environment)
    found = []
    for line in trace.read_text().splitlines():
        call = re.search(r"(\w+)\((.*)", line)
        if call is None:
            continue
        if "begin" in line and call[1] == "write":
            found.clear()
        elif path in line and call[1] in changes:
            # A name in an open directory is the same as its path.
            line = re.sub(r'\d+<([^>]*)>, "([^"]*)"', r'"\1/\2"', line)
            inside = re.findall(rf"{re.escape(path)}([^\">]*)", line)
            names = (
                re.sub(r"\.(\d+-)?[0-9a-f]{16}\.partial$", ".NUMBER.partial", name)
                for name in inside
            )
            found.append((call[1], *names))
    return found


WRITE = """
z = zarr.open_array(PATH, mode="w", shape=8, chunks=4, dtype="i4"{argument})
os.write(2, b"begin")
z[:4] = 1
"""


@needs_strace
@pytest.mark.parametrize(
    ("argument", "environment"),
    [
        (', durability="fsync"', {}),
        (', durability="fsync"', {"ZARRIX_DURABILITY": "process"}),
        ("", {"ZARRIX_DURABILITY": "fsync"}),
    ],
)
def test_file_and_directory_are_synced_around_the_rename(tmp_path, argument, environment):
    found = calls(tmp_path, WRITE.format(argument=argument), **environment)
    assert found == [
        ("fsync", "/0.NUMBER.partial"),
        ("rename", "/0.NUMBER.partial", "/0"),
        ("fsync", ""),
    ]


@needs_strace
@pytest.mark.parametrize(
    ("argument", "environment"),
    [("", {}), (', durability="process"', {"ZARRIX_DURABILITY": "fsync"})],
)
def test_nothing_is_synced_unless_asked_for(tmp_path, argument, environment):
    found = calls(tmp_path, WRITE.format(argument=argument), **environment)
    assert found == [("rename", "/0.NUMBER.partial", "/0")]


@needs_strace
def test_documents_new_directories_and_deletions_are_synced_too(tmp_path):
    program = """
    os.write(2, b"begin")
    root = zarr.open_group(PATH, mode="w", durability="fsync")
    z = root.create_dataset("a", shape=4, chunks=4, dtype="i4", write_empty_chunks=False)
    z.attrs["unit"] = "mm"
    z[:] = 1
    z[:] = 0
    """
    found = calls(tmp_path, program)
    renamed = [call[2] for call in found if call[0] == "rename"]
    assert renamed == ["/.zgroup", "/a/.zarray", "/a/.zattrs", "/a/0"]
    for number, call in enumerate(found):
        if call[0] == "rename":
            assert ("fsync", call[1]) in found[:number]
            assert ("fsync", os.path.dirname(call[2]).rstrip("/")) in found[number:]
    assert found[-2:] == [("unlink", "/a/0"), ("fsync", "/a")]


def syncs(array):
    return syncs_of(array)


def test_the_argument_is_taken_by_all_that_opens_or_creates(tmp_path):
    path = tmp_path / "x.zarr"
    opened = [
        zarr.open(path / "1", mode="w", shape=3, durability="fsync"),
        zarr.open_array(path / "1", mode="r+", durability="fsync"),
        zarr.create(3, store=path / "2", durability="fsync"),
        zarr.zeros(3, store=path / "3", durability="fsync"),
        zarr.array([1, 2], store=path / "4", durability="fsync"),
        zarr.create_array(path / "5", shape=3, durability="fsync"),
        zarr.open_group(path / "6", mode="w", durability="fsync").zeros("a", shape=3),
        zarr.group(path / "7", durability="fsync").require_dataset("a", shape=3, dtype="i4"),
        zarr.create_group(path / "8", durability="fsync").create_array("a", shape=3, dtype="i4"),
        zarr.open(path / "6", mode="r+", durability="fsync")["a"],
    ]
    assert [syncs(z) for z in opened] == [True] * len(opened)
    assert [syncs(pickle.loads(pickle.dumps(z))) for z in opened] == [True] * len(opened)
    assert not syncs(zarr.open(path / "1"))
    with pytest.raises(ValueError, match="durability must be 'process' or 'fsync', not 'power'"):
        zarr.open(path / "1", durability="power")


def test_the_setting_takes_effect_at_once_where_no_argument_was_given(tmp_path):
    plain = zarr.open_array(tmp_path / "x.zarr", mode="w", shape=3)
    kept = zarr.open_array(tmp_path / "x.zarr", durability="process")
    with zarr.config(durability="fsync"):
        assert (syncs(plain), syncs(kept)) == (True, False)
        assert syncs(zarr.open_array(tmp_path / "x.zarr"))
    assert (syncs(plain), syncs(kept)) == (False, False)


def test_the_argument_leaves_the_store_that_was_passed_as_it_is():
    store = zarr.MemoryStore()
    z = zarr.open_array(store, mode="w", shape=3, durability="fsync")
    z[:] = [1, 2, 3]
    assert (store.syncs, z.store.syncs) == (False, True)
    assert np.array_equal(zarr.open_array(store)[:], [1, 2, 3])
    assert z.store == store


@needs_strace
def test_a_member_that_is_deleted_or_moved_stays_so(tmp_path):
    program = """
    root = zarr.open_group(PATH, mode="w", durability="fsync")
    root.zeros("a", shape=4, chunks=4)
    root.zeros("b", shape=4, chunks=4)
    root.create_group("g")
    os.write(2, b"begin")
    del root["a"]
    root.move("b", "g/c")
    """
    found = calls(tmp_path, program)
    aside = next(call[2] for call in found if call[:2] == ("renameat", "/a"))
    assert aside == "/a.NUMBER.partial"
    # Atomic: a reader finds the complete array or none of it.
    at = found.index(("renameat", "/a", aside))
    assert [call for call in found[:at] if call[0].startswith("unlink")] == []
    assert ("fsync", "") in found[at:]
    moved = next(i for i, call in enumerate(found) if call[1:] == ("/b", "/g/c"))
    assert found[moved + 1 :] == [("fsync", "/g"), ("fsync", "")]


@pytest.mark.parametrize("path", ["", "x"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_deletion_that_is_killed_leaves_all_of_an_array_or_none(
    tmp_path, path, zarr_format, is_long
):
    """Also at the root, which cannot be renamed."""
    program = f"""
    import os, sys, numpy as np, zarrix as zarr
    keywords = dict(shape=400, chunks=1, dtype="i2", compressor=None, zarr_format={zarr_format})
    z = zarr.create(store=sys.argv[1], path={path!r}, **keywords)
    z[:] = 1
    print("made", flush=True)
    z.store.rmdir({path!r})
    """
    for number in range(8) if is_long else (0, 2, 5):
        folder = tmp_path / str(number)
        command = [sys.executable, "-c", textwrap.dedent(program), folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
            assert child.stdout.readline() == b"made\n"
            time.sleep(0.0004 * number)
            child.kill()
        place = folder / path
        try:
            left = zarr.open_array(place, mode="r")
        except zarr.errors.ArrayNotFoundError:
            continue
        assert (left[:] == 1).all()
