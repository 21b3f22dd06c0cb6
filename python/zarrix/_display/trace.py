"""`trace`: what the calls inside a ``with`` block spend their time on, and how it is drawn.

The engine records spans while a trace is open. They are drawn by `zarrix._display.waterfall`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from zarrix import _engine
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.new_files import whole_file

__all__ = ["Span", "Trace", "trace"]

KINDS = ("program", "call", "wait", "request", "decode", "encode", "copy", "lock", "join")


class Span(NamedTuple):
    """A step of a call. Times are seconds since the trace began.

    Attributes
    ----------
    kind : str
        ``call``, ``wait``, ``request``, ``decode``, ``encode``, ``copy``, ``lock`` or ``join``.
    name : str
        Of a call its name, such as ``read``; of a request what it asks: ``get``, ``PUT``.
    key : str
        The key of a request or a lock; the array of a call.
    thread : int or None
        0 is the thread of the ``with`` statement. None is a request to a server, during which
        a thread has a ``wait``.
    begin, answered, end : float
        When it began, when a server began to answer (else as ``begin``), and when it ended.
    nbytes : int
        How many bytes a request has moved.
    """

    kind: str
    name: str
    key: str
    thread: int | None
    begin: float
    answered: float
    end: float
    nbytes: int


class Trace:
    """What `trace` returns. Printed, it is a waterfall; a notebook shows it as a picture.

    Parameters
    ----------
    limit : int, default 100,000
        How many spans are kept; the others are counted.

    Attributes
    ----------
    spans : list of Span
        By their begins; complete when the block has ended.
    left_out : int
        How many spans are not in `spans`. `requests` and `totals` have them.
    seconds : float
        From the begin of the block to its end.
    """

    def __init__(self, limit: int = 100_000) -> None:
        if not 0 <= limit <= 100_000_000:
            raise ValueError(f"limit={limit} is not allowed: it must be from 0 to 100,000,000")
        self.limit = limit
        self.spans: list[Span] = []
        self.left_out = 0
        self.seconds = 0.0
        self._totals: list[tuple[str, str, int, int, int]] = []
        self._id: int | None = None
        self._begun = 0.0

    def __enter__(self) -> Trace:
        if self._begun:
            raise ValueError("a trace records one block; call trace() again for another one")
        self._id, self._lane = _engine.trace_begin(self.limit)
        self._begun = time.perf_counter()
        self._wall = time.time_ns()
        return self

    def __exit__(self, *error: object) -> None:
        ended = time.perf_counter()
        own, self._id = self._id, None
        found = None if own is None else _engine.trace_end(own)
        self.seconds = ended - self._begun
        if found is not None:
            rows, self._totals, self.left_out, elapsed = found
            self.seconds = elapsed / 1e9
            self.spans = sorted(_spans(rows, self._lane), key=lambda one: (one.begin, -one.end))

    @property
    def requests(self) -> dict[str, int]:
        """How many requests were made to stores, by name; all of them.

        Returns
        -------
        dict of str to int
        """
        return {name: count for kind, name, count, _, _ in self._totals if kind == "request"}

    @property
    def totals(self) -> dict[str, tuple[int, float, int]]:
        """By kind: how many spans of all threads, their seconds added, and their bytes.

        A span inside another one counts for both.

        Returns
        -------
        dict of str to tuple
        """
        found: dict[str, tuple[int, float, int]] = {}
        for kind, _, count, nanoseconds, nbytes in self._totals:
            counts, seconds, total = found.get(kind, (0, 0.0, 0))
            found[kind] = counts + count, seconds + nanoseconds / 1e9, total + nbytes
        return found

    @cached_property
    def times(self) -> dict[str, float]:
        """By kind: the seconds of the thread of the ``with`` statement; together `seconds`.

        A span has only the time in which no other one inside it was open. ``call`` is what the
        engine did besides, and ``program`` all that was not in the engine.

        Returns
        -------
        dict of str to float
        """
        found = dict.fromkeys(KINDS, 0.0)
        found["program"] = self.seconds
        for kind, seconds, outer in _alone(one for one in self.spans if one.thread == 0):
            found[kind] += seconds
            found[outer] -= seconds
        return found

    def __str__(self) -> str:
        # Imported when called: only a trace that is shown is drawn.
        from zarrix._display.waterfall import waterfall_text

        return waterfall_text(self)

    def __repr__(self) -> str:
        return str(self) if self._begun and self._id is None else "<trace that has not ended>"

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.waterfall import waterfall_html

        return waterfall_html(self)

    def to_json(self) -> dict[str, Any]:
        """The trace as JSON that Perfetto and Chrome open: trace events, in microseconds.

        Returns
        -------
        dict
        """
        events = [
            {
                "ph": "X",
                "name": f"{one.kind} {one.name}".strip(),
                "cat": one.kind,
                "ts": one.begin * 1e6,
                "dur": (one.end - one.begin) * 1e6,
                "pid": os.getpid(),
                "tid": -1 if one.thread is None else one.thread,
                "args": {"key": one.key, "bytes": one.nbytes},
            }
            for one in self.spans
        ]
        about = {"seconds": self.seconds, "left_out": self.left_out, "requests": self.requests}
        return {"traceEvents": events, "otherData": about}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trace to a file: a page for ``.html``, JSON for ``.json``.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        ValueError
            The name has another ending.

        Examples
        --------
        >>> import zarrix as zarr
        >>> with zarr.trace() as t:
        ...     z = zarr.ones(10)
        >>> t.save("t.txt")
        Traceback (most recent call last):
            ...
        ValueError: 't.txt': a trace is written to NAME.html or NAME.json
        """
        name = os.fspath(path)
        if name.endswith(".html"):
            page = "<!DOCTYPE html><meta charset=utf-8><title>zarrix trace</title>"
            text = f"{page}<body>{self._repr_html_()}</body>\n"
        elif name.endswith(".json"):
            text = json.dumps(self.to_json()) + "\n"
        else:
            raise ValueError(f"{name!r}: a trace is written to NAME.html or NAME.json")
        with whole_file(name) as file:
            file.write(text.encode())

    def to_opentelemetry(self, tracer: Any = None) -> int:
        """Give the spans to OpenTelemetry, whose exporters send them on.

        Parameters
        ----------
        tracer : opentelemetry.trace.Tracer, optional
            By default that of ``zarrix`` of the provider that the program has set.

        Returns
        -------
        int
            How many spans it was given; the one of the block is the parent of all.

        Raises
        ------
        ImportError
            OpenTelemetry is not installed.
        """
        # Imported when called: it is an optional package.
        from zarrix._display.telemetry import give_spans

        return give_spans(self.spans, self.seconds, self._wall, tracer)


