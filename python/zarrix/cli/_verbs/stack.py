"""``zarrix stack``: one array of many files."""

from __future__ import annotations

import argparse

from zarrix.cli._common import CHUNKS, add_common, add_writing, lengths, options_of, tell_job
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix stack x.npy x.npy twice.zarr",)

_READERS = ("auto", "npy", "npz", "hdf5", "tiff", "image", "zarr")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("files", nargs="+", help="the files, in their order along the axis")
    parser.add_argument("dest", help="the new array")
    parser.add_argument("--axis", type=int, default=0, metavar="N", help="the axis (default 0)")
    parser.add_argument(
        "--new-axis", action="store_true", help="each file becomes one index of a new axis"
    )
    parser.add_argument("--reader", choices=_READERS, default="auto", help="by suffix if omitted")
    parser.add_argument("--member", metavar="NAME", help="the array in each file")
    parser.add_argument(
        "--align", choices=("chunks", "files"), default="chunks",
        help="files gives each file chunks of its own",
    )  # fmt: skip
    parser.add_argument("--chunks", type=lengths, metavar="N,N", help=CHUNKS)
    parser.add_argument(
        "--shards", type=lengths, metavar="N,N", help="shard shape (v3), also by names"
    )
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Stack the files, and print the array."""
    # Import time: --help does not need them.
    from zarrix.cli._path import store_of
    from zarrix.jobs import stack

    result = stack(
        arguments.files,
        store_of(arguments.dest, options_of(arguments, arguments.dest)),
        axis=arguments.axis,
        new_axis=arguments.new_axis,
        reader=arguments.reader,
        member=arguments.member,
        align=arguments.align,
        chunks=arguments.chunks,
        shards=arguments.shards,
        max_memory=arguments.memory,
        overwrite=arguments.overwrite,
        run=not arguments.dry_run,
        progress=ui.progress,
    )
    return tell_job(result, arguments, ui)
