"""A contender that cannot live in one interpreter with the others: zarr-python 2 beside 3.

A process of its own, in an environment of its own, opens the arrays and times its own calls; its
turn comes over a pipe, as it comes to everybody else by a call. What is asked and answered is
pickled; the process ends with the pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import Call, Spent, nothing

if TYPE_CHECKING:
    from benchmarks.workloads import Place, Workload

ROOT = Path(__file__).resolve().parents[1]


class Elsewhere:
    """The other process."""

    def __init__(self, python: Path) -> None:
        command = [str(python), "-m", "benchmarks.elsewhere"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        atexit.register(self._end)

    def ask(self, *request: Any) -> Any:
        """What one of the functions below answers; raises what it raises."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(request, self._process.stdin, protocol=5)
        self._process.stdin.flush()
        kind, answer = pickle.load(self._process.stdout)
        if kind == "error":
            raise RuntimeError(answer)
        return answer

    def _end(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate(timeout=30)


@dataclass(frozen=True, kw_only=True)
class CallElsewhere(Call):
    """A call that the other process makes and times."""

    run: Callable[[], Any] = nothing
    process: Elsewhere
    which: tuple[str, str, Place]

    def timing(self, repeats: int) -> Spent:
        return Spent(*self.process.ask("timing", *self.which, repeats))

    def repeats(self, least_s: float) -> int:
        return int(self.process.ask("repeats", *self.which, least_s))


@lru_cache
def process_of(python: Path) -> Elsewhere:
    """The process of an environment; one for all rows."""
    return Elsewhere(python)


class _Served:
    """The rows as the other process knows them; the last one's call is kept."""

    def __init__(self) -> None:
        self._which: tuple[str, str, Place] | None = None
        self._call: Call | None = None

    def call(self, *which: Any) -> Call:
        if self._which != which or self._call is None:
            workload, contender, place = _found(*which)
            self._which, self._call = which, workload.call(contender, place)
            gc.collect()
        return self._call

    def answer(self, what: str, *which: Any) -> Any:
        if what == "result":
            workload, contender, place = _found(*which)
            return workload.result(contender, place)
        *which, number = which
        found = getattr(self.call(*which), what)(number)
        return tuple(found) if what == "timing" else found


def _found(workload: str, contender: str, place: Place) -> tuple[Workload, Any, Place]:
    from benchmarks.contenders import named
    from benchmarks.rows import row_named

    return row_named(workload), named(contender), place


def _serve() -> None:
    served, source, sink = _Served(), sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    gc.disable()
    while True:
        try:
            request = pickle.load(source)
        except EOFError:
            return
        try:
            answer = ("answer", served.answer(*request))
        except Exception as error:  # every error is returned to the caller
            answer = ("error", f"{type(error).__name__}: {error}")
        pickle.dump(answer, sink, protocol=5)
        sink.flush()


if __name__ == "__main__":
    _serve()
