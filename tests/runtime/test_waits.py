"""Waits for locks that others hold: Ctrl-C ends them, and a warning says who is waited for.

A holder is a process that has a lock until its standard input is closed. A waiter prints the
warning of its wait, and so tells that it waits. Where the system's locks are of whole files, every
lock of an array is that of its metadata file, and the system does not tell the holder.
"""

import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest
import zarrix as zarr
from waiting import line_of
from zarrix import _engine

# Against hanging only.
HANGS_S = 120

HOLDER = """
import fcntl, os, struct, sys
how, path, whole = sys.argv[1:]
descriptor = os.open(path, os.O_RDONLY if how == "flock" else os.O_RDWR)
if how == "flock" or whole == "True":
    fcntl.flock(descriptor, fcntl.LOCK_EX)
else:
    first, length = {"all": (1 << 40, 0), "chunks": ((1 << 40) + 1, 0)}[how]
    lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, first, length, 0)
    fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, lock)
print("held", flush=True)
sys.stdin.read()
"""
UPDATER = """
import sys, zarrix as zarr
from zarrix import storage
store = storage.SQLiteStore(sys.argv[1])
def change(old):
    print("held", flush=True)
    sys.stdin.read()
    return old
store.update_value(".zarray", change)
"""
WAITER = """
import sys, warnings, zarrix as zarr
from zarrix import _engine
work, path = sys.argv[1:]
_engine.warn_of_waits_after(0.1)
warnings.simplefilter("always")
warnings.showwarning = lambda message, *rest: print(message, flush=True)
try:
    exec(work)
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
if sys.stdin.read():
    exec(work)
    print("done", flush=True)
"""
CODEC = """
import sys, numcodecs, numcodecs.abc, zarrix as zarr
class Held(numcodecs.abc.Codec):
    codec_id = "held"
    def encode(self, value):
        if sys.argv[1] == "hold":
            print("held", flush=True)
            sys.stdin.read()
        return value
    def decode(self, value, out=None):
        return value
numcodecs.register_codec(Held)
"""
WAITS = {
    "whole chunk, gate": ("all", "zarr.open(path)[:4] = 1"),
    "whole chunk": ("chunks", "zarr.open(path)[:4] = 1"),
    "part of a chunk": ("chunks", "zarr.open(path)[1] = 1"),
    "many chunks": ("chunks", "zarr.config.threads = 3\nzarr.open(path)[:] = 1"),
    "points": ("chunks", "zarr.open(path).vindex[[0, 5, 9]] = 1"),
    "attributes": ("all", "zarr.open(path).attrs['a'] = 1"),
    "attributes, chunks": ("chunks", "zarr.open(path).attrs['a'] = 1"),
    "shape": ("chunks", "zarr.open(path).resize(20)"),
    "append": ("chunks", "zarr.open(path).append([1])"),
    "overwrite": ("chunks", "zarr.create(4, store=path, overwrite=True)"),
}


