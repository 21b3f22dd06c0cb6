"""Run a Python program under the alias, as ``python`` would run it."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

__all__ = ["run"]

_USAGE = "usage: python -m zarrix.as_zarr (PROGRAM.py | -m MODULE) [ARGUMENT ...]"


def run(arguments: Sequence[str]) -> None:
    """Run ``PROGRAM.py ARGUMENT...`` or ``-m MODULE ARGUMENT...`` as the main module."""
    if not arguments or arguments[0] in ("-h", "--help"):
        raise SystemExit(_USAGE if not arguments else print(_USAGE))
    if arguments[0] == "-m":
        if len(arguments) < 2:
            raise SystemExit(_USAGE)
        sys.argv = [*arguments[1:]]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = [*arguments]
    # As ``python PROGRAM.py`` has it: the folder of the program, and not the current one.
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
