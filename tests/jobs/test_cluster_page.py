"""The examples of docs/howto/use-a-cluster.md that need a cluster, with what stands in for one."""

import os
import re
import subprocess
import sys
import types
from concurrent import futures
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from jobs.test_executors import in_processes
from zarrix import jobs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "use-a-cluster.md"


def example(section, kind):
    """The first block of a kind in a section of the page."""
    text = PAGE.read_text(encoding="utf-8")
    part = text.partition(f"\n## {section}")[2].partition("\n## ")[0]
    found = re.search(rf"```{kind}\n(.*?)```", part, re.DOTALL)
    assert found, f"{section} has no example in {kind}"
    return found[1]


@pytest.fixture
def places(tmp_path):
    """The places of the examples, as paths of this machine."""
    z = zarr.create_array(tmp_path / "in.zarr", shape=(60, 32, 32), chunks=(1, 32, 32), dtype="f4")
    z[:] = np.random.default_rng(2).random(z.shape)
    yield {
        "s3://in/t2m.zarr": str(tmp_path / "in.zarr"),
        "s3://out/t2m.zarr": str(tmp_path / "out.zarr"),
        "/shared/in.zarr": str(tmp_path / "in.zarr"),
        "/shared/out.zarr": str(tmp_path / "out.zarr"),
    }
    made = zarr.open(tmp_path / "out.zarr")
    assert made.chunks[1:] == (16, 16)
    np.testing.assert_array_equal(made[:], z[:])


def ran(code, places, **names):
    for told, path in places.items():
        code = code.replace(told, path)
    exec(compile(code, str(PAGE), "exec"), {"jobs": jobs, **names})


class Client:
    """As much of a ``distributed.Client`` as is asked for, on two threads."""

    __module__ = "distributed.client"
    status = "running"

    def __init__(self, address):
        self._pool = futures.ThreadPoolExecutor(2)

    def scheduler_info(self, n_workers):
        return {"workers": {"tcp://a": {"memory_limit": 8 << 30, "nthreads": 2}}}

    def nthreads(self):
        return {"tcp://a": 2}

    def submit(self, function, *args, key, retries, priority, pure):
        return self._pool.submit(function, *args)

    def cancel(self, pending, force):
        raise AssertionError("nothing is cancelled")


def test_the_example_of_dask(places, monkeypatch):
    distributed = types.ModuleType("distributed")
    distributed.Client = Client
    monkeypatch.setitem(sys.modules, "distributed", distributed)
    ran(example("dask", "py"), places)


class Ray(types.ModuleType):
    """As much of Ray as is asked for: a task is done when it is submitted."""

    is_initialized = staticmethod(lambda: True)
    cluster_resources = staticmethod(lambda: {"CPU": 2.0})
    put = staticmethod(lambda value: value)
    get = staticmethod(lambda reference: reference.result())

    def init(self, address):
        assert address == "auto"

    def remote(self, max_retries):
        def task(function):
            def submit(*args):
                done = futures.Future()
                done.set_result(function(*args))
                return done

            return types.SimpleNamespace(remote=submit)

        return task

    def wait(self, waiting, num_returns, timeout):
        return waiting[:num_returns], waiting[num_returns:]


def test_the_example_of_ray(places, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", Ray("ray"))
    ran(example("Ray", "py"), places)


def test_the_example_of_mpi(places, monkeypatch):
    """Three threads make the same call, each with a communicator of its own."""
    text = example("MPI", "py").replace("from mpi4py import MPI", "")

    def process(comm):
        mpi = types.SimpleNamespace(COMM_WORLD=comm)
        ran(text, places, MPI=mpi)

    assert in_processes(3, process) == [None] * 3


SBATCH = """#!{python}
import os, re, subprocess, sys
arguments = " ".join(sys.argv[1:-1])
line = sys.argv[-1]
array = re.search(r"--array=(\\d+)-(\\d+)", arguments)
numbers = range(int(array[1]), int(array[2]) + 1) if array else [0]
for number in numbers:
    subprocess.run(["sh", "-c", line], check=True,
                   env={{**os.environ, "SLURM_ARRAY_TASK_ID": str(number)}}, stdout=sys.stderr)
if "--parsable" in sys.argv:
    print(77)
assert array or "afterok:77" in arguments
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell, which Slurm has")
def test_the_example_of_slurm(places, tmp_path):
    """With an ``sbatch`` that does at once what it is asked for; 100 elements are 3 here."""
    job = jobs.rechunk(
        places["/shared/in.zarr"], places["/shared/out.zarr"], chunks=(60, 16, 16), run=False
    )
    job.save(tmp_path / "job.json")
    commands = tmp_path / "bin"
    commands.mkdir()
    (commands / "sbatch").write_text(SBATCH.format(python=sys.executable))
    (commands / "sbatch").chmod(0o755)
    (commands / "python").symlink_to(sys.executable)
    # An interpreter that is linked from elsewhere does not find its environment.
    package = Path(zarr.__file__).resolve().parents[1]
    search = [str(package), *(one for one in sys.path if one.endswith("site-packages"))]
    text = example("Job arrays", "sh").replace("0-99", "0-2").replace(", 100)", ", 3)")
    subprocess.run(
        ["sh", "-e", "-c", text],
        cwd=tmp_path,
        check=True,
        env={
            **os.environ,
            "PATH": f"{commands}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(search),
        },
    )
