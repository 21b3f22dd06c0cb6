"""Servers that go wrong: the right bytes or one clear error, in time, and nothing half-written."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from waiting import PATIENCE_S
from zarrix._stores.open import as_store
from zarrix.errors import CorruptChunkError

DATA = np.arange(4000, dtype="i4").reshape(40, 100)
# An operation goes on for at most the limit that its options set, and a last exchange; what it
# takes beyond that is the machine's. The server holds what it does not answer ten times as long.
LIMIT_S = 60

PASSING = [
    "500",
    "503",
    "503 slow down",
    "429",
    "reset",
    "reset in the body",
    "short body",
    "delay",
    "garbage",
]
LASTING = [
    "500",
    "503",
    "429",
    "reset",
    "reset in the body",
    "short body",
    "no answer",
    "endless trickle",
    "403",
    "garbage",
]


# Longer than what is ever read over, so that their index is asked for first.
LARGE = (10, 60_000)


KINDS = {
    "plain": {"chunks": (10, 25)},
    "shards": {"chunks": (5, 5), "shards": (10, 25)},
    "large shards": {"chunks": (10, 25), "shards": LARGE},
    "no codec": {"chunks": (10, 25), "compressors": None, "dtype": "f8"},
}


def stored(faulty, kind):
    """An array of 16 chunks on the faulty server, which is still right."""
    arguments = {"dtype": "i4", **KINDS[kind]}
    z = zarr.create_array(
        f"{faulty.url}/x.zarr", shape=DATA.shape, storage_options=faulty.options, **arguments
    )
    z[:] = DATA
    return z


@pytest.fixture(params=KINDS)
def array(request, faulty):
    return stored(faulty, request.param)


def impatient(faulty):
    options = {**faulty.options, "timeout": 1.5}
    return zarr.open(f"{faulty.url}/x.zarr", mode="r+", storage_options=options)


@contextlib.contextmanager
def each(kind, modes):
    """A server for each mode, with an array that is right."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(FaultyServer()) for _ in modes]
        yield servers, [stored(server, kind) for server in servers]


def at_once(work, *arguments):
    """What each call raises. Each has a thread: nearly all that they do is wait."""
    with ThreadPoolExecutor(len(arguments[0])) as pool:
        calls = [pool.submit(work, *given) for given in zip(*arguments, strict=True)]
        return [call.exception() for call in calls]


@pytest.mark.parametrize("kind", KINDS)
def test_what_passes_is_not_noticed(kind):
    expected = DATA.copy()
    expected[5:15, 20:30] = -1

    def work(faulty, array, mode):
        # Each fault costs a pause: in a row they come the first time only.
        for count, selection in ((3, np.s_[:]), (1, np.s_[3:37, 20:30])):
            faulty.mode, faulty.count, faulty.only = mode, count, ("GET",)
            np.testing.assert_array_equal(array[selection], DATA[selection])
            assert faulty.count == 0
        faulty.mode, faulty.count, faulty.only = mode, 1, ("GET", "PUT")
        array[5:15, 20:30] = -1
        faulty.mode = ""
        np.testing.assert_array_equal(array[:], expected)

    with each(kind, PASSING) as (servers, arrays):
        errors = at_once(work, servers, arrays, PASSING)
    assert [(mode, error) for mode, error in zip(PASSING, errors, strict=True) if error] == []


def error_of_each(kind, modes, only, work):
    """What ``work`` raises in each mode, and an array of the same server, which is right again."""
    with each(kind, modes) as (servers, arrays):
        opened = [impatient(server) for server in servers]
        for server, mode in zip(servers, modes, strict=True):
            server.mode, server.only = mode, only
        began = time.monotonic()
        errors = at_once(work, opened)
        assert time.monotonic() - began < LIMIT_S
        for server in servers:
            server.mode = ""
        yield from zip(modes, errors, arrays, strict=True)


@pytest.mark.parametrize("kind", KINDS)
def test_what_lasts_is_one_error_in_time(kind):
    verbs = ("GET", "HEAD", "PUT", "DELETE", "POST")
    for mode, error, array in error_of_each(kind, LASTING, verbs, lambda z: z[3:17]):
        assert isinstance(error, OSError), mode
        assert "s3://bucket/x.zarr" in str(error), mode
        assert "faulty-secret" not in str(error), mode
        np.testing.assert_array_equal(array[:], DATA, mode)


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_fails_leaves_whole_chunks(kind):
    def write(z):
        z[5:15] = -1

    new = DATA.copy()
    new[5:15] = -1
    modes = ["500", "reset", "no answer", "403"]
    for mode, error, array in error_of_each(kind, modes, ("PUT",), write):
        assert isinstance(error, OSError), mode
        found = array[:]
        # Chunk by chunk, all that was to be written in it is, or none of it.
        for row in range(0, 40, 10):
            for column in range(0, 100, 25):
                chunk = np.s_[row : row + 10, column : column + 25]
                assert any(np.array_equal(found[chunk], one[chunk]) for one in (DATA, new)), mode


def test_ranges_that_are_ignored_give_the_right_bytes(faulty, array):
    faulty.mode = "ranges ignored"
    np.testing.assert_array_equal(array[3:17, 20:30], DATA[3:17, 20:30])