def trace(limit: int = 100_000) -> Trace:
    """Record what the calls inside a ``with`` block spend their time on.

    The trace has the calls of all threads of this process, and traces may overlap: each has all.
    While none is open, calls cost what they cost without traces. A forked child is in no trace.

    Parameters
    ----------
    limit : int, default 100,000
        How many spans are kept, at most about 400 bytes each; the others are counted.

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        ``limit`` is negative, or above 100,000,000.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.ones((100, 100), chunks=(50, 50))
    >>> with zarr.trace() as t:
    ...     _ = z[:]
    >>> [one.name for one in t.spans if one.kind == "call"]
    ['read']
    >>> round(sum(t.times.values()) / t.seconds, 6)
    1.0
    """
    return Trace(limit)


def _spans(rows: Sequence[tuple[Any, ...]], own: int) -> Iterator[Span]:
    """The rows of the engine, with small numbers of threads."""
    threads: dict[int, int | None] = {0: None, own: 0}
    for kind, name, key, lane, begin, answered, end, nbytes in rows:
        if lane not in threads:
            threads[lane] = len(threads) - 1
        yield Span(
            kind, name, key, threads[lane], begin / 1e9, answered / 1e9, end / 1e9, nbytes
        )  # fmt: skip


def _alone(spans: Iterator[Span]) -> Iterator[tuple[str, float, str]]:
    """Kind and seconds of each span of one thread, and the kind of the span around it."""
    open_: list[Span] = []
    for one in spans:
        while open_ and open_[-1].end <= one.begin:
            open_.pop()
        yield one.kind, one.end - one.begin, open_[-1].kind if open_ else "program"
        open_.append(one)
