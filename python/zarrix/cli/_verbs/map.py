"""``zarrix map``: an array that a function computes from blocks of others."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

from zarrix.cli._common import (
    CHUNKS,
    add_common,
    add_selecting,
    add_writing,
    lengths,
    options_of,
    tell_job,
)
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix map numpy:sqrt data.zarr/depth roots.zarr --dtype f4",)

_BOUNDARIES = ("reflect", "edge", "wrap", "clip")


def _boundary(text: str) -> Any:
    return text if text in _BOUNDARIES else float(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("function", help="MODULE:NAME of a function of one block of each source")
    parser.add_argument("sources", nargs="+", help="arrays of one shape")
    parser.add_argument("dest", help="the new array")
    parser.add_argument("--dtype", help="of the result; by default that of the first source")
    parser.add_argument(
        "--halo", type=json.loads, metavar="N",
        help="how many elements around a block the function gets, too; or a list, [0,2,2]",
    )  # fmt: skip
    parser.add_argument(
        "--boundary", type=_boundary, default="reflect", metavar="WHAT",
        help="beyond the array: reflect, edge, wrap, clip, or a number",
    )  # fmt: skip
    parser.add_argument("--chunks", type=lengths, metavar="N,N", help=CHUNKS)
    parser.add_argument(
        "--shards", type=lengths, metavar="N,N", help="shard shape (v3), also by names"
    )
    add_selecting(parser)
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Compute the array, and print it."""
    # Import time: --help does not need them.
    from zarrix.cli._path import store_of
    from zarrix.cli._selected import source_at
    from zarrix.jobs import map_chunks

    # Modules of the folder are found, too, but after all that are installed.
    if (here := os.getcwd()) not in sys.path:
        sys.path.append(here)
    result = map_chunks(
        arguments.function,
        *(source_at(one, options_of(arguments, one), arguments.sel) for one in arguments.sources),
        dest=store_of(arguments.dest, options_of(arguments, arguments.dest)),
        dtype=arguments.dtype,
        chunks=arguments.chunks,
        shards=arguments.shards,
        halo=arguments.halo,
        boundary=arguments.boundary,
        overwrite=arguments.overwrite,
        run=not arguments.dry_run,
        progress=ui.progress,
    )
    return tell_job(result, arguments, ui)
