"""The processes of a loader: each answers one task after the other, and is replaced if it ends."""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import signal
import threading
import time
from multiprocessing import connection as connections
from multiprocessing import reduction
from typing import Any

from zarrix._runtime.wake import begin
from zarrix.ml._transforms.memory import SharedMemory, Window
from zarrix.ml._transforms.samples import SampleFunction
from zarrix.ml._transforms.worker import File, Progress, Task, work

__all__ = ["Process", "WorkerEnded"]

# How often it is asked whether a process lives whose pipes another child may have inherited.
_LOOKS_S = 1.0
# A finalizer may end a process within the start of another one.
_starting = threading.RLock()
# The parent's ends of all pipes, which a forked child closes.
_ends: set[connections.Connection] = set()


class WorkerEnded(Exception):
    """A process ended while it had a task."""


class Process:
    """One worker process; a thread of its own asks it, so that it has one task at a time."""

    def __init__(
        self, number: int, function: SampleFunction, memory: SharedMemory, progress: Window
    ) -> None:
        self._number, self._function = number, function
        self._memory, self._progress = memory, progress
        self._process: Any = None
        self._connection: Any = None
        self._sent = 0

    def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is not None and self._process.is_alive():
            return
        self.end()
        context = multiprocessing.get_context()
        if multiprocessing.current_process().daemon:
            raise RuntimeError(
                "transform_workers= starts processes, which a process that is a daemon cannot, "
                "such as a worker of a DataLoader"
            )
        with _starting:
            here, there = context.Pipe()
            forks = context.get_start_method() == "fork"
            inherited = [here, *_ends] if forks else []
            process = context.Process(
                target=work,
                args=(there, self._function, inherited),
                name=f"zarrix-transform-{self._number}",
                daemon=True,
            )
            try:
                process.start()
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                here.close()
                raise ValueError(
                    "transform_sample= cannot be sent to worker processes: with the start method "
                    f"{context.get_start_method()!r} it is a function of a module, and no lambda "
                    f"or function within another ({error})"
                ) from error
            finally:
                there.close()
            _ends.add(here)
        self._process, self._connection, self._sent = process, here, 0
        self._send_files()
        here.send(Progress(self._progress, self._number))

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def ask(self, task: Task) -> list[Any]:
        """What becomes of the samples of a task; WorkerEnded if the process ends before it says."""
        try:
            self.start()
            self._send_files()
            self._connection.send(task)
            while not connections.wait([self._connection, self._process.sentinel], _LOOKS_S):
                if self._process.exitcode is not None:
                    break
            if self._connection.poll():
                answer: list[Any] = self._connection.recv()
                return answer
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            raise WorkerEnded(self._epitaph()) from error
        raise WorkerEnded(self._epitaph())

    def _send_files(self) -> None:
        """Send the files that the process does not have."""
        for number in itertools.count(self._sent):
            if number == len(self._memory.files):
                return
            file = self._memory.files[number]
            self._connection.send(File(number, file.size))
            reduction.send_handle(self._connection, file.fd, self._process.pid)
            self._sent = number + 1

    def _epitaph(self) -> str:
        """How the process ended; it is forgotten."""
        self._process.join(_LOOKS_S)
        pid, code = self._process.pid, self._process.exitcode
        self.end()
        if code is None:
            return f"worker process {pid} stopped answering"
        if code >= 0:
            return f"worker process {pid} ended with exit code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"worker process {pid} was ended by {name}"

    def end(self, until: float = 0.0) -> None:
        """Let the process end, by force after a point in time."""
        process, connection = self._process, self._connection
        if process is None:
            return
        self._process = self._connection = None
        with _starting:
            _ends.discard(connection)
        try:
            connection.send(None)
        except OSError:
            # It has ended already.
            process.join(0)
        connection.close()
        process.join(max(0.0, until - time.monotonic()))
        if process.exitcode is None:
            process.kill()
            process.join(_LOOKS_S)

    def kill(self) -> None:
        """End the process now, in the middle of a sample; its thread is told by `ask`."""
        process = self._process
        if process is not None:
            process.kill()


def begin_thread(target: Any, name: str, *args: Any) -> threading.Thread:
    """A thread that does not keep the program from ending."""
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    begin(thread)
    return thread
