"""``zarrix pyramid``: smaller copies of an image, with OME-Zarr metadata."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import (
    CHUNKS,
    add_common,
    add_selecting,
    add_writing,
    lengths,
    option,
    options_of,
    tell_job,
)
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix pyramid data.zarr/depth levels.zarr --levels 2",)

_METHODS = ("mean", "mode", "nearest", "min", "max", "median")


def _levels(text: str) -> Any:
    return text if text == "auto" else int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help="the image: an array")
    parser.add_argument(
        "dest", nargs="?",
        help="a new group, with a copy of the image; when omitted, levels are written beside it",
    )  # fmt: skip
    parser.add_argument("--levels", type=_levels, default="auto", help="how many, or auto")
    parser.add_argument("--method", choices=_METHODS, default="mean", help="mode is for labels")
    parser.add_argument("--axes", metavar="NAMES", help="names of the axes, such as tczyx")
    parser.add_argument(
        "--factors", "--factor", dest="factor", type=option, action="append", default=[],
        metavar="AXIS=N",
        help="by how much an axis shrinks from level to level; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--scale", type=option, action="append", default=[], metavar="AXIS=SIZE",
        help="the distance of two elements along an axis; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--units", "--unit", dest="unit", type=option, action="append", default=[],
        metavar="AXIS=UNIT",
        help="the unit of an axis, such as x=micrometer; may be repeated",
    )  # fmt: skip
    parser.add_argument("--ome", choices=("0.4", "0.5", "none"), help="the version of OME-Zarr")
    parser.add_argument("--chunks", type=lengths, metavar="N,N", help=CHUNKS)
    parser.add_argument(
        "--shards", type=lengths, metavar="N,N", help="shard shape (v3), also by names"
    )
    add_selecting(parser)
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Write the levels, and print the group."""
    # Import time: --help does not need them.
    from zarrix.cli._path import store_of
    from zarrix.cli._selected import source_at
    from zarrix.jobs import pyramid

    ome = {None: True, "none": False}.get(arguments.ome, arguments.ome)
    dest = arguments.dest and store_of(arguments.dest, options_of(arguments, arguments.dest))
    source = source_at(arguments.source, options_of(arguments, arguments.source), arguments.sel)
    result = pyramid(
        source,
        dest,
        levels=arguments.levels,
        factors=dict(arguments.factor) or None,
        method=arguments.method,
        ome=ome,
        axes=arguments.axes,
        units=dict(arguments.unit) or None,
        scale=dict(arguments.scale) or None,
        chunks=arguments.chunks,
        shards=arguments.shards,
        max_memory=arguments.memory,
        overwrite=arguments.overwrite,
        run=not arguments.dry_run,
        progress=ui.progress,
    )
    return tell_job(result, arguments, ui)
