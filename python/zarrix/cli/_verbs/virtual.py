"""``zarrix virtual``: many arrays and files as one, by a small list."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._common import add_common, options_of
from zarrix.cli._ui import Ui

EXAMPLES = (
    "zarrix virtual concat x.npy x.npy --dest twice.json",
    "zarrix virtual mosaic 0,0=x.npy 3,4=x.npy --dest tiles.json --fill-value 0",
    "zarrix virtual join day1.zarr day2.zarr --along time --dest days.json",
    "zarrix virtual add twice.json x.npy",
    "zarrix virtual drop twice.json 0",
    "zarrix virtual check days.json",
)

_MAKING = ("concat", "stack", "mosaic", "join")
_WHAT = (*_MAKING, "add", "drop", "refresh", "check", "references")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "what", choices=_WHAT,
        help="make a list (concat, stack, mosaic, join); add pieces to one, or drop some; look "
        "pieces up again (refresh), or check that all can be opened; write kerchunk references",
    )  # fmt: skip
    parser.add_argument(
        "paths", nargs="+", metavar="PATH",
        help="the sources; for a mosaic with their places, 0,4096=b.tif. Otherwise the list, and "
        "what is added, or the numbers of pieces that are dropped (3, 0:7)",
    )  # fmt: skip
    parser.add_argument(
        "--dest", metavar="FILE", help="the .json that is written; the list itself when omitted"
    )
    parser.add_argument("--axis", default="0", metavar="N", help="a number, or a name of an axis")
    parser.add_argument("--name", help="of the new axis of a stack")
    parser.add_argument("--along", metavar="DIM", help="the coordinate of a join")
    parser.add_argument("--variables", type=names, metavar="A,B", help="what is joined")
    parser.add_argument(
        "--overlap", choices=("error", "first", "last"), default="error",
        help="which source has what several have (mosaic, join); an error by default",
    )  # fmt: skip
    parser.add_argument("--fill-value", type=float, help="of elements in no piece of a mosaic")
    parser.add_argument("--dtype", help="what all pieces are cast to, without loss")
    parser.add_argument("--decode", choices=("cf",), help="by scales and fill values")
    parser.add_argument(
        "--missing", choices=("error", "fill"), default="error", help="what a lost piece reads as"
    )
    parser.add_argument("--window", type=int, metavar="N", help="with add: keep the last N")
    parser.add_argument("--overwrite", action="store_true", help="replace --dest if it exists")
    add_common(parser)


def names(text: str) -> list[str]:
    """Reads names that commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Make or change a list, and print it; 3 if pieces are broken."""
    # Import time: --help does not need it.
    from zarrix import virtual

    what, paths = arguments.what, arguments.paths
    options = options_of(arguments, *(path.rpartition("=")[2] for path in paths))
    if what in _MAKING:
        if arguments.dest is None:
            raise ValueError(f"virtual {what} writes a list: name it with --dest FILE.json")
        made = _made(arguments, options)
        virtual.save(made, arguments.dest, overwrite=arguments.overwrite)
        return _tell(ui, made, arguments.dest)
    node = virtual.open(paths[0], storage_options=options)
    if what == "check":
        return _check(ui, virtual.verify(node))
    if what == "references":
        if arguments.dest is None:
            raise ValueError("virtual references writes a file: name it with --dest FILE.json")
        virtual.references(node, arguments.dest, overwrite=arguments.overwrite)
        return _tell(ui, node, arguments.dest)
    changed = _changed(arguments, node, options)
    target = arguments.dest or paths[0]
    virtual.save(changed, target, overwrite=arguments.overwrite or target == paths[0])
    return _tell(ui, changed, target)


def _made(arguments: argparse.Namespace, options: Any) -> Any:
    # Import time: --help does not need it.
    from zarrix import virtual

    reading = {
        "dtype": arguments.dtype,
        "decode": arguments.decode,
        "missing": arguments.missing,
        "storage_options": options,
    }
    sources = arguments.paths
    axis: Any = int(arguments.axis) if arguments.axis.lstrip("-").isdecimal() else arguments.axis
    if arguments.what == "concat":
        return virtual.concat(sources, axis, **reading)
    if arguments.what == "stack":
        return virtual.stack(sources, axis, name=arguments.name, **reading)
    if arguments.what == "mosaic":
        return virtual.mosaic(
            [_placed(text) for text in sources],
            fill_value=arguments.fill_value,
            overlap=arguments.overlap,
            **reading,
        )
    if arguments.along is None:
        raise ValueError("virtual join needs the dimension: --along DIM")
    if arguments.dtype is not None:
        raise ValueError("virtual join has no --dtype: its variables have dtypes of their own")
    return virtual.join(
        sources,
        arguments.along,
        variables=arguments.variables,
        overlap=arguments.overlap,
        **reading,
    )


def _placed(text: str) -> tuple[tuple[int, ...], str]:
    corner, equals, source = text.partition("=")
    numbers = corner.split(",")
    if not equals or not all(part.strip().isdecimal() for part in numbers):
        raise ValueError(f"{text!r} is not a piece with its place, such as 0,4096=b.tif")
    return tuple(map(int, numbers)), source


def _changed(arguments: argparse.Namespace, node: Any, options: Any) -> Any:
    # Import time: --help does not need it.
    from zarrix import Group, virtual

    more = arguments.paths[1:]
    if arguments.what == "refresh":
        return virtual.refresh(node)
    if not more:
        raise ValueError(f"virtual {arguments.what} needs pieces after the list")
    if arguments.what == "add" and isinstance(node, Group):
        if arguments.along is None:
            raise ValueError(f"{arguments.paths[0]} is a group: add to it with --along DIM")
        return virtual.join(
            [node, *more], arguments.along, overlap=arguments.overlap, storage_options=options
        )
    if arguments.what == "add":
        return virtual.edit(node, append=more, window=arguments.window, storage_options=options)
    for text in reversed(more):
        node = virtual.edit(node, drop=_numbers(text))
    return node


def _numbers(text: str) -> int | slice:
    begin, colon, end = text.partition(":")
    try:
        if not colon:
            return int(text)
        return slice(int(begin) if begin else None, int(end) if end else None)
    except ValueError:
        raise ValueError(f"{text!r} is not a number of a piece, or a range such as 0:7") from None


def _check(ui: Ui, problems: list[Any]) -> int:
    if ui.json:
        found = [
            {"array": one.array, "piece": one.piece, "error": str(one.error)} for one in problems
        ]
        ui.document({"problems": found})
    elif problems:
        for one in problems:
            ui.say(f"{one.array or '/'} piece {one.piece}: {one.error}")
    elif not ui.quiet:
        ui.say("all pieces can be opened")
    return 3 if problems else 0


def _tell(ui: Ui, node: Any, dest: str) -> int:
    # Import time: --help does not need it.
    from zarrix import Array

    arrays = {"": node} if isinstance(node, Array) else dict(node.arrays())
    if ui.json:
        shapes = {name: list(array.shape) for name, array in arrays.items()}
        ui.document({"dest": dest, "arrays": shapes})
    elif not ui.quiet:
        for name, array in arrays.items():
            ui.say(f"{dest}{f'/{name}' if name else ''}: {array.shape} {array.dtype}")
    return 0
