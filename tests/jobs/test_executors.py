"""Executors: each gives the bytes of a run in this process."""

import functools
import os
import pickle
import signal
import threading
from concurrent import futures
from multiprocessing import get_context

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import Counting, Twice, hierarchy
from zarrix import jobs
from zarrix.jobs._running.crews import ignore_ctrl_c
from zarrix.jobs._running.operation import Setting

PLAN = {"chunks": {"numbers": (53, 5), "uneven": (2,)}, "max_memory": "16 KiB", "passes": 2}


@pytest.fixture
def source(tmp_path):
    return hierarchy(tmp_path / "a.zarr")


@pytest.fixture
def wanted(tmp_path, source):
    jobs.rechunk(source, tmp_path / "wanted.zarr", **PLAN)
    return zarr.digests(tmp_path / "wanted.zarr")


class FakeComm:
    """As much of an MPI communicator as is asked for; each thread is a process."""

    def __init__(self, rank, size, shared):
        self._rank, self._size = rank, size
        self._barrier, self._told = shared

    def Get_rank(self):  # noqa: N802  # MPI's names.
        return self._rank

    def Get_size(self):  # noqa: N802
        return self._size

    def allgather(self, value):
        self._told[self._rank] = value
        self._barrier.wait(60)
        found = list(self._told)
        self._barrier.wait(60)
        return found

    def gather(self, value, root):
        found = self.allgather(value)
        return found if self._rank == root else None


def in_processes(size, work):
    shared = (threading.Barrier(size), [None] * size)
    with futures.ThreadPoolExecutor(size) as pool:
        running = [pool.submit(work, FakeComm(rank, size, shared)) for rank in range(size)]
        return [one.exception(120) or one.result() for one in running]


def test_an_mpi_program_divides_the_job(tmp_path, source, wanted):
    def work(comm):
        return jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False).run(comm)

    reports = in_processes(3, work)
    assert [one.result is None for one in reports] == [False, True, True]
    assert all(one.tasks for one in reports)
    assert zarr.digests(tmp_path / "b.zarr") == wanted


def test_an_error_of_one_mpi_process_is_raised_in_all():
    Counting.errors, Counting.calls = {4: [ValueError("bad")]}, []

    def work(comm):
        return jobs.Job("test-counting", Setting({"count": 9}, {})).run(comm)

    errors = in_processes(3, work)
    assert {type(one) for one in errors} == {zarr.errors.JobFailed}
    assert "process 1" in str(errors[0])
    Counting.errors = {}
    reports = in_processes(3, work)
    assert reports[0].result == sum(n * n for n in range(9))


class FakeSpark:
    """As much of a Spark session as is asked for; it pickles what it runs."""

    def __init__(self):
        self.sparkContext = self
        self.defaultParallelism = 2
        self.windows = []

    def parallelize(self, elements, parts):
        self.windows.append(parts)
        self._elements = elements
        return self

    def map(self, function):
        self._function = pickle.loads(pickle.dumps(function))
        return self

    def collect(self):
        return [self._function(one) for one in self._elements]


def test_spark_gets_a_window_of_tasks(tmp_path, source, wanted):
    spark = FakeSpark()
    jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, executor=spark)
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    assert max(spark.windows) == 8


def test_every_fifth_task_twice_changes_nothing(tmp_path, source, wanted):
    with futures.ThreadPoolExecutor(3) as pool:
        jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, executor=Twice(pool))
    assert zarr.digests(tmp_path / "b.zarr") == wanted


