"""A version of a hierarchy on a server as a store: versions of objects, which the engine reads."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Protocol

from zarrix import _engine
from zarrix._errors import ReadOnlyError
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.remote.store import RemoteStore
from zarrix._stores.sites import Site

__all__ = ["PinnedStore"]


class _Load(Protocol):
    def __call__(self, number: int, /) -> Sequence[tuple[str, int, str, str]]: ...


class PinnedStore(EngineStore):
    """The values of a bucket as they were when a version was made; read-only.

    Each value is asked for by the name of its object version. One that is gone, or has another tag
    or length by now, is a `VersionLostError`, and never read as something else.

    Parameters
    ----------
    live : RemoteStore
        The hierarchy.
    name : str
        Of the version.
    mark : str
        Differs for versions that differ, also by what a later version of that name has.
    firsts : sequence of str
        The first key of each page of rows.
    spaces : mapping of str to str
        The key spaces of arrays, by their paths, unless their keys are canonical.
    load : callable
        Returns the rows of a page by its number: key, length, tag and version. It is pickled.
    """

    is_remote = True
    _writeable = _erasable = False
    _opened_with = frozenset({"path", "url", "version"})

    def __init__(
        self,
        live: RemoteStore,
        name: str,
        *,
        mark: str,
        firsts: Sequence[str],
        spaces: Mapping[str, str],
        load: _Load,
    ) -> None:
        self._live, self.version, self._mark = live, name, mark
        self._firsts, self._spaces, self._load = [*firsts], dict(spaces), load
        self.path = f"{live.url}@{name}"
        self.url = f"version+{self.path}"

    def _open_engine(self) -> _engine.Store:
        engine = self._live._engine
        if not isinstance(engine, _engine.ObjectStore):
            raise TypeError(f"{self._live!r} has no versions of objects")
        # How many axes an array has is not needed to read it.
        spaces = [(path, 0, space) for path, space in self._spaces.items()]
        return engine.at_version(f"{self.version}:{self._mark}", self._firsts, spaces, self._load)

    def chunks_of(self, path: str, axes: int) -> dict[str, tuple[str, str]]:
        """The tags and versions of an array's chunks, by canonical keys relative to it."""
        start = f"{path}/" if path else ""
        is_chunk = re.compile("/".join(["c", *[r"\d+"] * axes])).fullmatch
        found: dict[str, tuple[str, str]] = {}
        for number in range(max(0, bisect_right(self._firsts, start) - 1), len(self._firsts)):
            if self._firsts[number] > start and not self._firsts[number].startswith(start):
                break
            for key, _, tag, version in self._load(number):
                name = key.removeprefix(start)
                if key.startswith(start) and is_chunk(name):
                    found[name] = (tag, version)
        return found

    def _sites(self, path: str) -> list[Site]:
        return self._live._sites(path)

    def _forbid_changes(self) -> None:
        raise ReadOnlyError(f"{self.path} is a version, and versions are read-only")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PinnedStore):
            return NotImplemented
        mine, theirs = (self.version, self._mark), (other.version, other._mark)
        return self._live == other._live and mine == theirs

    def __repr__(self) -> str:
        return f"<zarrix.storage.RemoteStore {self.path!r}>"