def test_an_etag_that_never_holds_is_an_error_where_versions_matter(faulty, array):
    faulty.mode = "wrong etag"
    if array.shards != LARGE:
        np.testing.assert_array_equal(array[3:17, 20:30], DATA[3:17, 20:30])
        return
    began = time.monotonic()
    with pytest.raises((OSError, RuntimeError, ValueError), match="replaced"):
        array[3:17, 20:30]
    assert time.monotonic() - began < LIMIT_S


def test_half_a_chunk_in_a_complete_answer_is_damage_and_not_data(faulty, array):
    faulty.mode, faulty.only = "short body, wrong length", ("GET",)
    with pytest.raises((OSError, ValueError)):
        array[3:17]


@pytest.mark.parametrize("mode", ["", "part of nothing"])
def test_an_empty_shard_is_damage_whatever_a_server_calls_its_end(faulty, array, mode):
    for key in [key for key in faulty.values if "/c/" in key]:
        faulty.values[key] = (b"", {})
    faulty.mode = mode
    with pytest.raises(CorruptChunkError):
        impatient(faulty)[3:17]


def test_an_absent_chunk_is_fill_and_a_refused_one_is_not(faulty, array):
    faulty.values = {k: v for k, v in faulty.values.items() if not k.endswith("c/0/0")}
    assert not array[:10, :25].any()
    faulty.mode = "403"
    with pytest.raises(PermissionError):
        array[:10, :25]


@pytest.mark.parametrize("mode", ["reset", "503 slow down", "short body", "ranges ignored"])
def test_faults_after_a_fork(faulty, array, mode):
    faulty.mode, faulty.count = mode, 4
    pid = os.fork()
    if pid == 0:
        os._exit(0 if np.array_equal(array[:], DATA) else 1)
    due = time.monotonic() + PATIENCE_S
    while time.monotonic() < due:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail("the child hangs")


def test_an_interrupt_ends_a_wait_long_before_its_time_limit(faulty):
    options = {**faulty.options, "timeout": 600}
    z = zarr.open(f"{faulty.url}/i", mode="w", shape=64, chunks=1, storage_options=options)
    z[:] = 1
    script = f"""
import sys, zarrix as zarr
z = zarr.open({faulty.url + "/i"!r}, mode="r+", storage_options={options!r})
works = {{
    "read": lambda: z[:],
    "write": lambda: z.__setitem__(slice(None), 1),
    "update": lambda: z.attrs.__setitem__("a", 1),
}}
print("ready", flush=True)
sys.stdin.readline()
try:
    works[sys.argv[1]]()
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
print(z[:].sum(), flush=True)
"""
    for work in ("read", "write", "update"):
        faulty.mode = ""
        child = subprocess.Popen(
            [sys.executable, "-c", script, work],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert child.stdout.readline() == "ready\n"
            faulty.requests.clear()
            faulty.mode = "no answer"
            child.stdin.write("go\n")
            child.stdin.flush()
            while not faulty.requests and child.poll() is None:
                time.sleep(0.01)
            began = time.monotonic()
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
            assert time.monotonic() - began < LIMIT_S
            faulty.mode = ""
            child.stdin.write("go\n")
            child.stdin.flush()
            assert child.stdout.readline() == "64.0\n"
            assert child.wait(PATIENCE_S) == 0
        finally:
            child.kill()
            child.communicate()


def test_the_budget_bounds_the_requests_of_all_threads(faulty):
    z = zarr.open(f"{faulty.url}/b", mode="w", shape=100, chunks=1, storage_options=faulty.options)
    z[:] = 1
    now, most, changed = 0, 0, threading.Condition()
    fault = faulty.fault

    def counted(method):
        nonlocal now, most
        with changed:
            now += 1
            most = max(most, now)
            changed.notify_all()
            # The first ones wait until as many are there as may be.
            assert changed.wait_for(lambda: most >= 3, PATIENCE_S)
        time.sleep(0.01)
        with changed:
            now -= 1
        return fault(method)

    faulty.fault = counted
    with zarr.config(concurrent_requests=3):
        threads = [threading.Thread(target=lambda: z[:]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert most == 3


def test_requests_of_a_read_are_those_of_the_plan(faulty, array):
    cost = array.plan((slice(3, 17), slice(20, 30)))
    faulty.requests.clear()
    array[3:17, 20:30]
    assert len(faulty.requests) <= cost.requests
    store = as_store(f"{faulty.url}/x.zarr", faulty.options)
    assert sum(method == "GET" for method, _ in faulty.requests) == len(faulty.requests)
    assert store.getsize() > 0


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("one token for ever", "one continuation token twice"),
        ("new tokens for ever", "1001 pages in a row without a new name"),
    ],
)
def test_a_listing_without_end_is_an_error(faulty, mode, sent):
    store = as_store(f"{faulty.url}/d", faulty.options)
    faulty.mode = mode
    with pytest.raises(OSError, match=f"the listing would never end: the server sent {sent}"):
        list(store)
    assert len(faulty.requests) <= 1001
    with pytest.raises(OSError, match="would never end"):
        store.listdir("")
