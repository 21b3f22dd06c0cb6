"""What the verbs that serve over HTTP ask before they listen."""

from __future__ import annotations

import argparse
import importlib

from zarrix.cli._failures import UsageError
from zarrix.cli._output import complain

__all__ = ["lacks_packages", "require_loopback"]


def lacks_packages(what: str) -> int:
    """The exit code if a package of the extra [view] is missing, which is told; 0 if none is."""
    try:
        for name in ("starlette", "uvicorn"):
            importlib.import_module(name)
    except ImportError as error:
        return complain(
            f'{what} needs {error.name}, which is not installed: pip install "zarrix[view]"', 2
        )
    return 0


def require_loopback(arguments: argparse.Namespace) -> None:
    """Raise an error if other machines could read, and the user has not allowed that.

    Raises
    ------
    UsageError
    """
    # An optional package, which is there by now.
    from zarrix.viewer._server import LOOPBACK

    if arguments.host not in LOOPBACK and not arguments.allow_network:
        raise UsageError(
            f"--host {arguments.host} shows the data to other machines; add --allow-network"
        )
