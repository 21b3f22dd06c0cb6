"""Forking is supported: before and after use, and while other threads read and write.

A DataLoader forks its workers from a process that has read; libraries with a thread pool hang or
abort there. Each test runs a program in a process of its own, in which every wait for a child is
bounded: a child that hangs is killed and counted, and the test fails in seconds.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from free_threading import forks_beside_threads

PROLOGUE = '''
import json, os, signal, sys, threading, time
import numpy as np
import zarrix as zarr

import numcodecs

FOLDER = sys.argv[1]
VALUES = np.arange(400 * 500, dtype="<i4").reshape(400, 500)


class Inverted(numcodecs.abc.Codec):
    codec_id = "zarrix-test-inverted"

    def encode(self, buf):
        return (~np.frombuffer(buf, "u1")).tobytes()

    def decode(self, buf, out=None):
        return numcodecs.compat.ndarray_copy(self.encode(buf), out)


numcodecs.register_codec(Inverted)


def in_child(work, limit_s=120):
    """Fork, run ``work`` in the child, wait; what became of the child."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "ok" if status == 0 else f"status {status}"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hung"


def make(name, store=None, chunks=(50, 100), **keywords):
    place = f"{FOLDER}/{name}" if store is None else store
    z = zarr.open_array(place, mode="w", shape=VALUES.shape, chunks=chunks, dtype="<i4", **keywords)
    z[...] = VALUES
    return z


def equal(got, want):
    assert np.array_equal(got, want), "other values"
