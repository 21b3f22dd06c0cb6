"""Man pages of the verbs, made from their parsers."""

from __future__ import annotations

import argparse
from pathlib import Path

from zarrix._engine import __version__
from zarrix._runtime.new_files import whole_file
from zarrix.cli._table import GROUPS, VERBS

__all__ = ["page", "write"]

_CODES = (
    ("0", "done, or nothing differs"),
    ("1", "an error, which one sentence on standard error explains"),
    ("2", "wrong usage, or a package that is not installed"),
    ("3", "something is broken, or differs"),
    ("130", "interrupted"),
)


def write(folder: str) -> list[Path]:
    """Write ``zarrix.1`` and a page for each verb into a folder; returns their paths."""
    made = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for verb in (None, *VERBS):
        path = Path(folder) / ("zarrix.1" if verb is None else f"zarrix-{verb}.1")
        with whole_file(path) as file:
            file.write(page(verb).encode())
        made.append(path)
    return made


def page(verb: str | None) -> str:
    """The page of a verb, or of ``zarrix`` itself, as roff."""
    name = "zarrix" if verb is None else f"zarrix-{verb}"
    what = "look at, check, copy and convert arrays" if verb is None else VERBS[verb].what
    lines = [
        f'.TH "{name.upper()}" "1" "" "zarrix {__version__}" "zarrix"',
        ".SH NAME",
        f"{_escaped(name)} \\- {_escaped(what)}",
        ".SH SYNOPSIS",
    ]
    lines += _overview() if verb is None else _verb(verb)
    lines.append(".SH EXIT STATUS")
    for code, meaning in _CODES:
        lines += [".TP", f".B {code}", meaning]
    if verb is not None:
        lines += [".SH SEE ALSO", ".BR zarrix (1)"]
    return "\n".join(lines) + "\n"


def _overview() -> list[str]:
    lines = [".B zarrix", ".I VERB", "[options] ..."]
    for group, title in GROUPS.items():
        lines.append(f".SH {title.upper()}")
        for verb, row in VERBS.items():
            if row.group == group:
                lines += [".TP", f".BR zarrix-{_escaped(verb)} (1)", _escaped(row.what)]
    return lines


def _verb(verb: str) -> list[str]:
    # A circle otherwise: the module that finds verbs imports the verb that writes pages.
    from zarrix.cli._commands import parser_of

    parser, module = parser_of(verb)
    needed = [one.dest for one in parser._actions if not one.option_strings and one.nargs != "?"]
    lines = [
        f".B zarrix {_escaped(verb)}", "[options]", *(f".I {_escaped(one)}" for one in needed),
        ".SH DESCRIPTION", _escaped(" ".join((parser.description or "").split())),
    ]  # fmt: skip
    for group in parser._action_groups:
        if group._group_actions:
            lines.append(f".SH {_escaped((group.title or '').upper())}")
            for action in group._group_actions:
                lines += _action(action)
    if module.EXAMPLES:
        lines += [
            ".SH EXAMPLES",
            ".nf",
            *(f"    {_escaped(one)}" for one in module.EXAMPLES),
            ".fi",
        ]
    return lines


def _action(action: argparse.Action) -> list[str]:
    takes = ""
    if action.option_strings and action.nargs != 0:
        takes = " " + str(action.metavar or "|".join(map(str, action.choices or ())) or action.dest)
    names = ", ".join(action.option_strings) or action.dest
    told = " ".join((action.help or "").replace("%%", "%").split())
    return [".TP", f"\\fB{_escaped(names)}\\fR{_escaped(takes)}", _escaped(told)]


def _escaped(text: str) -> str:
    """Text that roff prints as it is: no escapes, no request at the begin of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
