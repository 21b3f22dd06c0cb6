"""``zarrix sync``: makes a copy equal to its source again, by copying what differs."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, options_of, size, whole
from zarrix.cli._ui import Ui
from zarrix.cli._verbs.cp import expression, finish

EXAMPLES = ("zarrix sync data.zarr copy.zarr", "zarrix sync data.zarr copy.zarr --delete -n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help=PATH)
    parser.add_argument("dest", help="the copy; it is made if nothing is there")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what would be done; change nothing"
    )
    parser.add_argument(
        "--delete", action="store_true", help="delete nodes and keys that the source does not have"
    )
    parser.add_argument(
        "--allow-empty", action="store_true", help="delete even if the source has no root document"
    )
    parser.add_argument(
        "--compare", choices=("auto", "size", "tag", "digest"), default="auto",
        help="how to compare values that the ledger does not know (default auto)",
    )  # fmt: skip
    parser.add_argument(
        "--bandwidth", type=size, metavar="SIZE", help="the most bytes a second, such as 50MiB"
    )
    parser.add_argument(
        "--workers", type=whole(1, 1024), default=32, metavar="N",
        help="values in flight at once (default 32)",
    )  # fmt: skip
    parser.add_argument(
        "--exclude", action="append", type=expression, metavar="REGEX",
        help="neither copy nor delete these keys",
    )  # fmt: skip
    parser.add_argument(
        "--include", action="append", type=expression, metavar="REGEX",
        help="copy these keys even if excluded",
    )  # fmt: skip
    parser.add_argument(
        "--ledger", metavar="FILE", help="remembers what is equal (default: in the cache folder)"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Sync, and print the counts; 3 if something was left as it is."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._path import located, new_location

    source = located(arguments.source, options_of(arguments, arguments.source))
    dest = new_location(arguments.dest, options_of(arguments, arguments.dest))
    tells_keys = arguments.dry_run and not ui.json
    counts = zarr.sync_store(
        source.store,
        dest.store,
        source_path=source.path,
        dest_path=dest.path,
        delete=arguments.delete,
        compare=arguments.compare,
        dry_run=arguments.dry_run,
        workers=arguments.workers,
        bandwidth=arguments.bandwidth,
        includes=arguments.include,
        excludes=arguments.exclude,
        ledger=arguments.ledger,
        allow_empty=arguments.allow_empty,
        log=ui.say if tells_keys else None,
        progress=ui.progress,
    )
    node = source.find()
    assert node is not None  # `located` has found it.
    finish(dest, arguments, node.zarr_format)
    ui.done(counts, dry_run=arguments.dry_run)
    return 0 if counts.is_complete else 3
