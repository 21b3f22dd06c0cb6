"""Whether versions still are what was stored: pages, and lengths, times and digests of files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Literal, NamedTuple

from zarrix import _engine
from zarrix._display.printable import counted, lines
from zarrix._display.progress import Progress, phase
from zarrix._errors import CorruptStoreError, MetadataError, VersionLostError
from zarrix._stores.local import LocalStore
from zarrix.versions._catalogue import Version, find_version, names_of, read_version
from zarrix.versions._check_objects import check_objects
from zarrix.versions._documents import read_documents, spaces_of
from zarrix.versions._expire import remove_leftovers
from zarrix.versions._home import Home, ServerHome
from zarrix.versions._names import document_key
from zarrix.versions._pages import Row, made_pages, read_rows, rows_in

__all__ = ["VersionCheck", "VersionProblem", "check_versions"]


_Kind = Literal["changed", "lost", "added", "broken"]
_Found = Callable[[_Kind, str], None]


class VersionProblem(NamedTuple):
    """A value of a version that is not what was stored.

    Attributes
    ----------
    version : str
    kind : {"changed", "lost", "added", "broken"}
        A value that was changed in place, one that is gone, one that was not stored, and a page or
        a document that cannot be read.
    key : str

    Examples
    --------
    >>> import pathlib, zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w")
    >>> version = zarr.snapshot("data.zarr", "v1")
    >>> pathlib.Path("data.zarr.versions/v1/.zgroup").unlink()
    >>> print(*zarr.Versions("data.zarr").verify().problems)
    v1: lost .zgroup
    """

    version: str
    kind: Literal["changed", "lost", "added", "broken"]
    key: str

    def __str__(self) -> str:
        return f"{self.version}: {self.kind} {self.key}"


@dataclass
class VersionCheck:
    """The result of `Versions.verify`. True if all is well.

    Attributes
    ----------
    versions, keys : int
        How many versions and values were compared.
    problems : list of VersionProblem
    removed : list of str
        What ``clean=True`` has removed.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w")
    >>> version = zarr.snapshot("data.zarr", "v1")
    >>> print(zarr.Versions("data.zarr").verify())
    1 version with 1 value is as it was stored
    """

    versions: int = 0
    keys: int = 0
    problems: list[VersionProblem] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether all is well."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.ok

    def to_json(self) -> str:
        """Everything, as JSON text.

        Returns
        -------
        str

        Examples
        --------
        >>> import json, zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> json.loads(zarr.Versions("data.zarr").verify().to_json())["ok"]
        True
        """
        problems = [one._asdict() for one in self.problems]
        return json.dumps({"ok": self.ok, **asdict(self), "problems": problems}, indent=2)

    def __str__(self) -> str:
        if self.problems:
            return lines(map(str, self.problems))
        values = counted(self.keys, "value")
        word = "is" if self.versions == 1 else "are"
        return f"{counted(self.versions, 'version')} with {values} {word} as it was stored"


def check_versions(
    home: Home | ServerHome, name: str | None, *, clean: bool, progress: bool | Progress
) -> VersionCheck:
    """Compare what is stored of versions with their pages."""
    checked = VersionCheck()
    names = (
        names_of(home.versions)
        if name is None
        else [find_version(home.versions, name, home.folder).name]
    )
    tell = phase(progress, "versions")
    for number, one in enumerate(names):
        tell(number, len(names))
        _check(home, one, checked)
    tell(len(names), len(names))
    if clean:
        checked.removed = remove_leftovers(home)
    return checked


def _check(home: Home | ServerHome, name: str, checked: VersionCheck) -> None:
    def found(kind: _Kind, key: str) -> None:
        checked.problems.append(VersionProblem(name, kind, key))

    try:
        version = read_version(home.versions, name)
    except MetadataError:
        found("broken", document_key(name))
        return
    if version is None:
        # Deleted meanwhile.
        return
    checked.versions += 1
    checked.keys += version.keys
    rows = _rows(home, version, found)
    if isinstance(home, ServerHome):
        check_objects(home, version, rows, found)
        return
    stored = _stored_rows(home, version)
    for row in rows:
        here = stored.pop(row[0], None)
        if here is None:
            found("lost", row[0])
        elif not _is_same(row, here):
            found("changed", row[0])
    if not any(problem.version == name and " " in problem.key for problem in checked.problems):
        for key in sorted(stored):
            found("added", key)


def _rows(home: Home | ServerHome, version: Version, report: _Found) -> Iterator[Row]:
    """The rows of the pages that can be read."""
    for page in version.pages:
        try:
            yield from read_rows(home.versions, page)
        except VersionLostError:
            report("lost", f"the rows from {page.first!r} on")
        except CorruptStoreError:
            report("broken", f"the rows from {page.first!r} on")


def _stored_rows(home: Home, version: Version) -> dict[str, Row]:
    folder = os.path.join(home.folder, version.name)
    tree = _engine.CarriedTree(folder, None, "copy", digests=version.has_digests)
    tree.take("", spaces_of(read_documents(LocalStore(folder))))
    pages = made_pages(tree.pages())
    return {row[0]: row for page in pages for row in rows_in(page.lines)}


def _is_same(row: Row, stored: Row) -> bool:
    """Whether a file has the length and the time, or the digest, of its row.

    The number of the file is not compared: that of a copy is its own.
    """
    return row[1] == stored[1] and row[2].partition("-")[0] == stored[2].partition("-")[0]
