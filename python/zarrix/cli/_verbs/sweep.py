"""``zarrix sweep``: delete what commits have replaced."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix sweep data.zarr", "zarrix sweep data.zarr --now")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="a group or an array of the hierarchy, in a folder")
    parser.add_argument(
        "--now",
        action="store_true",
        help="before their grace is over: open readers of other libraries then read fill values",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Delete them, and print how many chunks there were."""
    # Import time: --help does not need it.
    import zarrix as zarr

    options = options_of(arguments, arguments.path)
    deleted = zarr.sweep(arguments.path, now=arguments.now, storage_options=options)
    if ui.json:
        ui.document({"deleted": deleted})
    elif not ui.quiet:
        ui.say(f"{deleted} chunks deleted")
    return 0
