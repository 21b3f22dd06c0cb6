"""Rows that were measured, one line of JSON each: a run that stops loses only the row in progress.

A file has one writer at a time, because two runs would disturb each other. A line that was cut, by
a kill or a full disk, is passed over when the file is read, and the next one begins on a line of
its own. Nothing here needs more than the standard library.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

Record = dict[str, Any]

# What a difference from the commit may lie in: all that is run, without the rows themselves.
_MEASURED = ("python", "crates", "benchmarks", ":(exclude)benchmarks/rows.jsonl")


class InUse(Exception):
    """Another run writes to this file."""


class Records:
    """A file of records that this process alone writes to, as a context.

    Raises
    ------
    InUse
        Another process has it. Its lock ends with that process, however it ends.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Records:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InUse(f"another run writes to {self.path}; it has to end first") from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._file.close()

    def append(self, record: Record) -> None:
        """Add a line; it is on the disk when this returns."""
        line = json.dumps(record).encode() + b"\n"
        size = self._file.seek(0, os.SEEK_END)
        if size:
            self._file.seek(size - 1)
            # The last line was cut.
            line = line if self._file.read(1) == b"\n" else b"\n" + line
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())

    def records(self) -> list[Record]:
        """What is stored now."""
        return read(self.path)


def read(path: Path) -> list[Record]:
    """The records of a file, in their order, without lines that were cut; none without a file."""
    return list(_whole(path.read_bytes())) if path.exists() else []


def _whole(content: bytes) -> Iterator[Record]:
    for line in content.split(b"\n"):
        try:
            found = json.loads(line)
        except ValueError:
            # A part of an object never is JSON.
            continue
        if isinstance(found, dict):
            yield found


def machine() -> str:
    """The machine in words."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    count = len(os.sched_getaffinity(0))
    return f"{count} x {model}, {platform.system()}"


def commit() -> str:
    """The commit of this tree, with a checksum of what differs from it; "" outside of git."""
    found = _git("rev-parse", "--short=10", "HEAD").decode().strip()
    changes = _git("diff", "HEAD", "--", *_MEASURED) if found else b""
    return found + (f"+{zlib.crc32(changes):08x}" if changes else "")


def _git(*words: str) -> bytes:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def engine(package: Path) -> str:
    """A checksum of the compiled engine that is measured: a commit does not say what was built."""
    built = sorted(package.glob("_engine*.so"))
    return f"{zlib.crc32(built[0].read_bytes()):08x}" if built else ""


def now() -> str:
    """The time in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
