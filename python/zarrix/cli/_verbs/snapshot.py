"""``zarrix snapshot``: keep the present state of a hierarchy."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, add_durability, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    'zarrix snapshot data.zarr v1 -m "before the reprocessing"',
    "zarrix snapshot data.zarr v2 --how copy",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="the root of a hierarchy in a folder, or in a bucket of S3")
    parser.add_argument("name", help="the name of the version; PATH@NAME reads it")
    parser.add_argument("-m", "--message", default="", metavar="TEXT", help="what it is for")
    parser.add_argument(
        "--how",
        choices=("auto", "clone", "link", "copy", "objects"),
        default="auto",
        help="how it keeps chunks (default: the first that the file system or the bucket has)",
    )
    parser.add_argument("--digests", action="store_true", help="keep the SHA-256 of every value")
    add_durability(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Make the version, and print what it has."""
    # Import time: --help does not need it.
    import zarrix as zarr

    version = zarr.snapshot(
        arguments.path,
        arguments.name,
        message=arguments.message,
        how=arguments.how,
        digests=arguments.digests,
        durability=arguments.durability,
        storage_options=options_of(arguments, arguments.path),
        progress=ui.progress,
    )
    if ui.json:
        ui.document(version.to_dict())
    else:
        ui.done(version)
    return 0
