"""``zarrix export``: an array or group becomes a file of another format."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zarrix.cli._common import (
    PATH,
    add_common,
    add_selecting,
    add_writing,
    checked,
    option,
    options_of,
)
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix export data.zarr/depth depth.npy",
    "zarrix export data.zarr data.h5",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help=PATH)
    parser.add_argument("dest", help="the file, or for images the folder; - is standard output")
    parser.add_argument(
        "--to",
        dest="format",
        metavar="FORMAT",
        help="the format (zarrix formats), or a suffix such as csv; else what the name says",
    )
    parser.add_argument(
        "--option", type=option, action="append", default=[], metavar="KEY=VALUE",
        help="an option of the format (zarrix formats); may be repeated",
    )  # fmt: skip
    add_selecting(parser)
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Export, and print what was written."""
    # Import time: --help does not need it.
    from zarrix.cli._selected import node_at
    from zarrix.convert import export

    to_output = arguments.dest == "-"
    options = checked(arguments, "x" if to_output else arguments.dest, "write")
    node = node_at(arguments.source, options_of(arguments, arguments.source), arguments.sel)
    call = {"format": arguments.format, "memory": arguments.memory, **options}
    if to_output and not arguments.dry_run:
        return _to_output(node, arguments, ui, call)
    result = export(
        node,
        arguments.dest,
        overwrite=arguments.overwrite,
        resume=arguments.resume,
        dry_run=arguments.dry_run,
        progress=ui.progress,
        **call,
    )
    ui.done(result, dry_run=arguments.dry_run)
    return 0


def _to_output(node: Any, arguments: argparse.Namespace, ui: Ui, call: dict[str, Any]) -> int:
    """Export to a temporary file, because most formats are not written in order, and copy it."""
    # Import time: --help does not need them.
    import shutil
    import tempfile

    # Import time, too.
    from zarrix.cli._failures import UsageError
    from zarrix.cli._output import copy_to_output
    from zarrix.convert import export

    if arguments.resume or arguments.json:
        raise UsageError("- is standard output, which --resume and --json are not for")
    if sys.stdout.isatty() and arguments.format not in ("text", "csv", "tsv", "txt"):
        raise UsageError("standard output is a terminal; redirect it to a file or a program")
    folder = tempfile.mkdtemp(prefix="zarrix-export-")
    try:
        target = Path(folder) / f"x.{arguments.format}"
        result = export(node, target, progress=ui.progress, **call)
        if target.is_dir():
            raise UsageError(f"{arguments.format} is a folder of files; name a folder")
        for note in result.notes:
            ui.note(note)
        with open(target, "rb") as file:
            copy_to_output(file)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0
