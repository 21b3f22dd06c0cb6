"""`sync_store` with hostile ledgers, with commits in the source, and with faults of systems."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hierarchy.syncs import files, new_tree, settle
from zarrix._hierarchy import sync_moves
from zarrix._metadata.intent import Intent
from zarrix._stores.bandwidth import Bandwidth
from zarrix._stores.keys import COMMIT_INTENT, COMMIT_MEMBER
from zarrix.errors import InvalidKeyError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "zarrix" / "sync"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    new_tree(zarr.DirectoryStore(tmp_path / "a.zarr"), 3)
    settle(tmp_path / "a.zarr")
    return tmp_path / "a.zarr"


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "b.zarr"


def only_ledger(cache: Path) -> Path:
    (found,) = cache.glob("*.ledger")
    return found


def test_a_ledger_is_private_and_has_no_address(source: Path, dest: Path, cache: Path) -> None:
    zarr.sync_store(source, dest)
    assert cache.stat().st_mode & 0o077 == 0
    assert b"a.zarr" not in only_ledger(cache).read_bytes()


@pytest.mark.parametrize("size", [0, 10, 99, 100, 4096, 5000, 8192])
def test_a_ledger_that_was_cut_off_changes_no_result(
    source: Path, dest: Path, cache: Path, size: int
) -> None:
    zarr.sync_store(source, dest)
    ledger = only_ledger(cache)
    os.truncate(ledger, size)
    zarr.open(source)["inner/t2m"][0, 0] = 5
    assert zarr.sync_store(source, dest, delete=True).replaced == 1
    assert files(dest) == files(source)
    settle(source)
    for _ in range(2):
        zarr.sync_store(source, dest)
    with closing(sqlite3.connect(ledger)) as database, database:
        assert database.execute("SELECT count(*) FROM rows").fetchone() == (len(files(source)),)


def test_a_ledger_with_garbage_in_it_changes_no_result(
    source: Path, dest: Path, cache: Path
) -> None:
    zarr.sync_store(source, dest)
    ledger = only_ledger(cache)
    whole = ledger.read_bytes()
    for start in range(0, len(whole), 512):
        ledger.write_bytes(whole[:start] + b"\xff" * 512 + whole[start + 512 :])
        zarr.open(source)["inner/t2m"][0, 0] = start + 2
        assert zarr.sync_store(source, dest, delete=True).is_complete
        assert files(dest) == files(source)


def test_a_ledger_of_other_places_is_not_used(
    source: Path, dest: Path, cache: Path, tmp_path: Path
) -> None:
    zarr.sync_store(source, tmp_path / "c.zarr", ledger=tmp_path / "mine.ledger")
    # Rows that would make every value equal.
    zarr.sync_store(source, dest)
    key = next(key for key in files(dest) if key.startswith("inner/t2m/c/"))
    (dest / key).write_bytes(bytes(len(files(dest)[key])))
    status = (dest / key).stat()
    with closing(sqlite3.connect(tmp_path / "mine.ledger")) as database, database:
        tag = f"{status.st_mtime_ns:x}-{status.st_ino:x}"
        database.execute("UPDATE rows SET dest = ? WHERE key = ?", (tag, key))
    counts = zarr.sync_store(source, dest, ledger=tmp_path / "mine.ledger")
    assert counts.replaced == 1
    assert files(dest) == files(source)


def test_a_ledger_of_a_later_version_is_left_alone(
    source: Path, dest: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "mine.ledger"
    zarr.sync_store(source, dest, ledger=ledger)
    with closing(sqlite3.connect(ledger)) as database, database:
        database.execute("PRAGMA user_version = 9")
    before = ledger.read_bytes()
    zarr.open(source)["inner/t2m"][0, 0] = 5
    assert zarr.sync_store(source, dest, ledger=ledger).replaced == 1
    assert ledger.read_bytes() == before


def test_a_ledger_with_triggers_and_views_is_replaced(
    source: Path, dest: Path, tmp_path: Path
) -> None:
    ledger = tmp_path / "mine.ledger"
    zarr.sync_store(source, dest, ledger=ledger)
    with closing(sqlite3.connect(ledger)) as database, database:
        database.execute("ALTER TABLE rows RENAME TO others")
        database.execute("CREATE VIEW rows AS SELECT * FROM others")
    assert zarr.sync_store(source, dest, ledger=ledger).is_complete
    with closing(sqlite3.connect(ledger)) as database, database:
        kinds = {row[0] for row in database.execute("SELECT type FROM sqlite_schema")}
    assert kinds == {"table"}


def test_a_file_that_is_not_a_ledger_is_not_overwritten(
    source: Path, dest: Path, tmp_path: Path
) -> None:
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("years " * 100)
    others = tmp_path / "others.sqlite"
    with closing(sqlite3.connect(others)) as database, database:
        database.execute("CREATE TABLE mine (a)")
    for path in (thesis, others):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=r"is not a ledger"):
            zarr.sync_store(source, dest, ledger=path)
        assert path.read_bytes() == before


def test_without_a_cache_folder_there_is_no_ledger(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    for _ in range(2):
        assert zarr.sync_store(source, dest).is_complete
    assert files(dest) == files(source)


def test_two_syncs_at_once(source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one runs from beginning to end while the first one copies its first value."""
    whole = sync_moves.Mover._copy
    begun: list[Any] = []

    def copy(self: Any, *arguments: Any) -> Any:
        if not begun:
            begun.append(None)
            begun[0] = zarr.sync_store(source, dest, delete=True)
        return whole(self, *arguments)

    monkeypatch.setattr(sync_moves.Mover, "_copy", copy)
    counts = zarr.sync_store(source, dest, delete=True, workers=1)
    assert files(dest) == files(source)
    assert begun[0].is_complete
    assert counts.copied + counts.n_kept == len(files(source))
    assert zarr.sync_store(source, dest, delete=True).is_complete


