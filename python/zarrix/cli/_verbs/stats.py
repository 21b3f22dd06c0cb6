"""``zarrix stats``: what the values of an array are like."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, add_selecting, options_of, whole
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix stats data.zarr/depth", "zarrix stats x.npy --hist 4")


_SHOWN = (
    *("count", "nan_count", "fill_count", "min", "max", "mean", "std"),
    *("histogram", "edges"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--bins",
        "--hist",
        dest="hist",
        type=whole(1, 65536),
        metavar="N",
        help="a histogram of N bins",
    )
    parser.add_argument(
        "--quantiles", "--quantile", dest="quantile", type=float, action="append", default=[],
        metavar="Q",
        help="a quantile, 0 to 1; may be repeated",
    )  # fmt: skip
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the statistics."""
    # Import time: --help does not need them.
    from zarrix.cli._failures import UsageError
    from zarrix.cli._selected import node_at
    from zarrix.jobs import statistics

    node = node_at(arguments.path, options_of(arguments, arguments.path), arguments.sel)
    if not hasattr(node, "shape"):
        raise UsageError(f"{arguments.path} is a group; name one of its arrays ('zarrix ls')")
    found = statistics(
        node,
        bins=arguments.hist,
        quantiles=arguments.quantile,
        resume=False,
        progress=ui.progress,
    )
    told = {name: getattr(found, name) for name in _SHOWN}
    told |= {f"quantile {q:g}": found.quantile(q) for q in arguments.quantile}
    plain = {
        name: getattr(one, "tolist", lambda one=one: one)()
        for name, one in told.items()
        if one is not None
    }
    if ui.json:
        ui.document(plain)
        return 0
    for name, one in plain.items():
        ui.say(f"{name:<14} {one}")
    return 0
