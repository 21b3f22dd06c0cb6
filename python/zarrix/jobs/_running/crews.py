"""Crews: what each kind of ``executor=`` can do, behind one method.

A crew takes tasks from a feed, has them done, and yields their outcomes in any order. Nothing is
imported to tell an executor: it is known by its methods and by the name of its module.
"""

from __future__ import annotations

import functools
import inspect
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent import futures
from typing import Any, Protocol

from zarrix._errors import JobInterrupted
from zarrix._runtime.config import config
from zarrix.jobs._running.feed import Feed
from zarrix.jobs._running.worker import Failure, Outcome, Runner

__all__ = ["Crew", "crew_of"]

# Short tasks are handed out in batches that take about this long.
_BATCH_S = 0.25
_MOST_IN_A_BATCH = 64
_WINDOW = 4
_POLL_S = 0.5


class Crew(Protocol):
    """Workers that do tasks."""

    @property
    def is_here(self) -> bool:
        """Whether they are threads of this process, which share its stores in memory."""

    def outcomes(self, runner: Runner, stage: int, feed: Feed) -> Iterator[list[Outcome]]:
        """Have tasks done until the feed has none, and yield what became of them."""

    def close(self) -> None:
        """End the workers that this crew has started."""


def perform(runner: Runner, stage: int, numbers: list[int]) -> list[Outcome]:
    """Do tasks; the function that executors are given."""
    return runner(stage, numbers)


class Alone:
    """One task after the other in this thread, on all threads of the engine."""

    is_here = True

    def outcomes(self, runner: Runner, stage: int, feed: Feed) -> Iterator[list[Outcome]]:
        """Do the tasks."""
        while numbers := feed.take(1):
            yield perform(runner, stage, numbers)

    def close(self) -> None:
        """There are no workers to end."""


