"""``zarrix plan``: what a read touches and costs, without reading."""

from __future__ import annotations

import argparse
import dataclasses

from zarrix.cli._common import PATH, add_common, options_of
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
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the plan of a read."""
    # Import time: --help does not need it.
    from zarrix._array.dimension_names import names_of
    from zarrix._selection.text import selection_of
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import open_path

    node = open_path(arguments.path, options_of(arguments, arguments.path))
    if not hasattr(node, "shape"):
        raise UsageError(f"{arguments.path} is a group; name one of its arrays ('zarrix ls')")
    names = names_of(node)
    plan = node.plan(selection_of(arguments.select, names, node.ndim) or ...)
    if ui.json:
        ui.document(dataclasses.asdict(plan))
    else:
        ui.say(str(plan))
    return 0
