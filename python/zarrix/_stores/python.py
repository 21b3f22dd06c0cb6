"""Stores whose values Python has: file systems, databases, other stores with something around them.

The engine calls a plain mapping for one value after the other. A `PythonStore` is asked for many
values at once, lists what lies below a prefix, and says by what its keys are locked; the methods
that users call come from `EngineStore`, with its grammar of keys. What a subclass has to define is
here with its contract, and what can be derived is derived.
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

    # Held by a twin with a durability of its own, whose engine store calls this one.
    _origin: PythonStore | None = None

    def _open(self) -> _engine.Store:
        # By a weak reference: nothing would collect a cycle through the engine.
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
        """By what other processes are locked out, as `_engine.CalledStore` takes it."""
        return None

    def _identity(self) -> str | None:
        """Equal for two stores of the same values, whose threads lock each other out."""
        return None

    @abstractmethod
    def _read(self, key: str) -> bytes | None:
        """The value of ``key``; None if it is not stored, and an error for everything else."""

    @abstractmethod
    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        """Replace the value of ``key`` as a whole."""

    @abstractmethod
    def _drop(self, key: str, fsync: bool) -> bool:
        """Remove ``key``; whether it was there."""

    @abstractmethod
    def _list(self, prefix: str) -> list[str]:
        """Every key below ``prefix``, whole; all keys where it is empty."""

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        """The value of each key, None where there is none, or what went wrong."""
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
        """The names directly below ``prefix``: with a value, and with others below them."""
        start = len(prefix) + 1 if prefix else 0
        rests = [key[start:].partition("/") for key in self._list(prefix)]
        return [name for name, deeper, _ in rests if not deeper], sorted(
            {name for name, deeper, _ in rests if deeper}
        )

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        """Remove every key below ``prefix``; how many."""
        return sum(self._drop(key, fsync) for key in self._list(prefix))

    def _rename(self, source: str, target: str, fsync: bool) -> None:
        """Move the value at ``source`` and all below it, removing nothing before all is there."""
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
        """What a user knows the store by."""
        return f"at {id(self):#x}"
