"""``zarrix help``: the list of verbs, or the whole grammar for programs."""

from __future__ import annotations

import argparse
from typing import Any

from zarrix.cli._table import VERBS
from zarrix.cli._ui import Ui

EXAMPLES = ("zarrix help", "zarrix help ls")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("verb", nargs="?", choices=list(VERBS), metavar="VERB", help="a verb")
    parser.add_argument(
        "--man", metavar="DIR", help="write man pages, such as to ~/.local/share/man/man1"
    )
    parser.add_argument("--json", action="store_true", help="print all verbs and options as JSON")


def run(arguments: argparse.Namespace, ui: Ui) -> int:
    """Print help."""
    # A circle otherwise: the module that finds verbs imports theirs.
    from zarrix.cli._commands import overview, parser_of

    if arguments.man is not None:
        # Import time: only --man needs it.
        from zarrix.cli._man import write

        ui.say(f"wrote {len(write(arguments.man))} pages to {arguments.man}")
    elif ui.json:
        ui.document({"verbs": {name: grammar(parser_of(name)[0]) for name in VERBS}})
    elif arguments.verb is None:
        ui.say(overview())
    else:
        ui.say(parser_of(arguments.verb)[0].format_help().rstrip())
    return 0


def grammar(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """The arguments of a verb, for programs."""
    return {
        "description": parser.description,
        "arguments": [
            {
                "names": action.option_strings or [action.dest],
                "help": action.help,
                "choices": list(action.choices) if action.choices is not None else None,
                "takes_value": action.nargs != 0,
            }
            for action in parser._actions
            if action.dest != "help"
        ],
    }