'''


def run(folder: Path, program: str, limit_s: float = 600) -> Any:
    """Run a program after the prologue; the JSON that it prints last."""
    script = folder / "program.py"
    script.write_text(PROLOGUE + textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script), str(folder)],
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_child_reads_and_writes_by_the_handle_it_inherited_and_by_its_own(
    tmp_path: Path, threads: int
) -> None:
    program = f"""
    zarr.config.threads = {threads}
    z = make("x.zarr")
    equal(z[...], VALUES)

    def read_inherited():
        equal(z[...], VALUES)
        equal(z[7, ::-3], VALUES[7, ::-3])

    def read_afresh():
        equal(zarr.open(f"{{FOLDER}}/x.zarr", mode="r")[...], VALUES)

    def write_inherited():
        z[:50] = -VALUES[:50]
        z[399, 499] = -1

    def write_afresh():
        zarr.open(f"{{FOLDER}}/x.zarr", mode="r+")[50:100, 3] = 5
        zarr.save(f"{{FOLDER}}/new.zarr", VALUES)

    def again_in_a_grandchild():
        assert in_child(read_both) == "ok"
        read_both()

    def read_both():
        want = VALUES.copy()
        want[:50] *= -1
        want[399, 499] = -1
        want[50:100, 3] = 5
        equal(z[...], want)
        equal(zarr.open(f"{{FOLDER}}/new.zarr")[...], VALUES)

    outcomes = [
        in_child(work)
        for work in (read_inherited, read_afresh, write_inherited, write_afresh, read_both,
                     again_in_a_grandchild)
    ]
    read_both()
    print(json.dumps(outcomes))
    """
    assert run(tmp_path, program) == ["ok"] * 6


def test_a_child_forked_before_the_parent_did_anything_works(tmp_path: Path) -> None:
    program = """
    def work():
        z = make("x.zarr")
        equal(z[...], VALUES)

    print(json.dumps([in_child(work), in_child(work), np.asarray(make("y.zarr")).shape]))
    """
    assert run(tmp_path, program) == ["ok", "ok", [400, 500]]


@forks_beside_threads
@pytest.mark.parametrize("codec", ["default", "none", "foreign"])
def test_forks_while_threads_read_and_write_lose_and_hang_nothing(
    tmp_path: Path, codec: str, is_long: bool
) -> None:
    """Children and threads write other elements of the same chunks; all of them must be kept."""
    compressor = {"default": '"default"', "none": "None", "foreign": "Inverted()"}
    program = f"""
    FORKS = {(100 if codec == "default" else 25) if is_long else 10}
    z = make("x.zarr", compressor={compressor[codec]})
    marks = zarr.open_array(
        f"{{FOLDER}}/marks.zarr", mode="w", shape=(2, FORKS, 8), chunks=(1, 32, 8), dtype="<i8",
        compressor={compressor[codec]},
    )
    stop = threading.Event()
    failures = []
    rounds = [0] * 4

    def reader(number):
        while not stop.is_set():
            if not np.array_equal(z[200:], VALUES[200:]):
                failures.append("a thread read other values")
            rounds[number] += 1

    def writer(number):
        handle = zarr.open_array(f"{{FOLDER}}/x.zarr", mode="r+")
        while not stop.is_set():
            rounds[number] += 1
            z[: 100, number] = rounds[number]
            handle[3, 20:300] = rounds[number]
            marks[0, :, number] = rounds[number]

    threads = [threading.Thread(target=reader if i < 2 else writer, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()

    def child(number):
        def work():
            equal(z[200:], VALUES[200:])
            equal(zarr.open_array(f"{{FOLDER}}/x.zarr", mode="r")[300:], VALUES[300:])
            # The threads' chunk and elements beside theirs, by the inherited handle.
            marks[0, number, 7] = number + 1
            marks[1, number] = number + 1
            zarr.open_array(f"{{FOLDER}}/x.zarr", mode="r+")[150, number] = -number
        return work

    outcomes = [in_child(child(number)) for number in range(FORKS)]
    stop.set()
    for thread in threads:
        thread.join(120)
    wanted = np.arange(1, FORKS + 1)
    equal(marks[0, :, 7], wanted)
    equal(marks[1], np.repeat(wanted, 8).reshape(-1, 8))
    equal(z[150, :FORKS], -np.arange(FORKS))
    equal(marks[0, :, 2], np.full(FORKS, rounds[2]))
    alive = [thread.is_alive() for thread in threads]
    print(json.dumps([outcomes, failures, alive, all(rounds)]))
    """
    outcomes, failures, alive, busy = run(tmp_path, program)
    assert outcomes == ["ok"] * len(outcomes)
    assert failures == []
    assert alive == [False] * 4
    assert busy


@forks_beside_threads
@pytest.mark.parametrize("store", ["zarr.MemoryStore()", "{}"], ids=["memory", "dict"])
def test_stores_in_memory_are_copied_by_a_fork_while_threads_write_them(
    tmp_path: Path, store: str, is_long: bool
) -> None:
    forks = 40 if is_long else 15
    program = f"""
    z = make(None, store={store})
    stop = threading.Event()

    def writer(number):
        while not stop.is_set():
            z[:100, number] = number
            z[100:200] = 7

    threads = [threading.Thread(target=writer, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()

    def work():
        equal(z[200:], VALUES[200:])
        z[...] = 3
        equal(z[...], np.full_like(VALUES, 3))

    outcomes = [in_child(work) for _ in range({forks})]
    stop.set()
    for thread in threads:
        thread.join(120)
    equal(z[200:], VALUES[200:])
    print(json.dumps(outcomes))
    """
    assert run(tmp_path, program) == ["ok"] * forks


@forks_beside_threads
def test_attributes_and_groups_work_in_children_of_a_busy_parent(tmp_path: Path) -> None:
    program = """
    root = zarr.open_group(f"{FOLDER}/x.zarr", mode="w")
    root.create_dataset("a", data=VALUES, chunks=(50, 100))
    stop = threading.Event()

    def busy():
        i = 0
        while not stop.is_set():
            i += 1
            root.attrs["parent"] = i
            root["a"][0, 0] = i

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()

    def child(number):
        def work():
            root.attrs[f"child {number}"] = number
            root.require_group(f"g{number}").create_dataset("b", data=VALUES[0])
            equal(root["a"][1:], VALUES[1:])
        return work

    outcomes = [in_child(child(number)) for number in range(12)]
    stop.set()
    for thread in threads:
        thread.join(120)
    attributes = zarr.open_group(f"{FOLDER}/x.zarr", mode="r").attrs.asdict()
    assert attributes.pop("parent") > 0
    assert attributes == {f"child {i}": i for i in range(12)}, attributes
    assert sorted(root.group_keys()) == sorted(f"g{i}" for i in range(12))
    print(json.dumps(outcomes))
    """
    assert run(tmp_path, program) == ["ok"] * 12


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_handles_are_pickled_to_the_workers_of_multiprocessing(tmp_path: Path, method: str) -> None:
    """Arrays and groups travel to the workers; whichever way those start, all rows arrive."""
    script = """
    import multiprocessing

    def double(task):
        group, array, row = task
        assert group["a"].shape == array.shape
        array[row] = 2 * group["a"][row]
        return int(array[row, 1])

    if __name__ == "__main__":
        root = zarr.open_group(f"{FOLDER}/x.zarr", mode="w")
        a = root.create_dataset("a", data=VALUES[:40], chunks=(16, 100))
        b = root.zeros("b", shape=a.shape, chunks=(16, 100), dtype="<i4")
        equal(a[...], VALUES[:40])
        pool = multiprocessing.get_context("METHOD").Pool(3)
        try:
            tasks = [(root, b, row) for row in range(40)]
            results = pool.map_async(double, tasks, chunksize=3).get(120)
        finally:
            pool.terminate()
            pool.join()
        equal(b[...], 2 * VALUES[:40])
        print(json.dumps(results))
    """
    results = run(tmp_path, script.replace("METHOD", method))
    values = np.arange(400 * 500, dtype="<i4").reshape(400, 500)
    assert results == (2 * values[:40, 1]).tolist()


def test_a_fork_leaves_the_locks_of_the_parent_alone(tmp_path: Path) -> None:
    """A child that ends, or that is killed, inherits descriptors and must release no lock."""
    program = """
    z = make("x.zarr", chunks=(400, 500))
    stop = threading.Event()
    counts = [0, 0]

    def writer(number):
        while not stop.is_set():
            counts[number] += 1
            z[counts[number] % 400, number] = -counts[number]

    threads = [threading.Thread(target=writer, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()

    def work():
        pass

    outcomes = []
    for i in range(12):
        if i % 2:
            outcomes.append(in_child(work))
        else:
            child = os.fork()
            if not child:
                time.sleep(600)
                os._exit(0)
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            outcomes.append("ok")
    stop.set()
    for thread in threads:
        thread.join(120)
    for number in range(2):
        want = VALUES[:, number].copy()
        for i in range(1, counts[number] + 1):
            want[i % 400] = -i
        equal(z[:, number], want)
    print(json.dumps(outcomes))
    """
    assert run(tmp_path, program) == ["ok"] * 12


def test_a_worker_keeps_its_thread_state_so_that_forks_find_nobody_making_one(
    tmp_path: Path,
) -> None:
    """Python 3.11 hangs in a child forked while a thread made or dropped its state."""
    program = """
    class Counting(dict):
        local = threading.local()
        first = []

        def __setitem__(self, key, value):
            if not hasattr(self.local, "known"):
                self.local.known = True
                self.first.append(threading.get_ident())
            super().__setitem__(key, value)

    zarr.config.threads = 8
    z = make(None, store=Counting(), chunks=(25, 25), compressor=None)
    for i in range(20):
        z[...] = i
    outcomes = [in_child(lambda: make(None, store={}, compressor=None)) for _ in range(5)]
    print(json.dumps([len(Counting.first), len(set(Counting.first)), outcomes]))
    """
    met, threads, outcomes = run(tmp_path, program)
    assert met == threads
    assert outcomes == ["ok"] * 5


@forks_beside_threads
def test_a_store_that_is_being_opened_while_others_fork_stops_no_child(tmp_path: Path) -> None:
    """`functools.cached_property` of Python 3.11 has one lock for the stores of all threads."""
    program = """
    from zarrix.storage import KVStore

    opening, forked = threading.Event(), threading.Event()

    class Slow(KVStore):
        def _open_engine(self):
            opening.set()
            forked.wait(240)
            return super()._open_engine()

    slow = threading.Thread(target=Slow({}).get, args=("key",))
    slow.start()
    opening.wait(120)
    outcome = in_child(lambda: KVStore({}).get("key"))
    forked.set()
    slow.join(120)
    print(json.dumps(outcome))
    """
    assert run(tmp_path, program) == "ok"
