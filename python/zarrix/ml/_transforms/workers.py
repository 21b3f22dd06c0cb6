"""Transforms of samples in worker processes: batches in, batches out, in shared memory.

The samples of a batch are divided into tasks, which the processes take as they become free. What a
sample becomes depends on its seed alone, so that the number of processes changes nothing.
"""

from __future__ import annotations

import os
import queue
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from zarrix._errors import CallCancelledError
from zarrix._runtime.anonymous import CAN_SEND_DESCRIPTORS
from zarrix._runtime.wake import Wake
from zarrix.ml._reading.batch import Batch, Samples
from zarrix.ml._transforms.memory import SharedMemory, Window
from zarrix.ml._transforms.processes import Process, WorkerEnded, begin_thread
from zarrix.ml._transforms.samples import SampleFunction, batch_of, joined
from zarrix.ml._transforms.trees import Form, Row, Written
from zarrix.ml._transforms.worker import Failed, Task

__all__ = ["Begun", "Workers", "checked_workers"]

# So many tasks for each process: the last ones of a batch end at about the same time.
_TASKS = 4
# How long a worker may take for the sample that it is at when a loader is closed.
_PATIENCE_S = 5.0


class Begun:
    """A batch whose samples are being transformed."""

    def __init__(self, batch: Batch, form: Form | None, rows: list[Any], tasks: int) -> None:
        self.batch, self.form, self.rows = batch, form, rows
        self.samples: list[Any] = [None] * len(batch["item"])
        self.failures: list[Failed] = []
        self._lock, self._left, self._more = threading.Lock(), tasks, Wake()
        self.is_cancelled = False

    @property
    def first_failed(self) -> int:
        """The first sample that is known to have failed; all later ones are not needed."""
        return min((one.sample for one in self.failures), default=len(self.samples))

    def answered(self, first: int, answer: list[Any]) -> None:
        """Note what became of the samples of a task."""
        with self._lock:
            for number, one in enumerate(answer, first):
                if isinstance(one, Failed):
                    self.failures.append(one)
                else:
                    self.samples[number] = one
            self._left -= 1
        if not self._left:
            self._more.set()

    def result(self, is_over: Callable[[], bool]) -> Any:
        """The batch of what the function returned, when all samples are done.

        Raises what the function raised for the first sample that failed, and CallCancelledError
        when ``is_over`` says that its pass has ended.
        """
        while self._left:
            if is_over():
                self.is_cancelled = True
                raise CallCancelledError("the loader was closed while samples were transformed")
            self._more.wait()
        if self.failures:
            raise self._error(min(self.failures, key=lambda one: one.sample))
        if self.form is not None and all(type(one) is Written for one in self.samples):
            return self._written(self.form)
        samples = Samples.of(self.batch)
        return joined([self._tree(number) for number in range(len(samples))], samples)

    def _written(self, form: Form) -> Any:
        others = [np.stack(values) for values in zip(*self._others(), strict=True)]
        tree = form.tree(self.rows, others, self.batch)
        return batch_of(tree, self.batch) if isinstance(tree, dict) else tree

    def _others(self) -> list[list[Any]]:
        return [[np.asarray(value) for value in one.others] for one in self.samples]

    def _tree(self, number: int) -> Any:
        """What one sample became, wherever its arrays are."""
        one = self.samples[number]
        if not isinstance(one, Written):
            return one
        assert self.form is not None
        return self.form.tree([row[number] for row in self.rows], one.others)

    def _error(self, failed: Failed) -> BaseException:
        item = int(self.batch["item"][failed.sample])
        note = f"transform_sample failed at item {item}"
        error = failed.error
        if error is None:
            error = RuntimeError(f"{note}: {failed.summary}")
        error.add_note(f"{note}, in a worker process:\n{failed.text}" if failed.text else note)
        return error


