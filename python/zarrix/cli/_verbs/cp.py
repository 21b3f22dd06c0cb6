"""``zarrix cp``: stored bytes as they are, from any store to any store."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, Literal

from zarrix.cli._common import PATH, add_common, add_selecting, add_writing, options_of, whole
from zarrix.cli._ui import Ui

if TYPE_CHECKING:
    from zarrix._nodes.location import Location

EXAMPLES = ("zarrix cp data.zarr copy.zarr", "zarrix cp data.zarr/depth data.zarr.zip")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("source", help=PATH)
    parser.add_argument("dest", help="where the copy is made; a name that ends in .zip is packed")
    parser.add_argument(
        "--exclude", action="append", type=expression, metavar="REGEX", help="leave keys out"
    )
    parser.add_argument(
        "--include", action="append", type=expression, metavar="REGEX",
        help="copy these keys even if excluded",
    )  # fmt: skip
    parser.add_argument(
        "--workers", type=whole(1, 1024), default=8, metavar="N",
        help="values in flight at once (default 8)",
    )  # fmt: skip
    add_selecting(parser)
    parser.add_argument(
        "--grid", choices=("same", "source", "rectilinear"), default="same",
        help="chunks of what --sel selects: encoded anew at its borders, all of the source, or the "
        "first and the last one cut (v3)",
    )  # fmt: skip
    parser.add_argument(
        "--align", choices=("out",), help="for --grid source: more elements, up to whole chunks"
    )
    add_writing(parser)
    add_common(parser)


def expression(text: str) -> str:
    """Reads a regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None
    return text


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Copy, and print how many values and bytes were copied."""
    # Import time: --help does not need them.
    from zarrix._nodes import nodes
    from zarrix._stores.overlap import refuse_overlap
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import located, new_location

    source = located(arguments.source, options_of(arguments, arguments.source))
    if arguments.sel:
        source = _part(arguments, ui)
    dest = new_location(arguments.dest, options_of(arguments, arguments.dest))
    node = source.find()
    assert node is not None  # `located` has found it.
    refuse_overlap("copy", (dest.store, dest.path), [(source.store, source.path)])
    if arguments.resume and not arguments.overwrite:
        synced = _resume(source, dest, arguments, ui)
        finish(dest, arguments, node.zarr_format)
        copied = synced.copied + synced.replaced
        _tell((copied, synced.unchanged, synced.nbytes), arguments, ui)
        for key, reason in synced.kept.items():
            ui.note(f"{key}: {reason}")
        return 0 if synced.is_complete else 3
    if arguments.overwrite:
        nodes.missing_parents(dest.store, dest.path, node.zarr_format)
        counts = _replace(source, dest, arguments, ui)
    elif (found := dest.find()) is not None:
        raise UsageError(
            f"{arguments.dest} is {'an' if found.kind == 'array' else 'a'} {found.kind} already; "
            "-f replaces it, and a name in it, such as "
            f"{arguments.dest.rstrip('/')}/{arguments.source.rstrip('/').rpartition('/')[2]}, "
            "copies into a group"
        )
    else:
        counts = _copy(source, dest.store, dest.path, arguments, ui)
    finish(dest, arguments, node.zarr_format)
    _tell(counts, arguments, ui)
    return 0


def _part(arguments: argparse.Namespace, ui: Ui) -> Location:
    """The part that ``--sel`` selects, as the source of the copy."""
    # Import time: most copies are of all.
    from zarrix._nodes.location import Location
    from zarrix.cli._selected import store_at

    options = options_of(arguments, arguments.source)
    is_grown = arguments.align == "out"
    part = store_at(
        arguments.source, options, arguments.sel, grid=arguments.grid, is_grown=is_grown
    )
    if is_grown:
        ui.note(f"taken up to whole chunks: {part.shown_ranges()}")
    return Location(part)


def finish(dest: Location, arguments: argparse.Namespace, zarr_format: Literal[2, 3]) -> None:
    """Create the groups above a copy, and write an archive."""
    if not arguments.dry_run and dest.path:
        # Import time: most copies are of whole hierarchies.
        from zarrix._nodes import nodes
        from zarrix.convert._destination import seen_by_parents

        nodes.require_parents(dest.store, dest.path, zarr_format)
        seen_by_parents(dest.store, dest.path)
    if arguments.dest.endswith((".zip", ".ozx")):
        dest.store.close()


def _resume(source: Location, dest: Location, arguments: argparse.Namespace, ui: Ui) -> Any:
    """Copy what is missing or differs: what there was may be of an older source."""
    # Import time: --help does not need it.
    import zarrix as zarr

    return zarr.sync_store(
        source.store,
        dest.store,
        source_path=source.path,
        dest_path=dest.path,
        excludes=arguments.exclude,
        includes=arguments.include,
        dry_run=arguments.dry_run,
        workers=arguments.workers,
        progress=ui.progress,
    )


def _replace(
    source: Location, dest: Location, arguments: argparse.Namespace, ui: Ui
) -> tuple[int, int, int]:
    """Copy to where something may be: a folder stays until the copy is complete."""
    # Import time: --help does not need them.
    from zarrix._hierarchy.replacing import replaced_folder
    from zarrix._nodes import nodes

    nodes.require_ours(dest.store, dest.path)
    # The source is listed, and the expressions are read, before anything is removed.
    counts = _copy(source, {}, dest.path, arguments, ui, dry_run=True)
    if arguments.dry_run:
        return counts
    with replaced_folder(dest.store, dest.path) as beside:
        if beside is not None:
            return _copy(source, beside, "", arguments, ui)
    nodes.clear(dest.store, dest.path)
    return _copy(source, dest.store, dest.path, arguments, ui)


def _copy(
    source: Location,
    store: Any,
    path: str,
    arguments: argparse.Namespace,
    ui: Ui,
    *,
    dry_run: bool = False,
) -> tuple[int, int, int]:
    # Import time: --help does not need it.
    import zarrix as zarr

    return zarr.copy_store(
        source.store,
        store,
        source_path=source.path,
        dest_path=path,
        excludes=arguments.exclude,
        includes=arguments.include,
        if_exists="raise",
        dry_run=arguments.dry_run or dry_run,
        workers=arguments.workers,
        progress=False if dry_run else ui.progress,
    )


def _tell(counts: tuple[int, int, int], arguments: argparse.Namespace, ui: Ui) -> None:
    copied, skipped, nbytes = counts
    if ui.json:
        ui.document(
            {"copied": copied, "skipped": skipped, "bytes": nbytes, "dry_run": arguments.dry_run}
        )
        return
    verb = "would copy" if arguments.dry_run else "copied"
    there = f", {skipped:,} were there" if skipped else ""
    ui.done(f"{verb} {copied:,} values, {nbytes:,} bytes{there}", dry_run=arguments.dry_run)
