"""Arguments that several verbs share, and what their texts mean."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from zarrix._runtime.sizes import is_size, parse_size
from zarrix._stores.path import is_url

if TYPE_CHECKING:
    from zarrix.cli._ui import Ui

__all__ = [
    "CHUNKS",
    "EXIT_CODES",
    "PATH",
    "add_common",
    "add_durability",
    "add_selecting",
    "add_writing",
    "check_options",
    "checked",
    "codec",
    "option",
    "options_of",
    "size",
    "lengths",
    "sizes",
    "whole",
]

EXIT_CODES = (
    "exit codes: 0 done, 1 an error, 2 wrong usage or a missing extra, 3 something is broken or "
    "differs, 130 interrupted"
)
CHUNKS = "chunk shape, also by names, t=40,y=100; or a size, 1MiB"
PATH = "a folder, a path inside one, a zip archive, a URL, or a file of another format"


def add_common(parser: argparse.ArgumentParser, *, store: bool = True) -> None:
    """Add the options of every verb."""
    common = parser.add_argument_group("common options")
    common.add_argument("--json", action="store_true", help="print the result as JSON")
    common.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="print neither notes nor what was changed, draw no bars",
    )
    common.add_argument(
        "--progress",
        choices=("auto", "always", "never", "json"),
        default="auto",
        help="bars on a terminal (auto), lines elsewhere too, none, or JSON lines on stderr",
    )
    common.add_argument("--threads", type=whole(1, 1024), metavar="N", help="threads to use")
    if store:
        common.add_argument(
            "-o",
            "--storage-option",
            type=option,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="an option of the URLs of the call, under fsspec's name; may be repeated",
        )


def add_durability(parser: argparse.ArgumentParser) -> None:
    """Add the option of what a change survives."""
    parser.add_argument(
        "--durability",
        choices=("process", "fsync"),
        help="what it survives: the death of the process, or a loss of power, too (fsync)",
    )


def add_selecting(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects by labels."""
    parser.add_argument(
        "--sel",
        default="",
        metavar="LABELS",
        help="labels by dimension, time=2020-01:2020-06,lat=30:60: dates, numbers, names; a slice "
        "has both ends in it",
    )


def add_writing(parser: argparse.ArgumentParser, *, resume: bool = True) -> None:
    """Add the options of every verb that writes."""
    writing = parser.add_argument_group("writing")
    writing.add_argument(
        "-n", "--dry-run", action="store_true", help="print what would be done; change nothing"
    )
    writing.add_argument(
        "-f", "--overwrite", action="store_true", help="replace a destination that exists"
    )
    if resume:
        writing.add_argument(
            "--resume", action="store_true", help="continue the same call, which was interrupted"
        )
        writing.add_argument(
            "--max-memory",
            "--memory",
            dest="memory",
            type=size,
            default="256M",
            metavar="SIZE",
            help="what data in flight may take (default 256M)",
        )


def tell_job(result: Any, arguments: argparse.Namespace, ui: Ui) -> int:
    """Print what a job has made, or its plan; the exit code."""
    node = result if hasattr(result, "info") else None
    told = str(node.info) if node is not None else str(result)
    if ui.json:
        ui.document({"dry_run": arguments.dry_run, "result": told})
    else:
        ui.done(told, dry_run=arguments.dry_run)
    return 0


def whole(min_value: int, max_value: int) -> Callable[[str], int]:
    """Reads a whole number within these limits."""

    def read(text: str) -> int:
        number = int(text) if text.strip().lstrip("+-").isdecimal() else None
        if number is None or not min_value <= number <= max_value:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number from {min_value} to {max_value}"
            )
        return number

    return read


def size(text: str) -> int:
    """Reads a number of bytes, such as 64M, 1GiB or 500kB; K, M and G are powers of 1024."""
    try:
        return parse_size(text, "size")
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a size, such as 64M, 1GiB or 500kB"
        ) from None


def sizes(text: str) -> Any:
    """Reads lengths along the axes, ``1,3,512,512``; or a size of chunks, ``1MiB``."""
    parts = text.split(",")
    if all(part.strip().isdecimal() for part in parts):
        return tuple(int(part) for part in parts)
    if not is_size(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither lengths along the axes, as 1,512,512, nor a size, as 1MiB"
        )
    size(text)
    return text


def lengths(text: str) -> Any:
    """Reads lengths by names of dimensions, ``t=40,y=100``, or what `sizes` reads."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not any(equals for _, equals, _ in pairs):
        return sizes(text)
    found = {name.strip(): number.strip() for name, _, number in pairs}
    if len(found) < len(pairs) or not all(name and n.isdecimal() for name, n in found.items()):
        raise argparse.ArgumentTypeError(
            f"{text!r} are not lengths by names of dimensions, each once, as t=40,y=100"
        )
    return {name: int(number) for name, number in found.items()}


def codec(text: str) -> Any:
    """Reads a codec: ``none``, ``zstd:3``, ``gzip:6`` or ``blosc:zstd:5:bitshuffle``."""
    # Import time: only --codec needs them.
    from zarrix.codecs import Blosc, GZip, Zstd

    name, *rest = text.split(":")
    try:
        if name == "none" and not rest:
            return None
        if name in ("auto", "keep") and not rest:
            return name
        if name in ("zstd", "gzip") and len(rest) <= 1:
            level = int(rest[0]) if rest else 5
            return Zstd(level=level) if name == "zstd" else GZip(level=level)
        if name == "blosc" and len(rest) <= 3:
            inner, level_text, shuffle = [*rest, *("zstd", "5", "bitshuffle")[len(rest) :]]
            shuffles = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
            return Blosc(cname=inner, clevel=int(level_text), shuffle=shuffles[shuffle])
    except (ValueError, KeyError):
        pass
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a codec, such as none, zstd:3, gzip:6 or blosc:zstd:5:bitshuffle"
    )


def checked(
    arguments: argparse.Namespace, path: str, does: Literal["read", "write"]
) -> dict[str, Any]:
    """The options of the format of a file; one that is named as a parameter is not passed as it.

    Raises
    ------
    OptionError
        The format does not have an option, or not with that kind of value.
    """
    options = dict(arguments.option)
    if not options:
        return options
    # Import time: --help does not need them.
    from zarrix.convert._formats import choose, converter
    from zarrix.convert._options import check_options

    name, _ = choose(path, arguments.format, does)
    function = getattr(converter(name), "open_source" if does == "read" else "save", None)
    if function is not None:
        check_options(function, options, name, does)
    return options


def option(text: str) -> tuple[str, Any]:
    """Reads KEY=VALUE; the value is JSON, such as true or 30 or {...}, or else text."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value


def options_of(arguments: argparse.Namespace, *paths: str) -> dict[str, Any] | None:
    """The storage options of the call if one of the paths is a URL; a folder or file has none."""
    return dict(arguments.storage_option) or None if any(map(is_url, paths)) else None


def check_options(arguments: argparse.Namespace) -> None:
    """Raise a `UsageError` if the call has storage options, and names no URL."""
    texts = [
        one
        for value in vars(arguments).values()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str)
    ]
    if getattr(arguments, "storage_option", None) and not any(map(is_url, texts)):
        # Import time: only a failure needs it.
        from zarrix.cli._failures import UsageError

        raise UsageError(
            "-o is an option of a URL, such as s3://bucket/data.zarr, and none is here"
        )
