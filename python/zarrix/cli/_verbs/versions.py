"""``zarrix versions``: the versions of a hierarchy, listed, checked or deleted."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix versions data.zarr",
    "zarrix versions data.zarr --verify",
    "zarrix versions data.zarr --expire keep_last=7 keep_daily=30 -n",
    "zarrix versions data.zarr --delete v1",
)

_RULES = {"keep_last": int, "keep_daily": int, "older_than": str}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", help="the root of a hierarchy in a folder, or in a bucket of S3")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--delete", metavar="NAME", help="delete a version")
    what.add_argument(
        "--expire",
        nargs="+",
        type=rule,
        metavar="RULE",
        help="delete what no rule keeps: keep_last=7, keep_daily=30, older_than=90d",
    )
    what.add_argument(
        "--verify", action="store_true", help="compare the files with what was stored"
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="with --expire: only print the names"
    )
    add_common(parser)


def rule(text: str) -> tuple[str, Any]:
    """Reads a rule."""
    name, equals, value = text.partition("=")
    try:
        if equals and name in _RULES:
            return name, _RULES[name](value)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a rule, such as keep_last=7, keep_daily=30 or older_than=90d"
    )


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the versions, or what was done with them; 3 if one is not what was stored."""
    # Import time: --help does not need them.
    import zarrix as zarr

    options = options_of(arguments, arguments.path)
    history = zarr.Versions(arguments.path, storage_options=options)
    if arguments.verify:
        checked = history.verify(progress=ui.progress)
        ui.result(checked)
        return 0 if checked.ok else 3
    if arguments.delete is not None:
        history.delete(arguments.delete)
        _tell(ui, [arguments.delete], dry_run=False)
    elif arguments.expire is not None:
        names = history.expire(**dict(arguments.expire), dry_run=arguments.dry_run)
        _tell(ui, names, dry_run=arguments.dry_run)
    else:
        found = list(history)
        if not found:
            # A hierarchy that is gone may have versions; a path that never was one is a mistake.
            zarr.open(arguments.path, mode="r", storage_options=options)
        _list(ui, found)
    return 0


def _tell(ui: Ui, names: list[str], *, dry_run: bool) -> None:
    if ui.json:
        ui.document({"dry_run": dry_run, "deleted": names})
    else:
        word = "would delete" if dry_run else "deleted"
        ui.done("\n".join(f"{word} {name}" for name in names) or "nothing", dry_run=dry_run)


def _list(ui: Ui, versions: list[Any]) -> None:
    # Import time: --help does not need it.
    from zarrix._display.printable import printable

    if ui.json:
        ui.document({"versions": [version.to_dict() for version in versions]})
        return
    columns = ("name", "created", "how", "keys", "bytes", "message")
    rows = [
        [
            version.name,
            f"{version.created:%Y-%m-%d %H:%M:%S}",
            version.how,
            f"{version.keys:,}",
            f"{version.nbytes:,}",
            printable(version.message),
        ]
        for version in versions
    ]
    if rows:
        ui.table(columns, rows, "\n".join("  ".join(row).rstrip() for row in rows))
    else:
        ui.note("there are no versions; 'zarrix snapshot PATH NAME' makes one")
