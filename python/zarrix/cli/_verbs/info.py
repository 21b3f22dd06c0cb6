"""``zarrix info``: what an array or group is."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix info data.zarr/rgb", "zarrix info --json x.npy")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", nargs="+", help=PATH)
    parser.add_argument("--attrs", action="store_true", help="print the attributes, too")
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print a report for each path."""
    # Import time: --help does not need it.
    from zarrix.cli._selected import node_at

    found = [node_at(one, options_of(arguments, one), arguments.sel) for one in arguments.path]
    if ui.json:
        # Import time: only --json needs it.
        from zarrix.cli._described import described

        reports = [{"version": 1, **described(node)} for node in found]
        ui.say(_text(reports[0] if len(reports) == 1 else {"version": 1, "nodes": reports}))
        return 0
    for node in found:
        ui.say(str(node.info))
        if arguments.attrs:
            ui.say(_text(node.attrs.asdict()))
    return 0


def _text(value: object) -> str:
    # Import time: the report without attributes does not need it.
    import json

    return json.dumps(value, indent=2)
