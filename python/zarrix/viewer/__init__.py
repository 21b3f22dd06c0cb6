"""A viewer of arrays: an ASGI application that any server can run or mount.

``zarrix view PATH`` runs it and opens a browser. The application reads, and never writes. A door:
only the command line and users call it; Starlette and uvicorn (the extra ``view``) are imported
when it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrix.viewer._app import app as app
    from zarrix.viewer._widget import Widget as Widget

# Widget is not here, because importing all names would need the packages of the extra "notebook".
__all__ = ["app"]

_HOMES = {"app": "zarrix.viewer._app", "Widget": "zarrix.viewer._widget"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
