"""``zarrix attrs``: attributes, read and changed."""

from __future__ import annotations

import argparse
import json

from zarrix.cli._common import PATH, add_common, option, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix attrs data.zarr",
    "zarrix attrs data.zarr --set title=Street --set scale=0.5",
    "zarrix attrs data.zarr title",
    "zarrix attrs data.zarr --delete scale",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument("key", nargs="?", help="print this attribute only")
    parser.add_argument(
        "--set",
        type=option,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change an attribute; the value is JSON, or else text",
    )
    parser.add_argument(
        "--delete", action="append", default=[], metavar="KEY", help="remove an attribute"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print attributes, after the changes."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import open_path

    if arguments.set or arguments.delete:
        options = options_of(arguments, arguments.path)
        node = zarr.open(arguments.path, mode="r+", storage_options=options)
        missing = [key for key in arguments.delete if key not in node.attrs]
        if missing:
            raise UsageError(f"{arguments.path} has no attribute {missing[0]!r}")
        node.attrs.update(dict(arguments.set))
        for key in arguments.delete:
            del node.attrs[key]
        return 0
    found = open_path(arguments.path, options_of(arguments, arguments.path)).attrs.asdict()
    if arguments.key is not None and arguments.key not in found:
        raise UsageError(f"{arguments.path} has no attribute {arguments.key!r}")
    if ui.json:
        ui.document({"attributes": found})
    else:
        # Import time: --json does not need it.
        from zarrix._display.printable import lines

        value = found if arguments.key is None else found[arguments.key]
        ui.say(lines(json.dumps(value, indent=2, ensure_ascii=False).split("\n")))
    return 0
