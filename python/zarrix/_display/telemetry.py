"""Spans for OpenTelemetry, an optional package."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrix._display.trace import Span

__all__ = ["give_spans"]


def give_spans(spans: Sequence[Span], seconds: float, begun: int, tracer: Any) -> int:
    """Give spans to a tracer, as children of one that is ``seconds`` long; how many.

    ``begun`` is the time of the clock when the trace began, in nanoseconds.
    """
    try:
        api = importlib.import_module("opentelemetry.trace")
    except ImportError as error:
        raise ImportError(
            "the package opentelemetry-api is not installed: pip install 'zarrix[opentelemetry]'"
        ) from error
    if tracer is None:
        tracer = api.get_tracer("zarrix")

    def at(seconds: float) -> int:
        return begun + int(seconds * 1e9)

    root = tracer.start_span("zarrix.trace", start_time=begun)
    parent = api.set_span_in_context(root)
    for one in spans:
        names = {"zarr.key": one.key, "zarr.bytes": one.nbytes}
        if one.thread is not None:
            names["zarr.thread"] = one.thread
        name = f"zarrix.{one.kind}{f'.{one.name}' if one.name else ''}"
        made = tracer.start_span(name, parent, attributes=names, start_time=at(one.begin))
        made.end(end_time=at(one.end))
    root.end(end_time=at(seconds))
    return len(spans) + 1
