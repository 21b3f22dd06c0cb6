"""The output of commands, for any names and any encoding of the terminal.

A closed pipe, as in ``zarrix tree x | head``, is not an error: nothing more is printed, and the
command ends normally. A character that the terminal cannot show is escaped.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from typing import BinaryIO, TextIO

from zarrix._display.printable import printable
from zarrix._display.progress import end_bar

__all__ = ["complain", "copy_to_output", "finish", "lenient", "say", "shows"]


def say(text: str) -> None:
    """Print ``text``, whose names are printable, to standard output."""
    _write(text, sys.stdout)


def copy_to_output(file: BinaryIO) -> None:
    """Write the bytes of a file to standard output, until its reader has enough."""
    if sys.stdout is None:
        return
    try:
        while block := file.read(1 << 20):
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _mute(sys.stdout)


def complain(sentence: str, code: int) -> int:
    """Print one line to standard error; returns ``code``."""
    end_bar()
    _write(f"zarrix: {printable(sentence)}", sys.stderr)
    return code


def shows(text: str) -> bool:
    """Whether standard output has all characters of ``text``."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextlib.contextmanager
def lenient() -> Iterator[None]:
    """Escape characters that the output cannot show, during the context.

    Warnings are one line each, without the line of Python that warned.
    """
    streams = [one for one in (sys.stdout, sys.stderr) if isinstance(one, io.TextIOWrapper)]
    before = [one.errors for one in streams]
    for one in streams:
        one.reconfigure(errors="backslashreplace")
    shown = warnings.showwarning

    def warned(message: Warning | str, *_: object, **__: object) -> None:
        complain(f"warning: {message}", 0)

    warnings.showwarning = warned
    try:
        yield
    finally:
        warnings.showwarning = shown
        for one, errors in zip(streams, before, strict=True):
            one.reconfigure(errors=errors)


def finish() -> None:
    """Flush buffered output, such as the help."""
    with contextlib.suppress(OSError):
        if sys.stdout is not None:
            sys.stdout.flush()
            return
    _mute(sys.stdout)


def _write(text: str, stream: TextIO | None) -> None:
    if stream is None:
        return
    try:
        print(text, file=stream, flush=True)
    except BrokenPipeError:
        _mute(stream)
    except OSError:
        _mute(stream)
        if stream is sys.stdout:
            raise


def _mute(stream: TextIO | None) -> None:
    """Discard buffered and later output, whose error would be reported at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        number = stream.fileno()  # type: ignore[union-attr]
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, number)
        os.close(nowhere)