class Workers:
    """The worker processes of a loader, which end with it.

    Attributes
    ----------
    memory : SharedMemory
        Where batches have to be, so that workers see them.
    """

    def __init__(self, count: int, function: SampleFunction) -> None:
        self.memory = SharedMemory()
        self._crew = _Crew(count, function, self.memory)
        self._count = count
        self._form: Form | None = None
        # At exit too, before multiprocessing ends its processes in the middle of a sample.
        self._closes = weakref.finalize(self, self._crew.close)

    def start(self) -> None:
        """Start the processes that do not run, from the calling thread."""
        self._crew.start()

    def begin(self, batch: Batch, allocate: Any) -> Begun:
        """Begin to transform a batch; ``allocate`` gives memory of what it becomes."""
        count, form = len(batch["item"]), self._form
        rows = [
            allocate((count, *leaf.shape), leaf.dtype)
            for leaf in (form.leaves if form is not None else ())
            if isinstance(leaf, Row)
        ]
        windows = [self.memory.window(row) for row in rows]
        if not all(windows):
            # Arrays without elements are nowhere.
            form, rows, windows = None, [], []
        step = max(1, -(-count // (_TASKS * self._count)))
        begun = Begun(batch, form, rows, -(-count // step))
        places = {name: self.memory.window(value) for name, value in batch.items()}
        for first in range(0, count, step):
            part = slice(first, min(first + step, count))
            self._crew.tasks.put((begun, _task(batch, places, part, form, windows)))
        return begun

    def result(self, begun: Begun, cancel: Any) -> Any:
        """The transformed batch; the next ones are expected to have its form."""
        result = begun.result(lambda: cancel.is_cancelled or self._crew.is_closed)
        if not isinstance(begun.samples[0], Written):
            self._form = Form.of(begun.samples[0])
        return result

    def close(self) -> None:
        """End the processes, and wait for them."""
        self._closes()


def checked_workers(count: Any, function: SampleFunction | None) -> int:
    """The number of processes that a caller asks for; ValueError where there can be none."""
    if not isinstance(count, int | np.integer) or count < 0:
        raise ValueError(f"transform_workers={count!r}; it is an integer of at least 0")
    if count and function is None:
        raise ValueError("transform_workers= runs transform_sample=, which is not given")
    if count and not CAN_SEND_DESCRIPTORS:
        raise ValueError("transform_workers= needs descriptors of files that processes can send")
    return int(count)


def _task(
    batch: Batch,
    places: dict[str, Window | None],
    part: slice,
    form: Form | None,
    windows: list[Any],
) -> Task:
    assert batch.seeds is not None
    entries: dict[str, Any] = {}
    for name, window in places.items():
        entries[name] = batch[name][part] if window is None else _part(window, part)
    rows = [_part(window, part) for window in windows]
    return Task(part.start, batch.seeds[part].tolist(), entries, form, rows)


def _part(window: Window, part: slice) -> Window:
    count, stride = part.stop - part.start, window.strides[0]
    return window._replace(
        offset=window.offset + part.start * stride, shape=(count, *window.shape[1:])
    )


class _Crew:
    """The processes, and a thread for each that hands tasks to it; it does not know its owner."""

    def __init__(self, count: int, function: SampleFunction, memory: SharedMemory) -> None:
        self.tasks: queue.SimpleQueue[tuple[Begun, Task] | None] = queue.SimpleQueue()
        # The sample that each worker is at, and whether they should stop.
        self._progress = memory(8 * (count + 1)).view(np.int64)[: count + 1]
        self._progress[:] = 0
        window = memory.window(self._progress)
        assert window is not None
        self._processes = [Process(n, function, memory, window) for n in range(count)]
        self._threads: list[threading.Thread] = []
        self._pid, self.is_closed = os.getpid(), False

    def start(self) -> None:
        for process in self._processes:
            process.start()
        if not self._threads:
            self._threads = [
                begin_thread(self._hand_out, "zarrix-transform", number)
                for number in range(len(self._processes))
            ]

    def _hand_out(self, number: int) -> None:
        while (next_one := self.tasks.get()) is not None:
            begun, task = next_one
            answer: list[Any] = []
            if not begun.is_cancelled and task.first < begun.first_failed:
                answer = self._answer(number, task)
            begun.answered(task.first, answer)
            # Not until the next task: the memory of a batch is its consumer's.
            del begun, task, answer, next_one

    def _answer(self, number: int, task: Task) -> list[Any]:
        process = self._processes[number]
        try:
            if not self.is_closed:
                self._progress[number] = task.first
                answer = process.ask(task)
                if len(answer) == len(task.seeds) or (answer and isinstance(answer[-1], Failed)):
                    return answer
            closed = CallCancelledError("the loader was closed, and its workers with it")
            return [Failed(task.first, closed, str(closed), "")]
        except WorkerEnded as ended:
            sample, cause = int(self._progress[number]), f"transform_sample: {ended}"
            return [Failed(sample, RuntimeError(cause), cause, "")]
        except Exception as error:
            return [Failed(task.first, error, str(error), "")]

    def close(self) -> None:
        if os.getpid() != self._pid or self.is_closed:
            return
        self.is_closed = True
        self._progress[-1] = 1
        until = time.monotonic() + _PATIENCE_S
        for _ in self._threads:
            self.tasks.put(None)
        # Without a thread no process was started, or only some.
        for process in self._processes[len(self._threads) :]:
            process.end(until)
        for thread, process in zip(self._threads, self._processes, strict=False):
            if thread is threading.current_thread():
                continue
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                process.kill()
                thread.join(_PATIENCE_S)
            if not thread.is_alive():
                process.end(until)
