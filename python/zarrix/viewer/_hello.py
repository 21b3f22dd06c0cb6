"""The route ``hello``: what is open, and what a request may ask for."""

from __future__ import annotations

from zarrix._engine import __version__
from zarrix.viewer._answers import Answer, json_answer
from zarrix.viewer._limits import PUBLIC
from zarrix.viewer._node import document_of
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots

__all__ = ["hello"]


def hello(roots: Roots, parameters: Parameters) -> Answer:
    """The first request of a front end."""
    root = document_of(roots, "")
    first = "" if root["kind"] == "array" else root["first"]
    return json_answer(
        {
            "version": __version__,
            "title": ", ".join(roots.roots),
            "roots": [one.shell or name for name, one in roots.roots.items()],
            "root": root,
            "first": first,
            "limits": PUBLIC,
        }
    )
