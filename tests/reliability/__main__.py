"""What survives: the experiments behind docs/reliability.md, as one command.

    python -m tests.reliability                     the quick form of every experiment
    python -m tests.reliability --long              the figures of docs/reliability.md
    python -m tests.reliability races --long --peer zarr=OTHER/bin/python

Each experiment runs in a process of its own, because it forks, kills, limits memory or closes what
it has opened. A peer is measured by the same code in the interpreter that has it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.libraries import LIBRARIES, Library, has_shards

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = (
    "races",
    "locks",
    "kills",
    "commits",
    "readers",
    "damage",
    "lies",
    "bombs",
    "forks",
    "interrupts",
    "failures",
    "archives",
    "power",
    "calls",
)
PEERS = ("races", "kills", "readers")
"""Experiments that peers take part in; the others look at what only zarrix promises."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run them; 0 if zarrix reached every bar, 1 otherwise."""
    arguments = _parser().parse_args(argv)
    if arguments.inside:
        return _inside(arguments)
    scale = arguments.scale or (1.0 if arguments.long else 0.02)
    rows: list[dict[str, Any]] = []
    for experiment in arguments.experiments or EXPERIMENTS:
        rows += _outside(experiment, "zarrix", sys.executable, scale)
        for peer in arguments.peer if experiment in PEERS else ():
            name, _, python = peer.partition("=")
            rows += _outside(experiment, name, python or sys.executable, scale)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    ours = [row for row in rows if row["library"] == "zarrix"]
    return 0 if all(row["reached"] for row in ours) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.reliability", description="Try to make zarrix lose something."
    )
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=", ".join(EXPERIMENTS))
    parser.add_argument("--long", action="store_true", help="minutes instead of seconds")
    parser.add_argument("--scale", type=float, metavar="S", help="part of --long, 0.02 to 1")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help=f"measure this library, too: {', '.join(list(LIBRARIES)[1:])}",
    )
    parser.add_argument("--inside", metavar="LIBRARY", help=argparse.SUPPRESS)
    return parser


def _outside(experiment: str, library: str, python: str, scale: float) -> list[dict[str, Any]]:
    command = [python, "-m", "tests.reliability", experiment, "--inside", library]
    run = subprocess.run(
        [*command, "--scale", str(scale)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    try:
        rows = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        rows = [{"what": "the experiment itself failed", "value": 1, "bar": "= 0", "unit": ""}]
        rows[0]["reached"] = False
        print(run.stderr[-4000:], file=sys.stderr)
    for row in rows:
        row["experiment"] = experiment
        row.setdefault("library", library)
        mark = "" if row["reached"] else "  <-- MISSED"
        bar = f"({row['bar']})" if row["bar"] else ""
        value = f"{row['value']:g} {row['unit']}".rstrip()
        print(f"{experiment:11}{row['library']:10} {row['what']}: {value} {bar}{mark}", flush=True)
    return rows


def _inside(arguments: argparse.Namespace) -> int:
    """One experiment with one library, in this process; the last line printed is JSON."""
    (experiment,) = arguments.experiments
    library = LIBRARIES[arguments.inside]
    if not library.installed:
        print("[]")
        return 0
    for name in {library.needs, "zarr"} if library.needs == "zarrs" else {library.needs}:
        importlib.import_module(name)
    _import_what_is_used(library)
    module = importlib.import_module(f"tests.reliability.{experiment}")
    with tempfile.TemporaryDirectory(prefix="zarrix-reliability-") as folder:
        scale = arguments.scale or (1.0 if arguments.long else 0.02)
        figures = module.run(library, Path(folder), scale)
    rows = [{"library": library.title, **figure.as_json()} for figure in figures]
    print(json.dumps(rows))
    return 0


def _import_what_is_used(library: Library) -> None:
    """So that forked children find it imported, but not yet used: each would import it again."""
    with tempfile.TemporaryDirectory(prefix="zarrix-reliability-") as folder:
        place = Path(folder, "used")

        def use() -> list[str]:
            before = set(sys.modules)
            for inner in [None] + [2] * has_shards(library):
                library.make(place, 8, 4, inner)
                array = library.open(place)
                array[:3] = np.arange(3, dtype="<i4")
                np.asarray(array[:])
            if library.append is not None:
                library.append(array, np.zeros(2, "<i4"))
            if library.attributes is not None:
                library.attributes(place)["used"] = 1
            return [name for name in sys.modules if name not in before]

        for name in call(use).answer or ():
            importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main())
