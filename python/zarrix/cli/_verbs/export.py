"""``zarrix export``: an array or group becomes a file of another format."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, add_writing, option, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix export data.zarr/depth depth.npy",
    "zarrix export data.zarr data.h5",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help=PATH)
    parser.add_argument("dest", help="the file, or for images the folder")
    parser.add_argument(
        "--to", dest="format", metavar="FORMAT", help="the format; else what the name says"
    )
    parser.add_argument(
        "--option", type=option, action="append", default=[], metavar="KEY=VALUE",
        help="an option of the format (docs/convert.md); may be repeated",
    )  # fmt: skip
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Export, and print what was written."""
    # Import time: --help does not need it.
    from zarrix.cli._path import open_path
    from zarrix.convert import export

    result = export(
        open_path(arguments.source, options_of(arguments, arguments.source)),
        arguments.dest,
        format=arguments.format,
        memory=arguments.memory,
        overwrite=arguments.overwrite,
        resume=arguments.resume,
        dry_run=arguments.dry_run,
        progress=ui.progress,
        **dict(arguments.option),
    )
    ui.done(result, dry_run=arguments.dry_run)
    return 0