_DIES = """
import os, sys
import zarrix as zarr
from zarrix._hierarchy import ledger, sync_moves

source, dest, step, number = *sys.argv[1:4], int(sys.argv[4])
ledger._FLUSH_SECONDS = -1.0
cls = ledger.Ledger if step == "flush" else sync_moves.Mover
whole, asked = getattr(cls, step), []

def dies(self, *arguments):
    asked.append(1)
    if step == "flush" and len(asked) > number:
        # In the middle of a transaction, when its rows are written and not yet complete.
        self._database.execute("INSERT INTO rows VALUES ('x', 1, 'a', 'b')")
        os._exit(9)
    result = whole(self, *arguments)
    if len(asked) > number:
        os._exit(9)
    return result

setattr(cls, step, dies)
if step == "_put":
    # Otherwise new files are copied many at once.
    cls.gathers = lambda self, pair: False
zarr.sync_store(source, dest, delete=True, workers=1)
"""


@pytest.mark.parametrize(
    ("step", "number"),
    [("_put", 0), ("_put", 6), ("_copied_together", 0), ("delete", 0), ("flush", 4)],
)
def test_a_process_that_dies_leaves_what_the_next_one_continues(
    source: Path, dest: Path, tmp_path: Path, step: str, number: int
) -> None:
    if step == "delete":
        zarr.sync_store(source, dest)
        zarr.open(dest)["more"] = np.arange(9)
    command = [sys.executable, "-c", _DIES, str(source), str(dest), step, str(number)]
    assert subprocess.run(command, timeout=120, check=False).returncode == 9
    assert files(dest) != files(source) or step == "flush"
    counts = zarr.sync_store(source, dest, delete=True)
    assert files(dest) == files(source)
    if step == "_put":
        assert counts.unchanged >= number
    assert zarr.sync_store(source, dest).unchanged == len(files(source))


