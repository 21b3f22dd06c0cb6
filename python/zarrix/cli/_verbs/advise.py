"""``zarrix advise``: which chunks and codec would be better, measured on a sample."""

from __future__ import annotations

import argparse
from pathlib import Path

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix advise data.zarr/rgb",
    'zarrix advise data.zarr/rgb --access "crop 2x2" --access "frame:0.1" --budget 0.2',
)
_SEVERITIES = ("info", "warn", "error")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--access", action="append", metavar="WORDS",
        help="'crop 256x256', 'frame:0.1', 'series t', 'points 100'; may be repeated. Without it "
        "only rules are checked",
    )  # fmt: skip
    parser.add_argument(
        "--for", dest="place", choices=("local", "remote"), default="local",
        help="where it will be read from (default local)",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=float, default=10.0, metavar="S", help="seconds for trials (default 10)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of sample and places")
    parser.add_argument("--scratch", metavar="DIR", help="the folder of the trials")
    parser.add_argument(
        "--max-error", type=float, metavar="E",
        help="try floating-point numbers that are rounded by at most so much, too",
    )  # fmt: skip
    parser.add_argument(
        "--fail-on", choices=_SEVERITIES, help="exit with 3 if a rule of this severity is broken"
    )
    parser.add_argument("-O", "--output", type=Path, metavar="FILE.svg", help="draw the trials")
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the advice; 3 if a rule is broken that --fail-on names."""
    # Import time: --help does not need them.
    from zarrix.cli._selected import node_at
    from zarrix.measure import advise

    found = advise(
        node_at(arguments.path, options_of(arguments, arguments.path), arguments.sel),
        access=arguments.access,
        place=arguments.place,
        budget=arguments.budget,
        seed=arguments.seed,
        scratch=arguments.scratch,
        max_error=arguments.max_error,
    )
    found.name = arguments.path
    ui.result(found)
    if arguments.output is not None:
        # Import time: --help does not need it.
        from zarrix._runtime.new_files import whole_file

        with whole_file(arguments.output) as file:
            file.write(found.to_svg().encode())
    if arguments.fail_on is None:
        return 0
    least = _SEVERITIES.index(arguments.fail_on)
    broken = any(_SEVERITIES.index(one.severity) >= least for one in found.findings)
    return 3 if broken else 0
