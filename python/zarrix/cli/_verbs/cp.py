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
    from zarrix._nodes import nodes
    from zarrix._stores.overlap import refuse_overlap
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import located, new_location

    source = located(arguments.source, options_of(arguments, arguments.source))
    dest = new_location(arguments.dest, options_of(arguments, arguments.dest))
    node = source.find()
    assert node is not None  # `located` has found it.
    refuse_overlap("copy", (dest.store, dest.path), [(source.store, source.path)])
    if arguments.overwrite:
        nodes.missing_parents(dest.store, dest.path, node.zarr_format)
        clear = nodes.require_ours if arguments.dry_run else nodes.clear
        clear(dest.store, dest.path)
    elif not arguments.resume and (found := dest.find()) is not None:
        raise UsageError(
            f"{arguments.dest} is {'an' if found.kind == 'array' else 'a'} {found.kind} already; "
            "-f replaces it, and a name in it, such as "
            f"{arguments.dest.rstrip('/')}/{arguments.source.rstrip('/').rpartition('/')[2]}, "
            "copies into a group"
        )
    if_exists = "resume" if arguments.resume and not arguments.overwrite else "raise"
    copied, skipped, nbytes = zarr.copy_store(
        source.store,
        # What -f removes is there no longer.
        {} if arguments.dry_run and arguments.overwrite else dest.store,
        source_path=source.path,
        dest_path=dest.path,
        excludes=arguments.exclude,
        includes=arguments.include,
        if_exists=if_exists,  # type: ignore[arg-type]  # One of its literals.
        dry_run=arguments.dry_run,
        workers=arguments.workers,
        progress=ui.progress,
    )
    if not arguments.dry_run and dest.path:
        nodes.require_parents(dest.store, dest.path, node.zarr_format)
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
