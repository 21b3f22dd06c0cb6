"""HDFS: what it has that object stores have not, and what it does when its servers fail."""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from servers import Running
from servers.shared import standing_still
from waiting import PATIENCE_S
from zarrix._stores.open import as_store
from zarrix.errors import LostUpdateWarning
from zarrix.storage import RemoteStore

# Said once in each process, whichever test is first.
pytestmark = pytest.mark.filterwarnings(
    "ignore:HDFS has no conditional writes:zarrix.errors.LostUpdateWarning"
)


def hadoop(found: Running, path: str, data: bytes | None = None) -> tuple[bytes, str | None]:
    """What Hadoop's own client reads there and whose it is, or writes."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    url = f"http://127.0.0.1:{found.ports[1]}{path}"
    request = urllib.request.Request(url, data, method="GET" if data is None else "PUT")
    with opener.open(request, timeout=PATIENCE_S) as answer:
        return answer.read(), answer.headers.get("Owner")


def names(found: Running, path: str) -> list[str]:
    return sorted(hadoop(found, path)[0].decode().splitlines())


def path_of(url: str) -> str:
    return "/" + url.removeprefix("hdfs://").partition("/")[2]


def test_hadoop_and_we_see_the_same_files(hdfs):
    store = as_store(hdfs.url, hdfs.options)
    assert isinstance(store, RemoteStore)
    path = path_of(hdfs.url)
    value = bytes(range(256)) * 10_000
    store["d/ours"] = value
    assert hadoop(hdfs.server, f"{path}/d/ours")[0] == value
    hadoop(hdfs.server, f"{path}/d/theirs", b"123")
    hadoop(hdfs.server, f"{path}/d/ours.0123.partial", b"unfinished")
    assert store["d/theirs"] == b"123"
    assert sorted(store) == ["d/ours", "d/theirs"]
    assert sorted(store.listdir("d")) == ["ours", "theirs"]


def test_what_is_deleted_or_moved_leaves_no_directory(hdfs):
    root = zarr.open_group(hdfs.url, mode="w", storage_options=hdfs.options)
    for name in ("a/b", "a/c", "e/f/g"):
        root.create_dataset(name, shape=4, chunks=2, dtype="u1")[:] = 1
    path = path_of(hdfs.url)
    root.move("e/f", "moved")
    assert names(hdfs.server, path) == [".zgroup", "a", "e", "moved"]
    assert names(hdfs.server, f"{path}/e") == [".zgroup"]
    del root["a/b"], root["a"], root["e"]
    assert names(hdfs.server, path) == [".zgroup", "moved"]
    store = as_store(hdfs.url, hdfs.options)
    store["x/y/z"] = b"1"
    del store["x/y/z"]
    assert names(hdfs.server, path) == [".zgroup", "moved"]


# Where the system locks whole files, so many writes take turns, and tell that they wait.
@pytest.mark.filterwarnings("default::zarrix.errors.LockWaitWarning")
def test_a_hierarchy_of_many_values_is_listed_moved_and_deleted(hdfs):
    # More entries than the namenode tells at a time.
    root = zarr.open_group(hdfs.url, mode="w", storage_options=hdfs.options)
    z = root.create("a/x", shape=240, chunks=1, dtype="u1", compressor=None)
    z[:] = 1 + np.arange(240)
    assert root["a/x"].nchunks_initialized == 240
    root.move("a", "b")
    assert root["b/x"][:].tolist() == [1 + n for n in range(240)]
    del root["b"]
    assert names(hdfs.server, path_of(hdfs.url)) == [".zgroup"]


def test_a_user_who_may_not_is_told_so_and_reads_no_fill(hdfs):
    url = f"{hdfs.url.rpartition('/zarrix')[0]}/closed/{os.getpid()}"
    z = zarr.open(url, mode="w", shape=4, chunks=2, dtype="i4", storage_options=hdfs.options)
    z[:2] = 1
    assert z[:].tolist() == [1, 1, 0, 0]
    guest = {**hdfs.options, "user": "guest"}
    store = as_store(url, guest)
    for ask in (lambda: store["0"], lambda: store["1"], lambda: list(store)):
        with pytest.raises(PermissionError, match="AccessControlException"):
            ask()
    with pytest.raises(PermissionError):
        zarr.open(url, mode="r", storage_options=guest)
    with pytest.raises(PermissionError):
        as_store(hdfs.url, guest)["a"] = b"1"
    assert sorted(as_store(url, hdfs.options)) == [".zarray", "0"]


def test_the_user_of_the_address_or_the_environment_is_who_writes(hdfs, monkeypatch):
    place = hdfs.url.removeprefix("hdfs://").partition("/")[0]
    as_store(f"hdfs://ada@{place}/open/{os.getpid()}-a", hdfs.options)["k"] = b"1"
    monkeypatch.setenv("HADOOP_USER_NAME", "bob")
    as_store(f"hdfs://{place}/open/{os.getpid()}-b", {**hdfs.options, "timeout": 58})["k"] = b"1"
    for number, name in (("a", "ada"), ("b", "bob")):
        assert hadoop(hdfs.server, f"/open/{os.getpid()}-{number}/k") == (b"1", name)


def test_a_block_that_is_lost_is_an_error_and_never_fill(hdfs):
    z = zarr.open(
        hdfs.url,
        mode="w",
        shape=64,
        chunks=32,
        dtype="u1",
        compressor=None,
        storage_options=hdfs.options,
    )
    z[:32] = np.frombuffer(os.urandom(32), "u1")
    value = z[:32].tobytes()
    blocks = [block for block in _blocks(hdfs.server.folder / "data") if _bytes(block) == value]
    assert blocks
    for block in blocks:
        block.unlink()
    impatient = _opened(hdfs.url, {**hdfs.options, "timeout": 2})
    began = time.monotonic()
    with pytest.raises(OSError, match=f"{hdfs.url}/0"):
        impatient[:]
    assert time.monotonic() - began < PATIENCE_S
    assert z[32:].tolist() == [0] * 32


def _blocks(folder):
    for parent, _, names in os.walk(folder):
        for name in names:
            if name.startswith("blk_") and not name.endswith(".meta"):
                yield Path(parent, name)


def _bytes(block):
    """What a block has; nothing if it is gone, because other tests use the same servers."""
    try:
        return block.read_bytes()
    except FileNotFoundError:
        return b""


def _opened(url, options):
    """The array, once the servers answer in time: a busy machine may keep them from it."""
    while True:
        with contextlib.suppress(TimeoutError):
            return zarr.open(url, mode="r+", storage_options=options)


@pytest.mark.parametrize("act", ["read", "write", "list"])
def test_servers_that_stand_still_are_an_error_in_time_and_go_on_later(hdfs_alone, act):
    hdfs = hdfs_alone
    options = {**hdfs.options, "timeout": 1.5}
    z = zarr.open(hdfs.url, mode="w", shape=8, chunks=4, dtype="i4", storage_options=hdfs.options)
    z[:] = 5
    z = _opened(hdfs.url, options)
    acts = {"read": lambda: z[:], "write": lambda: z.set_basic_selection(slice(4), 6)}
    acts["list"] = lambda: list(z.store)
    with standing_still(hdfs.server):
        began = time.monotonic()
        with pytest.raises(TimeoutError, match=r"no response for 1\.5 s"):
            acts[act]()
        assert time.monotonic() - began < PATIENCE_S
    patient = zarr.open(hdfs.url, mode="r", storage_options=hdfs.options)
    assert patient[4:].tolist() == [5] * 4
    assert patient[:4].tolist() in ([5] * 4, [6] * 4)


def test_a_namenode_that_is_not_there_is_an_error_within_the_time_limit():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"hdfs://127.0.0.1:{taken.getsockname()[1]}/x"
        began = time.monotonic()
        # A busy machine may not have refused the connection by then.
        with pytest.raises((ConnectionError, TimeoutError), match=f"{url}/0"):
            as_store(url, {"timeout": 1})["0"]
        assert time.monotonic() - began < PATIENCE_S


def test_an_interrupt_ends_a_wait_for_a_server_that_stands_still(hdfs_alone):
    store = as_store(hdfs_alone.url, hdfs_alone.options)
    store["k"] = b"1"
    ring = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))

    def ask():
        # On a busy machine the timer can be faster than its start is.
        ring.start()
        store["k"]

    began = time.monotonic()
    with standing_still(hdfs_alone.server), pytest.raises(KeyboardInterrupt):
        ask()
    assert time.monotonic() - began < PATIENCE_S
    ring.join()
    assert store["k"] == b"1"


def test_that_machines_can_lose_updates_is_said_once(hdfs):
    # Other options are another client, which says it for itself.
    store = as_store(hdfs.url, {**hdfs.options, "timeout": 57})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            store.update_value("a", lambda old: (old or b"") + b"1")
    said = [one for one in caught if issubclass(one.category, LostUpdateWarning)]
    assert len(said) == 1
    assert "if two machines" in str(said[0].message)
    assert store["a"] == b"11"


def _reads_right(url, options, seed):
    z = zarr.open(url, mode="r", storage_options=options)
    order = [(n * 13 + seed) % 40 for n in range(40)]
    return all((z[n * 500 : (n + 1) * 500] == n).all() for n in order)


def test_children_forked_while_others_read_take_nobodys_answers(hdfs):
    z = zarr.open(
        hdfs.url,
        mode="w",
        shape=20_000,
        chunks=500,
        dtype="i4",
        compressor=None,
        storage_options=hdfs.options,
    )
    z[:] = np.repeat(np.arange(40, dtype="i4"), 500)
    # What is imported on first use is imported by now: Python's own locks are not our matter.
    assert _reads_right(hdfs.url, hdfs.options, 0)
    stop, wrong = threading.Event(), []

    def read(seed: int) -> None:
        while not stop.is_set():
            if not _reads_right(hdfs.url, hdfs.options, seed):
                wrong.append(seed)

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for reader in readers:
        reader.start()
    context = multiprocessing.get_context("fork")
    try:
        for start in range(0, 12, 4):
            with context.Pool(4) as pool:
                calls = [
                    pool.apply_async(_reads_right, (hdfs.url, hdfs.options, seed))
                    for seed in range(start, start + 8)
                ]
                assert all(call.get(PATIENCE_S) for call in calls)
    finally:
        stop.set()
        for reader in readers:
            reader.join(PATIENCE_S)
    assert not wrong
    assert z[:].tolist() == np.repeat(np.arange(40), 500).tolist()
