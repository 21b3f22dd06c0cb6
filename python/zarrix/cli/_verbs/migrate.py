"""``zarrix migrate``: the metadata of a hierarchy in the other version of Zarr."""

from __future__ import annotations

import argparse
import dataclasses

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix migrate data.zarr --to 3 -n",)
DESCRIPTION = "Change a hierarchy from Zarr v2 to v3 or back; chunks stay where they are."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="a hierarchy")
    parser.add_argument("--to", type=int, choices=(2, 3), default=3, help="the version (default 3)")
    parser.add_argument(
        "--rewrite", action="store_true", help="copy chunks that cannot stay in place (to v2)"
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="print what would change; change nothing"
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Migrate, and print what changed."""
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix._stores.open import as_store

    result = zarr.migrate(
        as_store(arguments.path, options_of(arguments, arguments.path)),
        arguments.to,
        dry_run=arguments.dry_run,
        rewrite=arguments.rewrite,
    )
    if ui.json:
        ui.document(dataclasses.asdict(result))
    else:
        ui.done(str(result), dry_run=arguments.dry_run)
    return 0
