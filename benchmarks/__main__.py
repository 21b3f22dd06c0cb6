"""The command line of the benchmarks: `python -m benchmarks --help`.

Nothing here needs more than the standard library, so that any Python starts the run, which then
goes on in the environment that has all peers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import setup


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure zarrix and its peers on the same files, in alternation.",
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("run", "setup", "list", "report", "agree"),
        default="run",
        help="measure (default), make the environment with all peers, list the workloads, show the "
        "stored rows as the table of docs/performance.md, or compare the rows of two files",
    )
    add = parser.add_argument
    add("--only", action="append", metavar="PATTERN", help="rows whose name has or fits this")
    add("--rounds", type=int, default=40, metavar="N", help="at most, for each row (default 40)")
    add("--budget", type=float, default=20.0, metavar="S", help="seconds for each row (default 20)")
    add("--quick", action="store_true", help="15 minutes: a row ends when its ratios have settled")
    add("--minutes", type=float, metavar="M", help="stop then; the same command goes on")
    add(
        "--runs", type=Path, metavar="FILE", help="of stored rows (default: rows.jsonl of the data)"
    )
    add("--repeat", type=int, default=1, metavar="N", help="complete runs (default 1)")
    add("--again", choices=("disturbed", "all"), help="measure rows again that are stored")
    add("--write", action="store_true", help="report: also into README.md and docs/performance.md")
    add("--against", type=Path, metavar="FILE", help="agree: the other rows (default: committed)")
    add("--tiny", action="store_true", help="tiny arrays: tests the harness, says nothing of speed")
    add("--every", action="store_true", help="a line for every contender, not only the best peer")
    add("--memory", action="store_true", help="peak memory of reads, each in its own process")
    add("--seed", type=int, metavar="N", help="of the odd sizes (default: the version's own)")
    add("--json", type=Path, metavar="FILE", help="write everything that was measured")
    add("--plot", type=Path, metavar="FILE", help="draw the rows as an SVG picture")
    add("--data", type=Path, metavar="DIR", help="of the arrays (default benchmarks/data)")
    add("--here", action="store_true", help="stay in this interpreter, with the peers it has")
    add("--tree", action="store_true", help="zarrix of this source tree, not the installed one")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run it; 0 when all contenders agreed about every value, 1 otherwise."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = _parser().parse_args(given)
    if arguments.action == "setup":
        return _setup()
    if not arguments.here and arguments.action not in ("report", "agree"):
        try:
            setup.hand_over(given)
        except setup.SetupError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
    if arguments.tree:
        sys.path.insert(0, str(setup.ROOT / "python"))
    from benchmarks.run import run

    return run(arguments)


def _setup() -> int:
    try:
        print(f"ready: {setup.make()}")
    except (setup.SetupError, subprocess.CalledProcessError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
