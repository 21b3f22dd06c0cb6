"""Ctrl-C ends a command in one way, at any time and any number of times.

The first press raises `KeyboardInterrupt`. Later ones have no effect, so that they cannot interrupt
the cleanup. The press is also recorded, because a library that is interrupted in a callback, or
while it closes a file, may swallow the exception or raise another one.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Self


class Interrupts:
    """Handles Ctrl-C for the duration of a ``with``, in the main thread.

    A press is only recorded outside of `raised`. After one, Ctrl-C is ignored, because the process
    is ending: its last steps must neither be interrupted nor print a traceback.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._held = True

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        # A parent that starts a program with Ctrl-C ignored, as a shell does in the background,
        # wants that.
        self._ours = (
            threading.current_thread() is threading.main_thread()
            and self._before is not signal.SIG_IGN
        )
        self._report_lost = sys.unraisablehook
        if self._ours:
            signal.signal(signal.SIGINT, self._handle)
            sys.unraisablehook = self._unraisable
        return self

    def __exit__(self, *_: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.SIG_IGN if self.pressed else self._before)
            sys.unraisablehook = self._report_lost

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if Ctrl-C was pressed before."""
        if self.pressed:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def raised(self) -> Iterator[None]:
        """During the context, a press raises `KeyboardInterrupt`, and so does one before it."""
        self._held = False
        try:
            self.check()
            yield
        finally:
            self._held = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """During the context, a press is only recorded; call `check` afterwards."""
        before, self._held = self._held, True
        try:
            yield
        finally:
            self._held = before

    def _unraisable(self, lost: sys.UnraisableHookArgs) -> None:
        # A callback that was interrupted cannot raise; it need not complain either.
        if not (self.pressed and isinstance(lost.exc_value, KeyboardInterrupt)):
            self._report_lost(lost)

    def _handle(self, _signal: int, _frame: FrameType | None) -> None:
        first, self.pressed = not self.pressed, True
        if first and not self._held:
            raise KeyboardInterrupt
