"""Parts of a file of another format as a store, which the engine reads."""

from __future__ import annotations

import os
from collections.abc import Sequence

from zarrix import _engine
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.sites import Site, of_file

__all__ = ["FileParts"]


class FileParts(EngineStore):
    """Keys whose values are parts of one file; read-only.

    It is an error if the file changes.

    Parameters
    ----------
    path : str
    seen : tuple of int
        The size of the file, and the nanoseconds of its last modification.
    parts : sequence of tuple
        Key, offset and length of each value.
    """

    _writeable = _erasable = False

    def __init__(
        self, path: str, seen: tuple[int, int], parts: Sequence[tuple[str, int, int]]
    ) -> None:
        self._path, self._seen, self._parts = os.path.abspath(path), seen, parts

    def _open_engine(self) -> _engine.Store:
        size, modified_ns = self._seen
        return _engine.FileParts(
            self._path, (size, *divmod(modified_ns, 1_000_000_000)), self._parts
        )

    def _sites(self, path: str) -> list[Site]:
        return of_file(self._path, path)

    def _label(self) -> str:
        return repr(self._path)
