"""The table of routes: a name, its function and its parameters. Each route only reads.

`answer` is the whole server without HTTP. The application and the widget call it.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from typing import NamedTuple

from zarrix._engine import CancelToken
from zarrix._errors import CallCancelledError, ZarrixError
from zarrix.viewer._answers import Answer, Refused, refusal
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots

__all__ = ["ROUTES", "Route", "answer", "failure"]

_log = logging.getLogger("zarrix.viewer")


class Route(NamedTuple):
    """Where the function of a route is, the names of its parameters, and its memory."""

    module: str
    parameters: tuple[str, ...]
    most_bytes: int = 8 * 2**20
    """Memory that it takes at most, for the answer or on the way."""


ROUTES: dict[str, Route] = {
    "hello": Route("_hello", ()),
    "tree": Route("_tree", ("path", "offset", "limit", "filter")),
    "node": Route("_node", ("path",)),
    "tile": Route("_tile", ("path", "sel", "field", "as"), 64 * 2**20),
    "value": Route("_text", ("path", "index", "field", "as")),
    "cells": Route("_text", ("path", "sel", "field")),
    "related": Route("_related", ("path",)),
    "coordinates": Route("_coordinates", ("path",)),
    "find": Route("_coordinates", ("path", "axis", "label")),
    "overview": Route("_overview", ("path", "sel", "axes", "side", "field", "as"), 64 * 2**20),
    "projection": Route(
        "_projection", ("path", "sel", "axes", "along", "how", "side", "field", "as"), 160 * 2**20
    ),
    "stored": Route("_stored", ("path", "sel")),
    "chunks": Route("_chunk_map", ("path", "sel", "axes", "of")),
    "chunk": Route("_stored", ("path", "coords")),
    "plan": Route("_stored", ("path", "sel")),
    "stats": Route("_stats", ("path", "sel", "field", "bins", "range", "as"), 160 * 2**20),
    "series": Route("_stats", ("path", "axis", "index", "width", "field", "begin", "end", "as")),
    "profile": Route("_profile", ("path", "index", "axes", "ends", "field", "as"), 160 * 2**20),
    "crops": Route("_crops", ("path", "shape", "n", "seed"), 64 * 2**20),
    "code": Route("_export", ("path", "sel")),
    "npy": Route("_export", ("path", "sel", "as"), 160 * 2**20),
    "csv": Route("_export", ("path", "sel", "as"), 160 * 2**20),
}
"""Each function has the name of its route. Its module is imported on first use: those that count
and draw samples need much of the package, and the first picture does not.
"""


def answer(
    roots: Roots, name: str, values: Mapping[str, str], cancel: CancelToken | None = None
) -> Answer:
    """The answer to a request; every error becomes one sentence.

    Parameters
    ----------
    roots : Roots
    name : str
    values : mapping of str to str
    cancel : CancelToken, optional
        Ends the request, between two steps of its work.
    """
    route = ROUTES.get(name)
    try:
        if route is None:
            raise Refused(404, f"{name[:40]!r} is not a route", "route-not-found")
        parameters = Parameters(values, route.parameters, cancel)
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
