"""One server of each kind for all workers of a run of the tests.

The worker that asks first starts it, and ends it when no other uses it any more. A worker that uses
it holds a lock of the system, which ends with the process in every case.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from waiting import until

from servers import Running, Server, running


@contextlib.contextmanager
def locked(path: Path, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a lock of this file."""
    with open(path, "a") as file:
        fcntl.flock(file, how)
        yield


@contextlib.contextmanager
def shared(server: Server, folder: Path) -> Iterator[Running]:
    """The server that all with this folder share, until the end of the block.

    Raises
    ------
    RuntimeError
        It ended, or did not answer in time; with the end of what it printed.
    """
    turn, users, told = (folder / f"{server.name}.{end}" for end in ("turn", "users", "json"))
    with contextlib.ExitStack() as stack:
        with locked(turn):
            using = stack.enter_context(open(users, "a"))
            if told.exists():
                fcntl.flock(using, fcntl.LOCK_SH)
                document = json.loads(told.read_text())
                found = Running(**{**document, "folder": Path(document["folder"])})
            else:
                found = stack.enter_context(running(server))
                told.write_text(json.dumps(dataclasses.asdict(found), default=str))
                stack.callback(_wait_for_others, using.fileno(), turn, told)
        yield found


def _wait_for_others(users: int, turn: Path, told: Path) -> None:
    """Return when no other worker uses the server, and none will."""
    while True:
        with locked(turn):
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                told.unlink()
                return
        time.sleep(0.1)


@contextlib.contextmanager
def standing_still(found: Running) -> Iterator[None]:
    """Stop every thread of the server's process meanwhile; from the first line on, none answers."""
    os.kill(found.pid, signal.SIGSTOP)
    try:
        # The signal reaches one thread after the other.
        until(lambda: all(_is_stopped(task) for task in Path(f"/proc/{found.pid}/task").iterdir()))
        yield
    finally:
        os.kill(found.pid, signal.SIGCONT)


def _is_stopped(task: Path) -> bool:
    # The name of a thread, which ends with the last bracket, comes before its state.
    return (task / "stat").read_text().rpartition(")")[2].split()[0] == "T"
