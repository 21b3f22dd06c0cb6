"""The folder of a demo: its files are complete, and files of other programs are not touched.

Everything is written as ``NAME.partial`` and renamed when it is complete. All names with that
suffix are removed when the demo exits for any reason; after a crash of the machine, the next run
removes them. A marker file shows that a folder belongs to the demo; without it, a folder that is
not empty is an error.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Self

from zarrix._runtime.system import lock_file
from zarrix.cli._interrupts import Interrupts

_MARKER = ".zarrix-demo"
_PARTIAL = ".partial"


class DemoError(Exception):
    """The demo cannot continue; the message has the reason and, if there is one, the way out."""


class Folder:
    """A folder that the demo may write to, for the duration of a ``with``.

    Parameters
    ----------
    path : Path
    names : collection of str
        What the demo writes.
    interrupts : Interrupts
    """

    def __init__(self, path: Path, names: Collection[str], interrupts: Interrupts) -> None:
        self.path = path
        self._names = tuple(names)
        self._interrupts = interrupts
        self._made = False
        self._lock: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is None:
            return
        with self._interrupts.held():
            self._sweep()
            if not self.finished():
                # Nothing was completed, so that no file of the demo is left.
                (self.path / _MARKER).unlink(missing_ok=True)
                if self._made:
                    self.path.rmdir()
            os.close(self._lock)

    def claim(self) -> None:
        """Create the folder, or remove the files of an earlier demo; other files stay.

        Raises
        ------
        DemoError
            It is not a folder, has files of other programs, or another demo is writing to it.
        """
        # Without an interrupt in between, because the cleanup must know what was done.
        with self._interrupts.held():
            self._take()
        self._interrupts.check()
        for name in self._names:
            if (self.path / name).exists():
                # Removing takes time, so that it first loses the name of a complete file.
                self._remove(name + _PARTIAL)
                (self.path / name).rename(self.path / (name + _PARTIAL))
        self._sweep()

    def _take(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise DemoError(f"{self.path} is a file; name a folder with --path")
        self._made = not self.path.exists()
        self.path.mkdir(parents=True, exist_ok=True)
        found = sorted(entry.name for entry in self.path.iterdir())
        if found and _MARKER not in found:
            some = ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
            raise DemoError(
                f"{self.path} holds files that are not the demo's ({some}); "
                "name a new or empty folder with --path"
            )
        # A link in the folder of another user is not written through.
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        lock = os.open(self.path / _MARKER, flags, 0o644)
        try:
            lock_file(lock, wait=False)
        except BlockingIOError:
            os.close(lock)
            raise DemoError(f"another demo is writing to {self.path}") from None
        self._lock = lock

    @contextlib.contextmanager
    def unfinished(self, name: str) -> Iterator[Path]:
        """A path to write ``name`` at; leaving without an error gives it that name."""
        path = self.path / (name + _PARTIAL)
        yield path
        path.rename(self.path / name)

    def finished(self) -> list[str]:
        """The names of complete files."""
        return [name for name in self._names if (self.path / name).exists()]

    def _sweep(self) -> None:
        for name in self._names:
            self._remove(name + _PARTIAL)

    def _remove(self, name: str) -> None:
        path = self.path / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
