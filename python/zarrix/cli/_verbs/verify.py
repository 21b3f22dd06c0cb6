"""``zarrix verify``: read everything that is stored."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from zarrix.cli._common import PATH, add_common, options_of
from zarrix.cli._output import complain
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix verify data.zarr",
    "zarrix verify data.zarr --write-digests digests.json",
    "zarrix verify data.zarr --digests digests.json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help=PATH)
    parser.add_argument(
        "--clean", action="store_true", help=("remove the partial files of killed writers")
    )
    parser.add_argument(
        "--write-digests",
        type=Path,
        metavar="FILE",
        help="write the SHA-256 of every stored value, if all is well",
    )
    parser.add_argument(
        "--digests",
        type=Path,
        metavar="FILE",
        help="name the values that have changed since this file was written",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print what is broken, lost or changed; 3 if anything is."""
    # Import time: --help does not need it.
    import zarrix as zarr

    # Import time: --help does not need it.
    from zarrix.cli._digests import read_digests

    before = None if arguments.digests is None else read_digests(arguments.digests)
    options = options_of(arguments, arguments.path)
    result = zarr.verify(
        arguments.path,
        clean=arguments.clean,
        digests=before,
        storage_options=options,
        progress=ui.progress,
    )
    if arguments.write_digests is not None:
        if result.ok:
            found = zarr.digests(arguments.path, storage_options=options, progress=ui.progress)
            # Import time: --help does not need it.
            from zarrix._runtime.new_files import whole_file

            with whole_file(arguments.write_digests) as file:
                file.write(json.dumps(found, indent=0).encode())
        else:
            complain(f"all is not well, so that {arguments.write_digests} was not written", 3)
    ui.result(result)
    return 0 if result.ok else 3
