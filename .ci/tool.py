"""Write the verbs of the command line, and the table of formats, into the documentation.

    python .ci/tool.py            # print what differs; exit 1 if anything does
    python .ci/tool.py --write    # write it

The text is made from the parsers and not from ``--help``, whose layout depends on the version of
Python and on the terminal.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zarrix.cli._commands import parser_of
from zarrix.cli._table import GROUPS, VERBS
from zarrix.convert._formats import FORMATS, converter
from zarrix.convert._options import options_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
SECTIONS = (
    ("tool.md", "verbs"),
    ("convert.md", "formats"),
    ("convert.md", "kept"),
    ("convert.md", "others"),
)
COMMON = "common options"
HEAD = "| argument | value | meaning |\n|---|---|---|"


def verbs() -> str:
    """The section of the verbs."""
    common = _rows(parser_of("ls")[0], COMMON)
    lines = ["### Options of every verb", "", HEAD, *common, ""]
    for group, title in GROUPS.items():
        lines += [f"### {title}", ""]
        for name, verb in VERBS.items():
            if verb.group == group:
                lines += [*_verb(name), ""]
    return "\n".join(lines)


def _verb(name: str) -> list[str]:
    parser, module = parser_of(name)
    lines = [f"#### zarrix {name}", "", " ".join((parser.description or "").split()), ""]
    if module.EXAMPLES:
        lines += [*(f"    {example}" for example in module.EXAMPLES), ""]
    rows = _rows(parser, None)
    return [*lines, HEAD, *rows] if rows else lines[:-1]


def _rows(parser: argparse.ArgumentParser, group: str | None) -> list[str]:
    """The rows of the options of a group, or of all but the common ones."""
    rows = []
    groups = [one for one in parser._action_groups if one.title == COMMON]
    common = {id(action) for one in groups for action in one._group_actions}
    for action in parser._actions:
        if action.dest == "help" or (id(action) in common) != (group == COMMON):
            continue
        names = ", ".join(f"`{one}`" for one in action.option_strings) or f"`{action.dest}`"
        takes = action.metavar or (action.dest.upper() if action.option_strings else "")
        if action.nargs == 0 or not action.option_strings:
            takes = ""
        elif action.choices is not None:
            takes = ", ".join(map(str, action.choices))
        rows.append(f"| {names} | {takes} | {' '.join((action.help or '').split())} |")
    return rows


def formats() -> str:
    """The table of formats."""
    rows = ["| format | names | what | exported | options |", "|---|---|---|---|---|"]
    for one in FORMATS.values():
        module = converter(one.name)
        names = ", ".join(f"`{suffix}`" for suffix in one.suffixes)
        known = {*options_of(module.open_source), *(options_of(module.save) if one.exports else ())}
        options = ", ".join(f"`{name}`" for name in sorted(known))
        rows.append(
            f"| {one.name} | {names} | {one.what} | {'yes' if one.exports else 'no'} | {options} |"
        )
    return "\n".join(rows) + "\n"


def kept() -> str:
    """The table of what the tests of round trips found to come back byte for byte."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    # The tests are not a package that is installed.
    from convert_data import AS_CF, REFUSED, VALUES

    rows = [f"| elements | {' | '.join(REFUSED)} |", f"|---|{'---|' * len(REFUSED)}"]
    for name, value in VALUES.items():
        cells = [
            "refused" if name in names else "as CF" if (format, name in AS_CF) == ("netcdf", True)
            else "yes"
            for format, names in REFUSED.items()
        ]  # fmt: skip
        rows.append(
            f"| {name}, `{value.dtype.str.lstrip(chr(124))}` {value.shape} | {' | '.join(cells)} |"
        )
    return "\n".join(rows) + "\n"


def others() -> str:
    """The table of text, pictures and video, from the same tests."""
    sys.path.insert(0, str(DOCS.parent / "tests"))
    # The tests are not a package that is installed.
    from convert_data import OTHERS

    rows = ["| format | elements | shape | option of the import |", "|---|---|---|---|"]
    for format, (_, cases) in OTHERS.items():
        for name, (value, options) in cases.items():
            told = ", ".join(f"`{one}={value!r}`" for one, value in options.items())
            kind = "text" if value.dtype.kind == "T" else f"`{value.dtype.str.lstrip(chr(124))}`"
            rows.append(f"| {format} | {name}, {kind} | {value.shape} | {told} |")
    return "\n".join(rows) + "\n"


def page(name: str, section: str) -> str:
    """A page with its section as it should be."""
    text = (DOCS / name).read_text(encoding="utf-8")
    begin, end = f"<!-- {section}: written by .ci/tool.py -->\n", f"<!-- end of {section} -->\n"
    head, _, rest = text.partition(begin)
    _, _, tail = rest.partition(end)
    return f"{head}{begin}{globals()[section]()}{end}{tail}"


if __name__ == "__main__":
    wrong = False
    for name, section in SECTIONS:
        wanted = page(name, section)
        if "--write" in sys.argv:
            (DOCS / name).write_text(wanted, encoding="utf-8")
        wrong |= (DOCS / name).read_text(encoding="utf-8") != wanted
    sys.exit(wrong)
