"""``zarrix suggest``: chunks for an array that does not exist yet."""

from __future__ import annotations

import argparse

from zarrix.cli._common import add_common, sizes
from zarrix.cli._ui import Ui

EXAMPLES = ('zarrix suggest 100,3,1080,1920 uint8 --access "crop 256x256"',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("shape", type=sizes, help="lengths along the axes, 100,3,1080,1920")
    parser.add_argument("dtype", help="the data type, such as float32")
    parser.add_argument(
        "--access", action="append", required=True, metavar="WORDS",
        help="'crop 256x256', 'frame:0.1', 'series 0', 'points 100'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--for", dest="place", choices=("local", "remote"), default="local",
        help="where it will be read from (default local)",
    )  # fmt: skip
    add_common(parser, store=False)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the suggestion, and the code that creates such an array."""
    # Import time: --help does not need it.
    from zarrix.measure import suggest

    ui.result(
        suggest(arguments.shape, arguments.dtype, access=arguments.access, place=arguments.place)
    )
    return 0
