"""Work in a forked child that may crash, hang or grow: what became of it is data, not a failure."""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """How a child ended, and what it answered if it did."""

    answer: Any = None
    ended: str = "ok"


def call(work: Callable[[], Any], limit_s: float = 60) -> Outcome:
    """What ``work`` returns in a forked child, or how the child ended instead."""
    answers = list(stream(lambda: iter([work()]), limit_s))
    return answers[0]


def stream(work: Callable[[], Iterator[Any]], limit_s: float) -> Iterator[Outcome]:
    """What the iterator of a forked child yields, each within ``limit_s``; last, a bad end."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _serve(work, reader, writer)
    os.close(writer)
    received = b""
    ended = ""
    while not ended:
        ready, _, _ = select.select([reader], [], [], limit_s)
        if not ready:
            os.kill(child, signal.SIGKILL)
            ended = "hung"
            break
        more = os.read(reader, 1 << 20)
        if not more:
            break
        received += more
        while len(received) >= 8:
            size = int.from_bytes(received[:8], "little")
            if len(received) < 8 + size:
                break
            yield Outcome(pickle.loads(received[8 : 8 + size]))
            received = received[8 + size :]
    _, status = os.waitpid(child, 0)
    os.close(reader)
    if ended or status:
        yield Outcome(None, ended or f"status {status}")


def _serve(work: Callable[[], Iterator[Any]], reader: int, writer: int) -> None:
    os.close(reader)
    code = 1
    try:
        for answer in work():
            data = pickle.dumps(answer)
            data = len(data).to_bytes(8, "little") + data
            while data:
                data = data[os.write(writer, data) :]
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


class Memory:
    """The high-water mark of this process from here on, in bytes above what it has now."""

    def __init__(self) -> None:
        # 5 resets the mark (Linux, "proc(5)").
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self._before = _status("VmRSS")

    def grown(self) -> int:
        """Bytes that the process had in memory at most, beyond those at the beginning."""
        return max(0, _status("VmHWM") - self._before)


def _status(name: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def nobody() -> None:
    """Give up root's right to write everywhere, for the rest of this process."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setegid(65534)
        os.seteuid(65534)


def wait_for(condition: Callable[[], bool], limit_s: float) -> bool:
    """Whether the condition came true in time."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True
