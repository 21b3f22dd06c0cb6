"""Which members of an HDF5 file lie in it, and in which file those lie that do not."""

from __future__ import annotations

import glob
import os
import re
from typing import Any

from zarrix._errors import CopyError
from zarrix.convert._source import OpenFile, Source, identity_of

__all__ = ["Links"]

_MOST_LINKS = 32


class Links:
    """The links of a file, which are followed to other files only if ``follow`` is true.

    Every file that is read is part of the identity of the source.
    """

    def __init__(
        self, h5py: Any, opened: Any, file: OpenFile, source: Source, follow: bool
    ) -> None:
        self._h5py, self._file, self._source, self._follow = h5py, file, source, follow
        self._name = opened.filename
        self._others: dict[str, OpenFile] = {}

    def member(self, group: Any, name: str) -> Any:
        """The object of that name.

        Raises
        ------
        CopyError
            It is not in the file, and is not followed.
        """
        link = group.get(name, getlink=True)
        if not isinstance(link, self._h5py.HardLink):
            told = self._refused(group, link)
            if told:
                raise CopyError(told)
        return group[name]

    def _refused(self, group: Any, link: Any, depth: int = 0) -> str:
        """Why a link is not followed; empty if it stays in the file."""
        if self._follow:
            return ""
        if isinstance(link, self._h5py.ExternalLink):
            return f"it is a link to another file, {link.filename!r} (follow=True follows it)"
        if depth > _MOST_LINKS:
            return "it is a link that does not end"
        at = group.file if link.path.startswith("/") else group
        parts = [part for part in link.path.split("/") if part not in ("", ".")]
        for part in parts:
            inner = at.get(part, getlink=True) if isinstance(at, self._h5py.Group) else None
            if inner is None:
                return f"it is a link to {link.path!r}, which does not exist"
            if not isinstance(inner, self._h5py.HardLink):
                told = self._refused(at, inner, depth + 1)
                if told:
                    return told
            at = at.get(part)
        return ""

    def check(self, dataset: Any, path: str) -> None:
        """Refuse a dataset whose elements lie in other files, or note these files.

        Raises
        ------
        CopyError
            Other files are not followed.
        """
        if dataset.is_virtual:
            if not self._follow:
                raise CopyError("it is made of other datasets (follow=True reads them)")
            names = [one.file_name for one in dataset.virtual_sources()]
        elif dataset.external:
            if not self._follow:
                raise CopyError("it lies in other files (follow=True reads them)")
            names = [one[0] for one in dataset.external]
        else:
            return
        folder = os.path.dirname(os.path.abspath(dataset.file.filename))
        for name in sorted({os.fsdecode(one) for one in names} - {"."}):
            found = self._found(name, folder)
            self._source.identity += [
                one for one in map(identity_of, found) if one not in self._source.identity
            ]
            if not found:
                self._source.notes.append(
                    f"{path}: {name!r}, which it is made of, does not exist; HDF5 reads its fill "
                    "value there"
                )

    @staticmethod
    def _found(name: str, folder: str) -> list[str]:
        """The files of that name; ``%b`` in the name of a virtual dataset's source is a number."""
        pattern = re.sub(r"%\d*b", "*", glob.escape(name)).replace("%%", "%")
        candidates = [os.path.join(folder, pattern), pattern]
        return sorted({os.path.realpath(one) for each in candidates for one in glob.glob(each)})

    def file_of(self, dataset: Any) -> OpenFile:
        """The file that a dataset lies in, which a link may have led to."""
        name = dataset.file.filename if self._follow else self._name
        if name == self._name:
            return self._file
        if name not in self._others:
            self._others[name] = file = OpenFile(name)
            self._source.identity.append(file.identity)
        return self._others[name]

    def close(self) -> None:
        """Close the files that links led to."""
        for one in self._others.values():
            one.close()
