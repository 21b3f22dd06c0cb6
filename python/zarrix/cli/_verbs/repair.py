"""``zarrix repair``: put what is broken aside."""

from __future__ import annotations

import argparse
import sys

from zarrix.cli._common import PATH, add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix repair data.zarr",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print what was put aside, also if the repair is interrupted."""
    # Import time: --help does not need them.
    from zarrix._display.printable import counted
    from zarrix.operate._place import place_of
    from zarrix.operate._repair import Repair, repair_into

    result = Repair()
    try:
        place = place_of(arguments.path, None, options_of(arguments, arguments.path))
        repair_into(result, place, sys.stderr.isatty() and ui.progress)
    except BaseException as error:
        if result.set_aside:
            ui.result(result)
            error.add_note(f"{counted(len(result.set_aside), 'value')} put aside until then")
        raise
    ui.result(result)
    return 0
