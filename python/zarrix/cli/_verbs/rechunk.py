"""``zarrix rechunk``: a copy with other chunks, shards or codecs, in bounded memory."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import (
    CHUNKS,
    add_common,
    add_selecting,
    add_writing,
    codec,
    lengths,
    options_of,
    tell_job,
)
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix rechunk data.zarr/depth new.zarr --chunks 2,2,6",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help="an array, or a group with all arrays below it")
    parser.add_argument("dest", help="the new array or group")
    parser.add_argument("--chunks", type=lengths, metavar="N,N", help=CHUNKS)
    parser.add_argument(
        "--shards", type=lengths, metavar="N,N", help="shard shape (v3), also by names"
    )
    parser.add_argument(
        "--codec", type=codec, default="keep",
        help="none, zstd:LEVEL, gzip:LEVEL, or blosc:NAME:LEVEL:SHUFFLE; those of the source "
        "when omitted",
    )  # fmt: skip
    parser.add_argument(
        "--max-error", type=float, metavar="E",
        help="round floating-point numbers by at most so much (default: every value is kept)",
    )  # fmt: skip
    parser.add_argument("--to-format", type=int, choices=(2, 3), help="Zarr v2 or v3")
    add_selecting(parser)
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Rechunk, and print what was done."""
    # Import time: --help does not need them.
    from zarrix.cli._path import store_of
    from zarrix.cli._selected import source_at
    from zarrix.jobs import rechunk

    source = source_at(arguments.source, options_of(arguments, arguments.source), arguments.sel)
    result: Any = rechunk(
        source,
        store_of(arguments.dest, options_of(arguments, arguments.dest)),
        chunks=arguments.chunks,
        shards=arguments.shards,
        compressors=arguments.codec,
        max_error=arguments.max_error,
        zarr_format=arguments.to_format,
        max_memory=arguments.memory,
        overwrite=arguments.overwrite,
        resume=True,
        run=not arguments.dry_run,
        progress=ui.progress,
    )
    return tell_job(result, arguments, ui)
