"""Values that get another key by a clone, a link or a copy, and paths that are exchanged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from preloaded import run_with_failing_calls
from zarrix import _engine

WRITES = 0o222


def store_of(folder: Path, **values: bytes) -> _engine.LocalStore:
    store = _engine.LocalStore(str(folder))
    for key, value in values.items():
        store.put(key, value)
    return store


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_link_is_the_same_file_and_nobody_may_write_into_it(tmp_path: Path) -> None:
    store = store_of(tmp_path, old=b"12345")
    before = (tmp_path / "old").stat()
    (row,) = store.carry([("old", "a/new")], "link")
    assert row == ("link", 5, f"{before.st_mtime_ns:x}-{before.st_ino:x}")
    assert (tmp_path / "a/new").samefile(tmp_path / "old")
    assert mode(tmp_path / "old") & WRITES == 0
    store.put("old", b"other")
    assert store.get("a/new") == b"12345"
    assert mode(tmp_path / "old") & WRITES


def test_without_the_guard_the_mode_stays(tmp_path: Path) -> None:
    store = store_of(tmp_path, old=b"1")
    before = mode(tmp_path / "old")
    store.carry([("old", "new")], "link", guard=False)
    assert mode(tmp_path / "new") == before


@pytest.mark.parametrize("how", ["auto", "copy"])
def test_a_value_is_carried_by_what_the_file_system_has(tmp_path: Path, how: str) -> None:
    store = store_of(tmp_path, old=b"1" * 300_000)
    before = (tmp_path / "old").stat()
    (row,) = store.carry([("old", "new")], how, fsync=True)
    assert row
    assert row[0] in (("copy",) if how == "copy" else ("clone", "link"))
    assert store.get("new") == b"1" * 300_000
    # A later change in place shows, whichever way it was.
    assert (tmp_path / "new").stat().st_mtime_ns == before.st_mtime_ns
    assert row[2] == f"{before.st_mtime_ns:x}-{before.st_ino:x}"


@pytest.mark.parametrize("how", ["link", "copy"])
def test_a_name_that_is_taken_is_replaced(tmp_path: Path, how: str) -> None:
    store = store_of(tmp_path, old=b"1", new=b"2")
    for _ in range(2):
        store.carry([("old", "new")], how)
        assert store.get("new") == b"1"
        assert sorted(os.listdir(tmp_path)) == ["new", "old"]


def test_what_is_missing_is_none(tmp_path: Path) -> None:
    store = store_of(tmp_path, a=b"1")
    for how in ("auto", "link", "copy"):
        assert store.carry([("no", "b"), ("x/y", "c")], how) == [None, None]
    assert os.listdir(tmp_path) == ["a"]


def test_a_symbolic_link_is_copied(tmp_path: Path) -> None:
    store = store_of(tmp_path, a=b"1")
    (tmp_path / "s").symlink_to("a")
    (row,) = store.carry([("s", "b/c")], "link")
    assert row
    assert row[0] == "copy"
    assert not (tmp_path / "b/c").is_symlink()
    assert store.get("b/c") == b"1"


def test_many_are_carried_in_one_call(tmp_path: Path) -> None:
    store = store_of(tmp_path, **{str(n): b"%d" % n for n in range(1000)})
    rows = store.carry([(str(n), f"c/{n}") for n in range(1000)], "auto")
    assert None not in rows
    assert [store.get(f"c/{n}") for n in range(1000)] == [b"%d" % n for n in range(1000)]


def test_a_released_file_has_the_permissions_that_it_had(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    store = store_of(tmp_path, a=b"1", b=b"2", c=b"3")
    modes = {"a": 0o664, "b": 0o600, "c": 0o660}
    for key, permissions in modes.items():
        (tmp_path / key).chmod(permissions)
    store.carry([(key, f"v/{key}") for key in modes], "link")
    # As long as there is another name, the guard stays.
    assert store.release(list(modes)) == 0
    for key in modes:
        (tmp_path / "v" / key).unlink()
    assert store.release([*modes, "missing"]) == 3
    assert {key: mode(tmp_path / key) for key in modes} == modes


def test_a_memory_store_carries_values(tmp_path: Path) -> None:
    store = _engine.MemoryStore()
    store.put("a", b"12")
    assert store.carry([("a", "b"), ("c", "d")], "auto") == [("copy", 2, "0-0"), None]
    assert store.get("b") == b"12"


def test_keys_and_ways_are_checked(tmp_path: Path) -> None:
    store = store_of(tmp_path, a=b"1")
    with pytest.raises(ValueError, match=r"\.\."):
        store.carry([("a", "../b")], "auto")
    with pytest.raises(ValueError, match="symlink"):
        store.carry([("a", "b")], "symlink")


def test_two_folders_are_exchanged(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "value").write_text(name)
    _engine.exchange(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (tmp_path / "a/value").read_text() == "b"
    assert (tmp_path / "b/value").read_text() == "a"
    with pytest.raises(FileNotFoundError) as raised:
        _engine.exchange(str(tmp_path / "a"), str(tmp_path / "c"))
    assert raised.value.filename2 == str(tmp_path / "c")


CLONED = """
import errno, os, sys
from zarrix import _engine

