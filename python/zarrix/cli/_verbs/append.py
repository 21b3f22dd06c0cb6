"""``zarrix append``: rows of groups and files, by the labels of a coordinate."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import PATH, add_common, add_selecting, options_of, size
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix append day1.zarr day2.zarr days.zarr --along time",
    "zarrix append day2.zarr days.zarr --along time --overlap replace",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("sources", nargs="+", help=f"groups: {PATH}; or a quoted pattern")
    parser.add_argument("dest", help="a group in a folder or a bucket; created if there is none")
    parser.add_argument(
        "--along", required=True, metavar="DIM", help="the dimension whose labels say the rows"
    )
    parser.add_argument(
        "--overlap", choices=("same", "skip", "replace", "error"), default="same",
        help="what is done with a label that is stored already: its values must be equal (same, "
        "default), are kept (skip) or replaced, or it is an error",
    )  # fmt: skip
    parser.add_argument(
        "--variables", type=names, metavar="A,B", help="what is taken, with the coordinate"
    )
    parser.add_argument(
        "--chunks", type=lengths_by_name, default={}, metavar="DIM=N,DIM=N",
        help="the length of chunks along dimensions, for a new destination",
    )  # fmt: skip
    add_selecting(parser)
    _add_what_may_differ(parser)
    parser.add_argument(
        "--wait", type=float, default=60.0, metavar="SECONDS",
        help="how long to wait for other appends and commits (default 60)",
    )  # fmt: skip
    parser.add_argument(
        "--max-memory", dest="memory", type=size, default="256M", metavar="SIZE",
        help="what data in flight may take (default 256M)",
    )  # fmt: skip
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what would be added; change nothing"
    )
    add_common(parser)


def _add_what_may_differ(parser: argparse.ArgumentParser) -> None:
    """Add what sources may have otherwise."""
    parser.add_argument(
        "--attributes", choices=("error", "keep"), default="error",
        help="whether other attributes than those that are stored are an error (default), or left "
        "out",
    )  # fmt: skip
    parser.add_argument(
        "--tolerance", type=tolerance, metavar="T",
        help="a label so near to a stored one is that label: 1s, 1e-6; also by name, "
        "time=1s,lat=1e-4, where lat is a coordinate that may differ",
    )  # fmt: skip
    parser.add_argument(
        "--repack", action="store_true",
        help="store values of another dtype, scale or fill value as the destination does",
    )  # fmt: skip


def names(text: str) -> list[str]:
    """Reads names that commas separate."""
    return [one.strip() for one in text.split(",") if one.strip()]


def lengths_by_name(text: str) -> dict[str, int]:
    """Reads lengths by dimension, ``time=24,x=100``."""
    found = {}
    for part in names(text):
        name, _, length = part.partition("=")
        if not (name and length.isdecimal() and int(length)):
            raise argparse.ArgumentTypeError(f"{text!r} is not DIM=N,DIM=N, such as time=24,x=100")
        found[name] = int(length)
    return found


def tolerance(text: str) -> Any:
    """Reads a distance of labels, or several by name: ``1s``, ``time=1s,lat=1e-4``."""
    if "=" not in text:
        return _distance(text)
    pairs = [part.partition("=") for part in names(text)]
    if not all(name and equals and one for name, equals, one in pairs):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=T,NAME=T, such as time=1s,lat=1e-4")
    return {name: _distance(one) for name, _, one in pairs}


def _distance(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Append, and print how many labels were added."""
    # Import time: --help does not need it.
    import zarrix as zarr
    from zarrix._labels._text import labels_of

    done = zarr.append(
        arguments.sources,
        arguments.dest,
        along=arguments.along,
        overlap=arguments.overlap,
        attributes=arguments.attributes,
        variables=arguments.variables,
        sel=labels_of(arguments.sel) if arguments.sel else None,
        chunks=arguments.chunks,
        tolerance=arguments.tolerance,
        repack=arguments.repack,
        memory=arguments.memory,
        wait=arguments.wait,
        dry_run=arguments.dry_run,
        progress=ui.progress,
        storage_options=options_of(arguments, arguments.dest, *arguments.sources),
    )
    ui.done(done, dry_run=arguments.dry_run)
    return 0
