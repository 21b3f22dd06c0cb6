"""The command line: one verb a call, such as ``zarrix info PATH``; `zarrix.cli._table` lists them.

Exit codes: 0 done, 1 an error that one sentence on stderr explains, 2 wrong usage or a missing
extra, 3 something is broken or lost (``verify``) or differs (``diff``), 130 interrupted.

This module is small on purpose. It handles Ctrl-C before it imports anything that takes time, and
every error of every command ends here.
"""

from __future__ import annotations

from collections.abc import Sequence

from zarrix.cli._interrupts import Interrupts
from zarrix.cli._output import complain, finish, lenient

__all__ = ["main"]


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
    with Interrupts() as interrupts, lenient():
        try:
            with interrupts.raised():
                # Import time: while the package is imported, Ctrl-C is already handled.
                from zarrix.cli._commands import run

                return run(argv, interrupts)
        except BaseException as error:
            if interrupts.pressed:
                notes = "; ".join(getattr(error, "__notes__", []))
                return complain(f"interrupted; {notes}" if notes else "interrupted", 130)
            # Import time: only a failure needs it.
            from zarrix.cli._failures import sentence_of

            sentence = sentence_of(error)
            if sentence is None:
                raise
            return complain(*sentence)
        finally:
            finish()
