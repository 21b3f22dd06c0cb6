"""``zarrix diff``: what differs between two hierarchies or files."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix diff data.zarr data.zarr",
    "zarrix diff x.npy x.h5/data",
    "zarrix diff data.zarr@v1 data.zarr --keys",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument("other", help="the second one")
    parser.add_argument(
        "--keys", action="store_true", help="of two versions: print every key that differs"
    )
    parser.add_argument(
        "--values", action="store_true", help="of two versions: read and compare the values"
    )
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the differences; 3 if there are any.

    Two stores are compared as they are stored. If one is a file of another format, shapes, data
    types, attributes and values are compared.
    """
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import split
    from zarrix.cli._selected import node_at
    from zarrix.cli._versions import states_of

    paths = (arguments.path, arguments.other)
    has_values = arguments.values or arguments.sel
    states = None if has_values else states_of(*paths)
    if states is not None:
        changes = states[0].diff(*states[1:])
        ui.result(_Keys(changes) if arguments.keys and not ui.json else changes)
        return 3 if changes else 0
    if arguments.keys:
        raise UsageError("--keys needs two versions of one hierarchy, as data.zarr@v1 data.zarr")
    if any(split(one)[2] is not None for one in paths):
        first, second = (node_at(one, options_of(arguments, one), arguments.sel) for one in paths)
        found = zarr.convert.same_values(first, second)
        if ui.json:
            ui.document({"same": not found, "differences": found})
        else:
            for one in found:
                _say(ui, one)
        return 3 if found else 0
    options = options_of(arguments, *paths)
    if arguments.sel:
        parts = [node_at(one, options_of(arguments, one), arguments.sel) for one in paths]
        result = zarr.diff(*parts, progress=ui.progress)
    else:
        result = zarr.diff(*paths, storage_options=options, progress=ui.progress)
    ui.result(result)
    return 0 if result.same else 3


class _Keys:
    """The keys that differ, a line for each."""

    def __init__(self, changes: Any) -> None:
        self._changes = changes

    def __str__(self) -> str:
        # Import time: --help does not need it.
        from zarrix._display.printable import printable

        signs = (("+", "added"), ("-", "removed"), ("~", "changed"))
        keys = sorted((key, sign) for sign, word in signs for key in getattr(self._changes, word))
        found = "\n".join(f"{sign} {printable(key)}" for key, sign in keys)
        return found or str(self._changes)


def _say(ui: Ui, difference: Any) -> None:
    # Import time: --help does not need it.
    from zarrix._display.printable import printable

    ui.say(printable(f"{difference['path'] or '/'}: {difference['what']}"))
