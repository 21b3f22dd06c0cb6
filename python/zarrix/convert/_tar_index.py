"""The members of a tar file: by the key of their sample and their suffix, each with one name.

What would be lost or mixed is an error: members of one name, also if they differ in the case of
their suffixes. Suffixes that would be the name of one array get different ones.
"""

from __future__ import annotations

import contextlib
import tarfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zarrix._errors import ConversionError
from zarrix.convert._source import OpenFile

__all__ = ["Index", "Member"]

_MOST_MEMBERS = 10_000_000
# A sparse member has only some of its bytes in the file, and may say that it has any number.
_MOST_SPARSE = 2**30
# Bytes of a block, and how many zeros may be behind the end.
_BLOCK, _MOST_PADDING = 512, 2**20
_ERRORS = (tarfile.TarError, OSError, ValueError, EOFError)


@dataclass(frozen=True)
class Member:
    """A file in the archive: where its bytes are, or how tarfile reads a sparse one."""

    name: str
    offset: int
    size: int
    sparse: Any = None


@dataclass
class Index:
    """The samples of an archive, which is read once from its begin to its end.

    Attributes
    ----------
    keys : list of str
    samples : list of dict
        By suffix: the member of each sample.
    left_out : list of str
        What is not a file of a sample.
    """

    path: Path
    file: OpenFile
    keys: list[str] = field(default_factory=list)
    samples: list[dict[str, Member]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._turn = threading.Lock()
        with contextlib.ExitStack() as stack:
            try:
                self._archive = stack.enter_context(tarfile.open(self.path, "r:"))
                self._scan()
            except _ERRORS as error:
                if isinstance(error, ConversionError):
                    raise
                raise ConversionError(
                    f"{self.path} is not a tar file, or is damaged: {error}; compressed tar files "
                    "are unpacked first"
                ) from None
            if not self.samples:
                told = "; ".join([f"{self.path} has no samples", *self.left_out[:3]])
                raise ConversionError(told)
            self._closing = stack.pop_all()

    def _scan(self) -> None:
        found: dict[str, dict[str, Member]] = {}
        by_name: dict[str, Member] = {}
        for number, info in enumerate(self._archive):
            if number >= _MOST_MEMBERS:
                raise ConversionError(f"{self.path} has more than {_MOST_MEMBERS} members")
            if info.isdir():
                continue
            member = self._member(info, by_name)
            if member is None:
                self.left_out.append(f"{info.name} is left out: it is a link or a device")
                continue
            by_name[info.name] = member
            folder, slash, name = info.name.rpartition("/")
            stem, _, suffix = name.partition(".")
            if not (suffix and stem):
                self.left_out.append(f"{info.name} is left out: its name has no suffix")
                continue
            parts = found.setdefault(f"{folder}{slash}{stem}", {})
            other = parts.setdefault(suffix.lower(), member)
            if other is not member:
                raise ConversionError(
                    f"{self.path} has two members {other.name!r} and {info.name!r} of one sample "
                    "and suffix; give them different names"
                )
        self._check_end(self._archive.offset)
        self.keys, self.samples = [*found], [*found.values()]

    def _check_end(self, end: int) -> None:
        """Tell the end of an archive from a damaged header, which tarfile takes for the end."""
        size = self.file.size
        if end > size:
            raise ConversionError(
                f"{self.path} is truncated: its members need {end} bytes, and it has {size}"
            )
        if any(self.file.read(end, min(_BLOCK, size - end))):
            raise ConversionError(
                f"{self.path} is damaged: byte {end} is neither its end nor begins a member"
            )
        if any(self.file.read(end, min(_MOST_PADDING, size - end))):
            self.left_out.append(
                f"what follows byte {end} is left out: it is behind the end of the archive"
            )

    def _member(self, info: Any, by_name: dict[str, Member]) -> Member | None:
        if info.islnk():
            # The same file again, of which tar stores the bytes once.
            linked = by_name.get(info.linkname)
            return linked and Member(info.name, linked.offset, linked.size, linked.sparse)
        if not info.isreg():
            return None
        if info.sparse is None:
            return Member(info.name, info.offset_data, info.size)
        if info.size > _MOST_SPARSE:
            raise ConversionError(
                f"{self.path}: {info.name} is sparse and has {info.size:,} bytes, more than "
                f"{_MOST_SPARSE:,}"
            )
        return Member(info.name, info.offset_data, info.size, info)

    def read(self, member: Member) -> bytes:
        """The bytes of a member.

        Raises
        ------
        ConversionError
            The file is shorter than its headers say, or damaged.
        """
        if member.sparse is None:
            return self.file.read(member.offset, member.size)
        try:
            # tarfile has one position in the archive.
            with self._turn:
                opened = self._archive.extractfile(member.sparse)
                value = b"" if opened is None else opened.read()
        except _ERRORS as error:
            raise ConversionError(f"{self.path}: {member.name} is damaged: {error}") from None
        self.file.check()
        if len(value) != member.size:
            raise ConversionError(f"{self.path}: {member.name} is truncated")
        return value

    def names(self) -> dict[str, str]:
        """The names of arrays by suffix, all different, and different from ``key``."""
        taken = {"key"}
        found = {}
        for suffix in sorted({one for each in self.samples for one in each}):
            name = suffix.replace(".", "_")
            while name in taken:
                name += "_"
            taken.add(name)
            found[suffix] = name
        return found

    def close(self) -> None:
        """Close the archive and the file."""
        self._closing.close()
        self.file.close()
