"""Jobs that are interrupted: killed drivers and workers, Ctrl-C, full disks, servers that fail."""

import errno
import functools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent import futures

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import Twice
from servers.faulty import FaultyServer
from waiting import PATIENCE_S, until
from zarrix import jobs

SHAPE = (48, 32, 32)
PLAN = {"chunks": (48, 4, 4), "max_memory": "64 KiB", "passes": 2}

# Rechunks, slowly enough to be killed at any point; argv: source, destination, pause.
DRIVER = """
import sys, time
import zarrix as zarr
from zarrix import jobs
job = jobs.rechunk(
    sys.argv[1], sys.argv[2], chunks=(48, 4, 4), max_memory="64 KiB", passes=2, run=False
)
def tell(event):
    print(event["stage"], event["task"], flush=True)
    time.sleep(float(sys.argv[3]))
report = job.run(events=tell)
print("done", report.tasks, report.resumed, flush=True)
"""


@pytest.fixture
def source(tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", shape=SHAPE, chunks=(2, 32, 32), dtype="f4")
    z[:] = np.random.default_rng(5).random(SHAPE)
    return z


@pytest.fixture
def wanted(tmp_path, source):
    jobs.rechunk(source, tmp_path / "wanted.zarr", **PLAN)
    return zarr.digests(tmp_path / "wanted.zarr")


def driver(tmp_path, pause=0.002):
    paths = [str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"), str(pause)]
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, *paths], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("moments", [4, pytest.param(50, marks=pytest.mark.long)])
def test_a_driver_killed_at_any_moment_goes_on(tmp_path, source, wanted, moments):
    """It is killed after a random number of tasks, and run again, until it has been killed so
    often; at last it runs to its end.
    """
    drawn = random.Random(11)
    killed = 0
    while killed < moments:
        if os.path.exists(tmp_path / "b.zarr" / "zarr.json"):
            zarr.DirectoryStore(tmp_path / "b.zarr").rmdir()
        with driver(tmp_path) as process:
            lines = drawn.randrange(40)
            for _ in range(lines):
                line = process.stdout.readline()
                if not line or line.startswith("done"):
                    break
            process.kill()
            killed += 1
    if not os.path.exists(tmp_path / "b.zarr" / "zarr.json"):
        with driver(tmp_path, 0) as process:
            out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        assert "done" in out
    # A driver that was killed between its last two steps is finished by the next.
    if os.path.exists(tmp_path / "b.zarr" / ".zarrix-job"):
        jobs.Job.load(tmp_path / "b.zarr").run()
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    assert zarr.verify(tmp_path / "b.zarr").leftovers == []


def test_tasks_that_are_done_again_are_few(tmp_path, source, wanted):
    """The journal is saved each second, so that a kill after that loses only what is newer."""
    with driver(tmp_path, 0.1) as process:
        for _ in range(14):
            process.stdout.readline()
        process.kill()
    job = jobs.Job.load(tmp_path / "b.zarr")
    done = sum(n for n, _ in job.status()["stages"])
    assert done >= 1
    report = job.run()
    assert report.resumed == done
    assert report.tasks == sum(stage.count for stage in job.stages) - done
    assert zarr.digests(tmp_path / "b.zarr") == wanted


def test_ctrl_c_ends_what_runs_and_the_journal_is_true(tmp_path, source, wanted):
    with driver(tmp_path, 0.05) as process:
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=PATIENCE_S)[0].splitlines()
    assert process.returncode != 0
    job = jobs.Job.load(tmp_path / "b.zarr")
    done = sum(n for n, _ in job.status()["stages"])
    assert done == 5 + len(rest)
    assert job.run().resumed == done
    assert zarr.digests(tmp_path / "b.zarr") == wanted


class FullDict(dict):
    """A mapping that is full after some values."""

    room = 10

    def __setitem__(self, key, value):
        if key not in self and len(self) >= self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), key)
        super().__setitem__(key, value)


def test_a_full_disk_stops_the_job_which_goes_on_when_there_is_room(source, wanted):
    dest = FullDict()
    with pytest.raises((zarr.errors.JobFailed, OSError), match="No space left"):
        jobs.rechunk(source, dest, **PLAN)
    assert "zarr.json" not in dest
    dest.room = 10**6
    jobs.rechunk(source, dest, **PLAN)
    assert zarr.digests(zarr.KVStore(dest)) == wanted


