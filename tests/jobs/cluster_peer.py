"""Runs a job with an executor that has an environment of its own.

    python cluster_peer.py ray JOB
    mpiexec -n 3 python cluster_peer.py mpi JOB

JOB is a pickled job, which has the credentials of its stores. Each process writes the number of
tasks that it has done to JOB.PID.done: what several processes print may be mixed.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

from zarrix import jobs


def with_ray(job: jobs.Job) -> Any:
    """On two workers of this machine, which find this package as this program does."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    where = {"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env=where,
        _node_ip_address="127.0.0.1", object_store_memory=80 << 20,
    )  # fmt: skip
    try:
        return job.run(ray)
    finally:
        ray.shutdown()


def with_mpi(job: jobs.Job) -> Any:
    """In every process of the program."""
    from mpi4py import MPI

    return job.run(MPI.COMM_WORLD)


if __name__ == "__main__":
    run, path = {"ray": with_ray, "mpi": with_mpi}[sys.argv[1]], Path(sys.argv[2])
    report = run(pickle.loads(path.read_bytes()))
    path.with_name(f"{path.name}.{os.getpid()}.done").write_text(str(report.tasks))
