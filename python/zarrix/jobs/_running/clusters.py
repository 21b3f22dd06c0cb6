"""Crews of cluster engines. They belong to the caller; nothing here imports them but Ray's own
object.
"""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import CancelledError
from typing import Any

from zarrix._errors import JobError
from zarrix._runtime.sizes import size_text
from zarrix.jobs._running.crews import Crew, Mapping, Submitting, perform
from zarrix.jobs._running.worker import Outcome, Runner

__all__ = ["cluster_crew"]

# A worker needs memory beside its tasks: the interpreter, and what its allocator does not return.
_MEMORY_FACTOR = 1.5


class Dask(Submitting):
    """A ``distributed.Client``: the scheduler holds a window of tasks, and never the whole job.

    Parameters
    ----------
    patience : float
    client : distributed.Client
    retries : int
        How often the scheduler tries a task again whose worker died.
    memory : int
        The bytes that a task needs; workers with less are refused.
    """

    def __init__(self, patience: float, client: Any, retries: int, memory: int) -> None:
        super().__init__(patience)
        self._client, self._retries = client, retries
        self._numbers = itertools.count()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._check_memory(memory)
        self._workers = 1

    def _check_memory(self, memory: int) -> None:
        for name, worker in self._client.scheduler_info(n_workers=-1)["workers"].items():
            limit, threads = worker.get("memory_limit") or 0, worker.get("nthreads") or 1
            if limit and limit < _MEMORY_FACTOR * threads * memory:
                fitting = int(limit / (_MEMORY_FACTOR * threads))
                raise JobError(
                    f"the worker {name} has {size_text(limit)} for {threads} tasks of "
                    f"{size_text(memory)} at once: pass max_memory={size_text(fitting)!r}, or "
                    "start workers with fewer threads or more memory"
                )

    @property
    def workers(self) -> int:
        """The threads of the cluster, as last seen."""
        return self._workers

    def submit(self, runner: Runner, stage: int, batch: list[int]) -> Any:
        """A future of a batch; a name of its own lets the scheduler do it again."""
        number = next(self._numbers)
        if number % 64 == 0:
            self._workers = max(1, sum(self._client.nthreads().values()))
        future = self._client.submit(
            perform,
            runner,
            stage,
            batch,
            key=f"zarrix-{id(self):x}-{stage}-{batch[0]}-{number}",
            retries=self._retries,
            priority=-batch[0],
            pure=False,
        )
        future.add_done_callback(self._done.put)
        return future

    def wait(self, pending: Collection[Any], seconds: float) -> Iterable[Any]:
        """Those whose callback was called."""
        held = set(pending)
        found: list[Any] = []
        try:
            found.append(self._done.get(timeout=seconds))
            while True:
                found.append(self._done.get_nowait())
        except queue.Empty:
            pass
        return [future for future in found if future in held]

    def result(self, future: Any) -> list[Outcome]:
        """The outcomes of a future; the task is done again if its worker died before they were
        fetched, which takes forever without a worker.
        """
        found: list[Outcome] = future.result(timeout=self._patience)
        return found

    def cancel(self, pending: Collection[Any]) -> None:
        """Cancel what no worker has begun; it is told from the rest by the scheduler only, so that
        all is cancelled: a task that runs ends, and is done again.
        """
        if pending:
            self._client.cancel(list(pending), force=True)

    def has_workers(self) -> bool:
        """Whether the scheduler knows any."""
        return bool(self._client.nthreads())

    def broken(self, error: BaseException) -> bool:
        """Whether the scheduler is gone."""
        gone = self._client.status not in ("running", "connecting")
        return gone or type(error).__name__ == "CommClosedError"


class Ray(Submitting):
    """Ray: the job is stored once, and tasks refer to it.

    Parameters
    ----------
    patience : float
    ray : module
    retries : int
        How often Ray tries a task again whose worker died.
    """

    def __init__(self, patience: float, ray: Any, retries: int) -> None:
        super().__init__(patience)
        self._ray = ray
        if not ray.is_initialized():
            ray.init()
        self._perform = ray.remote(max_retries=retries)(perform)
        self._stored: tuple[Runner, Any] | None = None

    @property
    def workers(self) -> int:
        """The CPUs of the cluster."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, runner: Runner, stage: int, batch: list[int]) -> Any:
        """A reference to the outcomes of a batch."""
        if self._stored is None or self._stored[0] is not runner:
            self._stored = (runner, self._ray.put(runner))
        return self._perform.remote(self._stored[1], stage, batch)

    def wait(self, pending: Collection[Any], seconds: float) -> Iterable[Any]:
        """Those that are done."""
        waiting = list(pending)
        done, rest = self._ray.wait(waiting, num_returns=1, timeout=seconds)
        if rest:
            done += self._ray.wait(rest, num_returns=len(rest), timeout=0)[0]
        found: list[Any] = done
        return found

    def result(self, future: Any) -> list[Outcome]:
        """The outcomes of a reference."""
        try:
            found: list[Outcome] = self._ray.get(future)
        except self._ray.exceptions.TaskCancelledError as error:
            raise CancelledError from error
        return found

    def cancel(self, pending: Collection[Any]) -> None:
        """Cancel what has not begun."""
        for reference in pending:
            self._ray.cancel(reference, force=False)

    def has_workers(self) -> bool:
        """Whether the cluster has a CPU."""
        return bool(self._ray.cluster_resources().get("CPU", 0))


def _spark_mapper(context: Any) -> Callable[[Any, Iterable[Any]], Iterable[Any]]:
    """A mapping function on a Spark context: a Spark job for each window of batches.

    ``toLocalIterator`` would compute one partition after the other.
    """

    def mapper(function: Any, batches: Iterable[Any]) -> Iterable[Any]:
        remaining = iter(batches)
        while window := list(itertools.islice(remaining, 4 * context.defaultParallelism)):
            yield from context.parallelize(window, len(window)).map(function).collect()

    return mapper


def cluster_crew(executor: Any, *, retries: int, patience: float, memory: int) -> Crew | None:
    """The crew of a cluster engine; None for anything else."""
    package = (getattr(executor, "__module__", None) or type(executor).__module__).partition(".")[0]
    if package == "distributed" and hasattr(executor, "scheduler_info"):
        return Dask(patience, executor, retries, memory)
    if isinstance(executor, str) and executor == "ray":
        # Optional: only those who name it have it.
        import ray  # type: ignore[import-not-found]  # It is not installed here.

        executor = ray
    if getattr(executor, "__name__", None) == "ray" and hasattr(executor, "remote"):
        return Ray(patience, executor, retries)
    context = getattr(executor, "sparkContext", executor)
    if hasattr(context, "parallelize") and hasattr(context, "defaultParallelism"):
        return Mapping(_spark_mapper(context))
    return None
