"""``zarrix compare``: an array in each format, with size, write, read and crop times."""

from __future__ import annotations

import argparse
from pathlib import Path

from zarrix.cli._common import PATH, add_common, add_selecting, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix compare x.npy --seconds 0.05",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--format", action="append", metavar="NAME",
        help="one of zarr, npy, memmap, npz, raw, text, pickle, hdf5, tiff, bits; may be repeated "
        "(default all)",
    )  # fmt: skip
    parser.add_argument("--access", metavar="WORDS", help="the crops, such as 'crop 256x256'")
    parser.add_argument(
        "--seconds", type=float, default=0.5, metavar="S",
        help="crops of each format (default 0.5)",
    )  # fmt: skip
    parser.add_argument("--scratch", metavar="DIR", help="the folder of the files")
    parser.add_argument(
        "-O", "--output", type=Path, metavar="FILE.svg", help="draw size against speed"
    )
    add_selecting(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the table."""
    # Import time: --help does not need them.
    from zarrix.cli._selected import node_at
    from zarrix.measure import compare

    found = compare(
        node_at(arguments.path, options_of(arguments, arguments.path), arguments.sel),
        formats=arguments.format,
        access=arguments.access,
        seconds=arguments.seconds,
        scratch=arguments.scratch,
    )
    ui.result(found)
    if arguments.output is not None:
        # Import time: --help does not need it.
        from zarrix._runtime.new_files import whole_file

        with whole_file(arguments.output) as file:
            file.write(found.to_svg().encode())
    return 0
