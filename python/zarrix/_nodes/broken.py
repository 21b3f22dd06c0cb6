"""Members of a group that cannot be opened: one of them does not hide the others.

Its metadata may be damaged, name a codec that is not installed, or hold pickled objects. Listings
go on with the other members and warn of it by name; trees show it; to ask for it is an error.
"""

from __future__ import annotations

from zarrix._errors import BrokenMemberWarning, ZarrixError
from zarrix._runtime.caller import warn_caller

__all__ = ["CANNOT_OPEN", "BrokenMember", "warn_of"]

CANNOT_OPEN = (ZarrixError, PermissionError, IsADirectoryError, ImportError)
"""What opening one member raises for reasons of its own: no error of a server is among them."""

_MOST_CHARACTERS = 160


class BrokenMember:
    """A member that cannot be opened, as trees show it.

    Parameters
    ----------
    name : str
        Path with a leading slash.
    reason : Exception
        What opening it raised.
    """

    def __init__(self, name: str, reason: Exception) -> None:
        self.name = name
        self.reason = reason

    @property
    def label(self) -> str:
        """Its name, and why it cannot be opened, on one line."""
        text = " ".join(str(self.reason).split())
        if len(text) > _MOST_CHARACTERS:
            text = f"{text[: _MOST_CHARACTERS - 3]}..."
        return f"{self.name.rpartition('/')[2]} (cannot be opened: {text})"


def warn_of(name: str, reason: Exception) -> None:
    """Warn, at the line that lists, of a member that is left out."""
    warn_caller(
        f"the member {name!r} cannot be opened and is left out: {reason}", BrokenMemberWarning
    )