@pytest.mark.parametrize("mode", ["503 slow down", "reset", "delay"])
def test_a_server_that_fails_for_a_while_changes_nothing(tmp_path, source, wanted, mode):
    with FaultyServer() as faulty:
        options = {**faulty.options, "timeout": 30}
        away = zarr.storage.RemoteStore(f"{faulty.url}/b.zarr", options)
        job = jobs.rechunk(source, away, **PLAN, run=False)

        def go_wrong(event):
            if event["stage"] == 0 and event["task"] % 3 == 0:
                faulty.mode, faulty.count, faulty.only = mode, 3, ("GET", "PUT")

        job.run("threads", events=go_wrong)
        faulty.mode = ""
        assert zarr.digests(away) == wanted


def _kill_some(cluster, stop, kills):
    drawn = random.Random(3)
    while not stop.wait(drawn.uniform(1, 4)):
        # A nanny does not replace a worker that dies while it starts.
        running = [one for one in list(cluster.workers.values()) if one.status.name == "running"]
        workers = [one for one in running if getattr(one, "pid", None)]
        if workers:
            os.kill(drawn.choice(workers).pid, signal.SIGKILL)
            kills.append(time.monotonic())


class ClientThatSubmitsTwice:
    """A client that submits every fifth task twice."""

    __module__ = "distributed.client"

    def __init__(self, client):
        self._client, self._count = client, 0

    def __getattr__(self, name):
        return getattr(self._client, name)

    def submit(self, function, *args, key, **kwargs):
        self._count += 1
        if self._count % 5 == 0:
            self.twin = self._client.submit(function, *args, key=f"{key}-twin", **kwargs)
        return self._client.submit(function, *args, key=key, **kwargs)


# What dask leaves open is not ours.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_twenty_rounds_of_killed_workers(tmp_path):
    """500 tasks, three workers, one killed each 1 to 4 s, every fifth task twice."""
    distributed = pytest.importorskip("distributed")
    shape = (1200, 32, 32)
    z = zarr.create_array(tmp_path / "a.zarr", shape=shape, chunks=(2, 32, 32), dtype="f4")
    z[:] = np.random.default_rng(5).random(shape)
    plan = {"chunks": (20, 8, 32), "max_memory": "48 KiB", "passes": 2}
    jobs.rechunk(z, tmp_path / "wanted.zarr", **plan)
    wanted = zarr.digests(tmp_path / "wanted.zarr")
    kills, again = [], 0
    stop = threading.Event()
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killer = threading.Thread(target=_kill_some, args=(cluster, stop, kills))
        killer.start()
        try:
            for number in range(20):
                place = tmp_path / f"{number}.zarr"
                job = jobs.rechunk(z, place, **plan, run=False)
                assert sum(stage.count for stage in job.stages) >= 500
                report = job.run(ClientThatSubmitsTwice(client), patience=PATIENCE_S, retries=5)
                again += report.again
                assert zarr.digests(place) == wanted
                checked = zarr.verify(place)
                assert checked.ok
                assert checked.leftovers == []
                print(f"round {number}: {report}, {len(kills)} killed so far", flush=True)
        finally:
            stop.set()
            killer.join()
    print(f"{len(kills)} workers killed, {again} attempts again")
    assert kills


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long
def test_all_dask_workers_dead_is_an_error_within_patience(tmp_path, source):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        job = jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False)

        def scale_down(event):
            cluster.scale(0)
            until(lambda: not client.nthreads())

        with pytest.raises(zarr.errors.JobInterrupted, match="no worker for 3 seconds"):
            job.run(client, events=scale_down, patience=3)
        cluster.scale(1)
        job.run(client)


@pytest.mark.long
def test_killed_processes_of_a_pool_are_replaced(tmp_path, source, wanted):
    made = []

    def factory():
        made.append(futures.ProcessPoolExecutor(2))
        return made[-1]

    job = jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False)

    def kill(event):
        if event["task"] % 16 == 5 and len(made) < 5:
            for pid in list(made[-1]._processes)[:1]:
                os.kill(pid, signal.SIGKILL)

    job.run(functools.partial(factory), events=kill, retries=3)
    assert len(made) > 1
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    with futures.ProcessPoolExecutor(2) as pool:
        jobs.rechunk(source, tmp_path / "c.zarr", **PLAN, executor=Twice(pool))
    assert zarr.digests(tmp_path / "c.zarr") == wanted
