"""``zarrix bench``: random reads of an array, timed."""

from __future__ import annotations

import argparse
import dataclasses

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ('zarrix bench data.zarr/rgb --access "crop 2x2" --seconds 0.1',)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--access", action="append", required=True, metavar="WORDS",
        help="'crop 256x256', 'frame', 'plane y', 'series t', 'all', 'points 100'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="S", help="for each access (default 1)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the places")
    parser.add_argument(
        "--bar", type=float, metavar="N", help="exit with 3 below so many accesses a second"
    )
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print accesses a second, MB/s and latencies; 3 below the bar."""
    # Import time: --help does not need them.
    from zarrix.cli._selected import node_at
    from zarrix.measure import bench

    found = bench(
        node_at(arguments.path, options_of(arguments, arguments.path), arguments.sel),
        access=arguments.access,
        seconds=arguments.seconds,
        seed=arguments.seed,
    )
    if ui.json:
        ui.document({"accesses": [dataclasses.asdict(one) for one in found]})
    else:
        for one in found:
            ui.say(str(one))
    slow = arguments.bar is not None and any(one.per_s < arguments.bar for one in found)
    return 3 if slow else 0
