"""``zarrix cp``: stored bytes as they are, from any store to any store."""

from __future__ import annotations

import argparse

from zarrix.cli._common import PATH, add_common, add_writing, options_of, whole
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix cp data.zarr copy.zarr", "zarrix cp data.zarr/depth data.zarr.zip")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help=PATH)
    parser.add_argument("dest", help="where the copy is made; a name that ends in .zip is packed")
    parser.add_argument("--exclude", action="append", metavar="REGEX", help="leave keys out")
    parser.add_argument(
        "--include", action="append", metavar="REGEX", help="copy these keys even if excluded"
    )
    parser.add_argument(
        "--workers", type=whole(1, 1024), default=8, metavar="N",
        help="values in flight at once (default 8)",
    )  # fmt: skip
    add_writing(parser)
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Copy, and print how many values and bytes were copied."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._path import located, new_location

    source = located(arguments.source, options_of(arguments, arguments.source))
    dest = new_location(
        arguments.dest, options_of(arguments, arguments.dest), dry_run=arguments.dry_run
    )
    if_exists = "replace" if arguments.overwrite else "skip" if arguments.resume else "raise"
    copied, skipped, nbytes = zarr.copy_store(
        source.store,
        dest.store,
        source_path=source.path,
        dest_path=dest.path,
        excludes=arguments.exclude,
        includes=arguments.include,
        if_exists=if_exists,  # type: ignore[arg-type]  # one of its literals
        dry_run=arguments.dry_run,
        workers=arguments.workers,
        progress=ui.progress,
    )
    if not arguments.dry_run and dest.path:
        # Import time: most copies are of whole hierarchies.
        from zarrix.convert._destination import seen_by_parents

        seen_by_parents(dest.store, dest.path)
    if arguments.dest.endswith((".zip", ".ozx")):
        dest.store.close()
    if ui.json:
        ui.document(
            {"copied": copied, "skipped": skipped, "bytes": nbytes, "dry_run": arguments.dry_run}
        )
    else:
        verb = "would copy" if arguments.dry_run else "copied"
        there = f", {skipped:,} were there" if skipped else ""
        told = f"{verb} {copied:,} values, {nbytes:,} bytes{there}"
        ui.done(told, dry_run=arguments.dry_run)
    return 0
