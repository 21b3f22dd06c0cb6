"""The table of routes: a name, its function and its parameters. Each route only reads.

`answer` is the whole server without HTTP. The application and the widget call it.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from typing import NamedTuple

from zarrix._errors import CallCancelledError, ZarrixError
from zarrix.viewer._answers import Answer, Refused, refusal
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots

__all__ = ["ROUTES", "Route", "answer", "failure"]

_log = logging.getLogger("zarrix.viewer")


class Route(NamedTuple):
    """Where the function of a route is, and the names of its parameters."""

    module: str
    parameters: tuple[str, ...]


ROUTES: dict[str, Route] = {
    "hello": Route("_hello", ()),
    "tree": Route("_tree", ("path", "offset", "limit", "filter")),
    "node": Route("_node", ("path",)),
    "tile": Route("_tile", ("path", "sel", "field", "as")),
    "value": Route("_text", ("path", "index", "field")),
    "cells": Route("_text", ("path", "sel", "field")),
    "related": Route("_related", ("path",)),
    "overview": Route("_overview", ("path", "sel", "axes", "side", "field", "as")),
    "stored": Route("_stored", ("path", "sel")),
    "chunk": Route("_stored", ("path", "coords")),
    "plan": Route("_stored", ("path", "sel")),
    "stats": Route("_stats", ("path", "sel", "field", "bins", "range")),
    "series": Route("_stats", ("path", "axis", "index", "width", "field")),
    "crops": Route("_crops", ("path", "shape", "n", "seed")),
    "code": Route("_export", ("path", "sel")),
    "npy": Route("_export", ("path", "sel")),
}
"""Each function has the name of its route. Its module is imported on first use: those that count
and draw samples need much of the package, and the first picture does not.
"""


def answer(roots: Roots, name: str, given: Mapping[str, str]) -> Answer:
    """The answer to a request; every error becomes one sentence."""
    route = ROUTES.get(name)
    try:
        if route is None:
            raise Refused(404, f"{name[:40]!r} is not a route", "route-not-found")
        parameters = Parameters(given, route.parameters)
        function = getattr(importlib.import_module(f"zarrix.viewer.{route.module}"), name)
        found: Answer = function(roots, parameters)
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
