"""``zarrix consolidate``: all metadata of a hierarchy in one document."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix consolidate data.zarr", "zarrix consolidate --index data.zarr")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="a hierarchy")
    parser.add_argument(
        "--index",
        action="store_true",
        help="write an index beside the hierarchy, too, by which 'ls --index' and open_indexed() "
        "find nodes",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Write consolidated metadata, and print how many nodes it has."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix._display.printable import counted
    from zarrix._stores.path import StorePath
    from zarrix.cli._path import located

    # A missing path is an error, and not a new hierarchy.
    place = located(arguments.path, options_of(arguments, arguments.path))
    group = zarr.consolidate_metadata(place.store, path=place.path)
    found: list[object] = []
    group.visitvalues(found.append)
    if arguments.index:
        zarr.build_index(StorePath(place.store, place.path))
    told = {"indexed": True} if arguments.index else {}
    if ui.json:
        ui.document({"nodes": len(found) + 1, **told})
    else:
        more = ", and wrote their index" if arguments.index else ""
        ui.done(f"consolidated the metadata of {counted(len(found) + 1, 'node')}{more}")
    return 0