@pytest.mark.parametrize("number", [0, 3, 8])
@pytest.mark.parametrize("together", [0, 2])
def test_a_full_disk_is_an_error_and_the_next_sync_continues(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch, number: int, together: int
) -> None:
    whole, whole_together = sync_moves.Mover._put, sync_moves.Mover._copied_together
    asked: list[int] = []

    def copied_together(self: Any, pairs: Any) -> Any:
        # The engine tells of no error: the others are asked for one by one.
        found = whole_together(self, pairs[:together])
        asked.extend([1] * len(found))
        return found

    def put(self: Any, *arguments: Any) -> Any:
        asked.append(1)
        if len(asked) > number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return whole(self, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(sync_moves.Mover, "_put", put)
        patched.setattr(sync_moves.Mover, "_copied_together", copied_together)
        with pytest.raises(OSError, match="No space left"):
            zarr.sync_store(source, dest)
    done = max(number, together)
    assert zarr.sync_store(source, dest).copied == len(files(source)) - done
    assert files(dest) == files(source)


def test_the_intent_of_a_commit_and_what_it_creates_are_not_copied(
    source: Path, dest: Path
) -> None:
    zarr.sync_store(source, dest)
    root = zarr.open(source)
    root["new"] = np.arange(3)
    array = root["inner/t2m"]
    array.store["inner/t2m/0/0"] = b"of another key space"
    intent = Intent(
        "1", "", 3, creates=["new"], flips={"inner/t2m": ("default/", "v2/")}, documents=None
    )
    (source / COMMIT_INTENT).write_bytes(intent.encode())
    before = files(dest)
    (dest / COMMIT_INTENT).write_bytes(b"of a commit in the destination")
    counts = zarr.sync_store(source, dest, delete=True)
    assert counts.is_complete
    assert not any(key.startswith("new/") for key in files(dest))
    assert "inner/t2m/0/0" not in files(dest)
    assert (dest / COMMIT_INTENT).read_bytes() == b"of a commit in the destination"
    (dest / COMMIT_INTENT).unlink()
    assert set(files(dest)) == set(before)
    # A part of the hierarchy, whose intent is above it.
    part = dest.with_name("part.zarr")
    zarr.sync_store(source / "inner", part)
    assert "t2m/0/0" not in files(part)
    (source / COMMIT_INTENT).unlink()
    zarr.sync_store(source, dest, delete=True)
    assert files(dest) == files(source)


def test_old_key_spaces_wait_for_their_sweep_and_a_claim_is_removed(
    source: Path, dest: Path
) -> None:
    zarr.sync_store(source, dest)
    old = {key for key in files(source) if key.startswith("inner/t2m/c/")}
    document = json.loads((source / "zarr.json").read_bytes())
    sweep = [{"path": "inner/t2m", "space": "default/", "since": "2026-11-24T18:20:00Z"}]
    claim = {"id": "91d0", "beat": 3, "intent": {"creates": ["new"], "flips": {}}}
    member = {"id": "8c1f", "claim": claim, "sweep": sweep}
    document["consolidated_metadata"][COMMIT_MEMBER] = member
    (source / "zarr.json").write_text(json.dumps(document))
    for key in old:
        (source / key).write_bytes(b"late")
    zarr.open(source, mode="r+").create_array("new", shape=3, dtype="i4")
    document["consolidated_metadata"]["metadata"] = json.loads((source / "zarr.json").read_bytes())[
        "consolidated_metadata"
    ]["metadata"]
    (source / "zarr.json").write_text(json.dumps(document))
    before = files(dest)
    for _ in range(2):
        zarr.sync_store(source, dest, delete=True)
        # Handles of the copy may still read them.
        assert all(files(dest)[key] == before[key] for key in old)
        stored = json.loads((dest / "zarr.json").read_bytes())
        assert stored["consolidated_metadata"][COMMIT_MEMBER] == {**member, "claim": None}
        assert "new/zarr.json" not in files(dest)
    document["consolidated_metadata"][COMMIT_MEMBER] = {"id": "8c1f", "claim": None, "sweep": []}
    (source / "zarr.json").write_text(json.dumps(document))
    for key in old:
        (source / key).unlink()
    zarr.sync_store(source, dest)
    assert files(dest) == files(source)


@pytest.mark.parametrize("member", [[], 5, {"sweep": 1}, {"claim": {"intent": {"flips": [1]}}}])
def test_a_hostile_member_names_nothing(source: Path, dest: Path, member: Any) -> None:
    document = json.loads((source / "zarr.json").read_bytes())
    document["consolidated_metadata"][COMMIT_MEMBER] = member
    (source / "zarr.json").write_text(json.dumps(document))
    (source / COMMIT_INTENT).write_bytes(b"{}")
    assert zarr.sync_store(source, dest, delete=True).is_complete
    assert set(files(dest)) == set(files(source)) - {COMMIT_INTENT}


def test_partial_files_are_not_copied(source: Path, dest: Path) -> None:
    (source / "inner" / "0.12-0123456789abcdef.partial").write_bytes(b"half")
    zarr.sync_store(source, dest)
    assert not list(dest.rglob("*.partial"))
    assert zarr.sync_store(source, dest, delete=True).is_complete


def test_keys_that_would_leave_the_destination_are_an_error(dest: Path) -> None:
    for key in ("../outside", "/root", "c/../../d", "a\\..\\b"):
        with pytest.raises(InvalidKeyError):
            zarr.sync_store(zarr.KVStore({"0": b"1", key: b"2"}), dest)
        assert files(dest.parent) == {}


def test_keys_that_a_folder_cannot_have_together_are_told(dest: Path) -> None:
    counts = zarr.sync_store(zarr.KVStore({"a": b"1", "a/b": b"2", "c": b"3"}), dest, workers=1)
    assert list(counts.kept) == ["a/b"]
    assert files(dest) == {"a": b"1", "c": b"3"}


def test_values_in_flight_are_bounded() -> None:
    budget = sync_moves.Budget(100)
    events: list[str] = []
    begun = threading.Event()

    def other(nbytes: int, name: str) -> None:
        begun.set()
        with budget.of(nbytes):
            events.append(name)

    with budget.of(60):
        late = threading.Thread(target=other, args=(50, "second"))
        late.start()
        assert begun.wait(60)
        with budget.of(40):
            events.append("first")
    late.join(60)
    assert events == ["first", "second"]
    # One that is longer than all of it goes alone.
    with budget.of(1000):
        alone = threading.Thread(target=other, args=(1, "third"))
        alone.start()
        events.append("long")
    alone.join(60)
    assert events == ["first", "second", "long", "third"]


def test_bandwidth_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is taken in a time is the rate times that time, and a burst at its beginning."""
    now = [0.0]
    monkeypatch.setattr("zarrix._stores.bandwidth.time.monotonic", lambda: now[0])

    class Ended(threading.Event):
        def wait(self, seconds: float | None = None) -> bool:
            now[0] += seconds or 0
            return False

    bandwidth = Bandwidth(1000.0, Ended())
    now[0] = 10.0
    for _ in range(100):
        bandwidth.take(100)
    assert now[0] == pytest.approx(10.0 + 10 - 0.25)
    Bandwidth(None, Ended()).take(10**12)
    assert now[0] == pytest.approx(19.75)


def test_a_sync_with_a_bandwidth_copies_everything(source: Path, dest: Path) -> None:
    zarr.sync_store(source, dest, bandwidth="1MiB")
    assert files(dest) == files(source)
    with pytest.raises(ValueError, match="bandwidth"):
        zarr.sync_store(source, dest, bandwidth="fast")
