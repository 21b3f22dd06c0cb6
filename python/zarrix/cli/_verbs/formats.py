"""``zarrix formats``: the formats, and the options of each."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from zarrix.cli._common import add_common
from zarrix.cli._ui import Ui

if TYPE_CHECKING:
    from zarrix.convert._options import Option

EXAMPLES = ("zarrix formats", "zarrix formats hdf5 text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("format", nargs="*", help="a format or a suffix (default: all)")
    add_common(parser, store=False)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the formats, each with its options to read and to write."""
    # Import time: --help does not need them.
    from zarrix.convert._formats import choose, converter, formats
    from zarrix.convert._options import options_of

    wanted = {choose("x", one, "read")[0] for one in arguments.format}
    found, lines = [], []
    for one in formats():
        if wanted and one.name not in wanted:
            continue
        module = converter(one.name)
        reads = options_of(module.open_source)
        writes = options_of(module.save) if one.exports else None
        found.append(
            {
                "name": one.name, "suffixes": list(one.suffixes), "what": one.what,
                "read": _told(reads), "write": None if writes is None else _told(writes),
            }
        )  # fmt: skip
        how = "read and written" if one.exports else "read"
        lines.append(f"{one.name} ({' '.join(one.suffixes)}): {one.what}, {how}")
        lines += [f"  --option to read: {_line(option)}" for option in reads.values()]
        lines += [f"  --option to write: {_line(option)}" for option in (writes or {}).values()]
    if ui.json:
        ui.document({"formats": found})
    else:
        ui.say("\n".join(lines))
    return 0


def _told(options: dict[str, Option]) -> dict[str, Any]:
    return {
        name: {"takes": one.takes, "default": one.default, "what": one.what}
        for name, one in options.items()
    }


def _line(option: Option) -> str:
    default = "" if option.default is None else f", default {option.default}"
    what = f": {option.what}" if option.what else ""
    return f"{option.name}, {option.takes}{default}{what}"
