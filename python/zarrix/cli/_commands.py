"""The commands and their arguments.

The parser needs only the standard library. Other packages are imported when a command runs, so that
``zarrix info`` works without the extras.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import zarrix as zarr
from zarrix.cli._failures import UsageError
from zarrix.cli._interrupts import Interrupts
from zarrix.cli._output import complain, say, shows

__all__ = ["run"]

_EXTRAS = {"rich": "rich", "PIL": "pillow", "tifffile": "tifffile", "h5py": "h5py"}
_SIZES = (360, 720, 1080, 1440, 2160, 4320)
_EXIT_CODES = (
    "exit codes: 0 done, 1 an error, 2 wrong usage or a missing extra, 3 something is broken or "
    "differs, 130 interrupted"
)
_PATH = "a folder, a path inside one, a zip archive, or a URL"


def run(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    """Run the command that the arguments name; the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        parser.exit(2)
    return int(arguments.command(arguments, interrupts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zarrix",
        description="Inspect, verify and compare Zarr arrays, or run a demo.",
        epilog=_EXIT_CODES,
    )
    parser.add_argument("--version", action="version", version=f"zarrix {zarr.__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, command, what in (
        (
            "info",
            _info,
            "print a report about an array or group: shape, chunks, codecs, stored bytes",
        ),
        ("tree", _tree, "print the groups and arrays below a path"),
        ("verify", _verify, "check that everything stored can be read; exit code 3 if not"),
        ("repair", _repair, "rename what is broken, so that the rest can be read"),
        ("diff", _diff, "name the metadata, attributes and chunks that differ; exit code 3 if any"),
    ):
        one = commands.add_parser(name, help=what, description=what, epilog=_EXIT_CODES)
        one.add_argument("path", help=_PATH)
        if name == "diff":
            one.add_argument("other", help="the second array, group or store")
        if name == "verify":
            _add_digests(one)
        one.add_argument(
            "--storage-option",
            type=_option,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="an option of the store of a URL, under fsspec's name; may be repeated",
        )
        one.add_argument("--json", action="store_true", help="print the result as JSON")
        one.set_defaults(command=command)
    _add_demo(commands.add_parser("demo", help="make a data set, load crops from it, compare"))
    return parser


def _add_digests(verify: argparse.ArgumentParser) -> None:
    verify.add_argument(
        "--clean", action="store_true", help=("remove the partial files of killed writers")
    )
    verify.add_argument(
        "--write-digests",
        type=Path,
        metavar="FILE",
        help="write the SHA-256 of every stored value, if all is well",
    )
    verify.add_argument(
        "--digests",
        type=Path,
        metavar="FILE",
        help="name the values that have changed since this file was written",
    )


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.description = (
        "Make a moving-picture data set, write it as Zarr, PNG, TIFF, HDF5, npy and npz, load "
        "random crops from each and print how they compare. Files of an earlier demo in the "
        "folder are replaced; a folder with other files is an error."
    )
    demo.add_argument(
        "--path",
        type=Path,
        default=Path("zarrix-demo"),
        metavar="DIR",
        help="folder for all output (default ./zarrix-demo)",
    )
    demo.add_argument(
        "--frames",
        type=_whole(1, 9999),
        default=6,
        metavar="N",
        help="frames to make (default 6)",
    )
    demo.add_argument(
        "--seconds",
        type=_seconds,
        default=2.0,
        metavar="S",
        help="how long crops are loaded from each format (default 2)",
    )
    demo.add_argument(
        "--seed",
        type=_whole(0, 2**32 - 1),
        default=0,
        metavar="N",
        help="seed of the scene and of the crops",
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


def _whole(least: int, most: int) -> Callable[[str], int]:
    """Reads a whole number within these limits."""

    def read(text: str) -> int:
        number = int(text) if text.strip().lstrip("+-").isdecimal() else None
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {least} to {most}"
            )
        return number

    return read


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, and up to 3600")
    return number


def _option(text: str) -> tuple[str, Any]:
    """A storage option: its value is JSON, such as true or 30 or {...}, or else text."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def _options(arguments: argparse.Namespace) -> dict[str, Any] | None:
    return dict(arguments.storage_option) or None


def _open(arguments: argparse.Namespace) -> Any:
    return zarr.open(arguments.path, mode="r", storage_options=_options(arguments))


def _info(arguments: argparse.Namespace, _: Interrupts) -> int:
    node = _open(arguments)
    if arguments.json:
        # Import time: only --json needs it.
        from zarrix.cli._described import described

        say(json.dumps(described(node), indent=2))
    else:
        say(str(node.info))
    return 0


def _tree(arguments: argparse.Namespace, _: Interrupts) -> int:
    viewer = zarr.tree(_open(arguments))
    if arguments.json:
        # Import time: only --json needs it.
        from zarrix.cli._described import nested

        say(json.dumps(nested(viewer), indent=2))
    else:
        text = str(viewer)
        say(text if shows("├─└│") else bytes(viewer).decode())
    return 0


def _verify(arguments: argparse.Namespace, _: Interrupts) -> int:
    before = None if arguments.digests is None else _read_digests(arguments.digests)
    options, progress = _options(arguments), sys.stderr.isatty()
    result = zarr.verify(
        arguments.path,
        clean=arguments.clean,
        digests=before,
        storage_options=options,
        progress=progress,
    )
    if arguments.write_digests is not None:
        if result.ok:
            found = zarr.digests(arguments.path, storage_options=options, progress=progress)
            _replace(arguments.write_digests, json.dumps(found, indent=0))
        else:
            complain(f"all is not well, so that {arguments.write_digests} was not written", 3)
    say(result.to_json() if arguments.json else str(result))
    return 0 if result.ok else 3


def _read_digests(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_bytes())
    except ValueError as error:
        raise UsageError(f"{file} is not a file of digests: it is not JSON, {error}") from None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        raise UsageError(
            f"{file} is not a file of digests: 'zarrix verify --write-digests' writes a JSON "
            "object of a text for each key"
        )
    return found


def _replace(file: Path, text: str) -> None:
    """Write a file atomically: an interrupt leaves the old digests."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def _repair(arguments: argparse.Namespace, _: Interrupts) -> int:
    # Import time: other verbs do not need them.
    from zarrix._display.printable import counted
    from zarrix.operate._place import place_of
    from zarrix.operate._repair import Repair, repair_into

    result = Repair()
    try:
        place = place_of(arguments.path, None, _options(arguments))
        repair_into(result, place, sys.stderr.isatty())
    except BaseException as error:
        if result.set_aside:
            say(result.to_json() if arguments.json else str(result))
            error.add_note(f"{counted(len(result.set_aside), 'value')} put aside until then")
        raise
    say(result.to_json() if arguments.json else str(result))
    return 0


def _diff(arguments: argparse.Namespace, _: Interrupts) -> int:
    result = zarr.diff(
        arguments.path,
        arguments.other,
        storage_options=_options(arguments),
        progress=sys.stderr.isatty(),
    )
    say(result.to_json() if arguments.json else str(result))
    return 0 if result.same else 3


def _demo(arguments: argparse.Namespace, interrupts: Interrupts) -> int:
    try:
        # Optional packages: those of the extra [demo].
        from zarrix.cli import demo
    except ImportError as error:
        missing = _EXTRAS.get((error.name or "").partition(".")[0])
        if missing is None:
            raise
        return complain(
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
