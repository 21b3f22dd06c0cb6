"""Calling a function on everything below a group; mixed into every `Group`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

__all__ = ["Visiting"]


class Visiting:
    """The methods of groups whose names begin with visit."""

    _path: str

    if TYPE_CHECKING:
        # What the class has that this is mixed into.
        def __iter__(self) -> Iterator[str]: ...

        def __getitem__(self, item: str) -> Any: ...

    def visitvalues(self, func: Callable[[Any], Any]) -> Any:
        """Call ``func(object)`` on everything below, parents first.

        Stops at the first call that returns something else than None, and returns that.
        """
        for name in self:
            member = self[name]
            result = func(member)
            if result is None and isinstance(member, Visiting):
                result = member.visitvalues(func)
            if result is not None:
                return result
        return None

    def visititems(self, func: Callable[[str, Any], Any]) -> Any:
        """As `visitvalues`, calling ``func(path relative to this group, object)``."""
        start = len(self._path) + 1 if self._path else 0
        return self.visitvalues(lambda member: func(member.path[start:], member))

    def visit(self, func: Callable[[str], Any]) -> Any:
        """As `visitvalues`, calling ``func(path relative to this group)``."""
        return self.visititems(lambda path, _: func(path))

    def visitkeys(self, func: Callable[[str], Any]) -> Any:
        """The same as `visit`."""
        return self.visit(func)
