"""``zarrix ls``: the members of a group, one a line."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import Any

from zarrix.cli._common import PATH, add_common, options_of, whole
from zarrix.cli._ui import Ui

_COLUMNS = ("dtype", "shape", "chunks", " bytes", " ratio", "name")
_ALL = 10**9
EXAMPLES = (
    "zarrix ls data.zarr",
    "zarrix ls -lR data.zarr",
    "zarrix ls -a data.zarr/rgb",
    "zarrix ls --limit 100 --after a0099 data.zarr",
    "zarrix ls --index / data.zarr",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("path", nargs="?", default=".", help=PATH)
    parser.add_argument(
        "-l", "--long", action="store_true", help="data type, shape, chunks, bytes and ratio"
    )
    parser.add_argument("-R", "--recursive", action="store_true", help="groups inside, too")
    parser.add_argument(
        "-a", "--all", action="store_true", help="keys of metadata documents and chunks instead"
    )
    parser.add_argument("-S", "--by-size", action="store_true", help="the largest first")
    parser.add_argument("-r", "--reverse", action="store_true", help="in reverse order")
    parser.add_argument(
        "--limit",
        type=whole(1, 10**9),
        metavar="N",
        help="so many members, and whether more follow",
    )
    parser.add_argument(
        "--after", default="", metavar="NAME", help="those behind this one, the last of --limit"
    )
    parser.add_argument(
        "--index",
        metavar="GROUP",
        help="a group of a hierarchy on a server, '/' for its root, by the index that 'consolidate "
        "--index' makes",
    )
    add_common(parser)


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print the members."""
    node = _opened(arguments)
    if arguments.all:
        below = f"{node.path}/" if node.path else ""
        keys = sorted(key[len(below) :] for key in node.store if key.startswith(below))
        if ui.json:
            ui.document({"keys": keys})
        else:
            _say_lines(ui, keys)
        return 0
    is_sorted = arguments.by_size or arguments.reverse
    # One more than is shown: whether there are others.
    most = None if is_sorted or arguments.limit is None else arguments.limit + 1
    found = _members(node, "", arguments.recursive, arguments.after, most or _ALL)
    members = [*islice(found, most)]
    if arguments.by_size:
        members.sort(key=lambda one: -getattr(one[1], "nbytes", 0))
    if arguments.reverse:
        members.reverse()
    members, more = members[: arguments.limit], len(members) > len(members[: arguments.limit])
    if ui.json:
        told = {} if arguments.limit is None else {"more": more}
        ui.document({"members": [_described(*one) for one in members], **told})
    elif arguments.long:
        rows = [_row(*one) for one in members]
        if rows:
            # Import time: --help does not need it.
            from zarrix._display.printable import lines

            ui.table(_COLUMNS, rows, lines(_table(rows)))
    else:
        _say_lines(ui, [name for name, _ in members])
    if more and not is_sorted:
        ui.note(f"there are more: --after {shlex.quote(members[-1][0].rstrip('/'))}")
    elif more:
        ui.note("there are more")
    return 0


def _opened(arguments: argparse.Namespace) -> Any:
    # Import time: --help does not need them.
    import zarrix as zarr
    from zarrix.cli._path import open_path

    options = options_of(arguments, arguments.path)
    if arguments.index is None:
        return open_path(arguments.path, options)
    return zarr.open_indexed(arguments.path, arguments.index, storage_options=options)


def _say_lines(ui: Ui, names: list[str]) -> None:
    # Import time: --help does not need it.
    from zarrix._display.printable import lines

    if names:
        ui.say(lines(names))


def _members(
    node: Any, prefix: str, deep: bool, after: str, at_once: int
) -> Iterator[tuple[str, Any]]:
    """The members below, behind the one that was shown last; of each group, so many at once."""
    if hasattr(node, "shape"):
        yield node.basename or "/", node
        return
    last, _, inside = after.partition("/")
    if deep and last and last in node and not hasattr(member := node[last], "shape"):
        # The rest of the group in which the listing ended.
        yield from _members(member, f"{prefix}{last}/", deep, inside, at_once)
    following: str | None = last
    while following is not None:
        found, following = node.page(at_once, following)
        for name, member in found:
            is_group = not hasattr(member, "shape")
            yield f"{prefix}{name}{'/' if is_group else ''}", member
            if deep and is_group:
                yield from _members(member, f"{prefix}{name}/", deep, "", at_once)


def _row(name: str, node: Any) -> tuple[str, ...]:
    if not hasattr(node, "shape"):
        return ("group", "", "", "", "", name)
    stored = int(node.nbytes_stored)
    ratio = f"{node.nbytes / stored:.2f}x" if stored > 0 and node.nbytes else ""
    shape, chunks = ("x".join(map(str, one)) or "scalar" for one in (node.shape, node.chunks))
    return (str(node.dtype), shape, chunks, f"{stored:,}", ratio, name)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(5)] if rows else []
    right = (False, False, False, True, True)
    return [
        "  ".join(
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row[:5], widths, right, strict=True)
        )
        + f"  {row[5]}"
        for row in rows
    ]


def _described(name: str, node: Any) -> dict[str, Any]:
    if not hasattr(node, "shape"):
        return {"name": name.rstrip("/"), "kind": "group"}
    return {
        "name": name,
        "kind": "array",
        "dtype": str(node.dtype),
        "shape": node.shape,
        "chunks": node.chunks,
        "nbytes": node.nbytes,
        "nbytes_stored": int(node.nbytes_stored),
    }
