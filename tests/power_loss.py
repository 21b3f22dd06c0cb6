"""What a disk may have after a loss of power, by the calls that a program made on its files.

`losses` is what tests use. `recorded` runs a program under ``strace``, and keeps each call that
changes a file or a folder, with what it writes. `Disk` replays them, and knows what is durable: the
content of a file when it was last synced, and the names in a folder when that was. After a loss of
power each file has what is durable or what was written since, whole, in part or as zeros, and each
name likewise, in any combination. One rule is kept: a name that a rename has taken away is gone
only if the new name is there.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

__all__ = ["losses", "needs_strace", "recorded", "run_traced"]

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None
    or subprocess.run(["strace", "-o", os.devnull, "true"], check=False).returncode != 0,
    reason="strace is not here, or may not trace",
)

ROOT = Path(__file__).resolve().parents[1]
_CHANGES = (
    "open", "openat", "creat", "mkdir", "mkdirat", "write", "writev", "pwrite64", "ftruncate",
    "rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink",
    "unlinkat", "rmdir", "ioctl", "copy_file_range", "sendfile", "fsync", "fdatasync", "syncfs",
)  # fmt: skip
_LINE = re.compile(r"(?P<pid>\d+) +(?:<\.\.\. \w+ resumed>)?(?P<rest>.*)")
_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?")
_ARGUMENT = re.compile(r'(?:AT_FDCWD|\d+)?<([^>]*)>(?:\(deleted\))?|"([^"]*)"|([^,\s][^,]*)')


def run_traced(
    command: list[str], trace: Path, options: list[str], environment: dict[str, str] | None = None
) -> None:
    """Run a Python program (the arguments after the interpreter) under ``strace``."""
    tracer = ["strace", "-f", "-y", *options, "-o", str(trace)]
    subprocess.run(
        [*tracer, sys.executable, *command],
        check=True,
        capture_output=True,
        env={**os.environ, **(environment or {})},
    )


def losses(folder: Path, program: str, *, times: int, step: int = 1) -> Iterator[tuple[Path, bool]]:
    """What may be left of a folder after losses of power while a program changes it.

    Everything in the folder is durable before the program, which gets its path. Yields folders,
    each until the next one is made, and whether the program had made all of its calls.

    Parameters
    ----------
    folder : Path
    program : str
    times : int
        Losses after each ``step`` calls.
    step : int
    """
    kept, left = folder.with_name("kept"), folder.with_name("left")
    shutil.copytree(folder, kept)
    calls = recorded(program, folder)
    disk, seed = Disk(folder, kept), 0
    for number in range(len(calls) + 1):
        is_over = number == len(calls)
        if number % step == 0 or is_over:
            for _ in range(5 if is_over else times):
                shutil.rmtree(left, ignore_errors=True)
                disk.after_loss(left, seed)
                yield left, is_over
                seed += 1
        if not is_over:
            disk.apply(calls[number])
    disk.require_same()


@dataclass(frozen=True)
class Call:
    """A call that changes what is stored: its name, its paths or texts, and bytes or a number."""

    name: str
    arguments: tuple[str, ...]
    data: bytes = b""
    number: int = 0


def recorded(program: str, folder: Path) -> list[Call]:
    """The calls that a program makes on what is below ``folder``, in the order of their ends."""
    trace = folder.with_name(f"{folder.name}.trace")
    options = ["-xx", "-s", str(1 << 24), "-e", f"trace={','.join(_CHANGES)}"]
    paths = os.pathsep.join([str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")])
    run_traced(["-c", program, str(folder)], trace, options, {"PYTHONPATH": paths})
    calls = [call for line in _lines(trace) for call in _parsed(line, str(folder))]
    trace.unlink()
    assert calls
    return _in_order(calls)


def _in_order(calls: list[Call]) -> list[Call]:
    """The calls, with a new folder before what other threads did in it.

    The end of a call may be written down later than that of a call which needed it.
    """
    found: list[Call] = []
    for call in calls:
        at = len(found)
        if call.name == "mkdir" and not any(call.arguments[0] in one.arguments for one in found):
            inside = f"{call.arguments[0]}/"
            needs = (any(name.startswith(inside) for name in one.arguments) for one in found)
            at = next((number for number, is_inside in enumerate(needs) if is_inside), at)
        found.insert(at, call)
    return found


def _lines(trace: Path) -> Iterator[str]:
    """The calls, each in one line, also those that were interrupted by others."""
    begun: dict[str, str] = {}
    for line in trace.read_text().splitlines():
        match = _LINE.fullmatch(line)
        assert match is not None, line
        whole = begun.pop(match["pid"], "") + match["rest"]
        if whole.endswith("<unfinished ...>"):
            begun[match["pid"]] = whole.removesuffix("<unfinished ...>")
        else:
            yield whole


def _parsed(line: str, folder: str) -> Iterator[Call]:
    match = _CALL.match(line)
    if match is None or match[3].startswith("-"):
        return
    name, result = match[1], int(match[3])
    found = list(_ARGUMENT.finditer(match[2]))
    words = [one[3].strip() for one in found if one[3] is not None and one[3].strip()]
    opened = [_text(one[1]) for one in found if one[1] is not None]
    texts = [_bytes(one[2]) for one in found if one[2] is not None]
    if "(deleted)" in match[2]:
        return
    if name.startswith(("write", "pwrite")):
        number = int(words[-1]) if name == "pwrite64" else -1
        data = b"".join(texts)[:result]
        call = Call("write", (opened[0],), data, number)
    elif name in ("open", "openat", "creat"):
        flags = words[0] if words else "O_CREAT|O_TRUNC"
        if not {"O_CREAT", "O_TRUNC"} & set(flags.split("|")):
            return
        assert match[4] is not None
        call = Call("open", (_text(match[4]), flags))
    elif name == "ftruncate":
        call = Call(name, (opened[0],), number=int(words[-1]))
    elif name in ("fsync", "fdatasync", "syncfs"):
        call = Call("syncfs" if name == "syncfs" else "fsync", (opened[0],))
    elif name == "ioctl":
        if "FICLONE" not in match[2]:
            return
        call = Call("copy", (opened[0], opened[1]), number=-1)
    elif name in ("copy_file_range", "sendfile"):
        ends = opened if name == "sendfile" else opened[::-1]
        call = Call("copy", (ends[0], ends[1]), number=result)
    else:
        # Names in open folders: each text belongs to the folder before it.
        folders = opened or [""] * len(texts)
        assert len(folders) == len(texts), line
        paths = [os.path.join(a, os.fsdecode(b)) for a, b in zip(folders, texts, strict=True)]
        kind = "exchange" if "EXCHANGE" in match[2] else re.sub(r"at2?$", "", name)
        call = Call(kind, tuple(paths))
    assert not name.startswith("symlink"), line
    if any(one == folder or one.startswith(f"{folder}{os.sep}") for one in call.arguments):
        yield call


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


def _text(text: str) -> str:
    return os.fsdecode(_bytes(text)) if text.startswith("\\x") else text


@dataclass
class _File:
    """A file: its contents since it was last synced, and the durable one first; and its time."""

    contents: list[bytes] = field(default_factory=lambda: [b""])
    changed_ns: int = field(default_factory=time.time_ns)


@dataclass
class _Folder:
    """A folder: for each name what it has stood for since the folder was last synced."""

    names: dict[str, list[_File | _Folder | None]] = field(default_factory=dict)


_Entry = tuple[int, str]
_Choice = Callable[[list["_File | _Folder | None"], _Entry], int]


class Disk:
    """A folder of which everything is durable; then calls change it.

    Parameters
    ----------
    folder : Path
        Where the calls were made.
    kept : Path
        A copy of the folder before the calls.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        self._folder = str(folder)
        self._root = _read(kept)
        # Renames: the old name, and the moment there; the new name, and the moment there.
        self._renames: list[tuple[_Folder, str, int, _Folder, str, int]] = []

    def apply(self, call: Call) -> None:
        """Change what readers see, as the call did."""
        getattr(self, f"_{call.name}")(call)

    def _split(self, path: str) -> tuple[_Folder, str]:
        parts = os.path.relpath(path, self._folder).split(os.sep)
        at = self._root
        for part in parts[:-1]:
            below = at.names[part][-1]
            assert isinstance(below, _Folder), path
            at = below
        return at, parts[-1]

    def _at(self, path: str) -> _File | _Folder:
        if path == self._folder:
            return self._root
        folder, name = self._split(path)
        found = folder.names[name][-1]
        assert found is not None, path
        return found

    def _file(self, path: str) -> _File:
        found = self._at(path)
        assert isinstance(found, _File), path
        return found

    def _enter(self, path: str, entry: _File | _Folder | None) -> tuple[_Folder, str, int]:
        folder, name = self._split(path)
        past = folder.names.setdefault(name, [None])
        past.append(entry)
        return folder, name, len(past) - 1

    def _open(self, call: Call) -> None:
        path, flags = call.arguments
        folder, name = self._split(path)
        if folder.names.get(name, [None])[-1] is None:
            self._enter(path, _File())
        elif "O_TRUNC" in flags:
            self._file(path).contents.append(b"")

    def _mkdir(self, call: Call) -> None:
        self._enter(call.arguments[0], _Folder())

    def _write(self, call: Call) -> None:
        contents = self._file(call.arguments[0]).contents
        old = contents[-1]
        at = len(old) if call.number < 0 else call.number
        old = old.ljust(at, b"\0")
        contents.append(old[:at] + call.data + old[at + len(call.data) :])

    def _copy(self, call: Call) -> None:
        to, source = call.arguments
        contents, data = self._file(to).contents, self._file(source).contents[-1]
        done = 0 if call.number < 0 else len(contents[-1])
        contents.append(contents[-1][:done] + data[done:])

    def _ftruncate(self, call: Call) -> None:
        contents = self._file(call.arguments[0]).contents
        contents.append(contents[-1][: call.number].ljust(call.number, b"\0"))

    def _rename(self, call: Call) -> None:
        source, to = call.arguments
        moved = self._at(source)
        new = self._enter(to, moved)
        self._renames.append((*self._enter(source, None), *new))

    def _exchange(self, call: Call) -> None:
        first, second = call.arguments
        ends = (self._at(second), self._at(first))
        one, other = self._enter(first, ends[0]), self._enter(second, ends[1])
        self._renames += [(*one, *other), (*other, *one)]

    def _link(self, call: Call) -> None:
        self._enter(call.arguments[1], self._at(call.arguments[0]))

    def _unlink(self, call: Call) -> None:
        self._enter(call.arguments[0], None)

    _rmdir = _unlink

    def _syncfs(self, _: Call) -> None:
        self._sync_all(self._root)

    def _sync_all(self, folder: _Folder) -> None:
        for past in folder.names.values():
            if isinstance(past[-1], _Folder):
                self._sync_all(past[-1])
            elif past[-1] is not None:
                self._sync(past[-1])
        self._sync(folder)

    def _fsync(self, call: Call) -> None:
        self._sync(self._at(call.arguments[0]))

    def _sync(self, synced: _File | _Folder) -> None:
        if isinstance(synced, _File):
            del synced.contents[:-1]
            return
        self._renames = [
            (old, name, 0 if old is synced else at, *new)
            for old, name, at, *new in self._renames
            if new[0] is not synced
        ]
        for past in synced.names.values():
            del past[:-1]

    def require_same(self) -> None:
        """Assert that the calls have made what is in the folder: none was overlooked."""
        found = _values(_read(Path(self._folder)))
        assert _values(self._root) == found, set(_values(self._root)) ^ set(found)

    def after_loss(self, folder: Path, seed: int) -> None:
        """Make a folder of what may be left after a loss of power; a seed gives one of them."""
        chance = random.Random(seed)
        # How likely a change is there: none, all, and any combination.
        likely = (0.0, 1.0, 0.5, 0.1, 0.9)[seed % 5]
        chosen: dict[_Entry, int] = {}

        def choose(past: list[_File | _Folder | None], entry: _Entry) -> int:
            if entry not in chosen:
                top = len(past) - 1
                chosen[entry] = top if chance.random() < likely else chance.randint(0, top)
                if likely == 0:
                    chosen[entry] = 0
            return chosen[entry]

        for _ in range(len(self._renames)):
            for old, name, at, new, name_there, at_there in self._renames:
                if choose(old.names[name], (id(old), name)) >= at:
                    there = choose(new.names[name_there], (id(new), name_there))
                    chosen[id(new), name_there] = max(there, at_there)
        # Names and contents are lost apart from one another.
        _make(self._root, folder, choose, random.Random(seed // 5))


def _make(at: _Folder, folder: Path, choose: _Choice, chance: random.Random) -> None:
    folder.mkdir()
    for name, past in at.names.items():
        entry = past[choose(past, (id(at), name))]
        if isinstance(entry, _Folder):
            _make(entry, folder / name, choose, chance)
        elif entry is not None:
            (folder / name).write_bytes(_content(entry, chance))
            os.utime(folder / name, ns=(entry.changed_ns, entry.changed_ns))


def _values(folder: _Folder, prefix: str = "") -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {prefix: None}
    for name, past in folder.names.items():
        if isinstance(past[-1], _Folder):
            found |= _values(past[-1], f"{prefix}/{name}")
        elif past[-1] is not None:
            found[f"{prefix}/{name}"] = past[-1].contents[-1]
    return found


def _content(file: _File, chance: random.Random) -> bytes:
    if len(file.contents) == 1:
        return file.contents[0]
    whole = chance.choice(file.contents)
    how = chance.randrange(4)
    if how == 0:
        return file.contents[-1]
    if how == 1:
        return whole[: chance.randint(0, len(whole))]
    return whole if how == 2 else bytes(len(whole))


def _read(folder: Path) -> _Folder:
    made = _Folder()
    links: dict[int, _File] = {}
    for one in sorted(folder.iterdir()):
        if one.is_dir():
            made.names[one.name] = [_read(one)]
        else:
            status = one.stat()
            read = _File([one.read_bytes()], status.st_mtime_ns)
            file = links.setdefault(status.st_ino, read)
            made.names[one.name] = [file]
    return made
