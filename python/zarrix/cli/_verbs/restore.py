"""``zarrix restore``: make the content of a version the present content."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, add_durability, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix restore data.zarr v1 -n",
    "zarrix restore data.zarr v1 --keep before-restore",
    "zarrix restore data.zarr v1 --path depth --path rgb",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="the root of a hierarchy in a folder")
    parser.add_argument("name", help="the name of the version")
    parser.add_argument(
        "--path",
        action="append",
        dest="paths",
        metavar="PATH",
        help="restore this node and what is below it; may be repeated (default: everything)",
    )
    parser.add_argument(
        "--keep", metavar="NAME", help="keep the state before as a version of this name"
    )
    parser.add_argument("-m", "--message", metavar="TEXT", help="of the commit")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="only print what would be changed"
    )
    add_durability(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Restore it, and print what has changed."""
    # Import time: --help does not need it.
    import zarrix as zarr

    options = options_of(arguments, arguments.path)
    done = zarr.Versions(arguments.path, storage_options=options).restore(
        arguments.name,
        paths=arguments.paths,
        keep=arguments.keep,
        message=arguments.message,
        dry_run=arguments.dry_run,
        durability=arguments.durability,
    )
    if ui.json:
        ui.document({"dry_run": arguments.dry_run, **done.to_dict()})
    else:
        ui.done(done, dry_run=arguments.dry_run)
    return 0
