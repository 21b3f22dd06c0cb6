"""``zarrix mv``: rename an array or a group, atomically."""

from __future__ import annotations

import argparse
import os

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix mv data.zarr/depth data.zarr/old/depth",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help="an array or a group")
    parser.add_argument("dest", help="its new path in the same hierarchy, or for a root a new name")
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Rename a node under the lock of its metadata."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix._nodes import nodes
    from zarrix._stores.overlap import refuse_overlap
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import located, new_location

    source = located(arguments.source, options_of(arguments, arguments.source))
    if not source.path:
        if not os.path.isdir(arguments.source) or os.path.lexists(arguments.dest):
            raise UsageError(
                f"{arguments.source} is the root of its hierarchy, and {arguments.dest} exists or "
                "is not a new folder; 'zarrix cp' copies it"
            )
        refuse_overlap("move", arguments.dest, [(source.store, source.path)])
        dest, node = new_location(arguments.dest), source.find()
        assert node is not None  # `located` has found it.
        nodes.missing_parents(dest.store, dest.path, node.zarr_format)
        os.rename(arguments.source, arguments.dest)
        return 0
    dest = new_location(arguments.dest, options_of(arguments, arguments.dest))
    if dest.store != source.store or not dest.path:
        raise UsageError(
            f"{arguments.dest} is not in the hierarchy of {arguments.source}: nodes move within "
            "one hierarchy; 'zarrix cp' copies between two"
        )
    root = zarr.open_group(source.store, mode="r+")
    root.move(source.path, dest.path)
    return 0
