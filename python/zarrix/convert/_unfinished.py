"""The folder of an unfinished export, beside the file that it is going to be.

Everything is written into ``NAME.RANDOM.partial``, which this process makes and which nobody else
may enter, and gets its name by a rename. A note in it says what was asked; it is locked as long as
its export runs, so that a later one continues or removes only what a process left that is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zarrix._errors import ContainsArrayError
from zarrix._runtime.new_files import give_name, has_name, make_file, require_folder, swap_folders
from zarrix._runtime.system import lock_file

__all__ = ["Unfinished", "is_listing", "listing_of", "listing_path", "why_foreign"]

_NOTE, _DATA, _BESIDE, _UNION, _OLD = "note.json", "data", "beside", "both", "replaced"
_MARK = "zarrix export"
_MOST_NOTE = 64 * 2**20
# With the random part and the suffix a name stays below the 255 bytes of most file systems.
_LONGEST = 200


class Unfinished:
    """The folder of one export.

    Parameters
    ----------
    target : Path
        What the export is going to be.

    Attributes
    ----------
    data, beside : Path
        What is written and then renamed, and a second file that a format may have.
    is_named : bool
        Whether everything has its name, so that nothing is left to continue.
    """

    def __init__(self, target: Path, folder: Path, note: int) -> None:
        self._target, self._folder, self._note = target, folder, note
        self.data, self.beside = folder / _DATA, folder / _BESIDE
        self._union = folder / _UNION
        self.is_named = False

    @classmethod
    def new(cls, target: Path, asked: Any) -> Unfinished:
        """Make a folder with a note of what was asked."""
        require_folder(target)
        while True:
            folder = target.with_name(f"{_stem(target)}.{os.urandom(8).hex()}.partial")
            # Errors end the loop: one that comes each time would make folders without end.
            folder.mkdir(0o700)
            try:
                note = make_file(folder / _NOTE)
            except FileNotFoundError:
                # Another export took it for the remains of one that was killed.
                continue
            except BaseException:
                with contextlib.suppress(OSError):
                    folder.rmdir()
                raise
            made = cls(target, folder, note)
            try:
                if not _lock(note, folder, is_new=True):
                    made.close()
                    continue
                _write_all(note, json.dumps({_MARK: 1, "asked": asked}).encode())
            except BaseException:
                made.remove()
                raise
            return made

    @classmethod
    def left(cls, target: Path) -> Iterator[tuple[Unfinished, Any]]:
        """What exports of that name left that are gone, and what each was asked; newest first."""
        for folder in _folders(target):
            try:
                note = os.open(folder / _NOTE, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
            except OSError:
                # Nothing but an empty folder was made; others have more in it than this removes.
                with contextlib.suppress(OSError):
                    folder.rmdir()
                continue
            try:
                known = _asked(note) if _lock(note, folder) else None
            except BaseException:
                os.close(note)
                raise
            if known is None:
                os.close(note)
                continue
            yield cls(target, folder, note), known["asked"]

    def close(self) -> None:
        """Leave it for a later export that continues."""
        note, self._note = self._note, -1
        if note >= 0:
            # Nothing that is needed is in it, so that an error of its server is none of the export.
            with contextlib.suppress(OSError):
                os.close(note)

    def remove(self) -> None:
        """Remove what the export wrote, and nothing else."""
        try:
            self._remove_content()
        finally:
            self.close()
        # A file of another program keeps it.
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def _remove_content(self) -> None:
        _remove_made(self.data)
        self.beside.unlink(missing_ok=True)
        self._union.unlink(missing_ok=True)
        old = self._folder / _OLD
        if has_name(old):
            if has_name(self._target):
                _remove_listed(old, _listed(listing_path(self._target)) or {})
            else:
                # The kill came between two renames.
                old.rename(self._target)
        if not has_name(old):
            (self._folder / _NOTE).unlink(missing_ok=True)

    def finish(self, *, overwrite: bool, beside: Path | None = None) -> None:
        """Give the data its name, and then the second file, and remove the folder.

        The second file describes the first: at no moment does that of another one lie beside it.

        Raises
        ------
        ContainsArrayError
            Something has a name now, and ``overwrite`` is false.
        """
        if self.data.is_dir():
            self._finish_folder(overwrite, beside)
        else:
            if beside is not None and overwrite:
                beside.unlink(missing_ok=True)
            _named(self.data, self._target, overwrite)
        if beside is not None:
            try:
                _named(self.beside, beside, overwrite or self._target.is_dir())
            except BaseException:
                if not overwrite and not self._target.is_dir():
                    # Nothing had its name before.
                    self._target.rename(self.data)
                raise
        self.is_named = True
        self.remove()

    def _finish_folder(self, overwrite: bool, listing: Path | None) -> None:
        if not has_name(self._target):
            if listing is not None:
                # Before the folder, so that there is no moment at which nothing lists its files; a
                # list that is there is that of a folder that is gone.
                self._union.write_bytes(self.beside.read_bytes())
                self._union.replace(listing)
            # A rename replaces an empty folder, and nothing else.
            self.data.rename(self._target)
            return
        told = why_foreign(self._target) if overwrite else "it was made meanwhile"
        if told:
            raise ContainsArrayError(f"{self._target} is not replaced: {told}")
        old, listed = self._folder / _OLD, _listed(listing_path(self._target)) or {}
        if listing is not None:
            # Until the new one has its name, the list has the files of both folders.
            made = _listed(self.beside) or {}
            both = {name: listed.get(name, []) + made.get(name, []) for name in (*listed, *made)}
            self._union.write_text(_listing(both), encoding="utf-8")
            self._union.replace(listing)
        swap_folders(self.data, self._target, old)
        _remove_listed(old, listed)


def _named(made: Path, name: Path, overwrite: bool) -> None:
    try:
        give_name(made, name, overwrite=overwrite)
    except FileExistsError:
        raise ContainsArrayError(
            f"{name} was made by another program meanwhile, and stays; replace it with "
            "overwrite=True (--overwrite)"
        ) from None


def _stem(target: Path) -> str:
    name = target.name
    if len(os.fsencode(name)) <= _LONGEST:
        return name
    return hashlib.blake2b(os.fsencode(name), digest_size=16).hexdigest()


def _folders(target: Path) -> list[Path]:
    pattern = re.compile(rf"{re.escape(_stem(target))}\.[0-9a-f]{{16}}\.partial")
    with os.scandir(target.parent) as entries:
        found = [
            (entry.stat(follow_symlinks=False).st_mtime_ns, entry.name)
            for entry in entries
            if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    return [target.with_name(name) for _, name in sorted(found, reverse=True)]


def _lock(note: int, folder: Path, *, is_new: bool = False) -> bool:
    """Whether no other process has the note, and it is still the one in the folder."""
    try:
        lock_file(note, wait=False)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks does not say which process is gone: what others have begun is
        # neither continued nor removed.
        if not is_new:
            return False
    try:
        return os.path.samestat(os.fstat(note), os.lstat(folder / _NOTE))
    except FileNotFoundError:
        return False


def _asked(note: int) -> dict[str, Any] | None:
    found = os.fstat(note)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_NOTE:
        return None
    os.lseek(note, 0, os.SEEK_SET)
    with os.fdopen(os.dup(note), "rb") as file:
        text = file.read()
    if not text:
        # The kill came before the note was written, and so before anything else.
        return {"asked": None}
    try:
        known = json.loads(text)
    except (ValueError, RecursionError):
        # A note is written by one call: half of one is that of a disk that was full.
        return {"asked": None} if text.startswith(f'{{"{_MARK}": 1'.encode()) else None
    is_ours = isinstance(known, dict) and known.get(_MARK) == 1 and "asked" in known
    return known if is_ours else None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view.nbytes:
        view = view[os.write(descriptor, view) :]


def listing_path(folder: Path) -> Path:
    """The file beside an exported folder that says which files are in it."""
    return folder.with_name(f".{_stem(folder)}.zarrix-export.json")


def listing_of(folder: Path) -> str:
    """The text of that file: the sizes and CRC-32 of all files in a folder."""
    return _listing({name: [_state(folder / name)] for name in _files_in(folder)})


def _listing(made: Mapping[str, list[tuple[int, int]]]) -> str:
    return json.dumps({_MARK: 1, "files": made}, separators=(",", ":"))


def is_listing(path: Path) -> bool:
    """Whether a file has such a text."""
    return _listed(path) is not None


def why_foreign(folder: Path) -> str:
    """Why a folder is not one that an export made, with nothing changed since; empty if it is."""
    if folder.is_symlink() or not folder.is_dir():
        return "it is not a folder"
    listed = _listed(listing_path(folder))
    if listed is None:
        return "no export made it; remove it, or choose another name"
    for name in _files_in(folder):
        path = folder / name
        if name not in listed or path.is_symlink() or not path.is_file():
            return f"{name} in it was not made by an export; move it elsewhere"
        # A file of another size need not be read.
        sizes = [size for size, _ in listed[name]]
        if path.stat().st_size not in sizes or _state(path) not in listed[name]:
            return f"{name} in it was changed since the export; move it elsewhere"
    return ""


def _files_in(folder: Path) -> Iterator[str]:
    """The paths of everything in a folder except folders; a link to one is listed."""
    for at, folders, files in os.walk(folder):
        for name in sorted(files):
            yield (Path(at) / name).relative_to(folder).as_posix()
        for name in [*folders]:
            if os.path.islink(os.path.join(at, name)):
                folders.remove(name)
                yield (Path(at) / name).relative_to(folder).as_posix()
        folders.sort()


def _listed(path: Path) -> dict[str, list[tuple[int, int]]] | None:
    """By name the sizes and CRC-32 that a file may have; None if it is not such a list."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_NOTE:
            return None
        known = json.loads(path.read_bytes())
        if known[_MARK] != 1:
            return None
        return {
            str(name): [(int(size), int(crc)) for size, crc in states]
            for name, states in known["files"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _state(path: Path) -> tuple[int, int]:
    """Size and CRC-32 of a file."""
    size = crc = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            size, crc = size + len(block), zlib.crc32(block, crc)
    return size, crc


def _remove_listed(folder: Path, listed: Mapping[str, Any]) -> None:
    """Remove the files that an export listed, and folders that are empty then; others stay."""
    for name in [*_files_in(folder)]:
        if name in listed:
            (folder / name).unlink()
    for at, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(at)


def _remove_made(path: Path) -> None:
    """Remove what lies in the folder of an export, which it alone has made and written to."""
    if path.is_dir() and not path.is_symlink():
        # Import time: it imports every compressor of the standard library.
        import shutil

        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
