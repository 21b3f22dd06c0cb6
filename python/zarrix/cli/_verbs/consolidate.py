"""``zarrix consolidate``: all metadata of a hierarchy in one document."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix consolidate data.zarr",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="a hierarchy")
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Write consolidated metadata, and print how many nodes it has."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix._display.printable import counted
    from zarrix.cli._path import located

    # A missing path is an error, and not a new hierarchy.
    place = located(arguments.path, options_of(arguments, arguments.path))
    group = zarr.consolidate_metadata(place.store, path=place.path)
    found: list[object] = []
    group.visitvalues(found.append)
    if ui.json:
        ui.document({"nodes": len(found) + 1})
    else:
        ui.done(f"consolidated the metadata of {counted(len(found) + 1, 'node')}")
    return 0
