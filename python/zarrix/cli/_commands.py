"""Find the verb, parse its arguments, run it.

The parser needs only the standard library, and has only the arguments of the verb that is used.
Other packages are imported when a verb runs, so that ``zarrix info`` works without the extras.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from zarrix._engine import __version__
from zarrix._errors import suggestion
from zarrix.cli._common import EXIT_CODES, check_options
from zarrix.cli._interrupts import Interrupts
from zarrix.cli._table import GROUPS, OTHER_WORDS, READING, VERBS
from zarrix.cli._ui import Ui

__all__ = ["overview", "parser_of", "run"]

_USAGE = "zarrix [-h] [--version] VERB ..."


def run(argv: Sequence[str] | None, interrupts: Interrupts) -> int:
    """Run the verb that the arguments name; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    first = words[0] if words else None
    if first == "__complete":
        # Import time: only the shell asks for names.
        from zarrix.cli._complete import complete

        return complete(words[1:])
    if first not in VERBS:
        return _without_verb(first)
    assert first is not None
    parser, module = parser_of(first)
    arguments = parser.parse_args(words[1:])
    check_options(arguments)
    _find_versions(first, arguments)
    if VERBS[first].group == "look" and "numpy" not in sys.modules:
        # Verbs that look have no linear algebra, whose threads cost a fifth of NumPy's import.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if getattr(arguments, "threads", None):
        # Import time: it changes the process, and few calls ask for it.
        from zarrix._runtime.config import config

        config.threads = arguments.threads
    return int(module.run(arguments, Ui(first, arguments, interrupts)))


def _find_versions(verb: str, arguments: argparse.Namespace) -> None:
    """Replace ``PATH@NAME`` by the folder of the version, in arguments that are only read."""
    for name in READING.get(verb, ()):
        value = getattr(arguments, name)
        texts = value if isinstance(value, list) else [value]
        if not any(isinstance(text, str) and "@" in text for text in texts):
            continue
        # Import time: few paths have the sign.
        from zarrix.cli._versions import resolved

        found = [resolved(text) for text in texts]
        setattr(arguments, name, found if isinstance(value, list) else found[0])


def _without_verb(first: str | None) -> int:
    """Print the version, the list of verbs, or what is wrong with the first word."""
    top = argparse.ArgumentParser(prog="zarrix", usage=_USAGE, add_help=False)
    top.add_argument("--version", action="version", version=f"zarrix {__version__}")
    if first == "--version":
        top.parse_args([first])
    if first in ("-h", "--help"):
        print(overview())
        return 0
    if first is None:
        print(overview(), file=sys.stderr)
        top.exit(2)
    kind = "option" if first.startswith("-") else "verb"
    known = OTHER_WORDS.get(first)
    hint = suggestion(first, VERBS) if known is None else f"; use 'zarrix {known}'"
    return top.error(
        f"{first!r} is not {'an option' if kind == 'option' else 'a verb'}{hint}; 'zarrix help' "
        "lists all"
    )


def overview() -> str:
    """The list of verbs."""
    lines = [f"usage: {_USAGE}", "", "Look at, check, copy and convert arrays of any format."]
    for group, title in GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [
            f"  {name:<12} {verb.what}" for name, verb in VERBS.items() if verb.group == group
        ]
    lines += ["", "'zarrix VERB --help' has the options and examples of a verb.", EXIT_CODES]
    return "\n".join(lines)


def module_of(verb: str) -> ModuleType:
    """The module of a verb; the names of Python's keywords have an underscore behind."""
    name = f"{verb}_" if verb == "import" else verb
    return importlib.import_module(f"zarrix.cli._verbs.{name}")


def parser_of(verb: str) -> tuple[argparse.ArgumentParser, Any]:
    """The parser of a verb, and its module."""
    module = module_of(verb)
    what = VERBS[verb].what
    examples = "\n".join(f"  {one}" for one in module.EXAMPLES)
    parser = argparse.ArgumentParser(
        prog=f"zarrix {verb}",
        description=getattr(module, "DESCRIPTION", what[0].upper() + what[1:] + "."),
        epilog=(f"examples:\n{examples}\n\n" if examples else "") + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return parser, module
