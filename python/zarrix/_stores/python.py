"""Stores in Python: file systems, databases, wrappers of other stores.

The engine calls a plain mapping for one value after the other. It asks a `PythonStore` for many
values at once, for the keys below a prefix, and for the locks of its keys. The methods that users
call come from `EngineStore`, with its rules for keys. This class states the contract of the methods
that a subclass has to define, and derives the others.
"""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from zarrix import _engine
from zarrix._stores.base import EngineStore

__all__ = ["PythonStore"]


class PythonStore(EngineStore):
    """The engine's view of a store in Python; keys have been checked before anything is called."""

    # Referenced by the copy with another durability, whose engine store calls this one.
    _origin: PythonStore | None = None

    def _open(self) -> _engine.Store:
        # A weak reference, because a cycle through the engine would never be collected.
        return _engine.CalledStore(weakref.proxy(self), self._locks(), self._identity())

    def with_durability(self, durability: str | None) -> Self:
        twin = super().with_durability(durability)
        if twin is not self:
            twin._origin = self
        return twin

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_origin"}

    def _locks(self) -> _engine.Store | str | None:
        """The locks between processes, in the form of `_engine.CalledStore`."""
        return None

    def _identity(self) -> str | None:
        """Equal for two stores of the same values, so that their threads share locks."""
        return None

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

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__} {self._place()}>"

    def _place(self) -> Any:
        """The store in messages."""
        return f"at {id(self):#x}"
