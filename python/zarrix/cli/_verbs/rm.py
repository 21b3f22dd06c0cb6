"""``zarrix rm``: remove an array or a group, and nothing that is not part of Zarr."""

from __future__ import annotations

import argparse
import contextlib
import os

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix rm -n data.zarr/depth", "zarrix rm data.zarr/depth")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", nargs="+", help="an array, or with -r a group")
    parser.add_argument("-r", "--recursive", action="store_true", help="groups, too")
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what would be removed; remove nothing"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Remove nodes under the lock of their metadata; print the stored bytes of each."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix._display.printable import printable
    from zarrix._nodes import nodes
    from zarrix.cli._failures import UsageError
    from zarrix.cli._path import located

    places = [located(path, options_of(arguments, path)) for path in arguments.path]
    for path, place in zip(arguments.path, places, strict=True):
        found = nodes.find(place.store, place.path)
        if found is not None and found.kind == "group" and not arguments.recursive:
            raise UsageError(f"{path} is a group; -r removes it with everything inside")
        if not os.path.islink(path.rstrip("/")):
            nodes.require_ours(place.store, place.path)
    removed = []
    for path, place in zip(arguments.path, places, strict=True):
        if os.path.islink(path.rstrip("/")):
            # The link was named, and not what it leads to.
            removed.append({"path": path, "bytes": 0})
            if not arguments.dry_run:
                os.unlink(path.rstrip("/"))
            continue
        nbytes = place.store._engine.size_prefix(place.store.engine_path(place.path))
        removed.append({"path": path, "bytes": nbytes})
        if arguments.dry_run:
            continue
        if place.path:
            del zarr.open_group(place.store, mode="r+")[place.path]
        else:
            nodes.clear(place.store, "")
            with contextlib.suppress(OSError):
                os.rmdir(path)
    if ui.json:
        ui.document({"removed": removed, "dry_run": arguments.dry_run})
    else:
        verb = "would remove" if arguments.dry_run else "removed"
        for one in removed:
            told = f"{verb} {printable(str(one['path']))}, {one['bytes']:,} bytes"
            ui.done(told, dry_run=arguments.dry_run)
    return 0
