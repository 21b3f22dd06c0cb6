"""``zarrix tree``: a hierarchy, drawn."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, options_of, whole
from zarrix.cli._output import shows
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix tree data.zarr",
    "zarrix tree -L 1 data.zarr",
    "zarrix tree --limit 100 data.zarr",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "-L", "--level", type=whole(0, 10_000), metavar="N", help="show so many levels only"
    )
    parser.add_argument(
        "--limit", type=whole(1, 10**9), metavar="N", help="show so many arrays and groups only"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Draw the hierarchy."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._path import open_path

    viewer = zarr.tree(
        open_path(arguments.path, options_of(arguments, arguments.path)), level=arguments.level
    )
    viewer.max_nodes = arguments.limit
    if ui.json:
        # Import time: only --json needs it.
        from zarrix.cli._described import nested

        ui.document(nested(viewer))
    else:
        text = str(viewer)
        ui.say(text if shows("├─└│") else bytes(viewer).decode())
    return 0
