"""A trace as a waterfall: text for a terminal, and a page with a picture.

It is imported when a trace is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from zarrix._display.printable import counted, lines, printable
from zarrix._runtime.sizes import human_readable_size

if TYPE_CHECKING:
    from zarrix._display.trace import Span, Trace

__all__ = ["waterfall_html", "waterfall_text"]

_WORDS = {
    "program": "outside of the engine",
    "call": "planning",
    "wait": "waiting for a server",
    "request": "requests to a store",
    "decode": "decoding",
    "encode": "encoding",
    "copy": "copying elements",
    "lock": "taking locks",
    "join": "waiting for other threads",
}
_COLOURS = {
    "program": "#bbbbbb",
    "call": "#dddddd",
    "wait": "#f4d58d",
    "request": "#4e79a7",
    "decode": "#59a14f",
    "encode": "#8cd17d",
    "copy": "#f28e2b",
    "lock": "#e15759",
    "join": "#b07aa1",
}
_MARKS = {
    "call": "·",
    "wait": "~",
    "request": "r",
    "decode": "d",
    "encode": "e",
    "copy": "c",
    "lock": "l",
    "join": "j",
}
_ROWS, _WIDTH, _KEY = 24, 48, 36
# More bars than this are not told apart, and make a page slow.
_MOST_BARS = 4000
_BAR, _PICTURE = 14, 900


def waterfall_text(trace: Trace) -> str:
    """The times by kind, and the longest spans, each as a line with a bar."""
    requests = ", ".join(f"{count} {name}" for name, count in sorted(trace.requests.items()))
    rows = [f"{_time(trace.seconds)} in all; requests: {requests or 'none'}"]
    for kind, seconds in sorted(trace.times.items(), key=lambda item: -item[1]):
        if seconds > 0:
            share = seconds / trace.seconds
            rows.append(f"  {_time(seconds):>9}  {share:>6.1%}  {_WORDS[kind]}")
    shown = sorted(trace.spans, key=lambda one: one.begin - one.end)[:_ROWS]
    rows.extend(_line(one, trace.seconds) for one in sorted(shown, key=lambda one: one.begin))
    if len(trace.spans) > len(shown):
        rows.append(f"  ... and {counted(len(trace.spans) - len(shown), 'shorter span')}")
    if trace.left_out:
        rows.append(
            f"  {counted(trace.left_out, 'span')} left out: limit={trace.limit}; the times "
            "above are those of the others"
        )
    return lines(rows)


def _line(span: Span, total: float) -> str:
    begin = min(int(span.begin / total * _WIDTH), _WIDTH - 1) if total else 0
    length = max(1, round((span.end - span.begin) / total * _WIDTH)) if total else 1
    bar = (" " * begin + _MARKS[span.kind] * length)[:_WIDTH].ljust(_WIDTH)
    what = f"{span.kind} {span.name}".strip()
    key = span.key if len(span.key) <= _KEY else f"...{span.key[3 - _KEY :]}"
    return f"  |{bar}| {_time(span.end - span.begin):>9}  {_thread(span)} {what} {key}".rstrip()


def _thread(span: Span) -> str:
    return "server  " if span.thread is None else f"thread {span.thread}"


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def waterfall_html(trace: Trace) -> str:
    """A picture of the spans, one row for each thread and each request in flight, and the times."""
    spans = sorted(trace.spans, key=lambda one: one.begin - one.end)[:_MOST_BARS]
    rows = _rows(sorted(spans, key=lambda one: (one.begin, -one.end)))
    height = _BAR * len(rows)
    bars = [bar for y, (_, own) in enumerate(rows) for bar in _bars(own, y, trace.seconds)]
    names = "".join(
        f'<text x="0" y="{y * _BAR + 11}" font-size="10">{escape(name)}</text>'
        for y, (name, _) in enumerate(rows)
    )
    more = len(trace.spans) - len(spans) + trace.left_out
    note = f"<p>{counted(more, 'shorter span')} not drawn</p>" if more else ""
    return (
        f'<div class="zarrix-trace">{_table(trace)}<svg xmlns="http://www.w3.org/2000/svg" '
        f'width="{_PICTURE + 80}" height="{height}" fill="currentColor">{names}'
        f'<g transform="translate(80 0)">{"".join(bars)}</g></svg>{note}</div>'
    )


def _rows(spans: Sequence[Span]) -> list[tuple[str, list[Span]]]:
    """The spans by thread and depth, and requests in flight so that none covers another."""
    found: dict[tuple[int, int], list[Span]] = {}
    for one in spans:
        thread = 1_000_000 if one.thread is None else one.thread
        depth = 0
        while (place := found.get((thread, depth))) and place[-1].end > one.begin:
            depth += 1
        found.setdefault((thread, depth), []).append(one)
    return [
        (("requests" if thread == 1_000_000 else f"thread {thread}") if depth == 0 else "", own)
        for (thread, depth), own in sorted(found.items())
    ]


def _bars(spans: Iterable[Span], row: int, total: float) -> Iterable[str]:
    scale = _PICTURE / total if total else 0.0
    for one in spans:
        x, width = one.begin * scale, max((one.end - one.begin) * scale, 0.5)
        what = f"{one.kind} {one.name} {one.key}: {_time(one.end - one.begin)}"
        if one.nbytes:
            what += f", {human_readable_size(one.nbytes)}"
        place = f'x="{x:.2f}" y="{row * _BAR}" width="{width:.2f}" height="{_BAR - 2}"'
        bar = f'<rect {place} fill="{_COLOURS[one.kind]}"/>'
        if one.answered > one.begin:
            what += f"; answered after {_time(one.answered - one.begin)}"
            waited = min((one.answered - one.begin) * scale, width)
            bar += (
                f'<rect x="{x:.2f}" y="{row * _BAR}" width="{waited:.2f}" height="{_BAR - 2}" '
                f'fill="{_COLOURS["wait"]}"/>'
            )
        yield f"<g>{bar}<title>{escape(printable(what))}</title></g>"


def _table(trace: Trace) -> str:
    totals = trace.totals
    rows = []
    for kind, seconds in trace.times.items():
        count, busy, nbytes = totals.get(kind, (0, 0.0, 0))
        if seconds > 0 or count:
            rows.append(
                f'<tr><td><span style="background: {_COLOURS[kind]}">&#8195;</span> '
                f"{_WORDS[kind]}</td><td>{_time(max(seconds, 0.0))}</td><td>{count or ''}</td>"
                f"<td>{_time(busy) if count else ''}</td>"
                f"<td>{human_readable_size(nbytes) if nbytes else ''}</td></tr>"
            )
    head = "".join(f"<th>{one}</th>" for one in ("", "this thread", "spans", "all threads", ""))
    requests = ", ".join(f"{count} {name}" for name, count in sorted(trace.requests.items()))
    return (
        f"<p>{_time(trace.seconds)} in all; requests: {escape(requests or 'none')}</p>"
        f"<table><tr>{head}</tr>{''.join(rows)}</table>"
    )
