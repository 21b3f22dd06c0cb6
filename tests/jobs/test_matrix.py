"""Every executor, format and store gives the bytes of a run in this process.

Ray and MPI have an environment of their own: `tests/interop/setup clusters` makes it.
"""

import functools
import os
import pickle
import subprocess
import sys
from concurrent import futures
from multiprocessing import forkserver, get_context
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import hierarchy
from servers import KEY, SECRET
from servers.faulty import FaultyServer
from zarrix import jobs
from zarrix.jobs._running.crews import ignore_ctrl_c

pytestmark = pytest.mark.long

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE.parent / "interop" / "envs" / "clusters" / "bin"
STRUCTURED = np.dtype([("place", "<i4"), ("weight", "<f8")])
# Every layout gets another one, in two passes where there is enough to divide.
PLAN = {
    "chunks": {"numbers": (53, 5), "uneven": (2,), "records": (7,), "deep/shards": (30, 20)},
    "max_memory": "16 KiB",
    "passes": 2,
}


def make(store, zarr_format):
    """Arrays of all layouts that the format has."""
    group = hierarchy(store, zarr_format)
    records = group.create_array("records", shape=(31,), chunks=(4,), dtype=STRUCTURED)
    records[:] = np.array([(i, i / 7) for i in range(31)], STRUCTURED)
    return group


@pytest.fixture(scope="module", params=[2, 3], ids=["v2", "v3"])
def case(request, tmp_path_factory):
    """A source in a folder, and the digests of what a run in this process makes of it."""
    folder = tmp_path_factory.mktemp("matrix")
    make(folder / "a.zarr", request.param)
    jobs.rechunk(folder / "a.zarr", folder / "wanted.zarr", **PLAN)
    return folder / "a.zarr", zarr.digests(folder / "wanted.zarr")


@pytest.fixture(params=["folder", "memory server", "seaweedfs", "zip source"])
def places(request, case, tmp_path):
    """Source, destination, and the digests that are wanted."""
    source, wanted = case
    if request.param == "folder":
        yield source, tmp_path / "b.zarr", wanted
    elif request.param == "zip source":
        with zarr.ZipStore(tmp_path / "a.zip", mode="w") as packed:
            zarr.copy_store(zarr.DirectoryStore(source), packed)
        yield zarr.ZipStore(tmp_path / "a.zip", mode="r"), tmp_path / "b.zarr", wanted
    elif request.param == "seaweedfs":
        found = request.getfixturevalue("serve")("seaweedfs")
        root = f"{found.bucket}/{tmp_path.name}"
        yield *_uploaded(root, found.options, source), wanted
    else:
        with FaultyServer() as server:
            yield *_uploaded(server.url, server.options, source), wanted


@pytest.fixture(scope="module", autouse=True)
def credentials():
    """In the environment, because they are never pickled."""
    # A server that an earlier test has started has another environment.
    forkserver._forkserver._stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY)
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        yield
    forkserver._forkserver._stop()


def _uploaded(root, options, source):
    options = {name: value for name, value in options.items() if name not in ("key", "secret")}
    at = zarr.storage.RemoteStore(f"{root}/a.zarr", options)
    zarr.copy_store(zarr.DirectoryStore(source), at)
    return at, zarr.storage.RemoteStore(f"{root}/b.zarr", options)


def _threads(job, folder):
    job.run("threads")


def _processes(method, job, folder):
    make_pool = functools.partial(
        futures.ProcessPoolExecutor, 2, get_context(method), initializer=ignore_ctrl_c
    )
    job.run(make_pool)


def _mapped(job, folder):
    with get_context("spawn").Pool(2) as pool:
        job.run(pool.imap_unordered)


def _dask(job, folder):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        job.run(client)


def _parts(job, folder):
    for stage in range(len(job.stages)):
        for part in (2, 0, 1):
            pickle.loads(pickle.dumps(job)).run(part=(part, 3), stage=stage)
    job.finish()


def _peer(how, job, folder):
    if not (ENVIRONMENT / "python").exists():
        pytest.skip("Ray and MPI are not there; tests/interop/setup clusters makes them")
    (folder / "job.pickle").write_bytes(pickle.dumps(job))
    package = Path(zarr.__file__).resolve().parents[1]
    command = [ENVIRONMENT / "python", HERE / "cluster_peer.py", how, folder / "job.pickle"]
    if how == "mpi":
        command = [ENVIRONMENT / "mpiexec", "-n", "3", *command]
    ran = subprocess.run(
        [*map(str, command)],
        env={**os.environ, "PYTHONPATH": str(package), "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr
    counts = [int(one.read_text()) for one in folder.glob("job.pickle.*.done")]
    assert sum(counts) == sum(stage.count for stage in job.stages)
    assert len(counts) == (3 if how == "mpi" else 1)


EXECUTORS = {
    "threads": _threads,
    "spawn": functools.partial(_processes, "spawn"),
    "forkserver": functools.partial(_processes, "forkserver"),
    "imap_unordered": _mapped,
    "LocalCluster": _dask,
    "parts": _parts,
    "ray": functools.partial(_peer, "ray"),
    "mpiexec": functools.partial(_peer, "mpi"),
}


# What dask leaves open is not ours.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="forkserver, and MPI's mpiexec")
@pytest.mark.parametrize("name", EXECUTORS)
def test_the_digests_are_those_of_this_process(name, places, tmp_path):
    source, dest, wanted = places
    job = jobs.rechunk(source, dest, **PLAN, run=False)
    EXECUTORS[name](job, tmp_path)
    assert zarr.digests(dest) == wanted
    assert zarr.verify(dest).ok
