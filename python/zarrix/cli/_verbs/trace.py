"""``zarrix trace``: run a program, and show what its calls spent their time on."""

from __future__ import annotations

import argparse
import os
import runpy
import sys
import traceback

from zarrix.cli._common import add_common, whole
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix trace program.py",
    "zarrix trace --out trace.html program.py data.zarr",
    "zarrix trace -m package.module",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "--out", metavar="FILE", help="write NAME.html, or NAME.json for Perfetto and Chrome"
    )
    parser.add_argument(
        "--limit", type=whole(0, 100_000_000), default=100_000, metavar="N",
        help="how many spans are kept; the others are counted",
    )  # fmt: skip
    parser.add_argument("-m", "--module", action="store_true", help="the program is a module")
    parser.add_argument("program", help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    add_common(parser, store=False)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Run the program, and print its trace to stderr: what it prints stays alone on stdout."""
    # Import time: --help does not need it.
    from zarrix._display.trace import Trace

    if arguments.out is not None and not arguments.out.endswith((".html", ".json")):
        raise ValueError(f"--out {arguments.out!r}: a trace is written to NAME.html or NAME.json")
    if not arguments.module and not os.path.exists(arguments.program):
        raise FileNotFoundError(f"{arguments.program!r} does not exist")
    trace, code = Trace(arguments.limit), 0
    with trace:
        try:
            _run(arguments.program, arguments.arguments, arguments.module)
        except SystemExit as ended:
            code = _code_of(ended)
        except Exception:
            # As Python shows it; what happened before is in the trace.
            traceback.print_exc()
            code = 1
    if arguments.out is not None:
        trace.save(arguments.out)
    if ui.json:
        ui.document(trace.to_json())
    else:
        ui.note(str(trace))
    return code


def _run(program: str, rest: list[str], is_module: bool) -> None:
    """Run it as ``python`` would, with its arguments and its folder."""
    before, path = sys.argv, sys.path[:]
    sys.argv = [program, *rest]
    try:
        if is_module:
            sys.path.insert(0, os.getcwd())
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
            runpy.run_path(program, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before, path


def _code_of(ended: SystemExit) -> int:
    """The exit code of a program that called `sys.exit`."""
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    sys.stderr.write(f"{ended.code}\n")
    return 1
