"""``zarrix import``: files of other formats become Zarr."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import (
    add_common,
    add_writing,
    checked,
    codec,
    option,
    options_of,
    sizes,
)
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix import x.npy new.zarr",
    "zarrix import x.h5 run.zarr --keep-chunks",
    "zarrix import x.npy data.zarr/x --chunks 2,2 --codec zstd:3 -n",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "source", nargs="+", help="files, also by URL, a folder of images, or a quoted pattern"
    )
    parser.add_argument("dest", help="a new array or group; may be a path inside a hierarchy")
    parser.add_argument(
        "--from",
        dest="format",
        metavar="FORMAT",
        help="the format (zarrix formats), or a suffix such as csv; else what the name says",
    )
    parser.add_argument(
        "--option", type=option, action="append", default=[], metavar="KEY=VALUE",
        help="an option of the format (zarrix formats), such as dtype=float32; may be repeated",
    )  # fmt: skip
    parser.add_argument("--stack", metavar="NAME", help="stack files along a new first axis")
    parser.add_argument("--concat", type=int, metavar="AXIS", help="join files along an axis")
    _add_layout(parser)
    parser.add_argument(
        "--virtual", action="store_true",
        help="write references to the file (kerchunk JSON) instead of a copy",
    )  # fmt: skip
    parser.add_argument(
        "--verify", choices=("none", "sample", "full"), default="sample",
        help="read what was stored again and compare (default sample)",
    )  # fmt: skip
    parser.add_argument(
        "--into", action="store_true",
        help="add to the group that exists; arrays that it has get the elements of the source",
    )  # fmt: skip
    add_writing(parser)
    add_common(parser)


def _add_layout(parser: argparse.ArgumentParser) -> None:
    """Add how the new arrays are stored."""
    parser.add_argument(
        "--for", dest="preset", choices=("measure", "training", "archive", "cloud"),
        default="measure",
        help="what the array is for, if --chunks is omitted: tiles of single pictures (training), "
        "level 9 and large shards (archive), small chunks in shards (cloud); default measure",
    )  # fmt: skip
    parser.add_argument("--chunks", type=sizes, metavar="N,N", help="chunk shape, or a size, 1MiB")
    parser.add_argument("--shards", type=sizes, metavar="N,N", help="shard shape (v3)")
    parser.add_argument(
        "--codec", type=codec, default="auto",
        help="none, zstd:LEVEL, gzip:LEVEL, or blosc:NAME:LEVEL:SHUFFLE "
        "(default blosc:zstd:5:bitshuffle)",
    )  # fmt: skip
    parser.add_argument(
        "--max-error", type=float, metavar="E",
        help="round floating-point numbers by at most so much (default: every value is kept)",
    )  # fmt: skip
    parser.add_argument("--to-format", type=int, choices=(2, 3), help="Zarr v2 or v3 (default)")
    parser.add_argument(
        "--keep-chunks", action="store_true",
        help="copy encoded chunks without decoding them, where Zarr has their codecs",
    )  # fmt: skip


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Import, and print what was made."""
    # Import time: --help does not need it.
    from zarrix.convert import import_, virtual

    sources = arguments.source
    source: Any = sources[0] if len(sources) == 1 else sources
    options = checked(arguments, sources[0], "read")
    if arguments.virtual:
        ui.done(
            virtual(
                source, arguments.dest, format=arguments.format, verify=arguments.verify,
                overwrite=arguments.overwrite, dry_run=arguments.dry_run, **options,
            ),
            dry_run=arguments.dry_run,
        )  # fmt: skip
        return 0
    result = import_(
        source,
        arguments.dest,
        format=arguments.format,
        chunks=arguments.chunks,
        shards=arguments.shards,
        compressor=arguments.codec,
        zarr_format=arguments.to_format,
        keep_chunks=arguments.keep_chunks,
        preset=arguments.preset,
        max_error=arguments.max_error,
        stack=arguments.stack,
        concat=arguments.concat,
        memory=arguments.memory,
        verify=arguments.verify,
        into=arguments.into,
        overwrite=arguments.overwrite,
        resume=arguments.resume,
        dry_run=arguments.dry_run,
        progress=ui.progress,
        storage_options=options_of(arguments, arguments.dest, *sources),
        **options,
    )
    ui.done(result, dry_run=arguments.dry_run)
    return 3 if result.left_out else 0
