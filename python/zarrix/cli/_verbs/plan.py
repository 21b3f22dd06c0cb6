"""``zarrix plan``: what a read touches and costs, without reading."""

from __future__ import annotations

import argparse
import dataclasses

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix plan data.zarr/rgb -s 0,:,0:100,0:100",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "-s",
        "--select",
        default="",
        metavar="SELECTION",
        help="indices and slices, 0,:,200:456, or by dimension, t=0,y=200:456",
    )
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the plan of a read."""
    # Import time: --help does not need it.
    from zarrix.cli._selected import array_at, key_in

    node = array_at(arguments.path, options_of(arguments, arguments.path))
    plan = node.plan(key_in(node, arguments.select, arguments.sel) or ...)
    if ui.json:
        ui.document(dataclasses.asdict(plan))
    else:
        ui.say(str(plan))
    return 0
