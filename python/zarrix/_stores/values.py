"""The calls of the engine to stores in Python: the contract, and defaults that derive from it.

Keys have been checked before anything is called. A store that can answer for parts of values has a
method `_fetch_parts`, too (`zarrix._stores.awaited`), and one that remembers values `_forget`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

__all__ = ["Values"]


class Values:
    """Values by key, one or many at once."""

    @abstractmethod
    def _read(self, key: str) -> bytes | None:
        """The value of ``key``; None if it is not stored. Every other failure is an error."""

    @abstractmethod
    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        """Replace the value of ``key`` atomically."""

    @abstractmethod
    def _drop(self, key: str, fsync: bool) -> bool:
        """Remove ``key``; return whether it was stored."""

    @abstractmethod
    def _list(self, prefix: str) -> list[str]:
        """Every complete key below ``prefix``; all keys if it is empty."""

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        """The value of each key, None if it is not stored, or the error."""
        return [self._answer(key) for key in keys]

    def _answer(self, key: str) -> bytes | Exception | None:
        try:
            return self._read(key)
        except Exception as error:
            return error

    def _size(self, key: str) -> int | None:
        """Length of the value of ``key``; None if it is not stored."""
        value = self._read(key)
        return None if value is None else len(value)

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """The names directly below ``prefix``: those with a value, and those with keys below
        them.
        """
        start = len(prefix) + 1 if prefix else 0
        rests = [key[start:].partition("/") for key in self._list(prefix)]
        return [name for name, deeper, _ in rests if not deeper], sorted(
            {name for name, deeper, _ in rests if deeper}
        )

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        """Remove every key below ``prefix``; return their number."""
        return sum(self._drop(key, fsync) for key in self._list(prefix))

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        """Move the value at ``source`` and all below it; keys are removed after all are copied."""
        moved = [key for key in [source, *self._list(source)] if self._copy(key, source, target)]
        for key in moved:
            self._drop(key, fsync)

    def _copy(self, key: str, source: str, target: str) -> bool:
        value = self._read(key)
        if value is not None:
            self._put(target + key[len(source) :], value, False)
        return value is not None
