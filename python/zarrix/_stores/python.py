"""Stores in Python: file systems, databases, wrappers of other stores.

The engine calls the methods that `zarrix._stores.values.Values` lists with their contract. The
methods that users call come from `EngineStore`, with its rules for keys.
"""

from __future__ import annotations

import weakref
from typing import Any, Self

from zarrix import _engine
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.sites import Site
from zarrix._stores.values import Values

__all__ = ["PythonStore"]


class PythonStore(Values, EngineStore):
    """The engine's view of a store in Python; keys have been checked before anything is called."""

    # Referenced by the copy with other rights or durability, whose engine store calls this one.
    _origin: PythonStore | None = None

    def _open_engine(self) -> _engine.Store:
        # A weak reference, because a cycle through the engine would never be collected.
        return _engine.PythonStore(weakref.proxy(self), self._locks(), self._identity())

    def _sites(self, path: str) -> list[Site]:
        origin = self._origin
        return super()._sites(path) if origin is None else origin._sites(path)

    def _variant(self, **changes: Any) -> Self:
        other = super()._variant(**changes)
        other._origin = self
        return other

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_origin"}

    def _locks(self) -> _engine.Store | str | None:
        """The locks between processes, in the form of `_engine.PythonStore`."""
        return None

    def _identity(self) -> str | None:
        """Equal for two stores of the same values, so that their threads share locks."""
        return None

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__} {self._label()}>"

    def _label(self) -> Any:
        """The store in messages."""
        return f"at {id(self):#x}"
