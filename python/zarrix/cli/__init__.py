"""The command line: ``zarrix info PATH``, ``tree``, ``verify``, ``repair``, ``diff``, ``demo``.

The parser needs nothing but the standard library; what a command needs beyond zarrix itself is
imported when that command runs, so that ``zarrix info`` works where the extras are not installed.

Exit codes: 0 done, 1 an error that one sentence on stderr explains, 2 wrong usage or a missing
extra, 3 something is broken (``verify``) or differs (``diff``), 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import zarrix as zarr
from zarrix._errors import ZarrixError
from zarrix.cli._folder import DemoError
from zarrix.cli._interrupts import Interrupts

__all__ = ["main"]

_EXTRAS = {"rich": "rich", "PIL": "pillow", "tifffile": "tifffile", "h5py": "h5py"}
_SIZES = (360, 720, 1080, 1440, 2160, 4320)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process when omitted.

    Returns
    -------
    int
        The exit code.
    """
    arguments = _parser().parse_args(argv)
    with Interrupts() as interrupts:
        try:
            return int(arguments.command(arguments, interrupts))
        except BaseException as error:
            if interrupts.pressed:
                return _complain("interrupted", 130)
            if isinstance(error, ZarrixError | DemoError | OSError):
                return _complain(str(error), 1)
            raise


def _complain(sentence: str, code: int) -> int:
    print(f"zarrix: {sentence}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zarrix", description="Zarr arrays: look into them, or see what they do."
    )
    parser.add_argument("--version", action="version", version=f"zarrix {zarr.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, command, what in (
        ("info", _info, "print what an array or group is: shape, chunks, codecs, bytes stored"),
        ("tree", _tree, "print the groups and arrays below a path"),
    ):
        looker = commands.add_parser(name, help=what, description=what)
        looker.add_argument("path", help="an array or group: a folder, or a path inside one")
        looker.set_defaults(command=command)
    _add_operations(commands)
    _add_demo(commands.add_parser("demo", help="make a data set, load crops from it, compare"))
    return parser


def _add_operations(commands: Any) -> None:
    for name, command, what in (
        ("verify", _verify, "check that everything stored can be read; exit code 3 if not"),
        ("repair", _repair, "put what is broken aside, under another name, so that the rest reads"),
        ("diff", _diff, "name the metadata, attributes and chunks that differ; exit code 3 if any"),
    ):
        operation = commands.add_parser(name, help=what, description=what)
        operation.add_argument("path", help="a folder: a store, or a path inside one")
        if name == "diff":
            operation.add_argument("other", help="what it is compared with")
        if name == "verify":
            operation.add_argument(
                "--clean", action="store_true", help="remove what killed writers have left"
            )
            operation.add_argument(
                "--write-digests",
                type=Path,
                metavar="FILE",
                help="write the SHA-256 of every stored value, if all is well",
            )
            operation.add_argument(
                "--digests",
                type=Path,
                metavar="FILE",
                help="name what has changed since this file was written",
            )
        operation.add_argument("--json", action="store_true", help="print the result as JSON")
        operation.set_defaults(command=command)


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.description = (
        "Make a moving-picture data set, write it as Zarr, PNG, TIFF, HDF5, npy and npz, load "
        "random crops from each and print how they compare. What an earlier demo wrote to the "
        "folder is replaced; a folder with anything else in it is refused."
    )
    demo.add_argument(
        "--path",
        type=Path,
        default=Path("zarrix-demo"),
        metavar="DIR",
        help="folder for all that is written (default ./zarrix-demo)",
    )
    demo.add_argument(
        "--frames", type=_count, default=6, metavar="N", help="frames to make (default 6)"
    )
    demo.add_argument(
        "--seconds",
        type=_seconds,
        default=2.0,
        metavar="S",
        help="how long crops are loaded from each format (default 2)",
    )
    demo.add_argument(
        "--seed", type=_seed, default=0, metavar="N", help="another seed, another scene and crops"
    )
    demo.add_argument(
        "--size",
        choices=[f"{height}p" for height in _SIZES],
        default="2160p",
        help="height of the frames (default 2160p, in which crops are 960x960)",
    )
    demo.add_argument("--no-progress", action="store_true", help="draw no progress bars")
    demo.add_argument("--json", action="store_true", help="print the results as JSON, not a table")
    demo.set_defaults(command=_demo)


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 9999:
        raise argparse.ArgumentTypeError(f"{number} is not between 1 and 9999")
    return number


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is negative")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"{number:g} is not between 0 and 3600")
    return number


def _info(arguments: argparse.Namespace, _: Interrupts) -> int:
    print(zarr.open(arguments.path, mode="r").info)
    return 0


def _tree(arguments: argparse.Namespace, _: Interrupts) -> int:
    print(zarr.tree(zarr.open(arguments.path, mode="r")))
    return 0


def _verify(arguments: argparse.Namespace, _: Interrupts) -> int:
    before = json.loads(arguments.digests.read_text()) if arguments.digests else None
    result = zarr.verify(
        arguments.path, clean=arguments.clean, digests=before, progress=sys.stderr.isatty()
    )
    if result.ok and arguments.write_digests:
        arguments.write_digests.write_text(json.dumps(zarr.digests(arguments.path), indent=0))
    print(result.to_json() if arguments.json else result)
    return 0 if result.ok else 3


def _repair(arguments: argparse.Namespace, _: Interrupts) -> int:
    result = zarr.repair(arguments.path, progress=sys.stderr.isatty())
    print(result.to_json() if arguments.json else result)
    return 0


def _diff(arguments: argparse.Namespace, _: Interrupts) -> int:
    result = zarr.diff(arguments.path, arguments.other)
    print(result.to_json() if arguments.json else result)
    return 0 if result.same else 3


def _demo(arguments: argparse.Namespace, interrupts: Interrupts) -> int:
    try:
        from zarrix.cli import demo
    except ImportError as error:
        missing = _EXTRAS.get((error.name or "").partition(".")[0])
        if missing is None:
            raise
        return _complain(
            f'the demo needs {missing}, which is not installed: pip install "zarrix[demo]"', 2
        )
    return demo.main(
        demo.Options(
            path=arguments.path,
            frames=arguments.frames,
            seconds=arguments.seconds,
            seed=arguments.seed,
            height=int(arguments.size.removesuffix("p")),
            progress=not arguments.no_progress,
            json=arguments.json,
        ),
        interrupts,
    )