def started(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def holding(how, path):
    return started(HOLDER, how, path, _engine.LOCKS_ARE_WHOLE)


def check_interrupt(holder, waiter, told, *, knows_holder=not _engine.LOCKS_ARE_WHOLE):
    """Ctrl-C ends the wait; once the lock is free the same call is done."""
    try:
        assert line_of(holder) == "held"
        waiter = waiter()
        warning = line_of(waiter)
        assert told in warning
        known = f"process {holder.pid} (python" if knows_holder else "another process"
        assert f"which {known}" in warning
        os.kill(waiter.pid, signal.SIGINT)
        # Each thread that waits has warned.
        while (line := line_of(waiter)).startswith("waiting"):
            pass
        assert line == "interrupted"
        holder.communicate(timeout=HANGS_S)
        assert waiter.communicate("again", timeout=HANGS_S)[0].splitlines()[-1] == "done"
        assert waiter.returncode == 0
    finally:
        for process in (holder, waiter):
            if isinstance(process, subprocess.Popen):
                process.kill()
                process.wait()


@pytest.fixture
def path(tmp_path):
    zarr.create(12, chunks=4, dtype="i4", zarr_format=3, store=tmp_path / "x.zarr")
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends_the_wait_for_a_lock_that_another_process_holds(path, wait):
    how, work = WAITS[wait]
    holder = holding(how, path / "zarr.json")
    told = f"waiting for the lock of {path}/zarr.json for 1 s"
    check_interrupt(holder, lambda: started(WAITER, work, path), told)


def test_ctrl_c_ends_the_wait_for_a_directory_that_another_program_has_locked(tmp_path):
    holder = holding("flock", tmp_path)
    work = "zarr.open_group(path, mode='a', zarr_format=3)"
    told = f"waiting for the lock of {tmp_path}/zarr.json"
    check_interrupt(holder, lambda: started(WAITER, work, tmp_path), told)


def test_ctrl_c_ends_the_wait_for_the_lock_file_of_a_database(tmp_path):
    zarr.create(
        4, dtype="i4", zarr_format=2, store=zarr.SQLiteStore(tmp_path / "x.db")
    ).store.close()
    holder = started(UPDATER, tmp_path / "x.db")
    work = "zarr.open(zarr.SQLiteStore(path))[:] = 1"
    told = f"waiting for the lock of {tmp_path}/x.db"
    check_interrupt(holder, lambda: started(WAITER, work, tmp_path / "x.db"), told)


def test_the_lock_of_a_chunk_covers_the_array_only_where_the_system_locks_whole_files(tmp_path):
    path = tmp_path / "x.zarr"
    create = "zarr.create(8, chunks=4, dtype='i4', compressor=Held(), zarr_format=2, store=path)"
    subprocess.run(
        [sys.executable, "-c", f"{CODEC}\npath = sys.argv[2]\n{create}", "create", path], check=True
    )
    holder = started(f"{CODEC}\nzarr.open(sys.argv[2])[0] = 1", "hold", path)
    waiter = None
    try:
        assert line_of(holder) == "held"
        # The other chunk.
        work = CODEC + "zarr.open(path)[5] = 1"
        waiter = started(WAITER, work, path)
        if _engine.LOCKS_ARE_WHOLE:
            assert line_of(waiter).startswith(f"waiting for the lock of {path}/.zarray")
            holder.communicate(timeout=HANGS_S)
        assert line_of(waiter) == "done"
        if not _engine.LOCKS_ARE_WHOLE:
            assert holder.poll() is None
            holder.communicate(timeout=HANGS_S)
        waiter.communicate(timeout=HANGS_S)
    finally:
        for process in (holder, waiter):
            if process is not None:
                process.kill()
                process.communicate()
    read = subprocess.run(
        [sys.executable, "-c", f"{CODEC}\nprint(zarr.open(sys.argv[2])[:].tolist())", "read", path],
        check=True,
        capture_output=True,
        text=True,
    )
    assert read.stdout == "[1, 0, 0, 0, 0, 1, 0, 0]\n"


@pytest.mark.parametrize("kind", ["local", "memory", "mapping"])
def test_ctrl_c_ends_the_wait_for_a_lock_that_another_thread_holds(tmp_path, kind, monkeypatch):
    stores = {"local": tmp_path / "x.zarr", "memory": zarr.MemoryStore(), "mapping": {}}
    array = zarr.create(4, chunks=2, dtype="i4", zarr_format=3, store=stores[kind])
    held, release = threading.Event(), threading.Event()
    told = []

    def change(old):
        held.set()
        assert release.wait(HANGS_S)
        return old

    def interrupt(message, *rest):
        told.append(str(message))
        signal.raise_signal(signal.SIGINT)

    def is_interrupted(wait):
        before = len(told)
        with pytest.raises(KeyboardInterrupt):
            wait()
        assert len(told) > before

    holder = threading.Thread(target=array.store.update_value, args=("zarr.json", change))
    holder.start()
    _engine.warn_of_waits_after(0.1)
    try:
        assert held.wait(HANGS_S)
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            monkeypatch.setattr(warnings, "showwarning", interrupt)
            is_interrupted(lambda: array.__setitem__(0, 1))
            is_interrupted(lambda: array.__setitem__(slice(None), 1))
            is_interrupted(lambda: array.attrs.update(a=1))
    finally:
        _engine.warn_of_waits_after(10)
        release.set()
        holder.join()
    # A write of two chunks waits on two threads, and each of them may be first to tell.
    assert len(told) <= 4
    assert all("another thread of this process holds" in one for one in told)
    array[:] = 1
    assert array[:].tolist() == [1] * 4


def test_a_copy_to_where_no_array_is_waits_for_no_lock(path, tmp_path):
    zarr.open(path, mode="r+")[:] = range(12)
    (tmp_path / "copy.zarr").mkdir()
    with holding("flock", tmp_path / "copy.zarr") as holder:
        assert line_of(holder) == "held"
        copying = threading.Thread(target=zarr.copy_store, args=(path, tmp_path / "copy.zarr"))
        copying.start()
        copying.join(HANGS_S)
        is_waiting = copying.is_alive()
        holder.kill()
    copying.join(HANGS_S)
    assert not is_waiting
    assert zarr.open(tmp_path / "copy.zarr")[:].tolist() == list(range(12))
