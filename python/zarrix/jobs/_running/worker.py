"""What is sent to workers: the job, and the numbers of tasks.

A process makes the operation once and keeps it, with its open arrays, for all tasks of the job.
"""

from __future__ import annotations

import errno
import pickle
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

from zarrix import _engine
from zarrix._errors import JobError, ZarrixError
from zarrix.jobs._running.folder import Fence
from zarrix.jobs._running.operation import Operation, Setting, operation_of

__all__ = ["Failure", "Outcome", "Runner"]

_MOST_KEPT = 4
_CHECKED_S = 1.0
# A disk or a quota that is full: other tasks would fail as well.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Failure(NamedTuple):
    """Why a task failed, in a form that every process can unpickle.

    Attributes
    ----------
    error : str
        The name of its class.
    message : str
    is_passing : bool
        Whether the task may succeed when it is tried again.
    stops : bool
        Whether other tasks would fail as well.
    is_of_data : bool
        Whether zarrix says on purpose that the data is so, which is true of one task alone.
    """

    error: str
    message: str
    is_passing: bool = False
    stops: bool = False
    is_of_data: bool = False

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure of an exception."""
        full = isinstance(error, OSError) and error.errno in _FULL
        # What zarrix raises on purpose says that the data is so, and stays so.
        ours = isinstance(error, ZarrixError)
        passing = isinstance(error, OSError) and not ours and not full
        stops = full or (isinstance(error, JobError))
        return cls(type(error).__name__, str(error) or repr(error), passing, stops, ours)


class Outcome(NamedTuple):
    """What became of a task."""

    number: int
    value: Any = None
    seconds: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    failure: Failure | None = None


class Runner:
    """Does tasks of one job; pickled, it is the job without its state.

    Parameters
    ----------
    kind : str
    setting : Setting
    run : str
        The run that the tasks belong to.
    fence : Fence, optional
        What tells that it goes on.
    operation : Operation, optional
        One that is open already.
    """

    def __init__(
        self,
        kind: str,
        setting: Setting,
        run: str = "",
        fence: Fence | None = None,
        operation: Operation | None = None,
    ) -> None:
        self._kind, self._setting = kind, setting
        self._run, self._fence = run, fence
        self._operation = operation
        self._checked = float("-inf")
        self._pickled: bytes | None = None

    @property
    def operation(self) -> Operation:
        """The operation, made when it is first needed."""
        if self._operation is None:
            made = operation_of(self._kind, self._setting)
            made.belong_to(self._run, self._fence)
            self._operation = made
        return self._operation

    def __call__(self, stage: int, numbers: Sequence[int]) -> list[Outcome]:
        """Do tasks, one after the other; what fails does not stop the others."""
        return [self._one(stage, number) for number in numbers]

    def _one(self, stage: int, number: int) -> Outcome:
        begun = time.monotonic()
        try:
            operation = self.operation
            done = operation.run(stage, number)
            now = time.monotonic()
            if now - self._checked > _CHECKED_S:
                operation.check_task(stage, number)
                self._checked = now
        except Exception as error:
            # A worker must not die of a task: the driver decides.
            return Outcome(number, seconds=time.monotonic() - begun, failure=Failure.of(error))
        seconds = time.monotonic() - begun
        return Outcome(number, done.value, seconds, done.bytes_in, done.bytes_out)

    def __reduce__(self) -> Any:
        if self._pickled is None:
            self._pickled = _dumped(
                (_engine.__version__, self._kind, self._setting, self._run, self._fence)
            )
        return _runner, (self._pickled,)


def _dumped(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        # Optional: functions that a program defines in its main module or inside another function.
        import cloudpickle  # type: ignore[import-untyped]  # It has no types.

        dumped: bytes = cloudpickle.dumps(value)
        return dumped


_runners: OrderedDict[bytes, Runner] = OrderedDict()


def _runner(pickled: bytes) -> Runner:
    """The runner of this process for a job."""
    found = _runners.get(pickled)
    if found is None:
        version, *made = pickle.loads(pickled)
        if version != _engine.__version__:
            raise JobError(
                f"the job is of zarrix {version}, and this worker has {_engine.__version__}: its "
                "bytes could differ; install the same version everywhere"
            )
        found = _runners[pickled] = Runner(*made)
        while len(_runners) > _MOST_KEPT:
            _runners.popitem(last=False)
    return found
