"""``zarrix recover``: end what a killed commit has left."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix recover data.zarr", "zarrix recover data.zarr -n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="a group or an array of the hierarchy, in a folder")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="only print what would be done"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """End it, and print what was done."""
    # Import time: --help does not need it.
    import zarrix as zarr

    done = zarr.recover(
        arguments.path,
        dry_run=arguments.dry_run,
        storage_options=options_of(arguments, arguments.path),
    )
    if ui.json:
        ui.document(done.to_dict())
    elif arguments.dry_run or not ui.quiet:
        ui.say(str(done))
    return 0
