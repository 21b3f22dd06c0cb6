"""A worker process: it takes samples of batches from its parent until that has gone."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator
from multiprocessing import connection as connections
from multiprocessing import reduction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zarrix.ml._transforms.memory import Mapped, Window
from zarrix.ml._transforms.samples import SampleFunction, called
from zarrix.ml._transforms.trees import Form

__all__ = ["Failed", "File", "Progress", "Task", "work"]

# How often a worker that has nothing to do asks whether its parent lives. Other children of the
# parent may have inherited the ends of its pipes, which then stay open after a kill.
_LOOKS_S = 1.0


class File(NamedTuple):
    """A file of shared memory, whose descriptor follows."""

    number: int
    size: int


class Progress(NamedTuple):
    """Where a worker writes which sample it is at, and reads whether it should stop."""

    window: Window
    worker: int


class Task(NamedTuple):
    """Some samples of a batch, from number ``first`` on."""

    first: int
    seeds: list[int]
    entries: dict[str, Window | npt.NDArray[Any]]
    form: Form | None
    rows: list[Window]


class Failed(NamedTuple):
    """What a function raised for a sample: the exception, if it can be sent, and its text."""

    sample: int
    error: BaseException | None
    summary: str
    text: str


class _Parent:
    """Whether the process that started this one lives."""

    def __init__(self) -> None:
        self._pid = os.getppid()
        parent = multiprocessing.parent_process()
        self.sentinels = [] if parent is None else [parent.sentinel]

    def lives(self) -> bool:
        return os.getppid() == self._pid


def work(
    connection: connections.Connection,
    function: SampleFunction,
    inherited: list[connections.Connection],
) -> None:
    """Answer tasks; ``inherited`` are ends of pipes that only the parent should have."""
    for other in inherited:
        other.close()
    _settle()
    parent, mapped = _Parent(), Mapped()
    progress: npt.NDArray[np.int64] | None = None
    worker = 0
    for message in _messages(connection, parent):
        if isinstance(message, File):
            mapped.add(message.number, reduction.recv_handle(connection), message.size)
        elif isinstance(message, Progress):
            progress, worker = mapped(message.window), message.worker
        else:
            assert progress is not None
            answer = list(_answers(message, function, mapped, progress, worker, parent))
            try:
                connection.send_bytes(_packed(message.first, answer))
            except OSError:
                # The parent has gone.
                return


def _settle() -> None:
    """Leave signals to the parent, and the processors to the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if "torch" in sys.modules:
        # Its pool of threads does not exist after a fork, and is waited for in vain.
        importlib.import_module("torch").set_num_threads(1)


def _messages(connection: connections.Connection, parent: _Parent) -> Iterator[Any]:
    """What the parent sends, until it says that it is over, or has gone."""
    while True:
        ready = connections.wait([connection, *parent.sentinels], _LOOKS_S)
        if connection in ready:
            try:
                message = connection.recv()
            except (EOFError, OSError):
                return
            if message is None:
                return
            yield message
        elif ready or not parent.lives():
            return


def _answers(
    task: Task,
    function: SampleFunction,
    mapped: Mapped,
    progress: npt.NDArray[np.int64],
    worker: int,
    parent: _Parent,
) -> Iterator[Any]:
    """What becomes of each sample; the first that fails is the last."""
    entries = {
        name: mapped(entry) if isinstance(entry, Window) else entry
        for name, entry in task.entries.items()
    }
    shared = [name for name, entry in task.entries.items() if isinstance(entry, Window)]
    rows = [mapped(window) for window in task.rows]
    for i, seed in enumerate(task.seeds):
        progress[worker] = task.first + i
        if progress[-1] or not parent.lives():
            return
        sample = {name: entry[i] for name, entry in entries.items()}
        try:
            result = called(function, sample, seed, shared)
            written = (
                None
                if task.form is None
                else task.form.write(result, [row[i, ...] for row in rows])
            )
        except BaseException as error:
            yield _failed(task.first + i, error)
            return
        yield result if written is None else written


def _failed(sample: int, error: BaseException) -> Failed:
    text = "".join(traceback.format_exception(error))
    summary = f"{type(error).__name__}: {error}"
    try:
        # Some exceptions can be sent and not be received.
        pickle.loads(pickle.dumps(error))
    except Exception:
        return Failed(sample, None, summary, text)
    return Failed(sample, error, summary, text)


def _packed(first: int, answer: list[Any]) -> Any:
    try:
        return reduction.ForkingPickler.dumps(answer)
    except Exception as error:
        return reduction.ForkingPickler.dumps([_unsent(first, answer, error)])


def _unsent(first: int, answer: list[Any], error: Exception) -> Failed:
    """The first sample whose result cannot be sent, as a failure."""
    for i, one in enumerate(answer):
        try:
            reduction.ForkingPickler.dumps(one)
        except Exception as cause:
            return _failed(first + i, _unpickled(cause))
    return _failed(first, _unpickled(error))


def _unpickled(cause: Exception) -> TypeError:
    # Which class pickle raises, and its text, differ between versions of Python.
    return TypeError(
        "the result of transform_sample cannot be pickled, as it must be to leave a worker "
        f"process: {type(cause).__name__}: {cause}"
    )