os.environ |= {"FAIL_PATH": sys.argv[1], "CLONES": "1"}
store = _engine.LocalStore(sys.argv[1] + "/a.zarr")
store.put("a", b"1" * 100_000)
for number in (None, "EOPNOTSUPP", "EPERM", "EXDEV", "EIO"):
    for how in ("auto", "clone"):
        if number:
            os.environ |= {"FAIL_ERRNO": str(getattr(errno, number)), "FAIL_CALL": "clone"}
        to = f"{number}{how}"
        try:
            print(number, how, store.carry([("a", to)], how)[0][0], store.get(to) == store.get("a"))
        except OSError as error:
            print(number, how, errno.errorcode[error.errno], store.get(to) is None)
print(*[name for name in os.listdir(store.root) if "partial" in name])
"""


@pytest.mark.skipif(os.name == "nt", reason="calls are replaced by a preloaded library")
def test_a_clone_is_tried_first(tmp_path: Path) -> None:
    done = run_with_failing_calls(CLONED, tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "None auto clone True",
        "None clone clone True",
        "EOPNOTSUPP auto link True",
        "EOPNOTSUPP clone ENOTSUP True",
        "EPERM auto link True",
        "EPERM clone copy True",
        "EXDEV auto link True",
        "EXDEV clone EXDEV True",
        "EIO auto EIO True",
        "EIO clone EIO True",
        "",
    ]


REFUSED = """
import errno, os, sys
from zarrix import _engine

os.environ["FAIL_PATH"] = sys.argv[1]
for number in ("EMLINK", "EPERM", "EXDEV", "EOPNOTSUPP", "ENOSPC"):
    for how in ("auto", "link"):
        folder = os.path.join(sys.argv[1], number + how)
        store = _engine.LocalStore(folder)
        store.put("a", b"1")
        os.environ |= {"FAIL_ERRNO": str(getattr(errno, number)), "FAIL_CALL": "linkat"}
        try:
            ways = {row[0] for row in store.carry([("a", str(n)) for n in range(40)], how)}
            print(number, how, *ways, len(os.listdir(folder)))
        except OSError as error:
            print(number, how, errno.errorcode[error.errno], len(os.listdir(folder)))
        del os.environ["FAIL_CALL"]
"""


@pytest.mark.skipif(os.name == "nt", reason="calls are replaced by a preloaded library")
def test_a_refused_link_becomes_a_copy_or_an_error(tmp_path: Path) -> None:
    done = run_with_failing_calls(REFUSED, tmp_path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "EMLINK auto copy 41",
        "EMLINK link copy 41",
        "EPERM auto copy 41",
        "EPERM link copy 41",
        "EXDEV auto copy 41",
        "EXDEV link EXDEV 1",
        "EOPNOTSUPP auto copy 41",
        "EOPNOTSUPP link ENOTSUP 1",
        "ENOSPC auto ENOSPC 1",
        "ENOSPC link ENOSPC 1",
    ]