def test_a_pool_that_breaks_is_made_again(tmp_path, source, wanted):
    made = []

    class Breaking(futures.ThreadPoolExecutor):
        """Breaks at its fifth task, as a pool of processes does when one is killed."""

        def submit(self, function, /, *args, **kwargs):
            self.count = getattr(self, "count", 0) + 1
            if self.count >= 5 and len(made) < 3:
                raise futures.BrokenExecutor("a process died")
            return super().submit(function, *args, **kwargs)

    def factory():
        made.append(Breaking(2))
        return made[-1]

    jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, executor=factory)
    assert len(made) == 3
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    made.clear()
    with (
        Breaking(2) as pool,
        pytest.raises(zarr.errors.JobInterrupted, match="run the same line again"),
    ):
        jobs.copy(source, tmp_path / "c.zarr", executor=pool)
    jobs.copy(source, tmp_path / "c.zarr")
    assert zarr.digests(tmp_path / "c.zarr") == zarr.digests(tmp_path / "a.zarr")


def test_no_worker_within_patience_is_an_error():
    class Dead(futures.Executor):
        def submit(self, function, /, *args, **kwargs):
            return futures.Future()

    from zarrix.jobs._running.crews import Pool

    Counting.errors, Counting.calls = {}, []
    job = jobs.Job("test-counting", Setting({"count": 9}, {}))
    has_workers, Pool.has_workers = Pool.has_workers, lambda self: False
    try:
        with pytest.raises(zarr.errors.JobInterrupted, match=r"no worker for 0\.1 seconds"):
            job.run(Dead(), patience=0.1)
    finally:
        Pool.has_workers = has_workers


@pytest.mark.long
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_have_the_same_bytes(tmp_path, source, wanted, method):
    make = functools.partial(
        futures.ProcessPoolExecutor, 2, get_context(method), initializer=ignore_ctrl_c
    )
    jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, executor=make)
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    with get_context(method).Pool(2) as pool:
        jobs.rechunk(source, tmp_path / "c.zarr", **PLAN, executor=pool.imap_unordered)
    assert zarr.digests(tmp_path / "c.zarr") == wanted


def test_job_arrays_wait_for_the_pass_before(tmp_path, source, wanted):
    job = jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False)
    job.save(tmp_path / "job.json")

    def part(i):
        return jobs.Job.load(tmp_path / "job.json").run(part=(i, 3), patience=60)

    with futures.ThreadPoolExecutor(3) as pool:
        assert not any(one.finished for one in pool.map(part, range(3)))
    jobs.Job.load(tmp_path / "job.json").finish()
    assert zarr.digests(tmp_path / "b.zarr") == wanted
    assert len(job.stages) == 2


def test_a_part_leaves_what_others_have_to_do_first(tmp_path, source):
    job = jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False)
    report = job.run(part=(0, 2), patience=0.0)
    assert "left to the parts that have not begun" in str(report)
    with pytest.raises(zarr.errors.JobInterrupted, match="not done yet"):
        job.finish()


def test_dask_workers_that_are_too_small_are_refused():
    class Client:
        __module__ = "distributed.client"

        def scheduler_info(self, n_workers):
            return {"workers": {"tcp://a": {"memory_limit": 2**30, "nthreads": 4}}}

        def nthreads(self):
            return {"tcp://a": 4}

    z = zarr.create_array(
        zarr.MemoryStore(), shape=(2**14, 2**14), chunks=(2**11, 2**14), dtype="f4"
    )
    job = jobs.rechunk(z, zarr.MemoryStore(), chunks=(2**14, 2**11), max_memory="1 GiB", run=False)
    with pytest.raises(zarr.errors.JobError, match=r"pass max_memory='170\.7 MiB'"):
        job.run(Client())


# What dask leaves open is not ours.
@pytest.mark.filterwarnings("ignore")
def test_dask_has_the_same_bytes_when_a_worker_is_killed(tmp_path, source, wanted):
    distributed = pytest.importorskip("distributed")
    np.testing.assert_array_equal(source["scalar"][...], 7)
    killed = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def kill(event):
            if not killed:
                (pid,) = [one.pid for one in list(cluster.workers.values())[:1]]
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        job = jobs.rechunk(source, tmp_path / "b.zarr", **PLAN, run=False)
        job.run(client, events=kill)
    assert killed
    assert zarr.digests(tmp_path / "b.zarr") == wanted
