"""Runs a job with an executor that has an environment of its own.

    python cluster_peer.py ray JOB [TWICE]
    mpiexec -n 3 python cluster_peer.py mpi JOB

JOB is a file of `Job.save`, or a pickled job. It prints the number of tasks that were done here.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

from zarrix import jobs


def job_of(path: str) -> jobs.Job:
    """The job of a file; a pickled one has the credentials of its stores."""
    if not path.endswith(".pickle"):
        return jobs.Job.load(path)
    with open(path, "rb") as file:
        found: jobs.Job = pickle.load(file)
    return found


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
    run = {"ray": with_ray, "mpi": with_mpi}[sys.argv[1]]
    for name in sys.argv[2:]:
        print(run(job_of(name)).tasks, flush=True)
