"""``zarrix show``: one picture in the terminal, or as a PNG file."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from zarrix.cli._common import PATH, add_common, add_selecting, options_of, whole
from zarrix.cli._ui import Ui

if TYPE_CHECKING:
    from zarrix.viewer._picture import Picture

EXAMPLES = (
    "zarrix show data.zarr/rgb -s 0",
    "zarrix show data.zarr/depth -s t=1 --kind depth --png depth.png",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "-s", "--select", default="", metavar="SELECTION",
        help="indices and slices, 0,:,200:456, or by dimension, t=0,y=200:456; the first plane "
        "of what it leaves is shown",
    )  # fmt: skip
    add_selecting(parser)
    parser.add_argument(
        "--kind",
        choices=("rgb", "gray", "flow", "depth", "labels", "mask", "complex"),
        help="how values become colours (default: by name, dtype and shape)",
    )
    parser.add_argument(
        "--range", type=_range, metavar="LOW,HIGH", help="the values of the ends of the colours"
    )
    parser.add_argument(
        "--size", type=whole(2, 8192), metavar="N",
        help="columns of the picture (default: those of the terminal, or 1920 in a file)",
    )  # fmt: skip
    parser.add_argument(
        "--protocol",
        choices=("auto", "blocks", "kitty", "text"),
        default="auto",
        help="how a terminal draws; without a terminal, text",
    )
    parser.add_argument("--png", metavar="FILE", help="write a PNG file, and draw nothing")
    add_common(parser)


def _range(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers, such as 0,255") from None
    return low, high


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Draw the picture."""
    # Import time: --help does not need them.
    from zarrix.cli._failures import UsageError
    from zarrix.cli._selected import array_at, key_in, written
    from zarrix.viewer import _terminal
    from zarrix.viewer._answers import Refused
    from zarrix.viewer._picture import picture_of

    node = array_at(arguments.path, options_of(arguments, arguments.path))
    selection = arguments.select
    if arguments.sel:
        selection = written(key_in(node, selection, arguments.sel))
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    how = arguments.protocol
    if how == "auto":
        how = _terminal.protocol() if is_terminal and "NO_COLOR" not in os.environ else "text"
    columns, rows = _size()
    width = arguments.size or (1920 if arguments.png or how == "kitty" else columns)
    height = width if arguments.png or arguments.size else 2 * rows
    try:
        picture = picture_of(
            node,
            arguments.path,
            selection,
            kind=arguments.kind,
            range=arguments.range,
            size=(height, width),
        )
    except Refused as error:
        raise UsageError(error.sentence) from error
    if arguments.png:
        # Import time: --help does not need it.
        from zarrix._runtime.new_files import whole_file

        with whole_file(arguments.png) as file:
            file.write(_terminal.png(picture.image))
    _say(picture, None if arguments.png else how, ui)
    return 0


def _say(picture: Picture, how: str | None, ui: Ui) -> None:
    """Print a picture, unless it is in a file, and what it shows."""
    # Import time: --help does not need it.
    from zarrix.viewer import _terminal

    if ui.json:
        high, wide, _ = picture.image.shape
        shown = {"kind": picture.kind, "selection": picture.selection, "range": picture.range}
        ui.document({**shown, "height": high, "width": wide})
        return
    if how is not None:
        draw = {"blocks": _terminal.blocks, "kitty": _terminal.kitty, "text": _terminal.ramp}[how]
        ui.say(draw(picture.image))
    ends = "" if picture.range is None else f", {picture.range[0]:g} to {picture.range[1]:g}"
    ui.say(f"{picture.kind} of [{picture.selection}]{ends}")


def _size() -> tuple[int, int]:
    """Columns and rows for a picture in the terminal."""
    try:
        found = os.get_terminal_size(sys.stdout.fileno())
        return max(2, found.columns), max(2, found.lines - 2)
    except (OSError, ValueError, AttributeError):
        return 80, 24