class Mapping:
    """A function such as ``pool.imap_unordered``, which maps a function over an iterable."""

    is_here = False

    def __init__(self, mapper: Callable[[Any, Iterable[Any]], Iterable[Any]]) -> None:
        self._mapper = mapper

    def outcomes(self, runner: Runner, stage: int, feed: Feed) -> Iterator[list[Outcome]]:
        """Map over batches of tasks."""
        length = max(1, min(_MOST_IN_A_BATCH, feed.left // 256))
        batches = iter(functools.partial(feed.take, length), [])
        yield from self._mapper(functools.partial(perform, runner, stage), batches)

    def close(self) -> None:
        """The workers belong to the caller."""


class Submitting(ABC):
    """Any object with ``submit`` that gives futures; at most a window of tasks is submitted.

    Parameters
    ----------
    patience : float
        Seconds without a finished task and without a worker after which the job is interrupted.
    """

    is_here = False

    def __init__(self, patience: float) -> None:
        self._patience = patience

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of tasks that can run at once."""

    @abstractmethod
    def submit(self, runner: Runner, stage: int, batch: list[int]) -> Any:
        """A future of the outcomes of a batch."""

    @abstractmethod
    def wait(self, pending: Collection[Any], seconds: float) -> Iterable[Any]:
        """Those futures that are done after at most some seconds, at least one if any is."""

    def result(self, future: Any) -> list[Outcome]:
        """The outcomes of a future that is done."""
        found: list[Outcome] = future.result()
        return found

    def cancel(self, pending: Collection[Any]) -> None:
        """Cancel what has not begun."""
        for future in pending:
            future.cancel()

    def has_workers(self) -> bool:
        """Whether there may be a worker that does tasks."""
        return True

    def renew(self, progressed: bool) -> bool:
        """Replace workers that are gone for good; False if that is not possible."""
        return False

    def broken(self, error: BaseException) -> bool:
        """Whether an error says that all workers are gone."""
        return isinstance(error, futures.BrokenExecutor)

    def outcomes(self, runner: Runner, stage: int, feed: Feed) -> Iterator[list[Outcome]]:
        """Submit batches, no more than the window, and yield what is done."""
        batches = _Batches(self, runner, stage, feed)
        while True:
            batches.submit()
            if batches.lost is None and not batches.pending:
                return
            done = [] if batches.lost is not None else self.wait(list(batches.pending), _POLL_S)
            batches.cancel_if_stopped()
            yield from batches.collect(done)
            if batches.lost is not None:
                batches.give_back_all()
                if feed.stopped:
                    return
                self._begin_anew(batches)
            elif batches.silence > self._patience and not self.has_workers():
                self.cancel(list(batches.pending))
                raise JobInterrupted(
                    f"no worker for {self._patience:g} seconds; run the same line again when there "
                    "are workers: it goes on"
                )
            else:
                # The driver may have something to do.
                yield []

    def _begin_anew(self, batches: _Batches) -> None:
        """Replace the workers, which are gone."""
        lost = batches.lost
        if not self.renew(batches.has_progressed):
            raise JobInterrupted(
                f"the workers died ({lost}); run the same line again: it goes on"
            ) from lost
        batches.lost, batches.has_progressed = None, False
        batches.heard = time.monotonic()

    def close(self) -> None:  # noqa: B027  (a hook that most do not need)
        """The workers belong to the caller."""


class _Batches:
    """The batches of a stage that are submitted and not back, and how fast tasks come back.

    Attributes
    ----------
    pending : dict of future to list of int
    lost : exception, optional
        What says that all workers are gone.
    has_progressed : bool
        Whether a task has come back from these workers.
    heard : float
        When one came back, or the workers began, by the monotonic clock.
    """

    def __init__(self, crew: Submitting, runner: Runner, stage: int, feed: Feed) -> None:
        self._crew, self._runner, self._stage, self._feed = crew, runner, stage, feed
        self.pending: dict[Any, list[int]] = {}
        self.lost: BaseException | None = None
        self.has_progressed = False
        self.heard = time.monotonic()
        self._seconds, self._count = 0.0, 0
        self._is_cancelled = False

    @property
    def silence(self) -> float:
        """The seconds since a task came back."""
        return time.monotonic() - self.heard

    def submit(self) -> None:
        """Fill the window with batches, unless the workers are gone."""
        while self.lost is None and len(self.pending) < _WINDOW * self._crew.workers:
            batch = self._feed.take(self._length())
            if not batch:
                return
            try:
                future = self._crew.submit(self._runner, self._stage, batch)
            except Exception as error:
                _give_back(self._feed, batch)
                if not self._crew.broken(error):
                    raise
                self.lost = error
            else:
                self.pending[future] = batch

    def _length(self) -> int:
        """The number of tasks in the next batch."""
        if not self._count:
            return 1
        fair = max(1, self._feed.left // (_WINDOW * self._crew.workers))
        usual = int(_BATCH_S * self._count / max(self._seconds, 1e-6))
        return max(1, min(_MOST_IN_A_BATCH, fair, usual))

    def cancel_if_stopped(self) -> None:
        """Cancel what has not begun, once, if no more tasks are handed out."""
        if self._feed.stopped and not self._is_cancelled:
            self._is_cancelled = True
            self._crew.cancel(list(self.pending))

    def collect(self, done: Iterable[Any]) -> Iterator[list[Outcome]]:
        """The outcomes of futures that are done."""
        for future in list(done):
            batch = self.pending.pop(future)
            try:
                outcomes = self._crew.result(future)
            except futures.CancelledError:
                if not self._feed.stopped:
                    yield _all_failed(batch, "CancelledError", "the executor cancelled it")
            except Exception as error:
                if self._crew.broken(error):
                    self.lost = error
                    _give_back(self._feed, batch)
                else:
                    yield _all_failed(batch, type(error).__name__, str(error) or repr(error))
            else:
                self.heard, self.has_progressed = time.monotonic(), True
                self._seconds += sum(outcome.seconds for outcome in outcomes)
                self._count += len(outcomes)
                yield outcomes

    def give_back_all(self) -> None:
        """Hand all tasks out again."""
        for batch in self.pending.values():
            _give_back(self._feed, batch)
        self.pending.clear()


def _give_back(feed: Feed, batch: list[int]) -> None:
    for number in batch:
        feed.again(number, 0)


def _all_failed(batch: list[int], error: str, message: str) -> list[Outcome]:
    """Tasks whose worker died or was cancelled, which may succeed in another one."""
    return [Outcome(number, failure=Failure(error, message, True)) for number in batch]


class Pool(Submitting):
    """A `concurrent.futures.Executor`, or a function that makes one.

    Parameters
    ----------
    executor : Executor, optional
    factory : callable, optional
        Makes executors, which are ended with the crew. It is called again when workers died, up to
        ``retries`` times without a finished task in between.
    """

    def __init__(
        self,
        patience: float,
        executor: Any = None,
        factory: Callable[[], Any] | None = None,
        retries: int = 0,
    ) -> None:
        super().__init__(patience)
        assert executor is not None or factory is not None
        self._factory, self._retries, self._renewed = factory, retries, 0
        self._executor = factory() if executor is None and factory is not None else executor
        self.is_here = isinstance(self._executor, futures.ThreadPoolExecutor)

    @property
    def workers(self) -> int:
        """The number of threads or processes, if the executor tells it."""
        count = getattr(self._executor, "_max_workers", None)
        return count if isinstance(count, int) and count > 0 else max(config.threads, 4)

    def submit(self, runner: Runner, stage: int, batch: list[int]) -> Any:
        """A future of a batch."""
        return self._executor.submit(perform, runner, stage, batch)

    def wait(self, pending: Collection[Any], seconds: float) -> Iterable[Any]:
        """Those that are done."""
        first = next(iter(pending))
        if isinstance(first, futures.Future):
            return futures.wait(pending, seconds, futures.FIRST_COMPLETED).done
        # Futures of another library, such as MPIPoolExecutor's own, have only ``done``.
        until = time.monotonic() + seconds
        while not (done := [one for one in pending if one.done()]) and time.monotonic() < until:
            time.sleep(0.01)
        return done

    def renew(self, progressed: bool) -> bool:
        """Make another executor, if there is a function that does."""
        self._renewed = 1 if progressed else self._renewed + 1
        if self._factory is None or self._renewed > self._retries:
            return False
        self._executor.shutdown(wait=True, cancel_futures=True)
        self._executor = self._factory()
        return True

    def close(self) -> None:
        """End the executor, unless it is the caller's."""
        if self._factory is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


def ignore_ctrl_c() -> None:
    """In a worker process: the driver decides what Ctrl-C ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def own_processes() -> futures.ProcessPoolExecutor:
    """Worker processes that are ended with the job: as many as the engine has threads."""
    # Import time: few programs start processes.
    import multiprocessing

    return futures.ProcessPoolExecutor(
        config.threads, multiprocessing.get_context("spawn"), initializer=ignore_ctrl_c
    )


def own_threads() -> futures.ThreadPoolExecutor:
    """Threads that are ended with the job."""
    return futures.ThreadPoolExecutor(config.threads)


_NAMED: dict[str, Callable[[], Any]] = {"processes": own_processes, "threads": own_threads}


def crew_of(executor: Any, *, retries: int, patience: float) -> Crew:
    """The crew of what a user passes as ``executor=``.

    Raises
    ------
    TypeError
        It is not an executor.
    """
    if executor is None:
        return Alone()
    if isinstance(executor, str) and executor in _NAMED:
        return Pool(patience, factory=_NAMED[executor], retries=retries)
    if hasattr(executor, "submit") and not isinstance(executor, type):
        return Pool(patience, executor)
    needed = _required(executor) if callable(executor) else None
    if needed == 0:
        return Pool(patience, factory=executor, retries=retries)
    if needed is not None:
        return Mapping(executor)
    names = ", ".join(map(repr, _NAMED))
    raise TypeError(
        f"executor={executor!r}; expected None, {names}, an executor with submit(), a "
        "distributed.Client, ray, an MPI communicator, a Spark context, a function that makes "
        "executors, or a function (function, iterable) -> iterable"
    )


def _required(function: Callable[..., Any]) -> int:
    """The number of arguments that a function must be given; those of a class are its
    constructor's.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(one.kind in plain and one.default is one.empty for one in parameters)
