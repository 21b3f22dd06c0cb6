"""The table of routes: a name, its function and its parameters. Each route only reads.

`answer` is the whole server without HTTP. The application and the widget call it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import NamedTuple

from zarrix._errors import CallCancelledError, ZarrixError
from zarrix.viewer._answers import Answer, Refused, refusal
from zarrix.viewer._crops import crops
from zarrix.viewer._export import code, npy
from zarrix.viewer._hello import hello
from zarrix.viewer._node import node
from zarrix.viewer._overview import overview
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._related import related
from zarrix.viewer._roots import Roots
from zarrix.viewer._stats import series, stats
from zarrix.viewer._stored import chunk, plan, stored
from zarrix.viewer._text import cells, value
from zarrix.viewer._tile import tile
from zarrix.viewer._tree import tree

__all__ = ["ROUTES", "Route", "answer", "failure"]

_log = logging.getLogger("zarrix.viewer")


class Route(NamedTuple):
    """The function of a route, and the names of its parameters."""

    function: Callable[[Roots, Parameters], Answer]
    parameters: tuple[str, ...]


ROUTES: dict[str, Route] = {
    "hello": Route(hello, ()),
    "tree": Route(tree, ("path", "offset", "limit", "filter")),
    "node": Route(node, ("path",)),
    "tile": Route(tile, ("path", "sel", "field", "as")),
    "value": Route(value, ("path", "index", "field")),
    "cells": Route(cells, ("path", "sel", "field")),
    "related": Route(related, ("path",)),
    "overview": Route(overview, ("path", "sel", "axes", "side", "field", "as")),
    "stored": Route(stored, ("path", "sel")),
    "chunk": Route(chunk, ("path", "coords")),
    "plan": Route(plan, ("path", "sel")),
    "stats": Route(stats, ("path", "sel", "field", "bins", "range")),
    "series": Route(series, ("path", "axis", "index", "width", "field")),
    "crops": Route(crops, ("path", "shape", "n", "seed")),
    "code": Route(code, ("path", "sel")),
    "npy": Route(npy, ("path", "sel")),
}


def answer(roots: Roots, name: str, given: Mapping[str, str]) -> Answer:
    """The answer to a request; every error becomes one sentence."""
    route = ROUTES.get(name)
    try:
        if route is None:
            raise Refused(404, f"{name[:40]!r} is not a route", "route-not-found")
        found = route.function(roots, Parameters(given, route.parameters))
    except Exception as error:
        return failure(error, name)
    if "x-zarrix-shape" in found.headers:
        roots.count(len(found.body))
    return found


def failure(error: Exception, name: str) -> Answer:
    """The answer to a request that failed."""
    if isinstance(error, Refused):
        return refusal(error)
    if isinstance(error, CallCancelledError):
        return refusal(Refused(503, str(error), error.kind))
    if isinstance(error, ZarrixError):
        return refusal(Refused(422, str(error), error.kind))
    if isinstance(error, MemoryError):
        return refusal(Refused(413, f"not enough memory: {error}", "too-large"))
    if isinstance(error, OSError):
        return refusal(Refused(502, f"the store cannot be read: {error}", "store"))
    # The log has where; what another process sees is the kind alone.
    _log.error("the route %s failed", name, exc_info=error)
    return refusal(Refused(500, f"an error inside of the viewer: {type(error).__name__}"))
